"""The unit of work: build or clone one repository, scan it with one candidate, analyse what was found."""

import hashlib
import json
import shutil
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import Provenance, analyse, report_masks
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.sharing import made_once
from gitleaks_eval.corpora.expected import without_tolerated
from gitleaks_eval.engine.scans import Scanned, prove, scanner_of, scenario_repository
from gitleaks_eval.engine.shared import Bench, analysis_path, masked_path, repository_path, traces_folder
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.head import head_contents, read_head
from gitleaks_eval.scanners.decoded import encoded_texts
from gitleaks_eval.scanners.scan import Scan
from gitleaks_eval.scanners.suppressions import suppressions
from gitleaks_eval.scenarios.masking import Masks
from gitleaks_eval.scenarios.recipe import Recipe
from gitleaks_eval.scenarios.scenario import Expected, RealRepository, Scenario
from gitleaks_eval.scenarios.secrets import Secret, reveals
from gitleaks_eval.scenarios.traces import identifying_traces_of


@dataclass(frozen=True, slots=True)
class Unit:
    """The work of one candidate on one scenario or real repository: a value that any process of the run can do.

    `recipe` is that of the scenario, if it has one. `canary` are the secrets that the canary plants, `planted` those
    of all scenarios: no message may quote one.
    """

    bench: Bench
    subject: Scenario | RealRepository
    recipe: Recipe | None
    canary: tuple[Secret, ...]
    planted: tuple[Secret, ...]


def run_unit(unit: Unit, stop: threading.Event | None = None) -> Path:
    """Build or clone, scan and analyse, once per run across processes; return the file with the analysis.

    Setting `stop` ends the programs that it runs.

    Raises:
        EvaluationError: when there is no analysis; it names the subject, and has the same text each time.
    """
    folder = analysis_path(Path(unit.bench.folder), unit.subject.name).parent
    return made_once(folder, lambda: _document(unit, stop))


def scenario_masks(scenario: Scenario, scan: Scan, *others: str) -> Masks:
    """The masks for what a scan of a scenario reports, for what is expected there, and for other texts."""
    before = scenario.corpus.masks if scenario.corpus else None
    return report_masks(scan.findings, scenario.expected.texts().union(others), before)


def masked_expected(bench: Bench, scenario: Scenario) -> Expected:
    """What is expected of a scenario, with those paths and rule ids masked that its unit has masked."""
    path = masked_path(Path(bench.folder), scenario.name)
    if not path.exists():
        return scenario.expected
    shown = json.loads(path.read_bytes())
    return scenario.expected.shown_as(lambda text: shown.get(_digest(text), text))


def _document(unit: Unit, stop: threading.Event | None) -> bytes:
    subject = unit.subject
    what = "repository" if isinstance(subject, RealRepository) else "scenario"
    try:
        if isinstance(subject, RealRepository):
            document = _analysed_clone(unit, subject, stop)
        else:
            document = _analysed_scenario(unit, subject, stop)
    except EvaluationError as error:
        problem = f"{what} {subject.name}: {error}"
    else:
        return json.dumps(document, ensure_ascii=True).encode()
    # The scanner's own words may quote what it scanned.
    if reveals(problem, frozenset(secret.value for secret in (*unit.planted, *unit.canary))):
        problem = f"{what} {subject.name}: the scan failed; its message quotes a planted secret and is withheld"
    raise EvaluationError(problem)


def _analysed_scenario(unit: Unit, scenario: Scenario, stop: threading.Event | None) -> dict[str, Any]:
    # Build before the wait for the canary: another thread is scanning it.
    repository = scenario_repository(unit.bench, scenario, unit.recipe)
    scanned = prove(unit.bench, unit.canary, stop).scan_scenario(scenario, repository)
    if scenario.corpus:
        kept = without_tolerated(scanned.scan.findings, scenario.corpus)
        scanned = replace(scanned, scan=replace(scanned.scan, findings=kept))
    _leave_traces(unit, scanned.scan)
    head = read_head(repository.path)
    masks = scenario_masks(scenario, scanned.scan, head.branch)
    if masked := {_digest(text): masks(text) for text in scenario.expected.texts() if masks(text) != text}:
        _leave(masked_path(Path(unit.bench.folder), scenario.name), masked)
    provenance = _provenance(unit, scanned, repository.path.parent.name, head.branch, head.commit)
    return _analysed(unit, scanned, provenance, head.contents, masks)


def _analysed_clone(unit: Unit, repository: RealRepository, stop: threading.Event | None) -> dict[str, Any]:
    seconds = unit.bench.timeout_seconds
    # The wait for the canary comes before the turn, which others could use.
    proven = prove(unit.bench, unit.canary, stop)
    folder = Path(unit.bench.folder) / "clones" / repository.name
    try:
        cloned = clone(repository, folder, seconds, stop)
        scanned = proven.scan_clone(repository.name, cloned.path, seconds)
        findings = scanned.scan.findings
        _leave_traces(unit, scanned.scan)
        there = suppressions(cloned.path, findings, proven.scanner.build, seconds)
        masks = report_masks(findings, [cloned.branch, *(one.file_path for one in there.listed)])
        left = {
            "commit": cloned.commit,
            "shallow": cloned.shallow,
            "suppressions": [{**asdict(one), "file_path": masks(one.file_path)} for one in there.listed],
            "suppressions_total": there.total,
        }
        _leave(repository_path(Path(unit.bench.folder), repository.name), left)
        provenance = _provenance(unit, scanned, repository.name, cloned.branch, cloned.commit)
        return _analysed(unit, scanned, provenance, head_contents(cloned.path, seconds), masks)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _analysed(
    unit: Unit, scanned: Scanned, provenance: Provenance, head: Iterable[bytes], masks: Masks
) -> dict[str, Any]:
    findings, seconds = scanned.scan.findings, unit.bench.timeout_seconds
    encoded = encoded_texts(scanned.repository.path, findings, provenance.commit, seconds)
    policy = load_policy(Path(unit.bench.severity_policy))
    return analyse(findings, head, policy, provenance, masks=masks, encoded=encoded)


def _provenance(unit: Unit, scanned: Scanned, repository: str, branch: str, commit: str) -> Provenance:
    build = scanner_of(unit.bench).build
    return Provenance(
        repository=repository,
        branch=branch,
        commit=commit,
        scanner_version=build.version,
        run_id=unit.bench.run_id,
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        scan_time_ms=scanned.scan.duration_ms,
        scan_attempts=scanned.attempts,
        scanner=build.name,
        scan_spread_ms=scanned.spread_ms,
    )


def _leave_traces(unit: Unit, scan: Scan) -> None:
    """Leave hashes of the reported secrets for the judges, whose prompts and replies must hold none of them."""
    if unit.bench.trace_key:
        secrets = (finding["Secret"] for finding in scan.findings)
        traces = identifying_traces_of(secrets, bytes.fromhex(unit.bench.trace_key))
        write_atomically(traces_folder(Path(unit.bench.folder)) / unit.subject.name, traces.as_bytes())


def _leave(path: Path, document: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(document).encode())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
