"""Accuracy (SA-1 to SA-11): what was detected is what the ground truth expects, in count, identity and place."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from operator import lt, ne

from gitleaks_eval import (
    Analysis,
    Evidence,
    Expected,
    check_at_least,
    check_contains,
    check_equal,
    conclude,
    missed_places,
    not_applicable,
    whole,
)
from gitleaks_eval import check as check_of

check = partial(check_of, category="Accuracy")


@check("SA-1", "Total secret count", critical=True, about="findings")
def test_SA_1_total_secret_count(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The number of findings is the expected one."""
    _check_count(evidence, expected.total_secrets, analysis.count("total_secrets"), "total secrets", expected)


@check("SA-2", "Unique secret count", about="findings")
def test_SA_2_unique_secret_count(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The number of distinct secret values is the expected one."""
    _check_count(evidence, expected.unique_secrets, analysis.count("unique_secrets"), "unique secrets")


@check("SA-3", "Secrets in HEAD", about="findings")
def test_SA_3_secrets_in_head(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The number of findings whose value still stands in the HEAD tree is the expected one."""
    _check_count(evidence, expected.secrets_in_head, analysis.count("secrets_in_head"), "secrets in HEAD")


@check("SA-4", "Secrets in history", about="findings")
def test_SA_4_secrets_in_history(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The number of findings that only history holds is the expected one."""
    actual = analysis.count("secrets_in_history")
    _check_count(evidence, expected.secrets_in_history, actual, "secrets in history")


@check("SA-5", "Files with secrets count", about="findings")
def test_SA_5_files_with_secrets_count(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The number of files with a finding is the expected one."""
    actual = analysis.count("files_with_secrets")
    _check_count(evidence, expected.files_with_secrets, actual, "files with secrets", expected)


@check("SA-6", "Commits with secrets count", about="findings")
def test_SA_6_commits_with_secrets_count(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """The number of commits with a finding is the expected one."""
    actual = analysis.count("commits_with_secrets")
    _check_count(evidence, expected.commits_with_secrets, actual, "commits with secrets")


@check("SA-7", "Expected rule IDs detected", critical=True, about="findings", caps="secret_coverage")
def test_SA_7_expected_rule_ids(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Each expected rule found something."""
    _refuse_unknown_rules(expected)
    check_contains(evidence, expected.rule_ids, analysis.mapping("secrets_by_rule"), what="rule ids")


@check("SA-8", "Expected files with secrets", critical=True, about="findings", caps="detection_accuracy")
def test_SA_8_expected_files(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Each expected file is among the files with a finding."""
    if not expected.files_with_secrets_list:
        not_applicable("No specific files expected")
    check_contains(evidence, expected.files_with_secrets_list, analysis.mapping("files"), what="files")


@check("SA-9", "Rule counts match", critical=True, about="findings")
def test_SA_9_rule_counts(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Each expected rule found as many secrets as expected."""
    _refuse_unknown_rules(expected)
    actual = analysis.rule_counts()
    differs = lt if expected.is_partial else ne
    wrong = [
        f"{rule}: expected {count}, found {actual.get(rule, 0)}"
        for rule, count in sorted(expected.secrets_by_rule.items())
        if differs(actual.get(rule, 0), count)
    ]
    message = "; ".join(wrong[:3]) or f"rule counts: all {len(expected.secrets_by_rule)} as expected"
    conclude(evidence, not wrong, message, _listed(expected.secrets_by_rule), _listed(actual))


@check("SA-10", "Expected findings detected", critical=True, about="findings")
def test_SA_10_expected_findings(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Each expected `file:rule:line` is among the findings."""
    if not expected.findings:
        not_applicable("No specific findings expected")
    if any(finding.is_loose for finding in expected.findings):
        _check_loosely(expected, analysis, evidence)
        return
    wanted = {finding.fingerprint: finding for finding in expected.findings}
    actual = set(analysis.fingerprints())
    missing = sorted(wanted.keys() - actual)
    shown = ", ".join(f"{wanted[name].file_path}:{wanted[name].line_number}" for name in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    message = f"missing {shown}{more}" if missing else f"findings: all {len(wanted)} found"
    conclude(evidence, not missing, message, whole(wanted), whole(actual))


@check("SA-11", "Severity assignments correct", critical=True, about="findings", caps="severity_classification")
def test_SA_11_severities(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Each finding with an expected severity is found and has it; one that is not found is a mismatch."""
    wanted = [finding for finding in expected.findings if finding.expected_severity]
    if not wanted:
        not_applicable("No severity expected of any finding")
    places = {finding.fingerprint for finding in wanted}
    reported = zip(analysis.fingerprints(), analysis.findings(), strict=True)
    there = [(place, finding.get("severity")) for place, finding in reported if place in places]
    left = Counter(f"{place} {severity}" for place, severity in there)
    actual = whole(left)
    others = Counter(place for place, _ in there)
    unmatched = []
    for finding in wanted:
        name = f"{finding.fingerprint} {finding.expected_severity}"
        if left[name]:
            left[name] -= 1
            others[finding.fingerprint] -= 1
        else:
            unmatched.append(finding)
    mismatches = []
    for finding in unmatched:
        is_there = others[finding.fingerprint] > 0
        others[finding.fingerprint] -= 1
        wrong = f"is not {finding.expected_severity}" if is_there else "not found"
        mismatches.append(f"{finding.file_path}:{finding.line_number} {wrong}")
    more = f"; and {len(mismatches) - 3} more" if len(mismatches) > 3 else ""
    message = "; ".join(mismatches[:3]) + more or f"severities: all {len(wanted)} as expected"
    listed = whole([f"{finding.fingerprint} {finding.expected_severity}" for finding in wanted])
    conclude(evidence, not mismatches, message, listed, {**actual, "mismatches": len(mismatches)})


def _check_count(
    evidence: Evidence, wanted: int | None, actual: float, what: str, expected: Expected | None = None
) -> None:
    if wanted is None:
        not_applicable(f"The truth does not know the {what}")
    check = check_at_least if expected and expected.is_partial else check_equal
    check(evidence, wanted, actual, what=what)


def _refuse_unknown_rules(expected: Expected) -> None:
    if expected.total_secrets and not expected.rule_ids and any(finding.is_loose for finding in expected.findings):
        not_applicable("The truth does not know the rules")


def _check_loosely(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Hold labels that say less than a rule and a line against the findings, one to one."""
    missing = sorted(missed_places(expected, analysis.findings()))
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    message = f"missing {', '.join(missing[:3])}{more}" if missing else f"findings: all {len(expected.findings)} found"
    conclude(evidence, not missing, message, len(expected.findings), len(expected.findings) - len(missing))


def _listed(counts: Mapping[str, float]) -> dict[str, object]:
    return whole([f"{rule}: {count}" for rule, count in counts.items()])
