"""Severity classification: have the findings the severities that are expected of them?"""

from typing import Any

from gitleaks_eval.analysis.matching import Match
from gitleaks_eval.analysis.severity import LEVELS
from gitleaks_eval.judges.dimensions.bands import UNCERTAIN, found_band, noise_band
from gitleaks_eval.judges.dimensions.sampling import (
    SAMPLE,
    counted,
    described,
    of_repositories,
    of_scenarios,
    severities,
    shortened,
)
from gitleaks_eval.judges.judge import Judge, Opinion
from gitleaks_eval.judges.material import REAL_WORLD, Material

_URGENT = {"CRITICAL", "HIGH"}
# What the score is at most, by the band of the share that is there: without most of it there is no triage.
_LIMITS = {1: 2, 2: 4}


def _evidence(material: Material) -> dict[str, Any]:
    """Return the severities that were reported, those expected, and a sample of the mismatches."""
    if material.mode == REAL_WORLD:
        places = ("looks_like_production", "looks_like_test_example_or_documentation")
        return {
            **of_repositories(material, {"severity", "policy", "in_head", *places}),
            "findings_by_severity": severities(material),
            "urgent_in_test_example_or_documentation_files": sum(facts.noisy_and_urgent for facts in material.facts),
        }
    compared = [(facts, match, expected) for facts in material.facts for match, expected in facts.severities]
    wrong = [row for row in compared if row[1].reported_severity != row[2]]
    return {
        **of_scenarios(material),
        "severity_distribution": severities(material),
        "severities_compared": len(compared),
        "expected_severities": counted(expected for _, _, expected in compared),
        "mismatches": len(wrong),
        "findings": [finding for facts in material.facts for finding in facts.sample][:SAMPLE],
        "sample_of_mismatches": [
            {**described(facts, match), "expected": expected, "actual": shortened(match.reported_severity)}
            for facts, match, expected in wrong[:SAMPLE]
        ],
    }


def _heuristic(material: Material) -> Opinion | None:
    """Score by the share of wrong severities and how far they are off; lower where many expected findings are gone."""
    if material.mode == REAL_WORLD:
        return _priorities(material)
    if not material.reported:
        return None
    compared = [pair for facts in material.facts for pair in facts.severities]
    if not any(facts.severities_expected for facts in material.facts):
        return None
    if not compared:
        names = ("classification_accuracy", "risk_assessment", "context_awareness")
        said = "None of the findings with an expected severity was found."
        return Opinion(1, dict.fromkeys(names, 1), said, share=0.0)
    wrong = [(match, expected) for match, expected in compared if match.reported_severity != expected]
    urgent = [(match, expected) for match, expected in compared if expected in _URGENT]
    underrated = [match for match, expected in urgent if _level(match.reported_severity) < _level(expected)]
    right, of = len(compared) - len(wrong), sum(facts.severities_expected for facts in material.facts)
    limit = _LIMITS.get(found_band(len(compared), of), 5)
    return Opinion(
        min(_severity_band(wrong, len(compared)), limit),
        {
            "classification_accuracy": found_band(right, len(compared)),
            "risk_assessment": min(found_band(len(urgent) - len(underrated), len(urgent)) if urgent else 5, limit),
            "context_awareness": _severity_band(wrong, len(compared)),
        },
        f"{right} of {len(compared)} severities are as expected; {len(underrated)} of {len(urgent)} CRITICAL or HIGH "
        f"ones are underrated; {of - len(compared)} of {of} are not there to be ordered. The thresholds are ours.",
        share=right / of,
    )


def _priorities(material: Material) -> Opinion | None:
    if not material.reported:
        return None
    noisy, urgent = (sum(getattr(facts, name) for facts in material.facts) for name in ("noisy", "noisy_and_urgent"))
    score = noise_band(urgent, material.reported)
    names = ("classification_accuracy", "risk_assessment", "context_awareness")
    return Opinion(
        score,
        dict.fromkeys(names, score),
        f"{urgent} of {noisy} findings in files that look like tests, examples or documentation are rated HIGH or "
        "CRITICAL. The thresholds are ours.",
        UNCERTAIN,
    )


def _level(severity: str | None) -> int:
    return LEVELS.index(severity) if severity in LEVELS else -1


def _severity_band(wrong: list[tuple[Match, str]], compared: int) -> int:
    if not wrong:
        return 5
    near = all(abs(_level(match.reported_severity) - _level(expected)) == 1 for match, expected in wrong)
    share = len(wrong) / compared
    lost = any(expected == "CRITICAL" and _level(match.reported_severity) < _level("HIGH") for match, expected in wrong)
    band = 1 if share > 0.5 else 2 if share > 0.3 else 4 if near else 3
    return min(band, 2) if lost else band


JUDGE = Judge(
    dimension="severity_classification",
    weight=0.20,
    sub_dimensions={"classification_accuracy": 0.4, "risk_assessment": 0.3, "context_awareness": 0.3},
    evidence=_evidence,
    heuristic=_heuristic,
    needs_findings=True,
)
