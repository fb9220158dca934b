"""Do the judges bite? Each is shown reports with a known fault, and its scores are held against labels.

`python -m gitleaks_eval.judges.calibrate` (or `nox -s calibrate_judges`) needs no scanner: the reports are made
from the shipped ground truths. With a model it puts a question for each fault and judge that applies, four at a time.
"""

import argparse
import json
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.envelope import Analysis, as_analysis
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.progress import telling
from gitleaks_eval.core.text import numbered, printable
from gitleaks_eval.judges.calibration_cases import FAULTS, Fault, Finding, finding
from gitleaks_eval.judges.dimensions.shipped import SHIPPED
from gitleaks_eval.judges.facts import scenario_facts
from gitleaks_eval.judges.judge import Case
from gitleaks_eval.judges.material import SYNTHETIC, Material
from gitleaks_eval.judges.model.models import resolve_model
from gitleaks_eval.judges.model.store import checked_store
from gitleaks_eval.judges.panel.agreement import quadratic_kappa, rank_correlation
from gitleaks_eval.judges.panel.calibrated import FAIL_UNDER, keep_calibration, prompt_sha256
from gitleaks_eval.judges.panel.panel import Panel, judge_all
from gitleaks_eval.judges.settings import DEFAULT_MODEL, HEURISTIC, LLM, MOST_SAMPLES, REPLAY, JudgeSettings
from gitleaks_eval.judges.verdict import UNSCORED, Judgement, Verdict
from gitleaks_eval.scenarios.redaction import Values
from gitleaks_eval.scenarios.scenario import Scenario, load_scenarios

RESULT = "judge-calibration.json"
SOURCES = ("core", "edge")
BASELINES: Mapping[str, Callable[[Verdict], int | None]] = {
    "always_5": lambda _: 5,
    "always_3": lambda _: 3,
    "heuristic": lambda verdict: verdict.heuristic_score,
}


class Row(NamedTuple):
    """One judge on one fault: the label, its reason, and the verdict."""

    fault: Fault
    label: int | None
    reason: str
    verdict: Verdict


def calibrate(settings: JudgeSettings, fail_under: float = FAIL_UNDER) -> dict[str, Any]:
    """Return how far each judge agrees with the labels of all faults, as a JSON value bound to model and prompts.

    `judges` has by dimension the quadratic-weighted kappa, the shares of exact agreement and of agreement within one
    (0 to 1), the rank correlation of the score with the number of missed secrets, the mean spread over samples, how
    many verdicts are missing, the kappas of three baselines, and whether it `passes`: kappa reaches `fail_under` and
    none is missing.

    Raises:
        InputError: when a prompt cannot be used.
    """
    rows: list[Row] = []
    answered: set[str] = set()
    for fault in FAULTS:
        judgement = _judged(fault, settings)
        answered.update(filter(None, [judgement.model_answered]))
        rows += [
            Row(fault, *fault.label(verdict.dimension), verdict)
            for verdict in judgement.verdicts
            if verdict.dimension not in fault.unlabelled
        ]
    judges = {
        judge.dimension: {
            "prompt_sha256": prompt_sha256(judge, settings.prompts),
            **_agreement(
                [row for row in rows if row.verdict.dimension == judge.dimension], fail_under, settings.samples
            ),
        }
        for judge in SHIPPED
    }
    return {
        "mode": settings.mode,
        "model_requested": None if settings.mode == HEURISTIC else ", ".join(map(resolve_model, settings.models)),
        "models_answered": sorted(answered),
        "samples": settings.samples,
        "fail_under": fail_under,
        "passes": all(judge["passes"] for judge in judges.values()),
        "judges": judges,
        "faults": [
            {
                "fault": row.fault.name,
                "missed": row.fault.missed,
                "dimension": row.verdict.dimension,
                "label": row.label,
                "reason": row.reason,
                "outcome": row.verdict.outcome,
                "unscored": f"{row.verdict.unscored_kind}: {row.verdict.reasoning}" if _is_missing(row) else None,
                "score": row.verdict.raw_score,
                "confidence": row.verdict.confidence,
                "spread": row.verdict.spread,
            }
            for row in rows
        ],
    }


