"""The judgement of a survey: which rules, places and entries fail, one sentence of numbers, and the rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.eval_file import Acceptance, Beside, is_of_build
from gitleaks_eval.core.text import numbered, shown_path
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import COMMIT, DISABLED, FLAG, OVERRIDE, Entry
from gitleaks_eval.coverage.configuration.layers import Spot, is_builtin
from gitleaks_eval.coverage.configuration.lines import entry_lines
from gitleaks_eval.coverage.configuration.probes import offered
from gitleaks_eval.coverage.configuration.shown import shown_text
from gitleaks_eval.coverage.families.formats import GENERIC, HIDDEN, NOT_FOUND, FormatResult, sentence
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.map import Placed, PlacesMap, accepted, as_rows
from gitleaks_eval.coverage.places.unseen import unseen_of
from gitleaks_eval.coverage.result import (
    ACCEPTANCE,
    ACCEPTED,
    ALLOWLISTED,
    ENTRY,
    FAILS,
    FORMAT,
    MISSING,
    NOT_APPLICABLE,
    NOT_ASKED,
    NOT_SCANNED,
    OWN_RULES,
    PASSES,
    PLACE,
    RULE,
    SEEN,
    TOGETHER,
    Coverage,
    Verdict,
    key,
)
from gitleaks_eval.coverage.rules.firing import ALLOWLISTED as RULE_ALLOWLISTED
from gitleaks_eval.coverage.rules.firing import FIRES, NEVER_FIRES, NOT_SAMPLED, REPORTED_AS, Firing, RuleResult
from gitleaks_eval.coverage.rules.standing import standing_of
from gitleaks_eval.coverage.samples.silencing import DEAD, REDUNDANT, EntryResult
from gitleaks_eval.coverage.verdict.accepting import Accepted, accepted_entries, entry_text
from gitleaks_eval.coverage.verdict.hiding_entries import Hiding, Measure, acceptance_name, silenced_by, stale_text
from gitleaks_eval.coverage.verdict.summary import UNKNOWN, Tested, blame

# Of an entry's text the sentence of numbers shows so much: it names two of them, and stands on the first screen.
SAID_AT_MOST = 32
# So many of the entries that hide no usual place and no line have a line on the first screen.
OTHERS_AT_MOST = 5


def entry_names(entries: Iterable[Entry], configuration: Configuration, root: Path) -> dict[Entry, str]:
    """`my.toml:4` for each entry, and `my.toml:4#2` for the second of that line."""
    listed = list(entries)
    lines = entry_lines(listed, configuration)
    seen: Counter[str] = Counter()
    names = {}
    for entry in listed:
        name = f"{shown_path(entry.file, root) if entry.file else 'builtin'}:{lines.get(entry, 1)}"
        if entry.kind == FLAG:
            name = entry.text
        seen[name] += 1
        names[entry] = name if seen[name] == 1 else f"{name}#{seen[name]}"
    return names


def coverage_of(  # noqa: PLR0913 - what it judges, each under its name
    subject: EffectiveConfig,
    firing: Firing,
    places: PlacesMap,
    entries: Sequence[EntryResult],
    root: Path,
    *,
    besides: Sequence[Beside] = (),
    strict: bool = False,
    hidden: Hidden | None = None,
    flags: Sequence[Entry] = (),
    formats: Sequence[FormatResult] = (),
) -> Coverage:
    """Judge a survey.

    Args:
        subject: the configuration under test, and who reads it.
        firing: which rules fire.
        places: which usual places are seen.
        entries: what each of the user's own entries silences.
        root: the folder that shown paths are relative to.
        besides: what stands beside the files of the configuration, acceptances among it.
        strict: whether an entry that is not accepted fails, and what may be deleted.
        hidden: what each entry hides of the places with the usual values; as in `places`, unless it is given.
        flags: those of the scanner that are among `entries`.
        formats: what became of documented formats of tokens.
    """
    known = accepted_entries(subject, besides, flags)
    judging = _Judging(
        subject, firing, places, entries, root, known=known, strict=strict, hidden=hidden, formats=formats
    )
    return judging.coverage()


class _Judging:
    def __init__(  # noqa: PLR0913 - as `coverage_of`
        self,
        subject: EffectiveConfig,
        firing: Firing,
        places: PlacesMap,
        entries: Sequence[EntryResult],
        root: Path,
        *,
        known: Accepted,
        strict: bool,
        hidden: Hidden | None,
        formats: Sequence[FormatResult],
    ) -> None:
        self.formats = formats
        self.root = root
        self.known = known
        self.strict = strict
        self.seed = subject.seed
        self.layers = subject.layers
        self.scanner = subject.dialect.scanner
        self.dialect = subject.dialect
        self.firing = firing
        tested = Tested(firing, places, (), self.scanner, root)
        own = frozenset(rule.rule_id for rule in firing.rules if rule.own)
        counts = tested.rule_count, tested.places_by_family
        hidden = hidden or places.hidden
        found = (one for one in formats if one.rule_id and one.rule_id not in GENERIC)
        of_formats = (self._formats_by_entry(), frozenset(one.format.id for one in found))
        self.measure = Measure(*counts, own, hidden, known, root, strict, *of_formats)
        names = entry_names((one.entry for one in entries), subject.configuration, root)
        self.hiding = self.measure.all_of(entries, names)
        self.by_spot = {one.result.entry.spot: one for one in self.hiding}
        self.accepted = {one.result.entry for one in self.hiding if one.accepted}
        spots = {entry.spot for entry in self.accepted}
        blamed = {entry for one in places.placed for entry in one.hidden_by if (entry.index, entry.address) in spots}
        self.places = accepted(places, blamed)
        self.standing = standing_of(subject, firing, self.accepted, known.others, root)
        self.unseen = unseen_of(places, subject.dialect, known.others)
        titles = _titles(names)
        as_own = self.standing.sentence
        self.tested = replace(tested, places=self.places, accepted=self.accepted, titles=titles, as_own=as_own)
        self.together = self._together()

    def coverage(self) -> Coverage:
        verdicts = {
            **{key(RULE, rule.rule_id): self._rule(rule) for rule in self.firing.rules},
            **{key(PLACE, one.place.title): self._place(one) for one in self.places.placed},
            **{key(FORMAT, one.format.id): self._format(one) for one in self.formats},
            **{key(ENTRY, one.name): self._entry(one) for one in self.hiding},
            key(OWN_RULES, self.scanner): Verdict(FAILS if self.standing.fails else PASSES, self.standing.fails),
            key(TOGETHER, "all"): Verdict(FAILS, self.together) if self.together else Verdict(PASSES),
            **{key(ACCEPTANCE, acceptance_name(one, self.root)): self._stale(one) for one in self.known.stale},
        }
        hiding = [one for one in self.hiding if one.counts]
        missing = any(one.status in {ALLOWLISTED, MISSING} for one in self.places.placed) or self._lacks_rules()
        silent = sum(not self._is_answered(rule) for rule in self.firing.rules)
        return Coverage(
            seed=self.seed,
            rules=[self._rule_row(rule) for rule in self.firing.rules],
            switched_off=[off.rule_id for off in self.firing.switched_off],
            places=as_rows(self.places, self.root),
            entries=[self._entry_row(one) for one in self.hiding],
            verdicts=verdicts,
            tested=self.tested.sentence(),
            hides=[*(f"{one.name} {one.said}" for one in hiding), *self._beside_entries(is_accepted=False)],
            hides_places=list(_named_first(hiding)),
            accepted=[
                *(f"{one.name} {one.said}{_unmeasured(one)}" for one in self.hiding if one.accepted and one.hides),
                *self._beside_entries(is_accepted=True),
            ],
            notices=[*self._notices()],
            offers=[*map(self._offer, self.hiding), *self.standing.offers, *self.unseen.offers],
            forgiven=[rule.rule_id for rule in self.firing.rules if self._is_forgiven(rule)],
            replaced=self.standing.replaced,
            lacks=sorted(self.standing.lacks),
            scanners_rules=self.standing.row,
            formats=[self._format_row(one) for one in self.formats],
            formats_said=sentence(self.formats),
            weak=[*self.standing.weak, *self.unseen.weak],
            whole=not any(one.hides for one in self.hiding)
            and not missing
            and not any(one.status == HIDDEN for one in self.formats)
            and not self.measure.is_too_much(silent, self.measure.rules),
        )

    def _lacks_rules(self) -> bool:
        """Whether a rule of the scanner's own is not in force, not found as its own, or never fires.

        That an entry switches it off may be accepted.
        """
        off = (
            one.entry not in self.accepted and one.rule_id not in self.standing.forgiven
            for one in self.firing.switched_off
        )
        silent = any(
            rule.status == NEVER_FIRES and rule.rule_id not in self.standing.forgiven for rule in self.firing.rules
        )
        return any(off) or silent or bool(self.standing.lost or self.standing.forgiven or self.standing.lacks)

    def _beside_entries(self, *, is_accepted: bool) -> list[str]:
        """What the configuration hides beside its entries: of the rules of a build it says nothing."""
        offers = (offer for offer in self.standing.offers if not is_of_build(offer["entry"]))
        return [f"{offer['name']} {offer['said']}" for offer in offers if offer["accepted"] == is_accepted]

    def _stale(self, acceptance: Acceptance) -> Verdict:
        return Verdict(FAILS if self.strict else PASSES, stale_text(acceptance, self.root))

    def _is_answered(self, rule: RuleResult) -> bool:
        """Whether a rule fires, or is silent for what is accepted alone."""
        return rule.status in {FIRES, REPORTED_AS} or self._is_forgiven(rule)

    def _is_forgiven(self, rule: RuleResult) -> bool:
        is_accepted = bool(rule.hidden_by) and self.accepted.issuperset(rule.hidden_by)
        return rule.status == RULE_ALLOWLISTED and is_accepted

    def _notices(self) -> Iterator[str]:
        """What may be deleted."""
        for one in self.hiding:
            is_idle = one.result.status in {DEAD, REDUNDANT} and not one.hides
            if is_idle and one.result.entry.kind != FLAG:
                also = f" and {acceptance_name(one.accepted, self.root)}" if one.accepted else ""
                by = one.result.covered_by
                covered = f", covered by {self._blame([by])} {shown_text(by)}" if by else ""
                yield f"{one.name} {one.said}{covered}; delete the line{also}"
        yield from (stale_text(one, self.root) for one in self.known.stale)

    def _together(self) -> str:
        rules = frozenset[str]().union(*(silenced_by(one.result) for one in self.hiding if not one.accepted))
        places = [one.place for one in self.places.placed if one.status == ALLOWLISTED]
        parts = []
        if self.measure.is_too_much(len(rules), self.measure.rules):
            parts.append(f"silence {len(rules)} of {self.measure.rules} rules")
        parts += [f"hide {many}" for many in self.measure.too_many(places)]
        # Where the scanner's own rules are not in force, no entry is why they find nothing: that is a test of its own.
        has_default = is_builtin(self.layers, len(self.layers) - 1)
        hidden = (one for one in self.formats if one.status == HIDDEN and (one.hidden_by or has_default))
        if many := self.measure.many_formats([one.format.id for one in hidden if not self._is_accepted(one)]):
            parts.append(f"hide {many}")
        return f"all entries together {' and '.join(parts)}" if parts else ""

    def _rule(self, rule: RuleResult) -> Verdict:
        if rule.rule_id in self.standing.lacks and self.standing.known:
            outcome = FAILS if self.standing.known.is_stated else NOT_APPLICABLE
            return Verdict(outcome, self.standing.never_fires(rule.rule_id))
        replaced = self.standing.said.get(rule.rule_id, "")
        verdict = self._by_itself(rule)
        if not replaced or verdict.outcome == FAILS:
            return verdict
        if rule.rule_id in self.standing.forgiven:
            return Verdict(PASSES, f"{replaced}, accepted")
        return Verdict(FAILS if self.standing.replaced_too_many else PASSES, replaced)

    def _by_itself(self, rule: RuleResult) -> Verdict:
        if rule.status == FIRES:
            return Verdict(PASSES)
        if rule.status == REPORTED_AS:
            note = f": {rule.reason}" if rule.reason else ""
            return Verdict(PASSES, f"reported as {rule.reported_as}{note}")
        if rule.status == NOT_SAMPLED or not rule.own:
            return Verdict(NOT_APPLICABLE, self._why_silent(rule))
        if rule.status == RULE_ALLOWLISTED and rule.hidden_by and all(_is_of(one, rule) for one in rule.hidden_by):
            return Verdict(PASSES, f"{rule.rule_id}: {self._why_silent(rule)}, its own")
        if self._is_answered(rule):
            return Verdict(PASSES, f"{rule.rule_id}: {self._why_silent(rule)}, accepted")
        return Verdict(FAILS, f"{rule.rule_id}: {self._why_silent(rule)}")

    def _why_silent(self, rule: RuleResult) -> str:
        if rule.status == RULE_ALLOWLISTED:
            return f"allowlisted by {self._blame(rule.hidden_by) or UNKNOWN}"
        if rule.status == NEVER_FIRES:
            why = f" ({rule.reason})" if rule.reason else ""
            return rule.instead or f"never fires: nothing made from its own regex is found{why}"
        return f"no sample: {rule.reason}"

    def _blame(self, entries: Iterable[Entry]) -> str:
        return blame(entries, self.root)

    def _place(self, placed: Placed) -> Verdict:
        title = placed.place.title
        if placed.status == SEEN:
            return Verdict(PASSES)
        if placed.status == MISSING:
            is_stated = self.unseen.known is not None and self.unseen.known.is_stated
            return Verdict(FAILS if is_stated else NOT_APPLICABLE, self.unseen.said(title))
        if placed.status == NOT_SCANNED:
            return Verdict(NOT_APPLICABLE, f"{self.scanner} itself never looks there")
        if placed.status == NOT_ASKED:
            return Verdict(NOT_APPLICABLE, "not asked: what is planted there cannot be, or no rule finds it")
        by = placed.blame(self.root) or UNKNOWN
        message = f"{title}: allowlisted by {by}" if placed.hidden_by else f"{title}: not seen: {by}"
        if placed.status == ACCEPTED:
            return Verdict(PASSES, f"{message}, accepted")
        blamed = [self.by_spot.get((one.index, one.address)) for one in placed.hidden_by]
        fails = any(one.is_wide for one in blamed if one) or (None in blamed and bool(self.together))
        if not blamed:
            # Nobody can accept what has no name.
            fails = bool(self.together)
        return Verdict(FAILS if fails else PASSES, message)

    def _formats_by_entry(self) -> dict[Entry, frozenset[str]]:
        pairs = [(entry, one.format.id) for one in self.formats for entry in one.hidden_by]
        return {entry: frozenset(name for by, name in pairs if by == entry) for entry, _ in pairs}

    def _is_accepted(self, result: FormatResult) -> bool:
        return bool(result.hidden_by) and self.accepted.issuperset(result.hidden_by)

    def _format(self, result: FormatResult) -> Verdict:
        if result.status == NOT_FOUND:
            return Verdict(NOT_APPLICABLE, f"{self.scanner} itself does not find it")
        if result.status != HIDDEN:
            return Verdict(PASSES)
        by = self._blame(result.hidden_by)
        message = f"{result.format.id}: " + (f"hidden by {by}" if by else "no rule in force finds it")
        if self._is_accepted(result):
            return Verdict(PASSES, f"{message}, accepted")
        wide = any(self.by_spot[entry.spot].is_wide for entry in result.hidden_by if entry.spot in self.by_spot)
        return Verdict(FAILS if wide or (not by and self.together) else PASSES, message)

    def _format_row(self, result: FormatResult) -> dict[str, Any]:
        one = result.format
        return {
            **{name: getattr(one, name) for name in ("id", "provider", "kind", "tier")},
            "status": result.status,
            "rule_id": result.rule_id,
            "hidden_by": self._blame(result.hidden_by) or None,
            **({"accepted": True} if self._is_accepted(result) else {}),
        }

    def _entry(self, hiding: Hiding) -> Verdict:
        said = f"{_unmeasured(hiding)}; accepted: {hiding.accepted.why}" if hiding.accepted else ""
        return Verdict(FAILS, hiding.fails) if hiding.fails else Verdict(PASSES, f"{hiding.name} {hiding.said}{said}")

    def _rule_row(self, rule: RuleResult) -> dict[str, Any]:
        return {
            "rule_id": rule.rule_id,
            "own": rule.own,
            "samples": rule.samples,
            "found": rule.found,
            "status": ACCEPTED if self._is_forgiven(rule) else rule.status,
            "reported_as": rule.reported_as,
            "hidden_by": self._blame(rule.hidden_by) or None,
            "reason": rule.reason or None,
        }

    def _entry_row(self, hiding: Hiding) -> dict[str, Any]:
        result = hiding.result
        file, _, line = hiding.name.partition("#")[0].rpartition(":")
        if result.entry.kind == FLAG:
            flags = [other.result.entry for other in self.hiding if other.result.entry.kind == FLAG]
            file, line = str(result.entry.file), str(flags.index(result.entry) + 1)
        return {
            "entry": shown_text(result.entry),
            "kind": result.entry.kind,
            "file": file,
            "line": int(line),
            **(
                {"for_rules": sorted(result.entry.rule_ids)} if result.entry.allowlist and result.entry.rule_ids else {}
            ),
            **result.counts,
            "hides_places": len(hiding.places),
            "status": "accepted" if hiding.accepted else result.status,
            "why": hiding.accepted.why if hiding.accepted else result.why or self._covered(result),
        }

    def _offer(self, hiding: Hiding) -> dict[str, Any]:
        """What an acceptance of this entry says, and which file of the chain it is beside."""
        entry = hiding.result.entry
        return {
            "entry": entry_text(entry, self.layers),
            "layer": entry.layer,
            "name": hiding.name,
            "said": hiding.said,
            **offered(hiding.alone, self.dialect, hiding.accepted, self.measure.own),
        }

    def _covered(self, result: EntryResult) -> str | None:
        return f"covered by {self._blame([result.covered_by])}" if result.covered_by else None


def _named_first(hiding: Iterable[Hiding]) -> Iterator[str]:
    """Yield a line for each entry that hides something planted, most first, then for a few of the others.

    The sentence of numbers names the rules that are switched off and those that are replaced.
    """
    named = [one for one in hiding if one.result.entry.kind not in {DISABLED, OVERRIDE, COMMIT}]
    measured = [
        one for one in named if one.places or one.formats or one.result.lines_gone or one.result.entry.kind == FLAG
    ]
    others = sorted((one for one in named if one not in measured), key=lambda one: -one.result.silences)
    for one in [*sorted(measured, key=lambda one: -len(one.places)), *others[:OTHERS_AT_MOST]]:
        yield f"{one.name} {one.said}"
    if commits := [one for one in hiding if one.result.entry.kind == COMMIT]:
        count = numbered(len(commits), "commit")
        yield f"{commits[0].name} commits: leaves out findings of {count}; what stands in them is not measured"
    if len(others) > OTHERS_AT_MOST:
        yield f"{len(others) - OTHERS_AT_MOST} more entries that hide no usual place; scorecard.md has them"


def _unmeasured(hiding: Hiding) -> str:
    """Say that an acceptance does not speak of all that its entry hides: probes were added since."""
    return (
        f" ({numbered(hiding.unmeasured, 'probe')} not yet measured for this acceptance)" if hiding.unmeasured else ""
    )


def _titles(names: Mapping[Entry, str]) -> dict[Spot, str]:
    """What people know of each entry of an allowlist: where it stands, and the begin of what it says."""
    said = {entry: shown_text(entry) for entry in names if entry.allowlist}
    return {
        entry.spot: f"{names[entry]} {text if len(text) <= SAID_AT_MOST else f'{text[:SAID_AT_MOST]}…'}"
        for entry, text in said.items()
    } | {entry.spot: entry.text for entry in names if entry.kind == FLAG}


def _is_of(entry: Entry, rule: RuleResult) -> bool:
    """Whether an entry stands in the rule itself, in a file of the user's."""
    in_rule = bool(entry.address) and str(entry.address[0]).lower() == "rules"
    return entry.file is not None and in_rule and entry.rule_ids == (rule.rule_id,)
