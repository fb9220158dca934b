"""All judges of a run at once: evidence, prompt, leak guard, the model or the numbers, verdicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.judges.answer import SCORES, Answer
from gitleaks_eval.judges.client import ClientOptions, Question, Reply, ask
from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, SYNTHETIC, Material
from gitleaks_eval.judges.models import resolve_model
from gitleaks_eval.judges.prompt import Template, load_template, render
from gitleaks_eval.judges.settings import HEURISTIC, LLM, JudgeSettings
from gitleaks_eval.judges.verdict import (
    DIVERGING,
    INCONSISTENT,
    LOW_CONFIDENCE,
    NOT_APPLICABLE,
    SCORED,
    UNSCORED,
    Call,
    Judged,
    Judgement,
    Verdict,
    llm_score,
    with_cap,
)
from gitleaks_eval.scenarios.traces import Traces

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """One judge in one evaluation mode: one test."""

    judge: Judge
    mode: str

    @property
    def name(self) -> str:
        """The id of the test: the dimension, with the mode in front where it is not the synthetic one."""
        return self.judge.dimension if self.mode == SYNTHETIC else f"{self.mode}-{self.judge.dimension}"


@dataclass(frozen=True, slots=True)
class Panel:
    """What all judges of a run have in common.

    `material` gives what there is to judge in a mode, or raises `EvaluationError` when there is none.
    """

    settings: JudgeSettings
    trace_id: str
    traces: Traces
    material: Callable[[str], Material]


def judge_all(cases: Sequence[Case], panel: Panel, *, whole: bool) -> Judged:
    """Judge these cases; `whole` says whether they are all that the run has."""
    prepared = [_prepared(case, panel) for case in cases]
    asked = [index for index, one in enumerate(prepared) if isinstance(one, _Open)]
    verdicts: dict[int, Verdict] = {index: one for index, one in enumerate(prepared) if isinstance(one, Verdict)}
    calls: list[Call] = []
    warnings: Sequence[str] = ()
    answered_by: str | None = None
    if panel.settings.mode == HEURISTIC:
        for index in asked:
            verdicts[index] = _from_opinion(_open(prepared[index]), panel)
            calls.append(_computed(cases[index], panel))
    elif asked:
        questions = [_open(prepared[index]).question for index in asked]
        replies, warnings = _ask(questions, panel)
        for index, reply in zip(asked, replies, strict=True):
            verdicts[index] = _from_reply(_open(prepared[index]), reply, panel)
            calls.append(_call(cases[index], reply, panel))
            answered_by = answered_by or reply.model
    by_mode = {}
    for mode in dict.fromkeys(case.mode for case in cases):
        of_mode = tuple(verdicts[index] for index, case in enumerate(cases) if case.mode == mode)
        score, weights = llm_score(of_mode, panel.settings.low_confidence)
        by_mode[mode] = Judgement(
            mode=panel.settings.mode,
            model_requested=None if panel.settings.mode == HEURISTIC else panel.settings.model,
            model_answered=answered_by,
            verdicts=of_mode,
            score=score if whole else None,
            weights_used=weights,
            partial=not whole,
            warnings=tuple(warnings),
        )
    return Judged(by_mode, tuple(calls))


@dataclass(frozen=True, slots=True)
class _Open:
    """A case that is to be judged: its material, what numbers say, and what a model is asked."""

    case: Case
    material: Material
    opinion: Opinion
    question: Question


def _open(prepared: "_Open | Verdict") -> _Open:
    assert isinstance(prepared, _Open)  # noqa: S101 - for the type checker: only open ones are asked
    return prepared


def _prepared(case: Case, panel: Panel) -> "_Open | Verdict":
    judge = case.judge
    try:
        material = panel.material(case.mode)
    except EvaluationError as error:
        return _unscored(judge, panel, "invalid", f"there is nothing whole to judge: {error}")
    if case.mode == REAL_WORLD and judge.needs_baseline and material.baseline is None:
        message = "without a synthetic result of the same scanner and configuration there is nothing to hold it against"
        return _unscored(judge, panel, "no_baseline", message)
    try:
        return _looked_at(case, material, panel)
    except EvaluationError as error:
        return _unscored(judge, panel, "invalid", str(error))


def _looked_at(case: Case, material: Material, panel: Panel) -> "_Open | Verdict":
    judge = case.judge
    opinion = _opinion(judge, material) if material.reported or not judge.needs_findings else None
    if opinion is None:
        return Verdict(
            judge.dimension,
            judge.weight,
            NOT_APPLICABLE,
            reasoning="there is nothing that this dimension looks at",
            trace_id=panel.trace_id,
        )
    evidence = _returned(judge, judge.evidence, material)
    template = load_template(judge, panel.settings.prompts)
    if _leaks(evidence, template, panel):
        return _unscored(judge, panel, "leak", "the evidence holds a piece of a secret; nothing was sent")
    prompt = render(template, evidence, material)
    return _Open(case, material, opinion, Question(judge.dimension, prompt, tuple(judge.sub_dimensions)))


def _opinion(judge: Judge, material: Material) -> Opinion | None:
    """What numbers say, looked at: a judge of a user's own must not score what the rubric has no number for."""
    opinion = _returned(judge, judge.heuristic, material)
    if opinion is not None and not (
        {opinion.score, *opinion.sub_scores.values()} <= set(SCORES)
        and set(opinion.sub_scores) == set(judge.sub_dimensions)
        and 0 <= opinion.confidence <= 1
    ):
        raise EvaluationError(
            f"the heuristic of the judge {judge.dimension} must return an Opinion with scores of 1 to 5, one for "
            f"each of {', '.join(judge.sub_dimensions)}, and a confidence of 0 to 1"
        )
    return opinion


