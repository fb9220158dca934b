"""What is to review in a comparison, as the lines that would approve it."""

from collections.abc import Iterator, Mapping

from gitleaks_eval.config.beside_edit import Line
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.against import silent_for
from gitleaks_eval.engine.approving import DIFFERENCES, UPGRADES, group_item, upgrade_item, upgrades_of
from gitleaks_eval.engine.candidates import Candidate
from gitleaks_eval.engine.coverage import surveyed
from gitleaks_eval.engine.real import compared_repositories
from gitleaks_eval.engine.session import Session
from gitleaks_eval.reports.real_differences import group_text
from gitleaks_eval.scoring.comparison import are_one_scanner
from gitleaks_eval.scoring.surveyed import Moves, moves, surveyed_from


def lines_to_approve(session: Session, said: Mapping[str, str]) -> Iterator[tuple[Line, str]]:
    """What nobody has approved of each candidate but the baseline, as lines, with what people read of each.

    What its build no longer finds is a line, and so is each group of differences in real repositories. `said` is why
    and since when. Of a saved baseline there are none: it has no values, and its build is not known.

    Raises:
        EvaluationError: when something could not be asked.
    """
    first, *others = session.settings.candidates
    for candidate in [] if session.settings.baseline else others:
        names = first.name, candidate.name
        title = f"{candidate.name} against {first.name}"
        moved = _moved(session, candidate)
        if moved.rules_lost or moved.places_lost:
            item = upgrade_item(session, names, moved.rules_lost, moved.places_lost, said)
            lost = Moves(rules_lost=moved.rules_lost, places_lost=moved.places_lost)
            yield Line(UPGRADES, item), f"{title}: {'; '.join(lost.grouped(candidate.name))}"
        real = compared_repositories(session, *names)
        if real.problems:
            raise EvaluationError("; ".join(real.problems))
        for group in real.to_review():
            yield Line(DIFFERENCES, group_item(session, names, group, said)), f"{title}: {group_text(group)}"


def _moved(session: Session, candidate: Candidate) -> Moves:
    """What another build no longer finds and nobody has accepted; of one build what is lost is a regression."""
    first = session.settings.candidates[0]
    builds = [session.build(one.name) for one in (first, candidate)]
    scanners = [{"name": one.name, "version": one.version} for one in builds if one]
    coverages = surveyed(session, first), surveyed(session, candidate)
    before, after = (surveyed_from(one.rows(), one.forgiven) for one in coverages)
    if len(scanners) < len(builds) or are_one_scanner(*scanners) or before is None or after is None:
        return Moves()
    found = moves(before, after, *silent_for(session, candidate))
    return Moves(
        rules_lost=found.rules_lost, places_lost=found.places_lost, upgrades=upgrades_of(session, candidate.name)
    ).to_review()
