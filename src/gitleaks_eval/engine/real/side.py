"""One of two candidates, as what it does not report is explained: its configuration taken apart, and its scanner."""

import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.config.tables import tables, value_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import turn
from gitleaks_eval.core.text import printable, shown_path
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig, effective_config_of
from gitleaks_eval.coverage.configuration.entries import COMMIT, OVERRIDE, PATH, Entry, builtin_entries, entries_of
from gitleaks_eval.coverage.configuration.layers import Layers, with_rule, without, write_layers
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.engine.real.excerpt import Known
from gitleaks_eval.engine.scan.clones import shared_clone
from gitleaks_eval.engine.scan.real_findings import Keyed
from gitleaks_eval.engine.scan.repository_config import own_scanner
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scanners.scan import Scanner, unread
from gitleaks_eval.scenarios.scenario import RealRepository

SHOWN_OF_A_PATTERN = 40


class OutOfBudgetError(EvaluationError):
    """The end of a search that may scan no more."""


@dataclass(slots=True)
class Budget:
    """The scans that a search may still make: on a busy machine as many as on a quiet one."""

    scans: int
    is_spent: bool = False

    def take(self) -> None:
        """Take one scan.

        Raises:
            OutOfBudgetError: when none is left.
        """
        if not self.scans:
            self.is_spent = True
            raise OutOfBudgetError("no scan is left to find what hides findings")
        self.scans -= 1


