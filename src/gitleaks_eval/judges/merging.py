"""Many replies to one question become one: the median of a model's samples, then the majority of the models."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from gitleaks_eval.judges.answer import Answer
from gitleaks_eval.judges.question import Reply


@dataclass(frozen=True, slots=True)
class Merged:
    """What all replies of a case come to: the answer whose score counts, and how the others differ from it.

    `confidence` is the median of all, `spread` the distance from the lowest score to the highest, `by_model` the
    median of each model's samples.
    """

    answer: Answer
    confidence: float
    spread: int
    by_model: Mapping[str, int]

    @property
    def disagreement(self) -> bool:
        """Whether the models differ."""
        return len(set(self.by_model.values())) > 1


def merged(replies: Sequence[Reply]) -> Merged | Reply:
    """What the replies come to, or the first failure where half of a model's samples are none.

    The lower median and, without a majority, the lower score count: what is in doubt is never the better one.
    """
    by_model: dict[str, int] = {}
    for model in dict.fromkeys(reply.model_requested for reply in replies):
        of_model = [reply for reply in replies if reply.model_requested == model]
        scores = [reply.answer.score for reply in of_model if reply.answer]
        if 2 * len(scores) <= len(of_model):
            return next(reply for reply in of_model if reply.answer is None)
        by_model[model] = median_low(scores)
    answers = [reply.answer for reply in replies if reply.answer]
    score = _majority(list(by_model.values()))
    return Merged(
        next(answer for answer in answers if answer.score == score),
        median_low(answer.confidence for answer in answers),
        max(answer.score for answer in answers) - min(answer.score for answer in answers),
        by_model,
    )


def _majority(scores: Sequence[int]) -> int:
    counts = Counter(scores)
    return min(score for score, count in counts.items() if count == max(counts.values()))


def sample_rows(replies: Sequence[Reply]) -> tuple[Mapping[str, object], ...]:
    """Each sample as the reports keep it."""
    return tuple(
        {
            "model": reply.model_requested,
            "sample": reply.sample,
            "score": reply.answer.score if reply.answer else None,
            "confidence": reply.answer.confidence if reply.answer else None,
            "unscored_kind": reply.kind,
            "source": reply.source,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "cost": reply.cost,
        }
        for reply in replies
    )


def total(values: Sequence[float | int | None]) -> float | None:
    """The sum; None, unknown, where a part is unknown or there is none."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
