"""Workers of a Dask cluster: each gets scanners and configurations by their content, and proves them before it works.

Where a unit runs, and again after its worker was lost, is Dask's business. It needs the extra `dask`.
"""

import asyncio
import atexit
import contextlib
import hashlib
import pickle
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import dask
from distributed import Client, Semaphore

import gitleaks_eval
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.fleet.unit import Job, RepositoryUnit, UnitResult, begin, end, work
from gitleaks_eval.engine.scan.shared import Bench, Shared
from gitleaks_eval.repositories.sources import host_of
from gitleaks_eval.scanners.build import ScannerBuild

CONNECT_SECONDS = 30
# While one unit runs the next one is on its way.
AHEAD = 2
WIDTH_SECONDS = 2.0
END_SECONDS = 10


@dataclass(frozen=True)
class Packed:
    """A job as it travels: what is asked, and the content of scanners and of the severity policy by SHA-256.

    `configurations` are the SHA-256 of the candidates' chains, in their order.
    """

    version: str
    job: Job
    contents: dict[str, bytes]
    policy: str
    configurations: tuple[str, ...]
    clones: int


def packed(job: Job, clones: int) -> Packed:
    """Return a job with all that a worker needs that sees no file of this machine.

    Raises:
        InputError: when a scanner is a script: what stands beside it would be missing.
    """
    contents = {}
    for name, bench in job.shared.benches.items():
        build = _build_of(bench)
        if not build.copy:
            raise InputError(f"--scheduler: {name}: {build.path} is a script; name the scanner itself")
        contents[build.sha256] = Path(build.program).read_bytes()
    policy = job.settings.severity_policy.read_bytes()
    sha256 = hashlib.sha256(policy).hexdigest()
    # The key stays here: each worker makes its own.
    benches = {name: replace(bench, value_key="") for name, bench in job.shared.benches.items()}
    shared = Shared("", benches, job.shared.seed)
    # Nor does a worker need to know which repositories there are.
    settings = replace(job.settings, real_repositories=None)
    return Packed(
        gitleaks_eval.__version__,
        Job(settings, shared),
        {**contents, sha256: policy},
        sha256,
        configurations_of(job),
        clones,
    )


def configurations_of(job: Job) -> tuple[str, ...]:
    """Return the SHA-256 of what each candidate is configured with, in their order."""
    return tuple(
        candidate.configuration.sha256 if candidate.configuration else "" for candidate in job.settings.candidates
    )


class DaskWorkers:
    """The workers of the cluster at an address; at most `clones` of them clone from one host at once.

    Raises:
        InputError: when nobody answers there, or there is no worker.
    """

    def __init__(self, address: str, job: Job, clones: int, seconds: float) -> None:
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"--scheduler {printable(address)}: {printable(str(error))}") from None
        self._executor = self._client.get_executor(pure=False, retries=2)
        self._job = job
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except asyncio.TimeoutError:
            self._client.close(timeout=END_SECONDS)
            raise InputError(f"--scheduler {printable(address)}: it has no worker; start one") from None
        # A task, and no scattered data: the cluster makes it again when all workers are lost that have it.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"}):
            self._there = self._client.submit(_content, pickle.dumps(packed(job, clones)), pure=False, retries=2)
        self._seconds = seconds * AHEAD
        self._since: dict[Future[UnitResult], float] = {}
        self._nthreads: dict[str, int] = {}
        self._looked = 0.0

    @property
    def width(self) -> int:
        """How many units may be under way: as many as the workers have threads that there are now, and as many more."""
        return AHEAD * sum(self._threads().values())

    def submit(self, unit: RepositoryUnit) -> "Future[UnitResult]":
        """Have a unit done by a worker of the cluster."""
        future: Future[UnitResult] = self._executor.submit(work_there, self._job.id, self._there, unit)
        self._since[future] = time.monotonic()
        return future

    def watch(self) -> None:
        """Give up what takes too long."""
        now = time.monotonic()
        for future, since in list(self._since.items()):
            if future.done():
                del self._since[future]
            elif now - since > self._seconds:
                future.cancel()

    def _threads(self) -> Mapping[str, int]:
        """Return how many threads each worker has, by its address."""
        if time.monotonic() - self._looked > WIDTH_SECONDS:
            self._nthreads = dict(self._client.nthreads())
            self._looked = time.monotonic()
        return self._nthreads

    def close(self) -> None:
        """Give up what is under way, and have all workers that are there remove what they have."""
        for future in list(self._since):
            future.cancel()
        # A worker that hangs would not answer; what it has goes when the next run starts there.
        told = threading.Thread(target=self._end, daemon=True)
        told.start()
        told.join(END_SECONDS)
        self._client.close(timeout=END_SECONDS)

    def _end(self) -> None:
        with contextlib.suppress(Exception):
            self._client.run(end_there, self._job.id, on_error="ignore")


