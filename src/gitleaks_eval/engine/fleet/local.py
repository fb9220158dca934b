"""Workers of this machine: a process a core, each of which does one unit at a time and is replaced when it dies."""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from filelock import BaseFileLock

from gitleaks_eval.core.once import turn
from gitleaks_eval.core.private_folder import stay_in
from gitleaks_eval.core.process import die_with_parent
from gitleaks_eval.engine.fleet.unit import Job, RepositoryUnit, UnitResult, begin, work
from gitleaks_eval.repositories.sources import host_of

Result = TypeVar("Result")
# Longer no process takes until it says its number.
START_SECONDS = 30


@dataclass
class _Lane:
    """One process, which does one thing after the other, and is replaced when it has died."""

    start: Callable[[Path], ProcessPoolExecutor]
    folder: Path
    pool: ProcessPoolExecutor | None = None
    private: Path | None = None
    process: "Future[int] | None" = None
    under_way: "Future[Any] | None" = None
    since: float = 0.0

    @property
    def is_free(self) -> bool:
        """Whether it has nothing to do."""
        return self.under_way is None or self.under_way.done()

    def submit(self, do: Callable[..., Result], *arguments: object) -> "Future[Result]":
        """Have something done; by another process where the last one has died."""
        try:
            future = self._pool().submit(do, *arguments)
        except BrokenExecutor:
            self.end()
            future = self._pool().submit(do, *arguments)
        self.under_way, self.since = future, time.monotonic()
        return future

    def kill(self) -> None:
        """End the process now, or as soon as it has begun; what is under way is lost."""
        if self.process and wait([self.process], START_SECONDS).done:
            with contextlib.suppress(ProcessLookupError, BrokenExecutor, CancelledError):
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


class Lanes:
    """Processes of which each has one thing under way: who dies with it is known, and costs nobody else anything.

    `start` makes the pool of one process, which has the folder that it is given for itself; it is removed when the
    process has ended. What takes longer than `seconds` is ended.
    """

    def __init__(
        self, start: Callable[[Path], ProcessPoolExecutor], folder: Path, seconds: float, width: int | None = None
    ) -> None:
        self._seconds = seconds
        self._lanes = [_Lane(start, folder) for _ in range(width or os.cpu_count() or 1)]

    @property
    def width(self) -> int:
        """How many things may be under way."""
        return len(self._lanes)

    def submit(self, do: Callable[..., Result], *arguments: object) -> "Future[Result]":
        """Have something done by a process that is free; there must be one."""
        return next(lane for lane in self._lanes if lane.is_free).submit(do, *arguments)

    def watch(self) -> None:
        """End processes that take too long."""
        for lane in self._lanes:
            if not lane.is_free and time.monotonic() - lane.since > self._seconds:
                lane.kill()

    def close(self) -> None:
        """End all processes, whatever they do."""
        for lane in self._lanes:
            if not lane.is_free:
                lane.kill()
        for lane in self._lanes:
            lane.end()


class LocalWorkers:
    """As many workers as there are cores; `folder` is the private folder of the run.

    At most `clones` of them clone from one host at once; one that takes longer than `seconds` for a unit is ended.
    """

    def __init__(self, job: Job, folder: Path, clones: int, seconds: float) -> None:
        self._job_id = job.id
        self._lanes = Lanes(partial(_start, job, folder, clones), folder, seconds)
        self.watch = self._lanes.watch
        self.close = self._lanes.close

    @property
    def width(self) -> int:
        """How many units may be under way."""
        return self._lanes.width

    def submit(self, unit: RepositoryUnit) -> "Future[UnitResult]":
        """Have a unit done by a worker that is free."""
        return self._lanes.submit(work, self._job_id, unit)


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
