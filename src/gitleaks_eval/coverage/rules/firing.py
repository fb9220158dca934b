"""Which rules fire: samples of each are scanned with the configuration under test, and the silent ones asked again."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, islice

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import Entry, builtin_entries
from gitleaks_eval.coverage.configuration.layers import Layer, Layers, is_builtin, without, without_allowlists
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.rules.replaced import Originals, Replaced
from gitleaks_eval.coverage.samples.group_testing import hidden_alone
from gitleaks_eval.coverage.samples.hidden_values import entries_about, ready_for
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.repository import found_by_sample, instead_text, is_same, reported_instead
from gitleaks_eval.coverage.samples.samples import (
    Bench,
    Sample,
    bench,
    path_for,
    reason_for_silence,
    samples_or_reason,
    too_plain,
)
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.coverage.samples.written_lines import USUAL
from gitleaks_eval.regex.parse import LENGTH_AT_MOST
from gitleaks_eval.repositories.cache import BuiltRepository

FIRES, REPORTED_AS, ALLOWLISTED, NEVER_FIRES, NOT_SAMPLED = (
    "fires",
    "reported_as",
    "allowlisted",
    "never_fires",
    "not_sampled",
)
MORE_SAMPLES = 4
RULES_AT_MOST = 6_000
REGEX_CHARACTERS_AT_MOST = 1_000_000
TOO_MANY = f"only {RULES_AT_MOST:,} rules are asked, with {REGEX_CHARACTERS_AT_MOST:,} characters of regexes in all"
ASKED_ALONE_AT_MOST = 20
# So many lines stand before each sample of a file that many rules share.
BETWEEN = 30
ONLY_ALONE = "its secret is found in a file of its own, and not in a file with secrets of other rules"
NOT_ALONE = f"not asked alone: {ASKED_ALONE_AT_MOST} other silent rules were"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What became of a rule: its samples and how many were found under its own id or an alias of it.

    `hidden_by` are the entries of allowlists that hide its samples; one without a file is the scanner's own. `instead`
    says what a rule of the user's reports that is not its value.
    """

    rule_id: str
    own: bool
    samples: int
    found: int
    status: str
    reported_as: str | None = None
    hidden_by: tuple[Entry, ...] = ()
    reason: str = ""
    instead: str = ""


@dataclass(frozen=True, slots=True)
class OffRule:
    """A rule of the scanner's own that is not in force, and the entry that says so; None where nothing extends it."""

    rule_id: str
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class Firing:
    """All rules in force, in the order of ids, and those of the scanner's own that are not.

    `disbelieved` says why the scanner's own rules are not believed to be what was read from its program; `shown` has
    a sample of each rule that fires. `replaced` are the scanner's own that the configuration changes or leaves out.
    """

    rules: tuple[RuleResult, ...]
    switched_off: tuple[OffRule, ...]
    disbelieved: str = ""
    shown: Mapping[str, Sample] = field(default_factory=dict, repr=False)
    replaced: tuple[Replaced, ...] = ()


def ask_rules(subject: EffectiveConfig, sample_scanner: SampleScanner, *, believed: bool = False) -> Firing:
    """Make samples of every rule in force, and ask the scanner about them.

    Args:
        subject: whose rules.
        sample_scanner: what scans.
        believed: whether the rules read from this build have been compared before; it spares a scan.

    Raises:
        EvaluationError: when a scan fails: then nothing is known of any rule.
    """
    asking = _Asking(
        subject, sample_scanner, bench(subject.effective.rules, subject.effective.allowlists, subject.seed)
    )
    asking.first(believed=believed)
    asking.again()
    asking.without_allowlists()
    asking.alone()
    results = tuple(asking.result(rule) for rule in subject.effective.rules)
    return Firing(results, switched_off(subject), asking.disbelieved, asking.shown, asking.replaced)


def switched_off(subject: EffectiveConfig) -> tuple[OffRule, ...]:
    """The rules of the scanner's own that are not in force, each with the entry to blame."""
    disabling = {entry.spot: entry for entry in subject.entries}
    return tuple(
        OffRule(off.rule_id, None if off.layer is None else disabling.get((off.layer, off.address)))
        for off in subject.effective.switched_off
    )


