"""Check results and matched findings become rates, dimensions and decisions. Pure: imports no pytest."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match, Matching

CATEGORIES = (
    "Accuracy",
    "Detection",
    "Coverage",
    "Performance",
    "Output Quality",
    "Integration Fit",
    "Edge Cases",
    "Rollup Validation",
)
# "Decision Thresholds" of the requirements, on the 0-5 scale.
THRESHOLDS = (("STRONG_PASS", 4.0), ("PASS", 3.5), ("WEAK_PASS", 3.0), ("FAIL", 0.0))
_BEST = THRESHOLDS[0][0]
SCALE = 5.0


class Result(Protocol):
    """What scoring looks at in a check result."""

    @property
    def category(self) -> str: ...  # noqa: D102 - see checks.result.CheckResult
    @property
    def outcome(self) -> str: ...  # noqa: D102 - see checks.result.CheckResult


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of the four outcomes, which are disjoint, and the rates that follow from them."""

    passed: int
    failed: int
    not_applicable: int
    errors: int

    @property
    def total(self) -> int:
        """All checks, errors included."""
        return self.passed + self.failed + self.not_applicable + self.errors

    @property
    def rate(self) -> float:
        """The documented score, 0 to 1: not applicable counts as a pass, an error as a failure."""
        return (self.passed + self.not_applicable) / self.total if self.total else 0.0

    @property
    def applicable_rate(self) -> float:
        """0 to 1, without the checks that had nothing to look at."""
        applicable = self.total - self.not_applicable
        return self.passed / applicable if applicable else 0.0

    @property
    def normalized(self) -> float:
        """The documented score on the 0 to 5 scale."""
        return self.rate * SCALE


@dataclass(frozen=True, slots=True)
class FindingCounts:
    """Expected findings by what became of them, and the unexpected ones, over all scenarios.

    `detected` are exact matches; `accepted` are not, for entries of the configuration that are accepted, and count
    nowhere else; `unevaluated` are expected in scenarios that could not be evaluated; `unexpected`
    are wrong, and of those `unlabelled` the truth of a corpus says nothing.
    """

    expected: int = 0
    detected: int = 0
    moved: int = 0
    relabelled: int = 0
    missed: int = 0
    unexpected: int = 0
    unevaluated: int = 0
    unlabelled: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True)
class Scorecard:
    """What a run amounts to; the decisions are None where only a part of the checks was selected, or none is scored."""

    score: Score
    by_category: Mapping[str, Score]
    by_scenario: Mapping[str, Score]
    findings: FindingCounts
    decision: str | None
    guarded_decision: str | None


def score_of(outcomes: Iterable[str]) -> Score:
    """Count outcomes."""
    counts: dict[str, int] = defaultdict(int)
    for outcome in outcomes:
        counts[outcome] += 1
    return Score(counts["passed"], counts["failed"], counts["not_applicable"], counts["error"])


def decide(rate: float) -> str:
    """Return the documented decision for a score of 0 to 1."""
    return next(name for name, least in THRESHOLDS if rate * SCALE >= least)


def guard(  # noqa: PLR0913 - what may lower it, each under its name
    decision: str,
    findings: FindingCounts,
    *,
    incomplete: bool,
    faulty: bool = False,
    uncovered: bool = False,
    narrowed: bool = False,
    weak: bool = False,
) -> str:
    """Return the decision that leads: structure alone must not carry a scanner that loses or invents secrets.

    What is accepted is not found all the same: it is PASS at best. `faulty` is a configuration that fails its lint:
    nobody knows what else it does not do. With `uncovered` a test of a rule, a place or an entry failed; with
    `narrowed` the configuration hides something that it may hide; `weak` is a survey that allows no more than
    WEAK_PASS, or a check that failed and that nothing excuses.
    """
    if incomplete or findings.missed or findings.unevaluated or uncovered:
        return "FAIL"
    if faulty or weak or findings.moved or findings.relabelled or findings.unexpected or findings.unlabelled:
        return "FAIL" if decision == "FAIL" else "WEAK_PASS"
    return "PASS" if (narrowed or findings.accepted) and decision == _BEST else decision


def make_scorecard(  # noqa: PLR0913 - as `guard`
    by_scenario: Mapping[str | None, Sequence[Result]],
    findings: FindingCounts,
    *,
    incomplete: bool,
    partial: bool,
    scored: bool = True,
    faulty: bool = False,
    uncovered: bool = False,
    narrowed: bool = False,
    weak: bool = False,
) -> Scorecard:
    """Score a run by its results; those of checks that take no scenario stand under None.

    Where no check is `scored` there is no documented decision; the guarded one is about what was asked beside the
    checks. The last four are those of `guard`.
    """
    results = [result for group in by_scenario.values() for result in group]
    score = score_of(result.outcome for result in results)
    decision = decide(score.rate) if scored and not partial else None
    guarded = guard(
        decision or _BEST,
        findings,
        incomplete=incomplete,
        faulty=faulty,
        uncovered=uncovered,
        narrowed=narrowed,
        weak=weak,
    )
    return Scorecard(
        score=score,
        by_category={
            name: score_of(result.outcome for result in results if result.category == name)
            for name in categories(results)
        },
        by_scenario={
            name: score_of(result.outcome for result in group)
            for name, group in by_scenario.items()
            if name is not None
        },
        findings=findings,
        decision=decision,
        guarded_decision=None if partial else guarded,
    )


def categories(results: Iterable[Result]) -> list[str]:
    """Return the categories that occur, the documented ones first and in their order, then new ones by name."""
    present = {result.category for result in results}
    return [name for name in CATEGORIES if name in present] + sorted(present.difference(CATEGORIES))


def count_findings(matchings: Sequence[Matching], unevaluated: int, accepted: Collection[Match] = ()) -> FindingCounts:
    """Add up the matched findings of all scenarios; `accepted` are those that accepted entries alone hide."""
    counts = sum((matching.counts() for matching in matchings), Counter[str]())
    counts -= Counter(match.status for match in accepted)
    unlabelled = sum(matching.unlabelled for matching in matchings)
    return FindingCounts(
        expected=sum(matching.expected for matching in matchings) + unevaluated,
        detected=counts[EXACT],
        moved=counts[MOVED],
        relabelled=counts[RELABELLED],
        missed=counts[MISSED],
        unexpected=counts[UNEXPECTED] - unlabelled,
        unevaluated=unevaluated,
        unlabelled=unlabelled,
        accepted=len(accepted),
    )
