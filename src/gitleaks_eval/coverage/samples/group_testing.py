"""Which entry hides what by itself, in few scans: entries that are not about the same things share one."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

SCANS_AT_MOST = 20

Entry = TypeVar("Entry", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)


def hidden_alone(
    entries: Sequence[Entry],
    items: Mapping[Item, Collection[Entry]],
    ask: Callable[[Sequence[Entry]], Collection[Item]],
    groups: Sequence[Sequence[Entry]] | None = None,
) -> dict[Item, list[Entry]]:
    """Find for each item the entries that hide it when all other entries are gone.

    Args:
        entries: all that may hide something.
        items: what may be hidden, and the entries that may be about it, foreseen; too many do no harm.
        ask: with which entries in force (and no others) to scan; it returns what is hidden then.
        groups: which entries to ask together, such as `by_number`; found from the items when left out.
    """
    if groups is None:
        wanted = set().union(*items.values())
        asked = [entry for entry in entries if entry in wanted]
        groups = _apart(asked, items) or by_number(asked)
    told: dict[Entry, list[Collection[Item]]] = {}
    for group in groups:
        hidden = set(ask(group))
        for entry in group:
            told.setdefault(entry, []).append(hidden)
    # An entry only ever hides: where it is in force and the item is seen, it is not that one.
    return {
        item: [entry for entry in about if entry in told and all(item in hidden for hidden in told[entry])]
        for item, about in items.items()
    }


def _apart(entries: Sequence[Entry], items: Mapping[Item, Collection[Entry]]) -> list[list[Entry]] | None:
    """Groups in none of which two entries are about the same item; None when there would be too many."""
    if any(len(about) > SCANS_AT_MOST for about in items.values()):
        return None
    rivals: dict[Entry, set[Entry]] = {entry: set() for entry in entries}
    for about in items.values():
        for entry in about:
            rivals[entry].update(about)
    groups: list[list[Entry]] = []
    members: list[set[Entry]] = []
    for entry in entries:
        place = next((index for index, there in enumerate(members) if not there & rivals[entry]), None)
        if place is None:
            if len(groups) == SCANS_AT_MOST:
                return None
            groups.append([])
            members.append(set())
            place = len(groups) - 1
        groups[place].append(entry)
        members[place].add(entry)
    return groups


def by_number(entries: Sequence[Entry]) -> list[list[Entry]]:
    """For each binary digit of an entry's number those with 0 and those with 1: any two are apart in one of them."""
    if len(entries) <= 1:
        return [list(entries)] if entries else []
    digits = [(bit, digit) for bit in range((len(entries) - 1).bit_length()) for digit in (0, 1)]
    return [[entry for number, entry in enumerate(entries) if number >> bit & 1 == digit] for bit, digit in digits]
