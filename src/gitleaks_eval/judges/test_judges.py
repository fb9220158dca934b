"""The judges: one test a dimension, which passes when its verdict reaches the pass score.

A session of their own: `pytest --gitleaks-judges`.
"""

import pytest

from gitleaks_eval import not_applicable
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.judge import Case
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED, Verdict


@pytest.mark.llm_judge
def test_judge(judge: Case, verdict: Verdict, pass_score: float) -> None:
    """Return the score of this dimension, capped where critical checks fail, reaches the pass score."""
    if verdict.outcome == NOT_APPLICABLE:
        not_applicable(verdict.reasoning)
    low = verdict.score is None or verdict.score < pass_score
    if verdict.advisory and low:
        said = f"unscored ({verdict.unscored_kind})" if verdict.outcome == UNSCORED else f"scores {verdict.score} of 5"
        pytest.skip(f"advisory: {judge.name} {said}; --gitleaks-judge-real-world=gate lets it decide")
    if low:
        capped = (
            f", capped from {verdict.raw_score} because {', '.join(verdict.cap_checks)} fail" if verdict.capped else ""
        )
        raise CheckFailed(
            f"{judge.name} scores {verdict.score} of 5{capped}; a pass needs {pass_score:g}\n"
            f"  {printable(verdict.reasoning)[:240]}"
        )
