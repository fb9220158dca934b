"""The scanners that can be under test: a file for each in `adapters` says what is its own."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.scanners import adapters
from gitleaks_eval.scanners.adapter import Adapter, Sources
from gitleaks_eval.scanners.adapters.gitleaks import ADAPTER as GITLEAKS

__all__ = [
    "GITLEAKS",
    "IGNORE_FILES",
    "SCANNERS",
    "Adapter",
    "Sources",
    "checked_version",
    "known_scanner",
    "scanner_and_version",
    "scanner_of_help",
]


def _adapters() -> Iterator[Adapter]:
    """Gitleaks, which is meant where none is named, and the others by name."""
    yield GITLEAKS
    for module in iter_modules(adapters.__path__):
        adapter: Adapter = import_module(f"{adapters.__name__}.{module.name}").ADAPTER
        if adapter is not GITLEAKS:
            yield adapter


SCANNERS = {adapter.name: adapter for adapter in _adapters()}
# Of any scanner, whichever is under test: some read those of others.
IGNORE_FILES = frozenset(name for adapter in SCANNERS.values() for name in adapter.ignore_files)


def known_scanner(name: str, named_by: str) -> Adapter:
    """Return the adapter of a scanner.

    Raises:
        InputError: when no scanner has this name; it lists those that are known.
    """
    adapter = SCANNERS.get(name)
    if adapter is None:
        raise InputError(f"{named_by}: {name!r} is no scanner that is known; write one of {', '.join(SCANNERS)}")
    return adapter


def checked_version(text: str, named_by: str, adapter: Adapter = GITLEAKS) -> str:
    """Return a version such as `8.30.1`, also when written `v8.30.1`.

    Raises:
        InputError: when the scanner has no such versions.
    """
    version = text.removeprefix("v")
    if not adapter.version_form.fullmatch(version):
        raise InputError(
            f"{named_by} {text!r}: not a version of {adapter.title}; write it as {adapter.example_version}"
        )
    return version


def scanner_and_version(text: str, named_by: str) -> tuple[Adapter, str]:
    """Return what `betterleaks@1.4.0` names; a version alone is one of Gitleaks.

    Raises:
        InputError: as `known_scanner` and `checked_version`.
    """
    name, at, version = text.rpartition("@")
    adapter = known_scanner(name, f"{named_by} {text!r}") if at else GITLEAKS
    return adapter, checked_version(version, named_by, adapter)


def scanner_of_help(usage: str) -> Adapter | None:
    """Return the scanner whose `--help` this is: it names the program, whatever the file is called."""
    lines = usage.splitlines()
    return next((adapter for adapter in SCANNERS.values() if f"  {adapter.name} [command]" in lines), None)
