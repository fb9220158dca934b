"""Run a check outside a test session: what a comparison needs of the baseline, and judges of what fails."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.result import FAILED, NOT_APPLICABLE, PASSED
from gitleaks_eval.scenarios.scenario import Expected

Check = Callable[..., None]


class Outcome(NamedTuple):
    """What became of a check, and the evidence that it left; the message is that of its exception where it has none."""

    outcome: str
    message: str
    evidence: Evidence


def run_check(
    check: Check,
    analysis: Analysis,
    expected: Expected | None,
    scenario: Any = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Outcome | None:
    """Run a check on an analysis; None when it asks for something that is not known here.

    That is a truth where there is none, or a fixture of a user's own; or it raises what is no failure.
    `parameters` are those of a check that is parametrized.
    """
    # Importing this package loads no pytest; running a check does, for what it may raise.
    from gitleaks_eval.checks import mark  # noqa: PLC0415 - 0.15 s that a notebook need not pay

    evidence = Evidence()
    given = {**parameters, "analysis": analysis, "expected": expected, "scenario": scenario, "evidence": evidence}
    arguments = {name: given.get(name) for name in asked_for(check)}
    if None in arguments.values():
        return None
    try:
        check(**arguments)
    except mark.NotApplicable as reason:
        return Outcome(NOT_APPLICABLE, str(reason.msg), evidence)
    except mark.FAILURES as failure:
        return Outcome(FAILED, evidence.message or str(failure), evidence)
    except mark.OTHERS:  # a check of a user may raise anything
        return None
    return Outcome(PASSED, evidence.message, evidence)


def check_outcome(
    check: Check,
    analysis: Analysis,
    expected: Expected | None,
    scenario: Any = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> str | None:
    """Return the outcome of a check on an analysis, as `run_check`."""
    ran = run_check(check, analysis, expected, scenario, parameters)
    return ran.outcome if ran else None


@cache
def asked_for(check: Check) -> tuple[str, ...]:
    """Return the names of what a check asks for."""
    return tuple(inspect.signature(check).parameters)
