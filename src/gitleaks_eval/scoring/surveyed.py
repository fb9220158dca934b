"""Which rules fire and which places are seen, of one candidate against another. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gitleaks_eval.core.text import few

FOUND = frozenset({"fires", "reported_as"})
SEEN = frozenset({"seen", "accepted"})
NOT_ASKED = "not_asked"
NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Of each rule whether it fires, and of each place that was asked whether it is seen."""

    rules: Mapping[str, bool]
    places: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Moves:
    """What a candidate no longer finds and what it finds in addition: ids of rules, titles of places."""

    rules_lost: tuple[str, ...] = ()
    rules_gained: tuple[str, ...] = ()
    places_lost: tuple[str, ...] = ()
    places_gained: tuple[str, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether anything is lost."""
        return bool(self.rules_lost or self.places_lost)

    def reasons(self) -> Iterator[str]:
        """A line for each list that is not empty; what is lost first."""
        named = (
            (self.rules_lost, "rules no longer fire"),
            (self.places_lost, "places are no longer seen"),
            (self.rules_gained, "more rules fire"),
            (self.places_gained, "more places are seen"),
        )
        for names, text in named:
            if names:
                yield f"{len(names)} {text} ({few(names, NAMED_AT_MOST)})"


def surveyed_from(coverage: Mapping[str, Any] | None) -> Surveyed | None:
    """What `coverage` of an evaluation report says; None where nothing was asked."""
    if coverage is None:
        return None
    rules = {row["rule_id"]: row["status"] in FOUND for row in coverage["rules"]}
    places = {
        f"{row['family']}:{row['case']}": row["status"] in SEEN
        for row in coverage["places"]
        if row["status"] != NOT_ASKED
    }
    return Surveyed(rules, places)


def moves(before: Surveyed, after: Surveyed) -> Moves:
    """What changes; a place that one of the two did not ask is left out, a rule that is not there does not fire."""
    return Moves(
        rules_lost=tuple(_only(before.rules, after.rules)),
        rules_gained=tuple(_only(after.rules, before.rules)),
        places_lost=tuple(name for name in _only(before.places, after.places) if name in after.places),
        places_gained=tuple(name for name in _only(after.places, before.places) if name in before.places),
    )


def _only(one: Mapping[str, bool], other: Mapping[str, bool]) -> Iterator[str]:
    yield from (name for name, is_found in one.items() if is_found and not other.get(name, False))
