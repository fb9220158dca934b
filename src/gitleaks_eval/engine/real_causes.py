"""Why one of two candidates does not report what the other does: proven, or not said."""

from collections.abc import Sequence

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.engine.session import Session
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.real_differences import LOST, NEW, RELABELLED, Change, RealFinding, still_reported


def causes_of(
    session: Session,
    names: tuple[str, str],
    repository: RealRepository,
    found: Sequence[Change],
    sides: Sequence[Sequence[RealFinding]],
) -> dict[Change, str]:
    """The cause of each difference that can be proven, as people read it."""
    causes = {
        change: f"reported as {rule} alone" for change, rule in still_reported(found, sides[0], sides[1]).items()
    }
    for change in found:
        if change.kind == RELABELLED and change.baseline and change.candidate:
            if alias_of(change.baseline.rule_id, change.candidate.rule_id):
                causes[change] = "one rule, renamed"
    return causes
