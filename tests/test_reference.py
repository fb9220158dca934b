"""Figures against independent implementations: precision, recall, F1, F2, their intervals, and kappa."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from builders import finding
from hypothesis import given, settings
from hypothesis import strategies as st

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Matching, match_findings
from gitleaks_eval.analysis.metrics import RATES, Counts, make_metrics, metrics_json, wilson_interval
from gitleaks_eval.judges.panel.agreement import quadratic_kappa
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding

Place = tuple[str, str, int]
NOTHING = "nothing"

PLACES = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("rstu"), st.integers(1, 9)), min_size=1, max_size=12)
searched = settings(max_examples=100, deadline=None, database=None, derandomize=True)


def matched(wanted: Iterable[Place], actual: Iterable[Place]) -> Matching:
    findings = tuple(ExpectedFinding(path, rule, line) for path, rule, line in wanted)
    reported = [finding(path, line, rule) for path, rule, line in actual]
    return match_findings(Expected(len(findings), 0, 0, 0, 0, 0, findings=findings), reported)


def labels(matchings: Iterable[Matching]) -> tuple[list[str], list[str]]:
    """True and predicted rule of each finding: a moved one is two, of which each has no partner."""
    rows = []
    for match in (match for matching in matchings for match in matching.matches):
        if match.status in {EXACT, RELABELLED}:
            rows.append((match.rule_id, str(match.reported_rule_id)))
        if match.status in {MOVED, MISSED}:
            rows.append((match.rule_id, NOTHING))
        if match.status in {MOVED, UNEXPECTED}:
            rows.append((NOTHING, match.rule_id))
    return [row[0] for row in rows], [row[1] for row in rows]


def as_number(value: float | None) -> float:
    return math.nan if value is None else value


def assert_same(ours: Sequence[float | None], theirs: Sequence[float]) -> None:
    assert list(map(as_number, ours)) == pytest.approx(list(map(float, theirs)), nan_ok=True)


@searched
@given(PLACES, PLACES, PLACES, PLACES)
def test_the_rates_are_those_of_scikit_learn(
    wanted: list[Place], actual: list[Place], wanted_too: list[Place], actual_too: list[Place]
) -> None:
    from sklearn.metrics import fbeta_score, precision_recall_fscore_support  # noqa: PLC0415 - 1 s, else in each worker

    matchings = {"one": matched(wanted, actual), "two": matched(wanted_too, actual_too)}
    metrics = make_metrics(matchings)
    rules = list(metrics.by_rule)
    document = metrics_json(metrics)
    truth, predicted = labels(matchings.values())
    options: dict[str, Any] = {"labels": rules, "zero_division": math.nan}
    for average in (None, "micro", "macro"):
        their = [*precision_recall_fscore_support(truth, predicted, average=average, **options)[:3]]
        their.append(fbeta_score(truth, predicted, beta=2, average=average, **options))
        for rate, theirs in zip(RATES, their, strict=True):
            if average is None:
                assert_same([document["by_rule"][rule][rate] for rule in rules], theirs)
            else:
                ours = document if average == "micro" else document["macro"]["by_rule"]
                assert_same([ours[rate]], [theirs])


@searched
@given(PLACES, PLACES)
def test_rules_and_scenarios_add_up_to_the_total(wanted: list[Place], actual: list[Place]) -> None:
    metrics = make_metrics({"one": matched(wanted, actual), "two": matched(actual, wanted)})
    for groups in (metrics.by_rule, metrics.by_scenario):
        assert total(groups) == metrics.total


def total(groups: Mapping[str, Counts]) -> Counts:
    everything = Counts()
    for counts in groups.values():
        everything += counts
    return everything


@pytest.mark.parametrize("size", [1, 2, 5, 17, 100, 100_000])
def test_the_intervals_are_those_of_scipy(size: int) -> None:
    from scipy.stats import binomtest  # noqa: PLC0415 - 1 s, else in each worker

    for count in {0, 1, size // 3, size - 1, size}:
        theirs = binomtest(count, size).proportion_ci(method="wilson")
        assert wilson_interval(count, size) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
        ([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]),
        ([1, 1, 2, 3, 5, 5, 4], [1, 2, 2, 4, 5, 3, 4]),
        ([5, 5, 4, 3, 1], [5, 5, 5, 5, 5]),
    ],
)
def test_kappa_is_that_of_scikit_learn(labels: list[int], scores: list[int]) -> None:
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415 - 1 s, else in each worker

    expected = cohen_kappa_score(labels, scores, weights="quadratic", labels=[1, 2, 3, 4, 5])
    assert quadratic_kappa(labels, scores) == pytest.approx(expected)
