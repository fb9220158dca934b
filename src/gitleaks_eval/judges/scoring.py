"""From what was said to a verdict: replies are merged, citations checked, caps put on; and the line of each call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from statistics import median_low

from gitleaks_eval.judges.answer import Answer
from gitleaks_eval.judges.case import Case
from gitleaks_eval.judges.citations import lowered_confidence, unfounded
from gitleaks_eval.judges.facts import caps_of
from gitleaks_eval.judges.judge import Opinion
from gitleaks_eval.judges.material import SYNTHETIC, Material
from gitleaks_eval.judges.merging import merged, sample_rows, total
from gitleaks_eval.judges.question import Reply
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


def from_replies(  # noqa: PLR0913, PLR0917 - what a verdict rests on
    case: Case, material: Material, opinion: Opinion, prompt: str, replies: Sequence[Reply], low: str, trace_id: str
) -> Verdict:
    """The verdict of a case by what the models replied to its prompt; `low` is the policy for low confidence."""
    tokens = [total([getattr(one, f"{name}_tokens") for one in replies]) for name in ("input", "output")]
    tokens_in, tokens_out = (None if number is None else int(number) for number in tokens)
    whole = merged(replies)
    if isinstance(whole, Reply):
        judge = case.judge
        verdict = Verdict(
            judge.dimension,
            judge.weight,
            UNSCORED,
            unscored_kind=whole.kind or "invalid",
            reasoning=whole.message,
            trace_id=trace_id,
        )
    else:
        answer = replace(whole.answer, confidence=whole.confidence)
        groundless = unfounded(answer.evidence_cited, prompt)
        verdict = replace(
            _scored(case, material, opinion, answer, groundless, low, trace_id),
            spread=whole.spread,
            disagreement=whole.disagreement,
        )
        if why := without_ground(answer, groundless):
            verdict = _not_counted(verdict, why)
    return replace(
        verdict,
        samples=sample_rows(replies),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost=total([reply.cost for reply in replies]),
    )


def without_ground(answer: Answer, groundless: Sequence[str]) -> str:
    """Return why an answer does not count; empty where it does."""
    if answer.confidence == 0:
        return "its confidence is 0"
    if not answer.evidence_cited:
        return "it cites nothing"
    if len(groundless) == len(answer.evidence_cited):
        return "nothing that it cites stands in the evidence"
    return ""


def _not_counted(verdict: Verdict, why: str) -> Verdict:
    """The verdict without its scores; what was said stays beside it."""
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


def from_opinion(case: Case, material: Material, opinion: Opinion, low: str, trace_id: str) -> Verdict:
    """The verdict of a case by numbers alone."""
    said = f"Heuristic: {opinion.reasoning}"
    answer = Answer(opinion.score, opinion.confidence, said, (), (), opinion.sub_scores)
    return _scored(case, material, opinion, answer, (), low, trace_id)


def _scored(  # noqa: PLR0913, PLR0917 - as from_replies
    case: Case,
    material: Material,
    opinion: Opinion,
    answer: Answer,
    groundless: tuple[str, ...],
    low: str,
    trace_id: str,
) -> Verdict:
    judge = case.judge
    weighted = sum(share * answer.sub_scores[name] for name, share in judge.sub_dimensions.items())
    confidence = lowered_confidence(answer.confidence, answer.evidence_cited, groundless)
    verdict = Verdict(
        judge.dimension,
        judge.weight,
        SCORED,
        score=answer.score,
        raw_score=answer.score,
        confidence=confidence,
        stated_confidence=answer.confidence,
        unfounded_citations=groundless,
        low_confidence=confidence < LOW_CONFIDENCE,
        sub_scores=dict(answer.sub_scores),
        weighted_sub_score=round(weighted, 4),
        inconsistent=abs(weighted - answer.score) > INCONSISTENT,
        heuristic_score=opinion.score,
        diverging=abs(answer.score - opinion.score) >= DIVERGING,
        reasoning=answer.reasoning,
        evidence_cited=tuple(answer.evidence_cited),
        recommendations=tuple(answer.recommendations),
        trace_id=trace_id,
    )
    capping = caps_of(judge.dimension) if case.mode == SYNTHETIC else frozenset()
    return with_cap(verdict, [check for check in material.failed_checks if check in capping], low, opinion.share)


def by_model(verdict: Verdict) -> Mapping[str, int | None]:
    """What each model said of a dimension: the median of its samples, None for nothing."""
    scores: dict[str, list[int]] = {str(one["model"]): [] for one in verdict.samples}
    for one in verdict.samples:
        if one["score"] is not None:
            scores[str(one["model"])].append(one["score"])
    return {model: median_low(said) if said else None for model, said in scores.items()}


def call_of(mode: str, reply: Reply, counted: float | None, trace_id: str, pair: str | None = None) -> Call:
    """The line of a reply in the log; `counted` is the score of the verdict that it is part of."""
    return Call(
        time=reply.at,
        trace_id=trace_id,
        dimension=reply.dimension,
        evaluation_mode=mode,
        source=reply.source,
        attempts=reply.attempts,
        ms=round(reply.duration_ms, 3),
        model=reply.model,
        request_id=reply.request_id,
        stop_reason=reply.stop_reason,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        error_kind=reply.kind,
        model_requested=reply.model_requested,
        sample=reply.sample,
        score=reply.answer.score if reply.answer else None,
        capped_score=counted,
        prompt_sha256=reply.prompt_sha256,
        store_key=reply.store_key,
        asked_again=reply.again,
        cost=reply.cost,
        pair=pair,
    )


def computed_call(  # noqa: PLR0913, PLR0917 - what a line says
    dimension: str, mode: str, said: float | None, counted: float | None, trace_id: str, pair: str | None = None
) -> Call:
    """The line of a heuristic in the log: the score that it said, and the one that counts."""
    return Call(
        time=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        trace_id=trace_id,
        dimension=dimension,
        evaluation_mode=mode,
        source="heuristic",
        attempts=0,
        ms=0.0,
        model=None,
        request_id=None,
        stop_reason=None,
        input_tokens=None,
        output_tokens=None,
        error_kind=None,
        score=said,
        capped_score=counted,
        pair=pair,
    )
