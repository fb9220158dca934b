"""All judges of a run at once: evidence, prompt, leak guard, the model or the numbers, verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.judges.judge import Case, Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Material
from gitleaks_eval.judges.model.answer import SCORES
from gitleaks_eval.judges.model.models import resolve_model
from gitleaks_eval.judges.model.question import Question, Reply, usage
from gitleaks_eval.judges.panel.agreement import krippendorff_alpha
from gitleaks_eval.judges.panel.asking import cut, leaks, put
from gitleaks_eval.judges.panel.calibrated import passing, prompt_sha256
from gitleaks_eval.judges.panel.scoring import (
    OpenCase,
    by_model,
    call_of,
    computed_call,
    from_opinion,
    from_replies,
    unscored,
)
from gitleaks_eval.judges.prompt import load_template, render
from gitleaks_eval.judges.settings import HEURISTIC, JudgeSettings
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, Call, Judged, Judgement, Verdict, llm_score
from gitleaks_eval.scenarios.redaction import Values

T = TypeVar("T")


def _none_reported(_: str) -> Values:
    return Values()


@dataclass(frozen=True, slots=True)
class Panel:
    """The settings and values that all judges of a run have in common.

    `material` gives what there is to judge in a mode, or raises `EvaluationError` when there is none. No prompt is
    sent and no reply shown with a value that is `planted`; of those that the scanner `reported` in a
    mode, pieces are cut out.
    """

    settings: JudgeSettings
    trace_id: str
    planted: Values
    material: Callable[[str], Material]
    reported: Callable[[str], Values] = _none_reported


def judge_all(cases: Sequence[Case], panel: Panel, *, whole: bool) -> Judged:
    """Judge these cases; `whole` says whether they are all that the run has."""
    prepared = {case: _prepared(case, panel) for case in cases}
    verdicts = {case: verdict for case, verdict in prepared.items() if isinstance(verdict, Verdict)}
    opened = [of for of in prepared.values() if isinstance(of, OpenCase)]
    calls: list[Call] = []
    warnings: list[str] = []
    replies: Mapping[Case, list[Reply]] = {}
    low = panel.settings.low_confidence
    if panel.settings.mode == HEURISTIC:
        for of in opened:
            verdict = verdicts[of.case] = from_opinion(of, low, panel.trace_id)
            score, raw = verdict.score, verdict.raw_score
            calls.append(computed_call(verdict.dimension, of.case.mode, raw, score, panel.trace_id))
    else:
        done = put({of.case: of.question for of in opened}, panel.settings, panel.trace_id, panel.planted)
        replies, warnings = done.by_question, done.warnings
        calibrated, problems = _calibrated(cases, panel.settings)
        warnings += problems
        for of in opened:
            verdict = from_replies(of, replies[of.case], low, panel.trace_id)
            verdicts[of.case] = replace(verdict, uncalibrated=verdict.dimension not in calibrated)
            calls += [call_of(of.case.mode, reply, verdict.score, panel.trace_id) for reply in replies[of.case]]
    by_mode = {}
    for mode in dict.fromkeys(case.mode for case in cases):
        of_mode = [case for case in cases if case.mode == mode]
        whole_mode = tuple(replace(verdicts[case], advisory=panel.settings.is_advisory(mode)) for case in of_mode)
        said = [reply for case in of_mode for reply in replies.get(case, ())]
        by_mode[mode] = _judgement(whole_mode, said, panel.settings, warnings, whole=whole)
    return Judged(by_mode, tuple(calls))


def _judgement(
    verdicts: tuple[Verdict, ...],
    replies: Sequence[Reply],
    settings: JudgeSettings,
    warnings: Sequence[str],
    *,
    whole: bool,
) -> Judgement:
    score, raw_score, weights = llm_score(verdicts)
    answered = dict.fromkeys(reply.model for reply in replies if reply.model)
    units = [tuple(by_model(verdict).values()) for verdict in verdicts if verdict.samples]
    return Judgement(
        mode=settings.mode,
        model_requested=settings.model,
        model_answered=", ".join(map(str, answered)) or None,
        verdicts=verdicts,
        score=score if whole else None,
        raw_score=raw_score if whole else None,
        weights_used=weights,
        partial=not whole,
        warnings=tuple(dict.fromkeys(warnings)),
        samples=settings.samples,
        alpha=krippendorff_alpha(units) if len(settings.models) > 1 else None,
        prices_as_of=settings.prices_as_of if replies else None,
        **usage(replies),
    )


def _calibrated(cases: Sequence[Case], settings: JudgeSettings) -> tuple[frozenset[str], list[str]]:
    prompts = {case.judge.dimension: prompt_sha256(case.judge, settings.prompts) for case in cases}
    return passing(settings.store, [resolve_model(name) for name in settings.models], prompts)


def _prepared(case: Case, panel: Panel) -> OpenCase | Verdict:
    judge = case.judge
    try:
        material = panel.material(case.mode)
    except EvaluationError as error:
        return unscored(judge, "invalid", f"there is nothing whole to judge: {error}", panel.trace_id)
    if case.mode == REAL_WORLD and judge.needs_baseline and material.baseline is None:
        message = "without a synthetic result of the same scanner and configuration there is nothing to hold it against"
        return unscored(judge, "no_baseline", message, panel.trace_id)
    try:
        return _looked_at(case, material, panel)
    except EvaluationError as error:
        return unscored(judge, "invalid", str(error), panel.trace_id)


def _looked_at(case: Case, material: Material, panel: Panel) -> OpenCase | Verdict:
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
    template = load_template(judge, panel.settings.prompts)
    reported = panel.reported(case.mode)
    evidence = cut(_returned(judge, judge.evidence, material), reported)
    if leaks(evidence, panel.planted):
        return unscored(judge, "leak", "the evidence holds a secret; nothing was sent", panel.trace_id)
    prompt = render(template, evidence, material)
    question = Question(judge.dimension, prompt, tuple(judge.sub_dimensions), cut=reported.cut_out_of)
    return OpenCase(case, material, opinion, question)


def _opinion(judge: Judge, material: Material) -> Opinion | None:
    """Return what numbers say, looked at: a judge of a user's own must not score what the rubric has no number for."""
    opinion = _returned(judge, judge.heuristic, material)
    if opinion is not None and not (
        {opinion.score, *opinion.sub_scores.values()} <= set(SCORES)
        and set(opinion.sub_scores) == set(judge.sub_dimensions)
        and 0 <= opinion.confidence <= 1
        and 0 <= opinion.share <= 1
    ):
        raise EvaluationError(
            f"the heuristic of the judge {judge.dimension} must return an Opinion with scores of 1 to 5, one for "
            f"each of {', '.join(judge.sub_dimensions)}, and a confidence and a share of 0 to 1"
        )
    return opinion


def _returned(judge: Judge, function: Callable[[Material], T], material: Material) -> T:
    """Return what a function of a judge returns; its fault is one of this judge, and told without what it saw."""
    try:
        return function(material)
    except Exception as error:  # noqa: BLE001 - a user's function may raise anything
        last = extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    raise EvaluationError(f"the judge {judge.dimension} cannot look: its function raised {problem}")
