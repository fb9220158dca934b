"""Scenarios evaluated once more, with the configuration relieved of its entries: what do they alone cause?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matched import MatchedScenario
from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, Match
from gitleaks_eval.checks.outcome import Check, check_outcome
from gitleaks_eval.checks.result import NOT_APPLICABLE, PASSED, Identity
from gitleaks_eval.config.chain import Configuration, copy_configuration
from gitleaks_eval.config.hiding import Entry as HidingEntry
from gitleaks_eval.config.hiding import without
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import made_once
from gitleaks_eval.core.text import shown_path
from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.verdict.accepting import accepted_entries
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate, Trial
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import Scenario
from gitleaks_eval.scoring.expected_failures import ACCEPTED, FINDINGS

# Of what one entry hides this check of a scenario tells, and the others have nothing to add.
TELLS = "SA-10"


def accepted_of(session: Session, candidate: Candidate) -> list[Entry]:
    """Return the entries of a candidate's configuration that are accepted."""
    if not (candidate.configuration and any(one.accepts for one in session.beside[candidate.name])):
        return []
    subject = session.subject(candidate.name)
    return list(accepted_entries(subject, session.beside[candidate.name]).by)


def explained(  # noqa: PLR0913 - what a test is, each under its name
    session: Session,
    trial: Trial,
    identity: Identity,
    *,
    check: Check,
    parameters: Mapping[str, Any],
    others: Collection[Identity],
) -> str | None:
    """Return why a failed check is not red: entries alone cause it, and they are accepted, or told of.

    It passes where the scanner has the configuration without them. Those that are not accepted are told of by one
    check a scenario, if that is among the `others` of the run.
    """
    if FINDINGS not in identity.about or not isinstance(trial.subject, Scenario):
        return None
    candidate = _candidate(session, trial.candidate)
    try:
        if (accepted := accepted_of(session, candidate)) and _passes(session, trial, check, parameters, accepted):
            return _accepted_where(session, candidate)
        entries = all_of(session, candidate) if _is_told(session, trial, identity, others) else []
        if entries and _passes(session, trial, check, parameters, entries):
            return f"entries of the configuration alone cause it: see {TELLS}"
    except EvaluationError:
        pass
    return None


def _accepted_where(session: Session, candidate: Candidate) -> str:
    paths = [one.path for one in session.beside[candidate.name] if one.accepts]
    return f"{ACCEPTED} in {' and '.join(shown_path(path, session.settings.root) for path in paths)}"


def _is_told(session: Session, trial: Trial, identity: Identity, others: Collection[Identity]) -> bool:
    """Return whether another check of this run fails for what is missed; of corpora none is evaluated twice."""
    assert isinstance(trial.subject, Scenario)  # noqa: S101 - as asked before
    if identity.check_id == TELLS or trial.subject.corpus:
        return False
    wanted = TELLS, identity.scenario, identity.candidate
    is_there = any((one.check_id, one.scenario, one.candidate) == wanted for one in others)
    return is_there and bool(_places(session.workbench(trial.candidate).subjects[trial.subject.name], {MISSED}))


def all_of(session: Session, candidate: Candidate) -> Sequence[Entry]:
    """Return all entries of a candidate's configuration."""
    if not (candidate.configuration and candidate.configuration.chain):
        return []
    return session.subject(candidate.name).entries


def accepted_places(
    session: Session, candidate: Candidate, subjects: Mapping[str, MatchedScenario]
) -> dict[str, frozenset[Place]]:
    """By scenario the places of findings that are not as expected for accepted entries alone.

    `subjects` are the scenarios as they were evaluated.

    Raises:
        EvaluationError: when a scenario cannot be evaluated without them.
    """
    accepted = accepted_of(session, candidate) if session.settings.analyses is None else []
    if not accepted:
        return {}
    places: dict[str, frozenset[Place]] = {}
    for scenario in session.scenarios:
        if subject := subjects.get(scenario.name):
            places[scenario.name] = _accepted_places(session, candidate, accepted, scenario, subject)
    return {name: found for name, found in places.items() if found}


def accepted_in(session: Session, trial: Trial) -> frozenset[Place]:
    """Of one evaluated scenario the places as `accepted_places` has them; none where they are not known."""
    candidate = _candidate(session, trial.candidate)
    subject = session.workbench(trial.candidate).subjects.get(trial.subject.name)
    if not isinstance(trial.subject, Scenario) or subject is None or session.settings.analyses is not None:
        return frozenset()
    try:
        accepted = accepted_of(session, candidate)
        return _accepted_places(session, candidate, accepted, trial.subject, subject) if accepted else frozenset()
    except EvaluationError:
        return frozenset()


def accepted_finding(session: Session, trial: Trial, match: Match) -> str | None:
    """Return why the test of an expected finding is not red: accepted entries alone cause it."""
    if (match.file_path, match.line_number, match.rule_id) not in accepted_in(session, trial):
        return None
    return _accepted_where(session, _candidate(session, trial.candidate))


def _accepted_places(
    session: Session, candidate: Candidate, accepted: Collection[Entry], scenario: Scenario, subject: MatchedScenario
) -> frozenset[Place]:
    wrong = _places(subject, {MISSED, MOVED, RELABELLED})
    if not wrong:
        return frozenset()
    relieved = relieved_of(session, candidate, accepted)
    relieved.analysis(scenario)
    return wrong & _places(relieved.subjects[scenario.name], {EXACT})


def relieved_of(session: Session, candidate: Candidate, entries: Collection[Entry]) -> Workbench:
    """Return the workbench of a candidate whose configuration has these entries no longer; shared by all processes."""
    assert candidate.configuration is not None  # noqa: S101 - it has entries
    bench = session.bench(candidate.name)
    relieved = _without(candidate.configuration, entries)
    folder = Path(bench.folder) / f"relieved-{relieved.sha256[:16]}"
    folder.mkdir(exist_ok=True)
    config = made_once(folder / "copied", lambda: str(copy_configuration(relieved, folder)))
    changed = replace(bench.under_test, candidate=replace(bench.candidate, configuration=relieved))
    return session.workbench_of(replace(bench, under_test=changed, folder=str(folder), config=config))


def _without(configuration: Configuration, entries: Collection[Entry]) -> Configuration:
    return without(
        configuration, [HidingEntry(one.file, one.place, one.layer, one.address) for one in entries if one.file]
    )


def _passes(
    session: Session, trial: Trial, check: Check, parameters: Mapping[str, Any], entries: Collection[Entry]
) -> bool:
    relieved = relieved_of(session, _candidate(session, trial.candidate), entries)
    assert isinstance(trial.subject, Scenario)  # noqa: S101 - as asked before
    analysis, expected = relieved.analysis(trial.subject), relieved.expected(trial.subject)
    return check_outcome(check, analysis, expected, trial.subject, parameters) in {PASSED, NOT_APPLICABLE}


def _places(subject: MatchedScenario, statuses: Collection[str]) -> frozenset[Place]:
    matches = subject.matching.matches
    return frozenset((one.file_path, one.line_number, one.rule_id) for one in matches if one.status in statuses)


def _candidate(session: Session, name: str) -> Candidate:
    return session.settings.candidate(name)
