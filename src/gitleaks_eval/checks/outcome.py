"""Run a check outside pytest: what a comparison needs of the baseline, and judges of what fails."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.result import FAILED, NOT_APPLICABLE, PASSED
from gitleaks_eval.scenarios.scenario import Expected

Check = Callable[..., None]


def check_outcome(
    check: Check,
    analysis: Analysis,
    expected: Expected | None,
    scenario: Any = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> str | None:
    """The outcome of a check for an analysis; None when it asks for something that is not known here.

    That is a truth where there is none, or a fixture of a user's own; or it raises what is no failure.
    `parameters` are those of a check that is parametrized.
    """
    # Importing this package loads no pytest; running a check does, for what it may raise.
    from gitleaks_eval.checks import mark  # noqa: PLC0415 - as said

    given = {**parameters, "analysis": analysis, "expected": expected, "scenario": scenario}
    arguments: dict[str, Any] = {}
    for name in asked_for(check):
        value = Evidence() if name == "evidence" else given.get(name)
        if value is None:
            return None
        arguments[name] = value
    try:
        check(**arguments)
    except mark.NotApplicable:
        return NOT_APPLICABLE
    except mark.FAILURES:
        return FAILED
    except mark.OTHERS:  # a check of a user may raise anything
        return None
    return PASSED


@cache
def asked_for(check: Check) -> tuple[str, ...]:
    """The names of what a check asks for."""
    return tuple(inspect.signature(check).parameters)
