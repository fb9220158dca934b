"""Which entries may be about a find, foreseen: it spares the scanner questions."""

from collections.abc import Iterable, Sequence

from gitleaks_eval.coverage.entries import Entry
from gitleaks_eval.coverage.hidden_values import Foreseen, Found, foreseen

# With each entry what it says, None for what is no allowlist or cannot be foreseen.
Ready = Sequence[tuple[Entry, Foreseen | None]]


def ready_for(entries: Iterable[Entry]) -> Ready:
    """The entries, ready to be asked."""
    listed = list(entries)
    known = iter(foreseen(entry.allowlist for entry in listed if entry.allowlist))
    both = [(entry, next(known) if entry.allowlist else None) for entry in listed]
    return [(entry, one if one and one.is_certain else None) for entry, one in both]


def entries_about(ready: Ready, found: Found, rule_id: str | None = None) -> list[Entry]:
    """The entries that may be about a find (of that rule); what cannot be foreseen may be about anything."""
    lowered = found.lowered
    return [
        entry
        for entry, one in ready
        if (not rule_id or not entry.rule_ids or rule_id in entry.rule_ids)
        and (one is None or one.hides(found, lowered))
    ]
