"""Config lint: the configuration under test says nothing that the scanner ignores or refuses, and hides no secret.

Outside the shipped checks and every score; only candidates that have a configuration of their own are linted.
"""

from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.mark import check
from gitleaks_eval.checks.result import CONFIG_LINT
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.engine.survey.config_faults import Fault, faults_message


@check("CL-1", "Nothing is ignored or refused", category=CONFIG_LINT)
def test_CL_1_nothing_is_ignored(faults: list[Fault], evidence: Evidence) -> None:
    """Every key is one that this version reads, every regex compiles, every rule that is named exists."""
    _fail_with(faults, evidence)


@check("CL-2", "No expected secret is hidden", category=CONFIG_LINT)
def test_CL_2_no_secret_is_hidden(faults: list[Fault], evidence: Evidence) -> None:
    """No entry (allowlist, stop word, commit, disabled or missing rule) hides a secret that a scenario expects."""
    _fail_with(faults, evidence)


def _fail_with(faults: list[Fault], evidence: Evidence) -> None:
    # Whole, unlike the evidence of checks: a comparison asks whether there are more than in the baseline.
    evidence.expected, evidence.actual = [], [fault.key for fault in faults]
    if faults:
        evidence.message = faults_message(faults)
        raise CheckFailed(evidence.message)
