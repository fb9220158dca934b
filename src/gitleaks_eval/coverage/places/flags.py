"""The scanner's own flags that may make it look at less, as entries beside those of the configuration."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from gitleaks_eval.config.hiding import Entry as Hider
from gitleaks_eval.coverage.configuration.entries import FLAG, Entry
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.places import Place
from gitleaks_eval.coverage.places.scan import Sight
from gitleaks_eval.coverage.samples.silencing import DEAD, LIVE, NO_WITNESS, EntryResult
from gitleaks_eval.scanners.limits import Limit, limits

FLAGS = Path("--args")
_BY_FINGERPRINT = "it leaves out findings by their fingerprints, and nothing that is planted has one of them"
_BEYOND = (
    "it leaves out findings by their age, number, size, author or message, and nothing that is planted is so old,"
    " so many, so large, by others or described so"
)


def flag_entries(args: Sequence[str]) -> list[Entry]:
    """Return an entry for each flag that may make the scanner look at less."""
    return [Entry(FLAG, limit.text, FLAGS, limit.text, 0, _address(limit)) for limit in limits(args)]


def flag_results(args: Sequence[str], hidden: Hidden) -> list[EntryResult]:
    """Return what is known of each flag: it is live where it hides a place."""
    hiding = {(one.index, one.address) for by in (hidden.by, hidden.together) for one, places in by.items() if places}
    results = []
    for limit, entry in zip(limits(args), flag_entries(args), strict=True):
        if entry.spot in hiding:
            results.append(EntryResult(entry, LIVE))
        elif not limit.is_measured:
            results.append(EntryResult(entry, NO_WITNESS, why=_BY_FINGERPRINT))
        elif limit.is_by_amount:
            results.append(EntryResult(entry, NO_WITNESS, why=_BEYOND))
        else:
            results.append(EntryResult(entry, DEAD))
    return results


def hidden_by_flags(args: Sequence[str], reference: Sight, look: Callable[[Collection[Limit]], Sight]) -> Hidden:
    """Return what each flag hides of what is seen without any.

    Each is asked alone, and what none hides alone is asked without each.

    Args:
        args: the flags as they are given.
        reference: what is seen without them.
        look: scans with the limits that it is given and no others.

    Raises:
        EvaluationError: when a scan does not count.
    """
    measured = [limit for limit in limits(args) if limit.is_measured]
    if not measured:
        return Hidden({}, {}, is_whole=True)
    lost = reference.keys() - look(limits(args)).keys()
    by = {measured[0]: frozenset(lost)} if len(measured) == 1 else {}
    if len(measured) > 1 and lost:
        by = {limit: frozenset(lost - look([limit]).keys()) for limit in measured}
    unnamed = lost.difference(*by.values())
    together: dict[Limit, frozenset[Place]] = {}
    if unnamed:
        together = {
            limit: frozenset(unnamed & look([one for one in measured if one != limit]).keys()) for limit in measured
        }
    named = {_hider(limit): places for limit, places in by.items() if places}
    return Hidden(named, {}, True, {_hider(limit): places for limit, places in together.items() if places})


def _address(limit: Limit) -> tuple[str, ...]:
    return (str(FLAGS), *limit.words)


def _hider(limit: Limit) -> Hider:
    return Hider(FLAGS, limit.text, 0, _address(limit))
