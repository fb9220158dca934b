"""Why a text is not reported: each part of a rule that may stop it is changed, and the scanner asked again.

No text of an explanation quotes what is explained.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gitleaks_eval.config.tables import ALLOWLISTS, FILTERS, named, tables, value_of
from gitleaks_eval.core.text import few, shown_path
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import DISABLED, OVERRIDE, STOPWORD, Entry, builtin_entries
from gitleaks_eval.coverage.configuration.layers import Layer, Layers, without
from gitleaks_eval.coverage.configuration.rules import Rule, effective
from gitleaks_eval.coverage.configuration.shown import shown_text
from gitleaks_eval.coverage.samples.explained_text import (
    NEUTRAL,
    Text,
    around_line,
    build_text,
    readable_text,
    without_comments,
)
from gitleaks_eval.coverage.samples.group_testing import hidden_alone
from gitleaks_eval.coverage.samples.hidden_values import Found, entries_about, ready_for
from gitleaks_eval.coverage.samples.samples import holds_keyword
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.regex.analyse import entropy

NEAREST_AT_MOST = 8
OTHER_RULE = "another rule"
_PARTS = ("keyword", "entropy", "path")
# What is taken out of a rule so that a part of it stops nothing.
_KEYS = {"keyword": {"keywords"}, "entropy": {"entropy"}, "path": {"path"}}
_BARE: Final = "all"
_NEVER = {"required", "components", "skipreport", "validate", *FILTERS, *ALLOWLISTS}


@dataclass(frozen=True, slots=True)
class Stopped:
    """A rule that does not report the text: what stops it (`keyword`, `entropy`, …) and how, as people read it."""

    rule_id: str
    what: str
    how: str

    @property
    def words(self) -> str:
        """`entropy: 2.10, and it wants more than 3.5`."""
        return f"{self.what}: {self.how}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rules that report a text, and of those that do not the nearest, each with what stops it.

    `found` are the rules that report it with the lines on which they do.
    """

    reported: tuple[str, ...]
    stopped: tuple[Stopped, ...]
    found: frozenset[tuple[str, int]] = frozenset()


def explain(
    subject: EffectiveConfig, sample_scanner: SampleScanner, text: Text, root: Path, only: Collection[str] = ()
) -> Explanation:
    """Say which rules report a text, and what stops the nearest that do not.

    Args:
        subject: the configuration under test, as its scanner reads it.
        sample_scanner: asks that scanner.
        text: what is explained.
        root: the folder that shown paths are relative to.
        only: the ids of the rules that are asked; all where none is named.

    Raises:
        EvaluationError: when a scan fails.
    """
    found = [one for one in sample_scanner.under_test(build_text(sample_scanner, text)) if _stands_in(one, text)]
    reported = {str(one["RuleID"]) for one in found}
    # A thousand variants of rules are asked: of a large file only about what stands around the line.
    stopped = _Explaining(subject, sample_scanner, around_line(text), root, only).stopped(reported)
    places = frozenset((str(one["RuleID"]), int(one["StartLine"])) for one in found)
    return Explanation(tuple(sorted(reported)), tuple(stopped), places)


