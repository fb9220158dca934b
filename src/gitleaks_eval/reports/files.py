"""Write the files of a run into its folder."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gitleaks_eval.reports.evaluation_report import evaluation_report
from gitleaks_eval.reports.run import Run
from gitleaks_eval.reports.scenario_eval import scenario_eval
from gitleaks_eval.reports.scorecard import scorecard_json, scorecard_markdown
from gitleaks_eval.settings import RESULTS
from gitleaks_eval.sharing import write_atomically

IGNORE = b"# Made by gitleaks-eval: reports are not for version control.\n*\n"
PARTIAL = "partial"


def prepare_folder(folder: Path) -> None:
    """Make the folder of the reports, with a `.gitignore` of its own unless others keep something there.

    Raises:
        OSError: when it cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not _is_ours(folder) and any(folder.iterdir()):
        # Somebody else's folder: all in it must not be ignored because of us.
        probe = folder / ".gitleaks-eval-writes-here"
        write_atomically(probe, b"")
        probe.unlink()
        return
    write_atomically(folder / ".gitignore", IGNORE)


def _write_together(files: Mapping[Path, bytes]) -> None:
    """Write all files under other names first: when one cannot be written, none is."""
    staged: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
            staged[path] = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            staged[path].chmod(0o644)
        for path, temporary in staged.items():
            temporary.replace(path)
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)


def _is_ours(folder: Path) -> bool:
    if folder.name == RESULTS:
        return True
    ignore = folder / ".gitignore"
    return ignore.is_file() and ignore.read_bytes() == IGNORE


def write_reports(run: Run, output: Path) -> Path:
    """Write all reports of a run and return their folder; those of a partial run have one of their own.

    Reports of scenarios that this run does not have, or could not analyse, are removed: nobody must take
    an analysis of yesterday for one of today.

    Raises:
        OSError: when a file cannot be written.
    """
    folder = output / PARTIAL if run.partial else output
    files = {
        "evaluation_report.json": evaluation_report(run),
        "scorecard.json": scorecard_json(run),
        "scorecard.md": scorecard_markdown(run),
    }
    for name, results in run.by_scenario.items():
        files[f"{name}_eval.json"] = scenario_eval(name, results)
    for name, path in (run.analyses or {}).items():
        files[f"analysis/{name}.json"] = path.read_bytes()
    _write_together({folder / name: content for name, content in files.items()})
    ours = ["*_eval.json", *([] if run.analyses is None else ["analysis/*.json"])]
    for path in [path for pattern in ours if _is_ours(output) for path in folder.glob(pattern)]:
        if path.relative_to(folder).as_posix() not in files:
            path.unlink()
    return folder
