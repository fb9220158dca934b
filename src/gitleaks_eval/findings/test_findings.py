"""Each expected finding is a test, and each unexpected one fails a test of its scenario (`--gitleaks-findings`)."""

import pytest

from gitleaks_eval.analysis.matching import EXACT, UNEXPECTED, Match, Matching
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.text import printable

SHOWN_AT_MOST = 20


@pytest.mark.finding
def test_expected_finding(match: Match) -> None:
    """The finding is reported where and as what it is expected."""
    if match.status != EXACT:
        raise CheckFailed(printable(f"{match.status}: {match.place} {match.rule_id}{_seen(match)}"))


@pytest.mark.finding
def test_no_unexpected_finding(matching: Matching) -> None:
    """Nothing is reported that is not expected."""
    lines = [
        printable(f"unexpected: {match.place} {match.rule_id}")
        for match in matching.matches
        if match.status == UNEXPECTED
    ]
    if unlisted := matching.unlisted_unexpected:
        lines.append(f"unexpected: {unlisted} (by count: the ground truth lists no findings)")
    if lines:
        more = [f"and {len(lines) - SHOWN_AT_MOST} more"] * (len(lines) > SHOWN_AT_MOST)
        raise CheckFailed("\n  ".join(lines[:SHOWN_AT_MOST] + more))


def _seen(match: Match) -> str:
    if match.status == "moved":
        return f", reported on line {match.reported_line_number}"
    return f", reported as {match.reported_rule_id}" if match.status == "relabelled" else ""
