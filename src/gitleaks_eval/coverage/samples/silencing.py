"""What each of the user's entries silences by itself: its witness is scanned with it, and without any."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitleaks_eval.config.tables import ALLOWLISTS
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import COMMIT, FILTER, OVERRIDE, PATH, Entry, builtin_entries
from gitleaks_eval.coverage.configuration.layers import Layers, Spot, without, without_allowlists
from gitleaks_eval.coverage.configuration.rules import effective
from gitleaks_eval.coverage.samples.entry_samples import (
    MANY,
    REPRESENTATIVES,
    VALUE_SAMPLES_AT_LEAST,
    VALUE_SAMPLES_AT_MOST,
    Witness,
    Witnesses,
)
from gitleaks_eval.coverage.samples.group_testing import by_number, hidden_alone
from gitleaks_eval.coverage.samples.hidden_values import Found, Ready, entries_about, ready_for
from gitleaks_eval.coverage.samples.repository import CANARY_PATH, canary_value, fired_by_sample, is_same
from gitleaks_eval.coverage.samples.samples import Sample, bench
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.coverage.samples.written_lines import Lines, line_samples, looks_at_lines, silenced_lines
from gitleaks_eval.repositories.cache import BuiltRepository

LIVE, DEAD, REDUNDANT, NO_WITNESS = "live", "dead", "redundant", "no_witness"
# With more entries than that, which of them are about the same sample costs more to foresee than to ask.
FORESEEN_AT_MOST = 1_500

ENTRIES_AT_MOST = 2_000
NOT_ASKED = f"only the first {ENTRIES_AT_MOST:,} entries are asked"
ORDINARY = -1

# The number of an entry (or ORDINARY), and that of one of its samples.
Item = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EntryResult:
    """What an entry silences by itself: `silences` of `of` rules, where its witness stands; `rules` names them.

    An entry of paths for all rules silences all of them at its witness, and `rules` is empty. `ordinary` are the
    rules that it silences where nobody thought of it: at a neutral path, with a usual value. `status` is one of
    live, dead (its witness is found with it), redundant (the scanner's own configuration hides its witness as well:
    `covered_by`), no_witness (`why`). `lines` has how many of each rule an entry silences that looks at lines.
    """

    entry: Entry
    status: str
    silences: int = 0
    of: int = 0
    rules: tuple[str, ...] = ()
    ordinary: tuple[str, ...] = ()
    covered_by: Entry | None = None
    why: str = ""
    lines: Lines = ()

    @property
    def lines_gone(self) -> int:
        """How many lines it silences."""
        return sum(gone for _, gone, _ in self.lines)

    @property
    def counts(self) -> dict[str, int]:
        """What its row says of rules, and of lines where that was asked."""
        lines = {"silences_lines": self.lines_gone, "of_lines": sum(of for _, _, of in self.lines)}
        return {"silences_rules": self.silences, **(lines if self.lines else {})}


def ask_entries(subject: EffectiveConfig, sample_scanner: SampleScanner) -> tuple[EntryResult, ...]:
    """Make a witness of each of the user's own entries, and ask the scanner what each silences by itself.

    Raises:
        EvaluationError: when a scan fails: then nothing is known of any entry.
    """
    entries = subject.entries
    if not entries:
        return ()
    asking = _asking(subject, sample_scanner, entries)
    witnesses = [
        asking.maker.of(entry) if number < ENTRIES_AT_MOST else Witness(entry, why=NOT_ASKED)
        for number, entry in enumerate(entries)
    ]
    items = {
        (number, index): one for number, witness in enumerate(witnesses) for index, one in enumerate(witness.samples)
    }
    items |= {(ORDINARY, index): one for index, one in enumerate(asking.maker.ordinary())}
    repository = sample_scanner.built(list(items.values()))
    unseen = asking.silent(repository, items, [])
    hidden = asking.hidden(repository, {item: sample for item, sample in items.items() if item not in unseen})
    known = {number for number, _ in hidden}
    covered = asking.covered(repository, {item: items[item] for item in unseen if item[0] not in known})
    ordinary: dict[Entry, list[str]] = {}
    for item in hidden:
        for entry in hidden[item] if item[0] == ORDINARY else ():
            ordinary.setdefault(entry, []).append(items[item].rule_id)
    lines = asking.lines()
    results = (
        asking.result(
            witness,
            {item[1]: witness.entry in hidden[item] for item in hidden if item[0] == number},
            {item[1] for item in covered if item[0] == number},
            tuple(sorted(ordinary.get(witness.entry, ()))),
        )
        for number, witness in enumerate(witnesses)
    )
    return tuple(replace(result, lines=lines.get(result.entry, ())) for result in results)


def hiders_of(
    subject: EffectiveConfig,
    places: Mapping[str, Found],
    hidden_with: Callable[[Layers], Collection[str]],
) -> dict[str, list[Entry]]:
    """Find which of the user's entries hide a place by themselves.

    Args:
        subject: whose entries.
        places: the hidden ones, each with what would be found there.
        hidden_with: scans the places with other layers, and returns the hidden ones.
    """
    entries = subject.entries
    ready = ready_for(entries)
    about = {name: entries_about(ready, found) for name, found in places.items()}
    return hidden_alone(entries, about, lambda kept: hidden_with(kept_only(subject, entries, kept)))


def kept_only(subject: EffectiveConfig, entries: Sequence[Entry], kept: Collection[Entry]) -> Layers:
    """The layers with all of these entries gone but those that are kept."""
    there = set(kept)
    gone = [entry for entry in entries if entry not in there]
    return without(subject.layers, [spot for entry in gone for spot in _spots(subject, entry, kept)])


def _spots(subject: EffectiveConfig, entry: Entry, kept: Collection[Entry]) -> list[Spot]:
    """What is taken out: a rule that replaces another as a whole, or all but the allowlists in it that are kept."""
    if entry.kind != OVERRIDE or not subject.dialect.merges:
        return [entry.spot]
    length = len(entry.address)
    if not any(one.layer == entry.layer and one.address[:length] == entry.address for one in kept):
        return [entry.spot]
    rule: Any = subject.layers[entry.layer].document
    for step in entry.address:
        rule = rule[step]
    return [(entry.layer, (*entry.address, key)) for key in rule if key.lower() not in {"id", *ALLOWLISTS}]


@dataclass(frozen=True, slots=True)
class _Asking:
    subject: EffectiveConfig
    sample_scanner: SampleScanner
    entries: Sequence[Entry]
    ready: Ready
    maker: Witnesses
    builtin: Ready

    def silent(self, repository: BuiltRepository, items: Mapping[Item, Sample], kept: Sequence[Entry]) -> set[Item]:
        """The items that are not found with these entries in force and no others of the user's."""
        layers = kept_only(self.subject, self.entries, kept)
        canary = canary_value(self.subject.seed)
        about = entries_about(self.ready, Found(CANARY_PATH, canary, canary, canary))
        hides_canary = bool(set(about) & set(kept))
        return _silent(items, self.sample_scanner.changed(repository, layers, canary_may_hide=hides_canary))

    def hidden(self, repository: BuiltRepository, items: Mapping[Item, Sample]) -> dict[Item, list[Entry]]:
        """The entries that hide each item by themselves."""

        def ask(kept: Sequence[Entry]) -> set[Item]:
            return self.silent(repository, items, kept)

        is_many = len(self.entries) > FORESEEN_AT_MOST
        about = {item: self._about(item, sample, is_many=is_many) for item, sample in items.items()}
        asked = [entry for entry in self.entries if entry.kind != COMMIT]
        return hidden_alone(asked, about, ask, by_number(asked) if is_many else None)

    def _about(self, item: Item, sample: Sample, *, is_many: bool) -> list[Entry]:
        own = None if item[0] == ORDINARY else self.entries[item[0]]
        if own and is_many:
            return [own]
        about = entries_about(self.ready, sample.found, sample.rule_id)
        return about if own is None or own in about else [own, *about]

    def covered(self, repository: BuiltRepository, items: Mapping[Item, Sample]) -> set[Item]:
        """The items that are found once the scanner's own allowlists are gone as well."""
        if not items:
            return set()
        layers = without_allowlists(kept_only(self.subject, self.entries, []))
        return items.keys() - _silent(items, self.sample_scanner.changed(repository, layers))

    def lines(self) -> dict[Entry, Lines]:
        """Which lines each entry silences that looks at lines; nothing is scanned where none does."""
        looking = [entry for entry in self.entries if looks_at_lines(entry)]
        listed = list(line_samples(self.maker.rules, self.maker.neutral)) if looking else []
        samples = [sample for of_names in listed for sample in of_names]
        if not samples:
            return {}
        repository = self.sample_scanner.built(samples)

        def found_with(kept: Sequence[Entry]) -> list[set[str]]:
            layers = kept_only(self.subject, self.entries, kept)
            return fired_by_sample(samples, self.sample_scanner.changed(repository, layers, canary_may_hide=bool(kept)))

        return silenced_lines(looking, listed, found_with)

    def result(
        self, witness: Witness, hides: Mapping[int, bool], covered: Collection[int], ordinary: tuple[str, ...]
    ) -> EntryResult:
        entry, samples = witness.entry, witness.samples
        if not samples:
            return EntryResult(entry, NO_WITNESS, ordinary=ordinary, why=witness.why)
        if not hides and covered:
            found = samples[min(covered)].found
            by = next((one for one, ready in self.builtin if ready and ready.hides(found)), None)
            return EntryResult(entry, REDUNDANT, covered_by=by)
        if not hides:
            return EntryResult(entry, NO_WITNESS, ordinary=ordinary, why="its witness is not found without it either")
        rules: dict[str, list[bool]] = {}
        for index, is_hidden in hides.items():
            rules.setdefault(samples[index].rule_id, []).append(is_hidden)
        # Of a rule that another replaces, some values may still be found: silent is what loses half of them.
        silenced = tuple(sorted(rule_id for rule_id, gone in rules.items() if sum(gone) * 2 >= len(gone)))
        if entry.kind == PATH and not entry.rule_ids:
            every = len(self.maker.rules)
            return EntryResult(entry, LIVE if silenced else DEAD, every if silenced else 0, every, (), ordinary)
        if entry.kind == PATH and silenced:
            # Where it matches, it is for all of its rules; the witness has samples of a few.
            silenced = tuple(sorted({rule.id for rule in self.maker.rules}.intersection(entry.rule_ids)))
            return EntryResult(entry, LIVE, len(silenced), len(silenced), silenced, ordinary)
        status = LIVE if silenced or entry.kind == OVERRIDE else DEAD
        return EntryResult(entry, status, len(silenced), len(rules), silenced, ordinary)


