"""The unit of work: what a candidate reports of a subject becomes its analysis, masked as that of all candidates."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import envelope_of
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.once import file_made_once
from gitleaks_eval.engine.scan.masks import subject_masks
from gitleaks_eval.engine.scan.raw_findings import Unit, reported
from gitleaks_eval.engine.scan.real_findings import leave_findings
from gitleaks_eval.engine.scan.shared import analysis_place, repository_path
from gitleaks_eval.scenarios.redaction import Masks


def run_unit(unit: Unit, stop: threading.Event | None = None) -> Path:
    """Build or clone, scan and analyse, once per run across processes; return the file with the analysis.

    Setting `stop` ends the programs that it runs.

    Raises:
        EvaluationError: when there is no analysis; it names the subject, and has the same text each time.
    """
    place = analysis_place(Path(unit.bench.folder), unit.subject.name)
    return file_made_once(place, lambda: _document(unit, stop))


def _document(unit: Unit, stop: threading.Event | None) -> bytes:
    found = reported(unit, unit.bench, stop)
    masks = subject_masks(unit, stop)
    if found.beside:
        left = repository_path(Path(unit.bench.folder), unit.subject.name)
        write_atomically(left, json.dumps(_masked_suppressions(found.beside, masks)).encode())
    policy = load_policy(Path(unit.bench.severity_policy))
    document = envelope_of(found.findings, found.standing, policy, found.provenance, masks)
    if found.beside:
        leave_findings(unit.bench, unit.subject.name, found, document)
    return json.dumps(document, ensure_ascii=True).encode()


def _masked_suppressions(beside: Mapping[str, Any], masks: Masks) -> dict[str, Any]:
    listed = [{**one, "file_path": masks(one["file_path"])} for one in beside["suppressions"]]
    return {**beside, "suppressions": listed}
