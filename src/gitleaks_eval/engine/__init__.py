"""Evaluates candidates on subjects. Knows no pytest. What no scan waits for is loaded when it is needed."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import modules_of

if TYPE_CHECKING:
    from gitleaks_eval.engine import comparing, coverage, judging, judging_pairs, obeying

    __all__ = ["comparing", "coverage", "judging", "judging_pairs", "obeying"]
else:
    __getattr__ = modules_of(__name__)
