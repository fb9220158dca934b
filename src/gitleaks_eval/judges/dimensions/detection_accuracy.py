"""Detection accuracy: are the expected secrets found, where and as what they are?"""

from itertools import islice
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED
from gitleaks_eval.judges.dimensions.bands import UNCERTAIN, found_band
from gitleaks_eval.judges.dimensions.sampling import SAMPLE, described, of_repositories, of_scenarios
from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Material


def _evidence(material: Material) -> dict[str, Any]:
    """Return expected against reported findings, and a sample of those that differ."""
    if material.mode == REAL_WORLD:
        shown = {"entropy", "in_head", "file_extension"}
        return {**of_repositories(material, shown), "structural_checks_that_fail": material.failed_checks}
    different = _sampled(material, {MISSED, MOVED, RELABELLED})
    return {**of_scenarios(material), "findings_that_differ": different}


def _sampled(material: Material, statuses: set[str]) -> list[dict[str, Any]]:
    rows = ((facts, match) for facts in material.facts for match in facts.matches if match.status in statuses)
    return [described(facts, match) for facts, match in islice(rows, SAMPLE)]


def _heuristic(material: Material) -> Opinion | None:
    """Return 5 if all expected secrets are found exactly, else by the share that was found at all."""
    if material.mode == REAL_WORLD:
        return _sound_output(material)
    expected, found = material.expected, sum(facts.found() for facts in material.facts)
    if not expected:
        return None
    exact, moved, relabelled = (
        sum(facts.count(status) for facts in material.facts) for status in (EXACT, MOVED, RELABELLED)
    )
    score = found_band(found, expected)
    if found == expected and exact < expected:
        score = 4
    return Opinion(
        score,
        {
            "true_positive_rate": found_band(found, expected),
            "location_accuracy": found_band(found - moved, found) if found else 1,
            "rule_matching": found_band(found - relabelled, found) if found else 1,
        },
        f"{found} of {expected} expected secrets were found: {exact} exactly, {moved} moved, {relabelled} relabelled.",
        share=(found + exact) / (2 * expected),
    )


def _sound_output(material: Material) -> Opinion:
    failing = material.failed_checks
    score = max(1, 5 - len(failing))
    baseline = material.baseline or {}
    if baseline.get("failed_checks"):
        score = min(score, 3)
    names = ("true_positive_rate", "location_accuracy", "rule_matching")
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"{len(failing)} structural checks fail; in the synthetic baseline {baseline.get('found')} of "
        f"{baseline.get('expected')} expected secrets were found. Whether these findings are true is not known here.",
        UNCERTAIN,
    )


JUDGE = Judge(
    dimension="detection_accuracy",
    weight=0.35,
    sub_dimensions={"true_positive_rate": 0.4, "location_accuracy": 0.3, "rule_matching": 0.3},
    evidence=_evidence,
    heuristic=_heuristic,
    needs_baseline=True,
)
