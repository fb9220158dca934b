"""The judgement of a survey: which rules, places and entries fail, one sentence of numbers, and the rows."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.core.text import few, shown_path
from gitleaks_eval.coverage.entries import DISABLED, PATH, Entry
from gitleaks_eval.coverage.firing import ALLOWLISTED as RULE_ALLOWLISTED
from gitleaks_eval.coverage.firing import FIRES, NEVER_FIRES, NOT_SAMPLED, REPORTED_AS, Firing, RuleResult
from gitleaks_eval.coverage.lines import entry_lines
from gitleaks_eval.coverage.places import Place
from gitleaks_eval.coverage.places_map import (
    ALLOWLISTED,
    NOT_ASKED,
    NOT_SCANNED,
    SEEN,
    Placed,
    PlacesMap,
    Status,
    as_rows,
)
from gitleaks_eval.coverage.result import (
    ENTRY,
    FAILS,
    NOT_APPLICABLE,
    PASSES,
    PLACE,
    RULE,
    TOGETHER,
    Coverage,
    Verdict,
    key,
)
from gitleaks_eval.coverage.shown import shown_text
from gitleaks_eval.coverage.silencing import DEAD, REDUNDANT, EntryResult
from gitleaks_eval.coverage.subject import Subject

# One part in so many of all rules, or of all places, may be hidden: more fails.
PART = 4
NAMED_AT_MOST = 2
LISTED_AT_MOST = 3


def entry_names(entries: Iterable[Entry], configuration: Configuration, root: Path) -> dict[Entry, str]:
    """`my.toml:4` for each entry, and `my.toml:4#2` for the second of that line."""
    listed = list(entries)
    lines = entry_lines(listed, configuration)
    seen: Counter[str] = Counter()
    names = {}
    for entry in listed:
        name = f"{shown_path(entry.file, root) if entry.file else 'builtin'}:{lines.get(entry, 1)}"
        seen[name] += 1
        names[entry] = name if seen[name] == 1 else f"{name}#{seen[name]}"
    return names


def coverage_of(
    subject: Subject, firing: Firing, places: PlacesMap, entries: Sequence[EntryResult], root: Path
) -> Coverage:
    """Judge a survey.

    Args:
        subject: the configuration under test, and who reads it.
        firing: which rules fire.
        places: which usual places are seen.
        entries: what each of the user's own entries silences.
        root: the folder that shown paths are relative to.
    """
    return _Judging(subject, firing, places, entries, root).coverage()


@dataclass(frozen=True, slots=True)
class _Hiding:
    """What an entry hides: its result, its name, how many places, and why that is too much (empty: it is not)."""

    result: EntryResult
    name: str
    places: frozenset[Place]
    too_much: str
    said: str

    @property
    def counts(self) -> bool:
        """Whether it hides something, as far as is known."""
        return bool(self.places) or self.result.status not in {DEAD, REDUNDANT}


class _Judging:
    def __init__(
        self, subject: Subject, firing: Firing, places: PlacesMap, entries: Sequence[EntryResult], root: Path
    ) -> None:
        self.root = root
        self.seed = subject.seed
        self.scanner = subject.dialect.scanner
        self.firing = firing
        self.places = places
        self.own = {rule.rule_id for rule in firing.rules if rule.own}
        self.switched_off = [off for off in firing.switched_off if off.entry]
        self.rule_count = len(firing.rules) + len(self.switched_off)
        self.place_count = sum(one.status in {SEEN, ALLOWLISTED} for one in places.placed)
        names = entry_names((one.entry for one in entries), subject.configuration, root)
        self.hiding = [self._hiding(result, names[result.entry]) for result in entries]
        self.by_spot = {one.result.entry.spot: one for one in self.hiding}
        self.together = self._together()

    def coverage(self) -> Coverage:
        verdicts = {
            **{key(RULE, rule.rule_id): self._rule(rule) for rule in self.firing.rules},
            **{key(PLACE, one.place.title): self._place(one) for one in self.places.placed},
            **{key(ENTRY, one.name): self._entry(one) for one in self.hiding},
            key(TOGETHER, "all"): Verdict(FAILS, self.together) if self.together else Verdict(PASSES),
        }
        hiding = [one for one in self.hiding if one.counts]
        missing = any(one.status == ALLOWLISTED for one in self.places.placed) or bool(self.firing.switched_off)
        silent = sum(rule.status not in {FIRES, REPORTED_AS} for rule in self.firing.rules)
        return Coverage(
            seed=self.seed,
            rules=[self._rule_row(rule) for rule in self.firing.rules],
            switched_off=[off.rule_id for off in self.firing.switched_off],
            places=as_rows(self.places, self.root),
            entries=[self._entry_row(one) for one in self.hiding],
            verdicts=verdicts,
            tested=self._tested(),
            hides=[f"{one.name} {one.said}" for one in hiding],
            whole=not hiding and not missing and not self._is_too_much(silent, self.rule_count),
        )

    def _hiding(self, result: EntryResult, name: str) -> _Hiding:
        entry, hidden = result.entry, self.places.hidden
        spot = entry.spot
        places = frozenset(
            place
            for hiding in (hidden.by, hidden.together)
            for one, found in hiding.items()
            if (one.index, one.address) == spot
            for place in found
        )
        silenced = self._silenced(result)
        own = sorted(silenced & self.own)
        reasons = []
        if self._is_too_much(len(silenced), self.rule_count):
            reasons.append(f"{_does(entry)} {len(silenced)} of {self.rule_count} rules")
        if self._is_too_much(len(places), self.place_count):
            reasons.append(f"hides {len(places)} of {self.place_count} places")
        if own:
            reasons.append(f"{_does(entry)} {few(own, LISTED_AT_MOST)}, a rule of your own")
        title = f"{entry.place} {shown_text(entry)}" if entry.kind != DISABLED else entry.place
        said = " and ".join(reasons) or _said(result, len(places), self.place_count)
        return _Hiding(result, name, places, f"{name} {title}: {said}" if reasons else "", f"{title}: {said}")

    def _silenced(self, result: EntryResult) -> frozenset[str]:
        """The rules that it silences by itself; a rule that says what it does not find is meant to."""
        entry = result.entry
        is_in_rule = str(entry.address[0]).lower() == "rules" if entry.address else False
        return frozenset(result.ordinary) - frozenset(entry.rule_ids if is_in_rule else ())

    def _together(self) -> str:
        rules = frozenset[str]().union(*(self._silenced(one.result) for one in self.hiding))
        places = sum(one.status == ALLOWLISTED for one in self.places.placed)
        parts = []
        if self._is_too_much(len(rules), self.rule_count):
            parts.append(f"silence {len(rules)} of {self.rule_count} rules")
        if self._is_too_much(places, self.place_count):
            parts.append(f"hide {places} of {self.place_count} places")
        return f"all entries together {' and '.join(parts)}" if parts else ""

    def _is_too_much(self, part: int, whole: int) -> bool:
        return part * PART > whole

    def _rule(self, rule: RuleResult) -> Verdict:
        if rule.status == FIRES:
            return Verdict(PASSES)
        if rule.status == REPORTED_AS:
            note = f": {rule.reason}" if rule.reason else ""
            return Verdict(PASSES, f"reported as {rule.reported_as}{note}")
        if rule.status == NOT_SAMPLED or not rule.own:
            return Verdict(NOT_APPLICABLE, self._why_silent(rule))
        if rule.status == RULE_ALLOWLISTED and rule.hidden_by and all(_is_of(one, rule) for one in rule.hidden_by):
            return Verdict(PASSES, f"{rule.rule_id}: {self._why_silent(rule)}, its own")
        return Verdict(FAILS, f"{rule.rule_id}: {self._why_silent(rule)}")

    def _why_silent(self, rule: RuleResult) -> str:
        if rule.status == RULE_ALLOWLISTED:
            return f"allowlisted by {self._blame(rule.hidden_by) or 'something that is not known'}"
        if rule.status == NEVER_FIRES:
            return f"never fires: nothing made from its own regex is found{f' ({rule.reason})' if rule.reason else ''}"
        return f"no sample: {rule.reason}"

    def _blame(self, entries: Iterable[Entry]) -> str:
        titles = [
            f"{shown_path(one.file, self.root)} {one.place}" if one.file else f"the scanner's own {one.place}"
            for one in entries
        ]
        return _named(titles)

    def _place(self, placed: Placed) -> Verdict:
        title = placed.place.title
        if placed.status == SEEN:
            return Verdict(PASSES)
        if placed.status == NOT_SCANNED:
            return Verdict(NOT_APPLICABLE, f"{self.scanner} itself never looks there")
        if placed.status == NOT_ASKED:
            return Verdict(NOT_APPLICABLE, "not asked: what is planted there cannot be, or no rule finds it")
        message = f"{title}: allowlisted by {placed.blame(self.root) or 'something that is not known'}"
        blamed = [self.by_spot.get((one.index, one.address)) for one in placed.hidden_by]
        fails = any(one.too_much for one in blamed if one) or (None in blamed and bool(self.together))
        if not blamed:
            # Nobody can accept what has no name.
            fails = bool(self.together)
        return Verdict(FAILS if fails else PASSES, message)

    def _entry(self, one: _Hiding) -> Verdict:
        return Verdict(FAILS, one.too_much) if one.too_much else Verdict(PASSES, f"{one.name} {one.said}")

    def _rule_row(self, rule: RuleResult) -> dict[str, Any]:
        return {
            "rule_id": rule.rule_id,
            "own": rule.own,
            "samples": rule.samples,
            "found": rule.found,
            "status": rule.status,
            "reported_as": rule.reported_as,
            "hidden_by": self._blame(rule.hidden_by) or None,
            "reason": rule.reason or None,
        }

    def _entry_row(self, one: _Hiding) -> dict[str, Any]:
        result = one.result
        file, line = one.name.partition("#")[0].rsplit(":", 1)
        return {
            "entry": shown_text(result.entry),
            "kind": result.entry.kind,
            "file": file,
            "line": int(line),
            "silences_rules": result.silences,
            "hides_places": len(one.places),
            "status": result.status,
            "why": one.result.why or (f"covered by {self._blame([by])}" if (by := result.covered_by) else None),
        }

    def _tested(self) -> str:
        rules = Counter(rule.status for rule in self.firing.rules)
        places = Counter(one.status for one in self.places.placed)
        firing = rules[FIRES] + rules[REPORTED_AS]
        about_rules = "; ".join(self._about_rules(rules))
        about_places = "; ".join(self._about_places(places))
        return (
            f"tested: {firing} of {self.rule_count} rules{f' ({about_rules})' * bool(about_rules)}, "
            f"{places[SEEN]} of {self.place_count} places{f' ({about_places})' * bool(about_places)}"
        )

    def _about_rules(self, counts: Mapping[str, int]) -> Iterator[str]:
        if self.switched_off:
            blame = self._blame(_most(off.entry for off in self.switched_off if off.entry))
            yield f"{len(self.switched_off)} switched off by {blame}"
        if others := len(self.firing.switched_off) - len(self.switched_off):
            yield f"{others} more of {self.scanner}'s own are not in force"
        if counts[RULE_ALLOWLISTED]:
            by = self._blame(_most(one for rule in self.firing.rules for one in rule.hidden_by))
            yield f"{counts[RULE_ALLOWLISTED]} allowlisted by {by or 'something that is not known'}"
        if counts[NEVER_FIRES]:
            yield f"{counts[NEVER_FIRES]} never fire: {self._ids(NEVER_FIRES)}"
        if counts[NOT_SAMPLED]:
            yield f"of {counts[NOT_SAMPLED]} no sample can be made: {self._ids(NOT_SAMPLED)}"

    def _ids(self, status: str) -> str:
        return few([rule.rule_id for rule in self.firing.rules if rule.status == status], LISTED_AT_MOST)

    def _about_places(self, counts: Mapping[Status, int]) -> Iterator[str]:
        if counts[ALLOWLISTED]:
            blame: Collection[str] = _most(
                entry.title(self.root) for one in self.places.placed for entry in one.hidden_by
            )
            yield f"{counts[ALLOWLISTED]} allowlisted by {_named(blame) or 'something that is not known'}"
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


def _said(result: EntryResult, places: int, of: int) -> str:
    if result.status == REDUNDANT:
        return "redundant: the scanner's own configuration hides the same"
    if result.status == DEAD and not places:
        return "dead: it hides nothing"
    parts = [f"hides {places} of {of} places"] * bool(places)
    if result.silences:
        where = "where its witness stands" if result.entry.kind == PATH else "of those that can hold it"
        said = f"{_does(result.entry)} {result.silences} of {result.of} rules"
        parts.append(said if result.entry.kind == DISABLED else f"{said} {where}")
    return " and ".join(parts) or f"not measured: {result.why or 'no witness'}"


def _does(entry: Entry) -> str:
    return "switches off" if entry.kind == DISABLED else "silences"


def _is_of(entry: Entry, rule: RuleResult) -> bool:
    """Whether an entry stands in the rule itself, in a file of the user's."""
    in_rule = bool(entry.address) and str(entry.address[0]).lower() == "rules"
    return entry.file is not None and in_rule and entry.rule_ids == (rule.rule_id,)


def _most(items: Iterable[Any]) -> list[Any]:
    """Each once, the most frequent first."""
    return [item for item, _ in Counter(items).most_common()]


def _named(titles: Collection[str]) -> str:
    listed = list(titles)
    more = [f"{len(listed) - NAMED_AT_MOST} more"] * (len(listed) > NAMED_AT_MOST)
    return " and ".join([*listed[:NAMED_AT_MOST], *more])
