"""Write the files of a run into its folder."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from gitleaks_eval.reports.evaluation_report import evaluation_report
from gitleaks_eval.reports.run import Run
from gitleaks_eval.reports.scenario_eval import scenario_eval
from gitleaks_eval.reports.scorecard import scorecard_json, scorecard_markdown
from gitleaks_eval.settings import ANALYSES, RESULTS
from gitleaks_eval.sharing import write_atomically, write_together

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
    written = set()

    def placed() -> Iterator[tuple[Path, Iterable[bytes]]]:
        for name, pieces in _reports(run):
            written.add(name)
            yield folder / name, pieces

    write_together(placed())
    ours = ["*_eval.json", *([] if run.analyses is None else [f"{ANALYSES}/*.json"])]
    for path in [path for pattern in ours if _is_ours(output) for path in folder.glob(pattern)]:
        if path.relative_to(folder).as_posix() not in written:
            path.unlink()
    return folder


def _reports(run: Run) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Each report with its name, made when it is written: thousands of them are never held at once."""
    yield "evaluation_report.json", evaluation_report(run)
    yield "scorecard.json", [scorecard_json(run)]
    yield "scorecard.md", [scorecard_markdown(run)]
    for name, results in run.by_scenario.items():
        yield f"{name}_eval.json", scenario_eval(name, results)
    for name, path in (run.analyses or {}).items():
        yield f"{ANALYSES}/{name}.json", [path.read_bytes()]
