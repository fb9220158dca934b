"""The version of the probes: an acceptance speaks of those that it was measured on, and of no others.

The probes of rules are their ids, those of a family of usual places (`path`, `form`, …) their titles. A new family
needs nothing here.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from gitleaks_eval.config.eval_file import FIRST_PROBES, PLACES, RULES, Acceptance
from gitleaks_eval.core.resources import data
from gitleaks_eval.coverage.configuration.known import RULES_FILE, measured
from gitleaks_eval.coverage.configuration.rules import Dialect

# Raise it when probes are added or mean something else, and list in the file those that were there before.
VERSION = 4
# Since then entries of paths that are for certain rules are measured with secrets of these rules.
PATHS_FOR_RULES = 3
FILE = data("probes.tsv")
# The family of documented formats of tokens: they are no places.
FORMAT = "format"
# Of how many rules an entry was asked: of many entries, of fewer.
OF_RULES = "of_rules"


@dataclass(frozen=True, slots=True)
class Hides:
    """What an entry hides by itself: whatever other entries are deleted, this stays as it is.

    `places` has titles by family, those of formats among them. `rules` are the ids of those that it silences, with
    usual values (`usual`) or with values that it is about; it was asked of `of_rules`. An entry of paths for all rules
    is `for_all`: it silences every rule where it matches, and `rules` has none of them for that.
    """

    places: Mapping[str, Collection[str]]
    rules: Collection[str] = ()
    usual: Collection[str] = ()
    of_rules: int = 0
    for_all: bool = False
    since: int = FIRST_PROBES

    @property
    def number(self) -> int:
        """How many places and formats it hides."""
        return sum(map(len, self.places.values()))

    def counts(self) -> dict[str, int]:
        """Return what an acceptance says of so much: all places, the rules, and each family of places."""
        families = {family: len(titles) for family, titles in sorted(self.places.items()) if titles}
        of_rules = {OF_RULES: self.of_rules} if self.of_rules else {}
        places = sum(count for family, count in families.items() if family != FORMAT)
        return {PLACES: places, RULES: len(self.rules), **of_rules, **families}


class Growth(NamedTuple):
    """A family of which more is hidden than was accepted."""

    family: str
    now: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What an entry hides now, held against an acceptance: what grew, and how many probes it was not measured on."""

    grown: tuple[Growth, ...]
    unmeasured: int


def offered(hides: Hides, scanner: Dialect, acceptance: Acceptance | None, own: Collection[str] = ()) -> dict[str, Any]:
    """Return what is offered to be accepted: how much, measured with what, and whether `acceptance` has it already."""
    held = hold_against(acceptance, hides, own) if acceptance else None
    return {
        "hides": hides.counts(),
        "probes": VERSION,
        "scanner": " ".join(filter(None, (scanner.scanner, scanner.version))),
        "accepted": held is not None and not held.grown,
        "unmeasured": held.unmeasured if held else 0,
    }


def hold_against(acceptance: Acceptance, hides: Hides, own: Collection[str]) -> Measured:
    """Return what an entry hides beyond an acceptance; `own` are the ids of the user's own rules.

    Only the probes count that the acceptance was measured on. Of later ones, and of rules that its scanner did not
    have, it says nothing.
    """
    if acceptance.probes < hides.since:
        return Measured((), hides.number + len(hides.rules))
    bounds = dict(acceptance.hides)
    is_first = acceptance.probes == FIRST_PROBES
    rules = hides.usual if is_first else hides.rules
    known = Hides(
        {family: _known(acceptance, titles) for family, titles in hides.places.items()},
        _of_scanner(acceptance, rules, own),
    )
    now = known.counts()
    unmeasured = hides.number - known.number + len(rules) - len(known.rules)
    # With fewer entries, or a new rule, each is asked of more.
    more = 0 if is_first else max(0, hides.of_rules - bounds.get(OF_RULES, hides.of_rules))
    # The first version knew no families.
    names = (PLACES, RULES) if is_first else [name for name in now if name != OF_RULES]
    wanted = {name: bounds.get(name, 0) + more * (name == RULES) for name in names}
    grown = [Growth(name, now[name], most) for name, most in wanted.items() if now[name] > most]
    if hides.for_all and not is_first and not now[RULES] and (accepted := bounds.get(RULES, 0)):
        # It was accepted for rules that it named, and now it names none.
        grown.append(Growth(RULES, hides.of_rules, accepted))
    return Measured(tuple(grown), unmeasured)


def _known(acceptance: Acceptance, titles: Collection[str]) -> list[str]:
    first = _first_versions()
    return [title for title in titles if first.get(title, VERSION) <= acceptance.probes]


def _of_scanner(acceptance: Acceptance, rules: Collection[str], own: Collection[str]) -> Collection[str]:
    fired = measured(RULES_FILE).get(acceptance.scanner)
    return rules if fired is None else [name for name in rules if name in fired or name in own]


@cache
def _first_versions() -> dict[str, int]:
    return {title: version for version, title in _lines()}


def _lines() -> Iterator[tuple[int, str]]:
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            version, title = line.split("\t")
            yield int(version), title
