"""The usual places that a build does not see although the known build that it is held against does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitleaks_eval.config.beside import UNSEEN, Acceptance
from gitleaks_eval.core.text import few, numbered
from gitleaks_eval.coverage.known import Known
from gitleaks_eval.coverage.places_map import PlacesMap
from gitleaks_eval.coverage.probes import Hides, hold_against, offered
from gitleaks_eval.coverage.result import MISSING
from gitleaks_eval.coverage.rules import Dialect

NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Unseen:
    """Places that this build misses: why the decision is WEAK_PASS at best, and what can be accepted."""

    known: Known | None = None
    weak: tuple[str, ...] = ()
    offers: tuple[Mapping[str, Any], ...] = ()

    def said(self, title: str) -> str:
        """Return what is said of such a place."""
        return f"{title}: not seen, {self.known.title if self.known else 'the known build'} sees it"


def unseen_of(places: PlacesMap, dialect: Dialect, acceptances: Mapping[str, Acceptance]) -> Unseen:
    """Judge the places that are missing; `acceptances` are those beside entries, by their texts.

    Of a build that states a known version nothing can be accepted: it is not that version.
    """
    families: dict[str, list[str]] = {}
    for placed in places.placed:
        if placed.status == MISSING:
            families.setdefault(placed.place.family, []).append(placed.place.title)
    titles = [title for of_family in families.values() for title in of_family]
    if not titles or places.known is None or places.known.is_stated:
        return Unseen(places.known)
    hides = Hides(families)
    text = unseen_text(dialect)
    offer = {
        "entry": text,
        "layer": 0,
        "name": "builtin:1",
        "said": f"{text}: {numbered(len(titles), 'place')} that {places.known.title} sees",
        **offered(hides, dialect, acceptances.get(text)),
    }
    acceptance = acceptances.get(text)
    is_accepted = acceptance is not None and not hold_against(acceptance, hides, ()).grown
    weak = (
        f"{numbered(len(titles), 'place')} that {places.known.title}, the nearest known build, sees"
        f" {'is' if len(titles) == 1 else 'are'} not seen: {few(titles, NAMED_AT_MOST)}"
    )
    return Unseen(places.known, () if is_accepted else (weak,), (offer,))


def unseen_text(dialect: Dialect) -> str:
    """Return what an acceptance calls the places that a build of this version does not see."""
    return f"{UNSEEN}{dialect.scanner} {dialect.version}"
