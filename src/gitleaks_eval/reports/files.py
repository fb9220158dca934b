"""Write the files of a run into its folder."""

import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gitleaks_eval.errors import InputError
from gitleaks_eval.input_file import parse_json, read_input, read_json
from gitleaks_eval.judges.verdict import Combined, Judged, log_lines
from gitleaks_eval.reports.comparison import Compared, comparison_json, comparison_markdown
from gitleaks_eval.reports.evaluation_report import evaluation_report, with_long_lists
from gitleaks_eval.reports.folder import is_ours
from gitleaks_eval.reports.judges import HEADING, REPORT, judges_markdown, llm_fields
from gitleaks_eval.reports.run import Run
from gitleaks_eval.reports.scenario_eval import scenario_eval
from gitleaks_eval.reports.scorecard import scorecard_json, scorecard_markdown
from gitleaks_eval.settings import ANALYSES
from gitleaks_eval.sharing import write_together

if TYPE_CHECKING:
    from gitleaks_eval.judges.settings import JudgeSettings

PARTIAL = "partial"
COMPARISON = ("comparison.json", "comparison.md")
SUMMARY_AT_MOST = 900_000
JUDGE_LOG = "judges.jsonl"


def write_reports(run: Run, output: Path, candidate: str = "") -> Path:
    """Write all reports of a run and return their folder.

    Those of a candidate have a folder of its name, those of a partial run one of their own in it.

    Reports of scenarios that this run does not have, or could not analyse, are removed: nobody must take
    an analysis of yesterday for one of today.

    Raises:
        OSError: when a file cannot be written.
    """
    folder = output / candidate / PARTIAL if run.partial else output / candidate
    written = set()

    def placed() -> Iterator[tuple[Path, Iterable[bytes]]]:
        for name, pieces in _reports(run):
            written.add(name)
            yield folder / name, pieces

    write_together(placed())
    ours = ["*_eval.json", JUDGE_LOG, *([] if run.analyses is None else [f"{ANALYSES}/*.json"])]
    for path in [path for pattern in ours if is_ours(output) for path in folder.glob(pattern)]:
        if path.relative_to(folder).as_posix() not in written:
            path.unlink()
    return folder


def write_comparison(compared: Compared, output: Path) -> Path:
    """Write a comparison and return the file for people.

    Raises:
        OSError: when a file cannot be written.
    """
    document, report = (output / name for name in COMPARISON)
    write_together([(document, [comparison_json(compared)]), (report, [comparison_markdown(compared)])])
    return report


def remove_stale(output: Path, written: Collection[Path], baseline: Path | None, *, compares: bool) -> None:
    """Remove what an earlier full run left that this one, with reports in these folders, did not write anew.

    Nobody must take a report of yesterday for one of today: those of candidates that are no longer compared,
    of a run with one candidate once there are several, and a comparison. The baseline stays.
    """
    if not is_ours(output):
        return
    kept = {folder.resolve() for folder in (*written, *([baseline.parent] if baseline else []))}
    if output.resolve() not in kept:
        _remove(output, ("evaluation_report.json", "scorecard.*", "*_eval.json", JUDGE_LOG, f"{ANALYSES}/*.json"))
    for folder in _compared_before(output):
        if folder.resolve() not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    if not compares:
        _remove(output, COMPARISON)


def _compared_before(output: Path) -> list[Path]:
    """The folders of the candidates of the comparison that stands there."""
    try:
        document = parse_json(read_input(output / COMPARISON[0]))
        folders = [output / one["name"] for one in document["candidates"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return [
        folder
        for folder in folders
        if ".." not in folder.parts and output in folder.parents and (folder / "evaluation_report.json").is_file()
    ]


def _remove(folder: Path, patterns: Iterable[str]) -> None:
    for path in [path for pattern in patterns for path in folder.glob(pattern)]:
        path.unlink()


def add_to_job_summary(report: Path) -> None:
    """Append a report to the summary of a GitHub job, the file that `GITHUB_STEP_SUMMARY` names, if it does.

    Raises:
        InputError: when that cannot be written.
    """
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    text = report.read_bytes()
    try:
        with Path(summary).open("ab") as file:
            # GitHub drops a summary of more than 1 MiB whole.
            file.write(text if len(text) < SUMMARY_AT_MOST else text[:SUMMARY_AT_MOST].rpartition(b"\n")[0] + b"\n")
    except OSError as error:
        raise InputError(
            f"GITHUB_STEP_SUMMARY {summary}: cannot be written to: {error.strerror or error}; unset it"
        ) from None


def update_reports(output: Path, judged: Judged, combined: Combined | None, settings: "JudgeSettings") -> Path:
    """Add the verdicts of judges that ran alone to the reports of the last full run, and return their folder.

    Raises:
        InputError: when a report is there no more, or is none.
        OSError: when a file cannot be written.
    """
    fields = llm_fields(judged, combined)
    files: list[tuple[Path, Iterable[bytes]]] = []
    for name in (REPORT, "scorecard.json"):
        document = read_json(output / name, "the report")
        if not isinstance(document, dict):
            raise InputError(f"the report {output / name}: is none of gitleaks-eval; run pytest --gitleaks-eval first")
        long_lists = [key for key in ("results", "findings") if isinstance(document.get(key), list)]
        lists = {key: map(json.dumps, document.pop(key)) for key in long_lists}
        files.append((output / name, with_long_lists({**document, **fields}, lists)))
    card = output / "scorecard.md"
    checks = (
        card.read_text(encoding="utf-8", errors="replace").partition(f"\n{HEADING}\n")[0].rstrip()
        if card.exists()
        else ""
    )
    section = "\n".join(judges_markdown(judged, combined))
    files.append((card, [f"{checks}\n{section}\n".encode("utf-8", "backslashreplace")]))
    if settings.observability:
        files.append((output / JUDGE_LOG, [log_lines(judged.calls)]))
    write_together(files)
    return output


def _reports(run: Run) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Each report with its name, made when it is written: thousands of them are never held at once."""
    yield "evaluation_report.json", evaluation_report(run)
    yield "scorecard.json", [scorecard_json(run)]
    yield "scorecard.md", [scorecard_markdown(run)]
    if run.judged and run.judge_log:
        yield JUDGE_LOG, [log_lines(run.judged.calls)]
    for name, results in run.by_scenario.items():
        yield f"{name}_eval.json", scenario_eval(name, results)
    for name, path in (run.analyses or {}).items():
        yield f"{ANALYSES}/{name}.json", [path.read_bytes()]
