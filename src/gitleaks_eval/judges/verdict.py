"""What a judge concluded, and what the verdicts of all judges amount to. Pure: imports no pytest."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gitleaks_eval.judges.material import SYNTHETIC
from gitleaks_eval.scoring.scorecard import SCALE, THRESHOLDS, decide

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
_OF_MODELS = ("samples", "alpha", "input_tokens", "output_tokens", "cost", "prices_as_of")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's verdict in one mode; scores are 1 to 5, and None unless the outcome is `scored`.

    `raw_score` is what the judge said, `score` that after the cap, and `counted` what the composite takes where a check
    caps it: less than `score`, by what is wrong. One that is `excluded` (low confidence) is in no composite.
    `unscored_kind` says why there is no score, `reasoning` then is our own message.
    `weighted_sub_score` is the weighted sum of the sub-scores. `confidence` is less than the `stated_confidence` by the
    share of `unfounded_citations`: those that name what was not shown. `samples` has each reply, `spread` is the
    distance of their scores, `disagreement` that of models. Costs are in US dollars, None where the price is unknown.
    An `advisory` verdict never changes the exit status.
    """

    dimension: str
    weight: float
    outcome: str
    unscored_kind: str | None = None
    score: float | None = None
    raw_score: int | None = None
    counted: float | None = None
    capped: bool = False
    excluded: bool = False
    cap_checks: tuple[str, ...] = ()
    confidence: float | None = None
    low_confidence: bool = False
    sub_scores: Mapping[str, int] | None = None
    weighted_sub_score: float | None = None
    stated_confidence: float | None = None
    unfounded_citations: tuple[str, ...] = ()
    samples: tuple[Mapping[str, Any], ...] = ()
    spread: int | None = None
    disagreement: bool = False
    uncalibrated: bool = False
    advisory: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    inconsistent: bool = False
    heuristic_score: int | None = None
    diverging: bool = False
    reasoning: str = ""
    evidence_cited: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    trace_id: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return this value as JSON, as the reports have it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the observability log: what was asked and what it took; never the prompt, never a key of the service.

    `score` is what this reply said, `capped_score` what counts of the verdict; `cost` is in US dollars, None where the
    price is unknown.
    `pair` names two candidates that were compared, the one shown first in front.
    """

    time: str
    trace_id: str
    dimension: str
    evaluation_mode: str
    source: str
    attempts: int = 0
    ms: float = 0.0
    model: str | None = None
    request_id: str | None = None
    stop_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    error_kind: str | None = None
    model_requested: str | None = None
    sample: int = 0
    score: float | None = None
    capped_score: float | None = None
    prompt_sha256: str | None = None
    store_key: str | None = None
    asked_again: bool = False
    cost: float | None = None
    pair: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of one evaluation mode, and what produced them.

    `score` is the LLM score, 1 to 5, or None when a judge is unscored, none applies, or only some were
    selected; `raw_score` is the same of the scores before any cap. `weights_used` are the weights behind it,
    renormalised where a judge does not count. `alpha` is Krippendorff's over the dimensions, with several models.
    """

    mode: str
    model_requested: str | None
    model_answered: str | None
    verdicts: tuple[Verdict, ...]
    score: float | None
    raw_score: float | None
    weights_used: Mapping[str, float]
    partial: bool
    warnings: tuple[str, ...] = ()
    samples: int = 1
    alpha: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    prices_as_of: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the `llm` of the reports."""
        return {
            "mode": self.mode,
            "model_requested": self.model_requested,
            "model_answered": self.model_answered,
            "score": self.score,
            "raw_score": self.raw_score,
            "weights_used": dict(self.weights_used),
            "partial": self.partial,
            "warnings": list(self.warnings),
            **{name: getattr(self, name) for name in _OF_MODELS},
            "judges": [verdict.as_json() for verdict in self.verdicts],
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of each evaluation mode that was judged, and a line for each call."""

    by_mode: Mapping[str, Judgement]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Combined:
    """The programmatic and the LLM score in one, 0 to 5; None, and `INCOMPLETE`, without an LLM score.

    `decision` is that of the score, but never above the guarded decision of the run; `capped_from` is what the score
    alone would give, where that is higher. `guarded_decision` is the same, and FAIL where an incomplete run fails.
    """

    score: float | None
    decision: str | None
    guarded_decision: str | None
    capped_from: str | None = None

    @property
    def fails(self) -> bool:
        """Whether a run with this must not end well."""
        return self.decision in {"FAIL", INCOMPLETE}


