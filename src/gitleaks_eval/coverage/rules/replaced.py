"""The scanner's own rules that a configuration replaces or leaves out, asked with samples of the scanner's own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.eval_file import SILENT
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.known import known_build
from gitleaks_eval.coverage.configuration.layers import layers_of
from gitleaks_eval.coverage.configuration.rules import Dialect, Effective, Rule, effective, same_rule
from gitleaks_eval.coverage.places.places import usual_places
from gitleaks_eval.coverage.places.unseen import unseen_text
from gitleaks_eval.coverage.samples.repository import found_by_sample, is_same
from gitleaks_eval.coverage.samples.samples import Sample, bench, samples_or_reason
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.repositories.cache import BuiltRepository

# Half of them take the first of each choice of the regex, half of them any.
SAMPLES = 8
# Where so many rules are replaced, half as many samples of each.
MANY = 50
# These are only to say who reports what a rule that is left out would.
SAMPLES_OF_ABSENT = 2
# A rule may lose one part in so many of its samples.
PART = 4


@dataclass(frozen=True, slots=True)
class Replaced:
    """A rule of the scanner's own that is changed or, where not `in_force`, absent; and how many samples are found.

    Only those `samples` count that the scanner's own configuration finds. `reported_as` is what reports most of the
    others instead.
    """

    rule_id: str
    in_force: bool
    samples: int
    found: int
    reported_as: str | None = None

    @property
    def is_lost(self) -> bool:
        """Whether it is not found as the scanner's own: absent, or more than a quarter of its samples are lost."""
        return not self.in_force or (self.samples - self.found) * PART > self.samples


@dataclass(frozen=True, slots=True)
class Displaced:
    """The scanner's own rules, as they are by themselves, that a configuration changes or leaves out without a word."""

    changed: tuple[Rule, ...] = ()
    absent: tuple[Rule, ...] = ()


@dataclass(slots=True)
class Originals:
    """Samples of the scanner's own rules that are changed or absent, and what becomes of them."""

    subject: EffectiveConfig
    names: Iterator[str]
    samples: list[Sample] = field(default_factory=list)
    unsampled: set[str] = field(default_factory=set)
    displaced: Displaced = field(init=False)

    def __post_init__(self) -> None:
        """Make the samples."""
        self.displaced = displaced(self.subject)
        if self.displaced == Displaced():
            return
        own = own_rules(self.subject)
        on = bench(own.rules, [*own.allowlists, *self.subject.effective.allowlists], self.subject.seed)
        half = SAMPLES // 2 if len(self.displaced.changed) <= MANY else SAMPLES // 4
        asked = ((self.displaced.changed, half), (self.displaced.absent, SAMPLES_OF_ABSENT // 2))
        for rules, how_many in asked:
            for rule in rules:
                for varied in (False, True):
                    made = samples_or_reason(rule, on, list(islice(self.names, how_many)), varied=varied)
                    if isinstance(made, str):
                        self.unsampled.add(rule.id)
                    else:
                        self.samples += made

    def asked(
        self, repository: BuiltRepository, findings: Findings, sample_scanner: SampleScanner
    ) -> tuple[Replaced, ...]:
        """Return what became of each rule: of what its own configuration finds, what does the one under test?"""
        if not self.samples:
            return ()
        bare = sample_scanner.changed(repository, layers_of(Configuration((), ""), self.subject.builtin))
        found = [
            (sample, ids)
            for sample, own, ids in zip(
                self.samples,
                found_by_sample(self.samples, bare),
                found_by_sample(self.samples, findings),
                strict=True,
            )
            if any(is_same(sample.rule_id, rule_id) for rule_id in own)
        ]
        by_rule: dict[str, list[set[str]]] = {}
        for sample, ids in found:
            by_rule.setdefault(sample.rule_id, []).append(ids)
        in_force = [(rule.id, True) for rule in self.displaced.changed]
        absent = [(rule.id, False) for rule in self.displaced.absent]
        return tuple(
            _replaced(rule_id, by_rule.get(rule_id, ()), in_force=is_there)
            for rule_id, is_there in sorted([*in_force, *absent])
            if rule_id not in self.unsampled
        )


def displaced(subject: EffectiveConfig) -> Displaced:
    """Return the scanner's own rules that a configuration changes, and those that it neither has nor switches off."""
    if subject.builtin_problem or not subject.configuration.chain:
        return Displaced()
    own: Mapping[str, Rule] = {rule.id: rule for rule in own_rules(subject).rules}
    mine = {rule.id: rule for rule in subject.effective.rules}
    off = {one.rule_id for one in subject.effective.switched_off if one.layer is not None}
    gone = [rule for rule in own.values() if rule.id not in mine and rule.id not in off and not rule.skip_report]
    # Under the id of another version it is there.
    renamed = [rule for rule in gone if any(is_same(rule.id, rule_id) for rule_id in mine)]
    changed = [rule for rule in own.values() if rule.id in mine and not same_rule(mine[rule.id].table, rule.table)]
    return Displaced((*changed, *renamed), tuple(rule for rule in gone if rule not in renamed))


def own_rules(subject: EffectiveConfig) -> Effective:
    """Return what is in force with the scanner's own configuration."""
    return effective(layers_of(Configuration((), ""), subject.builtin), subject.builtin, subject.dialect)


def _replaced(rule_id: str, found: Sequence[set[str]], *, in_force: bool) -> Replaced:
    own = sum(any(is_same(rule_id, one) for one in ids) for ids in found)
    others = Counter(one for ids in found for one in ids if not is_same(rule_id, one))
    reported_as = min(others, key=lambda other: (-others[other], other)) if others and own < len(found) else None
    return Replaced(rule_id, in_force, len(found), own, reported_as)


def acceptable(subject: EffectiveConfig) -> Iterator[str]:
    """Return what can be accepted of a configuration beside its entries, as far as that is known without a scan."""
    if displaced(subject) != Displaced():
        yield rules_text(subject.dialect)
    known = known_build(subject.dialect)
    if known and not known.is_stated:
        yield silent_text(subject.dialect)
        yield from (unseen_text(subject.dialect, place.title) for place in usual_places())


def rules_text(dialect: Dialect) -> str:
    """Return what an acceptance calls the scanner's own rules that a configuration replaces or leaves out."""
    return f"rules of {dialect.scanner}"


def silent_text(dialect: Dialect) -> str:
    """Return what an acceptance calls the rules that a build of this version does not fire."""
    return f"{SILENT}{dialect.scanner} {dialect.version}"
