"""The verdict of a case: replies merged, citations checked, caps put on; and the line of each call in the log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from statistics import median_low
from typing import Any

from gitleaks_eval.judges.facts import caps_of
from gitleaks_eval.judges.judge import Case, Judge, Opinion
from gitleaks_eval.judges.material import SYNTHETIC, Material
from gitleaks_eval.judges.model.answer import Answer
from gitleaks_eval.judges.model.question import Question, Reply, usage
from gitleaks_eval.judges.panel.merging import Grounds, grounded, merged, sample_rows
from gitleaks_eval.judges.verdict import (
    DIVERGING,
    INCONSISTENT,
    LOW_CONFIDENCE,
    SCORED,
    UNSCORED,
    Call,
    Verdict,
    with_cap,
)

# Of a reply, the line in the log says these as they are.
_OF_REPLY = (
    *("dimension", "source", "attempts", "model", "request_id", "stop_reason", "input_tokens", "output_tokens"),
    *("model_requested", "sample", "prompt_sha256", "store_key", "cost"),
)


@dataclass(frozen=True, slots=True)
class OpenCase:
    """A case that is to be judged: its material, the opinion of numbers, and the question to a model."""

    case: Case
    material: Material
    opinion: Opinion
    question: Question


def unscored(judge: Judge, kind: str, reasoning: str, trace_id: str = "") -> Verdict:
    """Return the verdict of a judge that has no score, and why."""
    return Verdict(judge.dimension, judge.weight, UNSCORED, kind, reasoning=reasoning, trace_id=trace_id)


def from_replies(of: OpenCase, replies: Sequence[Reply], low: str, trace_id: str) -> Verdict:
    """Return the verdict of a case by what the models replied; `low` is the policy for low confidence."""
    whole = merged(replies)
    if isinstance(whole, Reply):
        verdict = unscored(of.case.judge, whole.kind or "invalid", whole.message, trace_id)
    else:
        grounds = grounded(whole.answer, of.question.prompt)
        verdict = replace(
            _scored(of, whole.answer, grounds, low, trace_id), spread=whole.spread, disagreement=whole.disagreement
        )
        if grounds.problem:
            verdict = _not_counted(verdict, grounds.problem)
    return replace(verdict, samples=sample_rows(replies), **usage(replies))


def from_opinion(of: OpenCase, low: str, trace_id: str) -> Verdict:
    """Return the verdict of a case by numbers alone."""
    opinion = of.opinion
    said = f"Heuristic: {opinion.reasoning}"
    answer = Answer(opinion.score, opinion.confidence, said, (), (), opinion.sub_scores)
    return _scored(of, answer, Grounds(opinion.confidence), low, trace_id)


def _not_counted(verdict: Verdict, why: str) -> Verdict:
    """Return the verdict without its scores; what was said stays."""
    return replace(
        verdict,
        outcome=UNSCORED,
        unscored_kind="groundless",
        score=None,
        raw_score=None,
        counted=None,
        capped=False,
        cap_checks=(),
        excluded=False,
        inconsistent=False,
        diverging=False,
        reasoning=f"the verdict of {verdict.raw_score} does not count, because {why}",
    )


def _scored(of: OpenCase, answer: Answer, grounds: Grounds, low: str, trace_id: str) -> Verdict:
    judge = of.case.judge
    weighted = sum(share * answer.sub_scores[name] for name, share in judge.sub_dimensions.items())
    verdict = Verdict(
        judge.dimension,
        judge.weight,
        SCORED,
        score=answer.score,
        raw_score=answer.score,
        confidence=grounds.confidence,
        stated_confidence=answer.confidence,
        unfounded_citations=grounds.unfounded,
        low_confidence=grounds.confidence < LOW_CONFIDENCE,
        sub_scores=dict(answer.sub_scores),
        weighted_sub_score=round(weighted, 4),
        inconsistent=abs(weighted - answer.score) > INCONSISTENT,
        heuristic_score=of.opinion.score,
        diverging=abs(answer.score - of.opinion.score) >= DIVERGING,
        reasoning=answer.reasoning,
        evidence_cited=answer.evidence_cited,
        recommendations=answer.recommendations,
        trace_id=trace_id,
    )
    capping = caps_of(judge.dimension) if of.case.mode == SYNTHETIC else frozenset()
    failing = [check for check in of.material.failed_checks if check in capping]
    return with_cap(verdict, failing, low, of.opinion.share)


def by_model(verdict: Verdict) -> Mapping[str, int | None]:
    """Return what each model said of a dimension: the median of its samples, None for nothing."""
    scores: dict[str, list[int]] = {str(sample["model"]): [] for sample in verdict.samples}
    for sample in verdict.samples:
        if sample["score"] is not None:
            scores[str(sample["model"])].append(sample["score"])
    return {model: median_low(said) if said else None for model, said in scores.items()}


def call_of(mode: str, reply: Reply, counted: float | None, trace_id: str, pair: str | None = None) -> Call:
    """Return the line of a reply in the log; `counted` is what its verdict counts."""
    said: dict[str, Any] = {name: getattr(reply, name) for name in _OF_REPLY}
    return Call(
        time=reply.at,
        trace_id=trace_id,
        evaluation_mode=mode,
        ms=round(reply.duration_ms, 3),
        error_kind=reply.kind,
        score=reply.answer.score if reply.answer else None,
        capped_score=counted,
        asked_again=reply.again,
        pair=pair,
        **said,
    )


def computed_call(  # noqa: PLR0913, PLR0917 - what a line says
    dimension: str, mode: str, said: float | None, counted: float | None, trace_id: str, pair: str | None = None
) -> Call:
    """Return the line of a heuristic in the log: the score that it said, and the one that counts."""
    time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return Call(time, trace_id, dimension, mode, "heuristic", score=said, capped_score=counted, pair=pair)
