"""Build, scan, analyse: each scenario once a run, ahead and in parallel, shared by the workers of a run."""

import contextlib
import gc
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import Provenance, analyse, report_masks
from gitleaks_eval.analysis.envelope import Analysis, read_analysis
from gitleaks_eval.analysis.matched import MatchedScenario, matched_scenario
from gitleaks_eval.analysis.severity import SeverityPolicy, load_policy
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.sharing import all_turns, made_once, turn
from gitleaks_eval.core.speed import collector_paused
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.shared import Bench, repository_path, subject_path
from gitleaks_eval.engine.watching import UNDER_WAY, under_way
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.head import head_contents, read_head
from gitleaks_eval.repositories.log import Readable, readable
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.canary import build_canary, canary_secrets, check_canary
from gitleaks_eval.scanners.decoded import encoded_texts
from gitleaks_eval.scanners.scan import SMALL_BYTES, Scan, Scanner, unread
from gitleaks_eval.scenarios.masking import Masks
from gitleaks_eval.scenarios.recipe import Recipe
from gitleaks_eval.scenarios.scenario import Expected, RealRepository, Scenario
from gitleaks_eval.scenarios.secrets import Secret, reveals
from gitleaks_eval.scenarios.traces import Traces, traces_from_bytes, traces_of

# How often a scan that seemed too slow beside others is repeated alone, until it is fast enough.
ATTEMPTS_ALONE = 3
KEPT_BYTES = 4 << 20
LARGE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Canary:
    """The canary repository, what is planted in it, and what the scanner told of its scan."""

    repository: BuiltRepository
    secrets: list[Secret]
    tells_commits: bool
    tells_bytes: bool

    def tells_less(self, scan: Scan) -> bool:
        """Whether a scan keeps to itself what the scan of the canary told."""
        return (self.tells_commits and scan.commits is None) or (self.tells_bytes and scan.added_bytes is None)


@dataclass(frozen=True, slots=True)
class Scanned:
    """A repository, the fastest scan of it of so many attempts, and the least and the longest time in ms."""

    repository: BuiltRepository
    scan: Scan
    attempts: int
    spread_ms: tuple[float, float]


