"""The unit of work of a fleet: one repository, one clone, one commit, and all pairs of candidates that are asked for.

A process that works keeps its probed scanners and what it knows of their canaries; all else goes with the unit.
"""

import contextlib
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import copy_configuration
from gitleaks_eval.core.errors import EvaluationError, fault
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.real.comparison import compared_repository
from gitleaks_eval.engine.scan.clones import shared_clone
from gitleaks_eval.engine.scan.raw_findings import was_reported
from gitleaks_eval.engine.scan.scans import prove, scanner_of
from gitleaks_eval.engine.scan.shared import Bench, Shared
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.session.targets import Subjects
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.reports.fleet.repository_rows import comparison_json
from gitleaks_eval.repositories.state import state_of_clone
from gitleaks_eval.scanners.canary import canary_secrets
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario
from gitleaks_eval.scoring.differences import find_differences

NOTHING = Subjects((), (), {})
Pair = tuple[str, str]
# Waits for its turn to clone from a host, and holds it.
Gate = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """What all units of a run have in common: what was asked for, and the benches as the coordinator laid them out."""

    settings: Settings
    shared: Shared

    @property
    def id(self) -> str:
        """The run."""
        return next(iter(self.shared.benches.values())).run_id


@dataclass(frozen=True, slots=True)
class RepositoryUnit:
    """A repository, the pairs to compare on it (baseline and candidate), and the truths that its labels are."""

    repository: RealRepository
    pairs: tuple[Pair, ...]
    truths: tuple[Scenario, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What a pair differs in, as JSON without values, or why it is not known; counts of labels where there are some."""

    pair: Pair
    document: dict[str, Any] | None
    problem: str = ""
    truth_lost: int | None = None
    truth_better: int | None = None


@dataclass(frozen=True, slots=True)
class UnitResult:
    """The outcome of a unit: the state that its clone had (empty where there is none), and each of its pairs.

    What the candidates `masked_by` report is masked in all of it.
    """

    state: str
    compared: tuple[Compared, ...]
    masked_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Worker:
    """A process that works, with a private folder of its own."""

    job: Job
    folder: Path
    gate: Gate

    @cached_property
    def benches(self) -> dict[str, Bench]:
        """The benches of this worker: its own copies of configurations, and a key of its own.

        Each scanner has the SHA-256 that the coordinator has probed, and has found the canary here.

        Raises:
            EvaluationError: when one has not.
        """
        benches, planted, key = {}, canary_secrets(()), secrets.token_hex(32)
        for index, (candidate, bench) in enumerate(
            zip(self.job.settings.candidates, self.job.shared.benches.values(), strict=True)
        ):
            own = self.folder / f"candidate-{index}"
            own.mkdir(exist_ok=True)
            configuration = candidate.configuration
            assert configuration  # noqa: S101 - only analyses that exist have none
            made = replace(
                bench,
                folder=str(own),
                turns=str(self.folder / "turns"),
                value_key=key,
                config=str(copy_configuration(configuration, own)),
                # No row has them.
                lists_suppressions=False,
            )
            if problem := scanner_of(made).build.changed():
                raise EvaluationError(problem)
            prove(made, planted)
            benches[candidate.name] = made
        return benches

    def run(self, unit: RepositoryUnit) -> UnitResult:
        """Do a unit; whatever goes wrong is said of its pairs, and nothing of it stays in the folder."""
        folder = Path(tempfile.mkdtemp(prefix="unit-", dir=self.folder))
        try:
            return self._run(unit, folder)
        except EvaluationError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001 - its traceback could show raw secrets; only its place is kept
            problem = fault(error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        said = self._said(problem, folder)
        return UnitResult("", tuple(Compared(pair, None, said) for pair in unit.pairs))

    def _run(self, unit: RepositoryUnit, folder: Path) -> UnitResult:
        names = _names(unit)
        benches = {name: _moved(self.benches[name], _place(folder, i)) for i, name in enumerate(names)}
        candidates = tuple(candidate for candidate in self.job.settings.candidates if candidate.name in names)
        settings = replace(self.job.settings, candidates=candidates)
        # What people have accepted is read once, by who counts.
        shared = Shared(str(folder), benches)
        with contextlib.closing(Session(settings, NOTHING, shared, reads_beside=False)) as session:
            with self.gate(unit.repository.location):
                cloned = shared_clone(next(iter(benches.values())), unit.repository)
            state = state_of_clone(cloned.path)
            compared = tuple(self._compared(session, pair, unit) for pair in unit.pairs)
            has_reported = partial(was_reported, name=unit.repository.name)
            masked_by = tuple(name for name, bench in benches.items() if has_reported(bench))
            return UnitResult(state, compared, masked_by=masked_by)

    def _compared(self, session: Session, pair: Pair, unit: RepositoryUnit) -> Compared:
        try:
            real = compared_repository(session, *pair, unit.repository)
            lost, better = _of_truth(session, pair, unit.truths)
        except EvaluationError as error:
            return Compared(pair, None, self._said(str(error), session.folder))
        document = comparison_json(real)
        return Compared(pair, document, "", lost, better) if unit.truths else Compared(pair, document)

    def _said(self, problem: str, folder: Path) -> str:
        """Return the problem as it is the same for every worker: without its private folders."""
        for private in (folder, self.folder):
            problem = problem.replace(f"{private}/", "").replace(str(private), "…")
        return printable(problem)


def _names(unit: RepositoryUnit) -> list[str]:
    return list(dict.fromkeys(name for pair in unit.pairs for name in pair))


def _place(folder: Path, number: int) -> Path:
    return folder / f"candidate-{number}"


def _moved(bench: Bench, folder: Path) -> Bench:
    """A bench that leaves its products in the folder of a unit; what is known of the canary is that of its worker."""
    folder.mkdir()
    (folder / "canary").symlink_to(Path(bench.folder) / "canary")
    return replace(bench, folder=str(folder), turns=str(folder.parent / "turns"))


def _of_truth(session: Session, pair: Pair, truths: Sequence[Scenario]) -> tuple[int, int]:
    """Return how many labelled secrets the candidate loses, and what it does better, by the labels."""
    lost = better = 0
    for truth in truths:
        matchings = []
        for name in pair:
            workbench = session.workbench(name)
            workbench.analysis(truth)
            matchings.append({truth.name: workbench.subjects[truth.name].matching})
        differences = find_differences(*matchings)
        lost += len(differences.lost)
        better += sum(map(len, (differences.gained, differences.gone, differences.restored)))
    return lost, better


_workers: dict[str, Worker] = {}
_starting = threading.Lock()


def begin(job: Job, folder: Path, gate: Gate = lambda _location: nullcontext()) -> None:
    """Make this process a worker of a run, with a private folder that is there."""
    with _starting:
        _workers.setdefault(job.id, Worker(job, folder, gate))


def end(job_id: str) -> None:
    """Forget a run; its private folder is for the caller to remove."""
    with _starting:
        _workers.pop(job_id, None)


def work(job_id: str, unit: RepositoryUnit) -> UnitResult:
    """Do a unit of a run that this process works for."""
    return _workers[job_id].run(unit)
