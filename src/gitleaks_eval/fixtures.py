"""What a check asks for. `scenario` is registered with the scenarios of the run as its parameters."""

import pytest

from gitleaks_eval.envelope import Analysis
from gitleaks_eval.evaluation import EVALUATION, EVIDENCE
from gitleaks_eval.evidence import Evidence
from gitleaks_eval.scenario import Expected, Scenario


def scenario(request: pytest.FixtureRequest) -> Scenario:
    """The scenario of this check: one test a scenario, `name`, `description`, and what is `expected`."""
    parameter: Scenario = request.param
    return parameter


@pytest.fixture(scope="session")
def expected(scenario: Scenario) -> Expected:
    """What the ground truth expects of this scenario: counts, rule ids, files, findings, thresholds."""
    return scenario.expected


@pytest.fixture(scope="session")
def analysis(scenario: Scenario, request: pytest.FixtureRequest) -> Analysis:
    """What was found in this scenario: `count(name)`, `findings()`, `mapping(name)`; built and scanned once a run."""
    evaluation = request.config.stash[EVALUATION]
    return evaluation.workbench.analysis(scenario)


@pytest.fixture
def evidence(request: pytest.FixtureRequest) -> Evidence:
    """Where this check leaves what it expected and found; the comparison primitives take it first."""
    left: Evidence = request.node.stash.setdefault(EVIDENCE, Evidence())
    return left
