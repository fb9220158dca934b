"""An evaluated scenario, as the reports know it: its findings matched one to one."""

from dataclasses import dataclass
from functools import partial

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.analysis.matching import Matching, match_findings
from gitleaks_eval.analysis.severity import SeverityPolicy
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True)
class MatchedScenario:
    """What the reports say of an evaluated scenario, beside its checks."""

    matching: Matching
    tool_name: str | None
    tool_version: str | None
    scan_attempts: int | None


def matched_scenario(scenario: Scenario, analysis: Analysis, policy: SeverityPolicy) -> MatchedScenario:
    """Match what an analysis reports of a scenario; the policy says the severity of what is missed."""
    try:
        findings = analysis.findings()
    except CheckFailed:
        # The checks say what is wrong with the list; nothing in it is a finding that was expected.
        findings = []
    severity_of = partial(policy.severity, in_head=scenario.expected.secrets_in_head != 0)
    metadata = analysis.document.get("metadata")
    outer = metadata if isinstance(metadata, dict) else {}
    attempts = analysis.results.get("scan_attempts")
    return MatchedScenario(
        match_findings(scenario.expected, findings, severity_of, scenario.corpus.clean if scenario.corpus else None),
        _text(outer.get("scanner") or outer.get("tool_name") or analysis.results.get("tool")),
        _text(outer.get("tool_version") or analysis.results.get("tool_version")),
        attempts if type(attempts) is int and attempts > 0 else None,  # a boolean is an int, too, and no number
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
