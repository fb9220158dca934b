"""The analyses of one candidate: each made once per run, ahead of the checks, and kept while they are asked for."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from gitleaks_eval.analysis.envelope import Analysis, read_analysis
from gitleaks_eval.analysis.matched import MatchedScenario, matched_scenario
from gitleaks_eval.analysis.severity import SeverityPolicy, load_policy
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.scan.masks import subject_masks
from gitleaks_eval.engine.scan.raw_findings import Unit, reported_values
from gitleaks_eval.engine.scan.scans import canary_repository, prove, scanned_canary, scanner_of, scenario_repository
from gitleaks_eval.engine.scan.shared import Bench, analysis_path
from gitleaks_eval.engine.scan.unit import run_unit
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scanners.canary import canary_secrets
from gitleaks_eval.scanners.load_errors import is_refusal
from gitleaks_eval.scanners.scan import Scanner
from gitleaks_eval.scenarios.recipe import Recipe
from gitleaks_eval.scenarios.redaction import Masks, Values, masked_lines, values_of
from gitleaks_eval.scenarios.scenario import Expected, RealRepository, Scenario
from gitleaks_eval.scenarios.secrets import Secret

# How many bytes of analyses are kept in memory.
KEPT_BYTES = 4 << 20

Made = TypeVar("Made")


class Workbench:
    """Has the analyses of one candidate; one for each process of a run.

    Units run in `executor`, which the caller shuts down; without one, in as many threads as there are cores and one
    more. `benches` are those of all candidates, this one's among them; `shown_before` has the paths of a saved baseline
    by scenario.
    """

    def __init__(  # noqa: PLR0913 - each is a word of its own
        self,
        bench: Bench,
        subjects: Iterable[Scenario | RealRepository],
        recipes: Mapping[str, Recipe],
        *,
        executor: Executor | None = None,
        benches: Iterable[Bench] = (),
        shown_before: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.subjects: dict[str, MatchedScenario] = {}
        self.folder = Path(bench.folder)
        self.bench = bench
        self._evaluated = {subject.name: subject for subject in subjects}
        self._recipes = recipes
        self._benches = tuple(benches) or (bench,)
        self._shown_before = shown_before or {}
        self._stop = threading.Event()
        self._threads = executor is None
        # One thread more than may scan at once: it builds what is scanned next.
        self._executor = executor or ThreadPoolExecutor((os.cpu_count() or 1) + 1, "gitleaks-eval")
        self._ahead: dict[str, Future[Path]] = {}
        self._beside: list[Future[object]] = []
        self._canary_ahead: Future[dict[str, bool]] | None = None
        self._kept: dict[str, Analysis] = {}
        self._kept_bytes = 0
        self._failures: dict[str, str] = {}
        self._masks: dict[str, Masks] = {}

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self.bench.run_id

    @property
    def title(self) -> str:
        """What names the scanner and the configuration under test."""
        return self.bench.title

    @property
    def kept_in(self) -> Path | None:
        """Where built repositories are kept, None for the cache of the user."""
        return self.bench.kept_in

    @property
    def turns(self) -> Path:
        """Where its scans take turns with those of all other candidates."""
        return Path(self.bench.turns)

    @property
    def scanner(self) -> Scanner:
        """The scanner under test, with its configuration.

        Raises:
            EvaluationError: when there is none.
        """
        return replace(scanner_of(self.bench, self._stop), planted=True)

    def start(self, names: Iterable[str]) -> None:
        """Make the analyses of these subjects ahead, in this order; first of all scan the canary."""
        if self.bench.build and self._canary_ahead is None:
            # Built here and not in the executor, where all units would wait for it.
            with contextlib.suppress(EvaluationError, OSError):
                canary_repository(self.bench, self._canary)
            self._canary_ahead = self._submit(scanned_canary, self.bench, self._canary)
        for subject in (self._evaluated[name] for name in names if name not in self._ahead):
            if _is_scanned(subject):
                self._ahead[subject.name] = self._submit(run_unit, self.unit(subject))

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Where something cannot be asked, say that the configuration cannot be loaded, if that is why.

        Raises:
            EvaluationError: with the text that all checks of the candidate have then, else as it was.
        """
        try:
            yield
        except EvaluationError as error:
            try:
                scanned_canary(self.bench, self._canary, self._stop)
            except EvaluationError as found:
                error = found if is_refusal(str(found)) else error
            raise error from None

    def start_beside(self, make: Callable[[], object]) -> None:
        """Do this ahead as well, after what was started before; whoever needs it asks again."""
        # What it needs is known to this process alone.
        if self._threads:
            self._beside.append(self._executor.submit(make))

    def analysis(self, subject: Scenario | RealRepository) -> Analysis:
        """Return the analysis of a scenario or real repository, made or read now unless that is done.

        Raises:
            EvaluationError: when it cannot be had, with the same text for every check of the subject.
        """
        name = subject.name
        if name in self._failures:
            raise EvaluationError(self._failures[name])
        if kept := self._kept.get(name):
            return kept
        try:
            path = self.document(subject)
            analysis = read_analysis(path)
            if isinstance(subject, Scenario) and name not in self.subjects:
                self.subjects[name] = matched_scenario(self.shown(subject), analysis, self._policy)
        except EvaluationError as error:
            self._failures[name] = str(error)
            raise
        self._keep(name, analysis, path.stat().st_size)
        return analysis

    def matched(self, scenario: Scenario) -> MatchedScenario | None:
        """Return what an analysis that is there says of a scenario; None where this run has none of it."""
        there = scenario.analysis or analysis_path(self.folder, scenario.name)
        if scenario.name not in self.subjects and there.is_file():
            with contextlib.suppress(EvaluationError):
                self.analysis(scenario)
        return self.subjects.get(scenario.name)

    def document(self, subject: Scenario | RealRepository) -> Path:
        """Return the file with the analysis of a subject; made in this thread unless it was started.

        Raises:
            EvaluationError: as `analysis`.
        """
        if ahead := self._ahead.get(subject.name):
            try:
                return ahead.result()
            except BrokenExecutor:
                raise EvaluationError(f"{subject.name}: the process that evaluated it was ended; run again") from None
        if isinstance(subject, RealRepository) or subject.analysis is None:
            return run_unit(self.unit(subject), self._stop)
        if not subject.analysis.is_file():
            raise EvaluationError(
                f"scenario {subject.name}: the analysis {subject.analysis} is missing; "
                "write it, or leave --gitleaks-analysis out to scan"
            )
        return subject.analysis

    def shown(self, scenario: Scenario) -> Scenario:
        """Return a scenario with the paths of its truth masked as its analysis shows them."""
        return scenario.shown_as(self.masks(scenario)) if scenario.analysis is None else scenario

    def expected(self, scenario: Scenario) -> Expected:
        """Return what is expected of a scenario, with paths masked as its analysis shows them."""
        try:
            return self.shown(scenario).expected
        except EvaluationError:
            # Nothing was scanned, and nothing is known but what the truth says by itself.
            return scenario.expected

    def masks(self, subject: Scenario | RealRepository) -> Masks:
        """Return what all candidates of the run show instead of the texts of a subject that is scanned.

        Raises:
            EvaluationError: when they cannot be made.
        """
        if subject.name not in self._masks:
            self._masks[subject.name] = subject_masks(self.unit(subject), self._stop)
        return self._masks[subject.name]

    def unit(self, subject: Scenario | RealRepository) -> Unit:
        """Return the work that makes the analysis of a subject."""
        name = subject.name
        before = self._shown_before.get(name, frozenset())
        recipe = self._recipes.get(name)
        return Unit(self.bench, subject, recipe, self._canary, self._planted, self._benches, before)

    def repository(self, scenario: Scenario) -> BuiltRepository:
        """Return the repository of a scenario, built from its recipe or its corpus.

        Raises:
            EvaluationError: when it cannot be built.
        """
        return scenario_repository(self.bench, scenario, self._recipes.get(scenario.name))

    def masked_lines(self, scenario: Scenario) -> Mapping[tuple[str, int], str]:
        """Return the masked lines in which the recipe of a scenario plants its secrets; none where it has no recipe."""
        recipe = self._recipes.get(scenario.name)
        return masked_lines(recipe) if recipe else {}

    def time_canary(self) -> float:
        """Return how long one scan of the canary takes, in milliseconds, while no other scan of ours is running.

        Raises:
            EvaluationError: when it fails.
        """
        return prove(self.bench, self._canary, self._stop).time_canary()

    def planted_values(self) -> Values:
        """Return all values that this run plants, those of the canary included."""
        return values_of(secret.value for secret in (*self._planted, *self._canary))

    def reported_values(self, subjects: Iterable[Scenario | RealRepository]) -> set[str]:
        """Return what the scanner took for secrets in those of these that it has scanned."""
        return set[str]().union(*(reported_values(self.bench, subject.name) for subject in subjects))

    def close(self) -> None:
        """Stop what still runs and wait for its end; an executor that was given stays open."""
        self._kept.clear()
        self._stop.set()
        started: list[Future[Any]] = [
            *self._ahead.values(),
            *([self._canary_ahead] if self._canary_ahead else []),
            *self._beside,
        ]
        wait([future for future in started if not future.cancel()])
        if self._threads:
            self._executor.shutdown()

    @cached_property
    def _planted(self) -> tuple[Secret, ...]:
        return tuple(secret for recipe in self._recipes.values() for secret in recipe.secrets.values())

    @cached_property
    def _canary(self) -> tuple[Secret, ...]:
        return tuple(canary_secrets(self._planted, self.bench.seed))

    @cached_property
    def _policy(self) -> SeverityPolicy:
        return load_policy(Path(self.bench.severity_policy))

    def _submit(self, make: Callable[..., Made], *arguments: object) -> Future[Made]:
        # An event cannot travel to another process: what runs there ends by itself.
        return self._executor.submit(make, *arguments, self._stop if self._threads else None)

    def _keep(self, name: str, analysis: Analysis, size: int) -> None:
        # Tests come module by module and ask for each analysis again: keep as many as memory should hold.
        if self._kept_bytes + size > KEPT_BYTES:
            self._kept, self._kept_bytes = {}, 0
        self._kept[name] = analysis
        self._kept_bytes += size


def _is_scanned(subject: Scenario | RealRepository) -> bool:
    return isinstance(subject, RealRepository) or subject.analysis is None
