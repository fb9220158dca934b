"""Coverage: each rule fires, each usual place is scanned, and no entry of the configuration hides too much.

Outside the 39 checks and outside every score. They run where `--gitleaks-only` names rules, places or entries.
"""

import pytest

from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.mark import not_applicable
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.result import FAILS, NOT_APPLICABLE, Verdict


@pytest.mark.rules
def test_scanners_rules(scanners_rules: Verdict, evidence: Evidence) -> None:
    """What at least three quarters of the scanner's own rules find is found, and this build has all of them."""
    _end(scanners_rules, evidence)


@pytest.mark.rules
def test_rule(rule: Verdict, evidence: Evidence) -> None:
    """The rule finds what is made from its own regex, under its own id."""
    _end(rule, evidence)


@pytest.mark.places
def test_place(place: Verdict, evidence: Evidence) -> None:
    """A secret that stands there is found, unless a narrow entry allows the place."""
    _end(place, evidence)


@pytest.mark.formats
def test_format(format: Verdict, evidence: Evidence) -> None:  # noqa: A002 - the kind of what is tested, as in `test_rule`
    """A token of this documented format is found, unless a narrow entry hides it, or the scanner itself has no rule."""
    _end(format, evidence)


@pytest.mark.entries
def test_entry(entry: Verdict, evidence: Evidence) -> None:
    """The entry by itself hides at most a quarter of the rules or places, and no rule of the user's own."""
    _end(entry, evidence)


@pytest.mark.entries
def test_entries_together(entries: Verdict, evidence: Evidence) -> None:
    """All entries together hide at most a quarter of the rules or places."""
    _end(entries, evidence)


@pytest.mark.entries
def test_acceptance(acceptance: Verdict, evidence: Evidence) -> None:
    """What is accepted is there; if not, the line may be deleted, which fails only where that is asked for."""
    _end(acceptance, evidence)


def _end(verdict: Verdict, evidence: Evidence) -> None:
    evidence.message = printable(verdict.message)
    if verdict.outcome == FAILS:
        raise CheckFailed(evidence.message)
    if verdict.outcome == NOT_APPLICABLE:
        not_applicable(evidence.message)
