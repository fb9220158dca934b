"""Run a program that is not trusted to end, to be quiet, or to take its children with it."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gitleaks_eval.core.errors import EvaluationError

OUTPUT_LIMIT = 1 << 30
WATCH_SECONDS = 0.1
PARENT_SECONDS = 0.5
_PEAK = re.compile(rb"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended by itself: its exit status (negative: the signal), wall time, and output.

    `peak_kib` is the most memory that it had, in KiB, looked at ten times a second; None where that is not known.
    """

    status: int
    duration_ms: float
    stdout: str
    stderr: str
    peak_kib: int | None = None


_LONG = "took longer than"


def run_limited(  # noqa: PLR0913 - what a process has; each is a word
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    stop: threading.Event | None = None,
    *,
    start_in: Path | None = None,
    at_most: int | None = None,
    limited_by: str = "",
) -> Finished:
    """Run a program in `folder`, which is private to it: all that it writes belongs there.

    `start_in` is where it starts instead, when what it reads is to be its current folder. `at_most` are the bytes that
    there may be in `folder`, 1 GiB where nothing is said. `limited_by` is the option that sets the seconds.

    It runs in a process group of its own, which is killed however this ends. Output goes to files, not pipes: a child
    that it leaves behind cannot keep us waiting.

    Raises:
        EvaluationError: when it cannot be started, takes longer than `seconds`, writes more than
            `at_most`, or `stop` is set.
    """
    limit = OUTPUT_LIMIT if at_most is None else at_most
    with (folder / "stdout").open("w+b") as stdout, (folder / "stderr").open("w+b") as stderr:
        started = time.perf_counter()

        def start() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                command,
                cwd=start_in or folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )

        watch = _Watch(start, folder, seconds, stop, limit)
        try:
            watch.start()
            status = watch.wait()
            duration_ms = (time.perf_counter() - started) * 1000
        finally:
            watch.end()
        # It may have ended before the watch looked again.
        if reason := watch.reason or _too_much(folder, limit):
            advice = f"; allow more seconds with {limited_by}" if limited_by and reason.startswith(_LONG) else ""
            raise EvaluationError(f"{reason}{advice}")
        if not folder.is_dir():
            raise EvaluationError("removed the folder that it was run in")
        return Finished(status, duration_ms, _text(stdout), _text(stderr), watch.peak_kib)


class _Watch(threading.Thread):
    """Starts a program and kills its process group when a limit is reached; the main thread only waits for its end.

    Ctrl-C reaches the main thread alone: in the middle of its start it would leave a program that nobody knows.
    """

    def __init__(
        self,
        start: "Callable[[], subprocess.Popen[bytes]]",
        folder: Path,
        seconds: float,
        stop: threading.Event | None,
        at_most: int,
    ) -> None:
        super().__init__(daemon=True)
        self._start_program = start
        self._folder = folder
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._stopping = stop
        self._at_most = at_most
        self._begun = threading.Event()
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._problem: Exception | None = None
        self.reason: str | None = None
        self.peak_kib: int | None = None

    def run(self) -> None:
        try:
            self._process = self._start_program()
        except Exception as error:  # noqa: BLE001 - `wait` raises it where it can be caught
            self._problem = error
        self._begun.set()
        while self._process and not self._ended.wait(self._pause()):
            self.peak_kib = _peak(self._process.pid) or self.peak_kib
            self.reason = self._exceeded()
            if self.reason:
                kill_group(self._process)
                return

    def wait(self) -> int:
        """Wait for the end of the program; return its status."""
        self._begun.wait()
        if isinstance(self._problem, OSError):
            raise EvaluationError(f"cannot be run: {self._problem.strerror or self._problem}") from None
        if self._process is None:
            raise self._problem or RuntimeError("nothing was started")
        return self._process.wait()

    def end(self) -> None:
        """Kill what is left of the program."""
        self._ended.set()
        if self.ident is None:
            return
        self._begun.wait()
        if self._process:
            kill_group(self._process)
        self.join()

    def _pause(self) -> float:
        return min(WATCH_SECONDS, max(0.001, self._deadline - time.monotonic()))

    def _exceeded(self) -> str | None:
        if self._stopping is not None and self._stopping.is_set():
            return "was stopped"
        if time.monotonic() >= self._deadline:
            return f"{_LONG} {self._seconds:g} s and was stopped"
        return _too_much(self._folder, self._at_most)


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program that was started in a session of its own, with all that it started, and wait for its end."""
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def die_with_parent() -> None:
    """End this process soon after its parent, however that ends."""
    parent = os.getppid()

    def watch() -> None:
        # Who has lost its parent gets another one.
        while os.getppid() == parent:
            time.sleep(PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="gitleaks-eval-parent", daemon=True).start()


def _peak(pid: int) -> int | None:
    """Return the most memory of a running program, in KiB, without what it inherited from us before it began."""
    with contextlib.suppress(OSError, ValueError):
        found = _PEAK.search(Path(f"/proc/{pid}/status").read_bytes())
        return int(found[1]) if found else None
    return None


def _too_much(folder: Path, at_most: int) -> str | None:
    return f"wrote more than {at_most >> 20} MiB and was stopped" if _size(folder) > at_most else None


def _size(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118 - names may be any bytes
    return total


def _text(file: BinaryIO) -> str:
    """Return the first and the last MiB: what a program says of itself stands at one of the ends."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    content = file.read(1 << 20)
    file.seek(max(file.tell(), size - (1 << 20)))
    return (content + file.read()).decode("utf-8", "replace")