_begun: dict[str, ExitStack] = {}
_under_way: Counter[str] = Counter()
_ended: set[str] = set()
_state = threading.Lock()


def _content(content: bytes) -> bytes:
    return content


def work_there(job_id: str, content: bytes, unit: RepositoryUnit) -> UnitResult:
    """Do a unit in a process of the cluster, which becomes a worker of the run with its first one.

    Raises:
        EvaluationError: when it cannot become one.
    """
    with _state:
        _ended.discard(job_id)
        if job_id not in _begun:
            _begun[job_id] = _begin_there(content)
        _under_way[job_id] += 1
    try:
        return work(job_id, unit)
    finally:
        with _state:
            _under_way[job_id] -= 1
            _clear(job_id)


def end_there(job_id: str) -> None:
    """Remove all that this process has of a run, as soon as it does nothing more for it."""
    with _state:
        _ended.add(job_id)
        _clear(job_id)


def _clear(job_id: str) -> None:
    if job_id in _ended and not _under_way[job_id] and (stack := _begun.pop(job_id, None)):
        end(job_id)
        stack.close()
        # Those of this machine that were killed have left theirs.
        sweep()


def _begin_there(content: bytes) -> ExitStack:
    sent: Packed = pickle.loads(content)  # noqa: S301 - a cluster runs what its clients send
    if sent.version != gitleaks_eval.__version__:
        raise EvaluationError(f"a worker has gitleaks-eval {gitleaks_eval.__version__}, and {sent.version} is asked")
    check_room()
    sweep()
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        job = _unpacked(sent, folder)
        begin(job, folder, partial(_gate, job.id, sent.clones))
        atexit.register(end_there, job.id)
        return stack.pop_all()


def _gate(job_id: str, clones: int, location: str) -> AbstractContextManager[object]:
    host = host_of(location)
    return Semaphore(clones, f"gitleaks-eval-{job_id}-{host}") if host else nullcontext()


def _unpacked(sent: Packed, folder: Path) -> Job:
    """Return the job with its files in a folder, each of which has the SHA-256 that it is named by."""
    if configurations_of(sent.job) != sent.configurations:
        raise EvaluationError("a worker was sent another configuration than was asked for")
    for sha256, content in sent.contents.items():
        if hashlib.sha256(content).hexdigest() != sha256:
            raise EvaluationError("what a worker was sent is not what was asked for")
        path = folder / sha256
        path.write_bytes(content)
        path.chmod(0o700)
    policy = folder / sent.policy
    benches = {
        name: replace(
            bench,
            under_test=replace(
                bench.under_test, build=replace(_build_of(bench), copy=str(folder / _build_of(bench).sha256))
            ),
            severity_policy=str(policy),
        )
        for name, bench in sent.job.shared.benches.items()
    }
    settings = replace(sent.job.settings, severity_policy=policy)
    return Job(settings, Shared(str(folder), benches, sent.job.shared.seed))


def _build_of(bench: Bench) -> ScannerBuild:
    assert bench.build  # noqa: S101 - without a scanner no run is laid out
    return bench.build
