"""What the pairwise judge makes of a pair, in each order and as a whole."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Order:
    """What was said with one of the two shown first; scores are the candidate's, whoever was first.

    `score` is 1 (the baseline is clearly better) to 5 (the candidate is), None where there is none, and then
    `reasoning` is our own message.
    """

    order: str
    score: int | None
    unscored_kind: str | None = None
    confidence: float | None = None
    reasoning: str = ""
    sub_scores: Mapping[str, int] | None = None
    evidence_cited: tuple[str, ...] = ()
    unfounded_citations: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    samples: tuple[Mapping[str, Any], ...] = ()
    spread: int | None = None
    disagreement: bool = False


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What the pairwise judge makes of a pair; it decides nothing.

    `preferred` is `baseline`, `candidate` or `tie`, None without a score; `score` is 1 (the baseline is clearly better)
    to 5 (the candidate is): of two orders that agree the one that is nearer to 3, and 3 for a tie. A verdict that
    depends on the order is a tie (`order_dependent`). Costs are in US dollars, None where the price is unknown.
    """

    outcome: str
    mode: str
    model_requested: str | None = None
    model_answered: str | None = None
    preferred: str | None = None
    score: int | None = None
    order_dependent: bool = False
    confidence: float | None = None
    low_confidence: bool = False
    heuristic_score: int | None = None
    uncalibrated: bool = False
    unscored_kind: str | None = None
    reasoning: str = ""
    orders: tuple[Order, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    prices_as_of: str | None = None
    trace_id: str = ""
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the `judge` of a pair in comparison.json."""
        return {**asdict(self), "advisory": True}
