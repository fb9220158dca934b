"""Templates that ship with us: the only place that loads jinja2."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import markdown, printable

_CHUNKS = 200
_BLANK_LINES = re.compile(r"\n{3,}")


def rendered(name: str, values: Mapping[str, Any]) -> Iterator[bytes]:
    """Return the pieces of a shipped template with these values; each is escaped for HTML, and controls are shown."""
    stream = environment().get_template(name).stream(values)
    stream.enable_buffering(_CHUNKS)
    return (piece.encode("utf-8", "backslashreplace") for piece in stream)


def markdown_page(name: str, values: Mapping[str, Any]) -> bytes:
    """Return a shipped template of Markdown with these values: each is escaped as one line, but what is `plain`."""
    text = environment(_as_markdown).get_template(name).render(values).strip("\n")
    # Between two blocks is one blank line, whatever was left out there.
    return (_BLANK_LINES.sub("\n\n", text) + "\n").encode("utf-8", "backslashreplace")


def plain(text: str) -> Markup:
    """Mark text as Markdown already."""
    return Markup(text)  # noqa: S704 - nothing of it becomes HTML


@cache
def environment(finalize: Callable[[object], object] | None = None) -> Environment:
    """Return what has compiled the templates: that takes as long as all else of a page."""
    made = Environment(
        loader=FileSystemLoader(data("report")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize or _shown,
        # Looking for constants takes as long as all else of compiling, and there is next to none.
        optimized=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["plain"] = plain
    return made


def _shown(value: object) -> object:
    # What is markup already is a subclass of text.
    return printable(value) if type(value) is str else value


def _as_markdown(value: object) -> object:
    return plain(markdown(value)) if type(value) is str else value
