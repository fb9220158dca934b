"""The sentence of numbers: how many rules and places were tested, and what of the others."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitleaks_eval.config.hiding import Entry as Hider
from gitleaks_eval.core.text import few, shown_path
from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.configuration.layers import Spot
from gitleaks_eval.coverage.places.flags import FLAGS
from gitleaks_eval.coverage.places.map import PlacesMap
from gitleaks_eval.coverage.result import ACCEPTED, ALLOWLISTED, MISSING, NOT_ASKED, NOT_SCANNED, SEEN, Status
from gitleaks_eval.coverage.rules.firing import ALLOWLISTED as RULE_ALLOWLISTED
from gitleaks_eval.coverage.rules.firing import FIRES, NEVER_FIRES, NOT_SAMPLED, REPORTED_AS, Firing, OffRule

NAMED_AT_MOST = 2
LISTED_AT_MOST = 3
UNKNOWN = "something that is not known"


@dataclass(frozen=True, slots=True)
class Tested:
    """What the sentence is about; `accepted` are the entries that are, `titles` has what people know of entries.

    `as_own` says how many rules are found as the scanner's own.
    """

    firing: Firing
    places: PlacesMap
    accepted: Collection[Entry]
    scanner: str
    root: Path
    titles: Mapping[Spot, str] = field(default_factory=dict)
    as_own: str = ""

    @property
    def switched_off(self) -> list[OffRule]:
        """The rules of the scanner's own that an entry switches off."""
        return [off for off in self.firing.switched_off if off.entry]

    @property
    def rule_count(self) -> int:
        """How many rules there are, with those that are switched off."""
        return len(self.firing.rules) + len(self.switched_off)

    @property
    def places_by_family(self) -> Counter[str]:
        """Return how many places of each family the scanner looks at."""
        there = {SEEN, ALLOWLISTED, ACCEPTED, MISSING}
        return Counter(one.place.family for one in self.places.placed if one.status in there)

    @property
    def place_count(self) -> int:
        """How many places the scanner looks at."""
        return self.places_by_family.total()

    def sentence(self) -> str:
        """`tested: 222 of 222 rules, 193 of 193 places (…)`."""
        rules = Counter(rule.status for rule in self.firing.rules)
        places = Counter(one.status for one in self.places.placed)
        firing = rules[FIRES] + rules[REPORTED_AS]
        about_rules = "; ".join(self._about_rules(rules))
        about_places = "; ".join(self._about_places(places))
        return (
            f"tested: {firing} of {self.rule_count} rules{self.as_own}{f' ({about_rules})' * bool(about_rules)}, "
            f"{places[SEEN]} of {self.place_count} places{f' ({about_places})' * bool(about_places)}"
        )

    def _about_rules(self, counts: Mapping[str, int]) -> Iterator[str]:
        if self.switched_off:
            by = [off.entry for off in self.switched_off if off.entry]
            are_accepted = all(entry in self.accepted for entry in by)
            said = f"{len(by)} switched off by {self._blamed(by)}"
            yield f"{said}{', accepted' * are_accepted}"
        if others := len(self.firing.switched_off) - len(self.switched_off):
            yield f"{others} more of {self.scanner}'s own are not in force"
        hidden = [rule.hidden_by for rule in self.firing.rules if rule.status == RULE_ALLOWLISTED]
        for is_accepted, text in ((False, "allowlisted by"), (True, "accepted, allowlisted by")):
            found = [by for by in hidden if (bool(by) and all(one in self.accepted for one in by)) == is_accepted]
            if found:
                yield f"{len(found)} {text} {self._blamed(one for by in found for one in by)}"
        instead = [rule.rule_id for rule in self.firing.rules if rule.instead]
        if instead:
            yield f"{len(instead)} report{'s' * (len(instead) == 1)} something else: {few(instead, LISTED_AT_MOST)}"
        if never := [one.rule_id for one in self.firing.rules if one.status == NEVER_FIRES and not one.instead]:
            yield f"{len(never)} never fire: {few(never, LISTED_AT_MOST)}"
        if counts[NOT_SAMPLED]:
            yield f"of {counts[NOT_SAMPLED]} no sample can be made: {self._ids(NOT_SAMPLED)}"

    def _blamed(self, entries: Iterable[Entry]) -> str:
        """The entries that people have to look at first, by name."""
        hiding = most(entries)
        return named([self.titles.get(one.spot) or blame([one], self.root) for one in hiding]) or UNKNOWN

    def _ids(self, status: str) -> str:
        return few([rule.rule_id for rule in self.firing.rules if rule.status == status], LISTED_AT_MOST)

    def _hiders(self, status: Status) -> Iterator[Hider]:
        for placed in self.places.placed:
            if placed.status == status:
                yield from placed.hidden_by

    def _about_places(self, counts: Mapping[Status, int]) -> Iterator[str]:
        hidden: tuple[tuple[Status, str], ...] = (
            (ALLOWLISTED, "allowlisted by"),
            (ACCEPTED, "accepted, allowlisted by"),
        )
        for status, text in hidden:
            by_none = sum(one.status == status and not one.hidden_by for one in self.places.placed)
            if blamed := counts[status] - by_none:
                hiding = most(
                    self.titles.get((hider.index, hider.address)) or hider.title(self.root)
                    for hider in self._hiders(status)
                )
                by_flags = {hider.file for hider in self._hiders(status)} == {FLAGS}
                yield f"{blamed} {text.replace('allowlisted', 'hidden') if by_flags else text} {named(hiding)}"
            if by_none:
                yield f"in {by_none} no rule in force finds what the scanner's own find, and no entry hides it"
        if counts[MISSING] and self.places.known:
            titles = few(self.places.titles(MISSING), LISTED_AT_MOST)
            yield f"{counts[MISSING]} not seen, which {self.places.known.title} sees: {titles}"
        if counts[NOT_SCANNED]:
            yield f"{counts[NOT_SCANNED]} more are never scanned by {self.scanner}"
        if not self.place_count:
            yield "no rule in force finds what is planted there"
        elif counts[NOT_ASKED]:
            left_out = Counter(one.place.can_be_staged for one in self.places.placed if one.status == NOT_ASKED)
            if left_out[True]:
                yield f"{left_out[True]} large ones are not asked"
            if left_out[False]:
                yield f"{left_out[False]} of git cannot be staged"


def blame(entries: Iterable[Entry], root: Path) -> str:
    """The entries as people know them, the first of many."""
    return named(
        [
            f"{shown_path(entry.file, root)} {entry.place}" if entry.file else f"the scanner's own {entry.place}"
            for entry in entries
        ]
    )


def most(items: Iterable[Any]) -> list[Any]:
    """Each once, the most frequent first."""
    return [item for item, _ in Counter(items).most_common()]


def named(titles: Collection[str]) -> str:
    """The first of the titles, and how many more there are."""
    listed = list(titles)
    more = [f"{len(listed) - NAMED_AT_MOST} more"] * (len(listed) > NAMED_AT_MOST)
    return " and ".join([*listed[:NAMED_AT_MOST], *more])
