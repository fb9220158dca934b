"""The reports of a run: one module a file, one function a report; all of them are written, or none.

What renders is loaded when a report is made: 0.1 s, for which no scan has to wait.
"""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import modules_of

if TYPE_CHECKING:
    from gitleaks_eval.reports import (
        comment,
        comparison,
        evaluation_report,
        files,
        fleet,
        html,
        in_pull_request,
        judges,
        scenario_eval,
        scorecard,
    )

    __all__ = [
        "comment",
        "comparison",
        "evaluation_report",
        "files",
        "fleet",
        "html",
        "in_pull_request",
        "judges",
        "scenario_eval",
        "scorecard",
    ]
else:
    __getattr__ = modules_of(__name__)