def with_cap(verdict: Verdict, failed_checks: Sequence[str], low_confidence: str, share: float = 1.0) -> Verdict:
    """Return the verdict with what limits its score: critical checks that fail, and the policy for low confidence.

    `share` is how much of its dimension is right: two faults that the cap makes alike differ in what is counted.
    """
    if verdict.raw_score is None:
        return verdict
    score = min(verdict.raw_score, CAP) if failed_checks else verdict.raw_score
    if verdict.low_confidence and low_confidence == CAP_IT:
        score = min(score, LOW_CONFIDENCE_CAP)
    return replace(
        verdict,
        score=score,
        counted=round(1 + (score - 1) * share, 4) if failed_checks else None,
        capped=score < verdict.raw_score,
        cap_checks=tuple(failed_checks),
        excluded=verdict.low_confidence and low_confidence == EXCLUDE,
    )


def llm_score(verdicts: Sequence[Verdict]) -> tuple[float | None, float | None, dict[str, float]]:
    """Return the weighted sums of the scores and of the raw ones, and the weights behind them.

    What does not count, an excluded verdict or one that does not apply, is renormalised away. There is no sum where
    nothing counts, or a verdict is unscored.
    """
    counted = [verdict for verdict in verdicts if verdict.outcome == SCORED and not verdict.excluded]
    whole = sum(verdict.weight for verdict in counted)
    if not whole:
        return None, None, {}
    weights = {verdict.dimension: verdict.weight / whole for verdict in counted}
    if any(verdict.outcome == UNSCORED for verdict in verdicts):
        return None, None, weights
    capped = sum((verdict.counted or verdict.score or 0) * weights[verdict.dimension] for verdict in counted)
    raw = sum((verdict.raw_score or 0) * weights[verdict.dimension] for verdict in counted)
    return _exact(capped), _exact(raw), weights


def combine(judged: Judged | None, rate: float, guarded: str | None) -> Combined | None:
    """Return 0.6 of the programmatic score (`rate`, 0 to 1) and 0.4 of the LLM score, when judges looked at scenarios.

    Its decision is never above `guarded`, the decision that leads the run, and there is none without it.
    """
    judgement = judged.by_mode.get(SYNTHETIC) if judged else None
    if judgement is None:
        return None
    if guarded is None or judgement.partial:
        return Combined(None, None, None)
    if judgement.score is None:
        return Combined(None, INCOMPLETE, "FAIL" if guarded == "FAIL" else INCOMPLETE)
    score = _exact(PROGRAMMATIC_SHARE * rate * SCALE + LLM_SHARE * judgement.score)
    said = decide(score / SCALE)
    names = [name for name, _ in THRESHOLDS]
    decision = max(said, guarded, key=names.index)
    return Combined(score, decision, decision, capped_from=said if decision != said else None)


def _exact(score: float) -> float:
    """Return a weighted sum without the error of binary fractions: 3.9999999999999996 would miss STRONG_PASS."""
    return round(score, 9)


def judgement_from_json(document: Mapping[str, Any]) -> Judgement:
    """Return a judgement that another process of the run left."""
    lists = ("cap_checks", "evidence_cited", "recommendations", "unfounded_citations", "samples")
    verdicts = tuple(
        Verdict(**{**verdict, **{name: tuple(verdict[name]) for name in lists}}) for verdict in document["judges"]
    )
    rest = {name: value for name, value in document.items() if name != "judges"}
    return Judgement(**{**rest, "verdicts": verdicts, "warnings": tuple(document["warnings"])})
