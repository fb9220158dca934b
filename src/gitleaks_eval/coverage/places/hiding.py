"""Which entries of a configuration hide usual places: found by scanning, with few scans for many entries.

Of few entries each is kept alone, all others removed. Of many each has a code of bits, half of them set, and for each
bit those that have it are kept: where a place is hidden by one entry, the scans in which it is hidden spell its code.
Entries of paths that match no hidden place are not asked at all.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import comb
from typing import Any

from gitleaks_eval.config.chain import Configuration, parsed
from gitleaks_eval.config.hiding import NOTHING_HIDES, Entry, entries, overriding, without
from gitleaks_eval.config.tables import Address, Table, items, tables, value_of
from gitleaks_eval.config.tables import place as title_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.places.places import Place
from gitleaks_eval.coverage.places.repository import paths_of
from gitleaks_eval.coverage.places.scan import Look, Sight
from gitleaks_eval.regex.analyse import matcher

SCANS_AT_MOST = 20
# Of more entries than that, codes take fewer scans.
ALONE_AT_MOST = 6
# Their files have further paths inside.
ARCHIVES = frozenset({"gzip", "zip", "docx", "targz"})
SEVERAL = "hidden by several of {count} entries"


@dataclass(frozen=True, slots=True)
class Hidden:
    """What each entry hides by itself, with all others removed, and what is to be said of the places it cannot name.

    `together` has the places that no entry hides by itself, at each entry without which they are seen. `is_whole`
    says whether each entry was asked alone; else a place that several entries hide may be missing at some.
    """

    by: Mapping[Entry, frozenset[Place]]
    notes: Mapping[Place, str]
    is_whole: bool
    together: Mapping[Entry, frozenset[Place]] = field(default_factory=dict)

    def entries_of(self, place: Place) -> tuple[Entry, ...]:
        """The entries that hide a place, by themselves or together, in the order of the files."""
        return tuple(
            entry for hiding in (self.by, self.together) for entry, places in hiding.items() if place in places
        )


def merged(first: Hidden, second: Hidden) -> Hidden:
    """Return what two searches have found, for entries of the configuration or flags."""
    return Hidden(
        {
            entry: first.by.get(entry, frozenset()) | second.by.get(entry, frozenset())
            for entry in {**first.by, **second.by}
        },
        {**first.notes, **second.notes},
        first.is_whole and second.is_whole,
        {**first.together, **second.together},
    )


def hidden_by(
    configuration: Configuration,
    lost: Sight,
    look: Look,
    scans_at_most: int = SCANS_AT_MOST,
    alone_at_most: int = ALONE_AT_MOST,
) -> Hidden:
    """Name the entries that hide places.

    Args:
        configuration: the one under test.
        lost: the places that it does not see and the scanner's own does, with the rules that reported them.
        look: scans with another configuration.
        scans_at_most: more are not made; what is not known by then says so.
        alone_at_most: of more entries than that, one is asked alone only where another may hide what it hides.
    """
    if not lost or not configuration.chain:
        return Hidden({}, dict.fromkeys(lost, NOTHING_HIDES), is_whole=True)
    search = _Search(configuration, look, scans_at_most, alone_at_most)
    try:
        search.run(lost)
    except EvaluationError as error:
        left = [place for place in lost if not search.named(place) and place not in search.notes]
        search.notes.update(dict.fromkeys(left, f"not known in full what hides it: {error}"))
    by = {entry: search.hides(entry) for entry in search.candidates}
    together = {entry: frozenset(places) for entry, places in search.together.items() if places}
    return Hidden({entry: places for entry, places in by.items() if places}, search.notes, search.is_whole, together)


@dataclass(slots=True)
class _Search:
    configuration: Configuration
    look: Look
    left: int
    alone_at_most: int = ALONE_AT_MOST
    all: list[Entry] = field(default_factory=list)
    candidates: list[Entry] = field(default_factory=list)
    by: dict[Entry, set[Place]] = field(default_factory=dict)
    together: dict[Entry, set[Place]] = field(default_factory=dict)
    notes: dict[Place, str] = field(default_factory=dict)
    is_whole: bool = True

    def named(self, place: Place) -> bool:
        return any(place in places for hiding in (self.by, self.together) for places in hiding.values())

    def hides(self, entry: Entry) -> frozenset[Place]:
        """What it hides; a rule that takes another's place is kept with its entries, and hides what it hides."""
        above = (
            places
            for other, places in self.by.items()
            if other != entry and other.index == entry.index and _is_within(entry.address, other.address)
        )
        return frozenset(self.by.get(entry, ())).difference(*above)

    def run(self, lost: Sight) -> None:
        rules = frozenset().union(*lost.values())
        self.all = hiding_of(self.configuration, rules)
        bare = self.sight(keeping=())
        back = lost.keys() & bare.keys()
        self.notes.update(dict.fromkeys(lost.keys() - back, NOTHING_HIDES))
        reporting = rules.union(*(bare[place] for place in back))
        documents = [parsed(file) for file in self.configuration.chain]
        self.candidates = [
            entry
            for entry in self.all
            if _may_hide(documents[entry.index], entry, reporting)
            and not _is_elsewhere(documents[entry.index], entry, back)
        ]
        if len(self.candidates) <= min(self.alone_at_most, self.left):
            for entry in self.candidates:
                self.ask(entry, back)
        else:
            self.is_whole = False
            self.spell(back)
        self.ask_together([place for place in back if not self.named(place)])
        for place in back:
            if not self.named(place):
                self.notes[place] = SEVERAL.format(count=len(self.candidates))

    def sight(self, keeping: Collection[Entry]) -> Sight:
        """What is seen with only these entries."""
        if not self.left:
            raise EvaluationError("the limit of scans is reached")
        self.left -= 1
        # A rule cannot be removed around an entry that stands in it.
        kept = {(entry.index, entry.address[:depth]) for entry in keeping for depth in range(1, len(entry.address) + 1)}
        removed = [entry for entry in self.all if (entry.index, entry.address) not in kept]
        return self.look(without(self.configuration, removed))

    def ask(self, entry: Entry, back: Collection[Place]) -> None:
        seen = self.sight([entry])
        self.by[entry] = {place for place in back if place not in seen}

    def ask_together(self, unnamed: Collection[Place]) -> None:
        """Ask without each entry: two rules may find one secret, and it takes two entries to hide it."""
        if not unnamed or len(self.candidates) > self.left:
            return
        for entry in self.candidates:
            seen = self.sight([other for other in self.candidates if other != entry])
            self.together[entry] = {place for place in unnamed if place in seen}

    def spell(self, back: Collection[Place]) -> None:
        """Find entries by the codes that hidden places spell, and ask some alone where several hide one place."""
        codes = _codes(self.candidates)
        spelt = dict.fromkeys(back, 0)
        for bit in range(max(codes.values()).bit_length()):
            seen = self.sight([entry for entry in self.candidates if codes[entry] >> bit & 1])
            for place in back:
                spelt[place] |= (place not in seen) << bit
        entry_of = {code: entry for entry, code in codes.items()}
        for place, code in spelt.items():
            if code in entry_of:
                self.by.setdefault(entry_of[code], set()).add(place)
        possible = {
            place: [entry for entry in self.candidates if codes[entry] | code == code]
            for place, code in spelt.items()
            if code not in entry_of
        }
        asked: set[Entry] = set()
        while self.left and (entry := self.likeliest(possible, asked)):
            asked.add(entry)
            self.ask(entry, back)

    def likeliest(self, possible: Mapping[Place, Collection[Entry]], asked: Collection[Entry]) -> Entry | None:
        """Whom to ask next: who may hide most of what has no name yet, at last who may hide more than is known."""
        counts = Counter(
            entry
            for place, found in possible.items()
            for entry in found
            if entry not in asked and (entry in self.by or not self.named(place))
        )
        unnamed = {entry for place, found in possible.items() if not self.named(place) for entry in found}
        # One that hides other places by itself is the likelier one.
        return max(counts, key=lambda entry: (entry in unnamed, entry in self.by, counts[entry]), default=None)


