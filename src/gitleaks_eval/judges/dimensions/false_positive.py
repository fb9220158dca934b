"""False positives: how much of what is reported is expected of nothing?"""

from typing import Any

from gitleaks_eval.analysis.matching import UNEXPECTED
from gitleaks_eval.judges.dimensions.bands import UNCERTAIN, noise_band
from gitleaks_eval.judges.dimensions.sampling import SAMPLE, counted, described, of_repositories, of_scenarios
from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Material


def _evidence(material: Material) -> dict[str, Any]:
    """Return the reported findings that nothing expected explains, by rule, and a sample of them."""
    if material.mode == REAL_WORLD:
        shown = {"entropy", "file_extension", "folder_depth", "looks_like_test_example_or_documentation"}
        noisy = sum(facts.noisy for facts in material.facts)
        return {
            **of_repositories(material, shown),
            "findings_in_test_example_or_documentation_files": noisy,
        }
    wrong = [(facts, match) for facts in material.facts for match in facts.false_positives()]
    clean = [facts for facts in material.facts if not facts.expected]
    return {
        **of_scenarios(material),
        "unexpected_findings": sum(facts.count(UNEXPECTED) for facts in material.facts),
        "unexpected_and_misplaced": sum(len(facts.misplaced()) for facts in material.facts),
        "false_positives": sum(facts.count_false_positives() for facts in material.facts),
        "potential_false_positives": sum(facts.potential_false_positives() for facts in material.facts),
        "false_positives_by_rule": counted(str(match.reported_rule_id) for _, match in wrong),
        "clean_repositories": len(clean),
        "clean_repositories_without_a_finding": sum(not facts.reported for facts in clean),
        "sample": [described(facts, match) for facts, match in wrong[:SAMPLE]],
    }


def _heuristic(material: Material) -> Opinion | None:
    """Score by the share of reported findings that are unexpected, and not merely misplaced."""
    if material.mode == REAL_WORLD:
        return _noise(material)
    wrong, reported = sum(facts.count_false_positives() for facts in material.facts), material.reported
    if not reported:
        return None
    rules = {rule for facts in material.facts for rule in facts.reported_rules}
    noisy = {match.reported_rule_id for facts in material.facts for match in facts.false_positives()}
    clean = [facts for facts in material.facts if not facts.expected]
    disturbed = sum(facts.reported > 0 for facts in clean)
    return Opinion(
        noise_band(wrong, reported),
        {
            "false_positive_count": noise_band(wrong, reported),
            "pattern_quality": noise_band(len(noisy), len(rules)) if noisy else noise_band(wrong, reported),
            "noise_level": min(noise_band(wrong, reported), noise_band(disturbed, len(clean)) + 1),
        },
        f"{wrong} of {reported} findings are false positives, by {len(noisy)} of {len(rules)} rules; "
        f"{disturbed} of {len(clean)} clean repositories have a finding.",
        share=max(0.0, 1 - wrong / reported),
    )


def _noise(material: Material) -> Opinion | None:
    reported, noisy = material.reported, sum(facts.noisy for facts in material.facts)
    if not reported:
        return None
    score = noise_band(noisy, reported)
    names = ("false_positive_count", "pattern_quality", "noise_level")
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"{noisy} of {reported} findings stand in files that look like tests, examples or documentation. "
        "The thresholds are ours.",
        UNCERTAIN,
    )


JUDGE = Judge(
    dimension="false_positive",
    weight=0.25,
    sub_dimensions={"false_positive_count": 0.4, "pattern_quality": 0.3, "noise_level": 0.3},
    evidence=_evidence,
    heuristic=_heuristic,
    needs_findings=True,
)