def material_of(fault: Fault, sources: Sequence[str] = SOURCES) -> Material:
    """Return the scenarios as a scanner with this fault reports them."""
    scenarios = _scenarios(tuple(sources))
    reports = fault.reports({scenario.name: _perfect_report(scenario) for scenario in scenarios})
    facts = (scenario_facts(scenario, _analysis(scenario, reports[scenario.name])) for scenario in scenarios)
    return Material(SYNTHETIC, tuple(facts), "a scanner under calibration")


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate from the command line; 0 when every dimension passes, 1 when one does not, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m gitleaks_eval.judges.calibrate", description=__doc__)
    parser.add_argument("--mode", choices=(LLM, HEURISTIC, REPLAY), default=LLM)
    parser.add_argument("--model", default=DEFAULT_MODEL, help="a short name or a full id (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=1, help="how often each question is put (default: %(default)s)")
    parser.add_argument("--store", type=Path, default=Path("judge-store"), help="replies (default: %(default)s)")
    parser.add_argument("--prompts", type=Path, help="a folder of own prompts, <dimension>.md")
    parser.add_argument("--output", type=Path, default=Path(RESULT), help="the result (default: %(default)s)")
    reach = "the kappa to reach in each dimension (default: %(default)s)"
    parser.add_argument("--fail-under", type=float, default=FAIL_UNDER, help=reach)
    given = parser.parse_args(arguments)
    if not 0 < given.fail_under <= 1:
        parser.error(f"--fail-under {given.fail_under}: not a kappa above 0, up to 1; 0 is what a constant reaches")
    if not 1 <= given.samples <= MOST_SAMPLES:
        parser.error(f"--samples {given.samples}: not a whole number from 1 to {MOST_SAMPLES}")
    settings = JudgeSettings(
        mode=given.mode,
        models=(given.model,),
        samples=given.samples,
        store=given.store,
        prompts=given.prompts,
        max_calls=len(SHIPPED) * given.samples * 2,
    )
    try:
        checked_store(given.store, "--store")
        with telling(_say, f"judging {len(FAULTS)} reports with a fault"):
            result = calibrate(settings, given.fail_under)
        write_atomically(given.output, (json.dumps(result, indent=2) + "\n").encode("ascii"))
        # Where no model answered, nothing is known of it, and what was known stays.
        if result["models_answered"]:
            keep_calibration(given.store, resolve_model(given.model), given.fail_under, result["judges"])
    except InputError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"the result cannot be written: {error}; name another --output or --store")
    for message in dict.fromkeys(row["unscored"] for row in result["faults"] if row["unscored"]):
        print(f"UNSCORED  {printable(message)}", file=sys.stderr, flush=True)
    for dimension, agreement in result["judges"].items():
        print(f"{dimension:<24}  {_line(agreement)}")
    print(concluded(result))
    return int(not result["passes"])


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def _line(agreement: Mapping[str, Any]) -> str:
    """Return the figures of a dimension: those of a judge, and the kappas of baselines."""
    if agreement["kappa"] is None:
        return f"FAILS  no figure, because no verdict has a score ({agreement['unscored']} missing)"
    spread = "not measured (one sample)" if agreement["spread"] is None else f"{agreement['spread']:.2f}"
    baselines = ", ".join(f"{name.replace('_', ' ')} {_shown(kappa)}" for name, kappa in agreement["baselines"].items())
    return (
        f"{'passes' if agreement['passes'] else 'FAILS'}  kappa {agreement['kappa']:.2f}, "
        f"exact {agreement['exact']:.0%}, within one {agreement['within_one']:.0%}, "
        f"rank correlation with missed secrets {_shown(agreement['rank_correlation'])}, "
        f"spread {spread}, {numbered(agreement['unscored'], 'verdict')} missing (kappa of {baselines})"
    )


def _shown(value: float | None) -> str:
    return "not measured (no variety)" if value is None else f"{value:.2f}"


