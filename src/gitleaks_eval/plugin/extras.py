"""What the tests beside the checks ask for: the lint of a configuration, and findings one by one."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import pytest

from gitleaks_eval.analysis.matching import Match, Matching
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.session.comparing import Comparing
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate, Trial
from gitleaks_eval.engine.survey.config_faults import FAULTS, Fault
from gitleaks_eval.engine.survey.without_entries import accepted_finding, accepted_in
from gitleaks_eval.plugin.fixtures import parameters_of, register_parameter
from gitleaks_eval.plugin.folders import LINT, REAL, SURVEYS
from gitleaks_eval.plugin.state import IDENTITY
from gitleaks_eval.plugin.surveys import OwnTest, excuse_survey
from gitleaks_eval.scenarios.scenario import Expected, Scenario
from gitleaks_eval.scoring.expected_failures import AS_IN_BASELINE, TO_REVIEW


@dataclass(frozen=True, slots=True)
class FindingCase:
    """An expected finding of a scenario, by its number in the list of them, under a candidate."""

    trial: Trial
    index: int
    name: str


def register_fixtures_beside(module: pytest.Module, session: Session) -> None:
    """Register what the tests of the lint, or of findings, ask for."""
    if module.path.parent == LINT:
        _register_lint(module, session)
    else:
        _register_findings(module, session)


def finding_cases(trials: list[Trial]) -> list[FindingCase]:
    """Return a case for each finding that a scenario expects: `8.30.1-cloud-mixed-.env.production:7:github-pat`."""
    cases = []
    seen: Counter[str] = Counter()
    for trial in trials:
        if not isinstance(trial.subject, Scenario):
            continue
        for index in _ordered(trial.subject.expected):
            finding = trial.subject.expected.findings[index]
            name = f"{trial.name}-{finding.file_path}:{finding.line_number}:{finding.rule_id}"
            seen[name] += 1
            cases.append(FindingCase(trial, index, name if seen[name] == 1 else f"{name}#{seen[name]}"))
    return cases


def _ordered(expected: Expected) -> list[int]:
    """Return the numbers of the findings in the order of their places, which is that of their matches."""
    places = [(finding.file_path, finding.line_number, finding.rule_id) for finding in expected.findings]
    return sorted(range(len(places)), key=places.__getitem__)


def match_of(case: FindingCase, session: Session) -> Match:
    """Return what became of an expected finding; its scenario has been evaluated."""
    assert isinstance(case.trial.subject, Scenario)  # noqa: S101 - only scenarios expect findings
    workbench = session.workbench(case.trial.candidate)
    position = _ordered(workbench.expected(case.trial.subject)).index(case.index)
    return workbench.subjects[case.trial.subject.name].matching.matches[position]


def _register_lint(module: pytest.Module, session: Session) -> None:
    candidates = [
        candidate
        for candidate in session.settings.candidates
        if candidate.configuration and candidate.configuration.chain
    ]
    names = [candidate.name or "configuration" for candidate in candidates]

    def faults(request: pytest.FixtureRequest, linted: Candidate) -> list[Fault]:
        """Return what is wrong with the configuration of this candidate, of what the test asks for."""
        return FAULTS[request.node.stash[IDENTITY].check_id](linted, session)

    register_parameter(module, "linted", "Return the candidate whose configuration is linted.", candidates, names)
    pytest.register_fixture(name="faults", func=faults, node=module)


def _register_findings(module: pytest.Module, session: Session) -> None:
    trials = [trial for trial in session.trials if isinstance(trial.subject, Scenario)]
    cases = finding_cases(trials)

    def matching_of(trial: Trial) -> Matching:
        session.analysis(trial)
        return session.workbench(trial.candidate).subjects[trial.subject.name].matching

    def match(finding_case: FindingCase) -> Match:
        """Return what became of this expected finding."""
        session.analysis(finding_case.trial)
        return match_of(finding_case, session)

    def matching(finding_trial: Trial) -> Matching:
        """Return all findings of this scenario, matched one to one."""
        return matching_of(finding_trial)

    ids = (printable(case.name) for case in cases)
    register_parameter(module, "finding_case", "Return an expected finding.", cases, ids)
    pytest.register_fixture(name="match", func=match, node=module)
    names = (trial.name for trial in trials)
    register_parameter(module, "finding_trial", "Return a candidate and a scenario.", trials, names)
    pytest.register_fixture(name="matching", func=matching, node=module)


def excuse_beside(item: pytest.Item, session: Session, found: object) -> str | None:
    """Return why a failed test beside the checks is accepted or does not fail the comparison, else None.

    `found` is its actual value.
    """
    comparing = session.comparing
    if isinstance(item, OwnTest):
        return excuse_survey(item, session) if comparing else None
    parameters = parameters_of(item)
    if (case := parameters.get("finding_case")) and (why := _accepted(case, session)):
        return why
    return _excuse_compared(item, session, comparing, found) if comparing else None


def _accepted(case: FindingCase, session: Session) -> str | None:
    try:
        return accepted_finding(session, case.trial, match_of(case, session))
    except KeyError:
        # Its scenario was not evaluated.
        return None


def _excuse_compared(item: pytest.Item, session: Session, comparing: Comparing, found: object) -> str | None:
    parameters = parameters_of(item)
    if case := parameters.get("finding_case"):
        return comparing.excuse_finding(case.trial, match_of(case, session), accepted_in(session, case.trial))
    if trial := parameters.get("finding_trial"):
        return comparing.excuse_finding(trial, None)
    if item.path == REAL:
        return TO_REVIEW if comparing.accepts_review else None
    if item.path.parent == SURVEYS:
        return excuse_survey(item, session)
    return _excuse_lint(item, session, comparing, set(found) if isinstance(found, list) else set())


def _excuse_lint(item: pytest.Item, session: Session, comparing: Comparing, found: set[str]) -> str | None:
    known = _known_faults(item, session, comparing)
    if known is None:
        return None
    if found <= set(known):
        return AS_IN_BASELINE
    try:
        obeyed = {secret for scenario in session.scenarios for secret in _by_obeying(item, session, scenario)}
    except EvaluationError:
        return None
    return TO_REVIEW if comparing.accepts_review and found <= {*known, *obeyed} else None


def _by_obeying(item: pytest.Item, session: Session, scenario: Scenario) -> set[str]:
    """Return what is hidden by entries alone that the baseline's version ignores, as the lint names it."""
    places = session.lost_by_obeying(parameters_of(item)["linted"].name, scenario)
    return {f"{scenario.name} {path}:{line} ({rule_id})" for path, line, rule_id in places}


def _known_faults(item: pytest.Item, session: Session, comparing: Comparing) -> Collection[str] | None:
    """Return what is wrong with the configuration of the baseline in the same way; None where that is not known."""
    if comparing.saved:
        return comparing.saved.lint.get(item.stash[IDENTITY].check_id, frozenset())
    baseline = session.settings.candidates[0]
    if not (baseline.configuration and baseline.configuration.chain):
        return None
    try:
        return {fault.key for fault in FAULTS[item.stash[IDENTITY].check_id](baseline, session)}
    except EvaluationError:
        # There is nothing to compare with: it fails by itself.
        return None
