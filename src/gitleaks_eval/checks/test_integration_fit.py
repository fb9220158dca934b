"""Integration fit (IF-1): file paths are relative to the repository, as other tools expect them."""

import os
from collections import Counter
from functools import partial

from gitleaks_eval import Analysis, Evidence, conclude
from gitleaks_eval import check as check_of

check = partial(check_of, category="Integration Fit")


@check("IF-1", "All paths are repo-relative")
def test_IF_1_relative_paths(analysis: Analysis, evidence: Evidence) -> None:
    """No finding has an absolute path."""
    paths = analysis.paths()
    absolute = sum(
        count
        for path, count in Counter(paths).items()
        if os.path.isabs(path)  # noqa: PTH117 - a Path takes ten times as long, and there may be 200,000
    )
    message = f"{absolute} of {len(paths)} paths are absolute"
    conclude(evidence, absolute == 0, message, {"absolute": 0}, {"absolute": absolute, "findings": len(paths)})
