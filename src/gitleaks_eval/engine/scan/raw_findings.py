"""What a candidate reports of a subject: built or cloned, scanned once a run, and kept raw in its private folder."""

import json
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import Provenance, in_head, texts_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import made_once, product_of
from gitleaks_eval.corpora.expected import without_tolerated
from gitleaks_eval.corpora.kinds.labels import true_places
from gitleaks_eval.engine.scan.clones import removed_unless_compared, shared_clone, shared_readable
from gitleaks_eval.engine.scan.repository_config import as_in_production, own_scanner
from gitleaks_eval.engine.scan.scans import Scanned, prove, scanner_of, scenario_repository
from gitleaks_eval.engine.scan.shared import Bench, reported_place
from gitleaks_eval.repositories.head import head_contents, read_head
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.decoded import encoded_texts
from gitleaks_eval.scanners.suppressions import Suppression, Suppressions, Told, suppressions
from gitleaks_eval.scenarios.recipe import Recipe
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario
from gitleaks_eval.scenarios.secrets import Secret, reveals

# What an analysis is made of; a match is as long as its file may be.
_KEPT = ("RuleID", "File", "StartLine", "StartColumn", "Secret", "Commit", "Author", "Date", "Entropy", "Tags")


@dataclass(frozen=True, slots=True)
class Unit:
    """The work of one candidate on one scenario or real repository: a value that any process of the run can do.

    `recipe` is that of the scenario, if it has one. `canary` are the secrets that the canary plants, `planted` those
    of all scenarios: no message may quote one. `benches` are those of all candidates, which share the masks of the
    subject; `shown_before` are the paths that a saved baseline has of it.
    """

    bench: Bench
    subject: Scenario | RealRepository
    recipe: Recipe | None
    canary: tuple[Secret, ...]
    planted: tuple[Secret, ...]
    benches: tuple[Bench, ...]
    shown_before: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reported:
    """What a scanner reported of a subject, as it is: only masked it may leave the private folder of the run.

    `standing` says of each finding whether it is in HEAD. `tolerated` are the secrets of findings that are neither
    right nor wrong; `beside` is what is known of a real repository beside its findings, and `production` what is
    reported there when all is obeyed that hides findings (None: not looked at). `peak_kib` is the most memory that the
    scanner had, None where that is not known. `own` is the hash of the repository's own configuration, if that is used.
    """

    provenance: Provenance
    findings: Sequence[dict[str, Any]] = field(repr=False)
    standing: Sequence[bool]
    tolerated: Sequence[str] = field(default=(), repr=False)
    beside: dict[str, Any] | None = field(default=None, repr=False)
    production: Sequence[dict[str, Any]] | None = field(default=None, repr=False)
    peak_kib: int | None = None
    own: str = ""

    def texts(self) -> set[str]:
        """Return what is shown of it, and may hold a secret."""
        listed = self.beside["suppressions"] if self.beside else ()
        return {self.provenance.branch, *texts_of(self.findings), *(one["file_path"] for one in listed)}

    def secrets(self) -> set[str]:
        """Return all values that it reports."""
        return {finding["Secret"] for finding in self.findings}.union(self.tolerated)


def reported(unit: Unit, bench: Bench, stop: threading.Event | None = None) -> Reported:
    """Return what the candidate of a bench reports of the subject of a unit; scanned once per run, across processes.

    Setting `stop` ends the programs that it runs.

    Raises:
        EvaluationError: when nothing is known; it names the subject, and has the same text each time.
    """
    place = reported_place(Path(bench.folder), unit.subject.name)
    document = made_once(place, lambda: _document(unit, bench, stop))
    return Reported(**{**document, "provenance": Provenance(**document["provenance"])})


def was_reported(bench: Bench, name: str) -> bool:
    """Return whether the candidate of a bench has scanned the subject of this name."""
    return product_of(reported_place(Path(bench.folder), name)).exists()


def reported_values(bench: Bench, name: str) -> set[str]:
    """Return the values that the candidate of a bench has reported of a subject, but for words of rule ids."""
    path = product_of(reported_place(Path(bench.folder), name))
    if not path.exists():
        return set()
    document = json.loads(path.read_bytes())
    # Rule ids are public, and values in code look like them.
    rule_ids = "\n".join({finding["RuleID"] for finding in document["findings"]})
    values = {finding["Secret"] for finding in document["findings"]}.union(document["tolerated"])
    return {value for value in values if value not in rule_ids}


