"""The user's own entries that can hide something: of allowlists, `disabledRules`, rules that replace others."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.config.tables import CRITERIA, FILTERS, Address, Table, items, named, place, tables, value_of
from gitleaks_eval.coverage.configuration.layers import Layer, Layers, Spot, is_builtin
from gitleaks_eval.coverage.configuration.rules import Allowlist, Dialect, allowlists_below, effective, same_rule

PATH, REGEX, STOPWORD, COMMIT, ALL = "path", "regex", "stopword", "commit", "all"
DISABLED, OVERRIDE, FILTER = "disabled", "override", "filter"
# A flag of the scanner, beside the entries of files.
FLAG = "flag"
_KINDS = {"paths": PATH, "regexes": REGEX, "stopwords": STOPWORD, "commits": COMMIT}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: what it says, where it stands, and what it is about.

    `text` is what people wrote, `place` like `[allowlist] paths[0]`; `file` is None for one of the scanner's own.
    `rule_ids` are the rules that it is for (none named: all), that it switches off, or that it replaces.
    `allowlist` is what it says if it stood alone; None for what is no allowlist.
    """

    kind: str
    text: str
    file: Path | None
    place: str
    layer: int
    address: Address
    rule_ids: tuple[str, ...] = ()
    allowlist: Allowlist | None = None

    def __hash__(self) -> int:
        """Of where it stands: it is a key a million times where there are a thousand entries."""
        return hash((self.layer, self.address))

    @property
    def spot(self) -> Spot:
        """What is removed to be rid of it."""
        return self.layer, self.address


def entries_of(layers: Layers, builtin: Table, dialect: Dialect) -> list[Entry]:
    """The user's own entries, in the order of files and addresses; what equals one of the scanner's own is not.

    What this version of the scanner does not read is no entry.
    """
    if all(is_builtin(layers, index) for index in range(len(layers))):
        return []
    known = {_identity(entry) for entry in _of_allowlists((Layer(None, builtin),), 0, dialect)}
    return [
        entry
        for index in range(len(layers))
        if not is_builtin(layers, index)
        for entry in (*_of_allowlists(layers, index, dialect), *_of_rules(layers, index, builtin, dialect))
        if _identity(entry) not in known
    ]


def builtin_entries(layers: Layers, dialect: Dialect) -> list[Entry]:
    """The entries of the scanner's own allowlists, where the layers hold them."""
    return [
        entry
        for index in range(len(layers))
        if is_builtin(layers, index)
        for entry in _of_allowlists(layers, index, dialect)
    ]


def _identity(entry: Entry) -> tuple[object, ...]:
    """What makes two entries the same, wherever they stand."""
    said = entry.allowlist and (
        entry.allowlist.target if entry.kind == REGEX else "",
        replace(entry.allowlist, layer=0, address=()) if entry.kind == ALL else None,
    )
    return entry.kind, entry.text, entry.rule_ids, said


def _of_allowlists(layers: Layers, index: int, dialect: Dialect) -> Iterator[Entry]:
    document = layers[index].document
    for allowlist in allowlists_below(index, (), document, dialect):
        yield from _of_allowlist(layers, allowlist, allowlist.rule_ids)
    for address, rule in tables(document, "rules"):
        rule_id = str(value_of(rule, "id") or "")
        for allowlist in allowlists_below(index, address, rule, dialect):
            yield from _of_allowlist(layers, allowlist, (rule_id,))


def _of_allowlist(layers: Layers, allowlist: Allowlist, rule_ids: tuple[str, ...]) -> Iterator[Entry]:
    file, document = layers[allowlist.layer].file, layers[allowlist.layer].document
    table: Any = document
    for step in allowlist.address:
        table = table[step]
    listed = [(name, below, str(said)) for name in CRITERIA for below, said in items(table, name) if said]
    if allowlist.all_must_hold and len({name for name, _, _ in listed}) > 1:
        text = " AND ".join(said for _, _, said in listed)
        yield Entry(ALL, text, file, place(allowlist.address), allowlist.layer, allowlist.address, rule_ids, allowlist)
        return
    for name, below, said in listed:
        address = (*allowlist.address, *below)
        nothing: dict[str, tuple[str, ...]] = dict.fromkeys(CRITERIA, ())
        alone = replace(allowlist, all_must_hold=False, **{**nothing, name: (said,)})  # type: ignore[arg-type]
        yield Entry(_KINDS[name], said, file, place(address), allowlist.layer, address, rule_ids, alone)


def _of_rules(layers: Layers, index: int, builtin: Table, dialect: Dialect) -> Iterator[Entry]:
    layer = layers[index]
    below = effective(layers[index + 1 :], builtin, dialect).rules if index + 1 < len(layers) else ()
    there = {rule.id for rule in below}
    own = {str(value_of(table, "id")): table for _, table in tables(builtin, "rules")}
    if dialect.obeys("extend", "disabledRules"):
        for address, extend in tables(layer.document, "extend"):
            found = named(extend, "disabledrules")
            ids = tuple(sorted({str(one) for _, one in items(extend, "disabledrules")} & there))
            if found and ids:
                where = (*address, found[0])
                yield Entry(DISABLED, found[0], layer.file, place(where), index, where, ids)
    for address, rule in tables(layer.document, "rules"):
        rule_id = str(value_of(rule, "id") or "")
        if rule_id in there and not same_rule(rule, own.get(rule_id)):
            yield Entry(OVERRIDE, rule_id, layer.file, place(address), index, address, (rule_id,))
        if dialect.scanner != "gitleaks":
            yield from _of_filters(rule, address, layer, index, (rule_id,) if rule_id in there else ())
    if dialect.scanner != "gitleaks":
        yield from _of_filters(layer.document, (), layer, index, ())


def _of_filters(holder: Table, above: Address, layer: Layer, index: int, rule_ids: tuple[str, ...]) -> Iterator[Entry]:
    for name in FILTERS:
        if (found := named(holder, name)) and (rule_ids or not above):
            address = (*above, found[0])
            yield Entry(FILTER, found[0], layer.file, place(address), index, address, rule_ids)