def rules_of_each(entries: Sequence[Entry]) -> int:
    """Return of how many rules each entry is asked at most with values that it is about: of many entries, of fewer."""
    valued = sum(entry.kind not in {PATH, COMMIT, FILTER} for entry in entries)
    return max(VALUE_SAMPLES_AT_LEAST, VALUE_SAMPLES_AT_MOST // max(1, valued))


def _asking(subject: EffectiveConfig, sample_scanner: SampleScanner, entries: Sequence[Entry]) -> _Asking:
    layers = kept_only(subject, entries, [])
    bare = effective(layers, subject.builtin, subject.dialect)
    of_each = rules_of_each(entries)
    at_paths = REPRESENTATIVES if len(entries) <= MANY else 1
    paths = [entry.allowlist for entry in entries if entry.allowlist and entry.kind == PATH]
    maker = Witnesses(
        bare.rules,
        bench(bare.rules, bare.allowlists, subject.seed),
        bench(bare.rules, [*bare.allowlists, *paths], subject.seed),
        of_each,
        at_paths,
    )
    own = builtin_entries(subject.layers, subject.dialect)
    return _Asking(subject, sample_scanner, entries, ready_for(entries), maker, ready_for(own))


def _silent(items: Mapping[Item, Sample], findings: Findings) -> set[Item]:
    found = fired_by_sample(list(items.values()), findings)
    return {
        item
        for (item, sample), ids in zip(items.items(), found, strict=True)
        if not any(is_same(sample.rule_id, rule_id) for rule_id in ids)
    }
