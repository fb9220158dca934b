"""Output quality (OQ-1): the analysis follows the format that its readers parse."""

from functools import partial

from gitleaks_eval import Evidence, conclude
from gitleaks_eval.analysis.envelope import Analysis, envelope_problems
from gitleaks_eval.checks import mark as marks
from gitleaks_eval.checks.evidence import first

check = partial(marks.check, category="Output Quality")


@check("OQ-1", "Caldera envelope schema")
def test_OQ_1_envelope_schema(analysis: Analysis, evidence: Evidence) -> None:
    """The document is a valid Caldera envelope or a valid legacy document."""
    problems = envelope_problems(analysis)
    message = f"{len(problems)} violations: {'; '.join(problems[:2])}" if problems else "envelope: valid"
    conclude(evidence, not problems, message, "no violations", first(problems, 5))
