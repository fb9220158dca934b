"""What renders a report, loaded when one is made: 0.1 s, for which no scan has to wait."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import loaded_later

if TYPE_CHECKING:
    from gitleaks_eval.reports import (
        comment,
        comparison,
        evaluation_report,
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
        "fleet",
        "html",
        "in_pull_request",
        "judges",
        "scenario_eval",
        "scorecard",
    ]
else:
    __getattr__ = loaded_later(
        "gitleaks_eval.reports.comment",
        "gitleaks_eval.reports.comparison",
        "gitleaks_eval.reports.evaluation_report",
        "gitleaks_eval.reports.fleet",
        "gitleaks_eval.reports.html",
        "gitleaks_eval.reports.in_pull_request",
        "gitleaks_eval.reports.judges",
        "gitleaks_eval.reports.scenario_eval",
        "gitleaks_eval.reports.scorecard",
    )
