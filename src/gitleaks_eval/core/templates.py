"""Templates that ship with us: the only place that loads jinja2."""

from collections.abc import Iterator, Mapping
from typing import Any

from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import printable

_CHUNKS = 200


def rendered(name: str, values: Mapping[str, Any]) -> Iterator[bytes]:
    """The pieces of a shipped template with these values; each is escaped for HTML, and controls are shown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - 60 ms, at the end of a run

    environment = Environment(
        loader=FileSystemLoader(data("report")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    stream = environment.get_template(name).stream(values)
    stream.enable_buffering(_CHUNKS)
    return (piece.encode("utf-8", "backslashreplace") for piece in stream)


def _shown(value: object) -> object:
    # What is markup already is a subclass of text.
    return printable(value) if type(value) is str else value
