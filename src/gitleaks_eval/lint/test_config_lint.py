"""Config lint: the configuration under test says nothing that the scanner ignores or refuses, and hides no secret.

Outside the 39 checks and outside every score; only candidates that have a configuration of their own are looked at.
"""

from gitleaks_eval.escaping import printable
from gitleaks_eval.evidence import CheckFailed
from gitleaks_eval.marks import check
from gitleaks_eval.recorder import CONFIG_LINT

SHOWN_AT_MOST = 20


@check("CL-1", "Nothing is ignored or refused", category=CONFIG_LINT)
def test_CL_1_nothing_is_ignored(ignored: list[str]) -> None:
    """Every key is one that this version reads, every regex compiles, every rule that is named exists."""
    _fail_with(ignored)


@check("CL-2", "No expected secret is hidden", category=CONFIG_LINT)
def test_CL_2_no_secret_is_hidden(hidden: list[str]) -> None:
    """No entry (allowlist, stop word, commit, disabled or missing rule) hides a secret that a scenario expects."""
    _fail_with(hidden)


def _fail_with(faults: list[str]) -> None:
    if faults:
        more = [f"and {len(faults) - SHOWN_AT_MOST} more"] * (len(faults) > SHOWN_AT_MOST)
        raise CheckFailed("\n  ".join([*map(printable, faults[:SHOWN_AT_MOST]), *more]))
