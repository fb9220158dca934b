"""Text from repositories, escaped for the place it goes to."""

import math
import re
from collections.abc import Sequence
from typing import Any

NESTED_AT_MOST = 20
# Python refuses to write longer integers as text.
INTEGER_BITS = 10_000
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&])")


def without_surrogates(text: str) -> str:
    r"""Show lone surrogates (bytes of a file name that are not UTF-8) as `\udcXX`: no encoder takes them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    r"""One line for a terminal: controls, line ends, bidi and zero-width characters become `\xNN`, `\uNNNN`."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode("ascii")
        for char in text
    )


def few(names: Sequence[str], at_most: int = 5) -> str:
    """The first names of a list, and an ellipsis where there are more."""
    return ", ".join([*names[:at_most], *["…"] * (len(names) > at_most)])


def markdown(text: str) -> str:
    """One line for a Markdown cell or list item, shown as it is written and never interpreted."""
    return _MARKDOWN.sub(r"\\\1", printable(text))


def json_value(value: object, depth: int = 0) -> object:
    """A copy of a value that any JSON reader takes: no NaN, no lone surrogate, nothing endless or not JSON."""
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
