"""The comparison primitives: each records what it compared, and raises when it differs."""

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import gitleaks_eval
from gitleaks_eval.checks.evidence import (
    Evidence,
    check_at_least,
    check_at_most,
    check_boolean,
    check_contains,
    check_equal,
    check_not_contains,
    conclude,
    first,
    whole,
)
from gitleaks_eval.core.errors import CheckFailed

Comparison = Callable[[Evidence], None]


def holds(comparison: Comparison) -> bool:
    try:
        comparison(Evidence())
    except CheckFailed:
        return False
    return True


@pytest.mark.parametrize(
    "name",
    ["check_equal", "check_at_least", "check_at_most", "check_contains", "check_not_contains", "check_boolean"],
)
def test_the_primitives_are_public_and_documented(name: str) -> None:
    assert name in gitleaks_eval.__all__
    assert getattr(gitleaks_eval, name).__doc__


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (3, 3, True),
        (3, 3.0, True),
        (3, 4, False),
        ("a", "a", True),
        ("a", "b", False),
        (["a"], ["a"], True),
        (None, None, True),
        (0, None, False),
        (math.nan, math.nan, False),
        (10**400, 10**400, True),
    ],
)
def test_equal_is_exact_without_a_tolerance(expected: Any, actual: Any, same: bool) -> None:  # noqa: FBT001 - a column
    assert holds(lambda evidence: check_equal(evidence, expected, actual)) is same


@pytest.mark.parametrize(
    ("actual", "same"),
    [(10, True), (12, True), (8, True), (12.5, False), (7.999, False), (math.nan, False), (math.inf, False)],
)
def test_equal_takes_what_is_within_the_tolerance_on_both_sides(actual: float, same: bool) -> None:  # noqa: FBT001 - a column
    assert holds(lambda evidence: check_equal(evidence, 10, actual, tolerance=2)) is same


@pytest.mark.parametrize(
    ("comparison", "passing", "failing"),
    [
        (check_at_least, [5, 5.0, 6, math.inf], [4, 4.999, -1, math.nan]),
        (check_at_most, [5, 5.0, 4, 0, -1], [6, 5.001, math.inf, math.nan]),
    ],
)
def test_bounds_are_inclusive(
    comparison: Callable[[Evidence, float, float], None], passing: list[float], failing: list[float]
) -> None:
    assert all(holds(partial(_compared, comparison, actual)) for actual in passing)
    assert not any(holds(partial(_compared, comparison, actual)) for actual in failing)


def _compared(comparison: Callable[[Evidence, float, float], None], actual: float, evidence: Evidence) -> None:
    comparison(evidence, 5, actual)


def test_contains_wants_every_item_and_minds_no_other() -> None:
    check_contains(Evidence(), ["b", "a"], {"a", "b", "c"})
    check_contains(Evidence(), [], [])
    evidence = Evidence()
    with pytest.raises(CheckFailed, match="missing a, b"):
        check_contains(evidence, ["b", "a"], ["c"])
    assert evidence.expected == {"count": 2, "items": ["a", "b"]}
    assert evidence.actual == {"count": 1, "items": ["c"]}


def test_contains_names_three_and_counts_the_rest() -> None:
    with pytest.raises(CheckFailed, match=r"^missing a, b, c and 2 more\n"):
        check_contains(Evidence(), list("edcba"), [])


def test_not_contains_forbids_items_and_minds_no_other() -> None:
    check_not_contains(Evidence(), ["a"], ["b"])
    check_not_contains(Evidence(), [], ["b"])
    evidence = Evidence()
    with pytest.raises(CheckFailed, match="unexpected a"):
        check_not_contains(evidence, ["a", "z"], {"b", "a"})
    assert evidence.expected == {"none_of": {"count": 2, "items": ["a", "z"]}}
    assert evidence.actual == {"count": 2, "items": ["a", "b"], "unexpected": ["a"]}


