"""What each judge sees: an aggregate over all scenarios and a bounded sample, the same size for any report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match
from gitleaks_eval.judges.heuristics import covered_rules
from gitleaks_eval.judges.material import REAL_WORLD, Facts, Material

SAMPLE = 50
NAMES = 50
TEXT = 200


def detection_accuracy(material: Material) -> dict[str, Any]:
    """Expected against reported findings, and a sample of those that differ."""
    if material.mode == REAL_WORLD:
        return _repositories(material)
    different = _sampled(material, {MISSED, MOVED, RELABELLED})
    return {**_scenarios(material), "findings_that_differ": different}


def false_positive(material: Material) -> dict[str, Any]:
    """The reported findings that nothing expected explains, by rule, and a sample of them."""
    if material.mode == REAL_WORLD:
        return _repositories(material)
    wrong = [(facts.name, match) for facts in material.facts for match in facts.false_positives()]
    clean = [facts for facts in material.facts if not facts.expected]
    return {
        **_scenarios(material),
        "false_positives": sum(facts.count_false_positives() for facts in material.facts),
        "false_positives_by_rule": _counted(str(match.reported_rule_id) for _, match in wrong),
        "clean_repositories": len(clean),
        "clean_repositories_without_a_finding": sum(not facts.reported for facts in clean),
        "sample": [_finding(name, match) for name, match in wrong[:SAMPLE]],
    }


def secret_coverage(material: Material) -> dict[str, Any]:
    """Which rule types were expected and which found, and what was found in history."""
    if material.mode == REAL_WORLD:
        return _repositories(material)
    expected = {rule for facts in material.facts for rule in facts.expected_rules}
    covered = {rule for facts in material.facts for rule in covered_rules(facts)}
    return {
        **_scenarios(material),
        "expected_rule_types": _named(expected),
        "rule_types_detected": _counted(
            rule for facts in material.facts for rule, count in facts.reported_rules.items() for _ in range(count)
        ),
        "rule_types_not_covered": _named(expected - covered),
        "history": [
            {"scenario": _text(facts.name), "expected": facts.expected_history, "actual": facts.reported_history}
            for facts in material.facts
            if facts.expected_history
        ][:NAMES],
    }


def severity_classification(material: Material) -> dict[str, Any]:
    """The severities that were reported, those expected, and a sample of the mismatches."""
    if material.mode == REAL_WORLD:
        return _repositories(material)
    compared = [(facts.name, match, expected) for facts in material.facts for match, expected in facts.severities]
    wrong = [row for row in compared if row[1].reported_severity != row[2]]
    return {
        **_scenarios(material),
        "severity_distribution": _severities(material),
        "severities_compared": len(compared),
        "expected_severities": _counted(expected for _, _, expected in compared),
        "mismatches": len(wrong),
        "sample_of_mismatches": [
            {**_finding(name, match), "expected": expected, "actual": _text(match.reported_severity)}
            for name, match, expected in wrong[:SAMPLE]
        ],
    }


def _scenarios(material: Material) -> dict[str, Any]:
    facts = sorted(material.facts, key=lambda one: (_as_expected(one), one.name))
    statuses = (EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED)
    return {
        "scanner": _text(material.scanner),
        "expected_findings": sum(one.expected for one in facts),
        "reported_findings": material.reported,
        "by_status": {status: sum(one.count(status) for one in facts) for status in statuses},
        "scenarios": len(facts),
        "scenarios_as_expected": sum(map(_as_expected, facts)),
        # Those that differ come first.
        "by_scenario": [
            {
                "scenario": _text(one.name),
                "expected": one.expected,
                "actual": one.reported,
                "expected_rule_ids": _named(one.expected_rules),
                "rule_ids": _top(one.reported_rules),
            }
            for one in facts[:NAMES]
        ],
    }


def _repositories(material: Material) -> dict[str, Any]:
    rules: Counter[str] = Counter()
    for facts in material.facts:
        rules.update(facts.reported_rules)
    sample = [finding for facts in material.facts for finding in facts.sample]
    return {
        "scanner": _text(material.scanner),
        "repositories": len(material.facts),
        "reported_findings": material.reported,
        "findings_by_rule": _top(rules),
        "findings_by_severity": _severities(material),
        "findings_only_in_history": sum(facts.reported_history for facts in material.facts),
        "findings_in_test_example_or_documentation_files": sum(facts.noisy for facts in material.facts),
        "structural_checks_that_fail": material.failed_checks,
        "by_repository": [
            {"findings": facts.reported, "rule_ids": _top(facts.reported_rules)} for facts in material.facts[:NAMES]
        ],
        "sample": sample[:SAMPLE],
    }


def _as_expected(facts: Facts) -> bool:
    return facts.count(EXACT) == facts.expected == facts.reported


def _sampled(material: Material, statuses: set[str]) -> list[dict[str, Any]]:
    rows = ((facts.name, match) for facts in material.facts for match in facts.matches if match.status in statuses)
    return [_finding(name, match) for name, match in islice(rows, SAMPLE)]


def _finding(scenario: str, match: Match) -> dict[str, Any]:
    return {
        "scenario": _text(scenario),
        "file_path": _text(match.file_path),
        "line_number": match.line_number,
        "rule_id": _text(match.rule_id),
        "status": match.status,
        "reported_rule_id": _text(match.reported_rule_id),
        "reported_line_number": match.reported_line_number,
    }


def _severities(material: Material) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for facts in material.facts:
        counts.update(facts.reported_severities)
    return _top(counts)


def _counted(names: Iterable[str]) -> dict[str, int]:
    return _top(Counter(names))


def _top(counts: Mapping[str, int]) -> dict[str, int]:
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:NAMES]
    return {str(_text(name)): count for name, count in most}


def _named(names: Iterable[str]) -> list[str]:
    return [str(_text(name)) for name in sorted(names)[:NAMES]]


def _text(text: str | None) -> str | None:
    return text if text is None or len(text) <= TEXT else f"{text[:TEXT]}…"
