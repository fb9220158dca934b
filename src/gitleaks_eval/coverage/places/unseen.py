"""The usual places that a build does not see although the known build that it is held against does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitleaks_eval.config.eval_file import UNSEEN, Acceptance
from gitleaks_eval.core.text import few, numbered
from gitleaks_eval.coverage.configuration.known import Known
from gitleaks_eval.coverage.configuration.probes import Hides, offered
from gitleaks_eval.coverage.configuration.rules import Dialect
from gitleaks_eval.coverage.places.map import Placed, PlacesMap
from gitleaks_eval.coverage.result import MISSING

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
    titles = places.titles(MISSING)
    if not titles or places.known is None or places.known.is_stated:
        return Unseen(places.known)
    offers = tuple(_offer(one, places.known, dialect, acceptances) for one in places.placed if one.status == MISSING)
    left = [title for title, offer in zip(titles, offers, strict=True) if not offer["accepted"]]
    weak = (
        f"{numbered(len(left), 'place')} that {places.known.title}, the nearest known build, sees"
        f" {'is' if len(left) == 1 else 'are'} not seen: {few(left, NAMED_AT_MOST)}"
    )
    return Unseen(places.known, (weak,) if left else (), offers)


def _offer(placed: Placed, known: Known, dialect: Dialect, acceptances: Mapping[str, Acceptance]) -> Mapping[str, Any]:
    place = placed.place
    # Each by its name: of a number, other places could take the place of those that were looked at.
    text = unseen_text(dialect, place.title)
    return {
        "entry": text,
        "layer": 0,
        "name": "builtin:1",
        "said": f"{text}: {known.title} sees it",
        **offered(Hides({place.family: [place.title]}), dialect, acceptances.get(text)),
    }


def unseen_text(dialect: Dialect, title: str) -> str:
    """Return what an acceptance calls a place that a build of this version does not see."""
    return f"{UNSEEN}{title} of {dialect.scanner} {dialect.version}"
