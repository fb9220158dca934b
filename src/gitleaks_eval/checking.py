"""Run a check outside pytest: what a comparison needs of the baseline, and judges of what fails."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from gitleaks_eval.envelope import Analysis
from gitleaks_eval.evidence import Evidence
from gitleaks_eval.marks import NotApplicable
from gitleaks_eval.recorder import FAILED, NOT_APPLICABLE, PASSED
from gitleaks_eval.scenario import Expected

Check = Callable[..., None]


def check_outcome(check: Check, analysis: Analysis, expected: Expected | None, scenario: Any = None) -> str | None:
    """The outcome of a check for an analysis; None when it asks for something that is not known here.

    That is a truth where there is none, or a fixture of a user's own; or it raises what is no failure.
    """
    given = {"analysis": analysis, "expected": expected, "scenario": scenario}
    arguments: dict[str, Any] = {}
    for name in asked_for(check):
        value = Evidence() if name == "evidence" else given.get(name)
        if value is None:
            return None
        arguments[name] = value
    try:
        check(**arguments)
    except NotApplicable:
        return NOT_APPLICABLE
    except AssertionError:
        return FAILED
    except Exception:  # noqa: BLE001 - a check of a user's own may raise anything; then its outcome is not known
        return None
    return PASSED


@cache
def asked_for(check: Check) -> tuple[str, ...]:
    """The names of what a check asks for."""
    return tuple(inspect.signature(check).parameters)
