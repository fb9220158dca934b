"""Run a step of an installation to its end, however long it is silent: pip, uv, or Go."""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from gitleaks_eval.core import keeper
from gitleaks_eval.core.process import kill_group

BUILD_SECONDS = 900
PROGRESS_SECONDS = 10

Progress = Callable[[str], None]


def repeating(progress: Progress, doing: str) -> Callable[[int], None]:
    """What `run_step` tells its seconds to: a line that says what it is still doing."""
    return lambda seconds: progress(f"gitleaks-eval: still {doing} ({seconds} s)")


def run_step(
    command: list[str], folder: Path, environment: Mapping[str, str], still_running: Callable[[int], None]
) -> str | None:
    """Run a build step to its end; what went wrong, or None. `still_running` is told its seconds, every 10 s."""
    with tempfile.TemporaryFile() as log:
        try:
            process = _started(command, folder, environment, log)
        except OSError as error:
            return f"{command[0]} cannot be run: {error.strerror or error}"
        try:
            status = _ended(process, still_running)
        finally:
            # Also on Ctrl-C: a build must not go on in a folder that is being removed.
            if process.poll() is None:
                kill_group(process)
            keeper.release(process.pid)
        if status is None:
            return f"took longer than {BUILD_SECONDS} s"
        if status == 0:
            return None
        log.seek(0)
        lines = log.read().decode("utf-8", "replace").strip().splitlines()
    return f"exit code {status}: {' / '.join(lines[-3:])}"


def _ended(process: "subprocess.Popen[bytes]", still_running: Callable[[int], None]) -> int | None:
    """Wait for the end of a build step; its exit status, or None when it takes too long."""
    started = time.monotonic()
    while (left := started + BUILD_SECONDS - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, PROGRESS_SECONDS))
        still_running(round(time.monotonic() - started))
    return None


def _started(
    command: list[str], folder: Path, environment: Mapping[str, str], log: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Start a build step; in a thread, because Ctrl-C in the middle of Popen would leave a child that nobody knows."""
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(_held, command, folder, environment, log)
        try:
            return starting.result()
        except KeyboardInterrupt:
            kill_group(starting.result())
            raise


def _held(
    command: list[str], folder: Path, environment: Mapping[str, str], log: IO[bytes]
) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    keeper.hold(process.pid)
    return process
