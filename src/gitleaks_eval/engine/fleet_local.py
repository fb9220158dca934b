"""Workers of this machine: a process a core, each of which does one unit at a time and is replaced when it dies."""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from filelock import BaseFileLock

from gitleaks_eval.core.keeper import die_with_parent
from gitleaks_eval.core.private_folder import stay_in
from gitleaks_eval.core.sharing import turn
from gitleaks_eval.engine.fleet_unit import Job, RepositoryUnit, UnitResult, begin, work
from gitleaks_eval.repositories.hosts import host_of


@dataclass
class _Lane:
    """One process, which does one unit after the other."""

    start: Callable[[Path], ProcessPoolExecutor]
    folder: Path
    pool: ProcessPoolExecutor | None = None
    private: Path | None = None
    process: "Future[int] | None" = None
    unit: "Future[UnitResult] | None" = None
    since: float = 0.0

    @property
    def is_free(self) -> bool:
        """Whether it may be given a unit."""
        return self.unit is None or self.unit.done()

    def submit(self, job_id: str, unit: RepositoryUnit) -> "Future[UnitResult]":
        """Have a unit done; by another process where the last one has died."""
        try:
            self.unit = self._pool().submit(work, job_id, unit)
        except BrokenExecutor:
            self.end()
            self.unit = self._pool().submit(work, job_id, unit)
        self.since = time.monotonic()
        return self.unit

    def kill(self) -> None:
        """End the process now; its unit is lost."""
        if self.process and self.process.done() and not self.process.exception():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.result(), signal.SIGKILL)

    def end(self) -> None:
        """End the process, and remove what it has left."""
        if self.pool:
            self.pool.shutdown(wait=True, cancel_futures=True)
        if self.private:
            shutil.rmtree(self.private, ignore_errors=True)
        self.pool = self.private = self.process = None

    def _pool(self) -> ProcessPoolExecutor:
        if self.pool is None:
            self.private = Path(tempfile.mkdtemp(prefix="worker-", dir=self.folder))
            self.pool = self.start(self.private)
            self.process = self.pool.submit(os.getpid)
        return self.pool


class LocalWorkers:
    """As many workers as there are cores; one that takes longer than `seconds` for a unit is ended.

    `folder` is the private folder of the run. At most `clones` of them clone from one host at once.
    """

    def __init__(self, job: Job, folder: Path, clones: int, seconds: float) -> None:
        self._job = job
        self._seconds = seconds
        start = partial(_start, job, folder, clones)
        self._lanes = [_Lane(start, folder) for _ in range(os.cpu_count() or 1)]

    @property
    def width(self) -> int:
        """How many units may be under way."""
        return len(self._lanes)

    def submit(self, unit: RepositoryUnit) -> "Future[UnitResult]":
        """Have a unit done by a worker that is free."""
        lane = next(one for one in self._lanes if one.is_free)
        return lane.submit(self._job.id, unit)

    def watch(self) -> None:
        """End workers that take too long."""
        for lane in self._lanes:
            if not lane.is_free and time.monotonic() - lane.since > self._seconds:
                lane.kill()

    def close(self) -> None:
        """End all workers, whatever they do."""
        for lane in self._lanes:
            if not lane.is_free:
                lane.kill()
        for lane in self._lanes:
            lane.end()


# A lock that nobody refers to is given back.
_held: list[BaseFileLock] = []


def _start(job: Job, root: Path, clones: int, private: Path) -> ProcessPoolExecutor:
    # Spawned: the coordinator has threads, and a fork of it might wait for a lock for ever.
    return ProcessPoolExecutor(1, get_context("spawn"), _begin, (job, root, clones, private))


def _begin(job: Job, root: Path, clones: int, private: Path) -> None:
    # Who is at the terminal stops the coordinator, and that stops us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    _held.append(stay_in(root))
    begin(job, private, partial(_gate, root / "hosts", clones))


def _gate(folder: Path, clones: int, location: str) -> AbstractContextManager[None]:
    host = host_of(location)
    return turn(folder / host, clones) if host else contextlib.nullcontext()
