"""The map: each usual place is seen, hidden by the configuration, not looked at by the scanner, or not asked."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from gitleaks_eval.config.hiding import Entry
from gitleaks_eval.coverage.configuration.known import Known
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.places import Place, usual_places
from gitleaks_eval.coverage.places.scan import Sight
from gitleaks_eval.coverage.result import ACCEPTED, ALLOWLISTED, MISSING, NOT_ASKED, NOT_SCANNED, SEEN, Status


@dataclass(frozen=True, slots=True)
class Placed:
    """A place of the map: its status, the entries that hide it, and a note where none can be named."""

    place: Place
    status: Status
    hidden_by: tuple[Entry, ...] = ()
    note: str = ""

    def blame(self, root: Path) -> str:
        """What hides it, as people read it: the entries, or the note; empty where nothing does."""
        return " and ".join(entry.title(root) for entry in self.hidden_by) or self.note


@dataclass(frozen=True, slots=True)
class PlacesMap:
    """All usual places with their statuses, in the order of the data, and what each entry hides of them.

    `known` is the measured build that the scanner is held against.
    """

    placed: tuple[Placed, ...]
    hidden: Hidden
    known: Known | None = None

    def titles(self, status: Status) -> tuple[str, ...]:
        """The places of a status, as `path:src/a.png`."""
        return tuple(one.place.title for one in self.placed if one.status == status)


def lost_places(sight: Sight, reference: Sight) -> Sight:
    """The places that the scanner's own configuration sees and the one under test does not."""
    return {place: rules for place, rules in reference.items() if place not in sight}


@dataclass(frozen=True, slots=True)
class Expected:
    """What a known build sees, by the titles of the places."""

    known: Known | None = None
    titles: frozenset[str] = frozenset()


def places_map(
    asked: Iterable[Place], sight: Sight, reference: Sight, hidden: Hidden, expected: Expected = Expected()
) -> PlacesMap:
    """The map of a configuration.

    Args:
        asked: the places in which something is planted.
        sight: what is seen with the configuration under test.
        reference: what is seen with the scanner's own.
        hidden: what hides the places that are lost.
        expected: what the build is held against.
    """
    there = frozenset(asked)

    def placed(place: Place) -> Placed:
        if place not in there:
            return Placed(place, NOT_ASKED)
        if place in sight:
            return Placed(place, SEEN)
        if place in reference:
            return Placed(place, ALLOWLISTED, hidden.entries_of(place), hidden.notes.get(place, ""))
        return Placed(place, MISSING if place.title in expected.titles else NOT_SCANNED)

    return PlacesMap(tuple(map(placed, usual_places())), hidden, expected.known)


def no_longer_seen(before: PlacesMap, after: PlacesMap) -> tuple[str, ...]:
    """The places that are seen before and not after, of those that both ask; swap the two for what is gained."""
    left_out = {*after.titles(NOT_ASKED), *after.titles(SEEN)}
    return tuple(title for title in before.titles(SEEN) if title not in left_out)


def accepted(made: PlacesMap, entries: Collection[Entry]) -> PlacesMap:
    """The map, with the places accepted that accepted entries hide and no others."""
    placed = tuple(
        replace(one, status=ACCEPTED) if one.hidden_by and set(one.hidden_by) <= set(entries) else one
        for one in made.placed
    )
    return replace(made, placed=placed)


def as_rows(made: PlacesMap, root: Path) -> list[dict[str, str | None]]:
    """The map as JSON: family, case, status, and what hides it (null where nothing does)."""
    return [
        {
            "family": one.place.family,
            "case": one.place.case,
            "status": one.status,
            "hidden_by": one.blame(root) or None,
        }
        for one in made.placed
    ]