def test_not_contains_shows_what_is_allowed_where_it_is_given() -> None:
    evidence = Evidence()
    with pytest.raises(CheckFailed, match="unexpected b"):
        check_not_contains(evidence, ["b"], ["a", "b"], allowed=["a"])
    assert evidence.expected == {"count": 1, "items": ["a"]}


@pytest.mark.parametrize(("expected", "actual"), [(True, True), (False, False)])
def test_boolean_takes_the_same_boolean(expected: bool, actual: bool) -> None:  # noqa: FBT001 - what it compares
    check_boolean(Evidence(), expected, actual)


@pytest.mark.parametrize(("expected", "actual"), [(True, False), (False, True), (True, 1), (False, 0), (False, None)])
def test_boolean_takes_nothing_else(expected: bool, actual: Any) -> None:  # noqa: FBT001 - what it compares
    with pytest.raises(CheckFailed):
        check_boolean(Evidence(), expected, actual)


@pytest.mark.parametrize(
    "comparison",
    [
        lambda evidence: check_equal(evidence, 1, 1, what="what it is"),
        lambda evidence: check_at_least(evidence, 1, 1, what="what it is"),
        lambda evidence: check_at_most(evidence, 1, 1, what="what it is"),
        lambda evidence: check_contains(evidence, ["a"], ["a"], what="what it is"),
        lambda evidence: check_not_contains(evidence, ["b"], ["a"], what="what it is"),
        lambda evidence: check_boolean(evidence, True, True, what="what it is"),
    ],
    ids=["equal", "at_least", "at_most", "contains", "not_contains", "boolean"],
)
def test_evidence_is_left_when_the_check_passes_too(comparison: Comparison) -> None:
    evidence = Evidence()
    comparison(evidence)
    assert evidence.message.startswith("what it is")
    assert evidence.expected is not None
    assert evidence.actual is not None


def test_a_failure_is_an_assertion_and_says_message_expected_and_actual() -> None:
    with pytest.raises(AssertionError) as failure:
        check_equal(Evidence(), 2, 3, what="secrets")
    assert str(failure.value).splitlines() == ["secrets: expected 2, found 3", "  expected: 2", "  actual:   3"]


@pytest.mark.parametrize("value", ["a\nb\nc\nd\ne\nf", "\u2028" * 9, "\x0b\x0c\x1c\x85", ["\n"] * 50, {"\n": "\r"}])
def test_a_failure_has_five_lines_at_most_whatever_it_quotes(value: Any) -> None:
    with pytest.raises(CheckFailed) as failure:
        conclude(Evidence(), False, f"found {value}", value, value)
    assert len(str(failure.value).splitlines()) == 3


def test_a_long_value_is_cut_in_the_text_and_whole_in_the_evidence() -> None:
    evidence = Evidence()
    with pytest.raises(CheckFailed) as failure:
        check_equal(evidence, "x" * 5000, "y", what="text")
    assert max(map(len, str(failure.value).splitlines()[1:])) < 300
    assert evidence.expected == "x" * 5000


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\udce9", {"\ud800": [math.nan]}, (1, 2)])
def test_evidence_is_escaped_before_it_is_attached(value: Any) -> None:
    evidence = Evidence()
    conclude(evidence, True, "message \udce9", value, [value])
    text = json.dumps([evidence.message, evidence.expected, evidence.actual], allow_nan=False, ensure_ascii=False)
    text.encode("utf-8")


def test_whole_is_sorted_counted_and_bounded() -> None:
    items = [f"{number:05}" for number in range(3000, 0, -1)]
    assert whole(items) == {"count": 3000, "items": sorted(items)[:1000]}
    assert whole([]) == {"count": 0, "items": []}


def test_first_keeps_the_order_and_counts_all() -> None:
    assert first([3, 1, 2, 0]) == {"count": 4, "first": [3, 1, 2]}
    assert first([3, 1, 2, 0], 5) == {"count": 4, "first": [3, 1, 2, 0]}
