"""What the tests of compared repositories ask for: one for each candidate but the baseline, and each repository."""

from collections.abc import Collection

import pytest

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.approving import with_approvals
from gitleaks_eval.engine.candidates import Trial
from gitleaks_eval.engine.real import compared_repository
from gitleaks_eval.engine.session import Session
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.real_differences import Real


def register_real_fixtures(module: pytest.Module, session: Session) -> Collection[str]:
    """Register what the test asks for, and name it where there is nothing to compare."""
    candidates = session.settings.candidates
    others = [] if session.settings.baseline else candidates[1:]
    trials = [Trial(one.name, repository) for one in others for repository in session.repositories]
    if not trials:
        return ["test_differences"]

    def real_comparison(request: pytest.FixtureRequest) -> Real:
        """What the candidate differs in from the baseline, in this repository."""
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
