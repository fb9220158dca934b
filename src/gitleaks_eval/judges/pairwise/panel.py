"""The pairwise judge of comparisons, advisory: what changed, and does it matter? Each pair is asked in both orders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.judges.judge import PROMPTS, Opinion
from gitleaks_eval.judges.model.question import Question, Reply, usage
from gitleaks_eval.judges.pairwise.evidence import Compared, differs, evidence_of
from gitleaks_eval.judges.pairwise.verdict import Order, PairVerdict
from gitleaks_eval.judges.panel.asking import cut, leaks, put
from gitleaks_eval.judges.panel.merging import grounded, merged, sample_rows
from gitleaks_eval.judges.panel.scoring import call_of, computed_call
from gitleaks_eval.judges.prompt import as_data, template_of
from gitleaks_eval.judges.settings import HEURISTIC, JudgeSettings
from gitleaks_eval.judges.verdict import LOW_CONFIDENCE, NOT_APPLICABLE, SCORED, UNSCORED, Call
from gitleaks_eval.scenarios.redaction import Values
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, Pair

PAIRWISE, COMPARISON = "pairwise", "comparison"
TEMPLATES = PROMPTS / "pairs"
SUB_DIMENSIONS = ("secrets", "reach", "noise")
BASELINE, CANDIDATE, TIE = "baseline", "candidate", "tie"
# In the order of the questions: the baseline first, then the two exchanged.
ORDERS = (f"{BASELINE}_first", f"{CANDIDATE}_first")
NO_MATTER = 3
_SUM = 6
_GUIDANCE = "What differs is known exactly for planted secrets, and only by its rule and cause in real repositories."


@dataclass(frozen=True, slots=True)
class PairPanel:
    """What all pairs of a run have in common: as `Panel`, with what both candidates of a pair `reported`."""

    settings: JudgeSettings
    trace_id: str
    planted: Values
    reported: Callable[[Pair], Values]


def planned_questions(pairs: int, settings: JudgeSettings) -> int:
    """Return how many questions so many pairs need at most: both orders of each."""
    return pairs * len(ORDERS) * settings.samples * len(settings.models)


def judge_pairs(pairs: Sequence[Compared], panel: PairPanel) -> tuple[list[PairVerdict], list[Call]]:
    """Return the verdict of each pair, and a line for each call.

    Raises:
        InputError: when the prompt cannot be used.
        EvaluationError: for a fault of our own.
    """
    prepared = [_prepared(compared, panel) for compared in pairs]
    questions = {
        (number, order): question
        for number, asked in enumerate(prepared)
        if not isinstance(asked, PairVerdict)
        for order, question in zip(ORDERS, asked, strict=True)
    }
    heuristic = panel.settings.mode == HEURISTIC
    done = None if heuristic else put(questions, panel.settings, panel.trace_id, panel.planted)
    verdicts: list[PairVerdict] = []
    calls: list[Call] = []
    for number, (compared, asked) in enumerate(zip(pairs, prepared, strict=True)):
        if isinstance(asked, PairVerdict):
            verdicts.append(asked)
        elif done is None:
            verdict = _by_numbers(compared, panel)
            verdicts.append(verdict)
            named = _named(compared.pair, ORDERS[0])
            calls.append(computed_call(PAIRWISE, COMPARISON, verdict.score, verdict.score, panel.trace_id, named))
        else:
            replies = {order: done.by_question[number, order] for order in ORDERS}
            prompts = {order: question.prompt for order, question in zip(ORDERS, asked, strict=True)}
            verdict = _verdict(compared, replies, prompts, panel)
            verdicts.append(replace(verdict, warnings=tuple(dict.fromkeys(done.warnings))))
            calls += [
                call_of(COMPARISON, reply, verdict.score, panel.trace_id, _named(compared.pair, order))
                for order in ORDERS
                for reply in replies[order]
            ]
    return verdicts, calls


def _named(pair: Pair, order: str) -> str:
    names = (pair.baseline, pair.candidate)
    return " | ".join(names if order == ORDERS[0] else reversed(names))


def _prepared(compared: Compared, panel: PairPanel) -> "tuple[Question, ...] | PairVerdict":
    """Return both questions about a pair, or the verdict where nothing is to be asked, or nothing may be."""
    pair, settings = compared.pair, panel.settings
    blank = PairVerdict(UNSCORED, settings.mode, settings.model, trace_id=panel.trace_id)
    if pair.verdict == INCOMPLETE:
        message = f"there is nothing whole to judge: {'; '.join(pair.reasons)}"
        return replace(blank, unscored_kind="invalid", reasoning=message)
    if not differs(pair):
        return replace(blank, outcome=NOT_APPLICABLE, reasoning="nothing differs that a judge could look at")
    template = template_of(PAIRWISE, TEMPLATES, settings.prompts)
    reported = panel.reported(pair)
    questions = []
    for order in ORDERS:
        evidence = cut(evidence_of(compared, exchanged=order != ORDERS[0]), reported)
        if leaks(evidence, panel.planted):
            message = "the evidence holds a secret; nothing was sent"
            return replace(blank, unscored_kind="leak", reasoning=message)
        values = {
            "evidence": as_data(evidence),
            "evaluation_mode": COMPARISON,
            "interpretation_guidance": _GUIDANCE,
            "synthetic_baseline": "none",
        }
        questions.append(Question(PAIRWISE, template.filled_in(values), SUB_DIMENSIONS, cut=reported.cut_out_of))
    return tuple(questions)


def _verdict(
    compared: Compared, replies: Mapping[str, list[Reply]], prompts: Mapping[str, str], panel: PairPanel
) -> PairVerdict:
    """Return the verdict by the replies to both questions."""
    settings, every = panel.settings, [reply for order in ORDERS for reply in replies[order]]
    orders = tuple(_order(order, replies[order], prompts[order]) for order in ORDERS)
    return replace(
        agreed(orders),
        mode=settings.mode,
        model_requested=settings.model,
        model_answered=", ".join(dict.fromkeys(reply.model for reply in every if reply.model)) or None,
        heuristic_score=opinion_of(compared).score,
        # Calibration shows reports, and no comparisons.
        uncalibrated=True,
        prices_as_of=settings.prices_as_of,
        trace_id=panel.trace_id,
        **usage(every),
    )


def _order(order: str, replies: Sequence[Reply], prompt: str) -> Order:
    whole, mirrored = merged(replies), order != ORDERS[0]
    samples = tuple(
        {**row, "score": _SUM - row["score"]} if mirrored and isinstance(row["score"], int) else row
        for row in sample_rows(replies)
    )
    if isinstance(whole, Reply):
        return Order(order, None, whole.kind or "invalid", reasoning=whole.message, samples=samples)
    answer = whole.answer
    grounds = grounded(answer, prompt)
    groundless = grounds.unfounded
    if grounds.problem:
        reasoning = f"the verdict does not count, because {grounds.problem}"
        return Order(
            order, None, "groundless", answer.confidence, reasoning, unfounded_citations=groundless, samples=samples
        )

    def for_candidate(score: int) -> int:
        return _SUM - score if mirrored else score

    return Order(
        order,
        for_candidate(answer.score),
        confidence=grounds.confidence,
        reasoning=answer.reasoning,
        sub_scores={name: for_candidate(score) for name, score in answer.sub_scores.items()},
        evidence_cited=answer.evidence_cited,
        unfounded_citations=groundless,
        recommendations=answer.recommendations,
        samples=samples,
        spread=whole.spread,
        disagreement=whole.disagreement,
    )


def agreed(orders: Sequence[Order]) -> PairVerdict:
    """Return the verdict by both orders: a preference where both have it, and a tie where it depends on the order."""
    if silent := next((order for order in orders if order.score is None), None):
        return PairVerdict(
            UNSCORED, "", unscored_kind=silent.unscored_kind, reasoning=silent.reasoning, orders=tuple(orders)
        )
    scores = [order.score for order in orders if order.score is not None]
    preferences = {_preferred(score) for score in scores}
    is_one = len(preferences) == 1
    confidence = min(order.confidence or 0.0 for order in orders)
    return PairVerdict(
        SCORED,
        "",
        preferred=preferences.pop() if is_one else TIE,
        score=min(scores, key=lambda score: abs(score - NO_MATTER)) if is_one else NO_MATTER,
        order_dependent=not is_one,
        confidence=confidence,
        low_confidence=confidence < LOW_CONFIDENCE,
        reasoning=orders[0].reasoning,
        orders=tuple(orders),
    )


def _preferred(score: int) -> str:
    return TIE if score == NO_MATTER else CANDIDATE if score > NO_MATTER else BASELINE


def _by_numbers(compared: Compared, panel: PairPanel) -> PairVerdict:
    opinion = opinion_of(compared)
    return PairVerdict(
        SCORED,
        HEURISTIC,
        preferred=_preferred(opinion.score),
        score=opinion.score,
        confidence=opinion.confidence,
        low_confidence=opinion.confidence < LOW_CONFIDENCE,
        heuristic_score=opinion.score,
        reasoning=f"Heuristic: {opinion.reasoning}",
        trace_id=panel.trace_id,
    )


def opinion_of(compared: Compared) -> Opinion:
    """Return what counts alone say: secrets before reach, reach before noise, and a loss before any gain.

    Who loses a secret, a rule or a place that nobody has accepted is never the better one, whatever is gained; nor is
    the candidate of a REGRESSION. The confidence is 0.5 where counts speak for both, or real repositories differ.
    """
    pair, found, moves = compared.pair, compared.pair.differences, compared.pair.moves.to_review()
    accepted = len(found.accepted)
    lost, gained = len(found.lost) - accepted, len(found.gained)
    reach_lost = len(moves.rules_lost) + len(moves.places_lost) + len(moves.entries_wider)
    reach_gained = len(moves.rules_gained) + len(moves.places_gained)
    others = sum(
        not alias_of(difference.rule_id, difference.candidate_rule_id or "") for difference in found.relabelled
    )
    noisier, quieter = len(found.new) + len(found.moved) + others, len(found.gone) + len(found.restored)
    scores = {
        "secrets": 2 if lost and gained else 1 if lost else 5 if gained else NO_MATTER,
        "reach": NO_MATTER + bool(reach_gained) - bool(reach_lost),
        "noise": NO_MATTER + bool(quieter) - bool(noisier),
    }
    score = next((score for score in scores.values() if score != NO_MATTER), NO_MATTER)
    regresses = pair.verdict == REGRESSION
    if reach_lost and not lost and (gained or reach_gained):
        score = NO_MATTER
    if regresses:
        score = min(score, NO_MATTER)
    speaks_for_both = bool(lost or reach_lost or noisier or regresses) and bool(gained or reach_gained or quieter)
    differs_for_real = bool(pair.real.groups())
    return Opinion(
        score,
        scores,
        f"{lost} expected secrets lost{f' ({accepted} more, accepted)' * bool(accepted)} and {gained} gained; "
        f"{len(moves.rules_lost)} rules and {len(moves.places_lost)} places lost, {len(moves.rules_gained)} and "
        f"{len(moves.places_gained)} gained, {len(moves.entries_wider)} entries new or wider; {len(found.new)} "
        f"unexpected findings new and {len(found.gone)} gone; {sum(group.count for group in pair.real.groups())} "
        "differences in real repositories, of which counts cannot say what is right. What is lost weighs more than "
        "what is gained.",
        confidence=0.5 if speaks_for_both or differs_for_real else 1.0,
    )


def unjudged(pairs: Sequence[Compared], panel: PairPanel, error: EvaluationError) -> list[PairVerdict]:
    """Return the verdicts where nobody could be asked at all."""
    blank = PairVerdict(UNSCORED, panel.settings.mode, panel.settings.model, unscored_kind="invalid")
    return [replace(blank, reasoning=str(error), trace_id=panel.trace_id) for _ in pairs]
