"""Candidates that were evaluated, made by hand and by search, for tests of comparisons and of baselines."""

from collections.abc import Iterable, Mapping

from builders import finding
from hypothesis import settings
from hypothesis import strategies as st

from gitleaks_eval.analysis.matching import Matching, match_findings
from gitleaks_eval.checks.catalogue import catalogue
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding
from gitleaks_eval.scoring.evaluated import CheckKey, Evaluated

Place = tuple[str, str, int]
Outcomes = Mapping[tuple[str, str | None], str]

A: Place = ("a.py", "jwt", 5)
B: Place = ("b.py", "jwt", 9)
HASH = "c" * 64
ABOUT = {entry.check_id: entry.about for entry in catalogue()}


def matched(
    wanted: Iterable[Place], actual: Iterable[Place], *, total: int | None = None, severity: str = "HIGH"
) -> Matching:
    """What matching makes of findings at these places, where those were wanted."""
    findings = tuple(ExpectedFinding(path, rule, line) for path, rule, line in wanted)
    expected = Expected(len(findings) if total is None else total, 0, 0, 0, 0, 0, findings=findings)
    return match_findings(expected, [finding(path, line, rule, severity) for path, rule, line in actual])


def evaluated(
    name: str, matchings: Mapping[str, Matching], outcomes: Outcomes | None = None, *, has_errors: bool = False
) -> Evaluated:
    """A candidate as a comparison is given it."""
    return Evaluated(
        name=name,
        matchings=matchings,
        outcomes={CheckKey(*key): outcome for key, outcome in (outcomes or {}).items()},
        about={CheckKey(*key): ABOUT.get(key[0], ()) for key in outcomes or {}},
        scanner={"name": "gitleaks", "version": "8.30.1", "sha256": None, "config": None},
        corpus_sha256=HASH,
        score=1.0,
        decision="STRONG_PASS",
        guarded_decision="STRONG_PASS",
        has_errors=has_errors,
    )


# By search.

PLACES = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from(["r", "s", "slack-bot-token", "slack-access-token"]), st.integers(1, 9)
    ),
    max_size=8,
)
MATCHINGS = st.builds(
    lambda wanted, befores, afters, total: (
        matched(wanted, befores, total=len(wanted) + total),
        matched(wanted, afters, total=len(wanted) + total),
    ),
    PLACES, PLACES, PLACES, st.sampled_from([0, 0, 0, 2]),
)  # fmt: skip
searched = settings(max_examples=200, deadline=None, database=None, derandomize=True)