class Workbench:
    """Has the analysis of each scenario; one for each process of a run."""

    def __init__(
        self,
        bench: Bench,
        subjects: Iterable[Scenario | RealRepository],
        recipes: Mapping[str, Recipe],
        *,
        shared: bool,
    ) -> None:
        self.subjects: dict[str, MatchedScenario] = {}
        self._shared = shared
        self._bench = bench
        self.folder = self._folder = Path(bench.folder)
        self._evaluated = {subject.name: subject for subject in subjects}
        self._recipes = recipes
        self._stop = threading.Event()
        self._cores = max(1, os.cpu_count() or 1)
        # One more than may scan at once: it builds what is scanned next.
        self._pool = ThreadPoolExecutor(self._cores + 1, thread_name_prefix="gitleaks-eval")
        self._ahead: dict[str, Future[Path]] = {}
        self._canary_ahead: Future[Canary] | None = None
        self._kept: dict[str, Analysis] = {}
        self._kept_bytes = 0
        self._failures: dict[str, str] = {}

    def start(self, names: Iterable[str]) -> None:
        """Make these analyses ahead, as many at a time as there are cores; first of all the canary."""
        if self._bench.scanner:
            # All wait for the first repository: it is built in no thread.
            with contextlib.suppress(EvaluationError, OSError):
                self._canary_repository()
            self._canary_ahead = self._canary_ahead or self._pool.submit(self._checked_canary)
        for subject in (self._evaluated[name] for name in names if name not in self._ahead):
            if isinstance(subject, RealRepository) or subject.analysis is None:
                self._ahead[subject.name] = self._pool.submit(self._made, subject)

    def analysis(self, scenario: Scenario | RealRepository) -> Analysis:
        """The analysis of a scenario or real repository, made or read now unless that is done.

        Raises:
            EvaluationError: when it cannot be had, with the same text for every check of the scenario.
        """
        name = scenario.name
        if name in self._failures:
            raise EvaluationError(self._failures[name])
        if kept := self._kept.get(name):
            return kept
        try:
            path = self.document(scenario)
            with collector_paused():
                analysis = read_analysis(path)
                if isinstance(scenario, Scenario) and name not in self.subjects:
                    shown = replace(scenario, expected=self.expected(scenario))
                    self._record(name, matched_scenario(shown, analysis, self._policy))
        except EvaluationError as error:
            self._failures[name] = str(error)
            raise
        self._keep(name, analysis, path.stat().st_size)
        return analysis

    def expected(self, scenario: Scenario) -> Expected:
        """What is expected of a scenario, with the paths and rule ids masked that its analysis shows masked.

        Where it has no analysis, it is as the ground truth says.
        """
        if scenario.analysis is not None:
            return scenario.expected
        with contextlib.suppress(EvaluationError):
            self.document(scenario)
        path = self._folder / "masked" / scenario.name
        if not path.exists():
            return scenario.expected
        shown = json.loads(path.read_bytes())
        return scenario.expected.shown_as(lambda text: shown.get(_digest(text), text))

    def masks(self, scenario: Scenario, scan: Scan, *others: str) -> Masks:
        """The masks for what a scan of a scenario reports, for what is expected there, and for other texts."""
        before = scenario.corpus.masks if scenario.corpus else None
        return report_masks(scan.findings, scenario.expected.texts().union(others), before)

    def document(self, scenario: Scenario | RealRepository) -> Path:
        """The file with the analysis of a scenario or real repository.

        Raises:
            EvaluationError: as `analysis`.
        """
        if isinstance(scenario, RealRepository) or scenario.analysis is None:
            ahead = self._ahead.get(scenario.name)
            return ahead.result() if ahead else self._made(scenario)
        if not scenario.analysis.is_file():
            raise EvaluationError(
                f"scenario {scenario.name}: the analysis {scenario.analysis} is missing; "
                "write it, or leave --gitleaks-analysis out to scan"
            )
        return scenario.analysis

    def close(self) -> None:
        """Stop what still runs and wait for its end."""
        self._kept.clear()
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _keep(self, name: str, analysis: Analysis, size: int) -> None:
        # Tests come module by module and ask for each analysis again: keep as many as memory should hold.
        if self._kept_bytes + size > KEPT_BYTES:
            self._kept, self._kept_bytes = {}, 0
        if size > LARGE_BYTES:
            # Nor may later collections walk them.
            gc.freeze()
        self._kept[name] = analysis
        self._kept_bytes += size

    def _record(self, name: str, subject: MatchedScenario) -> None:
        self.subjects[name] = subject
        if self._shared:
            write_atomically(subject_path(self._folder, name), json.dumps(subject.as_json()).encode())

    def _made(self, subject: Scenario | RealRepository) -> Path:
        return made_once(self._folder / "analyses" / subject.name, lambda: self._make(subject))

    def _make(self, subject: Scenario | RealRepository) -> bytes:
        what = "repository" if isinstance(subject, RealRepository) else "scenario"
        try:
            document = self._analysed_clone(subject) if isinstance(subject, RealRepository) else self._analysed(subject)
        except EvaluationError as error:
            problem = f"{what} {subject.name}: {error}"
        else:
            return json.dumps(document, ensure_ascii=True).encode()
        # The scanner's own words may quote what it scanned.
        if reveals(problem, frozenset(secret.value for secret in (*self._planted(), *canary_secrets(self._planted())))):
            problem = f"{what} {subject.name}: the scan failed; its message quotes a planted secret and is withheld"
        raise EvaluationError(problem)

    def time_canary(self) -> float:
        """How long one scan of the canary takes, in milliseconds, while no other scan of ours is running.

        Raises:
            EvaluationError: when it fails.
        """
        canary = self._canary()
        with all_turns(Path(self._bench.turns), self._cores):
            return self.scanner.scan(canary.repository.path).duration_ms

    def repository(self, scenario: Scenario) -> BuiltRepository:
        """The repository of a scenario, built from its recipe or its corpus.

        Raises:
            EvaluationError: when it cannot be built.
        """
        if scenario.corpus:
            from gitleaks_eval.corpora.files import corpus_repository  # noqa: PLC0415 - only where a corpus is named

            return corpus_repository(scenario, self._folder / "corpora" / scenario.name)
        return built_repository(self._recipe(scenario), f"recipe {scenario.recipe}")

    def _recipe(self, scenario: Scenario) -> Recipe:
        recipe = self._recipes.get(scenario.name)
        if recipe is None:
            raise EvaluationError(f"the recipe {scenario.recipe} is missing; write it, or give --gitleaks-analysis")
        return recipe

    def _scan(self, scenario: Scenario) -> Scanned:
        # The first are built while another thread scans the canary, which is waited for before the turn is taken.
        repository = self.repository(scenario)
        self._canary()
        with turn(Path(self._bench.turns), self._cores), self._under_way(scenario.name):
            scans = [self._scanned(repository, beside_others=True)]
        while len(scans) <= ATTEMPTS_ALONE and _over_threshold(scans, scenario.expected):
            with all_turns(Path(self._bench.turns), self._cores), self._under_way(scenario.name):
                scans.append(self._scanned(repository))
        if len({_found(scan) for scan in scans}) > 1:
            raise EvaluationError(f"{len(scans)} scans of one repository reported different findings")
        times = sorted(one.duration_ms for one in scans)
        fastest = min(scans, key=lambda one: one.duration_ms)
        return Scanned(repository, fastest, len(scans), (times[0], times[-1]))

    def _under_way(self, name: str) -> contextlib.AbstractContextManager[None]:
        return under_way(Path(self._bench.turns).parent / UNDER_WAY, printable(name))

    def _analysed(self, scenario: Scenario) -> dict[str, Any]:
        scanned = self._scan(scenario)
        repository, scan = scanned.repository, scanned.scan
        if scenario.corpus:
            from gitleaks_eval.corpora.load import without_tolerated  # noqa: PLC0415 - only where a corpus is named

            scan = replace(scan, findings=without_tolerated(scan.findings, scenario.corpus))
        self._leave_traces(scenario.name, scan)
        head = read_head(repository.path)
        masks = self.masks(scenario, scan, head.branch)
        if masked := {_digest(text): masks(text) for text in scenario.expected.texts() if masks(text) != text}:
            write_atomically(self._folder / "masked" / scenario.name, json.dumps(masked).encode())
        provenance = replace(
            self._provenance(scan),
            repository=repository.path.parent.name,
            branch=head.branch,
            commit=head.commit,
            scan_attempts=scanned.attempts,
            scan_spread_ms=scanned.spread_ms,
        )
        encoded = encoded_texts(repository.path, scan.findings, head.commit, self._bench.timeout_seconds)
        return analyse(scan.findings, head.contents, self._policy, provenance, masks=masks, encoded=encoded)

    def _analysed_clone(self, repository: RealRepository) -> dict[str, Any]:
        from gitleaks_eval.scanners.suppressions import suppressions  # noqa: PLC0415 - only real repositories have them

        scanner = self.scanner
        # Waited for before a turn is taken.
        self._canary()
        folder, seconds = self._folder / "clones" / repository.name, self._bench.timeout_seconds
        try:
            cloned = clone(repository, folder, seconds, self._stop)
            with turn(Path(self._bench.turns), self._cores), self._under_way(repository.name):
                built = BuiltRepository(cloned.path, readable(cloned.path, seconds))
                scan = self._scanned(built, obey_allow=False)
            self._leave_traces(repository.name, scan)
            there = suppressions(cloned.path, scan.findings, scanner.build, seconds)
            masks = report_masks(scan.findings, [cloned.branch, *(one.file_path for one in there.listed)])
            left = {
                "commit": cloned.commit,
                "shallow": cloned.shallow,
                "suppressions": [{**asdict(one), "file_path": masks(one.file_path)} for one in there.listed],
                "suppressions_total": there.total,
            }
            write_atomically(repository_path(self._folder, repository.name), json.dumps(left).encode())
            provenance = replace(
                self._provenance(scan),
                repository=repository.name,
                branch=cloned.branch,
                commit=cloned.commit,
            )
            encoded = encoded_texts(cloned.path, scan.findings, cloned.commit, seconds)
            contents = head_contents(cloned.path, seconds)
            return analyse(scan.findings, contents, self._policy, provenance, masks=masks, encoded=encoded)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _provenance(self, scan: Scan) -> Provenance:
        build = self.scanner.build
        return Provenance(
            repository="",
            branch="",
            commit="",
            scanner_version=build.version,
            run_id=self._bench.run_id,
            timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            scan_time_ms=scan.duration_ms,
            scan_attempts=1,
            scanner=build.name,
        )

    @cached_property
    def _policy(self) -> SeverityPolicy:
        return load_policy(Path(self._bench.severity_policy))

    def _leave_traces(self, name: str, scan: Scan) -> None:
        """Hashes of the secrets that were reported, for the judges: what they say must hold none of them."""
        if self._bench.trace_key:
            traces = traces_of((finding["Secret"] for finding in scan.findings), bytes.fromhex(self._bench.trace_key))
            write_atomically(self._folder / "traces" / name, traces.as_bytes())

    def traces(self) -> Traces:
        """The hashes of all secrets that this run knows: planted ones, the canary's, and those in reports."""
        key = bytes.fromhex(self._bench.trace_key)
        known = (*self._planted(), *canary_secrets(self._planted()))
        traces = traces_of((secret.value for secret in known), key)
        folder = self._folder / "traces"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            traces |= traces_from_bytes(path.read_bytes(), key)
        return traces

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self._bench.run_id

    @property
    def title(self) -> str:
        """What names the scanner and the configuration under test."""
        return self._bench.title

    def _scanned(self, repository: BuiltRepository, *, beside_others: bool = False, obey_allow: bool = True) -> Scan:
        canary = self._canary()
        cores = 1 if beside_others and repository.readable.added_bytes < SMALL_BYTES else None
        scan = self.scanner.scan(repository.path, obey_allow=obey_allow, cores=cores)
        problem = unread(scan, repository.readable)
        if canary.tells_less(scan):
            problem = "it does not say what it read, as it did for the canary"
        if problem:
            raise EvaluationError(f"the scan does not count: {problem} (repository {repository.path})")
        if not scan.findings:
            # The scanner must still find what it found before the scan, with as many cores.
            check_canary(self.scanner, canary.repository, canary.secrets, cores=cores)
        return scan

    @property
    def scanner(self) -> Scanner:
        """The scanner under test, with its configuration.

        Raises:
            EvaluationError: when there is none.
        """
        if self._bench.scanner is None:
            raise EvaluationError(self._bench.scanner_error or "there is no scanner")
        return Scanner(
            ScannerBuild(**self._bench.scanner),
            Path(self._bench.config),
            self._folder,
            self._bench.timeout_seconds,
            self._stop,
            self._bench.decode_depth,
            self._bench.mode,
        )

    def _canary(self) -> Canary:
        """The canary, in which the scanner has found what is planted; tried once a run."""
        if self._canary_ahead is None:
            done: Future[Canary] = Future()
            done.set_result(self._checked_canary())
            self._canary_ahead = done
        return self._canary_ahead.result()

    def _checked_canary(self) -> Canary:
        """The canary as the process of the run that came first has checked it."""
        repository, secrets = self._canary_repository(), canary_secrets(self._planted())

        def make() -> bytes:
            scan = check_canary(self.scanner, repository, secrets)
            tells = {"tells_commits": scan.commits is not None, "tells_bytes": scan.added_bytes is not None}
            return json.dumps(tells).encode()

        tells = json.loads(made_once(self._folder / "canary" / "checked", make).read_bytes())
        return Canary(repository, secrets, **tells)

    def _canary_repository(self) -> BuiltRepository:
        """The repository of the canary; built once a run."""
        folder = self._folder / "canary" / "built"

        def make() -> bytes:
            repository = build_canary(folder / "product", canary_secrets(self._planted()))
            return json.dumps(asdict(repository.readable)).encode()

        there = json.loads(made_once(folder, make).read_bytes())
        return BuiltRepository(folder / "product" / "repository", Readable(**there))

    def _planted(self) -> list[Secret]:
        return [secret for recipe in self._recipes.values() for secret in recipe.secrets.values()]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _over_threshold(scans: list[Scan], expected: Expected) -> bool:
    """Whether the fastest scan is too slow for SP-1, SP-2, SP-3 or EC-3: then it may have been disturbed."""
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
