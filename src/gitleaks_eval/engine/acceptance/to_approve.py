"""What is to review in a comparison, as the lines that would approve it."""

import sys
from collections.abc import Iterator, Mapping

from gitleaks_eval.config.eval_file_edit import Line
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.acceptance.expected_failures import scanner_of, survey_read
from gitleaks_eval.engine.real.comparison import compared_repositories
from gitleaks_eval.engine.session.approvals import (
    DIFFERENCES,
    MASKED_RULE,
    UPGRADES,
    group_items,
    is_masked,
    upgrade_item,
    upgrades_of,
)
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.survey.baseline_samples import silent_for
from gitleaks_eval.engine.survey.coverage import surveyed
from gitleaks_eval.reports.comparison.real_differences import group_text
from gitleaks_eval.scoring.comparison import are_one_scanner
from gitleaks_eval.scoring.surveyed import Moves, moves


def lines_to_approve(session: Session, said: Mapping[str, str]) -> Iterator[tuple[Line | None, str]]:
    """Yield what nobody has approved of each candidate but the baseline, as lines, with what people read of each.

    What its build no longer finds is a line, and so is each group of differences in real repositories; a saved
    baseline has no values of these. `said` is why and since when. What cannot be accepted has no line.

    Raises:
        EvaluationError: when something could not be asked.
    """
    saved, candidates = session.settings.baseline, session.settings.candidates
    first = saved.name if saved else candidates[0].name
    for candidate in candidates if saved else candidates[1:]:
        title = f"{_title(session, candidate)} against {first}"
        moved = _moved(session, candidate)
        if moved.rules_lost or moved.places_lost:
            item = upgrade_item(session, candidate.name, moved.rules_lost, moved.places_lost, said)
            lost = Moves(rules_lost=moved.rules_lost, places_lost=moved.places_lost)
            yield (
                Line(UPGRADES, item),
                f"{title}: {'; '.join(lost.grouped(_title(session, candidate), at_most=sys.maxsize))}",
            )
        if saved:
            continue
        real = compared_repositories(session, first, candidate.name)
        if real.problems:
            raise EvaluationError("; ".join(real.problems))
        for group in real.to_review():
            if is_masked(group):
                yield None, f"{title}: {group_text(group)}: {MASKED_RULE}"
                continue
            for part, item in group_items(session, candidate.name, real, group, said):
                yield Line(DIFFERENCES, item), f"{title}: {group_text(part)}"


def _title(session: Session, candidate: Candidate) -> str:
    """As reports name it: a single one by its version."""
    return candidate.name or str(scanner_of(session, candidate)["version"])


def _moved(session: Session, candidate: Candidate) -> Moves:
    """Return what another build no longer finds and nobody has accepted; of one build what is lost is a regression."""
    saved, first = session.settings.baseline, session.settings.candidates[0]
    before = saved.surveyed if saved else survey_read(surveyed(session, first))
    if before is None or are_one_scanner(scanner_of(session, None), scanner_of(session, candidate)):
        return Moves()
    found = moves(before, survey_read(surveyed(session, candidate)), *silent_for(session, candidate))
    return Moves(
        rules_lost=found.rules_lost, places_lost=found.places_lost, upgrades=upgrades_of(session, candidate.name)
    ).to_review()
