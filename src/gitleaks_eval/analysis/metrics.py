"""Precision, recall, F1 and F2 of matched findings, by rule and scenario. Pure: imports no pytest.

Only an exact match is a true positive. A moved or relabelled finding is one false negative (of the expected rule)
and one false positive (of the reported rule), and is also counted as what it is (under the expected rule).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add, attrgetter
from statistics import NormalDist, fmean
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, UNLABELLED, Matching

RATES = ("precision", "recall", "f1", "f2")
# A rate over fewer is no figure to show to people.
SHOWN_FROM = 5
# Labels of few secrets say little of those that nobody has labelled.
RECALL_FROM = 20
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives and false negatives, and the rates that follow (None over nothing).

    What is `unlabelled` is reported where the truth says nothing: it is neither, and stands in no rate.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    moved: int = 0
    relabelled: int = 0
    unlabelled: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """The counts of both together."""
        return Counts(
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.moved + other.moved,
            self.relabelled + other.relabelled,
            self.unlabelled + other.unlabelled,
        )

    @property
    def precision(self) -> float | None:
        """The share of the reported findings, of which the truth says something, that are as expected, 0 to 1."""
        return _rate(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """The share of the expected findings that are reported as expected, 0 to 1."""
        return _rate(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, 0 to 1."""
        return _rate(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def f2(self) -> float | None:
        """The same with recall weighted as twice as important, 0 to 1."""
        return _rate(5 * self.tp, 5 * self.tp + self.fp + 4 * self.fn)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The counts of a run: in total (whose rates are the micro averages), by rule and by scenario.

    `severity_agreed` of `severity_compared` exact and moved findings have the severity that is expected.
    """

    total: Counts
    by_rule: Mapping[str, Counts]
    by_scenario: Mapping[str, Counts]
    severity_agreed: int
    severity_compared: int


def make_metrics(matchings: Mapping[str, Matching]) -> Metrics:
    """Count the matched findings of each scenario; those that are only counted stand under no rule."""
    statuses = {name: matching.counts() for name, matching in matchings.items()}
    by_scenario = {name: _counts(statuses[name], matchings[name].unlabelled) for name in sorted(matchings)}
    compared = sum(matching.severities_compared for matching in matchings.values())
    return Metrics(
        total=reduce(add, by_scenario.values(), Counts()),
        by_rule=_by_rule(matchings.values()),
        by_scenario=by_scenario,
        severity_agreed=compared - sum(map(_other_severities, matchings.values())),
        severity_compared=compared,
    )


def macro_average(groups: Iterable[Counts], rate: str) -> float | None:
    """Return the mean of a rate (one of `RATES`) over the groups that have it, each with the same weight."""
    defined = [value for value in map(attrgetter(rate), groups) if value is not None]
    return fmean(defined) if defined else None


def wilson_interval(count: int, total: int) -> tuple[float, float] | None:
    """Return the Wilson score interval of `count` of `total` at 95 %, within 0 and 1; None over nothing."""
    if not total:
        return None
    share, weight = count / total, _Z * _Z / total
    centre = share + weight / 2
    half = _Z * math.sqrt((share * (1 - share) + weight / 4) / total)
    # At the ends the formula gives these, but for the last binary digit.
    low = (centre - half) / (1 + weight) if count else 0.0
    high = (centre + half) / (1 + weight) if count < total else 1.0
    return low, high


def metrics_json(metrics: Metrics) -> dict[str, Any]:
    """Return the metrics as the reports hold them: rates are numbers, null only over nothing."""
    return {
        **_fields(metrics.total),
        "by_rule": {name: _fields(counts) for name, counts in metrics.by_rule.items()},
        "by_scenario": {name: _fields(counts) for name, counts in metrics.by_scenario.items()},
        "macro": {
            "by_rule": _macro(metrics.by_rule.values()),
            "by_scenario": _macro(metrics.by_scenario.values()),
        },
        "severity_agreement": {
            "agreed": metrics.severity_agreed,
            "compared": metrics.severity_compared,
            "rate": _rate(metrics.severity_agreed, metrics.severity_compared),
        },
    }


def rate_texts(counts: Counts) -> dict[str, str]:
    """Precision, recall, F1 and F2 for people; those of both sides count each finding once."""
    seen = {"precision": counts.tp + counts.fp, "recall": counts.tp + counts.fn}
    everything = counts.tp + counts.fp + counts.fn
    return {rate: _text(getattr(counts, rate), seen.get(rate, everything)) for rate in RATES}


def corpus_rate_texts(counts: Counts) -> dict[str, str]:
    """Rates of a corpus, precision and recall with 95 % intervals: `0.96 (0.80 to 0.99)`.

    Its truth is what somebody has labelled: recall, and what is made of it, is withheld below 20.
    """
    texts = rate_texts(counts)
    totals = {"precision": counts.tp + counts.fp, "recall": counts.tp + counts.fn}
    for name, total in totals.items():
        interval = wilson_interval(counts.tp, total)
        if interval and total >= SHOWN_FROM:
            texts[name] += f" ({interval[0]:.2f} to {interval[1]:.2f})"
    if totals["recall"] < RECALL_FROM:
        everything = counts.tp + counts.fp + counts.fn
        texts |= {"recall": f"n/a (n={totals['recall']})", **dict.fromkeys(("f1", "f2"), f"n/a (n={everything})")}
    return texts


def _rate(count: int, total: int) -> float | None:
    return count / total if total else None


def _text(rate: float | None, total: int) -> str:
    if rate is None or total < SHOWN_FROM:
        return f"n/a (n={total})"
    # One miss among a thousand must not read as none.
    return f"{rate if rate in {0, 1} else min(max(rate, 0.01), 0.99):.2f}"


def _counts(statuses: Counter[str], unlabelled: int = 0) -> Counts:
    elsewhere = statuses[MOVED] + statuses[RELABELLED]
    return Counts(
        statuses[EXACT],
        statuses[UNEXPECTED] - unlabelled + elsewhere,
        statuses[MISSED] + elsewhere,
        statuses[MOVED],
        statuses[RELABELLED],
        unlabelled,
    )


def _by_rule(matchings: Iterable[Matching]) -> dict[str, Counts]:
    matches = list(chain.from_iterable(matching.matches for matching in matchings))
    expected = (match for match in matches if match.status != UNEXPECTED)
    fates: Counter[tuple[str, str, str | None]] = Counter(
        map(attrgetter("status", "rule_id", "reported_rule_id"), expected)
    )
    # There may be 200,000 of these, and of them the rule is all that counts.
    for (rule_id, fate), number in Counter(
        (match.rule_id, match.fate) for match in matches if match.status == UNEXPECTED
    ).items():
        fates[fate, rule_id, rule_id] = number
    rules: dict[str, Counts] = {}
    for (status, rule_id, reported_rule_id), number in fates.items():
        for name, counts in _shares(status, rule_id, reported_rule_id, number):
            rules[name] = rules.get(name, Counts()) + counts
    return {name: rules[name] for name in sorted(rules)}


def _shares(status: str, rule_id: str, reported_rule_id: str | None, number: int) -> Iterable[tuple[str, Counts]]:
    if status == RELABELLED:
        yield rule_id, Counts(fn=number, relabelled=number)
        yield reported_rule_id or "", Counts(fp=number)
    elif status == UNLABELLED:
        yield rule_id, Counts(unlabelled=number)
    else:
        yield rule_id, _counts(Counter({status: number}))


def _other_severities(matching: Matching) -> int:
    return sum(
        match.severity != match.reported_severity for match in matching.matches if match.status in {EXACT, MOVED}
    )


def _fields(counts: Counts) -> dict[str, Any]:
    return {
        **{name: getattr(counts, name) for name in (*Counts.__slots__, *RATES)},
        "intervals": {
            "precision": _interval(counts.tp, counts.tp + counts.fp),
            "recall": _interval(counts.tp, counts.tp + counts.fn),
        },
    }


def _interval(count: int, total: int) -> list[float] | None:
    interval = wilson_interval(count, total)
    return list(interval) if interval else None


def _macro(groups: Iterable[Counts]) -> dict[str, float | None]:
    each = list(groups)
    return {rate: macro_average(each, rate) for rate in RATES}