@dataclass(slots=True)
class _Explaining:
    subject: EffectiveConfig
    sample_scanner: SampleScanner
    text: Text
    root: Path
    only: Collection[str]
    rules: list[Rule] = field(init=False)
    off: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Take all rules: those in force, and of the scanner's own also those that the user took out."""
        builtin: Layers = (Layer(None, self.subject.builtin),)
        own = effective(builtin, self.subject.builtin, self.subject.dialect).rules
        in_force = {rule.id for rule in self.subject.effective.rules}
        user = self.subject.entries
        replaced = {rule_id: one for one in user if one.kind == OVERRIDE for rule_id in one.rule_ids}
        disabled = {rule_id: one for one in user if one.kind == DISABLED for rule_id in one.rule_ids}
        missing = [rule for rule in own if rule.id not in in_force]
        self.off = {
            rule.id: f"switched off by {self._title(disabled[rule.id])}" if rule.id in disabled else "not in force"
            for rule in missing
        }
        self.off |= {rule_id: f"replaced by {self._title(one)}" for rule_id, one in replaced.items()}
        before = [rule for rule in own if rule.id in replaced]
        kept = [rule for rule in self.subject.effective.rules if rule.id not in replaced]
        self.rules = [one for one in (*kept, *missing, *before) if not self.only or one.id in self.only]

    def stopped(self, reported: Collection[str]) -> Iterator[Stopped]:
        plain = readable_text(without_comments(self.text, self.subject.dialect.scanner))
        there, elsewhere = self._variants(plain), {}
        rules = [rule for rule in self.rules if rule.id not in reported]
        if plain.path != NEUTRAL:
            elsewhere = self._variants(Text(NEUTRAL, plain.content, plain.line))
        found = {rule.id: there[rule.id] or elsewhere.get(rule.id, {}) for rule in rules}
        near = [rule for rule in rules if found[rule.id]]
        hidden = [rule for rule in near if "" in there[rule.id] and rule.id not in self.off]
        hiders = self._hiders(plain, {rule.id: there[rule.id][""] for rule in hidden})
        told = []
        for rule in near:
            known = there[rule.id] or elsewhere[rule.id]
            if rule.id in self.off and "" in known:
                told.append(Stopped(rule.id, "configuration", self.off[rule.id]))
            elif "" in known and not there[rule.id]:
                told.append(Stopped(rule.id, "place", f"{self.subject.dialect.scanner} does not look at this path"))
            elif "" in known:
                told.append(self._hidden(rule, hiders.get(rule.id, ()), plain))
            else:
                told.append(self._by_part(rule, known))
        told.sort(key=lambda one: one.what == OTHER_RULE)
        yield from told[:NEAREST_AT_MOST]
        if not told and not reported:
            yield from self._by_regex(plain)

    def _variants(self, text: Text) -> dict[str, dict[str, Mapping[str, Any]]]:
        """By rule, what is found with it as it is (""), without one of its parts, and with its regex alone."""
        tables, names = [], {}
        for number, rule in enumerate(self.rules):
            parts = [part for part in _PARTS if _has(rule, part) and (part != "path" or rule.regex)]
            variants = {"": set(), **{part: _KEYS[part] for part in parts}}
            if len(parts) > 1:
                variants[_BARE] = set().union(*(_KEYS[part] for part in parts))
            for part, keys in variants.items():
                name = f"explained-{number}-{part or 'whole'}"
                names[name] = (rule.id, part)
                kept = {key: one for key, one in rule.table.items() if key.lower() not in {"id", *keys, *_NEVER}}
                tables.append({"id": name, **kept})
        layers: Layers = (Layer(None, {"rules": tables}, changed=True),)
        found = _at(
            self.sample_scanner.changed(build_text(self.sample_scanner, text), layers, canary_may_hide=True), text
        )
        by_rule: dict[str, dict[str, Mapping[str, Any]]] = {rule.id: {} for rule in self.rules}
        for name, finding in found.items():
            if name in names:
                rule_id, part = names[name]
                by_rule[rule_id][part] = finding
        return by_rule

    def _hiders(self, text: Text, findings: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Sequence[Entry]]:
        """The entries that hide what a rule finds, each by itself."""
        if not findings:
            return {}
        layers, subject = self.subject.layers, self.subject
        entries = [
            *(one for one in subject.entries if one.allowlist),
            *builtin_entries(layers, subject.dialect),
        ]
        ready, repository = ready_for(entries), build_text(self.sample_scanner, text)
        about = {rule_id: entries_about(ready, _found(finding, text), rule_id) for rule_id, finding in findings.items()}

        def silent_with(kept: Sequence[Entry]) -> set[str]:
            gone = {entry.spot for entry in entries} - {entry.spot for entry in kept}
            found = self.sample_scanner.changed(repository, without(layers, gone), canary_may_hide=True)
            return findings.keys() - _at(found, text).keys()

        # What is silent without any of them, none of them hides.
        silent = silent_with([])
        about = {rule_id: listed for rule_id, listed in about.items() if rule_id not in silent}
        return hidden_alone(entries, about, silent_with)

    def _hidden(self, rule: Rule, hiders: Sequence[Entry], plain: Text) -> Stopped:
        if hiders:
            what = "stop word" if all(hider.kind == STOPWORD for hider in hiders) else "allowlist entry"
            return Stopped(
                rule.id, what, " and ".join(f"{self._title(hider)} {shown_text(hider)}" for hider in hiders[:2])
            )
        if plain.content != self.text.content:
            uncommented = without_comments(self.text, self.subject.dialect.scanner)
            if rule.id in _at(
                self.sample_scanner.under_test(build_text(self.sample_scanner, uncommented)), uncommented
            ):
                return Stopped(rule.id, "inline comment", "the line says that it is allowed")
            if rule.id in _at(self.sample_scanner.under_test(build_text(self.sample_scanner, plain)), plain):
                return Stopped(rule.id, "place", "the file is no text to git, or in another encoding than UTF-8")
        words = [str(value_of(one, "id")) for name in ("required", "components") for _, one in tables(rule.table, name)]
        if words:
            return Stopped(rule.id, OTHER_RULE, f"it wants a find of {few(words, 3)} near it")
        if any(named(rule.table, name) for name in FILTERS):
            return Stopped(rule.id, "filter", "an expression of the rule drops it")
        return Stopped(
            rule.id, OTHER_RULE, "it gives way to another rule that matches there, or several entries hide it"
        )

    def _by_part(self, rule: Rule, known: Mapping[str, Mapping[str, Any]]) -> Stopped:
        single = [part for part in _PARTS if part in known]
        parts = single[:1] or [part for part in _PARTS if _has(rule, part)]
        value = str((known.get(parts[0]) or known.get(_BARE) or {}).get("Secret", ""))
        return Stopped(rule.id, " and ".join(parts), "; ".join(_how(rule, part, value) for part in parts))

    def _by_regex(self, plain: Text) -> Iterator[Stopped]:
        near = [rule for rule in self.rules if rule.keywords and holds_keyword(plain.around, rule.keywords)]
        for rule in near[:NEAREST_AT_MOST]:
            yield Stopped(rule.id, "regex", "a keyword of it stands there, and its regex does not match")

    def _title(self, entry: Entry) -> str:
        return (
            f"{shown_path(entry.file, self.root)} {entry.place}" if entry.file else f"the scanner's own {entry.place}"
        )


