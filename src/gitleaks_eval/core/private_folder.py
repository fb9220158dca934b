"""Temporary folders that hold secrets: private, alive while their owner is, and swept by the next run when it died."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.text import printable

PREFIX = "gitleaks-eval-"
LOCK = "alive"
# What the core takes, several times over; with less, every scan of a run would fail in a way of its own.
LEAST_FREE = 16 << 20


def check_room() -> None:
    """Look whether temporary files have room.

    Raises:
        InputError: when they have not, or cannot be written.
    """
    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise InputError(f"TMPDIR: {error.strerror or error}; set it to a folder that can be written") from None
    if free < LEAST_FREE:
        raise InputError(
            f"TMPDIR {printable(folder)}: {free >> 20} MiB are free, and a run needs {LEAST_FREE >> 20}; "
            "make room, or set TMPDIR to a folder that has more"
        )


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a folder in TMPDIR for this user alone, removed on the way out; a lock in it says that its owner is alive.

    Raises:
        OSError: when it cannot be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))
    try:
        with FileLock(folder / LOCK):
            # Without its lock it would look like one whose owner is dead: only now it has the name of ours.
            if os.name == "posix":
                folder = folder.rename(folder.with_name(folder.name.removeprefix(".")))
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stay_in(folder: Path) -> FileLock:
    """Return the lock of another process that uses a private folder: while it has it, the folder outlives its owner."""
    lock = FileLock(folder / f"{LOCK}-{os.getpid()}")
    lock.acquire()
    return lock


def sweep() -> None:
    """Remove the private folders that dead processes of this user left in TMPDIR; links are never followed."""
    if os.name != "posix":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, Timeout):
            if _was_left(folder):
                with contextlib.ExitStack() as nobody:
                    # Its owner's, and those of its workers.
                    for lock in folder.glob(f"{LOCK}*"):
                        nobody.enter_context(FileLock(lock, timeout=0))
                    shutil.rmtree(folder, ignore_errors=True)


def _was_left(folder: Path) -> bool:
    """Return whether a folder is one of ours, that only this user can have filled."""
    there = folder.lstat()
    return (
        stat.S_ISDIR(there.st_mode)
        and there.st_uid == os.getuid()
        and stat.S_IMODE(there.st_mode) == stat.S_IRWXU
        and stat.S_ISREG((folder / LOCK).lstat().st_mode)
        and not any(lock.is_symlink() for lock in folder.glob(f"{LOCK}-*"))
    )
