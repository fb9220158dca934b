"""What a session amounts to: the run of each candidate, what hides its misses, and how it compares."""

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matched import MatchedScenario
from gitleaks_eval.analysis.matching import MISSED
from gitleaks_eval.checks.catalogue import catalogue
from gitleaks_eval.checks.result import CheckResult
from gitleaks_eval.config.hiding import NOTHING_HIDES
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.coverage.result import TEST, Coverage
from gitleaks_eval.engine.judging.context import context_of
from gitleaks_eval.engine.real.comparison import compared_repositories
from gitleaks_eval.engine.scan.shared import analysis_path, repository_path
from gitleaks_eval.engine.scan.under_test import UnderTest
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.survey.baseline_samples import asked_against
from gitleaks_eval.engine.survey.coverage import Case, survey_cases, survey_left, surveyed
from gitleaks_eval.engine.survey.missed import hidden_findings, why_missed
from gitleaks_eval.engine.survey.without_entries import accepted_places
from gitleaks_eval.judges.verdict import Judged
from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.run.assembly import evaluated, make_run, real_evaluation
from gitleaks_eval.reports.run.configuration_problems import count_hidden
from gitleaks_eval.reports.run.values import Run, shown_name
from gitleaks_eval.scanners.crashes import crashed_scans
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scoring.comparison import Asked, Pair, compare, neighbours
from gitleaks_eval.scoring.evaluated import comparability
from gitleaks_eval.scoring.real_differences import Real
from gitleaks_eval.scoring.surveyed import with_secrets

# Times of scans differ from one to the next: the median of so many, taken in turn, counts.
TIMED_ROUNDS = 3
NO_VALUES = "not compared: real repositories (a saved report has no values); name both candidates"


def candidate_run(  # noqa: PLR0913 - what only the caller knows, each under its name
    session: Session,
    under_test: UnderTest,
    recorded: Sequence[CheckResult],
    *,
    own: int = 0,
    broken: Sequence[str] = (),
    judged: Judged | None = None,
    judge_log: bool = False,
    other_failures: Sequence[str] = (),
    selects: bool = True,
) -> Run:
    """Return what the checks of a candidate amount to.

    `own` is how many checks of a user's own there are, selected or not; `broken` says why the run is not complete;
    `other_failures` are the tests that failed and are none of ours; `selects` says that the user left tests out.
    """
    settings, scenarios = session.settings, session.scenarios
    workbench = session.workbench(under_test.candidate.name)
    checked = {*workbench.subjects, *(result.scenario for result in recorded)}
    matched = {scenario.name: workbench.matched(scenario) for scenario in scenarios if scenario.name in checked}
    subjects = {name: subject for name, subject in matched.items() if subject}
    changed = under_test.changed()
    names = [*subjects, *(repository.name for repository in session.repositories)]
    surveys = survey_cases(session, under_test.candidate)
    possible = len(catalogue()) * len(scenarios) + own
    asked = possible + len(surveys) + _count_lint(under_test.candidate)
    dropped = "" if selects else _dropped(asked, _count_decisive(session, recorded))
    coverage, unknown = _coverage(session, under_test.candidate, surveys)
    return make_run(
        recorded,
        scenarios=scenarios,
        subjects=subjects,
        scanner=under_test.fields(settings.root, subjects),
        possible=possible,
        broken=[*broken, *filter(None, (changed, unknown, dropped))],
        analyses=None if settings.analyses else _analyses(workbench.folder, names),
        repositories=[
            real_evaluation(
                repository,
                recorded,
                _left(repository_path(workbench.folder, repository.name)),
                _left(analysis_path(workbench.folder, repository.name)),
            )
            for repository in session.repositories
        ],
        judged=judged,
        judge_log=judge_log,
        only=settings.only,
        surveys=len(surveys),
        accepted=_accepted(session, under_test.candidate, subjects),
        coverage=coverage,
        crashed=crashed_scans(workbench.folder),
        seed=settings.seed,
        configuration=under_test.candidate.configuration,
        root=settings.root,
        other_failures=other_failures,
    )


def _count_lint(candidate: Candidate) -> int:
    has_own = candidate.configuration and candidate.configuration.chain
    return len(catalogue(PACKAGE / "lint")) if has_own else 0


def _count_decisive(session: Session, recorded: Sequence[CheckResult]) -> int:
    real = {repository.name for repository in session.repositories}
    return sum(result.scenario not in real for result in recorded)


def _dropped(asked: int, recorded: int) -> str:
    """Say that tests are gone that nobody left out; empty where all are there."""
    if recorded >= asked:
        return ""
    return f"a conftest.py or a plugin dropped {asked - recorded} of {asked} checks; no option of pytest selects"


def _coverage(session: Session, candidate: Candidate, cases: Sequence[Case]) -> tuple[Coverage | None, str]:
    """Return what the survey of a candidate says, and why it says nothing where it was to; `cases` are its tests.

    Where its scanner's own rules cannot be read there may be no test that asks for it: then it is made now, for nobody
    must believe that nothing is hidden.
    """
    if not session.settings.surveys:
        return None, ""
    is_asked = any(case.kind != TEST for case in cases)
    if is_asked or candidate.configuration is None or not session.build(candidate.name):
        return survey_left(session, candidate.name), ""
    try:
        return surveyed(session, candidate), ""
    except EvaluationError as error:
        return None, str(error)


