"""What the processes of one run share: files made once, and turns for the scanner."""

import contextlib
import errno
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from gitleaks_eval.core.errors import EvaluationError, fault
from gitleaks_eval.core.files import write_atomically

POLL_SECONDS = 0.005
# What `made_once` has made, in its folder.
PRODUCT = "product.json"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def made_once(folder: Path, make: Callable[[], bytes]) -> Path:
    """Run `make` once per run, across processes, and keep its bytes in `folder`; return their file.

    Raises:
        EvaluationError: when `make` failed, each time with the same text.
    """
    product, failure = folder / PRODUCT, folder / "error.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _among_threads(folder, 1), FileLock(folder / "lock").acquire(poll_interval=POLL_SECONDS):
            if not product.exists() and not failure.exists():
                try:
                    write_atomically(product, make(), 0o600)
                except EvaluationError as error:
                    write_atomically(failure, str(error).encode("utf-8", "backslashreplace"))
                except Exception as error:  # noqa: BLE001 - its traceback could show raw secrets; only its place is kept
                    write_atomically(failure, (_no_room(error) or fault(error)).encode())
        if failure.exists():
            raise EvaluationError(*failure.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise EvaluationError(_no_room(error) or fault(error)) from None
    return product


def _no_room(error: Exception) -> str | None:
    if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
        return None
    return f"TMPDIR {tempfile.gettempdir()}: {error.strerror}; make room, or set TMPDIR to a folder that has more"


@contextlib.contextmanager
def turn(folder: Path, cores: int) -> Iterator[None]:
    """Wait for one of as many turns as there are cores; all processes of the run share them."""
    with _among_threads(folder, cores):
        slots = [_slot(folder, index) for index in range(cores)]
        while not (lock := next(filter(_is_free, slots), None)):
            time.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            lock.release()


@contextlib.contextmanager
def all_turns(folder: Path, cores: int) -> Iterator[None]:
    """Wait until nobody else has a turn."""
    with contextlib.ExitStack() as stack:
        # In a fixed order, so that two who want this do not block each other.
        for index in range(cores):
            stack.enter_context(_slot(folder, index))
        yield


def _is_free(lock: FileLock) -> bool:
    """Take a lock, if nobody has it."""
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


def _among_threads(folder: Path, at_most: int) -> threading.Semaphore:
    """What threads of this process wait for: locks of files are looked at again and again, which costs a core.

    A process that is forked meanwhile has its own.
    """
    return _WAITING.setdefault((os.getpid(), folder, at_most), threading.Semaphore(at_most))


_WAITING: dict[tuple[int, Path, int], threading.Semaphore] = {}


def _slot(folder: Path, index: int) -> FileLock:
    folder.mkdir(parents=True, exist_ok=True)
    # Not a singleton: threads of one process take turns, too.
    return FileLock(folder / f"turn-{index}.lock", is_singleton=False)
