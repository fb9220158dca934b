"""What a scanner says when it cannot load a configuration: its own words, and the rule or entry that they are about."""

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import Configuration, parsed
from gitleaks_eval.config.lint import Problem
from gitleaks_eval.config.tables import CRITERIA, Address, Table, allowlists, items, named, place, tables, value_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.scanners.expressions import redacted

REFUSES, NO_REGEX = "the scanner refuses it: ", "the regex does not compile: "
_LINE = re.compile(r"^.*? FTL (.*(?:load .*config|parsing config).*)$", re.IGNORECASE | re.MULTILINE)
_QUOTED = re.compile(r'error=("(?:[^"\\]|\\.)*")')
_BEFORE = re.compile(
    r"^(?:unable|failed) to load (?:gitleaks )?config, err: |^\d+ error\(s\) decoding:\s*", re.IGNORECASE
)
# What it quotes of the file by value.
_VALUES = (
    (re.compile(r", (?:value|regex): .*$"), ""),
    (re.compile(r"parsing \".*\"(?=: )"), "parsing it"),
    (re.compile(r"(\|(?:condition|regexTarget)\|) '.*'(?= \(expected)"), r"\1"),
)
_KEY = re.compile(r"'([A-Za-z_]+(?:\[\d+\])?(?:\.[A-Za-z_]+(?:\[\d+\])?)*)' (?:expected|as )|parse '([\w.\[\]]+)'")
_STEP = re.compile(r"([A-Za-z_]+)|\[(\d+)\]")
_RULE = re.compile(r"^([^\s:]+): ")
_NAMED_ID = re.compile(r"rule ID '([^']+)'")
_NO_ID = re.compile(r"\|id\| is missing or empty, regex: (.*)$", re.MULTILINE)
_NAMED_KEY = re.compile(r"\|(condition|regexTarget)\| '([^']*)'")
_GROUP = re.compile(r"invalid regex secret group (\d+)")


class Refused(EvaluationError):  # noqa: N818 - as CheckFailed
    """A scanner that does not load its configuration: nothing can be scanned with it."""


def is_refusal(message: str) -> bool:
    """Return whether an error says that the configuration under test cannot be loaded."""
    return REFUSES in message or NO_REGEX in message


def load_error(log: str) -> str:
    """Return what a scanner says that does not load a configuration, a line a fault; empty where it loads it."""
    found = _LINE.search(log)
    if not found:
        return ""
    quoted = _QUOTED.search(found[1])
    said = json.loads(quoted[1]) if quoted and _is_json(quoted[1]) else found[1]
    faults = re.split(r"(?:^|\n)\* ", _BEFORE.sub("", said.strip()))
    return "\n".join(" ".join(fault.split()) for fault in faults if fault.strip())


def words_of(said: str, rule_ids: Collection[str] = ()) -> str:
    """Return the words of `load_error` in a line, without what they quote by value; ids of rules stay."""
    faults = said.splitlines()
    for pattern, instead in _VALUES:
        faults = [pattern.sub(instead, fault) for fault in faults]
    return redacted("; ".join(faults), rule_ids)


def refusal(configuration: Configuration, said: str) -> Problem:
    """Return what the scanner says, at the rule or entry that it is about, else at the first file."""
    ids = {str(value_of(rule, "id")) for file in configuration.chain for _, rule in tables(parsed(file), "rules")}
    path, where = next(_spots(configuration, said), (configuration.chain[0].path, ""))
    return Problem(path, where, f"{REFUSES}{words_of(said, ids)}")


def _spots(configuration: Configuration, said: str) -> Iterator[tuple[Path, str]]:
    for file in configuration.chain:
        for address in _addresses(parsed(file), said):
            yield file.path, place(address)


def _addresses(document: Table, said: str) -> Iterator[Address]:
    if key := _KEY.search(said):
        yield from _as_written(document, key[1] or key[2])
    if "extend.path and extend.usedefault" in said.lower():
        yield from (address for address, _ in tables(document, "extend"))
    rule_id = _RULE.match(said)
    rules = [
        (address, rule)
        for address, rule in tables(document, "rules")
        if rule_id and str(value_of(rule, "id") or "") == rule_id[1]
    ]
    for address, rule in rules or [((), document)]:
        yield from _below(address, rule, said)
    yield from (address for address, _ in rules)
    if without_id := _NO_ID.search(said):
        nameless = [(address, rule) for address, rule in tables(document, "rules") if not value_of(rule, "id")]
        yield from (address for address, rule in nameless if str(value_of(rule, "regex") or "") == without_id[1])
        yield from (address for address, _ in nameless)
    if group := _GROUP.search(said):
        for address, rule in tables(document, "rules"):
            if not rule_id and (found := named(rule, "secretgroup")) and found[1] == int(group[1]):
                yield *address, found[0]


def _below(above: Address, holder: Table, said: str) -> Iterator[Address]:
    """Find what stands below a rule, or at the top: the allowlist or the key that the words are about."""
    group = named(holder, "secretgroup") if above and _GROUP.search(said) else None
    if group:
        yield *above, group[0]
    listed = [(address, one) for address, one in allowlists(holder) if above or address[0] != _rules_key(holder)]
    target, key = _NAMED_ID.search(said), _NAMED_KEY.search(said)
    for address, one in listed:
        found = named(one, key[1].lower()) if key else None
        if found and key and str(found[1]).lower() == key[2].lower():
            yield *above, *address, found[0]
        if "at least one check" in said and not any(value_of(one, name) for name in CRITERIA):
            yield *above, *address
        if "is deprecated" in said:
            yield *above, *address
        if target and "target rule" in said:
            yield from (
                (*above, *address, *below) for below, rule_id in items(one, "targetrules") if rule_id == target[1]
            )
    if target and "required" in said:
        for address, one in tables(holder, "required"):
            if value_of(one, "id") == target[1]:
                yield *above, *address


def _rules_key(holder: Table) -> str:
    found = named(holder, "rules")
    return found[0] if found else ""


def _as_written(document: Table, key: str) -> Iterator[Address]:
    """Find `Rules[0].Keywords[0]` as the file has it; a list of one item may be written without brackets."""
    address: Address = ()
    value: Any = document
    for name, index in _STEP.findall(key):
        if name and isinstance(value, dict) and (found := named(value, name.lower())):
            address, value = (*address, found[0]), found[1]
        elif index and isinstance(value, list) and int(index) < len(value):
            address, value = (*address, int(index)), value[int(index)]
        elif name:
            break
    if address:
        yield address


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
