"""Evaluate without a test session: the same checks on the same analyses, with the outcomes that the plugin has."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace

from gitleaks_eval.checks.catalogue import catalogue
from gitleaks_eval.checks.outcome import asked_for, run_check
from gitleaks_eval.checks.result import CONFIG_LINT, ERROR, FAILED, NOT_APPLICABLE, PASSED, SURVEY, CheckResult
from gitleaks_eval.checks.shipped import ShippedCheck, shipped_checks
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.core.text import json_value
from gitleaks_eval.coverage.result import FAILS, PASSES
from gitleaks_eval.coverage.result import NOT_APPLICABLE as INAPPLICABLE
from gitleaks_eval.engine.run.finish import candidate_run, explain_misses
from gitleaks_eval.engine.session.begin import find_scanners, lay_out
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.session.targets import load_subjects
from gitleaks_eval.engine.settings.candidates import Candidate, Trial
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.engine.survey.config_faults import FAULTS, faults_message
from gitleaks_eval.engine.survey.coverage import Case, check_own_tests, start_survey, survey_cases, verdict_of
from gitleaks_eval.reports.run.values import Run
from gitleaks_eval.scenarios.scenario import Scenario


def evaluate(
    settings: Settings, progress: Callable[[str], None] = lambda _: None, executor: Executor | None = None
) -> Run:
    """Evaluate the one candidate of these settings with the shipped checks.

    No test session is started, and no report is written. Judges and comparisons are left to the plugin.

    Args:
        settings: what is evaluated, such as `Settings.of(version="8.30.1")`.
        progress: is told what takes long, such as a scanner that is installed.
        executor: where repositories are built, scanned and analysed, such as a `ProcessPoolExecutor`; it must see the
            files of this machine, and stays open. Without one, that is done in threads of this process.

    Raises:
        InputError: when something named is wrong on sight, or there are several candidates.
    """
    if len(settings.candidates) > 1:
        raise InputError("evaluate: there are several candidates; make settings for each of them")
    check_room()
    sweep()
    with private_folder() as folder:
        (under_test,) = found = find_scanners(settings, progress, folder)
        shared = lay_out(settings, found, folder, [""])
        session = Session(settings, load_subjects(settings), shared, executor=executor)
        check_own_tests(session, under_test.candidate)
        try:
            session.workbench().start(subject.name for subject in session.subjects)
            start_survey(session, under_test.candidate)
            run = candidate_run(session, under_test, [*_results(session), *_lint(session, under_test.candidate)])
            explain_misses(session, {under_test.candidate.name: run})
        finally:
            session.close()
        if run.analyses is not None:
            # They go with the private folder.
            run = replace(run, analyses={})
        return run


def _lint(session: Session, candidate: Candidate) -> Iterator[CheckResult]:
    """The tests of a configuration of the user's own: without them its decision would be higher than the plugin's."""
    if not (candidate.configuration and candidate.configuration.chain):
        return
    for entry in catalogue(PACKAGE / "lint"):
        try:
            faults = FAULTS[entry.check_id](candidate, session)
            outcome, message = FAILED if faults else PASSED, faults_message(faults)
            actual = json.dumps(json_value([fault.key for fault in faults]))
        except EvaluationError as error:
            outcome, message, actual = ERROR, str(error), "null"
        said = (entry.check_id, entry.name, CONFIG_LINT, None, outcome, message, "[]", actual)
        yield CheckResult(*said, nodeid=entry.check_id, duration_ms=0)


def _results(session: Session) -> Iterator[CheckResult]:
    for check in shipped_checks():
        for trial in session.trials:
            has_truth = isinstance(trial.subject, Scenario)
            if has_truth or "expected" not in asked_for(check.function):
                yield _result(session, check, trial)
    for candidate in session.settings.candidates:
        for case in survey_cases(session, candidate):
            yield _survey_result(session, candidate, case)


_OUTCOMES = {PASSES: PASSED, FAILS: FAILED, INAPPLICABLE: NOT_APPLICABLE}


def _survey_result(session: Session, candidate: Candidate, case: Case) -> CheckResult:
    try:
        verdict = verdict_of(session, candidate, case)
        outcome, message = _OUTCOMES[verdict.outcome], verdict.message
    except EvaluationError as error:
        outcome, message = ERROR, str(error)
    return CheckResult(
        *(case.kind, case.name, SURVEY, None, outcome, message, "null", "null"), nodeid=case.id, duration_ms=0.0
    )


def _result(session: Session, check: ShippedCheck, trial: Trial) -> CheckResult:
    started = time.perf_counter()
    outcome, message, expected, actual = _outcome(session, check, trial)
    return CheckResult(
        *(check.check_id, check.name, check.category, trial.subject.name, outcome, message, expected, actual),
        nodeid=f"{check.place}[{trial.name}]",
        duration_ms=(time.perf_counter() - started) * 1000,
        critical=check.critical,
        about=check.about,
    )


def _outcome(session: Session, check: ShippedCheck, trial: Trial) -> tuple[str, str, str, str]:
    subject, workbench = trial.subject, session.workbench(trial.candidate)
    try:
        analysis = session.analysis(trial)
    except EvaluationError as error:
        return ERROR, str(error), "null", "null"
    expected = workbench.expected(subject) if isinstance(subject, Scenario) else None
    ran = run_check(check.function, analysis, expected, subject)
    if ran is None:
        return ERROR, "it raised what is no failure", "null", "null"
    evidence = ran.evidence
    return ran.outcome, ran.message, json.dumps(json_value(evidence.expected)), json.dumps(json_value(evidence.actual))