def _has(rule: Rule, part: str) -> bool:
    return bool({"keyword": rule.keywords, "entropy": rule.entropy, "path": rule.path}[part])


def _how(rule: Rule, part: str, value: str) -> str:
    if part == "keyword":
        return f"none of {few(rule.keywords, 3)} stands there"
    if part == "entropy":
        return f"{entropy(value):.2f}, and it wants more than {rule.entropy:g}"
    return f"it looks at files only whose path matches {rule.path}"


def _at(findings: Findings, text: Text) -> dict[str, Mapping[str, Any]]:
    """By rule, the first finding in the file, at the line where one is named."""
    found: dict[str, Mapping[str, Any]] = {}
    for finding in findings:
        if _stands_in(finding, text):
            found.setdefault(str(finding["RuleID"]), finding)
    return found


def _stands_in(finding: Mapping[str, Any], text: Text) -> bool:
    first, last = int(finding["StartLine"]), int(finding.get("EndLine", finding["StartLine"]))
    is_there = str(finding["File"]).replace("\\", "/") == text.path
    return is_there and (text.line is None or first <= text.line <= last)


def _found(finding: Mapping[str, Any], text: Text) -> Found:
    lines: Iterable[str] = text.content.decode("utf-8", "replace").splitlines()
    line = next((line for line in lines if str(finding["Secret"]) in line), str(finding["Match"]))
    return Found(text.path, str(finding["Secret"]), str(finding["Match"]), line)
