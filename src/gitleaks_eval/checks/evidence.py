"""The comparison primitives of the requirements ("Check Helper Functions"): record, then assert.

Each takes the `evidence` fixture first, records what was expected and what was found, and raises
`CheckFailed` when they differ. Evidence is JSON values; long lists go in with `first` or `whole`.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.text import json_value, printable

LISTED_AT_MOST = 1_000
SHOWN_AT_MOST = 240


@dataclass(slots=True)
class Evidence:
    """What one check saw: a message for people, and the expected and actual JSON values."""

    message: str = ""
    expected: Any = None
    actual: Any = None


def conclude(evidence: Evidence, passed: bool, message: str, expected: object, actual: object) -> None:  # noqa: FBT001 - the verdict is the value
    """Record the evidence and raise unless `passed`; the primitives below all end here.

    Raises:
        CheckFailed: when `passed` is false; its text has five lines at most.
    """
    __tracebackhide__ = True
    evidence.message = printable(message)
    evidence.expected = json_value(expected)
    evidence.actual = json_value(actual)
    if not passed:
        raise CheckFailed(
            f"{evidence.message}\n  expected: {_short(evidence.expected)}\n  actual:   {_short(evidence.actual)}"
        )


def check_equal(evidence: Evidence, expected: Any, actual: Any, *, tolerance: float = 0, what: str = "value") -> None:
    """The two are equal, or, for numbers, at most `tolerance` apart."""
    __tracebackhide__ = True
    passed = abs(expected - actual) <= tolerance if tolerance else bool(expected == actual)
    conclude(evidence, passed, f"{what}: expected {expected}, found {actual}", expected, actual)


def check_at_least(evidence: Evidence, minimum: float, actual: float, *, what: str = "value") -> None:
    """`actual` is `minimum` or more."""
    __tracebackhide__ = True
    conclude(evidence, actual >= minimum, f"{what}: at least {minimum}, found {actual}", minimum, actual)


def check_at_most(evidence: Evidence, maximum: float, actual: float, *, what: str = "value") -> None:
    """`actual` is `maximum` or less."""
    __tracebackhide__ = True
    conclude(evidence, actual <= maximum, f"{what}: at most {maximum}, found {actual}", maximum, actual)


def check_contains(
    evidence: Evidence, expected_items: Collection[str], actual_set: Collection[str], *, what: str = "item"
) -> None:
    """Every expected item is among the actual ones."""
    __tracebackhide__ = True
    missing = sorted(set(expected_items) - set(actual_set))
    message = f"missing {_listed(missing)}" if missing else f"{what}: all {len(expected_items)} found"
    conclude(evidence, not missing, message, whole(expected_items), whole(actual_set))


def check_not_contains(
    evidence: Evidence,
    forbidden_items: Collection[str],
    actual_set: Collection[str],
    *,
    what: str = "item",
    allowed: Collection[str] | None = None,
) -> None:
    """No forbidden item is among the actual ones; `allowed` is what the evidence shows as expected."""
    __tracebackhide__ = True
    present = sorted(set(forbidden_items) & set(actual_set))
    message = f"unexpected {_listed(present)}" if present else f"{what}: none of the unexpected found"
    expected = {"none_of": whole(forbidden_items)} if allowed is None else whole(allowed)
    conclude(
        evidence,
        not present,
        message,
        expected,
        {**whole(actual_set), "unexpected": present[:LISTED_AT_MOST]},
    )


def check_boolean(evidence: Evidence, expected: bool, actual: bool, *, what: str = "value") -> None:  # noqa: FBT001 - booleans are what it compares
    """The two booleans are the same."""
    __tracebackhide__ = True
    conclude(evidence, expected is actual, f"{what}: expected {expected}, found {actual}", expected, actual)


def whole(items: Collection[str]) -> dict[str, object]:
    """Return a list as evidence: sorted, the first 1,000, and their count."""
    return {"count": len(items), "items": nsmallest(LISTED_AT_MOST, items)}


def first(items: Sequence[Any], most: int = 3) -> dict[str, object]:
    """Offenders as evidence: the first few (as the requirements say, 3 or 5), and their count."""
    return {"count": len(items), "first": list(items[:most])}


def _listed(items: Iterable[str], most: int = 3) -> str:
    names = list(items)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _short(value: object) -> str:
    text = printable(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return text if len(text) <= SHOWN_AT_MOST else f"{text[:SHOWN_AT_MOST]}…"
