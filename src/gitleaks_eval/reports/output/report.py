"""What a report is: the names of its files, and how each is made. What writes, removes or plans reports reads this."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from gitleaks_eval.reports.comparison.compared import Compared, comparison_json, comparison_markdown
from gitleaks_eval.reports.fleet.summary import FleetReport, fleet_json, fleet_markdown
from gitleaks_eval.reports.html.pages import comparison_page, document_of, run_page
from gitleaks_eval.reports.pull_request.annotations import code_quality, sarif
from gitleaks_eval.reports.pull_request.comment import comparison_comment, run_comment
from gitleaks_eval.reports.run.evaluation_report import evaluation_document, evaluation_report, scenario_eval
from gitleaks_eval.reports.run.judges import log_lines
from gitleaks_eval.reports.run.scorecard import scorecard_json, scorecard_markdown
from gitleaks_eval.reports.run.values import Run

# Names that others look for, too: readers of earlier reports, and what says where they are.
REPORT, SCORECARD_JSON, SCORECARD = "evaluation_report.json", "scorecard.json", "scorecard.md"
COMPARISON_JSON = "comparison.json"
SARIF, CODE_QUALITY = "configuration.sarif", "code-quality.json"
PAGE, COMMENT = "report.html", "comment.md"
JUDGE_LOG, ANALYSES = "judges.jsonl", "analysis"

# What there is a file for: always one, one for calls of judges, one a scenario, one an analysis that is made.
ALWAYS, JUDGED, SCENARIO, ANALYSIS = "always", "judged", "scenario", "analysis"
# Of that of which there is always one file, whatever it is called.
ONE = ("",)
Of = TypeVar("Of")


@dataclass(frozen=True, slots=True)
class Report(Generic[Of]):
    """A report of a run (or of a comparison).

    `name` is relative to the folder of a candidate; `{}` in it stands for the scenario or repository. `per` says what
    there is a file for. `render` makes the content, in pieces, of what the report is about and of that name. A
    `private` one is readable by its owner alone.
    """

    name: str
    render: Callable[[Of, str], Iterable[bytes]]
    per: str = ALWAYS
    private: bool = False

    def named(self, subject: str) -> str:
        """Return the name of the file for a scenario or repository; of one that there is always, whatever is given."""
        return self.name.replace("{}", subject)

    def is_named(self, name: str) -> bool:
        """Return whether a name, in whatever folder, is one of this report's."""
        own, parts = self.name.split("/"), name.split("/")
        forms = (re.escape(part).replace(r"\{\}", ".+") for part in own)
        return len(parts) >= len(own) and all(map(re.fullmatch, forms, parts[-len(own) :]))


def _analyses(run: Run) -> Mapping[str, Path]:
    return run.analyses or {}


def _comparison_page(compared: Compared) -> Iterable[bytes]:
    runs = {name: evaluation_document(run) for name, run in compared.runs.items()}
    document = document_of([comparison_json(compared)])
    return comparison_page(document, runs)


REPORTS: tuple[Report[Run], ...] = (
    Report(REPORT, lambda run, _: evaluation_report(run)),
    Report(SCORECARD_JSON, lambda run, _: [scorecard_json(run)]),
    Report(SCORECARD, lambda run, _: [scorecard_markdown(run)]),
    Report(PAGE, lambda run, _: run_page(evaluation_document(run))),
    Report(SARIF, lambda run, _: [sarif({"": run})]),
    Report(CODE_QUALITY, lambda run, _: [code_quality([run])]),
    Report(COMMENT, lambda run, _: [run_comment(run)]),
    Report(JUDGE_LOG, lambda run, _: [log_lines(run.judged.calls)] if run.judged else [], JUDGED),
    Report("{}_eval.json", lambda run, name: scenario_eval(name, run.by_scenario[name]), SCENARIO),
    # It has the places of secrets in a history, and the names of authors.
    Report(f"{ANALYSES}/{{}}.json", lambda run, name: [_analyses(run)[name].read_bytes()], ANALYSIS, private=True),
)
COMPARISONS: tuple[Report[Compared], ...] = (
    Report(COMPARISON_JSON, lambda compared, _: [comparison_json(compared)]),
    Report("comparison.md", lambda compared, _: [comparison_markdown(compared)]),
    Report(JUDGE_LOG, lambda compared, _: [log_lines(compared.calls)], JUDGED),
    Report(PAGE, lambda compared, _: _comparison_page(compared)),
    Report(SARIF, lambda compared, _: [sarif(compared.under_review)]),
    Report(CODE_QUALITY, lambda compared, _: [code_quality(compared.under_review.values())]),
    Report(COMMENT, lambda compared, _: [comparison_comment(compared)]),
)
COMPARISON = tuple(report.name for report in COMPARISONS if report.per == ALWAYS)
# Of many repositories: rows, what they amount to, and the rows of a shard, which have no verdict yet.
ROWS, SHARD = "repositories.jsonl", "shard-{}.jsonl"
TABLE: Report[Iterable[bytes]] = Report("repositories.parquet", lambda pieces, _: pieces)
FLEETS: tuple[Report[FleetReport], ...] = (
    Report(ROWS, lambda report, _: report.rows()),
    Report("repositories.json", lambda report, _: [fleet_json(report)]),
    Report("repositories.md", lambda report, _: [fleet_markdown(report)]),
)
SHARDS: tuple[Report[Iterable[bytes]], ...] = (Report(SHARD, lambda pieces, _: pieces),)
_EVERY: tuple[Report[Any], ...] = (*REPORTS, *COMPARISONS, *FLEETS, *SHARDS, TABLE)
# The names in the output folder that reports take; a candidate's folder has another.
RESERVED = frozenset(report.name.partition("/")[0] for report in _EVERY if not report.name.startswith("{}"))


def report_named(name: str) -> Report[Any] | None:
    """Return the report whose file may have this name, relative to the output folder; None where it is none of ours."""
    return next((report for report in _EVERY if report.is_named(name)), None)


def planned(folders: Iterable[str], scenarios: Iterable[str], scanned: Iterable[str], *, compares: bool) -> list[str]:
    """The names that reports will have: of candidates in these folders, scenarios, and subjects that are scanned."""
    subjects = {ALWAYS: ONE, SCENARIO: scenarios, ANALYSIS: scanned}
    of_each = [report.named(subject) for report in REPORTS for subject in subjects.get(report.per, ())]
    return [within(folder, name) for folder in folders for name in of_each] + list(COMPARISON) * compares


def within(folder: str, name: str) -> str:
    """Return the name of a report in a folder, which may be the output itself (empty)."""
    return f"{folder}/{name}" if folder else name
