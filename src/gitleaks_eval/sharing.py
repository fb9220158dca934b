"""What the processes of one run share: files made once, and turns for the scanner."""

import contextlib
import os
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from gitleaks_eval.errors import EvaluationError

TURN_SECONDS = 0.005
PACKAGE = Path(__file__).parent


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: under another name first, then renamed."""
    write_together([(path, [content])])


def write_together(files: Iterable[tuple[Path, Iterable[bytes]]]) -> None:
    """Write all files, each from its pieces, under other names first: when one cannot be written, none is.

    Raises:
        OSError: when a file cannot be written.
    """
    staged: dict[Path, Path] = {}
    try:
        for path, pieces in files:
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
            staged[path] = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.writelines(pieces)
            # mkstemp's 0600 would hide reports from the other users of a CI machine.
            staged[path].chmod(0o644)
        for path, temporary in staged.items():
            temporary.replace(path)
    finally:
        for temporary in staged.values():
            with contextlib.suppress(OSError):
                temporary.unlink()


def made_once(folder: Path, make: Callable[[], bytes]) -> Path:
    """The file that `make` has the content of, made by one process of the run and read by the others.

    Raises:
        EvaluationError: when making it failed, then and now with the same text.
    """
    product, failure = folder / "product.json", folder / "error.txt"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not product.exists() and not failure.exists():
            try:
                write_atomically(product, make())
            except EvaluationError as error:
                write_atomically(failure, str(error).encode("utf-8", "backslashreplace"))
            except Exception as error:  # noqa: BLE001 - its traceback could show raw secrets; only its place is kept
                write_atomically(failure, _internal(error).encode())
    if failure.exists():
        raise EvaluationError(*failure.read_text(encoding="utf-8").splitlines())
    return product


@contextlib.contextmanager
def turn(folder: Path, cores: int) -> Iterator[None]:
    """Wait for one of as many turns as there are cores, over all processes of the run."""
    while True:
        for index in range(cores):
            lock = _slot(folder, index)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            try:
                yield
            finally:
                lock.release()
            return
        time.sleep(TURN_SECONDS)


@contextlib.contextmanager
def all_turns(folder: Path, cores: int) -> Iterator[None]:
    """Wait until nobody else has a turn; in a fixed order, so that two who want this do not block each other."""
    with contextlib.ExitStack() as stack:
        for index in range(cores):
            stack.enter_context(_slot(folder, index))
        yield


def _slot(folder: Path, index: int) -> FileLock:
    folder.mkdir(parents=True, exist_ok=True)
    # Not a singleton: threads of one process take turns, too.
    return FileLock(folder / f"turn-{index}.lock", is_singleton=False)


def _internal(error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == PACKAGE]
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"a fault of gitleaks-eval itself: {type(error).__name__}{place}; please report it"