def concluded(result: Mapping[str, Any]) -> str:
    """Return the conclusion of a calibration (the value of `calibrate`), in one sentence."""
    judges, asked = result["judges"], result["fail_under"]
    if result["passes"]:
        lowest = min(judges, key=lambda name: judges[name]["kappa"])
        reached = (
            f"in each dimension kappa reaches {asked:g} (lowest: {judges[lowest]['kappa']:.2f} in {lowest}) "
            "and no verdict is missing"
        )
    else:
        reached = "; ".join(filter(None, (_lacking(name, agreement, asked) for name, agreement in judges.items())))
    if result["mode"] == HEURISTIC:
        how = "passes" if result["passes"] else "FAILS"
        return f"calibrated: no, because no model was asked; the heuristic {how}: {reached}"
    return f"calibrated: {'yes' if result['passes'] else 'no'} ({result['model_requested']}), because {reached}"


def _lacking(name: str, agreement: Mapping[str, Any], asked: float) -> str:
    """Return why a dimension does not pass; empty where it does."""
    kappa, missing = agreement["kappa"], agreement["unscored"]
    is_low = kappa is not None and (kappa < asked or not missing)
    parts = [f"kappa {kappa} does not reach {asked:g}"] * is_low
    parts += [f"{numbered(missing, 'verdict is', 'verdicts are')} missing"] * bool(missing)
    return "" if agreement["passes"] else f"in {name} {' and '.join(parts)}"


def _judged(fault: Fault, settings: JudgeSettings) -> Judgement:
    material = material_of(fault)
    # Nothing is planted here, so there is nothing to leak.
    panel = Panel(settings, settings.trace_id or str(uuid.uuid4()), Values(), lambda _: material)
    cases = [Case(judge, SYNTHETIC) for judge in SHIPPED]
    return judge_all(cases, panel, whole=True).by_mode[SYNTHETIC]


def _agreement(rows: Sequence[Row], fail_under: float, samples: int) -> dict[str, Any]:
    unscored = sum(map(_is_missing, rows))
    both = [(row, row.label, row.verdict.raw_score) for row in rows]
    pairs = [(row, label, score) for row, label, score in both if label is not None and score is not None]
    labels, scores = [label for _, label, _ in pairs], [score for _, _, score in pairs]
    apart = [abs(label - score) for _, label, score in pairs]
    kappa = quadratic_kappa(labels, scores)
    # One sample differs from nothing: that says nothing of how far several do.
    spreads = [row.verdict.spread for row, _, _ in pairs if row.verdict.spread is not None and samples > 1]
    said = {name: [say(row.verdict) or 0 for row, _, _ in pairs] for name, say in BASELINES.items()}
    return {
        "kappa": _rounded(kappa),
        "exact": _rounded(sum(distance == 0 for distance in apart) / len(apart)) if apart else None,
        "within_one": _rounded(sum(distance <= 1 for distance in apart) / len(apart)) if apart else None,
        "rank_correlation": _rounded(rank_correlation([row.fault.missed for row, _, _ in pairs], scores)),
        "spread": _rounded(sum(spreads) / len(spreads)) if spreads else None,
        "unscored": unscored,
        "baselines": {name: _rounded(quadratic_kappa(labels, scored)) for name, scored in said.items()},
        "passes": kappa is not None and kappa >= fail_under and not unscored,
    }


def _is_missing(row: Row) -> bool:
    return row.verdict.outcome == UNSCORED


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


@cache
def _scenarios(sources: tuple[str, ...]) -> Sequence[Scenario]:
    return load_scenarios(list(sources), Path())


def _perfect_report(scenario: Scenario) -> list[Finding]:
    expected = scenario.expected
    findings = [
        finding(planted.file_path, planted.rule_id, planted.line_number, number)
        for number, planted in enumerate(expected.findings)
    ]
    # Which of them only history holds the truth does not say: the last ones stand for them.
    for entry in findings[len(findings) - (expected.secrets_in_history or 0) :]:
        entry["History"] = True
    return findings


def _analysis(scenario: Scenario, report: list[Finding]) -> Analysis:
    head = [entry["Secret"].encode() for entry in report if not entry.get("History")]
    provenance = Provenance(scenario.name, "main", "1" * 40, "8.30.1", "run", "2026-01-01T00:00:00+00:00", 20.0, 1)
    document = analyse(report, head, load_policy(), provenance)
    for rate in [entry["Rated"] for entry in report if "Rated" in entry][:1]:
        for entry in document["data"]["findings"]:
            entry["severity"] = rate(entry["severity"])
    return as_analysis(document, f"the calibration of {scenario.name}")


if __name__ == "__main__":
    sys.exit(main())
