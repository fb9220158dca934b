"""Which failed tests of rules, places and entries do not fail a comparison."""

from collections.abc import Mapping
from dataclasses import replace

from gitleaks_eval.coverage.result import ACCEPTANCE, ENTRY, FORMAT, PLACE, RULE, TEST, Coverage, key
from gitleaks_eval.engine.session.approvals import UPGRADES, upgrades_of
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.survey.baseline_samples import silent_for
from gitleaks_eval.engine.survey.coverage import Case, survey_cases, surveyed, verdict_of
from gitleaks_eval.scoring.comparison import are_one_scanner
from gitleaks_eval.scoring.expected_failures import AS_IN_BASELINE, TO_REVIEW
from gitleaks_eval.scoring.surveyed import Moves, Surveyed, moves, surveyed_from

UPGRADE = f"accepted in {UPGRADES}"


def excuse_case(session: Session, case: Case) -> str | None:
    """Return why a failed test of the survey does not fail the comparison, else None.

    What fails for the baseline too is as in the baseline; what differs is lost, or between two builds to review.

    Raises:
        EvaluationError: when the baseline or the candidate could not be asked.
    """
    settings, saved = session.settings, session.settings.baseline
    if saved is None and case.candidate == settings.candidates[0].name:
        return AS_IN_BASELINE
    candidate = settings.candidate(case.candidate)
    if case.kind in {TEST, ACCEPTANCE}:
        return None if saved else _as_before(session, candidate, case)
    mine = surveyed(session, candidate)
    before = saved.surveyed if saved else survey_read(surveyed(session, settings.candidates[0]))
    after = survey_read(mine)
    if before is None:
        return None
    if not _is_new(case, before, moves(before, after, *silent_for(session, candidate))):
        return AS_IN_BASELINE
    return _of_another_build(session, candidate, case)


def _of_another_build(session: Session, candidate: Candidate, case: Case) -> str | None:
    if are_one_scanner(scanner_of(session, None), scanner_of(session, candidate)):
        return None
    upgrades = upgrades_of(session, case.candidate)
    if any(_title(case) in (upgrade.rules if case.kind == RULE else upgrade.places) for upgrade in upgrades):
        return UPGRADE
    return TO_REVIEW if session.settings.accepts_review else None


def _as_before(session: Session, candidate: Candidate, case: Case) -> str | None:
    """Return whether a test of a rule, or of an acceptance, ends as with the baseline, which may not have it."""
    first = session.settings.candidates[0]
    before = replace(case, candidate=first.name)
    is_there = before in survey_cases(session, first)
    same = is_there and verdict_of(session, first, before) == verdict_of(session, candidate, case)
    return AS_IN_BASELINE if same else None


def _title(case: Case) -> str:
    """Return what comparisons call it: formats stand among the places."""
    return key(FORMAT, case.name) if case.kind == FORMAT else case.name


def _is_new(case: Case, before: Surveyed, moved: Moves) -> bool:
    """Return whether the candidate fails the test for what the baseline does not have."""
    if case.kind == RULE:
        return case.name in moved.rules_lost or before.rules.get(case.name, True)
    if case.kind in {PLACE, FORMAT}:
        return _title(case) in moved.places_lost
    # Where one line has several entries, the others have a number.
    is_wider = case.name.partition("#")[0] in moved.entries_wider
    return is_wider if case.kind == ENTRY else moved.loses


def survey_read(coverage: Coverage) -> Surveyed:
    """Return a survey of this run as one side of a comparison."""
    read = surveyed_from(coverage.rows(), coverage.forgiven)
    assert read is not None  # noqa: S101 - for the type checker: there are rows
    return read


def scanner_of(session: Session, candidate: Candidate | None) -> Mapping[str, str | None]:
    """Name and version of a candidate, or (None) of the baseline."""
    if candidate is None and session.settings.baseline:
        return session.settings.baseline.scanner
    build = session.build((candidate or session.settings.candidates[0]).name)
    return {"name": build.name if build else None, "version": build.version if build else None}
