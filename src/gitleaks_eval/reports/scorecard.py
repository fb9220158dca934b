"""`scorecard.json` with the keys of the reference implementation, and `scorecard.md` for people."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import gitleaks_eval
from gitleaks_eval.analysis.matching import Match
from gitleaks_eval.analysis.metrics import corpus_rate_texts, rate_texts
from gitleaks_eval.checks.result import ERROR, FAILED, CheckResult, failed_ids
from gitleaks_eval.core.text import json_value, markdown
from gitleaks_eval.reports.coverage import coverage_markdown
from gitleaks_eval.reports.evaluation_report import TOOL, real_world_fields, report_summary
from gitleaks_eval.reports.forms import forms_markdown
from gitleaks_eval.reports.judges import judges_markdown, llm_fields
from gitleaks_eval.reports.run import RealEvaluation, Run
from gitleaks_eval.scenarios.scenario import pool_notes
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.scorecard import THRESHOLDS, Score, score_of

LISTED_AT_MOST = 200
REAL_FINDINGS_SHOWN = 50


def scorecard_json(run: Run) -> bytes:
    """The scorecard as JSON: passed includes not applicable, failed includes errors."""
    score = run.scorecard.score
    dimensions = run.scorecard.by_category
    document = {
        "tool": TOOL,
        "version": gitleaks_eval.__version__,
        "generated_at": run.generated_at,
        "description": "Is this build of Gitleaks, with this configuration, fit for use?",
        "summary": {
            **report_summary(run),
            **_reference_counts(score),
            "score_percent": round(score.rate * 100, 2),
        },
        "dimensions": [
            _dimension(f"D{number}", name, dimensions[name], 1 / len(dimensions), run)
            for number, name in enumerate(dimensions, 1)
        ],
        "critical_failures": [_failure(result) for result in critical_failures(run)],
        "thresholds": dict(THRESHOLDS),
        "metadata": {
            "repositories_evaluated": len(run.scorecard.by_scenario),
            "scanner": dict(run.scanner),
            "incomplete": run.incomplete,
            "partial": run.partial,
            "reasons": list(run.reasons),
        },
        **llm_fields(run.judged, run.combined),
        **real_world_fields(run),
    }
    return (json.dumps(json_value(document), indent=2, allow_nan=False) + "\n").encode("ascii")


def critical_failures(run: Run) -> list[CheckResult]:
    """The failed checks that mean a missed, wrong or unexpected secret."""
    return [result for result in run.results if result.outcome == FAILED and result.critical]


def scorecard_markdown(run: Run) -> bytes:
    """The scorecard as Markdown."""
    return ("\n".join(_lines(run)) + "\n").encode("utf-8", "backslashreplace")


def _reference_counts(score: Score) -> dict[str, Any]:
    return {
        "total_checks": score.total,
        "passed": score.passed + score.not_applicable,
        "failed": score.failed + score.errors,
        "score": score.rate,
        "normalized_score": score.normalized,
    }


def _dimension(number: str, name: str, score: Score, weight: float, run: Run) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "weight": weight,
        **_reference_counts(score),
        "score": score.normalized,
        "weighted_score": score.normalized * weight,
        "not_applicable": score.not_applicable,
        "errors": score.errors,
        "applicable_rate": score.applicable_rate,
        "checks": list(_checks([result for result in run.results if result.category == name])),
    }


def _checks(results: list[CheckResult]) -> Iterator[dict[str, Any]]:
    for check_id, name in dict.fromkeys((result.check_id, result.name) for result in results):
        score = score_of(result.outcome for result in results if result.check_id == check_id)
        yield {"check_id": check_id, "name": name, **_reference_counts(score)}


def _failure(result: CheckResult) -> dict[str, Any]:
    return {
        "check_id": result.check_id,
        "name": result.name,
        "category": result.category,
        "scenario": result.scenario,
        "message": result.message,
    }


def _lines(run: Run) -> Iterator[str]:
    card, findings = run.scorecard, run.scorecard.findings
    yield "# gitleaks-eval scorecard"
    yield ""
    marks = ["INCOMPLETE"] * run.incomplete + ["PARTIAL"] * run.partial
    decision = card.guarded_decision or f"no decision: {run.no_decision()}"
    yield f"**{': '.join([*marks, decision])}**"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| Scanner | {markdown(_scanner(run))} |"
    yield f"| Configuration | {markdown(_configuration(run))} |"
    yield f"| Corpus | {len(run.scenarios)} scenarios, sha256 {run.corpus_sha256[:12]} |"
    if run.only:
        yield f"| Evaluated | only {', '.join(run.only)}: nothing else has a share in the decision |"
    if run.seed != DEFAULT_SEED:
        yield f"| Seed | {run.seed}: other values than by default; --gitleaks-seed={run.seed} plants them again |"
    yield f"| Generated | {run.generated_at} by {TOOL} {gitleaks_eval.__version__} |"
    yield (
        f"| Expected secrets | {findings.detected} of {findings.expected} found, {findings.moved} moved, "
        f"{findings.relabelled} relabelled, {findings.missed} missed, {findings.unexpected} unexpected"
        f"{f', {findings.accepted} accepted' * bool(findings.accepted)}"
        f"{f', {findings.unlabelled} unlabelled' * bool(findings.unlabelled)} |"
    )
    if planted := [one for one in run.scenarios if not one.corpus]:
        rates = rate_texts(run.planted_metrics.total)
        where_from = "" if len(planted) == len(run.scenarios) else " of what is planted"
        yield f"| Precision, recall, F1{where_from} | {rates['precision']}, {rates['recall']}, {rates['f1']} |"
    yield (
        f"| Documented score | {card.score.normalized:.2f} of 5 ({card.score.rate:.1%}), "
        f"{card.decision or 'no decision'}; {card.score.applicable_rate:.1%} of the applicable checks |"
    )
    for reason in (*run.reasons, *filter(None, [run.crashed])):
        yield f"| Note | {markdown(reason)} |"
    yield from _score_table("Category", card.by_category)
    yield from _score_table("Scenario", card.by_scenario)
    yield from _corpora(run)
    yield from _findings(run)
    yield from _failures(run)
    yield from coverage_markdown(run)
    yield from forms_markdown(run.coverage)
    yield from _config_lint(run)
    yield from _repositories(run)
    yield from judges_markdown(run.judged, run.combined)


def _scanner(run: Run) -> str:
    scanner = run.scanner
    digest = f", sha256 {scanner['sha256'][:12]}" if scanner["sha256"] else ""
    return f"{scanner['name']} {scanner['version']} ({scanner['source'] or 'existing analyses'}{digest})"


def _configuration(run: Run) -> str:
    digest = run.scanner["config_sha256"]
    return f"{run.scanner['config']} (sha256 {digest[:12]})" if digest else "that of the existing analyses"


def _score_table(title: str, scores: Any) -> Iterator[str]:
    yield ""
    yield f"| {title} | Passed | Failed | Not applicable | Errors | Score (0-5) |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, score in scores.items():
        counts = f"{score.passed} | {score.failed} | {score.not_applicable} | {score.errors}"
        yield f"| {markdown(name)} | {counts} | {score.normalized:.2f} |"


def _corpora(run: Run) -> Iterator[str]:
    metrics = run.corpora_metrics()
    if metrics is None:
        return
    yield ""
    yield "## Corpora"
    yield ""
    yield "What no label calls right or wrong is unlabelled, and stands in no rate."
    yield ""
    yield "| Corpus | Precision | Recall | F1 | Found | Not found | Wrong | Unlabelled |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name, counts in metrics.by_scenario.items():
        rates = corpus_rate_texts(counts)
        cells = (name, *(rates[rate] for rate in ("precision", "recall", "f1")))
        numbers = (counts.tp, counts.fn, counts.fp, counts.unlabelled)
        yield f"| {' | '.join([*map(markdown, cells), *map(str, numbers)])} |"
    for note in pool_notes(run.scenarios):
        yield ""
        yield f"{markdown(note)}."


def _findings(run: Run) -> Iterator[str]:
    count = run.count_differences()
    if not count:
        return
    yield ""
    yield "| Finding | Scenario | Where | Rule | Severity | Fails |"
    yield "|---|---|---|---|---|---|"
    for name, match in islice(run.differences(), LISTED_AT_MOST):
        fails = " ".join(failed_ids(run.by_scenario[name]))
        yield (
            f"| {match.fate} | {markdown(name)} | {markdown(where(match))} | {markdown(match.rule_id)} | "
            f"{match.severity or ''} | {fails} |"
        )
    for name, match in islice(run.differences(), LISTED_AT_MOST):
        if hidden := run.hidden_by(name, match):
            yield ""
            yield f"{markdown(name)}: {markdown(where(match))} ({markdown(match.rule_id)}): {markdown(hidden)}."
    if count > LISTED_AT_MOST:
        yield ""
        yield f"{count - LISTED_AT_MOST} more are in evaluation\\_report.json."


def where(match: Match) -> str:
    """`file:line`, and where or as what it was reported when that differs."""
    place = match.place
    if match.status == "moved":
        return f"{place} (reported on line {match.reported_line_number})"
    if match.status == "relabelled":
        return f"{place} (reported as {match.reported_rule_id})"
    return place


def _config_lint(run: Run) -> Iterator[str]:
    faults = [result for result in run.lint if result.outcome in {FAILED, ERROR}]
    if faults:
        yield ""
        yield "## Config lint"
        yield ""
        yield from (f"- {result.check_id} {result.name}: {markdown(result.message)}" for result in faults)


def _repositories(run: Run) -> Iterator[str]:
    if not run.repositories:
        return
    yield ""
    yield "## Real repositories"
    yield ""
    yield "They have no ground truth: they enter no score and no decision."
    yield ""
    yield "| Repository | Commit | Findings by rule | By severity | Suppressions | Failed checks |"
    yield "|---|---|---|---|--:|---|"
    for one in run.repositories:
        if one.left is None:
            yield f"| {markdown(one.name)} | | {markdown(one.problem or '')} | | | |"
            continue
        commit = one.left["commit"][:12] + (" (shallow: history is cut off)" if one.left["shallow"] else "")
        obeyed = sum(suppression["obeyed"] for suppression in one.left["suppressions"])
        hidden = f"{one.left['suppressions_total']}" + (f" ({obeyed} obeyed)" if obeyed else "")
        cells = (one.name, commit, counted(one.by_rule), counted(one.by_severity), hidden)
        yield f"| {' | '.join(map(markdown, cells))} | {' '.join(failed_ids(one.results))} |"
    yield from _real_findings(run.repositories)


def _real_findings(repositories: Sequence[RealEvaluation]) -> Iterator[str]:
    if not any(one.findings for one in repositories):
        return
    yield ""
    yield "| Repository | Finding | Rule | Severity | Commit | In HEAD |"
    yield "|---|---|---|---|---|---|"
    for one in repositories:
        for finding in one.findings[:REAL_FINDINGS_SHOWN]:
            place, in_head = f"{finding['file_path']}:{finding['line_number']}", finding["in_current_head"]
            cells = (one.name, place, finding["rule_id"], finding["severity"], finding["commit_hash"][:12])
            yield f"| {' | '.join(map(markdown, cells))} | {'yes' if in_head else 'no'} |"
        if (more := len(one.findings) - REAL_FINDINGS_SHOWN) > 0:
            yield f"| {markdown(one.name)} | {more} more: see its analysis | | | | |"


def counted(counts: Mapping[str, int] | None) -> str:
    """`private-key 2, jwt 1`: the most first."""
    ordered = sorted((counts or {}).items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{name} {count}" for name, count in ordered[:20])
    return f"{shown} and {len(ordered) - 20} more" if len(ordered) > 20 else shown or "none"


def _failures(run: Run) -> Iterator[str]:
    failures = [result for result in run.results if result.outcome in {FAILED, ERROR}]
    if not failures:
        return
    yield ""
    yield "| Check | Scenario | Outcome | Message |"
    yield "|---|---|---|---|"
    for result in failures[:LISTED_AT_MOST]:
        cells = (f"{result.check_id} {result.name}", result.scenario or "", result.outcome, result.message)
        yield f"| {' | '.join(map(markdown, cells))} |"
    if len(failures) > LISTED_AT_MOST:
        yield ""
        yield f"{len(failures) - LISTED_AT_MOST} more are in evaluation\\_report.json."
