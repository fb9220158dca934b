"""`scorecard.json` with the keys of the reference implementation, and `scorecard.md` for people."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import gitleaks_eval
from gitleaks_eval.analysis.matching import Match
from gitleaks_eval.analysis.metrics import corpus_rate_texts, rate_texts
from gitleaks_eval.checks.result import ERROR, FAILED, CheckResult, failed_ids
from gitleaks_eval.core.templates import markdown_page, plain
from gitleaks_eval.core.text import json_value
from gitleaks_eval.coverage.result import ALLOWLISTED, NOT_ASKED, NOT_SCANNED, SEEN, Coverage
from gitleaks_eval.coverage.samples.forms import FORMS
from gitleaks_eval.reports.run.coverage import survey_failures
from gitleaks_eval.reports.run.evaluation_report import TOOL, real_world_fields, report_summary
from gitleaks_eval.reports.run.judges import judges_markdown, llm_fields
from gitleaks_eval.reports.run.values import Run
from gitleaks_eval.scenarios.scenario import pool_notes
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.scorecard import THRESHOLDS, Score, score_of

LISTED_AT_MOST = 200
REAL_FINDINGS_SHOWN = 50


def scorecard_json(run: Run) -> bytes:
    """Return the scorecard as JSON: passed includes not applicable, failed includes errors."""
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
    """Return the failed checks that mean a missed, wrong or unexpected secret."""
    return [result for result in run.results if result.outcome == FAILED and result.critical]


def scorecard_markdown(run: Run) -> bytes:
    """Return the scorecard as Markdown."""
    return markdown_page("scorecard.md", _values(run))


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


def _values(run: Run) -> dict[str, Any]:
    """Return the values of the template."""
    marks = ["INCOMPLETE"] * run.incomplete + ["PARTIAL"] * run.partial
    decision = run.scorecard.guarded_decision or f"no decision: {run.no_decision()}"
    coverage, metrics = run.coverage, run.corpora_metrics()
    rows = coverage.places if coverage else ()
    groups = Counter((str(row["family"]), str(row["status"])) for row in rows)
    return {
        "run": run,
        "headline": ": ".join([*marks, decision]),
        "facts": list(_facts(run)),
        "at_most": LISTED_AT_MOST,
        "real_at_most": REAL_FINDINGS_SHOWN,
        "corpora": [
            (name, corpus_rate_texts(counts), counts)
            for name, counts in (metrics.by_scenario.items() if metrics else ())
        ],
        "pool_notes": list(pool_notes(run.scenarios)),
        "differences": [
            (name, match, " ".join(failed_ids(run.by_scenario[name])))
            for name, match in islice(run.differences(), LISTED_AT_MOST)
        ],
        "where": where,
        "failures": [result for result in run.results if result.outcome in {FAILED, ERROR}],
        "places": [
            (family, [groups[family, status] for status in (SEEN, ALLOWLISTED, NOT_SCANNED, NOT_ASKED)])
            for family in dict.fromkeys(family for family, _ in groups)
        ],
        "failing": list(survey_failures(run.surveys)),
        "silent": list(silent_rules(coverage)) if coverage else [],
        "forms": {
            form: sum(found.get(form, False) for found in (coverage.forms or {}).values()) if coverage else 0
            for form in FORMS
        },
        "lint": [result for result in run.lint if result.outcome in {FAILED, ERROR}],
        "counted": counted,
        "failed_ids": failed_ids,
        "judges": list(judges_markdown(run.judged, run.combined)),
    }


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the rows of the first table; what is ours is marked as Markdown."""
    card, findings = run.scorecard, run.scorecard.findings
    yield "Scanner", _scanner(run)
    yield "Configuration", _configuration(run)
    yield "Corpus", plain(f"{len(run.scenarios)} scenarios, sha256 {run.corpus_sha256[:12]}")
    if run.only:
        yield "Evaluated", plain(f"only {', '.join(run.only)}: nothing else has a share in the decision")
    if run.seed != DEFAULT_SEED:
        yield "Seed", plain(f"{run.seed}: other values than by default; --gitleaks-seed={run.seed} plants them again")
    yield "Generated", plain(f"{run.generated_at} by {TOOL} {gitleaks_eval.__version__}")
    found = (
        f"{findings.detected} of {findings.expected} found, {findings.moved} moved, "
        f"{findings.relabelled} relabelled, {findings.missed} missed, {findings.unexpected} unexpected"
        f"{f', {findings.accepted} accepted' * bool(findings.accepted)}"
        f"{f', {findings.unlabelled} unlabelled' * bool(findings.unlabelled)}"
    )
    yield "Expected secrets", plain(found)
    if planted := [scenario for scenario in run.scenarios if not scenario.corpus]:
        rates = rate_texts(run.planted_metrics.total)
        where_from = "" if len(planted) == len(run.scenarios) else " of what is planted"
        rate = f"{rates['precision']}, {rates['recall']}, {rates['f1']}"
        yield f"Precision, recall, F1{where_from}", plain(rate)
    score = (
        f"{card.score.normalized:.2f} of 5 ({card.score.rate:.1%}), "
        f"{card.decision or 'no decision'}; {card.score.applicable_rate:.1%} of the applicable checks"
    )
    yield "Documented score", plain(score)
    for reason in (*run.reasons, *filter(None, [run.crashed])):
        yield "Note", reason


def silent_rules(coverage: Coverage) -> Iterator[str]:
    """Yield each rule that does not fire, with its reason."""
    for row in coverage.rules:
        if row["status"] not in {"fires", "reported_as"}:
            because = row["hidden_by"] or row["reason"]
            yield f"{row['rule_id']}: {row['status'].replace('_', ' ')}{f' ({because})' if because else ''}"


def _scanner(run: Run) -> str:
    scanner = run.scanner
    digest = f", sha256 {scanner['sha256'][:12]}" if scanner["sha256"] else ""
    return f"{scanner['name']} {scanner['version']} ({scanner['source'] or 'existing analyses'}{digest})"


def _configuration(run: Run) -> str:
    digest = run.scanner["config_sha256"]
    return f"{run.scanner['config']} (sha256 {digest[:12]})" if digest else "that of the existing analyses"


def where(match: Match) -> str:
    """`file:line`, and where or as what it was reported when that differs."""
    place = match.place
    if match.status == "moved":
        return f"{place} (reported on line {match.reported_line_number})"
    if match.status == "relabelled":
        return f"{place} (reported as {match.reported_rule_id})"
    return place


def counted(counts: Mapping[str, int] | None) -> str:
    """`private-key 2, jwt 1`: the most first."""
    ordered = sorted((counts or {}).items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{name} {count}" for name, count in ordered[:20])
    return f"{shown} and {len(ordered) - 20} more" if len(ordered) > 20 else shown or "none"