def _returned(judge: Judge, function: Callable[[Material], T], material: Material) -> T:
    """What a function of a judge returns; its fault is one of this judge, and told without what it saw."""
    try:
        return function(material)
    except Exception as error:  # noqa: BLE001 - a user's function may raise anything
        last = extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    raise EvaluationError(f"the judge {judge.dimension} cannot look: its function raised {problem}")


def _leaks(evidence: Mapping[str, object], template: Template, panel: Panel) -> bool:
    """Whether a value holds a piece of a secret that is not just text of the template."""
    found = [text for text in _texts(evidence) if panel.traces.found_in(text)]
    return bool(found) and any(map(panel.traces.without([template.text]).found_in, found))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


def _ask(questions: Sequence[Question], panel: Panel) -> tuple[Sequence[Reply], Sequence[str]]:
    settings = panel.settings
    options = ClientOptions(
        mode="llm" if settings.mode == LLM else "replay",
        model=resolve_model(settings.model),
        store=settings.store,
        timeout_seconds=settings.timeout_seconds,
        max_calls=settings.max_calls,
        trace_id=panel.trace_id,
    )
    # The evidence has been looked at value by value; what a reply may repeat is what the prompt shows.
    shown = panel.traces.without(question.prompt for question in questions)
    done = ask(questions, options, shown.found_in)
    return done.replies, done.warnings


def _from_reply(one: _Open, reply: Reply, panel: Panel) -> Verdict:
    if reply.answer is None:
        return _unscored(one.case.judge, panel, reply.kind or "invalid", reply.message)
    return _scored(one, reply.answer, panel)


def _from_opinion(one: _Open, panel: Panel) -> Verdict:
    opinion = one.opinion
    answer = Answer(opinion.score, opinion.confidence, f"Heuristic: {opinion.reasoning}", (), (), opinion.sub_scores)
    return _scored(one, answer, panel)


def _scored(one: _Open, answer: Answer, panel: Panel) -> Verdict:
    judge = one.case.judge
    weighted = sum(share * answer.sub_scores[name] for name, share in judge.sub_dimensions.items())
    verdict = Verdict(
        judge.dimension,
        judge.weight,
        SCORED,
        score=answer.score,
        raw_score=answer.score,
        confidence=answer.confidence,
        low_confidence=answer.confidence < LOW_CONFIDENCE,
        sub_scores=dict(answer.sub_scores),
        weighted_sub_score=round(weighted, 4),
        inconsistent=abs(weighted - answer.score) > INCONSISTENT,
        heuristic_score=one.opinion.score,
        diverging=abs(answer.score - one.opinion.score) >= DIVERGING,
        reasoning=answer.reasoning,
        evidence_cited=tuple(answer.evidence_cited),
        recommendations=tuple(answer.recommendations),
        trace_id=panel.trace_id,
    )
    failed = one.material.failed_checks if one.case.mode == SYNTHETIC else []
    return with_cap(verdict, failed, panel.settings.low_confidence)


def _unscored(judge: Judge, panel: Panel, kind: str, message: str) -> Verdict:
    return Verdict(
        judge.dimension, judge.weight, UNSCORED, unscored_kind=kind, reasoning=message, trace_id=panel.trace_id
    )


def _call(case: Case, reply: Reply, panel: Panel) -> Call:
    return Call(
        panel.trace_id,
        case.judge.dimension,
        case.mode,
        reply.source,
        reply.attempts,
        round(reply.duration_ms, 3),
        reply.model,
        reply.request_id,
        reply.stop_reason,
        reply.input_tokens,
        reply.output_tokens,
        reply.kind,
    )


def _computed(case: Case, panel: Panel) -> Call:
    return Call(
        panel.trace_id, case.judge.dimension, case.mode, "heuristic", 0, 0.0, None, None, None, None, None, None
    )
