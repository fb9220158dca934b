"""Config lint: the configuration under test says nothing that the scanner ignores or refuses.

Outside the 39 checks and outside every score; only candidates that have a configuration of their own are looked at.
"""

import pytest

from gitleaks_eval.config_lint import Problem
from gitleaks_eval.escaping import printable
from gitleaks_eval.evidence import CheckFailed

SHOWN_AT_MOST = 20


@pytest.mark.config_lint
def test_configuration(lint_problems: list[Problem]) -> None:
    """Every key is one that this version reads, every regex compiles, every rule that is named exists."""
    if lint_problems:
        lines = [printable(f"{one.file.name} {one.place}: {one.message}") for one in lint_problems]
        more = [f"and {len(lines) - SHOWN_AT_MOST} more"] * (len(lines) > SHOWN_AT_MOST)
        raise CheckFailed("\n  ".join(lines[:SHOWN_AT_MOST] + more))
