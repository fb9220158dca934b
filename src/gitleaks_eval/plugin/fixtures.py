"""What a check asks for. A user's fixtures of these names go before ours, but not in the shipped checks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pytest

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.real.comparison import compared_repository
from gitleaks_eval.engine.session.approvals import with_approvals
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Trial
from gitleaks_eval.plugin.outcome import Left
from gitleaks_eval.scenarios.scenario import Expected, RealRepository, Scenario
from gitleaks_eval.scoring.real_differences import Real

PARAMETER = "gitleaks_trial"


def register_parameter(
    node: pytest.Session | pytest.Module, name: str, doc: str, values: Sequence[object], ids: Iterable[str]
) -> None:
    """Register a fixture that has these values: one test for each."""

    def parameter(request: pytest.FixtureRequest) -> Any:
        return request.param

    parameter.__doc__ = doc
    pytest.register_fixture(name=name, func=parameter, node=node, scope="session", params=values, ids=tuple(ids))


def parameters_of(item: pytest.Item) -> Mapping[str, Any]:
    """Return the parameters of a test, by the names of their fixtures; none of one that has no parameters."""
    return getattr(getattr(item, "callspec", None), "params", {})


def scenario(gitleaks_trial: Trial) -> Scenario | RealRepository:
    """Return the scenario of this check: one test a scenario, `name`, `description`, and what is `expected`."""
    return gitleaks_trial.subject


def register_fixtures(node: pytest.Session | pytest.Module, session: Session, left: Left) -> None:
    """Register the fixtures for all tests below a node; what is shared has the trials as its parameters."""

    # These do not ask for `request`, which pytest makes anew for each test that does.
    def evidence() -> Evidence:
        """Return where this check leaves what it expected and found; the comparison primitives take it first."""
        left.evidence = Evidence()
        return left.evidence

    def analysis(gitleaks_trial: Trial) -> Analysis:
        """Return what was found in this scenario: `count(name)`, `findings()`, `mapping(name)`; scanned once a run."""
        try:
            return session.analysis(gitleaks_trial)
        except EvaluationError as error:
            # Of an exception pytest looks at every frame, again for each check; of this one only at the message.
            pytest.fail(str(error), pytrace=False)

    def expected(gitleaks_trial: Trial) -> Expected:
        """Return what the ground truth expects of this scenario: counts, rule ids, files, findings, thresholds."""
        subject = gitleaks_trial.subject
        assert isinstance(subject, Scenario)  # noqa: S101 - checks that ask for a truth are not run on real repositories
        return session.workbench(gitleaks_trial.candidate).expected(subject)

    trials = session.trials
    about = "Return the candidate and the scenario of this check: one test for each pair."
    register_parameter(node, PARAMETER, about, trials, (trial.name for trial in trials))
    pytest.register_fixture(name="scenario", func=scenario, node=node, scope="session")
    pytest.register_fixture(name="expected", func=expected, node=node, scope="session")
    pytest.register_fixture(name="analysis", func=analysis, node=node, scope="session")
    pytest.register_fixture(name="evidence", func=evidence, node=node)


def register_real_fixtures(module: pytest.Module, session: Session) -> Collection[str]:
    """Register what the test asks for, and name it where there is nothing to compare."""
    candidates = session.settings.candidates
    others = [] if session.settings.baseline else candidates[1:]
    trials = [Trial(other.name, repository) for other in others for repository in session.repositories]
    if not trials:
        return ["test_differences"]

    def real_comparison(request: pytest.FixtureRequest) -> Real:
        """Return what the candidate differs in from the baseline, in this repository."""
        trial: Trial = request.param
        assert isinstance(trial.subject, RealRepository)  # noqa: S101 - as made above
        try:
            names = candidates[0].name, trial.candidate
            found = compared_repository(session, *names, trial.subject)
            return with_approvals(session, *names, Real((found,)))
        except EvaluationError as error:
            pytest.fail(str(error), pytrace=False)

    ids = tuple(printable(trial.name) for trial in trials)
    pytest.register_fixture(name="real_comparison", func=real_comparison, node=module, params=trials, ids=ids)
    return []
