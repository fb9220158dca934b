"""Output quality (OQ-1): the analysis follows the format that its readers parse."""

from functools import partial

from gitleaks_eval import Analysis, Evidence, conclude, first
from gitleaks_eval import check as check_of

check = partial(check_of, category="Output Quality")


@check("OQ-1", "Caldera envelope schema")
def test_OQ_1_envelope_schema(analysis: Analysis, evidence: Evidence) -> None:
    """The document is a valid Caldera envelope or a valid legacy document."""
    problems = analysis.problems()
    message = f"{len(problems)} violations: {'; '.join(problems[:2])}" if problems else "envelope: valid"
    conclude(evidence, not problems, message, "no violations", first(problems, 5))