@dataclass(frozen=True)
class Side:
    """A candidate: its name in reports, its configuration taken apart, and a scanner that uses changed ones."""

    name: str
    subject: EffectiveConfig
    scanner: Scanner
    keyed: Keyed
    root: Path
    folder: Path
    turns: Path
    budget: Budget

    @property
    def depth(self) -> int | None:
        """How deep it decodes; None where it cannot."""
        return self.scanner.build.depth(self.scanner.decode_depth)

    @cached_property
    def entries(self) -> list[Entry]:
        """All that can hide something: the user's own entries, and the scanner's.

        A rule that replaces another is none: what of it is another is looked for by itself.
        """
        subject = self.subject
        own = [one for one in entries_of(subject.layers, {}, subject.dialect) if one.kind != OVERRIDE]
        return own + builtin_entries(subject.layers, subject.dialect)

    @cached_property
    def commits(self) -> Mapping[str, Entry]:
        """The entries that allow a whole commit, by its id."""
        return {entry.text: entry for entry in self.entries if entry.kind == COMMIT}

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """The rules in force, by id."""
        return {rule.id: rule for rule in self.subject.effective.rules}

    def title(self, entry: Entry) -> str:
        """`.gitleaks.toml [allowlist] paths[0]`, or `8.30.1's own [allowlist] paths[0] (node_modules…)`.

        Lists of the scanner's own that have hundreds of words are one: which of them it was says something of a secret.
        """
        if entry.file is not None:
            return printable(f"{shown_path(entry.file, self.root)} {entry.place}")
        if entry.kind == PATH and not entry.rule_ids:
            more = "…" * (len(entry.text) > SHOWN_OF_A_PATTERN)
            return printable(f"{self.name}'s own {entry.place} ({entry.text[:SHOWN_OF_A_PATTERN]}{more})")
        which = f" of {', '.join(entry.rule_ids)}" if entry.rule_ids else ""
        return printable(f"{self.name}'s own allowlist{which} ({entry.kind})")

    def titled(self, rules: Collection[str]) -> dict[str, list[Entry]]:
        """Return the entries that may be about one of these rules, by what they are called."""
        found: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if not entry.rule_ids or not set(entry.rule_ids).isdisjoint(rules):
                found[self.title(entry)].append(entry)
        return dict(found)

    def without_rule(self, rule_id: str) -> str:
        """Return how it is said that this rule is not in force."""
        off = next((one for one in self.subject.effective.switched_off if one.rule_id == rule_id), None)
        if off and off.layer is not None and off.address:
            file = self.subject.layers[off.layer].file
            return printable(f"rule switched off by {shown_path(file, self.root) if file else self.name}")
        renamed = sorted(rule for rule in self.rules if alias_of(rule_id, rule))
        return printable(f"no such rule with {self.name}" + (f"; {', '.join(renamed)} is there" if renamed else ""))

    def without(self, titles: Iterable[str]) -> Layers:
        """Return the layers without the entries of these titles."""
        titled = self._all_titled
        return without(self.subject.layers, [entry.spot for title in titles for entry in titled[title]])

    def with_keys_of(self, other: "Side", rules: Collection[str], keys: Sequence[str]) -> Layers | None:
        """Return the layers with some keys of these rules as the other has them; None where they are the same."""
        changed: dict[str, dict[str, Any]] = {}
        for rule_id in sorted(rules & self.rules.keys() & other.rules.keys()):
            mine, theirs = dict(self.rules[rule_id].table), other.rules[rule_id].table
            values = [(key, value_of(mine, key.lower()), value_of(theirs, key.lower())) for key in keys]
            if any(before != after for _, before, after in values):
                lower = {key.lower() for key in keys}
                kept = {name: value for name, value in mine.items() if name.lower() not in lower}
                changed[rule_id] = {**kept, **{key: after for key, _, after in values if after is not None}}
        return self._with(changed) if changed else None

    def with_rules_of(self, other: "Side", rules: Collection[str]) -> Layers | None:
        """Return the layers with these rules as the other has them."""
        both = rules & self.rules.keys() & other.rules.keys()
        return self._with({rule_id: dict(other.rules[rule_id].table) for rule_id in sorted(both)}) if both else None

    def whole(self) -> Layers:
        """Return all layers, written out: also for a scanner whose own rules are others."""
        return tuple(replace(layer, changed=True) for layer in self.subject.layers)

    def with_depth(self, depth: int) -> "Side":
        """Return the same with another decode depth."""
        return replace(self, scanner=replace(self.scanner, decode_depth=depth))

    def seen(self, repository: BuiltRepository, layers: Layers | None = None) -> set[Known]:
        """Return what is found in a repository with the configuration under test, or with other layers.

        Each finding is known twice, on its line and on any.

        Raises:
            EvaluationError: when the scan failed or does not count, or none is left.
        """
        self.budget.take()
        with tempfile.TemporaryDirectory(prefix="config-", dir=self.folder) as folder:
            config = self.scanner.config if layers is None else write_layers(layers, Path(folder))
            with turn(self.turns):
                scan = replace(self.scanner, config=config).scan(repository.path, obey_allow=False)
        if problem := unread(scan, repository.readable):
            raise EvaluationError(f"a scan of an excerpt does not count: {problem}")
        found = [
            (Known(finding["File"], finding["RuleID"], self.keyed(finding["Secret"])), finding["StartLine"])
            for finding in scan.findings
        ]
        return {one for one, _ in found} | {one._replace(line_number=line) for one, line in found}

    @cached_property
    def _all_titled(self) -> dict[str, list[Entry]]:
        return self.titled(self.rules.keys() | {rule for entry in self.entries for rule in entry.rule_ids})

    def _with(self, changed: Mapping[str, Mapping[str, Any]]) -> Layers:
        spots = [
            (index, address)
            for index, layer in enumerate(self.subject.layers)
            for address, table in tables(layer.document, "rules")
            if value_of(table, "id") in changed
        ]
        layers = without(self.subject.layers, spots)
        for table in changed.values():
            layers = with_rule(layers, table)
        return layers


def side_of(session: Session, name: str, repository: RealRepository, folder: Path, budget: Budget) -> "Side":
    """Return a candidate of the run in a repository, with a budget of scans to explain what it does not report.

    Raises:
        EvaluationError: when it has no scanner, or none for this repository.
    """
    workbench = session.workbench(name)
    candidate = session.settings.candidate(name)
    assert candidate.configuration  # noqa: S101 - only analyses that exist have none, and there repositories are refused
    configuration, scanner, root = candidate.configuration, workbench.scanner, session.settings.root
    if workbench.bench.own:
        cloned = shared_clone(workbench.bench, repository)
        own, scanner = own_scanner(scanner, cloned, session.settings.timeout_seconds)
        configuration, root = own.configuration, own.folder
    return Side(
        name=name or scanner.build.version,
        subject=effective_config_of(configuration, scanner.build),
        scanner=scanner,
        keyed=Keyed(bytes.fromhex(workbench.bench.value_key)),
        root=root,
        folder=folder,
        turns=workbench.turns,
        budget=budget,
    )
