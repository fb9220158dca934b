"""Text from repositories, escaped for the place it goes to."""

import math
import re

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


def markdown(text: str) -> str:
    """One line for a Markdown cell or list item, shown as it is written and never interpreted."""
    return _MARKDOWN.sub(r"\\\1", printable(text))


def json_value(value: object, depth: int = 0) -> object:
    """A copy of a JSON value that any JSON reader takes: no NaN, no infinity, no lone surrogate."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (dict, list, tuple)) and depth >= 20:
        return "…"
    if isinstance(value, dict):
        return {without_surrogates(str(key)): json_value(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item, depth + 1) for item in value]
    return value
