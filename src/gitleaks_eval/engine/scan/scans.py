"""Build a repository, take a turn, scan, and accept the scan only if git and the canary confirm it."""

import contextlib
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import Configuration, copy_configuration
from gitleaks_eval.config.lines import place_lines
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import all_turns, made_once, turn
from gitleaks_eval.core.progress import UNDER_WAY, under_way
from gitleaks_eval.core.text import printable, shown_path
from gitleaks_eval.corpora.files import corpus_repository
from gitleaks_eval.engine.scan.shared import Bench
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository
from gitleaks_eval.repositories.log import Readable
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.canary import build_canary, check_canary
from gitleaks_eval.scanners.config_errors import ask_scanner
from gitleaks_eval.scanners.load_errors import Refused, is_refusal
from gitleaks_eval.scanners.scan import Scan, Scanner, cores_beside_others
from gitleaks_eval.scanners.skipped_paths import unread_in
from gitleaks_eval.scenarios.recipe import Recipe
from gitleaks_eval.scenarios.scenario import Expected, Scenario
from gitleaks_eval.scenarios.secrets import Secret

# How often a scan that was too slow beside others is repeated alone, until it is fast enough.
ATTEMPTS_ALONE = 3


@dataclass(frozen=True, slots=True)
class Canary:
    """The canary repository, what is planted in it, and which counters the log of its scan had."""

    repository: BuiltRepository
    secrets: tuple[Secret, ...]
    counts_commits: bool
    counts_bytes: bool

    def lacks_counter(self, scan: Scan) -> bool:
        """Return whether the log of a scan lacks a counter that the canary's had."""
        return (self.counts_commits and scan.commits is None) or (self.counts_bytes and scan.added_bytes is None)


@dataclass(frozen=True, slots=True)
class Scanned:
    """A repository, the fastest of `attempts` scans of it, and the least and the longest time in ms."""

    repository: BuiltRepository
    scan: Scan
    attempts: int
    spread_ms: tuple[float, float]


@dataclass(frozen=True, slots=True)
class ProvenScanner:
    """A scanner that has found the canary's secrets: only such a one's scans are accepted.

    Its scans take turns in the folder `turns`, with those of all processes and candidates of the run.
    """

    scanner: Scanner
    canary: Canary
    turns: Path

    def scan_scenario(self, scenario: Scenario, repository: BuiltRepository) -> Scanned:
        """Scan beside others; repeat alone, at most three times, while it seems too slow.

        Raises:
            EvaluationError: when a scan is not accepted, or two of them found different secrets.
        """
        with turn(self.turns), self._under_way(scenario.name):
            there = self.scanner.to_read(repository)
            scans = [self._accepted(repository, there, cores=cores_beside_others(there.added_bytes))]
        while len(scans) <= ATTEMPTS_ALONE and _over_threshold(scans, scenario.expected):
            with all_turns(self.turns), self._under_way(scenario.name):
                scans.append(self._accepted(repository, there))
        if len({_found(scan) for scan in scans}) > 1:
            raise EvaluationError(f"{len(scans)} scans of one repository reported different findings")
        times = sorted(one.duration_ms for one in scans)
        return Scanned(repository, min(scans, key=lambda one: one.duration_ms), len(scans), (times[0], times[-1]))

    def scan_clone(
        self, name: str, path: Path, count: Callable[[], Readable], scanner: Scanner, *, production: bool = False
    ) -> Scanned:
        """Scan a clone once; nothing in it that hides findings is obeyed, as far as the build can be told so.

        `count` says what there is to read. `scanner` is this one, maybe with the repository's own configuration. In
        `production` comments that allow a secret and a list of findings to ignore are obeyed.

        An empty report is accepted only if the scanner finds the canary afterwards.

        Raises:
            EvaluationError: when the scan is not accepted, or git takes too long to count.
        """
        scanner = replace(scanner, planted=False)
        with turn(self.turns), self._under_way(name):
            repository = BuiltRepository(path, count())
            there = scanner.to_read(repository)
            scan = scanner.scan(path, obey_allow=production, ignore_lists=production)
            self._accept(scanner, scan, repository, there)
            if not scan.findings:
                self.find_canary()
        return Scanned(repository, scan, 1, (scan.duration_ms, scan.duration_ms))

    def time_canary(self) -> float:
        """Scan the canary while no other scan of the run is under way; return the milliseconds.

        Raises:
            EvaluationError: when the scan fails.
        """
        with all_turns(self.turns):
            return self.scanner.scan(self.canary.repository.path).duration_ms

    def _accepted(self, repository: BuiltRepository, there: Readable, *, cores: int | None = None) -> Scan:
        """Scan; accept an empty report only if the scanner finds a planted secret afterwards, with as many cores."""
        scan = self.scanner.scan(repository.path, cores=cores)
        self._accept(self.scanner, scan, repository, there)
        if not scan.findings:
            self.find_canary(cores)
        return scan

    def find_canary(self, cores: int | None = None) -> None:
        """Find the canary once more.

        Raises:
            EvaluationError: when it is not found: nothing clean that was reported before can be believed.
        """
        check_canary(self.scanner, self.canary.repository, self.canary.secrets, cores=cores)

    def _accept(self, scanner: Scanner, scan: Scan, repository: BuiltRepository, there: Readable) -> None:
        """Accept that a scan has read the repository."""
        problem = unread_in(scanner, scan, repository, there)
        if self.canary.lacks_counter(scan):
            problem = "it does not say what it read, as it did for the canary"
        if problem:
            raise EvaluationError(f"the scan does not count: {problem} (repository {repository.path})")

    def _under_way(self, name: str) -> contextlib.AbstractContextManager[None]:
        return scan_under_way(self.turns, self.scanner.build, name)


