"""The masks of a subject, one set for all candidates of a run: what is compared must be masked alike on both sides.

They hide what any candidate reports of it, what a configuration hides of it, and what its truth knows to be planted.
"""

import contextlib
import json
import threading
from dataclasses import asdict
from pathlib import Path

from gitleaks_eval.config.chain import Configuration, chain_of
from gitleaks_eval.config.hiding import entries, without
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import made_once, product_of
from gitleaks_eval.engine.scan.raw_findings import Reported, Unit, reported
from gitleaks_eval.engine.scan.scans import scan_with, scanner_of, scenario_repository
from gitleaks_eval.engine.scan.shared import Bench, masks_place
from gitleaks_eval.scenarios.redaction import Masks, masks_of
from gitleaks_eval.scenarios.scenario import Scenario


def subject_masks(unit: Unit, stop: threading.Event | None = None) -> Masks:
    """The masks of the subject of a unit; made once per run, across processes, for which each candidate scans it.

    Setting `stop` ends the programs that it runs. A candidate that cannot scan it reports nothing that could show.

    Raises:
        EvaluationError: when they cannot be made.
    """
    return Masks(**made_once(masks_place(unit.bench, unit.subject.name), lambda: asdict(_made(unit, stop))))


def masks_made(bench: Bench, name: str) -> Masks:
    """Return the masks of a subject that has been looked at already; none where it has not."""
    path = product_of(masks_place(bench, name))
    return Masks(**json.loads(path.read_bytes())) if path.exists() else Masks()


def _made(unit: Unit, stop: threading.Event | None) -> Masks:
    values = {secret.value for secret in unit.recipe.secrets.values()} if unit.recipe else set()
    texts: set[str] = set()
    if isinstance(unit.subject, Scenario):
        texts |= unit.subject.truth.paths()
        if corpus := unit.subject.corpus:
            texts |= corpus.clean.paths()
            values |= corpus.values
    for bench in unit.benches:
        with contextlib.suppress(EvaluationError):
            found = reported(unit, bench, stop)
            texts |= found.texts()
            values |= found.secrets() | _hidden(unit, bench, found, stop)
    return masks_of(texts, values, unit.shown_before)


def _hidden(unit: Unit, bench: Bench, found: Reported, stop: threading.Event | None) -> set[str]:
    """Return the secrets that come to light without the entries that only hide, where a corpus expects what is missed.

    The values of labelled secrets are not known, and a name may hold one.
    """
    scenario = unit.subject
    if not isinstance(scenario, Scenario) or scenario.corpus is None:
        return set()
    lines = {(finding["File"], finding["StartLine"]) for finding in found.findings}
    if all((one.file_path, one.line_number) in lines for one in scenario.truth.findings):
        return set()
    config = Path(bench.config)
    configuration = Configuration(chain_of(config, "the copy", config.parent), "the copy")
    hiding = entries(configuration)
    if not hiding:
        return set()
    repository = scenario_repository(bench, scenario, unit.recipe).path
    scan = scan_with(scanner_of(bench, stop), without(configuration, hiding), repository)
    return {finding["Secret"] for finding in scan.findings}
