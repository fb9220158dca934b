"""What the processes of one run share: files made once, and turns for the scanner."""

import contextlib
import errno
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from gitleaks_eval.core.errors import EvaluationError, fault
from gitleaks_eval.core.files import write_atomically

POLL_SECONDS = 0.01
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def product_of(place: Path) -> Path:
    """Return the file in which what is made for a place is kept: beside it, as all else of that place."""
    return place.with_name(f"{place.name}.made")


def failure_of(place: Path) -> Path:
    """Return the file in which `made_once` keeps why it has made nothing."""
    return place.with_name(f"{place.name}.failed")


def made_once(place: Path, make: Callable[[], Any]) -> Any:
    """Return what `make` returns, as JSON keeps it: it runs once per run, in the process that asks first.

    Raises:
        EvaluationError: when `make` failed, each time with the same text.
    """
    return json.loads(file_made_once(place, lambda: json.dumps(make()).encode()).read_bytes())


def file_made_once(place: Path, make: Callable[[], bytes]) -> Path:
    """Return the file with what `make` returns: it runs once per run, in the process that asks first.

    Raises:
        EvaluationError: when `make` failed, each time with the same text.
    """
    product, failure, lock = product_of(place), failure_of(place), place.with_name(f"{place.name}.lock")
    if product.exists():
        # It has its name only when it is whole, and stays: nobody has to wait for a lock.
        return product
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, is_singleton=False).acquire(poll_interval=POLL_SECONDS):
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
def turn(folder: Path, at_most: int | None = None) -> Iterator[None]:
    """Wait for one of so many turns, else as many as there are cores; all processes of the run share them."""
    lock = _free(_slots(folder, at_most))
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def all_turns(folder: Path) -> Iterator[None]:
    """Wait until nobody else has a turn."""
    with contextlib.ExitStack() as stack:
        # In a fixed order, so that two who want this do not block each other.
        for lock in _slots(folder):
            stack.enter_context(lock)
        yield


def _free(locks: Sequence[FileLock]) -> FileLock:
    while True:
        for lock in locks:
            with contextlib.suppress(Timeout):
                lock.acquire(timeout=0)
                return lock
        time.sleep(POLL_SECONDS)


def _slots(folder: Path, at_most: int | None = None) -> list[FileLock]:
    folder.mkdir(parents=True, exist_ok=True)
    # Not singletons: threads of one process take turns, too.
    return [
        FileLock(folder / f"turn-{index}.lock", is_singleton=False) for index in range(at_most or os.cpu_count() or 1)
    ]