def _codes(candidates: list[Entry]) -> dict[Entry, int]:
    """A number for each entry, with as many bits set as all others have: together, two of them spell none."""
    width = next(width for width in range(2, 99) if comb(width, width // 2) >= len(candidates))
    numbers = (sum(1 << bit for bit in bits) for bits in combinations(range(width), width // 2))
    return dict(zip(candidates, islice(numbers, len(candidates)), strict=True))


def _is_within(address: Address, above: Address) -> bool:
    return address[: len(above)] == above


def hiding_of(configuration: Configuration, rules: Collection[str]) -> list[Entry]:
    """What can hide findings of these rules: each entry, the `disabledRules` of a file as one, and overriding rules."""
    found = dict.fromkeys(_whole(entry) for entry in entries(configuration))
    return [*found, *overriding(configuration, set(rules))]


def _whole(entry: Entry) -> Entry:
    """The entry, or the whole list where it is one of `disabledRules`: two rules may find the same secret."""
    *above, last = entry.address
    if not above or not isinstance(last, int) or str(above[-1]).lower() != "disabledrules":
        return entry
    return Entry(entry.file, title_of(tuple(above)), entry.index, tuple(above))


def _is_elsewhere(document: Table, entry: Entry, places: Collection[Place]) -> bool:
    """Whether an entry is a path that, as far as is foreseen, is that of none of these places."""
    if len(entry.address) < 2 or str(entry.address[-2]).lower() != "paths":
        return False
    said: Any = document
    for step in entry.address:
        said = said[step]
    matches = matcher(str(said))
    if matches is None or any(place.generator in ARCHIVES for place in places):
        return False
    return not any(matches(path) for place in places for path in paths_of(place))


def _may_hide(document: Table, entry: Entry, rules: Collection[str]) -> bool:
    """Whether an entry can hide what these rules report: one of another rule cannot."""
    for address, rule in tables(document, "rules"):
        if _is_within(entry.address, address):
            return value_of(rule, "id") in rules
    for address, extend in tables(document, "extend"):
        switched_off = [(below, identity) for below, identity in items(extend, "disabledrules")]
        if any(_is_within((*address, *below), entry.address) for below, _ in switched_off):
            return any(identity in rules for _, identity in switched_off)
    return True
