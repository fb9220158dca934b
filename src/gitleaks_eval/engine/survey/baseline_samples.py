"""What the scanners are asked beside, to hold a candidate against the baseline; each question once a run."""

from collections.abc import Collection
from typing import Any

from gitleaks_eval.core.once import made_once, turn
from gitleaks_eval.coverage.rules.baseline import silent_rules
from gitleaks_eval.engine.session.approvals import upgrades_of
from gitleaks_eval.engine.session.sample_scanner import sample_scanner_of
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.survey.coverage import surveyed
from gitleaks_eval.engine.survey.without_entries import accepted_of
from gitleaks_eval.scoring.comparison import Asked
from gitleaks_eval.scoring.surveyed import FOUND


def asked_against(session: Session, candidate: Candidate) -> Asked:
    """Return what is known of a candidate beside its own evaluation; of analyses that exist nothing is.

    Raises:
        EvaluationError: when a scan fails: then what a verdict rests on is not known.
    """
    if candidate.configuration is None:
        return Asked()
    lost = {scenario.name: session.lost_by_obeying(candidate.name, scenario) for scenario in session.scenarios}
    said = session.obeyed(candidate.name).said
    silent, accepted = silent_for(session, candidate)
    lost = {name: found for name, found in lost.items() if found}
    return Asked(silent, said, lost, accepted_rules=accepted, upgrades=upgrades_of(session, candidate.name))


def silent_for(session: Session, candidate: Candidate) -> tuple[Collection[str] | None, Collection[str]]:
    """Return the rules of the baseline whose samples the candidate no longer finds; None where there are no samples.

    Those that it does not find for accepted entries alone are apart, and come second.

    Raises:
        EvaluationError: when a scan fails.
    """
    baseline = session.settings.candidates[0]
    if session.settings.baseline or not session.settings.surveys or candidate is baseline:
        return None, ()

    workbench = session.workbench(candidate.name)

    def make() -> Any:
        before = surveyed(session, baseline)
        fires = {str(row["rule_id"]) for row in before.rules if row["status"] in FOUND}
        theirs, mine = (session.subject(one.name, before.seed) for one in (baseline, candidate))
        sample_scanners = (
            sample_scanner_of(session, baseline.name, before.seed),
            sample_scanner_of(session, candidate.name, before.seed),
        )
        accepted = accepted_of(session, candidate)
        with turn(workbench.turns):
            return silent_rules(theirs, mine, fires, sample_scanners, accepted)

    silent, accepted = made_once(workbench.folder / "against", make)
    return frozenset(silent), frozenset(accepted)
