"""Do the judges bite? Each is shown reports with a known fault, and its scores are held against the rubric's.

`python -m gitleaks_eval.judges.calibrate` (or `nox -s calibrate_judges`) needs no scanner: the reports are made
from the shipped ground truths. With a model it puts a question for each fault and judge that applies, four at a time.
"""

import argparse
import hashlib
import json
import sys
import uuid
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.envelope import Analysis, as_analysis
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.case import Case
from gitleaks_eval.judges.facts import scenario_facts
from gitleaks_eval.judges.faults import Fault, Finding, finding
from gitleaks_eval.judges.judge import Judge
from gitleaks_eval.judges.material import SYNTHETIC, Material
from gitleaks_eval.judges.models import resolve_model
from gitleaks_eval.judges.panel import Panel, judge_all
from gitleaks_eval.judges.prompt import load_template
from gitleaks_eval.judges.settings import DEFAULT_MODEL, HEURISTIC, LLM, REPLAY, JudgeSettings
from gitleaks_eval.judges.shipped import SHIPPED
from gitleaks_eval.judges.verdict import UNSCORED, Judgement, Verdict
from gitleaks_eval.scenarios.scenario import Scenario, load_scenarios
from gitleaks_eval.scenarios.traces import Traces

RESULT = "judge-calibration.json"
FAULTS = tuple(dict.fromkeys(fault for judge in SHIPPED for fault in judge.calibration))


def calibrate(settings: JudgeSettings) -> dict[str, Any]:
    """What each shipped judge scores for each fault, as a JSON value bound to the model and the prompts.

    `judges` has for each dimension the share of exact agreement with the rubric (0 to 1), the mean absolute error of
    the scores, how many pairs of faults are scored in the wrong order, and how many verdicts are missing.

    Raises:
        InputError: when a prompt cannot be used.
    """
    judgements = {fault: _judged(fault, settings) for fault in FAULTS}
    rows = [
        (fault, judge.calibration[fault], verdict)
        for fault, judgement in judgements.items()
        for judge, verdict in zip(_judges_of(fault), judgement.verdicts, strict=True)
    ]
    answered = {judgement.model_answered for judgement in judgements.values()} - {None}
    return {
        "mode": settings.mode,
        "model_requested": None if settings.mode == HEURISTIC else settings.model,
        "models_answered": sorted(map(str, answered)),
        "prompts_sha256": _prompts_sha256(settings),
        "judges": {
            judge.dimension: _agreement(
                [(rubric, verdict) for _, rubric, verdict in rows if verdict.dimension == judge.dimension]
            )
            for judge in SHIPPED
        },
        "faults": [
            {
                "fault": fault.name,
                "dimension": verdict.dimension,
                "rubric": rubric,
                "outcome": verdict.outcome,
                "unscored": f"{verdict.unscored_kind}: {verdict.reasoning}" if verdict.unscored_kind else None,
                "score": verdict.raw_score,
                "confidence": verdict.confidence,
            }
            for fault, rubric, verdict in rows
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
    settings = JudgeSettings(mode=given.mode, models=(given.model,), store=given.store, prompts=given.prompts)
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


def _judges_of(fault: Fault) -> list[Judge]:
    return [judge for judge in SHIPPED if fault in judge.calibration]


def _judged(fault: Fault, settings: JudgeSettings) -> Judgement:
    material = material_of(fault)
    # Nothing is planted here, so there is nothing to leak.
    panel = Panel(settings, settings.trace_id or str(uuid.uuid4()), Traces(b"", frozenset()), lambda _: material)
    cases = [Case(judge, SYNTHETIC) for judge in _judges_of(fault)]
    return judge_all(cases, panel, whole=True).by_mode[SYNTHETIC]


def _agreement(rows: Sequence[tuple[int | None, Verdict]]) -> Mapping[str, float | int | None]:
    # That a judge does not apply is agreed on, too; an unscored verdict agrees with nothing.
    exact = sum(rubric == verdict.raw_score and verdict.outcome != UNSCORED for rubric, verdict in rows)
    scores = [(rubric, verdict.raw_score) for rubric, verdict in rows]
    both = [(expected, score) for expected, score in scores if expected is not None and score is not None]
    errors = [abs(expected - score) for expected, score in both]
    return {
        "exact_agreement": round(exact / len(rows), 4) if rows else None,
        "mean_absolute_error": round(sum(errors) / len(errors), 4) if errors else None,
        "monotonicity_violations": sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(both, 2)),
        "unscored": sum(verdict.outcome == UNSCORED for _, verdict in rows),
    }


def _prompts_sha256(settings: JudgeSettings) -> str:
    digest = hashlib.sha256()
    for judge in SHIPPED:
        digest.update(hashlib.sha256(load_template(judge, settings.prompts).text.encode()).digest())
    return digest.hexdigest()


def _perfect_report(scenario: Scenario) -> list[Finding]:
    return [finding(one.file_path, one.rule_id, one.line_number) for one in scenario.expected.findings]


def _analysis(scenario: Scenario, report: list[Finding], severity: str | None) -> Analysis:
    in_head = (scenario.expected.secrets_in_head or 0) > 0
    head = [one["Secret"].encode() for one in report] if in_head else []
    provenance = Provenance(scenario.name, "main", "1" * 40, "8.30.1", "run", "2026-01-01T00:00:00+00:00", 20.0, 1)
    document = analyse(report, head, load_policy(), provenance)
    for one in document["data"]["findings"] if severity else ():
        one["severity"] = severity
    return as_analysis(document, f"the calibration of {scenario.name}")


if __name__ == "__main__":
    sys.exit(main())
