"""Write the files of a run into its folder."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.judges.verdict import Combined, Judged, log_lines
from gitleaks_eval.reports.comparison import Compared, comparison_json, comparison_markdown
from gitleaks_eval.reports.evaluation_report import evaluation_report, with_long_lists
from gitleaks_eval.reports.folder import ANALYSES, REPORT, ReportFolder
from gitleaks_eval.reports.judges import HEADING, judges_markdown, llm_fields
from gitleaks_eval.reports.run import Run
from gitleaks_eval.reports.scenario_eval import scenario_eval
from gitleaks_eval.reports.scorecard import scorecard_json, scorecard_markdown

if TYPE_CHECKING:
    from gitleaks_eval.judges.settings import JudgeSettings

COMPARISON = ("comparison.json", "comparison.md")
SUMMARY_AT_MOST = 900_000
JUDGE_LOG = "judges.jsonl"


def write_all(
    runs: Mapping[str, Run], compared: Compared | None, output: ReportFolder, *, removes: Callable[[str], bool]
) -> None:
    """Write all reports of a run: those of each candidate into the folder that is its key, and a comparison.

    Nobody must take a report of yesterday for one of today: what `removes` says goes, unless it is written anew.

    Raises:
        InputError: when a file is in the way, or the folder is or holds a link.
        OSError: when a file cannot be written.
    """

    def files() -> Iterator[tuple[str, Iterable[bytes]]]:
        for folder, run in runs.items():
            for name, pieces in _reports(run):
                yield within(folder, name), pieces
        if compared:
            yield COMPARISON[0], [comparison_json(compared)]
            yield COMPARISON[1], [comparison_markdown(compared)]

    output.publish(files(), removes)


def planned(folders: Iterable[str], scenarios: Iterable[str], scanned: Iterable[str], *, compares: bool) -> list[str]:
    """The names that reports will have: of candidates in these folders, scenarios, and subjects that are scanned."""
    of_each = [
        *(REPORT, "scorecard.json", "scorecard.md"),
        *(f"{name}_eval.json" for name in scenarios),
        *(f"{ANALYSES}/{name}.json" for name in scanned),
    ]
    return [within(folder, name) for folder in folders for name in of_each] + list(COMPARISON) * compares


def within(folder: str, name: str) -> str:
    """The name of a report in a folder, which may be the output itself (empty)."""
    return f"{folder}/{name}" if folder else name


def add_to_job_summary(report: bytes) -> None:
    """Append a report to the summary of a GitHub job, the file that `GITHUB_STEP_SUMMARY` names, if it does.

    Raises:
        InputError: when that cannot be written.
    """
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    try:
        with Path(summary).open("ab") as file:
            # GitHub drops a summary of more than 1 MiB whole.
            whole = len(report) < SUMMARY_AT_MOST
            file.write(report if whole else report[:SUMMARY_AT_MOST].rpartition(b"\n")[0] + b"\n")
    except OSError as error:
        raise InputError(
            f"GITHUB_STEP_SUMMARY {summary}: cannot be written to: {error.strerror or error}; unset it"
        ) from None


def update_reports(output: ReportFolder, judged: Judged, combined: Combined | None, settings: "JudgeSettings") -> Path:
    """Add the verdicts of judges that ran alone to the reports of the last full run, and return their folder.

    Raises:
        InputError: when a report is there no more, or is none.
        OSError: when a file cannot be written.
    """
    fields = llm_fields(judged, combined)
    files: list[tuple[str, Iterable[bytes]]] = []
    for name in (REPORT, "scorecard.json"):
        path = output.path / name
        document = read_json(path, "the report")
        if not isinstance(document, dict):
            raise InputError(f"the report {path}: is none of gitleaks-eval; run pytest --gitleaks-eval first")
        long_lists = [key for key in ("results", "findings") if isinstance(document.get(key), list)]
        lists = {key: map(json.dumps, document.pop(key)) for key in long_lists}
        files.append((name, with_long_lists({**document, **fields}, lists)))
    card = output.path / "scorecard.md"
    checks = (
        card.read_text(encoding="utf-8", errors="replace").partition(f"\n{HEADING}\n")[0].rstrip()
        if card.exists()
        else ""
    )
    section = "\n".join(judges_markdown(judged, combined))
    files.append((card.name, [f"{checks}\n{section}\n".encode("utf-8", "backslashreplace")]))
    if settings.observability:
        files.append((JUDGE_LOG, [log_lines(judged.calls)]))
    output.publish(files, removes=lambda _name: False)
    return output.path


def _reports(run: Run) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Each report with its name, made when it is written: thousands of them are never held at once."""
    yield REPORT, evaluation_report(run)
    yield "scorecard.json", [scorecard_json(run)]
    yield "scorecard.md", [scorecard_markdown(run)]
    if run.judged and run.judge_log:
        yield JUDGE_LOG, [log_lines(run.judged.calls)]
    for name, results in run.by_scenario.items():
        yield f"{name}_eval.json", scenario_eval(name, results)
    for name, path in (run.analyses or {}).items():
        yield f"{ANALYSES}/{name}.json", [path.read_bytes()]
