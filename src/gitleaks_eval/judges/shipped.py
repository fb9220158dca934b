"""The four judges of the requirements ("LLM Judge Dimensions"), with their weights and sub-dimensions."""

from gitleaks_eval.judges import evidence, heuristics
from gitleaks_eval.judges.judge import Judge


def _shares(first: str, second: str, third: str) -> dict[str, float]:
    return {first: 0.4, second: 0.3, third: 0.3}


SHIPPED = (
    Judge(
        dimension="detection_accuracy",
        weight=0.35,
        sub_dimensions=_shares("true_positive_rate", "location_accuracy", "rule_matching"),
        evidence=evidence.detection_accuracy,
        heuristic=heuristics.detection_accuracy,
        needs_baseline=True,
    ),
    Judge(
        dimension="false_positive",
        weight=0.25,
        sub_dimensions=_shares("false_positive_count", "pattern_quality", "noise_level"),
        evidence=evidence.false_positive,
        heuristic=heuristics.false_positive,
        needs_findings=True,
    ),
    Judge(
        dimension="secret_coverage",
        weight=0.20,
        sub_dimensions=_shares("type_breadth", "format_handling", "historical_coverage"),
        evidence=evidence.secret_coverage,
        heuristic=heuristics.secret_coverage,
        needs_baseline=True,
    ),
    Judge(
        dimension="severity_classification",
        weight=0.20,
        sub_dimensions=_shares("classification_accuracy", "risk_assessment", "context_awareness"),
        evidence=evidence.severity_classification,
        heuristic=heuristics.severity_classification,
        needs_findings=True,
    ),
)
