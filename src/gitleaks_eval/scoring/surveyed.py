"""Which rules fire, which places are seen and what entries hide, of one candidate against another. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitleaks_eval.config.eval_file import Upgrade
from gitleaks_eval.core.text import few, numbered

FOUND = frozenset({"fires", "reported_as"})
SEEN = "seen"
NOT_ASKED, NEVER_FIRES, ACCEPTED = "not_asked", "never_fires", "accepted"
# An entry that may hide something, as far as is known; one that was accepted is no news.
HIDES = frozenset({"live", "no_witness"})
SWITCHES_OFF, REPLACES, BY_PATH = "disabled", "override", "path"
FORMAT, UNFOUND = "format", frozenset({"not_found", "hidden"})
NAMED_AT_MOST = 3
# How the places of a family are called where another build does not look there, and where it alone does.
_FAMILIES = {
    "path": ("path{s} that {name} skips", "path{s} that only {name} scans"),
    "form": ("form{s} of text that {name} does not read", "form{s} of text that only {name} reads"),
    "format": ("documented format{s} that {name} does not find", "documented format{s} that only {name} finds"),
    "git": ("corner{s} of git that {name} does not see", "corner{s} of git that only {name} sees"),
}


_NO_PLACE = "hides no usual place"


@dataclass(frozen=True, slots=True)
class Hiding:
    """An entry of a configuration: its kind and text, `file:line`, and how many rules and places it hides.

    `for_rules` are the rules that an allowlist is for; empty where it is for all.
    """

    kind: str
    text: str
    where: str
    rules: int
    places: int
    status: str
    for_rules: frozenset[str] = frozenset()

    @property
    def said(self) -> str:
        """`evil.toml:3 disabledRules: switches off 216 rules`, as people read it."""
        does, title = (
            ("switches off", self.text) if self.kind == SWITCHES_OFF else ("hides", f"{self.kind} {self.text}")
        )
        # At a path that is allowed all rules are silent: that says nothing of how wide it is.
        counts = ((0 if self.kind == BY_PATH else self.rules, "rule"), (self.places, "place"))
        parts = [numbered(count, name) for count, name in counts if count]
        of_rules = f" from {numbered(self.rules, 'rule')}" if self.kind == BY_PATH and self.for_rules else ""
        nothing = "not measured"
        if self.kind == BY_PATH:
            where = f", and silences {numbered(self.rules, 'rule')} where it matches" if self.rules else ""
            nothing = f"{_NO_PLACE}{where}"
        return f"{self.where} {title}: {f'{does} ' + ' and '.join(parts) + of_rules if parts else nothing}"


def with_secrets(said: str, count: int, *, of_its_line: bool) -> str:
    """Add to what an entry hides how many expected secrets it, or all entries of its line, hide."""
    if not count:
        return said
    secrets = f"{'its line hides' if of_its_line else 'hides'} {numbered(count, 'expected secret')}"
    head, nothing, _ = said.partition(_NO_PLACE)
    return f"{head}{secrets}" if nothing else f"{said}; {secrets}"


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Of each rule whether it fires, of each place that was asked whether it is seen, and what each entry hides.

    `silent_own` are rules of the user's that never fire; `accepted_rules` and `accepted_places` are silent or not seen
    for accepted entries alone.
    """

    rules: Mapping[str, bool]
    places: Mapping[str, bool]
    entries: Sequence[Hiding] = ()
    silent_own: frozenset[str] = frozenset()
    accepted_rules: frozenset[str] = frozenset()
    accepted_places: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Moves:
    """What a candidate no longer finds and what it finds in addition: ids of rules, titles of places.

    `entries_wider` are those of its entries, as `file:line`, that are new or hide more than before, and `widened` the
    same as people read them. What is lost to accepted entries alone is in `rules_accepted` and `places_accepted`.
    `upgrades` say what people have accepted of what another build loses.
    """

    rules_lost: tuple[str, ...] = ()
    rules_gained: tuple[str, ...] = ()
    places_lost: tuple[str, ...] = ()
    places_gained: tuple[str, ...] = ()
    entries_wider: tuple[str, ...] = ()
    widened: tuple[str, ...] = ()
    rules_accepted: tuple[str, ...] = ()
    places_accepted: tuple[str, ...] = ()
    upgrades: tuple[Upgrade, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether anything is lost, or may be."""
        return bool(self.rules_lost or self.places_lost or self.entries_wider)

    def to_review(self) -> "Moves":
        """Return what of it nobody has accepted of another build."""
        rules = {name for upgrade in self.upgrades for name in upgrade.rules}
        places = {name for upgrade in self.upgrades for name in upgrade.places}
        return replace(
            self,
            rules_lost=tuple(name for name in self.rules_lost if name not in rules),
            places_lost=tuple(name for name in self.places_lost if name not in places),
            upgrades=(),
        )

    @property
    def ids(self) -> dict[str, list[str]]:
        """The lists of comparison.json."""
        names = ("rules_lost", "rules_gained", "places_lost", "places_gained", "entries_wider")
        return {name: list(getattr(self, name)) for name in names}

    def reasons(self) -> Iterator[str]:
        """Yield a line for each list that is not empty, of one build with two configurations; what is lost first."""
        named = (
            (self.rules_lost, "rule no longer fires", "rules no longer fire"),
            (self.places_lost, "place is no longer seen", "places are no longer seen"),
            (self.entries_wider, "entry is new or hides more", "entries are new or hide more"),
            (self.rules_gained, "more rule fires", "more rules fire"),
            (self.places_gained, "more place is seen", "more places are seen"),
        )
        for names, one, many in named:
            if names:
                yield f"{len(names)} {one if len(names) == 1 else many} ({few(names, NAMED_AT_MOST)})"
        yield from self._accepted()

    def grouped(self, candidate: str, at_most: int = NAMED_AT_MOST) -> Iterator[str]:
        """Yield the same of two builds: places by what they are, since nobody has asked for the difference.

        `at_most` is how many of each are named.
        """
        if self.upgrades:
            yield from self.to_review().grouped(candidate, at_most)
            yield from self._upgraded()
            return
        if self.rules_lost:
            lost = numbered(len(self.rules_lost), "rule")
            yield f"{lost} that {candidate} does not find ({few(self.rules_lost, at_most)})"
        yield from _by_family(self.places_lost, 0, candidate, at_most)
        if self.entries_wider:
            listed = few(self.entries_wider, at_most)
            hide = "1 entry hides" if len(self.entries_wider) == 1 else f"{len(self.entries_wider)} entries hide"
            yield f"{hide} more with {candidate} ({listed})"
        if self.rules_gained:
            fire = "1 more rule fires" if len(self.rules_gained) == 1 else f"{len(self.rules_gained)} more rules fire"
            yield f"{fire} ({few(self.rules_gained, at_most)})"
        yield from _by_family(self.places_gained, 1, candidate, at_most)
        yield from self._accepted()

    def _upgraded(self) -> Iterator[str]:
        left = self.to_review()
        lost = ((self.rules_lost, left.rules_lost, "rule"), (self.places_lost, left.places_lost, "place"))
        counts = ((len(all_of) - len(others), name) for all_of, others, name in lost)
        parts = [numbered(count, name) for count, name in counts if count]
        if parts:
            reasons = dict.fromkeys(upgrade.why for upgrade in self.upgrades)
            yield f"{' and '.join(parts)} less, accepted: {'; '.join(reasons)}"

    def _accepted(self) -> Iterator[str]:
        named = (("rule", self.rules_accepted), ("place", self.places_accepted))
        parts = [f"{numbered(len(names), name)} ({few(names, NAMED_AT_MOST)})" for name, names in named if names]
        if parts:
            yield f"{' and '.join(parts)} lost to accepted entries alone"


def surveyed_from(coverage: Mapping[str, Any] | None, forgiven: Collection[str] = ()) -> Surveyed | None:
    """Return what `coverage` of an evaluation report says; None where nothing was asked.

    `forgiven` are the rules that are known to be silent for accepted entries alone.
    """
    if coverage is None:
        return None
    rules = {row["rule_id"]: row["status"] in FOUND for row in coverage["rules"]}
    places = {
        f"{row['family']}:{row['case']}": row["status"] == SEEN
        for row in coverage["places"]
        if row["status"] != NOT_ASKED
    }
    formats = {f"{FORMAT}:{row['id']}": row for row in coverage.get("formats", ())}
    places |= {title: row["status"] not in UNFOUND for title, row in formats.items()}
    entries = tuple(
        Hiding(
            row["kind"],
            row["entry"],
            f"{row['file']}:{row['line']}",
            row["silences_rules"],
            row["hides_places"],
            row["status"],
            frozenset(row.get("for_rules", ())),
        )
        for row in coverage.get("entries", ())
    )
    silent = frozenset(row["rule_id"] for row in coverage["rules"] if row["status"] == NEVER_FIRES and row.get("own"))
    unseen = frozenset(f"{row['family']}:{row['case']}" for row in coverage["places"] if row["status"] == ACCEPTED)
    unseen |= {title for title, row in formats.items() if row.get("accepted")}
    silenced = (row["rule_id"] for row in coverage["rules"] if row["status"] == ACCEPTED)
    accepted = _accepted_rules(entries, coverage.get("switched_off", ())).union(forgiven, silenced)
    return Surveyed(rules, places, entries, silent, accepted, unseen)


def moves(
    before: Surveyed, after: Surveyed, silent: Collection[str] | None = None, accepted: Collection[str] = ()
) -> Moves:
    """Return what changes; a place that one of the two did not ask is left out.

    Args:
        before: the baseline.
        after: the candidate.
        silent: the rules of the baseline whose samples the candidate no longer finds. Where nobody asked, a rule is
            taken for lost that does not fire with samples of its own.
        accepted: those that it would find without its accepted entries.
    """
    lost = list(_only(before.rules, after.rules)) if silent is None else sorted({*silent, *accepted})
    forgiven = {*accepted, *after.accepted_rules}
    wider = [entry for entry in after.entries if entry.status in HIDES and _is_wider(entry, before, after)]
    return Moves(
        rules_lost=tuple(name for name in lost if name not in forgiven),
        rules_gained=tuple(_only(after.rules, before.rules)),
        places_lost=tuple(
            name
            for name in _only(before.places, after.places)
            if name in after.places and name not in after.accepted_places
        ),
        places_gained=tuple(name for name in _only(after.places, before.places) if name in before.places),
        entries_wider=tuple(dict.fromkeys(one.where for one in wider)),
        widened=tuple(one.said for one in sorted(wider, key=lambda one: (-one.places, -one.rules, one.where))),
        rules_accepted=tuple(name for name in lost if name in forgiven),
        places_accepted=tuple(
            name for name in after.places if name in after.accepted_places and before.places.get(name)
        ),
    )


def _accepted_rules(entries: Sequence[Hiding], switched_off: Collection[str]) -> frozenset[str]:
    replaced = {entry.text for entry in entries if entry.kind == REPLACES and entry.status == ACCEPTED}
    off = {entry.status for entry in entries if entry.kind == SWITCHES_OFF}
    return frozenset(replaced | (set(switched_off) if off == {ACCEPTED} else set()))


def _is_wider(hiding: Hiding, before: Surveyed, after: Surveyed) -> bool:
    """Return whether an entry is new, or hides more than those that say the same in the baseline.

    An entry of values may fit each rule that is new. An entry of paths silences every rule that it is for, and more
    rules of another build are no wider path.
    """
    known = [other for other in before.entries if (other.kind, other.text) == (hiding.kind, hiding.text)]
    if not known or hiding.places > max(other.places for other in known):
        return True
    if _is_for_more(hiding, known):
        return True
    rules = max(other.rules for other in known)
    if hiding.kind == BY_PATH:
        # Reports of earlier versions do not say for which rules an entry is. No build has twice the rules of another.
        return hiding.rules > rules and hiding.rules >= 2 * rules
    return hiding.rules > rules + max(0, len(after.rules) - len(before.rules))


def _is_for_more(hiding: Hiding, known: Sequence[Hiding]) -> bool:
    """Return whether an allowlist is for a rule that none of the known entries is for."""
    if not all(other.for_rules for other in known):
        return False
    return not hiding.for_rules or not hiding.for_rules <= frozenset[str]().union(*(one.for_rules for one in known))


def _by_family(titles: Collection[str], number: int, candidate: str, at_most: int) -> Iterator[str]:
    for family, texts in _FAMILIES.items():
        cases = [case for name, _, case in (title.partition(":") for title in titles) if name == family]
        if cases:
            text = texts[number].format(s="s" * (len(cases) != 1), name=candidate)
            yield f"{len(cases)} {text}: {few(cases, at_most)}"


def _only(one: Mapping[str, bool], other: Mapping[str, bool]) -> Iterator[str]:
    yield from (name for name, is_found in one.items() if is_found and not other.get(name, False))
