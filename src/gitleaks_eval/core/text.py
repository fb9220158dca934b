"""Text from repositories, escaped for the place it goes to."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NESTED_AT_MOST = 20
# Python refuses to write longer integers as text.
INTEGER_BITS = 10_000
# Workflow commands: of GitHub (which looks behind blanks, too) and, with `##`, of it, Azure and TeamCity.
_COMMAND = re.compile(r"^\s*::|##(?=\w*\[)")
# What GitHub and GitLab make links of: addresses, names of people and teams, numbers of issues and of merge requests.
_LINKED = re.compile(r"://|www\.|@|mailto:|[#!]\d|GH-\d", re.IGNORECASE)
_WORD = re.compile(r"\s+|\S+")
_BACKTICKS = re.compile("`+")
_BAR = r"\x7c"
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&])")


def without_surrogates(text: str) -> str:
    r"""Show lone surrogates (bytes of a file name that are not UTF-8) as `\udcXX`: no encoder takes them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    r"""Return one line for a terminal: controls, line ends, bidi and zero-width characters become `\xNN`, `\uNNNN`.

    So does a character of what a CI service would obey in a log: `::error` at its begin, `##[error]` anywhere.
    """
    if not text.isprintable():
        text = "".join(
            char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode("ascii")
            for char in text
        )
    return _COMMAND.sub(_escaped_first, text) if _COMMAND.search(text) else text


def _escaped_first(match: re.Match[str]) -> str:
    # Of `  ::` the colon, of `##vso[` the number sign.
    blanks = len(match[0]) - len(match[0].lstrip())
    return f"{match[0][:blanks]}\\x{ord(match[0][blanks]):02x}{match[0][blanks + 1 :]}"


def few(names: Sequence[str], at_most: int = 5) -> str:
    """Return the first names of a list, and an ellipsis where there are more."""
    return ", ".join([*names[:at_most], *["…"] * (len(names) > at_most)])


def markdown(text: str) -> str:
    """Return one line for a Markdown cell or list item, shown as it is written, never interpreted and never linked."""
    return "".join(
        _code(word) if _LINKED.search(word) else _MARKDOWN.sub(r"\\\1", word) for word in _WORD.findall(printable(text))
    )


def _code(word: str) -> str:
    # Nothing else keeps every reader of Markdown from linking it; a cell would end at a bar in code, too.
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(word)), default=0))
    blank = " " if "`" in (word[0], word[-1]) else ""
    return f"{fence}{blank}{word.replace('|', _BAR)}{blank}{fence}"


def json_value(value: object, depth: int = 0) -> object:
    """Return a copy of a value that any JSON reader takes: no NaN, no lone surrogate, nothing endless or not JSON."""
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return "…" if depth >= NESTED_AT_MOST else _json_container(value, depth + 1)
    if isinstance(value, str):
        return without_surrogates(value)
    if value is None or (isinstance(value, int) and value.bit_length() <= INTEGER_BITS):
        return value
    if isinstance(value, int):
        return f"a number of {value.bit_length()} bits"
    return value if isinstance(value, float) and math.isfinite(value) else without_surrogates(str(value)[:200])


def _json_container(value: Any, depth: int) -> object:
    if isinstance(value, dict):
        return {without_surrogates(str(key)): json_value(item, depth) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(without_surrogates(str(item)) for item in value)
    return [json_value(item, depth) for item in value]


def shown_path(path: Path, root: Path) -> str:
    """Return a path as people know it: relative to `root` where it is below it."""
    if not path.is_absolute():
        return str(path)
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return str(path.resolve() if ".." in path.parts else path)


def numbered(count: int, singular: str, plural: str = "") -> str:
    """`1 finding`, `2 findings`; `plural` where it is not made with an s."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
