"""The rules that are in force: of the user's files and of the scanner's own, as this version puts them together."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.config.tables import ALLOWLISTS, CRITERIA, Address, Table, items, tables, value_of
from gitleaks_eval.coverage.configuration.layers import Layers, is_builtin
from gitleaks_eval.scanners import SCANNERS

# Before, a rule of the user's replaced the one of the same id as a whole (upstream config.go, extend).
MERGES_SINCE = (8, 20, 0)
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_ENTROPY_FILTER = re.compile(r'^\s*entropy\(finding\["secret"\]\) <= ([0-9.]+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which scanner of which version reads the configuration; no version is taken for the newest."""

    scanner: str
    version: str | None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers."""
        match = _VERSION.match(self.version or "")
        return tuple(map(int, match.groups())) if match else (999,)

    def title_beside(self, other: "Dialect") -> str:
        """`8.30.1`, with the scanner in front where the other is of another one."""
        version = self.version or "an unknown version"
        return version if self.scanner == other.scanner else f"{self.scanner} {version}"

    def obeys(self, kind: str, key: str) -> bool:
        """Whether it reads a key of a kind of table, as the scanner's adapter names them."""
        _, first = SCANNERS[self.scanner].config_keys.known(kind).get(key.lower(), ("", ""))
        since = _VERSION.match(first)
        return since is not None and tuple(map(int, since.groups())) <= self.numbers

    @property
    def drops_targets(self) -> bool:
        """Whether it drops an allowlist with targetRules in a file that extends another."""
        up_to = SCANNERS[self.scanner].config_keys.drops_targets_up_to
        return up_to is not None and self.numbers[:2] <= tuple(map(int, up_to.split(".")))

    @property
    def merges(self) -> bool:
        """Whether a rule is merged with the one of the same id that it extends."""
        return self.scanner != "gitleaks" or self.numbers >= MERGES_SINCE


@dataclass(frozen=True, slots=True)
class Allowlist:
    """What hides findings: where it stands, its criteria, and the rules that it is for (none named: all)."""

    layer: int
    address: Address
    paths: tuple[str, ...]
    regexes: tuple[str, ...]
    stopwords: tuple[str, ...]
    commits: tuple[str, ...]
    target: str
    all_must_hold: bool
    rule_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in force; `layer` is where it stands first, `own` whether it is the user's and no copy of the scanner's.

    `table` is what this rule is by itself, as it can be written into another configuration.
    """

    id: str
    regex: str
    path: str
    keywords: tuple[str, ...]
    entropy: float
    secret_group: int
    allowlists: tuple[Allowlist, ...]
    own: bool
    layer: int
    file: Path | None
    required: tuple[str, ...] = ()
    skip_report: bool = False
    address: Address = ()
    table: Mapping[str, Any] = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """A rule of the scanner's own that is not in force, and where that is said; no spot where nothing extends it."""

    rule_id: str
    layer: int | None
    address: Address


@dataclass(frozen=True, slots=True)
class Effective:
    """What is in force, in the order of ids."""

    rules: tuple[Rule, ...]
    allowlists: tuple[Allowlist, ...]
    switched_off: tuple[SwitchedOff, ...]


def effective(layers: Layers, builtin: Table, dialect: Dialect) -> Effective:
    """Put together what a scanner of this version makes of the layers.

    Args:
        layers: as `layers_of` gives them.
        builtin: the scanner's own tables; what equals them is not the user's.
        dialect: who reads them.
    """
    own_rules = {str(value_of(table, "id")): table for _, table in tables(builtin, "rules")}
    rules: dict[str, Rule] = {}
    off: dict[str, SwitchedOff] = {}
    for index in reversed(range(len(layers))):
        mine = {rule.id: rule for rule in _rules(layers, index, dialect, own_rules)}
        disabled = _disabled(layers[index].document, dialect)
        for rule_id in list(rules):
            if rule_id in disabled:
                off.setdefault(rule_id, SwitchedOff(rule_id, index, disabled[rule_id]))
                del rules[rule_id]
        for rule_id, rule in mine.items():
            below = rules.get(rule_id)
            rules[rule_id] = _merged(rule, below) if below and dialect.merges else rule
    targeted = [allowlist for allowlist in _global_allowlists(layers, dialect) if allowlist.rule_ids]
    rules = {rule_id: _targeted(rule, targeted) for rule_id, rule in rules.items()}
    missing = sorted(own_rules.keys() - rules.keys())
    return Effective(
        tuple(rules[rule_id] for rule_id in sorted(rules)),
        tuple(allowlist for allowlist in _global_allowlists(layers, dialect) if not allowlist.rule_ids),
        tuple(off.get(rule_id, SwitchedOff(rule_id, None, ())) for rule_id in missing),
    )


