"""Performance (SP-1 to SP-4): times in ms, and a number of findings, within the scenario's thresholds."""

import math
from functools import partial

from gitleaks_eval import Analysis, Evidence, Expected, check_at_most, not_applicable
from gitleaks_eval import check as check_of

check = partial(check_of, category="Performance")


@check("SP-1", "Total scan time", about="speed")
def test_SP_1_scan_time(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The scan took no longer than it may."""
    _check_bound(
        evidence,
        expected.thresholds.max_scan_time_ms,
        analysis.count("scan_time_ms"),
        f"scan time in ms{_spread(analysis)}",
    )


@check("SP-2", "Time per commit", about="speed")
def test_SP_2_time_per_commit(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The time for each commit with secrets is no longer than it may be; a missing count is 1."""
    commits = analysis.count("commits_with_secrets", default=1)
    if commits == 0:
        not_applicable("N/A - no commits with secrets")
    actual = analysis.count("scan_time_ms") / commits
    _check_bound(
        evidence, expected.thresholds.max_ms_per_commit, actual, f"ms per commit with secrets{_spread(analysis)}"
    )


@check("SP-3", "Time per finding", about=("findings", "speed"))
def test_SP_3_time_per_finding(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The time for each finding is no longer than it may be."""
    total = analysis.count("total_secrets")
    if total == 0:
        not_applicable("N/A - no secrets found")
    actual = analysis.count("scan_time_ms") / total
    _check_bound(evidence, expected.thresholds.max_ms_per_finding, actual, f"ms per finding{_spread(analysis)}")


@check("SP-4", "Findings count reasonable", about="findings")
def test_SP_4_findings_count(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """There are no more findings than a test may have."""
    maximum = expected.thresholds.max_findings_for_test
    _check_bound(evidence, maximum, len(analysis.findings()), "findings")


def _spread(analysis: Analysis) -> str:
    """Return how far the times of repeated scans are apart; empty for one scan."""
    match analysis.results.get("scan_time_spread_ms"):
        case [int() | float() as least, int() | float() as most]:
            return f" (fastest of repeated scans: {least:.0f} to {most:.0f} ms)"
    return ""


def _check_bound(evidence: Evidence, maximum: float, actual: float, what: str) -> None:
    if math.isinf(maximum):
        not_applicable(f"No bound is set for the {what}")
    check_at_most(evidence, maximum, actual, what=what)
