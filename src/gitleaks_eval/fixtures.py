"""What a check asks for. A user's fixtures of these names go before ours, but not in the shipped checks."""

from collections.abc import Sequence

import pytest

from gitleaks_eval.envelope import Analysis
from gitleaks_eval.evaluation import EVALUATION, EVIDENCE
from gitleaks_eval.evidence import Evidence
from gitleaks_eval.real_repository import RealRepository
from gitleaks_eval.scenario import Expected, Scenario


def scenario(request: pytest.FixtureRequest) -> Scenario | RealRepository:
    """The scenario of this check: one test a scenario, `name`, `description`, and what is `expected`."""
    parameter: Scenario | RealRepository = request.param
    return parameter


def expected(scenario: Scenario) -> Expected:
    """What the ground truth expects of this scenario: counts, rule ids, files, findings, thresholds."""
    return scenario.expected


def analysis(scenario: Scenario | RealRepository, request: pytest.FixtureRequest) -> Analysis:
    """What was found in this scenario: `count(name)`, `findings()`, `mapping(name)`; built and scanned once a run."""
    evaluation = request.config.stash[EVALUATION]
    return evaluation.workbench.analysis(scenario)


def evidence(request: pytest.FixtureRequest) -> Evidence:
    """Where this check leaves what it expected and found; the comparison primitives take it first."""
    left: Evidence = request.node.stash.setdefault(EVIDENCE, Evidence())
    return left


def register_fixtures(node: pytest.Session | pytest.Module, scenarios: Sequence[Scenario | RealRepository]) -> None:
    """Register the fixtures for all tests below a node; `scenario` has the scenarios as its parameters."""
    names = tuple(one.name for one in scenarios)
    pytest.register_fixture(name="scenario", func=scenario, node=node, scope="session", params=scenarios, ids=names)
    pytest.register_fixture(name="expected", func=expected, node=node, scope="session")
    pytest.register_fixture(name="analysis", func=analysis, node=node, scope="session")
    pytest.register_fixture(name="evidence", func=evidence, node=node)