def allowlist_of(layer: int, address: Address, table: Table, kind: str, dialect: Dialect) -> Allowlist:
    """What an allowlist says, as this version reads it; `kind` is `global allowlist` or `rule allowlist`."""
    condition = str(value_of(table, "condition") or "").upper() if dialect.obeys(kind, "condition") else ""
    texts = {name: tuple(one for _, one in items(table, name) if isinstance(one, str)) for name in CRITERIA}
    targets = dialect.obeys(kind, "targetRules")
    return Allowlist(
        layer,
        address,
        texts["paths"],
        texts["regexes"],
        texts["stopwords"],
        texts["commits"],
        target=str(value_of(table, "regextarget") or "secret"),
        all_must_hold=condition in {"AND", "&&"},
        rule_ids=tuple(str(one) for _, one in items(table, "targetrules") if one) if targets else (),
    )


def allowlists_below(layer: int, above: Address, holder: Table, dialect: Dialect) -> Iterator[Allowlist]:
    """The allowlists of a document (no address above) or of a rule, as far as this version reads them."""
    kind, holds = ("rule allowlist", "rule") if above else ("global allowlist", "top")
    for name in ALLOWLISTS:
        if dialect.obeys(holds, name):
            for address, table in tables(holder, name):
                yield allowlist_of(layer, (*above, *address), table, kind, dialect)


def _rules(layers: Layers, index: int, dialect: Dialect, own_rules: Mapping[str, Table]) -> Iterator[Rule]:
    for address, table in tables(layers[index].document, "rules"):
        rule_id = str(value_of(table, "id") or "")
        is_copy = is_builtin(layers, index) or same_rule(table, own_rules.get(rule_id))
        yield Rule(
            id=rule_id,
            regex=_string(table, "regex"),
            path=_string(table, "path"),
            keywords=tuple(str(one) for _, one in items(table, "keywords") if one),
            entropy=_entropy(table),
            secret_group=int(_number(table, "secretgroup")),
            allowlists=tuple(allowlists_below(index, address, table, dialect)),
            own=not is_copy,
            layer=index,
            file=layers[index].file,
            required=tuple(_string(one, "id") for _, one in tables(table, "required")),
            skip_report=value_of(table, "skipreport") is True,
            address=address,
            table=table,
        )


def same_rule(table: Table, other: Table | None) -> bool:
    """Whether two rules are the same in all that decides what they find."""
    return other is not None and _deciding(table) == _deciding(other)


def _deciding(table: Table) -> dict[str, Any]:
    silent = {"description", "tags"}
    return {key.lower(): value for key, value in table.items() if key.lower() not in silent and value not in ([], "")}


def _merged(rule: Rule, below: Rule) -> Rule:
    table = {**below.table, **rule.table}
    for name in ("keywords", *ALLOWLISTS):
        both = [value_of(one, name) for one in (below.table, rule.table)]
        if all(isinstance(one, list) for one in both):
            table = {key: value for key, value in table.items() if key.lower() != name}
            table[name] = [*both[0], *both[1]]
    return replace(
        below,
        regex=rule.regex or below.regex,
        path=rule.path or below.path,
        keywords=below.keywords + rule.keywords,
        entropy=rule.entropy or below.entropy,
        secret_group=rule.secret_group or below.secret_group,
        allowlists=below.allowlists + rule.allowlists,
        # What only tunes a rule of the scanner's own leaves it that; what it finds is the user's with a regex.
        own=below.own or (rule.own and bool(rule.regex or rule.path)),
        layer=rule.layer,
        file=rule.file,
        address=rule.address,
        table=table,
    )


def _targeted(rule: Rule, allowlists: Iterable[Allowlist]) -> Rule:
    return replace(
        rule, allowlists=rule.allowlists + tuple(allowlist for allowlist in allowlists if rule.id in allowlist.rule_ids)
    )


def _global_allowlists(layers: Layers, dialect: Dialect) -> Iterator[Allowlist]:
    for index, layer in enumerate(layers):
        for allowlist in allowlists_below(index, (), layer.document, dialect):
            drops = dialect.drops_targets and len(layers) > 1
            if not allowlist.rule_ids or (index == 0 and not drops):
                yield allowlist


def _disabled(document: Table, dialect: Dialect) -> dict[str, Address]:
    if not dialect.obeys("extend", "disabledRules"):
        return {}
    return {
        str(rule_id): (*address, below[0])
        for address, extend in tables(document, "extend")
        for below, rule_id in items(extend, "disabledrules")
        if rule_id
    }


def _string(table: Table, name: str) -> str:
    value = value_of(table, name)
    return value if isinstance(value, str) else ""


def _number(table: Table, name: str) -> float:
    value = value_of(table, name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _entropy(table: Table) -> float:
    # betterleaks says it as an expression.
    said = _ENTROPY_FILTER.search(_string(table, "filter"))
    return float(said[1]) if said else _number(table, "entropy")
