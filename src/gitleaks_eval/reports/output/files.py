"""Write the files of a run into its folder."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.schema import report_problems
from gitleaks_eval.judges.verdict import Combined, Judged
from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.html.pages import run_page
from gitleaks_eval.reports.output.folder import ReportFolder
from gitleaks_eval.reports.output.report import (
    ALWAYS,
    ANALYSIS,
    COMPARISON,
    COMPARISONS,
    JUDGE_LOG,
    JUDGED,
    ONE,
    PAGE,
    REPORT,
    REPORTS,
    SCENARIO,
    SCORECARD,
    SCORECARD_JSON,
    Of,
    Report,
    within,
)
from gitleaks_eval.reports.run.evaluation_report import with_long_lists
from gitleaks_eval.reports.run.judges import HEADING, judges_markdown, llm_fields, log_lines
from gitleaks_eval.reports.run.values import Run

if TYPE_CHECKING:
    from gitleaks_eval.judges.settings import JudgeSettings

SUMMARY_AT_MOST = 900_000
_CUT = b"\n\nThere is no room for more: the reports have all of it.\n"


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
            for name, pieces in _made(REPORTS, run, _subjects(run)):
                # Of two of one name that of the comparison is written: it says what the other does, and more.
                if not (compared and within(folder, name) in COMPARISON):
                    yield within(folder, name), pieces
        if compared:
            yield from _made(COMPARISONS, compared, {ALWAYS: ONE, JUDGED: ONE if compared.calls else ()})

    output.publish(files(), removes)


def add_to_job_summary(report: bytes) -> None:
    """Append a report to the summary of a GitHub job, the file that `GITHUB_STEP_SUMMARY` names, if it does.

    Raises:
        InputError: when that cannot be written.
    """
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    # Opening a pipe would wait for whoever reads it.
    if Path(summary).exists() and not Path(summary).is_file():
        raise InputError(f"GITHUB_STEP_SUMMARY {summary}: it is no file; unset it")
    try:
        with Path(summary).open("ab") as file:
            # GitHub drops a summary of more than 1 MiB whole, and earlier runs of the step stand in it, too.
            room = max(0, SUMMARY_AT_MOST - file.tell())
            file.write(report if len(report) <= room else report[:room].rpartition(b"\n")[0] + _CUT)
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
    for name in (REPORT, SCORECARD_JSON):
        path = output.path / name
        document = read_json(path, "the report")
        if not isinstance(document, dict):
            raise InputError(f"the report {path}: is none of gitleaks-eval; run pytest --gitleaks-eval first")
        if name == REPORT:
            files.append((PAGE, run_page({**document, **fields})))
        long_lists = [key for key in ("results", "findings") if isinstance(document.get(key), list)]
        lists = {key: map(json.dumps, document.pop(key)) for key in long_lists}
        files.append((name, with_long_lists({**document, **fields}, lists)))
    card = output.path / SCORECARD
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


def _subjects(run: Run) -> Mapping[str, Iterable[str]]:
    """Return what of a run there is a file for, by `Report.per`."""
    logged = ONE if run.judged and run.judge_log else ()
    return {ALWAYS: ONE, JUDGED: logged, SCENARIO: run.by_scenario, ANALYSIS: run.analyses or ()}


def _made(
    reports: Iterable[Report[Of]], of: Of, subjects: Mapping[str, Iterable[str]]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield each report with its name, made when it is written: thousands of them are never held at once."""
    for report in reports:
        for subject in subjects[report.per]:
            yield report.named(subject), report.render(of, subject)


def read_report(folder: Path, corpus_sha256: str, *, scanned: bool) -> Mapping[str, Any]:
    """Return the report of the last full run, which judges that run alone read.

    `scanned` says whether the analyses that they read are those that a scan left beside it.

    Raises:
        InputError: when there is none, it cannot be read, does not follow the schema, or is about other scenarios
            or analyses.
    """
    path = folder / REPORT
    advice = "run pytest --gitleaks-eval first, or add --gitleaks-eval to do both"
    if not path.exists():
        raise InputError(f"--gitleaks-judges: there is no {path}; {advice}")
    document: Mapping[str, Any] = read_json(path, "the report")
    if problems := report_problems(document):
        raise InputError(f"--gitleaks-judges: {path} is no report of a full run ({'; '.join(problems[:3])}); {advice}")
    if document["partial"]:
        raise InputError(f"--gitleaks-judges: {path} is of a partial run; {advice}")
    if document["corpus_sha256"] != corpus_sha256:
        raise InputError(
            f"--gitleaks-judges: {path} is about other scenarios than this run (--gitleaks-scenarios): {advice}"
        )
    if scanned != (document["scanner"]["config"] is not None):
        other = "leave --gitleaks-analysis out" if not scanned else "name their folder with --gitleaks-analysis"
        of = "a scan" if not scanned else "analyses that were there"
        raise InputError(f"--gitleaks-judges: {path} is about {of}: {other}, or {advice}")
    return document
