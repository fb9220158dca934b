"""Whoever waits sees that something goes on, and what: a line whenever nothing was said for some seconds."""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SECONDS = 5.0
# In the private folder of a run.
UNDER_WAY = "under-way"


@contextlib.contextmanager
def under_way(folder: Path, doing: str) -> Iterator[None]:
    """Leave a note of what is being done, for the process of the run that watches."""
    folder.mkdir(parents=True, exist_ok=True)
    handle, note = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(doing.encode("utf-8", "backslashreplace"))
        yield
    finally:
        Path(note).unlink(missing_ok=True)


@contextlib.contextmanager
def telling(say: Callable[[str], None], doing: str) -> Iterator[None]:
    """Say what is being done, where it takes longer than `SECONDS`."""
    with tempfile.TemporaryDirectory(prefix="gitleaks-eval-") as folder:
        watch = Watch(Path(folder), say)
        try:
            with under_way(Path(folder), doing):
                yield
        finally:
            watch.stop()


class Watch:
    """A thread that says what has been under way for the longest time, whenever nothing was said for `SECONDS`."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._heard = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gitleaks-eval-watch", daemon=True)
        self._thread.start()

    def heard(self) -> None:
        """Note that whoever waits has just been told something else."""
        self._heard = time.monotonic()

    def stop(self) -> None:
        """Wait for the end of the thread."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(SECONDS / 10):
            if time.monotonic() - self._heard >= 0.9 * SECONDS:
                # A note is gone when that has ended.
                with contextlib.suppress(OSError):
                    self._look()

    def _look(self) -> None:
        notes = sorted((note.stat().st_mtime, note) for note in self._folder.iterdir())
        if notes:
            began, note = notes[0]
            doing = note.read_text(encoding="utf-8")
            self._say(f"gitleaks-eval: still {doing} after {time.time() - began:.0f} s")
            self.heard()


def to_terminal() -> Callable[[str], None]:
    """Return what writes a line to the present standard output, also while pytest captures it."""
    try:
        output = os.dup(1)
    except OSError:
        # There is none.
        return lambda _: None

    def say(line: str) -> None:
        with contextlib.suppress(OSError):
            os.write(output, f"\n{line}\n".encode("utf-8", "backslashreplace"))

    return say