@dataclass(slots=True)
class _Asking:
    """What is known so far, by the id of the rule."""

    subject: EffectiveConfig
    sample_scanner: SampleScanner
    bench: Bench
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    found: Counter[str] = field(default_factory=Counter)
    shown: dict[str, Sample] = field(default_factory=dict)
    others: dict[str, Counter[str]] = field(default_factory=dict)
    hidden_by: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    instead: dict[str, str] = field(default_factory=dict)
    disbelieved: str = ""
    only_alone: set[str] = field(default_factory=set)
    replaced: tuple[Replaced, ...] = ()
    names: Iterator[str] = field(default_factory=lambda: map(word, count()))

    def first(self, *, believed: bool) -> None:
        """One sample of each rule, scanned as it is; and whether the scanner's own rules are what we take them for."""
        mine_first = sorted(self.subject.effective.rules, key=lambda rule: not rule.own)
        lengths = (len(rule.regex) + len(rule.path) for rule in mine_first)
        read = list(accumulate(length if length <= LENGTH_AT_MOST else 0 for length in lengths))
        taken = min(RULES_AT_MOST, bisect_right(read, REGEX_CHARACTERS_AT_MOST))
        for rule in mine_first[taken:]:
            self.reasons[rule.id] = TOO_MANY
        self._make(mine_first[:taken], 1, 0)
        originals, mixed = Originals(self.subject, self.names), self._mixed()
        repository = self.sample_scanner.built([*self._all(self.samples), *originals.samples, *mixed])
        findings = self.sample_scanner.under_test(repository)
        self.disbelieved = "" if believed else self._disbelieved(repository, findings)
        for rule in self.subject.effective.rules if self.disbelieved else ():
            if is_builtin(self.subject.layers, rule.layer):
                self.reasons[rule.id] = self.disbelieved
                self.samples.pop(rule.id, None)
        self._count(self._all(self.samples), findings)
        there = self._ids_found(mixed, findings)
        self.only_alone = {one.rule_id for one in mixed if self.found[one.rule_id] and one.rule_id not in there}
        self.reasons.update(dict.fromkeys(self.only_alone, ONLY_ALONE))
        self.replaced = () if self.disbelieved else originals.asked(repository, findings, self.sample_scanner)

    def _mixed(self) -> list[Sample]:
        """Return the samples of usual rules once more, below each other in a file with many lines."""
        usual = (sample for rule_id in sorted(USUAL & self.samples.keys()) for sample in self.samples[rule_id])
        return [
            replace(one, path=self._path_of_mixed(one.rule_id), text="# settings\n" * BETWEEN + one.text)
            for one in usual
            if not one.is_alone
        ]

    def _path_of_mixed(self, rule_id: str) -> str:
        rule = self.bench.rules[rule_id]
        return path_for(rule, "mixed", self.bench.clear_for(rule))

    def again(self) -> None:
        """More samples of the rules that did not fire."""
        silent = [rule for rule in self._rules() if not self.found[rule.id] and rule.id not in self.instead]
        before = {rule.id: len(self.samples[rule.id]) for rule in silent}
        self._make(silent, MORE_SAMPLES, 1)
        fresh = [sample for rule in silent for sample in self.samples[rule.id][before[rule.id] :]]
        if fresh:
            self._count(fresh, self.sample_scanner.under_test(self.sample_scanner.built(fresh)))

    def without_allowlists(self) -> None:
        """What is silent, with no allowlist left; and which entry hides what is found then."""
        silent = self._silent()
        samples = self._all(silent)
        if not samples:
            return
        repository = self.sample_scanner.built(samples)
        bare = without_allowlists(self.subject.layers)
        found = self._ids_found(samples, self.sample_scanner.changed(repository, bare))
        hidden = [rule_id for rule_id in silent if rule_id in found]
        if hidden:
            self.hidden_by = {**dict.fromkeys(hidden, ()), **self._hiders(hidden, samples, repository)}

    def alone(self) -> None:
        """What is still silent, with no other rule beside it."""
        silent = [rule_id for rule_id in self._silent() if rule_id not in self.hidden_by]
        for rule_id in silent[ASKED_ALONE_AT_MOST:]:
            self.reasons[rule_id] = NOT_ALONE
        if not silent:
            return
        repository = self.sample_scanner.built(self._all(silent))
        for rule_id in silent[:ASKED_ALONE_AT_MOST]:
            self.reasons[rule_id] = self._alone(rule_id, repository)

    def result(self, rule: Rule) -> RuleResult:
        made, found = len(self.samples.get(rule.id, ())), self.found[rule.id]
        why = self.reasons.get(rule.id, "")
        others = self.others.get(rule.id)
        if not made:
            return RuleResult(rule.id, rule.own, 0, 0, NOT_SAMPLED, reason=why)
        if said := self.instead.get(rule.id, ""):
            return RuleResult(rule.id, rule.own, made, found, NEVER_FIRES, reason=said, instead=said)
        if found and rule.id not in self.only_alone:
            return RuleResult(rule.id, rule.own, made, found, FIRES)
        if others:
            name = min(others, key=lambda other: (-others[other], other))
            return RuleResult(rule.id, rule.own, made, 0, REPORTED_AS, name, reason=reason_for_silence(rule))
        if rule.id in self.hidden_by:
            return RuleResult(rule.id, rule.own, made, 0, ALLOWLISTED, hidden_by=self.hidden_by[rule.id])
        return self._silent_result(rule, made, why)

    def _silent_result(self, rule: Rule, made: int, why: str) -> RuleResult:
        shown = reason_for_silence(rule)
        if not shown and (plain := too_plain(self.samples[rule.id], rule)):
            return RuleResult(rule.id, rule.own, made, 0, NOT_SAMPLED, reason=plain)
        return RuleResult(rule.id, rule.own, made, 0, NEVER_FIRES, reason=shown or why)

    def _alone(self, rule_id: str, repository: BuiltRepository) -> str:
        try:
            findings = self.sample_scanner.changed(repository, _only(self.bench, self.bench.rules[rule_id]))
        except EvaluationError as error:
            return f"asked alone: {error}"
        found = rule_id in self._ids_found(self.samples[rule_id], findings)
        return "it is found only where it is the only rule" if found else ""

    def _rules(self) -> list[Rule]:
        return [rule for rule in self.subject.effective.rules if rule.id in self.samples]

    def _silent(self) -> list[str]:
        return [
            rule.id
            for rule in self._rules()
            if not self.found[rule.id] and not self.others.get(rule.id) and rule.id not in self.instead
        ]

    def _all(self, rule_ids: Iterable[str]) -> list[Sample]:
        return [sample for rule_id in rule_ids for sample in self.samples[rule_id]]

    def _make(self, rules: Sequence[Rule], how_many: int, first: int) -> None:
        for rule in rules:
            made = samples_or_reason(rule, self.bench, list(islice(self.names, how_many)), first)
            if isinstance(made, str):
                self.reasons.setdefault(rule.id, made)
            else:
                self.samples.setdefault(rule.id, []).extend(made)

    def _count(self, samples: Sequence[Sample], findings: Findings) -> None:
        for sample, found in zip(samples, found_by_sample(samples, findings), strict=True):
            is_own = any(is_same(sample.rule_id, rule_id) for rule_id in found)
            self.found[sample.rule_id] += is_own
            if is_own:
                self.shown.setdefault(sample.rule_id, sample)
            else:
                self.others.setdefault(sample.rule_id, Counter()).update(found)
        for sample, secrets in zip(samples, reported_instead(samples, findings), strict=True):
            rule = self.bench.rules[sample.rule_id]
            if secrets and rule.own:
                self.instead.setdefault(rule.id, instead_text(rule, sample, secrets))

    def _ids_found(self, samples: Sequence[Sample], findings: Findings) -> set[str]:
        return {
            sample.rule_id
            for sample, found in zip(samples, found_by_sample(samples, findings), strict=True)
            if any(is_same(sample.rule_id, rule_id) for rule_id in found)
        }

    def _disbelieved(self, repository: BuiltRepository, findings: Findings) -> str:
        """Why the scanner's own rules, as read, are not believed; empty when a scan with them finds the same."""
        if self.subject.builtin_problem:
            return self.subject.builtin_problem
        layers = self.subject.layers
        if not is_builtin(layers, len(layers) - 1):
            return ""
        copied: Layers = (*layers[:-1], Layer(None, layers[-1].document, changed=True))
        try:
            same = _findings(self.sample_scanner.changed(repository, copied, canary_may_hide=True)) == _findings(
                findings
            )
        except EvaluationError as error:
            return f"the scanner's own rules, read from its program, are not believed: {error}"
        return "" if same else "the scanner's own rules, read from its program, find other things than it finds itself"

    def _hiders(
        self, hidden: Sequence[str], samples: Sequence[Sample], repository: BuiltRepository
    ) -> dict[str, tuple[Entry, ...]]:
        """The entries that hide each rule, each by itself."""
        subject = self.subject
        entries = [
            entry
            for entry in (
                *subject.entries,
                *builtin_entries(subject.layers, subject.dialect),
            )
            if entry.allowlist
        ]
        ready = ready_for(entries)
        about = {
            rule_id: {one for sample in self.samples[rule_id] for one in entries_about(ready, sample.found, rule_id)}
            for rule_id in hidden
        }

        def silent_with(kept: Sequence[Entry]) -> set[str]:
            spots = {entry.spot for entry in entries} - {entry.spot for entry in kept}
            findings = self.sample_scanner.changed(repository, without(subject.layers, spots), canary_may_hide=True)
            return set(hidden) - self._ids_found(samples, findings)

        found = hidden_alone(entries, about, silent_with)
        return {rule_id: tuple(sorted(hiders, key=entries.index)) for rule_id, hiders in found.items()}


def _findings(findings: Findings) -> set[tuple[str, ...]]:
    names = ("RuleID", "File", "StartLine", "Secret")
    return {
        tuple(str(finding[name]) for name in names)
        for finding in findings
        if not str(finding["RuleID"]).startswith("gitleaks-eval-")
    }


def _only(on: Bench, rule: Rule) -> Layers:
    """One rule, with the rules that it needs, and no allowlist."""
    rules = [rule, *(on.rules[one] for one in rule.required if one in on.rules and one != rule.id)]
    return without_allowlists((Layer(None, {"rules": [dict(one.table) for one in rules]}, changed=True),))
