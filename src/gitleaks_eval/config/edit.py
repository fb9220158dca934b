"""Write TOML: the only place that loads tomlkit."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def as_toml(document: Mapping[str, Any]) -> bytes:
    """A document as a file."""
    return bytes(_tomlkit().dumps(document).encode("utf-8"))


def edited(content: bytes, edit: Callable[[dict[str, Any]], None]) -> bytes:
    """A file after `edit`, which changes the document in place; what it does not touch stays as it is written."""
    document = _tomlkit().parse(content.decode("utf-8"))
    edit(document)
    return bytes(_tomlkit().dumps(document).encode("utf-8"))


def _tomlkit() -> ModuleType:
    import tomlkit  # noqa: PLC0415 - 7 ms, and few configurations are written anew

    return tomlkit
