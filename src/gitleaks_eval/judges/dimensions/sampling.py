"""What the evidence of judges shares: an aggregate and a bounded sample, the same size for any report."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match
from gitleaks_eval.judges.material import Facts, Material

SAMPLE = 50
NAMES = 50
TEXT = 200


def of_scenarios(material: Material) -> dict[str, Any]:
    """Return the aggregate over planted scenarios: what was expected, what reported, and how they match."""
    facts = sorted(material.facts, key=lambda scenario: (_as_expected(scenario), scenario.name))
    statuses = (EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED)
    return {
        "expected_findings": sum(scenario.expected for scenario in facts),
        "reported_findings": material.reported,
        "by_status": {status: sum(scenario.count(status) for scenario in facts) for status in statuses},
        "scenarios": len(facts),
        "scenarios_as_expected": sum(map(_as_expected, facts)),
        "by_rule": by_rule(material),
        # Those that differ come first.
        "by_scenario": [
            {
                "scenario": shortened(scenario.name),
                "expected": scenario.expected,
                "actual": scenario.reported,
                "expected_rule_ids": named(scenario.expected_rules),
                "rule_ids": _top(scenario.reported_rules),
            }
            for scenario in facts[:NAMES]
        ],
    }


def by_rule(material: Material) -> list[dict[str, Any]]:
    """Return a row a rule: what it is for, what was expected, found and extra, and what hides the missed."""
    rows: dict[str, dict[str, Any]] = {}

    def row(rule: str) -> dict[str, Any]:
        described = shortened(material.descriptions.get(rule))
        counts = dict.fromkeys(("expected", "found", "missed", "extra"), 0)
        return rows.setdefault(rule, {"description": described, **counts, "hidden_by": set()})

    for facts in material.facts:
        for match in facts.matches:
            if match.status == UNEXPECTED:
                row(match.rule_id)["extra"] += 1
                continue
            of = row(match.rule_id)
            of["expected"] += 1
            of["missed" if match.status == MISSED else "found"] += 1
            if cause := facts.hidden.get((match.file_path, match.line_number, match.rule_id)):
                of["hidden_by"].add(cause)
    worst = sorted(rows.items(), key=lambda item: (-item[1]["missed"], -item[1]["extra"], item[0]))[:NAMES]
    return [
        {"rule_id": shortened(rule), **counts, "hidden_by": named(counts["hidden_by"])[:5]} for rule, counts in worst
    ]


def of_repositories(material: Material, shown: Collection[str]) -> dict[str, Any]:
    """Return the aggregate over real repositories, where nothing is expected; of the sample, these features."""
    rules: Counter[str] = Counter()
    for facts in material.facts:
        rules.update(facts.reported_rules)
    sample = [finding for facts in material.facts for finding in facts.sample]
    always = {"rule_id", "file_path"}
    return {
        "repositories": len(material.facts),
        "reported_findings": material.reported,
        "findings_by_rule": _top(rules),
        "sample": [
            {name: finding[name] for name in finding if name in always or name in shown} for finding in sample[:SAMPLE]
        ],
    }


def _as_expected(facts: Facts) -> bool:
    return facts.count(EXACT) == facts.expected == facts.reported


def described(facts: Facts, match: Match) -> dict[str, Any]:
    """Return a matched finding as a prompt shows it; a missed one with its masked line and cause, if known."""
    line = facts.lines.get((match.file_path, match.line_number)) if match.status == MISSED else None
    cause = facts.hidden.get((match.file_path, match.line_number, match.rule_id))
    return {
        **({"masked_line": shortened(line)} if line else {}),
        **({"hidden_by": shortened(cause)} if cause else {}),
        "scenario": shortened(facts.name),
        "file_path": shortened(match.file_path),
        "line_number": match.line_number,
        "rule_id": shortened(match.rule_id),
        "status": match.status,
        "reported_rule_id": shortened(match.reported_rule_id),
        "reported_line_number": match.reported_line_number,
    }


def severities(material: Material) -> dict[str, int]:
    """Return how many findings have which severity."""
    counts: Counter[str] = Counter()
    for facts in material.facts:
        counts.update(facts.reported_severities)
    return _top(counts)


def counted(names: Iterable[str]) -> dict[str, int]:
    """Return how often each name occurs: the most frequent ones."""
    return _top(Counter(names))


def _top(counts: Mapping[str, int]) -> dict[str, int]:
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:NAMES]
    return {str(shortened(name)): count for name, count in most}


def named(names: Iterable[str]) -> list[str]:
    """Return the first names, in order."""
    return [str(shortened(name)) for name in sorted(names)[:NAMES]]


def shortened(text: str | None) -> str | None:
    """Return a text at most as long as a prompt shows."""
    return text if text is None or len(text) <= TEXT else f"{text[:TEXT]}…"
