"""`evaluation_report.json`: everything, for programs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import gitleaks_eval
from gitleaks_eval.analysis.matching import EXACT
from gitleaks_eval.analysis.metrics import metrics_json
from gitleaks_eval.checks.result import ERROR, FAILED, NOT_APPLICABLE, PASSED, CheckResult
from gitleaks_eval.core.text import json_value
from gitleaks_eval.judges.material import REAL_WORLD
from gitleaks_eval.reports.run.configuration_problems import entry_lines
from gitleaks_eval.reports.run.coverage import next_steps
from gitleaks_eval.reports.run.judges import llm_fields
from gitleaks_eval.reports.run.values import RealEvaluation, Run
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.scorecard import Score

LINES_AT_ONCE = 1_000
REPORT_SCHEMA_VERSION = "1.0"
TOOL = "gitleaks-eval"


def evaluation_report(run: Run) -> Iterator[bytes]:
    """Return the report as JSON in pieces, one result and one finding a line; it follows schemas/report.schema.json."""
    results = (json.dumps(result_fields(result)) for result in run.results)
    return with_long_lists(_but_long_lists(run), {"results": results, "findings": _findings(run)})


@dataclass(frozen=True, slots=True)
class _Anew:
    """Rows that are made each time they are read, since all of them at once are the most memory of a run."""

    rows: Callable[[], Iterator[Mapping[str, Any]]]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self.rows()


def evaluation_document(run: Run) -> Mapping[str, Any]:
    """The report as a document for `report.html`: without values of results, and findings that are as expected."""
    return {
        **{name: json_value(value) for name, value in _but_long_lists(run).items()},
        "results": _Anew(lambda: ({**_named(result), "nodeid": result.nodeid} for result in run.results)),
        "findings": _Anew(lambda: _differing(run)),
    }


def _differing(run: Run) -> Iterator[Mapping[str, Any]]:
    # In the order of the findings of the report: the page is the same when it is made of that.
    for name, subject in run.subjects.items():
        forgiven = run.accepted.get(name, ())
        for match in subject.matching.matches:
            if match.status == EXACT or (match.file_path, match.line_number, match.rule_id) in forgiven:
                continue
            cause = run.hidden_by(name, match)
            yield {
                "scenario": name,
                "file_path": match.file_path,
                "line_number": match.line_number,
                "rule_id": match.rule_id,
                "status": match.status,
                "reported_rule_id": match.reported_rule_id,
                "labelled": match.labelled,
                **({"hidden_by": cause} if cause else {}),
            }


def _but_long_lists(run: Run) -> dict[str, Any]:
    return {
        "schema_version": REPORT_SCHEMA_VERSION,
        "tool": TOOL,
        "tool_version": gitleaks_eval.__version__,
        "generated_at": run.generated_at,
        "mode": "synthetic",
        "scanner": dict(run.scanner),
        "corpus_sha256": run.corpus_sha256,
        "summary": report_summary(run),
        "dimensions": [_dimension(name, score) for name, score in run.scorecard.by_category.items()],
        "scenarios": [_scenario(run, name, score) for name, score in run.scorecard.by_scenario.items()],
        "metrics": metrics_json(run.planted_metrics),
        **({"corpora": metrics_json(corpora)} if (corpora := run.corpora_metrics()) else {}),
        "incomplete": run.incomplete,
        "partial": run.partial,
        "reasons": list(run.reasons),
        **({"crashed": run.crashed} if run.crashed else {}),
        **({"only": list(run.only)} if run.only else {}),
        **({"other_failures": list(run.other_failures)} if run.other_failures else {}),
        **({"seed": run.seed} if run.seed != DEFAULT_SEED else {}),
        "next": list(next_steps(run)),
        "coverage": run.coverage.rows() if run.coverage else None,
        **({"survey_failures": failed} if (failed := _survey_failures(run)) else {}),
        **({"entry_lines": lines} if (lines := entry_lines(run)) else {}),
        **({"config_lint": [result_fields(result) for result in run.lint]} if run.lint else {}),
        **llm_fields(run.judged, run.combined),
        **({"judge_context": json_value(run.judge_context)} if run.judge_context else {}),
        **real_world_fields(run),
    }


REAL_FINDINGS_AT_MOST = 1000
# Of a finding in a real repository: where it is, and neither its preview nor its author.
_FINDING = ("file_path", "line_number", "rule_id", "severity", "commit_hash", "in_current_head")


def real_world_fields(run: Run) -> dict[str, Any]:
    """`real_world` as the reports have it; nothing without a real repository."""
    if not run.repositories:
        return {}
    judgement = run.judged.by_mode.get(REAL_WORLD) if run.judged else None
    return {
        "real_world": {
            "repositories": [_repository(repository) for repository in run.repositories],
            "llm": judgement.as_json() if judgement else None,
        }
    }


def _repository(real_evaluation: RealEvaluation) -> dict[str, Any]:
    left = real_evaluation.left or {"commit": None, "shallow": None, "suppressions": [], "suppressions_total": 0}
    return {
        "name": real_evaluation.name,
        "source": real_evaluation.source,
        **left,
        "findings_by_rule": real_evaluation.by_rule,
        "findings_by_severity": real_evaluation.by_severity,
        "findings": [
            {key: finding[key] for key in _FINDING} for finding in real_evaluation.findings[:REAL_FINDINGS_AT_MOST]
        ],
        "problem": real_evaluation.problem,
        "results": [result_fields(result) for result in real_evaluation.results],
    }


def report_summary(run: Run) -> dict[str, Any]:
    """Return the counts, rates and decisions of a run."""
    card, score = run.scorecard, run.scorecard.score
    findings = asdict(card.findings)
    if not findings["accepted"]:
        del findings["accepted"]
    findings.pop("unevaluated")
    return {
        **score_fields(score),
        "decision": card.decision,
        "guarded_decision": card.guarded_decision,
        "findings": findings,
    }


def _survey_failures(run: Run) -> list[dict[str, Any]]:
    return [result_fields(result) for result in run.surveys if result.outcome in {FAILED, ERROR}]


def score_fields(score: Score) -> dict[str, Any]:
    """Return a score as the reports write it."""
    return {
        "total_checks": score.total,
        "passed": score.passed,
        "failed": score.failed,
        "not_applicable": score.not_applicable,
        "errors": score.errors,
        "score": score.rate,
        "applicable_rate": score.applicable_rate,
        "normalized_score": score.normalized,
    }


def with_long_lists(document: Mapping[str, Any], lists: Mapping[str, Iterable[str]]) -> Iterator[bytes]:
    """JSON in pieces, with an entry a line for the long lists.

    The indenting encoder is ten times slower, and one text for all would be the most memory that a run takes.
    """
    yield json.dumps(json_value(document), indent=2, allow_nan=False).removesuffix("\n}").encode("ascii")
    for name, lines in lists.items():
        yield f',\n  "{name}": ['.encode("ascii")
        left, before = iter(lines), "\n    "
        while some := list(islice(left, LINES_AT_ONCE)):
            yield (before + ",\n    ".join(some)).encode("ascii")
            before = ",\n    "
        yield b"]" if before == "\n    " else b"\n  ]"
    yield b"\n}\n"


def result_fields(result: CheckResult) -> dict[str, Any]:
    """Return a check result as the reports write it."""
    return {
        **_named(result),
        "expected": json.loads(result.expected),
        "actual": json.loads(result.actual),
        "nodeid": result.nodeid,
        "duration_ms": round(result.duration_ms, 3),
    }


def _named(result: CheckResult) -> dict[str, Any]:
    return {
        "check_id": result.check_id,
        "name": result.name,
        "category": result.category,
        "scenario": result.scenario,
        "outcome": result.outcome,
        "passed": result.outcome in {PASSED, NOT_APPLICABLE},
        "message": result.message,
        **({"excused": result.excused} if result.excused else {}),
    }


def _findings(run: Run) -> Iterator[str]:
    # Put together by hand: there may be 200,000, and most of their texts are the same few.
    text = _JsonTexts()
    for name, subject in run.subjects.items():
        scenario, forgiven = text[name], run.accepted.get(name, ())
        for (
            status,
            path,
            line,
            rule_id,
            severity,
            reported_rule_id,
            reported_line,
            reported_severity,
            labelled,
        ) in subject.matching.matches:
            hidden = _hidden(run.hidden.get((name, (path, line, rule_id)))) if run.hidden else ""
            accepted = _ACCEPTED if forgiven and status != EXACT and (path, line, rule_id) in forgiven else ""
            yield (
                f'{{"scenario": {scenario}, "file_path": {text[path]}, "line_number": {line}, '
                f'"rule_id": {text[rule_id]}, "severity": {text[severity]}, "status": {text[status]}, '
                f'"reported_rule_id": {text[reported_rule_id]}, '
                f'"reported_line_number": {"null" if reported_line is None else reported_line}, '
                f'"reported_severity": {text[reported_severity]}{"" if labelled else _UNLABELLED}{accepted}{hidden}}}'
            )


_UNLABELLED = ', "labelled": false'
_ACCEPTED = ', "accepted": true'


def _hidden(text: str | None) -> str:
    return f', "hidden_by": {json.dumps(json_value(text))}' if text else ""


class _JsonTexts(dict[str | None, str]):
    """Texts as JSON, each encoded once."""

    def __missing__(self, text: str | None) -> str:
        self[text] = json.dumps(json_value(text))
        return self[text]


def _dimension(name: str, score: Score) -> dict[str, Any]:
    return {"name": name, **score_fields(score)}


def _scenario(run: Run, name: str, score: Score) -> dict[str, Any]:
    subject = run.subjects.get(name)
    return {"name": name, **score_fields(score), "scan_attempts": subject.scan_attempts if subject else None}


def scenario_eval(name: str, results: Sequence[CheckResult]) -> Iterator[bytes]:
    """In pieces, the report of a scenario; passed includes not applicable, failed includes errors."""
    passed = sum(result.outcome in {PASSED, NOT_APPLICABLE} for result in results)
    return with_long_lists(
        {
            "repository": name,
            "total_checks": len(results),
            "passed_checks": passed,
            "failed_checks": len(results) - passed,
            "pass_rate": passed / len(results) if results else 0.0,
        },
        {"results": (json.dumps(result_fields(result)) for result in results)},
    )
