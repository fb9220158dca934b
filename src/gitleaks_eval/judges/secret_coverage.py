"""Secret coverage: which rule types, file formats and parts of the history have findings?"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MOVED, RELABELLED, Match
from gitleaks_eval.judges.bands import UNCERTAIN, found_band
from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Material
from gitleaks_eval.judges.sampling import NAMES, counted, named, of_repositories, of_scenarios, shortened


def _evidence(material: Material) -> dict[str, Any]:
    """Which rule types were expected and which found, and what was found in history."""
    if material.mode == REAL_WORLD:
        seen = of_repositories(material, {"in_head", "file_extension"})
        return {
            **seen,
            "findings_only_in_history": sum(facts.reported_history for facts in material.facts),
            "file_extensions": counted(str(one.get("file_extension")) for one in seen["sample"]),
            "rules_by_repository": [
                {"findings": facts.reported, "rule_ids": counted(facts.reported_rules)}
                for facts in material.facts[:NAMES]
            ],
        }
    expected = {rule for facts in material.facts for rule in facts.expected_rules}
    covered = {rule for facts in material.facts for rule in facts.covered_rules()}
    return {
        **of_scenarios(material),
        "expected_rule_types": named(expected),
        "rule_types_detected": counted(
            rule for facts in material.facts for rule, count in facts.reported_rules.items() for _ in range(count)
        ),
        "rule_types_not_covered": named(expected - covered),
        "by_file_format": {
            str(shortened(name)): {"expected": wanted, "found": found}
            for name, (wanted, found) in sorted(
                _formats(match for facts in material.facts for match in facts.matches).items()
            )[:NAMES]
        },
        **({"by_form_and_place": material.coverage} if material.coverage else {}),
        "history": [
            {"scenario": shortened(facts.name), "expected": facts.expected_history, "actual": facts.reported_history}
            for facts in material.facts
            if facts.expected_history
        ][:NAMES],
    }


def _heuristic(material: Material) -> Opinion | None:
    """By the share of expected rule types that found something of theirs, and lower where history is missed."""
    if material.mode == REAL_WORLD:
        return _baseline_coverage(material)
    if not material.expected:
        return None
    types = {rule for facts in material.facts for rule in facts.expected_rules}
    history = sum(facts.expected_history for facts in material.facts)
    seen = sum(min(facts.expected_history, facts.reported_history) for facts in material.facts)
    covered = {rule for facts in material.facts for rule in facts.covered_rules()}
    if not types:
        # A truth with totals only: no type is named, so what was found stands for them.
        types, covered = {"any"}, {"any"} if any(facts.found() for facts in material.facts) else set()
    formats = _formats(match for facts in material.facts for match in facts.matches)
    handled = sum(found > 0 for _, found in formats.values())
    breadth = found_band(len(covered & types), len(types))
    # A band lower where some of what only history holds is missed, two where all of it is.
    lower = 0 if seen == history else 1 if seen else 2
    return Opinion(
        max(1, breadth - lower),
        {
            "type_breadth": breadth,
            "format_handling": found_band(handled, len(formats)) if formats else breadth,
            "historical_coverage": found_band(seen, history) if history else breadth,
        },
        f"{len(covered & types)} of {len(types)} expected rule types and {handled} of {len(formats)} file formats "
        f"have a finding; {seen} of {history} secrets that only history holds were found. The thresholds are ours.",
    )


def _baseline_coverage(material: Material) -> Opinion:
    baseline = material.baseline or {}
    covered, types = baseline.get("rule_types_covered", 0), baseline.get("rule_types", 0)
    score = found_band(covered, types) if types else 1
    names = ("type_breadth", "format_handling", "historical_coverage")
    found = len({rule for facts in material.facts for rule in facts.reported_rules})
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"The synthetic baseline covers {covered} of {types} rule types; {found} rules found something here.",
        UNCERTAIN,
    )


def _formats(matches: Iterable[Match]) -> dict[str, tuple[int, int]]:
    """For each file format with an expected finding: how many are expected and found."""
    formats: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for match in matches:
        if match.status == "unexpected":
            continue
        name = match.file_path.rpartition("/")[2]
        suffix = name.rpartition(".")[2]
        expected, found = formats[suffix]
        formats[suffix] = expected + 1, found + (match.status in {EXACT, MOVED, RELABELLED})
    return dict(formats)


JUDGE = Judge(
    dimension="secret_coverage",
    weight=0.20,
    sub_dimensions={"type_breadth": 0.4, "format_handling": 0.3, "historical_coverage": 0.3},
    evidence=_evidence,
    heuristic=_heuristic,
    needs_baseline=True,
)
