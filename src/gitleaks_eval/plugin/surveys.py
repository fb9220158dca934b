"""What the tests of rules, places and entries ask for, and what excuses one in a comparison."""

from collections import defaultdict
from collections.abc import Collection

import pytest

from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.result import SURVEY, Identity
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.result import ACCEPTANCE, ENTRY, OWN_RULES, PLACE, RULE, TOGETHER, Verdict
from gitleaks_eval.engine.acceptance.expected_failures import excuse_case
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.survey.coverage import Case, survey_cases, verdict_of
from gitleaks_eval.plugin.fixtures import parameters_of
from gitleaks_eval.plugin.outcome import Left
from gitleaks_eval.plugin.own_tests import OwnTest

# The test of each kind; its fixture has the name of the kind.
_TESTS = {
    OWN_RULES: "test_scanners_rules",
    RULE: "test_rule",
    PLACE: "test_place",
    ENTRY: "test_entry",
    TOGETHER: "test_entries_together",
    ACCEPTANCE: "test_acceptance",
}


def register_survey_fixtures(module: pytest.Module, session: Session, left: Left) -> Collection[str]:
    """Register what the tests ask for, and name the tests that have nothing to look at."""
    cases: defaultdict[str, list[Case]] = defaultdict(list)
    for candidate in session.settings.candidates:
        for case in survey_cases(session, candidate):
            if case.kind in _TESTS:
                cases[case.kind].append(case)

    def verdict(request: pytest.FixtureRequest) -> Verdict:
        """Return what the survey says of this rule, place or entry."""
        case: Case = request.param
        return verdict_of(session, session.settings.candidate(case.candidate), case)

    def evidence() -> Evidence:
        """Return where the message of the test is left."""
        left.evidence = Evidence()
        return left.evidence

    pytest.register_fixture(name="evidence", func=evidence, node=module)
    for kind, of_kind in cases.items():
        ids = tuple(case.id for case in of_kind)
        pytest.register_fixture(name=kind, func=verdict, node=module, params=of_kind, ids=ids)
    return [test for kind, test in _TESTS.items() if not cases[kind]]


def survey_identity(item: pytest.Item) -> Identity:
    """Return what a test of the survey is, for the ledger."""
    case = _case_of(item)
    return Identity(case.kind, case.name, SURVEY, None, case.candidate)


def excuse_survey(item: pytest.Item, session: Session) -> str | None:
    """Return why a failed test does not fail the comparison, else None."""
    case = _case_of(item)
    try:
        return excuse_case(session, case)
    except (EvaluationError, KeyError):
        # There is nothing to compare with: it fails by itself.
        return None


def _case_of(item: pytest.Item) -> Case:
    if isinstance(item, OwnTest):
        return item.case
    return next(case for case in parameters_of(item).values() if isinstance(case, Case))
