"""Why a run does not end well, whatever pytest and the hooks of others make of its tests. Pure."""

from collections.abc import Collection, Iterator, Mapping

from gitleaks_eval.checks.result import failed_ids
from gitleaks_eval.judges.material import REAL_WORLD
from gitleaks_eval.judges.verdict import SCORED, Combined
from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.run.values import Run
from gitleaks_eval.scoring.comparison import failing_verdicts


def why_failing(  # noqa: PLR0913 - each is a word of its own
    runs: Mapping[str, Run],
    compared: Compared | None,
    judged: Combined | None,
    *,
    compares: bool = False,
    accepts_review: bool = False,
    allows_unreadable: bool = False,
    accepted: Collection[str] = (),
) -> list[str]:
    """Return each reason for which the run must not end with status 0; empty where it may.

    `runs` are by the name of the candidate; `judged` is the decision with judges that ran alone. `compares` says that
    the run was to compare, also where it could not; with `accepts_review` a REVIEW ends well, with `allows_unreadable`
    a scanner whose rules cannot be read. `accepted` are the tests
    (node ids) whose failures entries alone cause.
    """
    reasons = [_of(name, "could not be evaluated whole") for name, run in runs.items() if run.incomplete]
    reasons += [] if allows_unreadable else _unreadable(runs)
    if compared:
        # What it excuses is as in its baseline.
        failing = failing_verdicts(accepts_review=accepts_review)
        verdicts = ((pair, pair.verdict) for pair in compared.deciding if pair.verdict in failing)
        reasons += [f"{pair.candidate} against {pair.baseline} is {verdict}" for pair, verdict in verdicts]
    else:
        reasons += _decisions(runs)
        reasons += [] if compares else _hushed(runs, accepted)
    unjudged = [(name, run.combined) for name, run in runs.items()] + [("", judged)]
    reasons += [_of(name, f"the decision with judges is {one.decision}") for name, one in unjudged if one and one.fails]
    return [*reasons, *_unheard(runs)]


def _decisions(runs: Mapping[str, Run]) -> Iterator[str]:
    for name, run in runs.items():
        if run.scorecard.guarded_decision == "FAIL":
            yield _of(name, "the decision is FAIL")


def _unreadable(runs: Mapping[str, Run]) -> Iterator[str]:
    for name, run in runs.items():
        if run.coverage and run.coverage.unreadable and not run.partial:
            yield _of(name, f"none of the scanner's rules was tested: {run.coverage.unreadable}")


def _unheard(runs: Mapping[str, Run]) -> Iterator[str]:
    """Judges of real repositories that were to decide, and of which none counts."""
    for name, run in runs.items():
        judgement = run.judged.by_mode.get(REAL_WORLD) if run.judged else None
        scored = [verdict for verdict in judgement.verdicts if verdict.outcome == SCORED] if judgement else []
        if scored and all(one.excluded and not one.advisory for one in scored):
            yield _of(name, "every verdict on real repositories is left out for low confidence")


def _hushed(runs: Mapping[str, Run], accepted: Collection[str]) -> Iterator[str]:
    """Failures of a partial run, which has no decision: a hook may have turned them into others."""
    for name, run in runs.items():
        failed = failed_ids(result for result in run.results if result.nodeid not in accepted) if run.partial else ()
        if failed:
            yield _of(name, f"{' '.join(failed)} failed")


def _of(name: str, reason: str) -> str:
    return f"{name}: {reason}" if name else reason
