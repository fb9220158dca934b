"""Evaluates a Gitleaks build and its configuration with pytest.

What a check author imports is here; everything else is internal. Nothing heavy is imported.
"""

from gitleaks_eval.checks.evidence import (
    Evidence,
    check_at_least,
    check_at_most,
    check_boolean,
    check_contains,
    check_equal,
    check_not_contains,
    conclude,
)
from gitleaks_eval.checks.mark import check, not_applicable

__version__ = "0.1.0"

__all__ = [
    "Evidence",
    "__version__",
    "check",
    "check_at_least",
    "check_at_most",
    "check_boolean",
    "check_contains",
    "check_equal",
    "check_not_contains",
    "conclude",
    "not_applicable",
]
