"""One side of a comparison: a candidate of this run, or a saved report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Matching
from gitleaks_eval.analysis.metrics import Metrics, make_metrics
from gitleaks_eval.config.chain import BUILTIN
from gitleaks_eval.scoring.surveyed import Surveyed

# The tests of a configuration; where it is the scanner's own there are none, and nothing is wrong.
LINT_CHECKS = ("CL-1", "CL-2")
STATUSES = (EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED)
Of = TypeVar("Of")
BADNESS = {"passed": 0, "not_applicable": 0, "failed": 1, "error": 2}


class CheckKey(NamedTuple):
    """A check of a scenario, whatever the candidate and its node id: the `number`-th of those with this id."""

    check_id: str
    scenario: str | None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluated candidate, from this run or from a saved report.

    `matchings` are by scenario, of which the `corpora` are external; `scanner` has the keys of the report's
    `scanner`, `score` is 0 to 1, `lint` has the faults of its configuration by check id, where they are known,
    `scan_ms` the median time of one scan, repeated, in milliseconds and `scan_ms_spread` its least and most.
    `about` is what the marks of its checks say; a saved report does not have it, and a baseline needs none.
    `surveyed` is None where rules and places were not asked for. `survey_failures` say of each rule, entry and group
    of places that fails why; a saved baseline has none.
    """

    name: str
    matchings: Mapping[str, Matching]
    outcomes: Mapping[CheckKey, str]
    scanner: Mapping[str, Any]
    corpus_sha256: str
    score: float
    decision: str | None
    guarded_decision: str | None
    has_errors: bool
    scan_ms: float | None = None
    scan_ms_spread: tuple[float, float] | None = None
    lint: Mapping[str, frozenset[str]] = field(default_factory=dict)
    corpora: frozenset[str] = frozenset()
    about: Mapping[CheckKey, tuple[str, ...]] = field(default_factory=dict)
    surveyed: Surveyed | None = None
    survey_failures: tuple[str, ...] = ()

    def planted(self) -> Metrics:
        """Return the metrics of the scenarios whose secrets are planted; those of corpora are never mixed with them."""
        return make_metrics({name: one for name, one in self.matchings.items() if name not in self.corpora})

    def of_corpora(self) -> Metrics:
        """Return the metrics of the corpora."""
        return make_metrics({name: one for name, one in self.matchings.items() if name in self.corpora})


def by_key(results: Iterable[tuple[str, str | None, Of]]) -> dict[CheckKey, Of]:
    """What checks have (an outcome) by key, from (check id, scenario, what it has) in the order of collection."""
    seen: Counter[tuple[str, str | None]] = Counter()
    found = {}
    for check_id, scenario, value in results:
        found[CheckKey(check_id, scenario, seen[check_id, scenario])] = value
        seen[check_id, scenario] += 1
    return found


def lint_faults(config: str | None, found: Iterable[tuple[str, Any]]) -> dict[str, frozenset[str]]:
    """The faults of a configuration (its name as in the reports) by check id, from what its tests left as actual."""
    own: dict[str, frozenset[str]] = dict.fromkeys(LINT_CHECKS, frozenset()) if config == BUILTIN else {}
    return {**own, **{check_id: frozenset(map(str, faults)) for check_id, faults in found if isinstance(faults, list)}}


def comparability(baseline: Evaluated, corpus_sha256: str) -> list[str]:
    """Return what makes a saved baseline only partly comparable with a run on the corpus with this hash."""
    if baseline.corpus_sha256 == corpus_sha256:
        return []
    hashes = f"sha256 {baseline.corpus_sha256[:12]} of {baseline.name}, now {corpus_sha256[:12]}"
    return [f"the corpus differs ({hashes}): what both have is compared"]
