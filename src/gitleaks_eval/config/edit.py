"""Write TOML: the only place that uses tomlkit."""

from collections.abc import Callable, Mapping
from typing import Any

import tomlkit


def as_toml(document: Mapping[str, Any]) -> bytes:
    """Return a document as a file."""
    return tomlkit.dumps(document).encode("utf-8")


def edited(content: bytes, edit: Callable[[dict[str, Any]], None]) -> bytes:
    """Return a file after `edit`, which changes the document in place; what it does not touch stays as written."""
    document = tomlkit.parse(content.decode("utf-8"))
    edit(document)
    return tomlkit.dumps(document).encode("utf-8")