def scan_under_way(turns: Path, build: ScannerBuild, what: str) -> contextlib.AbstractContextManager[None]:
    """Leave a note of what is scanned, and by which scanner, beside the turns of a run."""
    return under_way(turns.parent / UNDER_WAY, f"scanning {printable(what)} with {build.name} {build.version}")


def scanner_of(bench: Bench, stop: threading.Event | None = None) -> Scanner:
    """Return the scanner of a bench, with its configuration; setting `stop` ends its scans.

    Raises:
        EvaluationError: when there is none.
    """
    candidate = bench.candidate
    if bench.build is None:
        raise EvaluationError(bench.under_test.error or "there is no scanner")
    return Scanner(
        bench.build,
        Path(bench.config),
        Path(bench.folder),
        bench.timeout_seconds,
        stop or threading.Event(),
        candidate.decode_depth,
        candidate.mode,
        candidate.args,
    )


def prove(bench: Bench, secrets: Sequence[Secret], stop: threading.Event | None = None) -> ProvenScanner:
    """Return the scanner of a bench after the scan of a canary with these secrets, which is made once per run.

    Raises:
        EvaluationError: when there is no scanner, or it found none of them; each time with the same text.
    """
    counters = scanned_canary(bench, secrets, stop)
    canary = Canary(canary_repository(bench, secrets), tuple(secrets), **counters)
    return ProvenScanner(replace(scanner_of(bench, stop), planted=True), canary, Path(bench.turns))


def scanned_canary(bench: Bench, secrets: Sequence[Secret], stop: threading.Event | None = None) -> dict[str, bool]:
    """Scan the canary once per run, across processes; return which counters its log had.

    Raises:
        EvaluationError: as `prove`.
    """
    repository = canary_repository(bench, secrets)

    def make() -> Any:
        scanner = replace(scanner_of(bench, stop), planted=True)
        try:
            with scan_under_way(Path(bench.turns), scanner.build, "the canary"):
                scan = check_canary(scanner, repository, secrets)
        except Refused as error:
            said = refused_lines(bench, scanner.build) or [str(error)]
        else:
            said = []
        if said:
            raise EvaluationError(*said)
        return {"counts_commits": scan.commits is not None, "counts_bytes": scan.added_bytes is not None}

    counters: dict[str, bool] = made_once(Path(bench.folder) / "canary" / "checked", make)
    return counters


def refused_lines(bench: Bench, build: ScannerBuild) -> list[str]:
    """Return what the scanner refuses in the configuration of a bench, by file and line; none where it takes it.

    Raises:
        EvaluationError: when it cannot be asked.
    """
    configuration = bench.candidate.configuration or Configuration((), "")
    lines = {file.path: place_lines(file.content) for file in configuration.chain}
    return [
        f"{shown_path(one.file, Path(bench.project))}:{lines[one.file].get(one.place, 1)} "
        + ": ".join(filter(None, (one.place, one.message)))
        for one in ask_scanner(build, configuration, Path(bench.folder))
        if is_refusal(one.message)
    ]


def canary_repository(bench: Bench, secrets: Sequence[Secret]) -> BuiltRepository:
    """Return the repository of the canary, built once per run.

    Raises:
        EvaluationError: when it cannot be built.
    """
    folder = Path(bench.folder) / "canary" / "built"

    def make() -> Any:
        return asdict(build_canary(folder / "product", secrets).readable)

    return BuiltRepository(folder / "product" / "repository", Readable(**made_once(folder, make)))


def scan_with(scanner: Scanner, configuration: Configuration, repository: Path) -> Scan:
    """Scan a repository with another configuration, everything else as `scanner` has it.

    Raises:
        EvaluationError: when the scan failed.
    """
    with tempfile.TemporaryDirectory(prefix="config-", dir=scanner.scratch) as folder:
        return replace(scanner, config=copy_configuration(configuration, Path(folder))).scan(repository)


def scenario_repository(bench: Bench, scenario: Scenario, recipe: Recipe | None) -> BuiltRepository:
    """Return the repository of a scenario, built from its recipe; from its corpus, once per run.

    Raises:
        EvaluationError: when it cannot be built.
    """
    if scenario.corpus:
        folder = Path(bench.folder) / "corpora" / scenario.name
        made = made_once(
            Path(bench.folder) / "corpora-made" / scenario.name,
            lambda: asdict(corpus_repository(scenario, folder).readable),
        )
        return BuiltRepository(folder / "repository", Readable(**made))
    if recipe is None:
        raise EvaluationError(f"the recipe {scenario.recipe} is missing; write it, or give --gitleaks-analysis")
    return built_repository(recipe, f"recipe {scenario.recipe}", bench.kept_in)


def _over_threshold(scans: Sequence[Scan], expected: Expected) -> bool:
    """Return whether the fastest scan is too slow for SP-1, SP-2, SP-3 or EC-3; others may have slowed it down."""
    scan = min(scans, key=lambda one: one.duration_ms)
    bounds = expected.thresholds
    commits = len({finding["Commit"] for finding in scan.findings})
    return (
        scan.duration_ms > bounds.max_scan_time_ms
        or (commits > 0 and scan.duration_ms / commits > bounds.max_ms_per_commit)
        or (bool(scan.findings) and scan.duration_ms / len(scan.findings) > bounds.max_ms_per_finding)
        or (expected.has_large_files and scan.duration_ms >= expected.max_scan_time_ms)
    )


def _found(scan: Scan) -> frozenset[tuple[Any, ...]]:
    names = ("Commit", "File", "RuleID", "StartLine", "Secret")
    return frozenset(tuple(finding[name] for name in names) for finding in scan.findings)
