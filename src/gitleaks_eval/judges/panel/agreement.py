"""How far scores agree: with labels, with a count, and between models. Pure arithmetic, no dependency."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from gitleaks_eval.judges.model.answer import SCORES


def quadratic_kappa(labels: Sequence[int], scores: Sequence[int]) -> float | None:
    """Return Cohen's kappa with quadratic weights; None without a pair. What never varies agrees by chance alone: 0."""
    if not labels:
        return None
    count, said, given = len(labels), Counter(labels), Counter(scores)
    observed = sum((label - score) ** 2 for label, score in zip(labels, scores, strict=True)) / count
    expected = sum(said[a] * given[b] * (a - b) ** 2 for a in said for b in given) / count**2
    return 1 - observed / expected if expected else 0.0


def rank_correlation(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Return Spearman's rho, ties at their mean rank; None where one of the two never varies."""
    first, second = _ranks(ones), _ranks(others)
    middle = (len(first) + 1) / 2
    spread = [sum((rank - middle) ** 2 for rank in ranks) for ranks in (first, second)]
    if not all(spread):
        return None
    together = sum((a - middle) * (b - middle) for a, b in zip(first, second, strict=True))
    return float(together / (spread[0] * spread[1]) ** 0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def krippendorff_alpha(units: Sequence[Sequence[int | None]]) -> float | None:
    """Return Krippendorff's alpha for ordinal scores of 1 to 5: a unit has the score of each model, None for no score.

    None where fewer than two of the scores can be paired, or all of them are one.
    """
    weights: dict[tuple[int, int], float] = {}
    for unit in units:
        said = [score for score in unit if score is not None]
        for a, b in permutations(said, 2):
            weights[a, b] = weights.get((a, b), 0.0) + 1 / (len(said) - 1)
    margins = {score: sum(weight for (a, _), weight in weights.items() if a == score) for score in SCORES}
    total = sum(margins.values())

    def distance(a: int, b: int) -> float:
        low, high = sorted((a, b))
        between = sum(margins[score] for score in SCORES if low <= score <= high)
        return (between - (margins[a] + margins[b]) / 2) ** 2

    expected = sum(margins[a] * margins[b] * distance(a, b) for a in SCORES for b in SCORES if a != b)
    if not expected:
        return None
    observed = sum(weight * distance(a, b) for (a, b), weight in weights.items())
    return 1 - (total - 1) * observed / expected
