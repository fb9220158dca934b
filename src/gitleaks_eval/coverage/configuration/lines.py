"""The line of a file in which an entry stands."""

from collections.abc import Iterable, Mapping

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.lines import address_lines, line_of
from gitleaks_eval.config.tables import CRITERIA, Address
from gitleaks_eval.coverage.configuration.entries import ALL, OVERRIDE, Entry

# An entry that is a table stands where the first of these keys stands, which say what it is about.
_SAID_BY = {ALL: CRITERIA, OVERRIDE: ("id",)}


def entry_lines(entries: Iterable[Entry], configuration: Configuration) -> dict[Entry, int]:
    """The line of each entry, counted from 1."""
    read = [address_lines(file.content) for file in configuration.chain]
    below = [_keys_below(lines) for lines in read]
    return {
        entry: min(
            (line for name, line in below[entry.layer].get(entry.address, ()) if name in _SAID_BY.get(entry.kind, ())),
            default=line_of(read[entry.layer], entry.address),
        )
        for entry in entries
        if entry.layer < len(read)
    }


def _keys_below(lines: Mapping[Address, int]) -> dict[Address, list[tuple[str, int]]]:
    """The keys of each table, in lower case, with the line of each; a list of one item or more by that item."""
    found: dict[Address, list[tuple[str, int]]] = {}
    for address, line in lines.items():
        found.setdefault(address[:-1], []).append((str(address[-1]).lower(), lines.get((*address, 0), line)))
    return found