def _document(unit: Unit, bench: Bench, stop: threading.Event | None) -> dict[str, Any]:
    subject = unit.subject
    what = "repository" if isinstance(subject, RealRepository) else "scenario"
    try:
        if isinstance(subject, RealRepository):
            found = _of_clone(unit, bench, subject, stop)
        else:
            found = _of_scenario(unit, bench, subject, stop)
    except EvaluationError as error:
        problem = f"{what} {subject.name}: {error}"
    else:
        return _as_document(found)
    # The scanner's own words may quote what it scanned.
    if reveals(problem, frozenset(secret.value for secret in (*unit.planted, *unit.canary))):
        problem = f"{what} {subject.name}: the scan failed; its message quotes a planted secret and is withheld"
    raise EvaluationError(problem)


def _as_document(found: Reported) -> dict[str, Any]:
    # Not `asdict`: it copies each finding, and there may be a hundred thousand.
    plain = {one.name: getattr(found, one.name) for one in fields(found)}
    return {**plain, "provenance": asdict(found.provenance)}


def _of_scenario(unit: Unit, bench: Bench, scenario: Scenario, stop: threading.Event | None) -> Reported:
    # Build before the wait for the canary: another thread is scanning it.
    repository = scenario_repository(bench, scenario, unit.recipe)
    scanned = prove(bench, unit.canary, stop).scan_scenario(scenario, repository)
    found = scanned.scan.findings
    kept = without_tolerated(found, scenario.corpus) if scenario.corpus else found
    head = read_head(repository.path)
    provenance = _provenance(bench, scanned, repository.path.parent.name, head.branch, head.commit)
    dropped = sorted({one["Secret"] for one in found} - {one["Secret"] for one in kept})
    return _reported(bench, scanned, provenance, kept, head.contents, tolerated=dropped)


def _of_clone(unit: Unit, bench: Bench, repository: RealRepository, stop: threading.Event | None) -> Reported:
    seconds = bench.timeout_seconds
    # The wait for the canary comes before the turn, which others could use.
    proven = prove(bench, unit.canary, stop)
    with removed_unless_compared(bench, repository):
        cloned = shared_clone(bench, repository, stop)
        count = partial(shared_readable, bench, repository.name, cloned.path)
        own, scanner = own_scanner(proven.scanner, cloned, seconds) if bench.own else (None, proven.scanner)
        scanned = proven.scan_clone(repository.name, cloned.path, count, scanner)
        production = None
        if bench.production:
            path, obeying = as_in_production(cloned, scanner, bench)
            production = _kept(proven.scan_clone(repository.name, path, count, obeying, production=True).scan.findings)
        findings = scanned.scan.findings
        there = _suppressed(bench, repository, cloned.path, findings, proven.scanner.build)
        beside = {
            "commit": cloned.commit,
            "shallow": cloned.shallow,
            "suppressions": [_as_json(one) for one in there.listed],
            "suppressions_total": there.total,
        }
        provenance = _provenance(bench, scanned, repository.name, cloned.branch, cloned.commit)
        found = _reported(bench, scanned, provenance, findings, head_contents(cloned.path, seconds))
        sha256 = own.configuration.sha256 if own else ""
        return replace(found, beside=beside, production=production, peak_kib=scanned.scan.peak_kib, own=sha256)


def _suppressed(
    bench: Bench, repository: RealRepository, clone: Path, findings: Sequence[dict[str, Any]], build: ScannerBuild
) -> Suppressions:
    if not bench.lists_suppressions:
        return Suppressions(0, ())
    told = Told(
        true_places(repository, Path(bench.project)),
        (bench.candidate.own_baseline,) * bool(bench.candidate.own_baseline),
    )
    return suppressions(clone, findings, build, bench.timeout_seconds, told)


def _as_json(suppression: Suppression) -> dict[str, Any]:
    document = asdict(suppression)
    # It is for the file that it belongs in: its path is not masked.
    del document["replacement"]
    # Only an entry of a baseline may be matched by its place.
    return {name: value for name, value in document.items() if name != "by_place" or value}


def _reported(  # noqa: PLR0913 - each is a word of its own
    bench: Bench,
    scanned: Scanned,
    provenance: Provenance,
    findings: Sequence[dict[str, Any]],
    head: Iterable[bytes],
    *,
    tolerated: Sequence[str] = (),
) -> Reported:
    encoded = encoded_texts(scanned.repository.path, findings, provenance.commit, bench.timeout_seconds)
    standing = in_head(findings, head, encoded)
    return Reported(provenance, _kept(findings), standing, tolerated)


def _kept(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: finding[name] for name in _KEPT if name in finding} for finding in findings]


def _provenance(bench: Bench, scanned: Scanned, repository: str, branch: str, commit: str) -> Provenance:
    build = scanner_of(bench).build
    return Provenance(
        repository=repository,
        branch=branch,
        commit=commit,
        scanner_version=build.version,
        run_id=bench.run_id,
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        scan_time_ms=scanned.scan.duration_ms,
        scan_attempts=scanned.attempts,
        scanner=build.name,
        scan_spread_ms=scanned.spread_ms,
    )
