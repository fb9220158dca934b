"""Templates that ship with us: the only place that loads jinja2."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import printable

_CHUNKS = 200


def rendered(name: str, values: Mapping[str, Any]) -> Iterator[bytes]:
    """The pieces of a shipped template with these values; each is escaped for HTML, and controls are shown."""
    stream = environment().get_template(name).stream(values)
    stream.enable_buffering(_CHUNKS)
    return (piece.encode("utf-8", "backslashreplace") for piece in stream)


@cache
def environment() -> Environment:
    """What has compiled the templates: that takes as long as all else of a page, and candidates have a page each."""
    return Environment(
        loader=FileSystemLoader(data("report")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        # Looking for constants takes as long as all else of compiling, and there is next to none.
        optimized=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    # What is markup already is a subclass of text.
    return printable(value) if type(value) is str else value
