"""Do the judges bite? Each is shown reports with a known fault, and its scores are held against the rubric's.

`python -m gitleaks_eval.judges.calibrate` (or `nox -s calibrate_judges`) needs no scanner: the reports are made
from the shipped ground truths. With a model it puts 30 questions, four at a time.
"""

import argparse
import hashlib
import json
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.envelope import Analysis, as_analysis
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.facts import scenario_facts
from gitleaks_eval.judges.material import SYNTHETIC, Material
from gitleaks_eval.judges.models import resolve_model
from gitleaks_eval.judges.panel import Case, Panel, judge_all
from gitleaks_eval.judges.prompt import load_template
from gitleaks_eval.judges.settings import DEFAULT_MODEL, HEURISTIC, LLM, REPLAY, JudgeSettings
from gitleaks_eval.judges.shipped import SHIPPED
from gitleaks_eval.judges.verdict import UNSCORED, Judgement, Verdict
from gitleaks_eval.scenarios.scenario import Scenario, load_scenarios
from gitleaks_eval.scenarios.traces import Traces

RESULT = "judge-calibration.json"
Finding = dict[str, Any]
Reports = dict[str, list[Finding]]
# Of the four judges in their order; None where one does not apply.
Scores = tuple[int | None, int | None, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the reports of the nine scenarios, and what the rubric gives for it, judge by judge."""

    name: str
    scores: Scores
    reports: Callable[[Reports], Reports] = lambda reports: reports
    severity: str | None = None


def calibrate(settings: JudgeSettings) -> dict[str, Any]:
    """What each shipped judge scores for each fault, as a JSON value bound to the model and the prompts.

    `judges` has for each dimension the share of exact agreement with the rubric (0 to 1), the mean absolute error of
    the scores, how many pairs of faults are scored in the wrong order, and how many verdicts are missing.

    Raises:
        InputError: when a prompt cannot be used.
    """
    judgements = [_judged(fault, settings) for fault in FAULTS]
    answered = {judgement.model_answered for judgement in judgements} - {None}
    return {
        "mode": settings.mode,
        "model_requested": None if settings.mode == HEURISTIC else resolve_model(settings.model),
        "models_answered": sorted(map(str, answered)),
        "prompts_sha256": _prompts_sha256(settings),
        "judges": {
            judge.dimension: _agreement(
                [fault.scores[index] for fault in FAULTS], [judgement.verdicts[index] for judgement in judgements]
            )
            for index, judge in enumerate(SHIPPED)
        },
        "faults": [
            {
                "fault": fault.name,
                "dimension": verdict.dimension,
                "rubric": expected,
                "outcome": verdict.outcome,
                "unscored": f"{verdict.unscored_kind}: {verdict.reasoning}" if verdict.unscored_kind else None,
                "score": verdict.raw_score,
                "confidence": verdict.confidence,
            }
            for fault, judgement in zip(FAULTS, judgements, strict=True)
            for expected, verdict in zip(fault.scores, judgement.verdicts, strict=True)
        ],
    }


def material_of(fault: Fault) -> Material:
    """The nine scenarios as a scanner with this fault reports them."""
    scenarios = load_scenarios(["core"], Path())
    reports = fault.reports({scenario.name: _perfect_report(scenario) for scenario in scenarios})
    facts = (scenario_facts(one, _analysis(one, reports[one.name], fault.severity)) for one in scenarios)
    return Material(SYNTHETIC, tuple(facts), "a scanner under calibration")


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate from the command line; 0 when every verdict is there, 1 when one is missing, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m gitleaks_eval.judges.calibrate", description=__doc__)
    parser.add_argument("--mode", choices=(LLM, HEURISTIC, REPLAY), default=LLM)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="a short name or a full id (default: %(default)s)")
    parser.add_argument("--store", type=Path, default=Path("judge-store"), help="replies (default: %(default)s)")
    parser.add_argument("--prompts", type=Path, help="a folder of own prompts, <dimension>.md")
    parser.add_argument("--output", type=Path, default=Path(RESULT), help="the result (default: %(default)s)")
    given = parser.parse_args(arguments)
    settings = JudgeSettings(mode=given.mode, model=given.model, store=given.store, prompts=given.prompts)
    try:
        result = calibrate(settings)
    except InputError as error:
        parser.error(str(error))
    write_atomically(given.output, (json.dumps(result, indent=2) + "\n").encode("ascii"))
    for dimension, agreement in result["judges"].items():
        print(f"{dimension:<24}  {'  '.join(f'{name} {value}' for name, value in agreement.items())}")
    missing = [one["unscored"] for one in result["faults"] if one["unscored"]]
    for message in dict.fromkeys(missing):
        print(f"UNSCORED  {printable(message)}", file=sys.stderr)
    return int(bool(missing))


def _judged(fault: Fault, settings: JudgeSettings) -> Judgement:
    material = material_of(fault)
    # Nothing is planted here, so there is nothing to leak.
    panel = Panel(settings, settings.trace_id or str(uuid.uuid4()), Traces(b"", frozenset()), lambda _: material)
    cases = [Case(judge, SYNTHETIC) for judge in SHIPPED]
    return judge_all(cases, panel, whole=True).by_mode[SYNTHETIC]


def _agreement(rubric: Sequence[int | None], verdicts: Sequence[Verdict]) -> Mapping[str, float | int | None]:
    pairs = [(one, verdict.raw_score) for one, verdict in zip(rubric, verdicts, strict=True)]
    unscored = sum(verdict.outcome == UNSCORED for verdict in verdicts)
    # That a judge does not apply is agreed on, too; an unscored verdict agrees with nothing.
    exact = sum(
        expected == score and verdict.outcome != UNSCORED
        for (expected, score), verdict in zip(pairs, verdicts, strict=True)
    )
    both = [(expected, score) for expected, score in pairs if expected is not None and score is not None]
    errors = [abs(expected - score) for expected, score in both]
    return {
        "exact_agreement": round(exact / len(rubric), 4),
        "mean_absolute_error": round(sum(errors) / len(errors), 4) if errors else None,
        "monotonicity_violations": sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(both, 2)),
        "unscored": unscored,
    }


def _prompts_sha256(settings: JudgeSettings) -> str:
    digest = hashlib.sha256()
    for judge in SHIPPED:
        digest.update(hashlib.sha256(load_template(judge, settings.prompts).text.encode()).digest())
    return digest.hexdigest()


def _perfect_report(scenario: Scenario) -> list[Finding]:
    return [_finding(finding.file_path, finding.rule_id, finding.line_number) for finding in scenario.expected.findings]


def _finding(path: str, rule_id: str, line: int) -> Finding:
    # Not the place itself: where a secret stands in a path, the path is masked.
    value = hashlib.sha256(f"{path} {line}".encode()).hexdigest()
    return {"File": path, "RuleID": rule_id, "StartLine": line, "Commit": "1" * 40, "Secret": value}


def _analysis(scenario: Scenario, report: list[Finding], severity: str | None) -> Analysis:
    in_head = (scenario.expected.secrets_in_head or 0) > 0
    head = [finding["Secret"].encode() for finding in report] if in_head else []
    provenance = Provenance(scenario.name, "main", "1" * 40, "8.30.1", "run", "2026-01-01T00:00:00+00:00", 20.0, 1)
    document = analyse(report, head, load_policy(), provenance)
    for finding in document["data"]["findings"] if severity else ():
        finding["severity"] = severity
    return as_analysis(document, f"the calibration of {scenario.name}")


def _without(lost: Mapping[str, Sequence[str]]) -> Callable[[Reports], Reports]:
    """Reports that miss, in some scenarios, the findings of some rules."""
    return lambda reports: {
        name: [finding for finding in report if finding["RuleID"] not in lost.get(name, ())]
        for name, report in reports.items()
    }


def _with_false_positives(count: int) -> Callable[[Reports], Reports]:
    invented = [_finding(f"src/module{number}.py", "generic-api-key", 7) for number in range(count)]
    return lambda reports: {**reports, "no-secrets": [*reports["no-secrets"], *invented]}


def _shifted(reports: Reports) -> Reports:
    return {
        name: [{**finding, "StartLine": finding["StartLine"] + 1} for finding in report]
        for name, report in reports.items()
    }


# Measured: `judge-facts` of the requirements. The scores are before the cap.
FAULTS = (
    Fault("none", (5, 5, 5, 5)),
    Fault("1 of 17 missing", (4, 5, 5, 5), _without({"api-keys": ["github-pat"]})),
    Fault(
        "6 of 17 missing",
        (2, 5, 5, 5),
        _without(
            {
                "api-keys": ["github-pat", "stripe-access-token"],
                "aws-credentials": ["aws-access-token"],
                "cloud-mixed": ["aws-access-token"],
            }
        ),
    ),
    Fault("all missing", (1, None, 1, None), lambda reports: {name: [] for name in reports}),
    Fault("1 false positive", (5, 3, 5, 5), _with_false_positives(1)),
    Fault("8 false positives", (5, 1, 5, 5), _with_false_positives(8)),
    Fault("every line off by one", (4, 5, 5, 5), _shifted),
    Fault("all severities LOW", (5, 5, 5, 1), severity="LOW"),
)

if __name__ == "__main__":
    sys.exit(main())
