"""What a scanner accepts in a configuration without a word, though it does nothing with it.

`lint` reads the files alone; `ask_scanner` has the scanner itself say what it refuses and warns of. Whether a
regex compiles is asked, not computed: Go's syntax is neither Python's nor quite that of RE2, and no library
but the scanner's own is sure to be the one that it was built with.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import DEEPEST, Configuration, parsed
from gitleaks_eval.config.keys import ConfigKeys
from gitleaks_eval.config.lines import place_lines
from gitleaks_eval.config.tables import FILTERS, Address, Table, allowlists, items, place, tables, value_of
from gitleaks_eval.core.documents import parse_toml

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?", re.IGNORECASE)
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
# A key that an expression asks a variable for: `finding["secret"]`, `attributes[?"path"]`, `finding.secret`.
_ASKED = r"""\b({})(?:\[\??\s*r?(?:"([\w.-]+)"|'([\w.-]+)')\s*\]|\.\??([A-Za-z_]\w*)\b(?!\())"""
# Attributes of what is neither git's nor a file's are those of sources that we never scan.
_OF_GIT_AND_FILES = {"", "git", "fs"}
Found = Iterator[tuple[str, str]]
Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file of the configuration that does not do what it seems to; `place` like `rules[3].keywrods`."""

    file: Path
    place: str
    message: str


def lint(configuration: Configuration, version: str | None, keys: ConfigKeys) -> list[Problem]:
    """Find what the scanner of this version ignores, and entries that can match nothing or everything.

    Args:
        configuration: the chain of files.
        version: of the scanner, `8.18.4`; None or one that is no such number is taken for one that is newer than
            the table of keys, of which nobody knows what it ignores.
        keys: those that the scanner reads.
    """
    numbers = _numbers(version)
    documents = [parsed(file) for file in configuration.chain]
    # The rules of the scanner's default are not known here; ask_scanner knows them.
    is_complete = not any(file.extends_default for file in configuration.chain)
    problems = []
    for index, (file, document) in enumerate(zip(configuration.chain, documents, strict=True)):
        found = [
            *_ignored_keys(document, keys, numbers),
            *_expressions(document, keys),
            *_minimum(document, keys, numbers),
            *_keys_twice(parse_toml(file.content), place_lines(file.content)),
            *_twice(document),
            *_idle_items(document),
            *_idle_extend(index, document, documents[index + 1 :], is_complete=is_complete),
            *_idle_targets(index, document, keys, numbers),
        ]
        problems += [Problem(file.path, where, message) for where, message in found]
    return problems


def _numbers(version: str | None) -> Numbers:
    match = _VERSION.match(version or "")
    return tuple(map(int, match.groups())) if match else (999,)


def _ignored_keys(document: Table, keys: ConfigKeys, version: Numbers) -> Found:
    scanner, checked = keys.scanner, keys.checked_against
    if version > _numbers(checked[-1]):
        problem = f"unknown to this table of keys, which was checked against {scanner} {', '.join(checked)}"
    else:
        problem = f"{scanner} has no such key and ignores it"
    for kind, address, table in _tables_by_kind(document):
        known = keys.known(kind)
        # Where the scanner has no such table at all, that is said of the table.
        for key in table if known else ():
            where = place((*address, key))
            name, since = known.get(key.lower(), ("", ""))
            if not name:
                close = get_close_matches(key.lower(), known, n=1)
                meant = f"; did you mean `{known[close[0]][0]}`?" if close else ""
                yield where, f"{problem}{meant}"
            elif _numbers(since) > version:
                yield where, f"this version of {scanner} ignores it; {since} is the first that does not"


def _tables_by_kind(document: Table) -> Iterator[tuple[str, Address, Table]]:
    yield "top", (), document
    yield from (("extend", address, table) for address, table in tables(document, "extend"))
    for address, rule in tables(document, "rules"):
        yield "rule", address, rule
        yield from (("required", (*address, *below), table) for below, table in tables(rule, "required"))
        yield from (("component", (*address, *below), table) for below, table in tables(rule, "components"))
    for address, allowlist in allowlists(document):
        is_global = str(address[0]).lower() != "rules"
        yield ("global allowlist" if is_global else "rule allowlist"), address, allowlist


def _expressions(document: Table, keys: ConfigKeys) -> Found:
    """Yield each key that an expression asks a variable for and that the variable does not have."""
    if not keys.variables:
        return
    asked = re.compile(_ASKED.format("|".join(keys.variables)))
    for above, holder in [((), document), *tables(document, "rules")]:
        for name in FILTERS:
            for below, text in items(holder, name):
                for found in asked.finditer(text) if isinstance(text, str) else ():
                    variable, key = found[1], found[2] or found[3] or found[4]
                    known = keys.variables[variable].split()
                    if key not in known and key.rpartition(".")[0].partition(".")[0] in _OF_GIT_AND_FILES:
                        close = get_close_matches(key, known, n=1)
                        meant = f"; did you mean `{close[0]}`?" if close else ""
                        said = f"{variable} has no key `{key}`, so what the expression asks of it never holds{meant}"
                        yield place((*above, *below)), said


def _minimum(document: Table, keys: ConfigKeys, version: Numbers) -> Found:
    for address, wanted in items(document, keys.minimum.lower()):
        if isinstance(wanted, str) and _VERSION.match(wanted) and _numbers(wanted) > version:
            yield place(address), f"the file is written for {wanted} or newer, and the scanner is older"


def _twice(document: Table) -> Found:
    seen: dict[str, Address] = {}
    for address, rule in tables(document, "rules"):
        identity = value_of(rule, "id")
        if isinstance(identity, str):
            if earlier := seen.get(identity):
                yield place((*address, "id")), f"{place(earlier)} has the same id: only the last of them counts"
            seen[identity] = address


def _keys_twice(document: Table, lines: Mapping[str, int], above: Address = ()) -> Found:
    """Yield each key that stands again by another case: the scanner reads one of them, which one may be chance."""
    seen: dict[str, str] = {}
    for key, value in document.items():
        earlier = seen.setdefault(key.lower(), key)
        if earlier != key:
            both = [lines.get(place((*above, name)), 1) for name in (earlier, key)]
            said = f"the same key as `{earlier}` but for its case (lines {both[0]} and {both[1]})"
            yield place((*above, key)), f"{said}: the scanner reads only one of them"
        listed = value if isinstance(value, list) else ()
        below: list[tuple[Address, Any]] = [((key,), value), *(((key, index), one) for index, one in enumerate(listed))]
        for address, table in below:
            if isinstance(table, dict):
                yield from _keys_twice(table, lines, (*above, *address))


def _idle_items(document: Table) -> Found:
    for address, allowlist in allowlists(document):
        for below, commit in items(allowlist, "commits"):
            if not (isinstance(commit, str) and _COMMIT.fullmatch(commit.strip())):
                yield place((*address, *below)), "it matches no commit: only a whole id does, of 40 digits"
        for name in ("paths", "regexes", "stopwords"):
            for below, text in items(allowlist, name):
                if text == "":
                    yield place((*address, *below)), "it is empty: depending on the version it hides everything"


def _idle_extend(index: int, document: Table, extended: Sequence[Table], *, is_complete: bool) -> Found:
    for address, extend in tables(document, "extend"):
        extends = bool(value_of(extend, "path") or value_of(extend, "usedefault"))
        if index >= DEEPEST and extends:
            yield place(address), f"nothing is extended from here: the scanner follows [extend] {DEEPEST} times"
        for below, _ in items(extend, "url"):
            yield place((*address, *below)), "the scanner has this key and does nothing with it"
        rules = {value_of(rule, "id") for one in extended for _, rule in tables(one, "rules")}
        for below, rule in items(extend, "disabledrules"):
            if not extends:
                yield place((*address, *below)), "nothing is extended, so nothing is disabled"
            elif is_complete and rule not in rules:
                yield place((*address, *below)), "no file that is extended has this rule, so nothing is disabled"


def _idle_targets(index: int, document: Table, keys: ConfigKeys, version: Numbers) -> Found:
    extends = any(True for _ in tables(document, "extend"))
    last = keys.drops_targets_up_to
    are_dropped = last is not None and version[:2] <= tuple(map(int, last.split(".")))
    for address, allowlist in allowlists(document):
        if address[0] == "rules" or not value_of(allowlist, "targetrules"):
            continue
        if index:
            yield place(address), "with targetRules it counts only in the first file, not in one that is extended"
        elif extends and are_dropped:
            yield place(address), f"with targetRules beside [extend] it is ignored up to {keys.scanner} {last}"
