"""The judges: one test a dimension, which passes when its verdict reaches the pass score.

A session of their own: `pytest --gitleaks-judges`.
"""

import pytest

from gitleaks_eval import not_applicable
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.panel import Case
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, Verdict


@pytest.mark.llm_judge
def test_judge(judge: Case, verdict: Verdict, pass_score: float) -> None:
    """The score of this dimension, capped where critical checks fail, reaches the pass score."""
    if verdict.outcome == NOT_APPLICABLE:
        not_applicable(verdict.reasoning)
    if verdict.score is None or verdict.score < pass_score:
        capped = f", capped because {', '.join(verdict.cap_checks)} fail" if verdict.capped else ""
        raise CheckFailed(
            f"{judge.name} scores {verdict.score} of 5{capped}; a pass needs {pass_score:g}\n"
            f"  {printable(verdict.reasoning)[:240]}"
        )
