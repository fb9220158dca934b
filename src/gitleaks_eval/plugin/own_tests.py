"""Lines of `.gitleaks-eval.yaml` as pytest collects them: a node a line, at its line."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.mark import not_applicable
from gitleaks_eval.config.eval_file import Beside, RuleTest
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.result import FAILS, NOT_APPLICABLE, TEST
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.survey.coverage import Case, verdict_of
from gitleaks_eval.engine.survey.own_tests import named_tests
from gitleaks_eval.plugin.outcome import Left


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
    if not any(beside.path == path for beside in _all(session)):
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
    for path in dict.fromkeys(beside.path for beside in _all(session) if beside.tests):
        if not parent.session.isinitpath(path) and (made := own_tests(parent, path, session, left)):
            yield made


def _all(session: Session) -> Iterator[Beside]:
    for besides in session.beside.values():
        yield from besides
