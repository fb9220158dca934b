"""Precision, recall, F1, F2 and their intervals, by hand; tests/test_reference.py has independent implementations."""

import json

import pytest

from gitleaks_eval.analysis.matching import (
    EXACT,
    MISSED,
    MOVED,
    RELABELLED,
    UNEXPECTED,
    Match,
    Matching,
)
from gitleaks_eval.analysis.metrics import (
    RATES,
    Counts,
    Metrics,
    macro_average,
    make_metrics,
    metrics_json,
    rate_texts,
    wilson_interval,
)


def match(status: str, rule: str = "r", reported: str | None = None, severities: tuple[str | None, ...] = ()) -> Match:
    severity, reported_severity = severities or (None, None)
    shown = None if status == MISSED else (reported or rule)
    return Match(status, "a", 1, rule, severity, shown, None if status == MISSED else 1, reported_severity)


def matching(*matches: Match, **more: int) -> Matching:
    return Matching(matches, sum(match.status != UNEXPECTED for match in matches), **more)


def of(*matches: Match) -> Metrics:
    return make_metrics({"one": matching(*matches)})


def test_only_exact_matches_are_true_positives() -> None:
    metrics = of(
        match(EXACT), match(EXACT), match(MOVED), match(RELABELLED, "r", "s"), match(MISSED), match(UNEXPECTED)
    )
    assert metrics.total == Counts(tp=2, fp=3, fn=3, moved=1, relabelled=1)


def test_a_moved_finding_is_one_fn_and_one_fp_of_its_rule() -> None:
    assert of(match(MOVED)).by_rule == {"r": Counts(fp=1, fn=1, moved=1)}


def test_a_relabelled_finding_is_a_fn_of_the_expected_rule_and_a_fp_of_the_reported_one() -> None:
    metrics = of(match(RELABELLED, "r", "s"))
    assert metrics.by_rule == {"r": Counts(fn=1, relabelled=1), "s": Counts(fp=1)}
    assert metrics.total == Counts(fp=1, fn=1, relabelled=1)


def test_findings_that_are_only_counted_stand_under_no_rule() -> None:
    counted = Matching((), 5, unlisted_detected=3, unlisted_missed=2, unlisted_unexpected=4)
    metrics = make_metrics({"counted": counted, "listed": matching(match(EXACT))})
    assert metrics.total == Counts(tp=4, fp=4, fn=2)
    assert metrics.by_scenario == {"counted": Counts(tp=3, fp=4, fn=2), "listed": Counts(tp=1)}
    assert metrics.by_rule == {"r": Counts(tp=1)}


def test_a_scenario_without_findings_is_listed_with_no_rates() -> None:
    document = metrics_json(make_metrics({"clean": matching()}))
    clean = document["by_scenario"]["clean"]
    assert {name: clean[name] for name in ("tp", "fp", "fn")} == {"tp": 0, "fp": 0, "fn": 0}
    assert {clean[rate] for rate in RATES} == {None}
    assert clean["intervals"] == {"precision": None, "recall": None}
    assert document["macro"]["by_rule"] == dict.fromkeys(RATES)


def test_the_rates_are_as_computed_by_hand() -> None:
    counts = Counts(tp=3, fp=1, fn=2)
    assert (counts.precision, counts.recall) == (0.75, 0.6)
    assert counts.f1 == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))
    assert counts.f2 == pytest.approx(5 * 0.75 * 0.6 / (4 * 0.75 + 0.6))


def test_rates_are_null_only_over_nothing() -> None:
    assert [getattr(Counts(fp=1), rate) for rate in RATES] == [0.0, None, 0.0, 0.0]
    assert [getattr(Counts(fn=1), rate) for rate in RATES] == [None, 0.0, 0.0, 0.0]
    assert [getattr(Counts(), rate) for rate in RATES] == [None] * 4


def test_a_macro_average_gives_each_group_that_has_the_rate_the_same_weight() -> None:
    groups = [Counts(tp=9, fn=1), Counts(tp=1, fn=1), Counts(fp=7)]
    assert macro_average(groups, "recall") == pytest.approx(0.7)
    assert macro_average(groups, "precision") == pytest.approx(2 / 3)
    assert macro_average([], "recall") is None


def test_severities_agree_on_exact_and_moved_findings_that_expect_one() -> None:
    agreeing, other = ("HIGH", "HIGH"), ("HIGH", "LOW")
    matches = (
        match(EXACT, severities=agreeing),
        match(EXACT, severities=other),
        match(MOVED, severities=agreeing),
        match(EXACT, severities=("LOW", "LOW")),  # nothing expected: what is reported stands in
        match(RELABELLED, "r", "s", other),
    )
    document = metrics_json(make_metrics({"one": matching(*matches, severities_compared=3)}))
    assert document["severity_agreement"] == {"agreed": 2, "compared": 3, "rate": pytest.approx(2 / 3)}


def test_the_json_has_the_keys_that_are_promised_and_lists_for_intervals() -> None:
    document = metrics_json(of(match(EXACT), match(MISSED)))
    common = {"tp", "fp", "fn", "precision", "recall", "f1", "f2", "intervals"}
    for part in (document, document["by_rule"]["r"], document["by_scenario"]["one"]):
        assert common <= set(part)
        assert set(part["intervals"]) == {"precision", "recall"}
        assert all(isinstance(interval, list) for interval in part["intervals"].values())
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(
    ("count", "total", "text"),
    [
        (0, 0, "n/a (n=0)"),
        (3, 3, "n/a (n=3)"),
        (4, 4, "n/a (n=4)"),
        (5, 5, "1.00"),
        (0, 5, "0.00"),
        (47, 50, "0.94"),
        (999, 1000, "0.99"),
        (1, 1000, "0.01"),
    ],
)
def test_a_rate_over_fewer_than_five_is_no_figure_and_none_is_rounded_to_perfect(
    count: int, total: int, text: str
) -> None:
    assert rate_texts(Counts(tp=count, fn=total - count))["recall"] == text


def test_each_rate_is_shown_over_what_it_is_over() -> None:
    assert rate_texts(Counts(tp=4, fp=1)) == {"precision": "0.80", "recall": "n/a (n=4)", "f1": "0.89", "f2": "0.95"}
    assert rate_texts(Counts(tp=2, fn=2))["f1"] == "n/a (n=4)"


def test_an_interval_over_nothing_is_none() -> None:
    assert wilson_interval(0, 0) is None
