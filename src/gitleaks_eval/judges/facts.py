"""From analyses to the facts that judges look at; each process of a run can make them from what all share."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.analysis.matching import EXACT, MOVED, RELABELLED, Match, match_findings
from gitleaks_eval.analysis.severity import SeverityPolicy
from gitleaks_eval.checks.outcome import asked_for, check_outcome
from gitleaks_eval.checks.result import NOT_APPLICABLE, PASSED
from gitleaks_eval.checks.shipped import shipped_checks
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.judges.material import Facts
from gitleaks_eval.scenarios.scenario import Expected, Scenario

SAMPLE = 50
# Where a finding is more likely an example than a secret in use.
_NOISY = re.compile(
    r"(?:^|[/._-])(?:tests?|spec|fixtures?|examples?|samples?|mocks?|docs?|testdata|readme)(?:[/._-]|$)", re.IGNORECASE
)
_PRODUCTION = re.compile(r"(?:^|[/._-])(?:prod|production|deploy|release)(?:[/._-]|$)", re.IGNORECASE)
_URGENT = {"CRITICAL", "HIGH"}


def scenario_facts(
    scenario: Scenario,
    analysis: Analysis,
    policy: SeverityPolicy | None = None,
    hidden: Mapping[tuple[str, int, str], str] | None = None,
    lines: Mapping[tuple[str, int], str] | None = None,
) -> Facts:
    """Return the facts about a synthetic scenario: expected against reported, and the critical checks that fail.

    What no label of a corpus speaks of is left out: nobody knows whether it is wrong.
    """
    expected = scenario.expected
    matching = match_findings(expected, _findings(analysis), clean=scenario.corpus.clean if scenario.corpus else None)
    matches = tuple(match for match in matching.matches if match.labelled)
    findings = list(_without(_findings(analysis), [match for match in matching.matches if not match.labelled]))
    rules = expected.rule_ids or sorted({finding.rule_id for finding in expected.findings})
    return Facts(
        name=scenario.name,
        **_reported(analysis, findings),
        failed_checks=tuple(failed_checks(_as_expected(analysis, expected, matches), expected)),
        expected=matching.expected,
        expected_rules=tuple(rules),
        expected_history=expected.secrets_in_history or 0,
        matches=matches,
        severities_expected=sum(finding.expected_severity is not None for finding in expected.findings),
        severities=tuple(_with_expected_severity(expected, matches)),
        unlisted_detected=matching.unlisted_detected,
        unlisted_missed=matching.unlisted_missed,
        unlisted_unexpected=matching.unlisted_unexpected,
        sample=tuple(_rated(finding, policy) for finding in islice(_spread(findings), SAMPLE)),
        hidden=hidden or {},
        lines=lines or {},
    )


def _without(findings: Sequence[Mapping[str, Any]], left_out: Sequence[Match]) -> Iterator[Mapping[str, Any]]:
    places = Counter((match.file_path, match.reported_line_number, match.reported_rule_id) for match in left_out)
    for finding in findings:
        place = str(finding.get("file_path")), finding.get("line_number"), finding.get("rule_id")
        if places[place]:
            places[place] -= 1
        else:
            yield finding


def _rated(finding: Mapping[str, Any], policy: SeverityPolicy | None) -> dict[str, Any]:
    """Return a finding of a scenario, whose paths are no secret, with what gives it its severity."""
    path, rule = str(finding.get("file_path")), str(finding.get("rule_id"))
    return {
        "file_path": path[:200],
        "rule_id": rule[:200],
        "severity": str(finding.get("severity"))[:20],
        **_reason(finding, policy),
    }


def _reason(finding: Mapping[str, Any], policy: SeverityPolicy | None) -> dict[str, str]:
    if policy is None:
        return {}
    rule, in_head = str(finding.get("rule_id"))[:200], finding.get("in_current_head") is True
    return {"policy": policy.reason(rule, str(finding.get("file_path")), in_head=in_head)}


def _as_expected(analysis: Analysis, expected: Expected, matches: Sequence[Match]) -> Analysis:
    """Return the analysis with each relabelled finding as the expected one: that it has another name caps nothing."""
    wanted = {
        (finding.file_path, finding.rule_id, finding.line_number): finding.expected_severity
        for finding in expected.findings
    }
    relabelled = {
        (match.file_path, match.reported_line_number, match.reported_rule_id): match
        for match in matches
        if match.status == RELABELLED
    }
    if not relabelled:
        return analysis
    findings: list[Mapping[str, Any]] = []
    for finding in analysis.findings():
        path, line, rule = (finding.get(name) for name in ("file_path", "line_number", "rule_id"))
        if match := relabelled.pop((str(path), line, rule), None):
            severity = wanted.get((match.file_path, match.rule_id, match.line_number)) or finding.get("severity")
            findings.append({**finding, "rule_id": match.rule_id, "severity": severity})
        else:
            findings.append(finding)
    counts = Counter(str(finding.get("rule_id")) for finding in findings)
    return Analysis(analysis.document, {**analysis.results, "findings": findings, "secrets_by_rule": dict(counts)})


def _with_expected_severity(expected: Expected, matches: Sequence[Match]) -> Iterator[tuple[Match, str]]:
    wanted = {
        (finding.file_path, finding.line_number, finding.rule_id): finding.expected_severity
        for finding in expected.findings
    }
    for match in matches:
        severity = wanted.get((match.file_path, match.line_number, match.rule_id))
        if severity and match.status in {EXACT, MOVED}:
            yield match, severity


def repository_facts(name: str, analysis: Analysis, *, show_paths: bool, policy: SeverityPolicy | None = None) -> Facts:
    """Return the facts about a real repository: what was reported, and the structural checks that fail."""
    findings = _findings(analysis)
    noisy = [finding for finding in findings if _NOISY.search(str(finding.get("file_path")))]
    return Facts(
        name=name,
        **_reported(analysis, findings),
        failed_checks=tuple(failed_checks(analysis, None)),
        sample=tuple(
            {**_features(finding, show_paths=show_paths), **_reason(finding, policy)}
            for finding in islice(_spread(findings), SAMPLE)
        ),
        noisy=len(noisy),
        noisy_and_urgent=sum(finding.get("severity") in _URGENT for finding in noisy),
    )


def baseline_of(facts: Sequence[Facts]) -> Mapping[str, Any]:
    """Return the synthetic result in a few numbers: the context in which a real repository is judged."""
    types = {rule for scenario in facts for rule in scenario.expected_rules}
    return {
        "scenarios": len(facts),
        "expected": sum(scenario.expected for scenario in facts),
        "found": sum(scenario.found() for scenario in facts),
        "reported": sum(scenario.reported for scenario in facts),
        "false_positives": sum(scenario.count_false_positives() for scenario in facts),
        "rule_types": len(types),
        "rule_types_covered": len(types & {rule for scenario in facts for rule in scenario.covered_rules()}),
        "expected_in_history": sum(scenario.expected_history for scenario in facts),
        "reported_in_history": sum(scenario.reported_history for scenario in facts),
        "failed_checks": sorted({check for scenario in facts for check in scenario.failed_checks}),
    }


def failed_checks(analysis: Analysis, expected: Expected | None) -> Iterator[str]:
    """Return the ids of the critical checks that fail for an analysis; without a truth, of all that need none.

    One that cannot be run fails: what cannot be looked at must not lift a cap.
    """
    for shipped in shipped_checks():
        if ("expected" in asked_for(shipped.function)) if expected is None else not shipped.critical:
            continue
        if check_outcome(shipped.function, analysis, expected) not in {PASSED, NOT_APPLICABLE}:
            yield shipped.check_id


def caps_of(dimension: str) -> frozenset[str]:
    """Return the ids of the checks that cap the judge of this dimension while they fail."""
    return frozenset(shipped.check_id for shipped in shipped_checks() if dimension in shipped.caps)


def _findings(analysis: Analysis) -> Sequence[Mapping[str, Any]]:
    try:
        return analysis.findings()
    except CheckFailed:
        # The checks say what is wrong with the list; nothing in it is a finding that was expected.
        return []


def _reported(analysis: Analysis, findings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    try:
        history = int(analysis.count("secrets_in_history"))
    except CheckFailed:
        history = 0
    return {
        "reported": len(findings),
        "reported_rules": Counter(str(finding.get("rule_id")) for finding in findings),
        "reported_severities": Counter(str(finding.get("severity")) for finding in findings),
        "reported_history": history,
    }


def _spread(findings: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Return the findings rule by rule in turn, so that a few of them show as many rules as there are."""
    by_rule: dict[str, list[Mapping[str, Any]]] = {}
    for finding in findings:
        by_rule.setdefault(str(finding.get("rule_id")), []).append(finding)
    longest = max(map(len, by_rule.values()), default=0)
    for index in range(min(longest, SAMPLE)):
        for rule in sorted(by_rule):
            yield from by_rule[rule][index : index + 1]


def _features(finding: Mapping[str, Any], *, show_paths: bool) -> dict[str, Any]:
    """Return features of a path without the path, which may hold anything."""
    path = str(finding.get("file_path", ""))
    suffix = PurePosixPath(path).suffix.lower()
    shown = {"file_path": path[:200]} if show_paths else {}
    return {
        **shown,
        "rule_id": str(finding.get("rule_id"))[:200],
        "severity": str(finding.get("severity"))[:20],
        "entropy": finding.get("entropy") if isinstance(finding.get("entropy"), (int, float)) else None,
        "in_head": finding.get("in_current_head") is True,
        "file_extension": suffix if re.fullmatch(r"\.[a-z0-9]{1,10}", suffix) else "other" if suffix else "none",
        "folder_depth": path.count("/"),
        "looks_like_test_example_or_documentation": bool(_NOISY.search(path)),
        "looks_like_production": bool(_PRODUCTION.search(path)),
    }
