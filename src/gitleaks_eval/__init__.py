"""Evaluates a Gitleaks build and its configuration.

What a check author or a user of the library imports is here; everything else is internal. A name is looked up
when it is asked for (PEP 562): importing this package, or one below it, loads nothing else. (PYTEST_DONT_REWRITE:
the command imports this module before pytest, which would warn that it cannot rewrite its assertions.)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitleaks_eval.analysis.envelope import Analysis
    from gitleaks_eval.analysis.matching import missed_places
    from gitleaks_eval.checks.evidence import (
        Evidence,
        check_at_least,
        check_at_most,
        check_boolean,
        check_contains,
        check_equal,
        check_not_contains,
        conclude,
        first,
        whole,
    )
    from gitleaks_eval.checks.mark import check, not_applicable
    from gitleaks_eval.core.errors import EvaluationError, InputError
    from gitleaks_eval.engine.run.run import evaluate
    from gitleaks_eval.engine.settings.settings import Settings
    from gitleaks_eval.reports.run.values import Run
    from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding, Scenario
    from gitleaks_eval.scoring.scorecard import Scorecard

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "EvaluationError",
    "Evidence",
    "Expected",
    "ExpectedFinding",
    "InputError",
    "Run",
    "Scenario",
    "Scorecard",
    "Settings",
    "__version__",
    "check",
    "check_at_least",
    "check_at_most",
    "check_boolean",
    "check_contains",
    "check_equal",
    "check_not_contains",
    "conclude",
    "evaluate",
    "first",
    "missed_places",
    "not_applicable",
    "whole",
]

_EVIDENCE = (
    *("Evidence", "conclude", "first", "whole"),
    *("check_at_least", "check_at_most", "check_boolean", "check_contains", "check_equal", "check_not_contains"),
)
_HOMES = {
    "analysis.envelope": ("Analysis",),
    "analysis.matching": ("missed_places",),
    "checks.evidence": _EVIDENCE,
    "checks.mark": ("check", "not_applicable"),
    "core.errors": ("EvaluationError", "InputError"),
    "engine.run.run": ("evaluate",),
    "engine.settings.settings": ("Settings",),
    "reports.run.values": ("Run",),
    "scenarios.scenario": ("Expected", "ExpectedFinding", "Scenario"),
    "scoring.scorecard": ("Scorecard",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # else every name would be there for a type checker

    def __getattr__(name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
