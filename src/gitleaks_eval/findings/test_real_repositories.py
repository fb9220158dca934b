"""Each pair of candidates on each real repository is a test, which fails while they find different things there."""

import pytest

from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.reports.comparison.real_differences import failed_text
from gitleaks_eval.scoring.real_differences import Real


@pytest.mark.finding
def test_differences(real_comparison: Real) -> None:
    """The candidate reports in this repository what the baseline does: nothing differs that nobody has approved."""
    if real_comparison.to_review():
        raise CheckFailed(failed_text(real_comparison))
