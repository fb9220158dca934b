"""Finding one's way in a configuration as Gitleaks reads it: keys without regard to case, one for a list of one."""

from collections.abc import Iterator, Mapping
from typing import Any

ALLOWLISTS = ("allowlist", "allowlists")
CRITERIA = ("commits", "paths", "regexes", "stopwords")
# Expressions of betterleaks that drop what they are true of.
FILTERS = ("prefilter", "filter")
_TABLES = {"extend", "rules", *ALLOWLISTS}

Address = tuple[str | int, ...]
Table = Mapping[str, Any]


def named(table: Table, name: str) -> tuple[str, Any] | None:
    """A key as it is written, and its value; `name` is in lower case."""
    return next(((key, value) for key, value in table.items() if key.lower() == name), None)


def value_of(table: Table, name: str) -> Any:
    """The value of a key, None when it is not there; `name` is in lower case."""
    found = named(table, name)
    return found[1] if found else None


def tables(holder: Table, name: str) -> Iterator[tuple[Address, Table]]:
    """The tables below a key, with their addresses."""
    key, value = named(holder, name) or ("", None)
    if isinstance(value, dict):
        yield (key,), value
    for index, table in enumerate(value if isinstance(value, list) else ()):
        if isinstance(table, dict):
            yield (key, index), table


def items(table: Table, name: str) -> Iterator[tuple[Address, Any]]:
    """The items of a list below a key, with their addresses."""
    key, value = named(table, name) or ("", [])
    if isinstance(value, list):
        yield from (((key, index), item) for index, item in enumerate(value))
    else:
        yield (key,), value


def allowlists(document: Table) -> Iterator[tuple[Address, Table]]:
    """Each allowlist, the global ones and those of rules, with its address."""
    holders: list[tuple[Address, Table]] = [((), document), *tables(document, "rules")]
    for above, holder in holders:
        for name in ALLOWLISTS:
            yield from (((*above, *address), allowlist) for address, allowlist in tables(holder, name))


def place(address: Address) -> str:
    """`[allowlist] paths[0]` below a table at the top, `rules[2].allowlists[0].paths[0]` below a list."""
    text = ""
    for step in address:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    top, _, rest = text.partition(".")
    return f"[{top}] {rest}".rstrip() if top.lower() in _TABLES else text
