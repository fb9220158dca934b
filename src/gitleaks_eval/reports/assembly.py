"""From the ledger and what the processes of a run left to the values that reports are made of."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.severity import LEVELS
from gitleaks_eval.checks.catalogue import catalogue
from gitleaks_eval.checks.result import CONFIG_LINT, ERROR, FAILED, NOT_RUN, CheckResult, Collected
from gitleaks_eval.core.text import few
from gitleaks_eval.engine.shared import analysis_path, read_subject, repository_path
from gitleaks_eval.engine.under_test import UnderTest
from gitleaks_eval.judges.verdict import combined_of
from gitleaks_eval.plugin.items import Evaluation
from gitleaks_eval.plugin.ledger import Recorder
from gitleaks_eval.reports.run import RealEvaluation, Run
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario
from gitleaks_eval.scoring.evaluated import Evaluated, by_key, lint_faults
from gitleaks_eval.scoring.scorecard import count_findings, make_scorecard


def make_run(
    evaluation: Evaluation,
    under_test: UnderTest,
    collected: Collected,
    recorder: Recorder,
) -> Run:
    """What a candidate's checks amount to."""
    settings, scenarios = evaluation.settings, evaluation.scenarios
    name = under_test.candidate.name
    workbench = evaluation.workbench(name)
    is_first = name == settings.candidates[0].name
    identities = {
        nodeid: identity
        for nodeid, identity in collected.identities.items()
        if identity.candidate == name or (is_first and not identity.candidate)
    }
    real = {repository.name for repository in evaluation.repositories}
    recorded = recorder.results(identities)
    lint = [result for result in recorded if result.category == CONFIG_LINT]
    results = [result for result in recorded if result.category != CONFIG_LINT and result.scenario not in real]
    by_scenario: dict[str | None, list[CheckResult]] = {
        scenario: [] for scenario in (*(scenario.name for scenario in scenarios), None)
    }
    for result in results:
        by_scenario[result.scenario].append(result)
    by_scenario = {scenario: group for scenario, group in by_scenario.items() if group}
    read = {one.name: workbench.subjects.get(one.name) or read_subject(workbench.folder, one.name) for one in scenarios}
    subjects = {scenario: subject for scenario, subject in read.items() if subject and scenario in by_scenario}
    unevaluated = sum(
        scenario.expected.total_secrets
        for scenario in scenarios
        if scenario.name in by_scenario and scenario.name not in subjects
    )
    possible = len(catalogue()) * len(scenarios) + collected.own.get(name, 0)
    broken = [f"{file} could not be collected" for file in recorder.broken_files]
    broken += [problem for problem in [under_test.changed()] if problem]
    incomplete = any(result.outcome == ERROR for result in (*results, *lint)) or bool(broken)
    partial = len(results) < possible
    findings = count_findings([subject.matching for subject in subjects.values()], unevaluated)
    faulty = any(result.outcome == FAILED for result in lint)
    # Real repositories alone are nothing to decide on.
    undecided = partial or not (scenarios or results)
    card = make_scorecard(by_scenario, findings, incomplete=incomplete, partial=undecided, faulty=faulty)
    judging = evaluation.judging
    judged = judging.judged(evaluation.folder) if judging else None
    return Run(
        results=results,
        scenarios=scenarios,
        subjects=subjects,
        scorecard=card,
        scanner=under_test.fields(settings.root, subjects),
        corpus_sha256=corpus_sha256(scenarios),
        generated_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        possible_checks=possible,
        incomplete=incomplete,
        partial=partial,
        reasons=[*broken, *_reasons(results, lint, possible)],
        by_scenario={scenario: group for scenario, group in by_scenario.items() if scenario is not None},
        analyses=None if settings.analyses else _analyses(workbench.folder, [*subjects, *real]),
        repositories=[_real_evaluation(workbench.folder, one, recorded) for one in evaluation.repositories],
        judged=judged,
        combined=combined_of(judged, card, incomplete=incomplete, partial=partial, faulty=faulty),
        judge_log=bool(judging and judging.settings.observability),
        lint=lint,
        only=settings.only,
    )


def evaluated(name: str, run: Run, times_ms: Sequence[float]) -> Evaluated:
    """A run as a side of a comparison; `times_ms` are repeated times of one scan."""
    ordered = sorted(times_ms)
    return Evaluated(
        name=name,
        matchings={scenario: subject.matching for scenario, subject in run.subjects.items()},
        outcomes=by_key((one.check_id, one.scenario, one.outcome) for one in run.results),
        about=by_key((one.check_id, one.scenario, one.about) for one in run.results),
        lint=lint_faults(run.scanner["config"], ((one.check_id, json.loads(one.actual)) for one in run.lint)),
        scanner=run.scanner,
        corpus_sha256=run.corpus_sha256,
        score=run.scorecard.score.rate,
        decision=run.scorecard.decision,
        guarded_decision=run.scorecard.guarded_decision,
        has_errors=run.incomplete,
        corpora=run.corpora,
        scan_ms=ordered[len(ordered) // 2] if ordered else None,
        scan_ms_spread=(ordered[0], ordered[-1]) if ordered else None,
    )


def corpus_sha256(scenarios: Sequence[Scenario]) -> str:
    """One hash of all ground truths and recipes: reports with the same one are about the same truth."""
    digest = hashlib.sha256()
    for scenario in scenarios:
        for content in _truth(scenario):
            digest.update(hashlib.sha256(scenario.name.encode() + b"\0" + content).digest())
    return digest.hexdigest()


def _truth(scenario: Scenario) -> list[bytes]:
    if scenario.corpus:
        return [repr((scenario.expected.findings, scenario.corpus.kind)).encode("utf-8", "backslashreplace")]
    return [path.read_bytes() if path.is_file() else b"" for path in (scenario.ground_truth, scenario.recipe)]


def _analyses(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    return {name: path for name in names if (path := analysis_path(folder, name)).exists()}


def _real_evaluation(folder: Path, repository: RealRepository, recorded: Sequence[CheckResult]) -> RealEvaluation:
    results = [result for result in recorded if result.scenario == repository.name]
    left, path = repository_path(folder, repository.name), analysis_path(folder, repository.name)
    if not (left.exists() and path.exists()):
        problems = [result.message for result in results if result.outcome == ERROR]
        problem = problems[0] if problems else "was not evaluated"
        return RealEvaluation(repository.name, repository.source, results, None, None, None, problem)
    data: Mapping[str, Any] = json.loads(path.read_bytes())["data"]
    return RealEvaluation(
        repository.name,
        repository.source,
        results,
        json.loads(left.read_bytes()),
        data["secrets_by_rule"],
        data["secrets_by_severity"],
        None,
        sorted(data["findings"], key=lambda one: -LEVELS.index(one["severity"])),
    )


def _reasons(results: Sequence[CheckResult], lint: Sequence[CheckResult], possible: int) -> list[str]:
    selected = [*results, *lint]
    not_run = sum(result.message == NOT_RUN for result in selected)
    errors = sum(result.outcome == ERROR for result in selected) - not_run
    reasons = []
    if errors:
        names = dict.fromkeys(
            result.scenario for result in selected if result.outcome == ERROR and result.message != NOT_RUN
        )
        shown = few([name or "no scenario" for name in names])
        reasons.append(f"{errors} checks could not be run ({shown})")
    if not_run:
        reasons.append(f"{not_run} selected checks were not run: the run ended early")
    if len(results) < possible:
        reasons.append(f"{len(results)} of {possible} checks were selected")
    return reasons
