"""A configuration as the scanner reads it: keys without regard to case, one for a list of one, values by weak types.

Measured on each version that is tested: tests/scanner/test_config_reading.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

ALLOWLISTS = ("allowlist", "allowlists")
CRITERIA = ("commits", "paths", "regexes", "stopwords")
# Expressions of betterleaks that drop what they are true of.
FILTERS = ("prefilter", "filter")
_TABLES = {"extend", "rules", *ALLOWLISTS}
_LISTS = {*CRITERIA, "disabledrules", "targetrules", "keywords", "tags"}
_TEXTS = {"id", "regex", "path", "regextarget", "condition", *FILTERS}
_FLAGS = {"usedefault", "skipreport", "tokenefficiency"}
_NUMBERS = {"entropy", "secretgroup"}
_TRUE = {"1", "t", "T", "TRUE", "true", "True"}

Address = tuple[str | int, ...]
Table = Mapping[str, Any]


def named(table: Table, name: str) -> tuple[str, Any] | None:
    """A key as it is written, and its value; `name` is in lower case.

    Of a key that stands twice by another case the scanner takes the one that is not all in lower case.
    """
    found = [(key, value) for key, value in table.items() if key.lower() == name]
    return next((one for one in found if one[0] != name), found[0]) if found else None


def as_read(table: Table) -> dict[str, Any]:
    """A document as the scanner reads it: of a key that stands twice one, each value of the type that is asked for."""
    kept = {found[0]: found[1] for name in dict.fromkeys(map(str.lower, table)) if (found := named(table, name))}
    return {key: _value(key.lower(), value) for key, value in kept.items()}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return as_read(value)
    if name in _LISTS:
        listed = value.split(",") if isinstance(value, str) and (not value or "," in value) else value
        return [_text(one) for one in listed if value] if isinstance(listed, list) else _text(listed)
    if isinstance(value, list):
        return [as_read(one) if isinstance(one, dict) else one for one in value]
    if name in _TEXTS:
        return _text(value)
    if name in _FLAGS:
        return value in _TRUE if isinstance(value, str) else bool(value)
    return _number(value) if name in _NUMBERS else value


def _text(value: Any) -> Any:
    """A number or a flag where the scanner asks for a text."""
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else value


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        # The scanner refuses the file.
        return value


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
