"""Secret coverage: which rule types, file formats and parts of the history have findings?"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MOVED, RELABELLED, Match
from gitleaks_eval.judges.dimensions.bands import UNCERTAIN, found_band
from gitleaks_eval.judges.dimensions.sampling import NAMES, counted, named, of_repositories, of_scenarios, shortened
from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Material


def _evidence(material: Material) -> dict[str, Any]:
    """Return which rule types were expected and which found, and what was found in history."""
    if material.mode == REAL_WORLD:
        seen = of_repositories(material, {"in_head", "file_extension"})
        return {
            **seen,
            "findings_only_in_history": sum(facts.reported_history for facts in material.facts),
            "file_extensions": counted(str(finding.get("file_extension")) for finding in seen["sample"]),
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
    """Score by the share of expected rule types that found something of theirs, lower where history is missed.

    What the survey says counts, too: rules that do not fire, and usual places that are not seen.
    """
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
    surveyed = _surveyed(material.coverage or {})
    rules, places = (found_band(*surveyed[name]) if name in surveyed else 5 for name in ("rules", "places"))
    parts = [(len(covered & types), len(types)), (handled, len(formats)), (seen, history), *surveyed.values()]
    shares = [min(found, of) / of for found, of in parts if of]
    said = "".join(f"; {found} of {of} {name} in the survey" for name, (found, of) in surveyed.items())
    return Opinion(
        min(max(1, breadth - lower), rules, places),
        {
            "type_breadth": min(breadth, rules),
            "format_handling": min(found_band(handled, len(formats)) if formats else breadth, places),
            "historical_coverage": found_band(seen, history) if history else breadth,
        },
        f"{len(covered & types)} of {len(types)} expected rule types and {handled} of {len(formats)} file formats "
        f"have a finding; {seen} of {history} secrets that only history holds were found{said}. "
        "The thresholds are ours.",
        share=sum(shares) / len(shares),
    )


def _surveyed(coverage: Mapping[str, Any]) -> Mapping[str, tuple[int, int]]:
    """Return how many rules fire and how many usual places are seen, of those that the configuration decides on.

    What was accepted, or no scanner of this kind looks at, is no fault.
    """
    rules: Mapping[str, int] = coverage.get("rules") or {}
    families: Mapping[str, Mapping[str, int]] = coverage.get("places") or {}
    firing = sum(rules.get(status, 0) for status in ("fires", "reported_as"))
    silent = sum(rules.get(status, 0) for status in ("allowlisted", "never_fires"))
    seen, hidden = (sum(counts.get(status, 0) for counts in families.values()) for status in ("seen", "allowlisted"))
    counts = {"rules": (firing, firing + silent), "places": (seen, seen + hidden)}
    return {name: count for name, count in counts.items() if count[1]}


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
    """Return for each file format with an expected finding how many are expected and found."""
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
