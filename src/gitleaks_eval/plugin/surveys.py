"""The tests of rules, places and entries, and of the lines of `.gitleaks-eval.yaml`: a node a line, at its line."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.mark import not_applicable
from gitleaks_eval.checks.result import SURVEY, Identity
from gitleaks_eval.config.eval_file import Beside, RuleTest
from gitleaks_eval.core.errors import CheckFailed, EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.result import (
    ACCEPTANCE,
    ENTRY,
    FAILS,
    FORMAT,
    NOT_APPLICABLE,
    OWN_RULES,
    PLACE,
    RULE,
    TEST,
    TOGETHER,
    Verdict,
)
from gitleaks_eval.engine.acceptance.expected_failures import excuse_case
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.survey.coverage import Case, survey_cases, verdict_of
from gitleaks_eval.engine.survey.own_tests import named_tests
from gitleaks_eval.plugin.fixtures import parameters_of
from gitleaks_eval.plugin.outcome import Left

# The test of each kind; its fixture has the name of the kind.
_TESTS = {
    OWN_RULES: "test_scanners_rules",
    RULE: "test_rule",
    PLACE: "test_place",
    FORMAT: "test_format",
    ENTRY: "test_entry",
    TOGETHER: "test_entries_together",
    ACCEPTANCE: "test_acceptance",
}


class OwnTest(pytest.Item):
    """One line: what a rule finds, ignores, or is to find one day."""

    def __init__(self, *, case: Case, test: RuleTest, session_of: Session, left: Left, **known: Any) -> None:
        super().__init__(**known)
        self.case = case
        self.test = test
        self._session_of = session_of
        self._left = left
        self.add_marker("rules")

    def runtest(self) -> None:
        """Fail with what the scan says of this line."""
        self._left.evidence = Evidence()
        candidate = self._session_of.settings.candidate(self.case.candidate)
        verdict = verdict_of(self._session_of, candidate, self.case)
        self._left.evidence.message = printable(verdict.message)
        if verdict.outcome == FAILS:
            raise CheckFailed(printable(verdict.message))
        if verdict.outcome == NOT_APPLICABLE:
            not_applicable(printable(verdict.message))

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """Return the file and the line, counted from 0."""
        return self.path, self.test.spot.line - 1, self.name


class OwnTests(pytest.File):
    """A file of tests; those of each candidate beside whose configuration it stands."""

    def __init__(self, *, session_of: Session, left: Left, **known: Any) -> None:
        super().__init__(**known)
        self._session_of = session_of
        self._left = left

    def collect(self) -> Iterator[OwnTest]:
        """Return a node a line and candidate."""
        session = self._session_of
        for candidate in session.settings.candidates:
            for name, beside, test in named_tests(session.beside[candidate.name], session.settings.root):
                if beside.path == self.path:
                    title = "-".join(filter(None, (printable(candidate.name), test.name)))
                    case = Case(candidate.name, TEST, name)
                    # As text: `--lf` looks for what pytest reads from the one that it wrote.
                    nodeid = f"{self.nodeid}::{title}"
                    known = {"case": case, "test": test, "session_of": session, "left": self._left}
                    yield OwnTest.from_parent(self, name=title, nodeid=nodeid, **known)


def own_tests(parent: pytest.Collector, path: Path, session: Session, left: Left) -> OwnTests | None:
    """Return the tests of a file that stands beside a configuration under test; None for another.

    Raises:
        pytest.UsageError: for one that stands beside no configuration under test.
    """
    if not any(beside.path == path for beside in _eval_files(session)):
        raise pytest.UsageError(
            f"{path}: it stands beside no configuration under test, or nothing is scanned; "
            "name the configuration with --gitleaks-config"
        )
    # Outside rootdir its path, so that it can be pasted back.
    nodeid: Any = None if session.settings.root in path.parents else path.as_posix()
    made: OwnTests = OwnTests.from_parent(parent, path=path, nodeid=nodeid, session_of=session, left=left)
    return made


def own_files(parent: pytest.Collector, session: Session, left: Left) -> Iterator[OwnTests]:
    """Return the files of tests beside the configurations under test that the command line does not name itself."""
    for path in dict.fromkeys(beside.path for beside in _eval_files(session) if beside.tests):
        if not parent.session.isinitpath(path) and (made := own_tests(parent, path, session, left)):
            yield made


def _eval_files(session: Session) -> Iterator[Beside]:
    for besides in session.beside.values():
        yield from besides


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