def _accepted(
    session: Session, candidate: Candidate, subjects: Mapping[str, MatchedScenario]
) -> Mapping[str, Collection[Place]]:
    # What could not be evaluated without them is not accepted.
    with contextlib.suppress(EvaluationError):
        return accepted_places(session, candidate, subjects)
    return {}


def explain_misses(session: Session, runs: Mapping[str, Run]) -> None:
    """Name the entry of the configuration that hides each missed finding, where something is scanned."""
    settings = session.settings
    if settings.analyses is not None:
        return
    baseline = settings.candidates[0].configuration
    for candidate in settings.candidates:
        run, workbench = runs[candidate.name], session.workbench(candidate.name)
        matched = [(one, run.subjects[one.name].matching) for one in run.scenarios if one.name in run.subjects]
        # What hides a finding is a help; that it is missed is said in any case.
        with contextlib.suppress(EvaluationError):
            run.hidden.update(hidden_findings(matched, workbench, candidate.configuration, baseline, settings.root))
            missed = [
                (scenario, (match.file_path, match.line_number, match.rule_id))
                for scenario, matching in matched
                for match in matching.matches
                if match.status == MISSED
            ]
            unsaid = [one for one in missed if run.hidden.get((one[0].name, one[1]), NOTHING_HIDES) == NOTHING_HIDES]
            run.hidden.update(why_missed(session, candidate.name, unsaid))


def tell_judges(session: Session, runs: Mapping[str, Run]) -> Mapping[str, Run]:
    """Return the runs with what judges that run alone later are told, where one whole run is all there is."""
    if len(runs) != 1 or any(run.partial for run in runs.values()) or session.settings.analyses is not None:
        return runs
    ((name, run),) = runs.items()
    matched = [
        (scenario, run.subjects[scenario.name].matching) for scenario in run.scenarios if scenario.name in run.subjects
    ]
    return {name: replace(run, judge_context=context_of(session, matched).as_json())}


def compared(session: Session, runs: Mapping[str, Run]) -> Compared | None:
    """Compare each candidate with the baseline; None where nothing is compared, or a run is partial."""
    settings = session.settings
    if not settings.compares or any(run.partial for run in runs.values()):
        return None
    times = _times(session, runs)
    saved = settings.baseline
    names = {name: shown_name(name, run) for name, run in runs.items()}
    sides = [evaluated(names[name], run, times.get(name, ())) for name, run in runs.items()]
    baseline = saved or sides[0]
    notes = comparability(saved, sides[0].corpus_sha256) if saved else []
    has_own = any(candidate.configuration and candidate.configuration.chain for candidate in settings.candidates)
    if saved and saved.surveyed and has_own:
        notes.append("rules are compared by name: a saved baseline has no samples of a rule that was changed")
    others = sides if saved else sides[1:]
    compared_with = settings.candidates if saved else settings.candidates[1:]

    def real(before: str, after: str) -> Real:
        """Return what two candidates differ in on real repositories; a saved report has no values to compare."""
        if saved and before == saved.name:
            return Real(notes=(NO_VALUES,) if session.repositories else ())
        keys = {shown: name for name, shown in names.items()}
        return compared_repositories(session, keys[before], keys[after])

    pairs = [
        *(
            compare(baseline, side, notes, _asked(session, one, runs[one.name]), real(baseline.name, side.name))
            for one, side in zip(compared_with, others, strict=True)
        ),
        *neighbours(others, real),
    ]
    by_name = {names[name]: run for name, run in runs.items()}
    pairs = [_with_secrets(pair, by_name.get(pair.candidate)) for pair in pairs]
    hidden = {
        (names[name], scenario, *place): text
        for name, run in runs.items()
        for (scenario, place), text in run.hidden.items()
    }
    return Compared(
        [saved, *sides] if saved else sides,
        pairs,
        hidden,
        only=settings.only,
        runs=by_name,
    )


def _with_secrets(pair: Pair, run: Run | None) -> Pair:
    """Return the pair with the expected secrets that each wider entry hides, beside what it hides of the survey."""
    if run is None or not pair.moves.widened:
        return pair
    hidden, told = count_hidden(run), []
    # The second entry of a line is `.gitleaks.toml:5#2`.
    named = [max(one for one in pair.moves.entries_wider if text.startswith(one)) for text in pair.moves.widened]
    lines = [one.partition("#")[0] for one in named]
    for spot, text in zip(lines, pair.moves.widened, strict=True):
        told.append(with_secrets(text, hidden[spot], of_its_line=lines.count(spot) > 1))
    return replace(pair, moves=replace(pair.moves, widened=tuple(told)))


def _asked(session: Session, candidate: Candidate, run: Run) -> Asked:
    try:
        return replace(asked_against(session, candidate), accepted=run.accepted)
    except EvaluationError as error:
        return Asked(problem=f"what {candidate.name or 'it'} loses could not be asked: {error}")


def _times(session: Session, runs: Mapping[str, Run]) -> Mapping[str, Sequence[float]]:
    """Times of one scan of the canary, in milliseconds, the candidates in turn; none where one cannot scan."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    if len(runs) == 1 or any(run.incomplete for run in runs.values()):
        return {}
    with contextlib.suppress(EvaluationError):
        for _ in range(TIMED_ROUNDS):
            for name, found in times.items():
                found.append(session.workbench(name).time_canary())
    return times


def _analyses(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    return {name: path for name in names if (path := analysis_path(folder, name)).exists()}


def _left(path: Path) -> Any:
    return json.loads(path.read_bytes()) if path.exists() else None
