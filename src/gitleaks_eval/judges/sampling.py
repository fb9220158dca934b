"""What the evidence of judges shares: an aggregate and a bounded sample, the same size for any report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match
from gitleaks_eval.judges.material import Facts, Material

SAMPLE = 50
NAMES = 50
TEXT = 200


def of_scenarios(material: Material) -> dict[str, Any]:
    """The aggregate over planted scenarios: what was expected, what reported, and how they match."""
    facts = sorted(material.facts, key=lambda one: (_as_expected(one), one.name))
    statuses = (EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED)
    return {
        "scanner": shortened(material.scanner),
        "expected_findings": sum(one.expected for one in facts),
        "reported_findings": material.reported,
        "by_status": {status: sum(one.count(status) for one in facts) for status in statuses},
        "scenarios": len(facts),
        "scenarios_as_expected": sum(map(_as_expected, facts)),
        # Those that differ come first.
        "by_scenario": [
            {
                "scenario": shortened(one.name),
                "expected": one.expected,
                "actual": one.reported,
                "expected_rule_ids": named(one.expected_rules),
                "rule_ids": _top(one.reported_rules),
            }
            for one in facts[:NAMES]
        ],
    }


def of_repositories(material: Material) -> dict[str, Any]:
    """The aggregate over real repositories, where nothing is expected."""
    rules: Counter[str] = Counter()
    for facts in material.facts:
        rules.update(facts.reported_rules)
    sample = [finding for facts in material.facts for finding in facts.sample]
    return {
        "scanner": shortened(material.scanner),
        "repositories": len(material.facts),
        "reported_findings": material.reported,
        "findings_by_rule": _top(rules),
        "findings_by_severity": severities(material),
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


def described(scenario: str, match: Match) -> dict[str, Any]:
    """A matched finding as a prompt shows it."""
    return {
        "scenario": shortened(scenario),
        "file_path": shortened(match.file_path),
        "line_number": match.line_number,
        "rule_id": shortened(match.rule_id),
        "status": match.status,
        "reported_rule_id": shortened(match.reported_rule_id),
        "reported_line_number": match.reported_line_number,
    }


def severities(material: Material) -> dict[str, int]:
    """How many findings have which severity."""
    counts: Counter[str] = Counter()
    for facts in material.facts:
        counts.update(facts.reported_severities)
    return _top(counts)


def counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs: the most frequent ones."""
    return _top(Counter(names))


def _top(counts: Mapping[str, int]) -> dict[str, int]:
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:NAMES]
    return {str(shortened(name)): count for name, count in most}


def named(names: Iterable[str]) -> list[str]:
    """The first names, in order."""
    return [str(shortened(name)) for name in sorted(names)[:NAMES]]


def shortened(text: str | None) -> str | None:
    """A text at most as long as a prompt shows."""
    return text if text is None or len(text) <= TEXT else f"{text[:TEXT]}…"
