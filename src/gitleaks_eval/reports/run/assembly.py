"""Results, matched scenarios and verdicts become the run that all reports are made of."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gitleaks_eval.analysis.matched import MatchedScenario
from gitleaks_eval.analysis.severity import LEVELS
from gitleaks_eval.checks.result import CONFIG_LINT, ERROR, FAILED, NOT_RUN, SURVEY, CheckResult
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.core.text import few, numbered
from gitleaks_eval.coverage.result import Coverage
from gitleaks_eval.judges.verdict import Judged, combine
from gitleaks_eval.reports.run.coverage import survey_failures
from gitleaks_eval.reports.run.values import RealEvaluation, Run
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario, corpus_sha256
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.evaluated import Evaluated, by_key, lint_faults
from gitleaks_eval.scoring.expected_failures import FINDINGS
from gitleaks_eval.scoring.scorecard import count_findings, make_scorecard
from gitleaks_eval.scoring.surveyed import surveyed_from


def make_run(  # noqa: PLR0913 - the values of a report, each under its name
    recorded: Sequence[CheckResult],
    *,
    scenarios: Sequence[Scenario],
    subjects: Mapping[str, MatchedScenario],
    scanner: Mapping[str, Any],
    possible: int,
    broken: Sequence[str],
    analyses: Mapping[str, Path] | None,
    repositories: Sequence[RealEvaluation],
    judged: Judged | None,
    judge_log: bool,
    only: tuple[str, ...],
    surveys: int = 0,
    coverage: Coverage | None = None,
    seed: str = DEFAULT_SEED,
    accepted: Mapping[str, Collection[Place]] = MappingProxyType({}),
    crashed: str = "",
    configuration: Configuration | None = None,
    root: Path = Path(),
    other_failures: Sequence[str] = (),
) -> Run:
    """Return what a candidate's checks amount to.

    Args:
        recorded: the results of all its checks: of scenarios, of its configuration's lint, of real repositories.
        scenarios: what was to be evaluated.
        subjects: the scenarios that could be, with their findings matched.
        scanner: the `scanner` of the reports.
        possible: how many checks of scenarios there are, selected or not.
        broken: why the run is not complete, beside checks that could not be run.
        analyses: the analyses that were made, by subject; None where they existed before.
        repositories: what was found in real repositories.
        judged: the verdicts of judges, None where none was selected.
        judge_log: whether the calls of judges are written down.
        only: the kinds that were evaluated, where others were left out.
        surveys: how many tests of rules, places and entries were asked for, selected or not.
        coverage: what their survey amounts to; None where none was made.
        seed: names the values that were planted.
        accepted: by scenario the places of findings that are not as expected for accepted entries alone.
        crashed: how many scans crashed, whatever another scan of the same said; empty where none did.
        configuration: the files under test; None where analyses were there.
        root: what they are shown relative to.
        other_failures: the tests that failed and are none of ours.
    """
    real = {repository.name for repository in repositories}
    lint = [result for result in recorded if result.category == CONFIG_LINT]
    surveyed = [result for result in recorded if result.category == SURVEY]
    beside = {CONFIG_LINT, SURVEY}
    results = [result for result in recorded if result.category not in beside and result.scenario not in real]
    by_scenario: dict[str | None, list[CheckResult]] = {
        scenario: [] for scenario in (*(scenario.name for scenario in scenarios), None)
    }
    for result in results:
        by_scenario[result.scenario].append(result)
    by_scenario = {scenario: group for scenario, group in by_scenario.items() if group}
    subjects = {name: subject for name, subject in subjects.items() if name in by_scenario}
    unevaluated = sum(
        scenario.expected.total_secrets
        for scenario in scenarios
        if scenario.name in by_scenario and scenario.name not in subjects
    )
    incomplete = any(result.outcome == ERROR for result in (*results, *lint, *surveyed)) or bool(broken)
    partial = len(results) < possible or len(surveyed) < surveys
    forgiven = [
        match
        for name, subject in subjects.items()
        for match in subject.matching.matches
        if (match.file_path, match.line_number, match.rule_id) in accepted.get(name, ())
    ]
    findings = count_findings([subject.matching for subject in subjects.values()], unevaluated, forgiven)
    faulty = any(result.outcome == FAILED for result in lint)
    # Real repositories alone are nothing to decide on.
    undecided = partial or not (scenarios or results or surveyed)
    card = make_scorecard(
        by_scenario,
        findings,
        incomplete=incomplete,
        partial=undecided,
        scored=bool(scenarios or results),
        faulty=faulty,
        uncovered=any(result.outcome == FAILED for result in surveyed),
        narrowed=coverage is not None and not coverage.whole,
        weak=bool(crashed or (coverage and coverage.weak)) or any(_is_failing(one, accepted) for one in results),
    )
    return Run(
        results=results,
        scenarios=scenarios,
        subjects=subjects,
        scorecard=card,
        scanner=scanner,
        corpus_sha256=corpus_sha256(scenarios),
        generated_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        possible_checks=possible,
        incomplete=incomplete,
        partial=partial,
        reasons=[*broken, *_reasons(results, [*lint, *surveyed], possible), *_left_out(surveyed, surveys)],
        by_scenario={scenario: group for scenario, group in by_scenario.items() if scenario is not None},
        analyses=analyses,
        repositories=repositories,
        judged=judged,
        combined=combine(judged, card.score.rate, card.guarded_decision),
        judge_log=judge_log,
        lint=lint,
        only=only,
        surveys=surveyed,
        coverage=coverage,
        seed=seed,
        accepted=accepted,
        crashed=crashed,
        configuration=configuration,
        root=root,
        other_failures=other_failures,
    )


def _is_failing(result: CheckResult, accepted: Mapping[str, Collection[Place]]) -> bool:
    """Return whether a check failed for something that nobody accepted."""
    is_accepted = FINDINGS in result.about and bool(accepted.get(result.scenario or ""))
    return result.outcome == FAILED and not result.excused and not is_accepted


def evaluated(name: str, run: Run, times_ms: Sequence[float]) -> Evaluated:
    """Return a run as a side of a comparison; `times_ms` are repeated times of one scan."""
    ordered = sorted(times_ms)
    return Evaluated(
        name=name,
        matchings={scenario: subject.matching for scenario, subject in run.subjects.items()},
        outcomes=by_key((result.check_id, result.scenario, result.outcome) for result in run.results),
        about=by_key((result.check_id, result.scenario, result.about) for result in run.results),
        lint=lint_faults(run.scanner["config"], ((one.check_id, json.loads(one.actual)) for one in run.lint)),
        scanner=run.scanner,
        corpus_sha256=run.corpus_sha256,
        score=run.scorecard.score.rate,
        decision=run.scorecard.decision,
        guarded_decision=run.scorecard.guarded_decision,
        has_errors=run.incomplete,
        corpora=run.corpora,
        surveyed=surveyed_from(run.coverage.rows(), run.coverage.forgiven) if run.coverage else None,
        survey_failures=tuple(survey_failures(run.surveys)),
        scan_ms=ordered[len(ordered) // 2] if ordered else None,
        scan_ms_spread=(ordered[0], ordered[-1]) if ordered else None,
    )


def real_evaluation(
    repository: RealRepository,
    recorded: Sequence[CheckResult],
    left: Mapping[str, Any] | None,
    analysis: Mapping[str, Any] | None,
) -> RealEvaluation:
    """What was found in a real repository: `left` is what its scan left beside the analysis, None if it failed."""
    results = [result for result in recorded if result.scenario == repository.name]
    if left is None or analysis is None:
        problems = [result.message for result in results if result.outcome == ERROR]
        problem = problems[0] if problems else "was not evaluated"
        return RealEvaluation(repository.name, repository.source, results, None, None, None, problem)
    data: Mapping[str, Any] = analysis["data"]
    return RealEvaluation(
        repository.name,
        repository.source,
        results,
        left,
        data["secrets_by_rule"],
        data["secrets_by_severity"],
        None,
        sorted(data["findings"], key=lambda one: -LEVELS.index(one["severity"])),
    )


def _left_out(surveyed: Sequence[CheckResult], possible: int) -> list[str]:
    count = len(surveyed)
    return [f"{count} of {possible} tests of rules, places and entries were selected"] if count < possible else []


def _reasons(results: Sequence[CheckResult], beside: Sequence[CheckResult], possible: int) -> list[str]:
    selected = [*results, *beside]
    not_run = sum(result.message == NOT_RUN for result in selected)
    errors = sum(result.outcome == ERROR for result in selected) - not_run
    reasons = []
    if errors:
        names = dict.fromkeys(
            result.scenario for result in selected if result.outcome == ERROR and result.message != NOT_RUN
        )
        shown = few([name or "no scenario" for name in names])
        reasons.append(f"{numbered(errors, 'check')} could not be run ({shown})")
    if not_run:
        reasons.append(f"{not_run} selected checks were not run: the run ended early")
    if len(results) < possible:
        reasons.append(f"{len(results)} of {possible} checks were selected")
    return reasons
