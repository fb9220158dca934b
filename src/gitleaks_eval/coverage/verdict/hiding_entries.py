"""What each of the user's entries hides in all, whether that is too much, and whether as much is accepted."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitleaks_eval.config.eval_file import FIRST_PROBES, PLACES, RULES, Acceptance
from gitleaks_eval.config.hiding import Entry as HidingEntry
from gitleaks_eval.core.text import few, numbered, shown_path
from gitleaks_eval.coverage.configuration.entries import DISABLED, FLAG, OVERRIDE, PATH, Entry
from gitleaks_eval.coverage.configuration.probes import FORMAT, PATHS_FOR_RULES, Growth, Hides, hold_against
from gitleaks_eval.coverage.configuration.shown import shown_text
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.places import Place
from gitleaks_eval.coverage.samples.silencing import DEAD, NO_WITNESS, REDUNDANT, EntryResult, rules_of_each
from gitleaks_eval.coverage.verdict.accepting import Accepted, may_match_more

# One part in so many of all rules, or of all places, may be hidden: more fails.
PART = 4
LISTED_AT_MOST = 3
_NOUNS = {PLACES: "place", RULES: "rule", FORMAT: "documented format"}


@dataclass(frozen=True, slots=True)
class Hiding:
    """What an entry hides: its result, its name, which probes of which family, and why it fails (empty: it does not).

    `places` are those that it hides by itself or together with others, `formats` the ids of documented formats, and
    `alone` has what it hides by itself. `said` is that as people read it; `is_wide` says that it hides more than one
    entry may. `accepted` is what accepts as much as it hides, `unmeasured` how much that does not speak of.
    """

    result: EntryResult
    name: str
    places: frozenset[Place]
    alone: Hides
    fails: str
    said: str
    is_wide: bool = False
    accepted: Acceptance | None = None
    unmeasured: int = 0
    formats: frozenset[str] = frozenset()

    @property
    def hides(self) -> bool:
        """Whether it hides something, as far as is known."""
        hides_probes = bool(self.places or self.formats or silenced_lines_text(self.result))
        return hides_probes or self.result.status not in {DEAD, REDUNDANT}

    @property
    def counts(self) -> bool:
        """Whether it hides something that is not accepted."""
        return self.hides and not self.accepted


@dataclass(frozen=True, slots=True)
class Measure:
    """What the entries of a configuration are measured by: how many rules and places there are, and what is accepted.

    `places` counts them by family. `formats` has the documented formats that each entry hides. The scanner finds
    `own_formats` by rules of their own: who switches off a rule that looks at names means the others. `own` are the ids
    of the user's own rules; `strict` fails every entry that is not accepted.
    """

    rules: int
    places: Mapping[str, int]
    own: frozenset[str]
    hidden: Hidden
    known: Accepted
    root: Path
    strict: bool
    formats: Mapping[Entry, frozenset[str]] = field(default_factory=dict)
    own_formats: frozenset[str] = frozenset()

    def all_of(self, entries: Sequence[EntryResult], names: Mapping[Entry, str]) -> list[Hiding]:
        """What each entry hides."""
        of_rules = rules_of_each([result.entry for result in entries])
        return [self._of(result, names[result.entry], of_rules) for result in entries]

    def is_too_much(self, part: int, whole: int) -> bool:
        """Whether so much is more than one entry, or all together, may hide."""
        return part * PART > whole

    def too_many(self, places: Collection[Place]) -> list[str]:
        """Return `80 of 188 places` where so many are more than may be hidden, else that of each family of which."""
        whole = sum(self.places.values())
        if self.is_too_much(len(places), whole):
            return [f"{len(places)} of {whole} places"]
        families = Counter(place.family for place in places)
        return [
            f"{count} of {self.places[family]} {family} places"
            for family, count in families.items()
            if self.is_too_much(count, self.places.get(family, 0))
        ]

    def many_formats(self, formats: Collection[str]) -> str:
        """Return `52 of 138 documented formats with their own rules` where so many may not be hidden, else nothing."""
        gone = self.own_formats.intersection(formats)
        if not self.is_too_much(len(gone), len(self.own_formats)):
            return ""
        return f"{len(gone)} of {len(self.own_formats)} documented formats with their own rules"

    def _of(self, result: EntryResult, name: str, of_rules: int) -> Hiding:
        entry = result.entry
        alone = self._places(entry, self.hidden.by)
        places = alone | self._places(entry, self.hidden.together)
        formats = self.formats.get(entry, frozenset())
        hides = _hides(result, alone, formats, min(of_rules, self.rules))
        acceptance = self.known.by.get(entry)
        held = hold_against(acceptance, hides, self.own) if acceptance else None
        if held and not held.grown:
            said = self._said(result, len(places), len(formats))
            hiding = Hiding(result, name, places, hides, "", said, formats=formats)
            return replace(hiding, accepted=acceptance, unmeasured=held.unmeasured)
        wide = [*self._too_much(result, places), *self._too_many_formats(entry, formats)]
        reasons = [*wide, *self._not_accepted(entry, hides)]
        said = self._said(result, len(places), len(formats), " and ".join(reasons))
        fails = f"{name} {said}" if reasons else ""
        return Hiding(result, name, places, hides, fails, said, bool(wide), formats=formats)

    def _places(self, entry: Entry, hidden: Mapping[HidingEntry, frozenset[Place]]) -> frozenset[Place]:
        found = (places for one, places in hidden.items() if (one.index, one.address) == entry.spot)
        return frozenset[Place]().union(*found)

    def _too_much(self, result: EntryResult, places: Collection[Place]) -> list[str]:
        """What an entry hides beyond what one may."""
        entry, silenced = result.entry, silenced_by(result)
        own = sorted(silenced & self.own)
        reasons = []
        if self.is_too_much(len(silenced), self.rules):
            reasons.append(f"{_does(entry)} {len(silenced)} of {self.rules} rules")
        if any(self.is_too_much(gone, of) for _, gone, of in result.lines):
            wide = list(dict.fromkeys(rule_id for rule_id, gone, of in result.lines if self.is_too_much(gone, of)))
            reasons.append(f"{silenced_lines_text(result)}, more than a quarter of {few(wide, LISTED_AT_MOST)}")
        reasons += [f"hides {many}" for many in self.too_many(places)]
        if own:
            reasons.append(f"{_does(entry)} {few(own, LISTED_AT_MOST)}, a rule of your own")
        return reasons

    def _too_many_formats(self, entry: Entry, formats: Collection[str]) -> list[str]:
        if entry.kind == OVERRIDE and formats:
            return [f"no longer finds {few(sorted(formats), LISTED_AT_MOST)}"]
        many = self.many_formats(formats)
        return [f"hides {many}"] * bool(many)

    def _not_accepted(self, entry: Entry, hides: Hides) -> list[str]:
        edited = self.known.instead.get(entry)
        before = self.known.by.get(entry) or edited
        grown = hold_against(before, hides, self.own).grown if before else ()
        if before and grown:
            return [self._wider(before, grown, is_same=edited is None)]
        if edited and may_match_more(entry, edited.entry):
            return [
                f"matches more than {acceptance_name(edited, self.root)} accepts for an entry that is no longer there"
            ]
        return ["is not accepted"] if self.strict else []

    def _wider(self, before: Acceptance, grown: Sequence[Growth], *, is_same: bool) -> str:
        """Why an acceptance no longer holds."""
        # Of all places and of a family the first says enough.
        named = [one for one in grown if one.family in _NOUNS] or grown
        more = [
            f"{numbered(one.now, _NOUNS.get(one.family, f'{one.family} place'))} where {one.accepted} "
            f"{'is' if one.accepted == 1 else 'are'} accepted"
            for one in named
        ]
        instead = "" if is_same else " for an entry that is no longer there"
        return f"hides more than {acceptance_name(before, self.root)} accepts{instead}: {' and '.join(more)}"

    def _said(self, result: EntryResult, places: int, formats: int, reason: str = "") -> str:
        entry = result.entry
        said = reason or _measured(result, places, sum(self.places.values()), formats)
        if entry.kind == FLAG:
            return said
        title = f"{entry.place} {shown_text(entry)}" if entry.kind != DISABLED else entry.place
        return f"{title}: {said}"


def silenced_lines_text(result: EntryResult) -> str:
    """Return `silences 15 of 120 lines`; empty where it silences none."""
    gone, of = sum(line[1] for line in result.lines), sum(line[2] for line in result.lines)
    return f"silences {gone} of {of} lines" if gone else ""


def silenced_by(result: EntryResult) -> frozenset[str]:
    """The rules that an entry silences by itself; a rule that says what it does not find is meant to."""
    entry = result.entry
    is_in_rule = str(entry.address[0]).lower() == "rules" if entry.address else False
    return frozenset(result.ordinary) - frozenset(entry.rule_ids if is_in_rule else ())


def acceptance_name(acceptance: Acceptance, root: Path) -> str:
    """`.gitleaks-eval.yaml:12` for an acceptance."""
    return f"{shown_path(acceptance.path, root)}:{acceptance.line}"


def stale_text(acceptance: Acceptance, root: Path) -> str:
    """What is said of an acceptance of something that is not there."""
    return f"{acceptance_name(acceptance, root)} accepts an entry that is no longer there; delete the line"


def _hides(result: EntryResult, alone: Collection[Place], formats: Collection[str], of_rules: int) -> Hides:
    families: dict[str, list[str]] = {FORMAT: [f"{FORMAT}:{name}" for name in sorted(formats)]} if formats else {}
    for place in alone:
        families.setdefault(place.family, []).append(place.title)
    # Of a rule that is replaced or switched off it is meant; of others only where nobody thought of it.
    entry = result.entry
    usual = frozenset(result.ordinary).union(result.rules if entry.kind in {DISABLED, OVERRIDE} else ())
    # Without a witness it is taken to silence the rules that it is for.
    rules = usual.union(entry.rule_ids if result.status == NO_WITNESS else result.rules)
    for_all = entry.kind == PATH and not entry.rule_ids and result.status != DEAD
    since = PATHS_FOR_RULES if entry.kind == PATH and entry.rule_ids else FIRST_PROBES
    return Hides(families, rules, usual, of_rules, for_all, since)


def _measured(result: EntryResult, places: int, of: int, formats: int) -> str:
    lines = silenced_lines_text(result)
    if result.status == REDUNDANT and not lines and not formats:
        return "redundant: the scanner's own configuration hides the same"
    if result.status == DEAD and not places and not lines and not formats:
        return "dead: it hides nothing"
    parts = [f"hides {places} of {of} places"] * bool(places) + [lines] * bool(lines)
    parts += [f"hides {numbered(formats, 'documented format')}"] * bool(formats)
    if result.entry.kind == PATH and not result.rules and result.silences:
        # At a path that is allowed all rules are silent: that says nothing of how wide it is.
        return (
            " and ".join(parts)
            or f"hides no usual place; silences {numbered(result.silences, 'rule')} where it matches"
        )
    if result.silences:
        where = "where it matches" if result.entry.kind == PATH else "of those that can hold it"
        said = f"{_does(result.entry)} {result.silences} of {result.of} rules"
        parts.append(said if result.entry.kind == DISABLED else f"{said} {where}")
    return " and ".join(parts) or f"not measured: {result.why or 'no witness'}"


def _does(entry: Entry) -> str:
    return "switches off" if entry.kind == DISABLED else "silences"
