"""What a judge concluded, and what the verdicts of all judges amount to. Pure: imports no pytest."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gitleaks_eval.checks.result import FAILED
from gitleaks_eval.judges.material import SYNTHETIC
from gitleaks_eval.scoring.scorecard import SCALE, THRESHOLDS, FindingCounts, Scorecard, decide, guard

SCORED, NOT_APPLICABLE, UNSCORED = "scored", "not_applicable", "unscored"
INCOMPLETE = "INCOMPLETE"
# "LLM scores can be capped when ground truth assertions fail" (requirements, Confidence Requirements).
CAP = 2
LOW_CONFIDENCE = 0.7
LOW_CONFIDENCE_CAP = 3
PROGRAMMATIC_SHARE, LLM_SHARE = 0.6, 0.4
DIVERGING = 2
INCONSISTENT = 1
FLAG, EXCLUDE, CAP_IT = "flag", "exclude", "cap"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's verdict in one mode; scores are 1 to 5, and None unless the outcome is `scored`.

    `raw_score` is what the judge said, `score` what counts after the cap. `unscored_kind` says why there
    is none, `reasoning` then is our own message. `weighted_sub_score` is the weighted sum of the sub-scores.
    """

    dimension: str
    weight: float
    outcome: str
    unscored_kind: str | None = None
    score: float | None = None
    raw_score: int | None = None
    capped: bool = False
    cap_checks: tuple[str, ...] = ()
    confidence: float | None = None
    low_confidence: bool = False
    sub_scores: Mapping[str, int] | None = None
    weighted_sub_score: float | None = None
    inconsistent: bool = False
    heuristic_score: int | None = None
    diverging: bool = False
    reasoning: str = ""
    evidence_cited: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    trace_id: str = ""

    def as_json(self) -> dict[str, Any]:
        """This value as JSON, as the reports have it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the observability log: what was asked and what it took; never the prompt, never a key."""

    trace_id: str
    dimension: str
    evaluation_mode: str
    source: str
    attempts: int
    ms: float
    model: str | None
    request_id: str | None
    stop_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    error_kind: str | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of one evaluation mode, and what produced them.

    `score` is the LLM score, 1 to 5, or None when a judge is unscored, none applies, or only some were
    selected; `weights_used` are the weights behind it, renormalised where a judge does not count.
    """

    mode: str
    model_requested: str | None
    model_answered: str | None
    verdicts: tuple[Verdict, ...]
    score: float | None
    weights_used: Mapping[str, float]
    partial: bool
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The `llm` of the reports."""
        return {
            "mode": self.mode,
            "model_requested": self.model_requested,
            "model_answered": self.model_answered,
            "score": self.score,
            "weights_used": dict(self.weights_used),
            "partial": self.partial,
            "warnings": list(self.warnings),
            "judges": [verdict.as_json() for verdict in self.verdicts],
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of each evaluation mode that was judged, and a line for each call."""

    by_mode: Mapping[str, Judgement]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Combined:
    """The programmatic and the LLM score in one, 0 to 5; None, and `INCOMPLETE`, without an LLM score."""

    score: float | None
    decision: str | None
    guarded_decision: str | None


def with_cap(verdict: Verdict, failed_checks: Sequence[str], low_confidence: str) -> Verdict:
    """The verdict with what limits its score: critical checks that fail, and the policy for low confidence."""
    if verdict.raw_score is None:
        return verdict
    score = min(verdict.raw_score, CAP) if failed_checks else verdict.raw_score
    if verdict.low_confidence and low_confidence == CAP_IT:
        score = min(score, LOW_CONFIDENCE_CAP)
    return replace(verdict, score=score, capped=score < verdict.raw_score, cap_checks=tuple(failed_checks))


def llm_score(verdicts: Sequence[Verdict], low_confidence: str) -> tuple[float | None, dict[str, float]]:
    """The weighted sum of the scores, and the weights that were used: what does not count is renormalised away."""
    counted = [
        verdict
        for verdict in verdicts
        if verdict.outcome == SCORED and not (verdict.low_confidence and low_confidence == EXCLUDE)
    ]
    whole = sum(verdict.weight for verdict in counted)
    if not whole:
        return None, {}
    weights = {verdict.dimension: verdict.weight / whole for verdict in counted}
    if any(verdict.outcome == UNSCORED for verdict in verdicts):
        return None, weights
    return _exact(sum((verdict.score or 0) * weights[verdict.dimension] for verdict in counted)), weights


def combine(judgement: Judgement, rate: float, findings: FindingCounts, *, incomplete: bool, partial: bool) -> Combined:
    """0.6 of the programmatic score and 0.4 of the LLM score; the guard stands beside it as in the main job."""
    if partial or judgement.partial:
        return Combined(None, None, None)
    if judgement.score is None:
        fails = guard("STRONG_PASS", findings, incomplete=incomplete) == "FAIL"
        return Combined(None, INCOMPLETE, "FAIL" if fails else INCOMPLETE)
    score = _exact(PROGRAMMATIC_SHARE * rate * SCALE + LLM_SHARE * judgement.score)
    decision = decide(score / SCALE)
    return Combined(score, decision, guard(decision, findings, incomplete=incomplete))


def combined_of(  # noqa: PLR0913 - what may lower it, each under its name
    judged: Judged | None, card: Scorecard, *, incomplete: bool, partial: bool, faulty: bool, surveyed: bool = False
) -> Combined | None:
    """The combined score of a run, when judges looked at its scenarios.

    Judges know nothing of rules, places and entries: where these were `surveyed` it is not above the run's own.
    """
    judgement = judged.by_mode.get(SYNTHETIC) if judged else None
    if judgement is None:
        return None
    combined = combine(judgement, card.score.rate, card.findings, incomplete=incomplete, partial=partial)
    combined = _capped(combined) if faulty else combined
    return _not_above(combined, card.guarded_decision) if surveyed else combined


def combined_with(report: Mapping[str, Any], judged: Judged) -> Combined | None:
    """The combined score of verdicts and of the report that they are about."""
    judgement = judged.by_mode.get(SYNTHETIC)
    if judgement is None:
        return None
    summary = report["summary"]
    findings = FindingCounts(**summary["findings"])
    faulty = any(one["outcome"] == FAILED for one in report.get("config_lint", ()))
    combined = combine(judgement, summary["score"], findings, incomplete=report["incomplete"], partial=False)
    combined = _capped(combined) if faulty else combined
    return _not_above(combined, summary["guarded_decision"]) if report.get("coverage") else combined


def _not_above(combined: Combined, decision: str | None) -> Combined:
    names = [name for name, _ in THRESHOLDS]
    if decision not in names or combined.guarded_decision not in names:
        return combined
    return replace(combined, guarded_decision=max(decision, combined.guarded_decision, key=names.index))


def _capped(combined: Combined) -> Combined:
    """At most WEAK_PASS: the configuration fails its lint."""
    is_better = combined.guarded_decision in {"STRONG_PASS", "PASS"}
    return replace(combined, guarded_decision="WEAK_PASS") if is_better else combined


def _exact(score: float) -> float:
    """A sum of weighted scores without the error of binary fractions: 4.0 is a STRONG_PASS, 3.9999999999999996 not."""
    return round(score, 9)


def judgement_from_json(document: Mapping[str, Any]) -> Judgement:
    """A judgement that another process of the run left."""
    lists = ("cap_checks", "evidence_cited", "recommendations")
    verdicts = tuple(
        Verdict(**{**verdict, **{name: tuple(verdict[name]) for name in lists}}) for verdict in document["judges"]
    )
    rest = {name: value for name, value in document.items() if name != "judges"}
    return Judgement(**{**rest, "verdicts": verdicts, "warnings": tuple(document["warnings"])})


def log_lines(calls: Sequence[Call]) -> bytes:
    """`judges.jsonl`: a line a call."""
    return "".join(json.dumps(asdict(call)) + "\n" for call in calls).encode("ascii")
