"""Says which part of a run takes long: whoever waits must see that something goes on, and where."""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gitleaks_eval.core.progress import SECONDS, still

EVERY_SECONDS = 0.5
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


class Watch:
    """Says what has been under way for the longest time, whenever nothing was said for `SECONDS`.

    It looks from a thread of its own.
    """

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._heard = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gitleaks-eval-watch", daemon=True)
        self._thread.start()

    def heard(self) -> None:
        """Whoever waits has just been told something else."""
        self._heard = time.monotonic()

    def stop(self) -> None:
        """Wait for the end of the thread."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            if time.monotonic() - self._heard >= SECONDS - EVERY_SECONDS:
                # A note is gone when that has ended.
                with contextlib.suppress(OSError):
                    self._look()

    def _look(self) -> None:
        notes = sorted((note.stat().st_mtime, note) for note in self._folder.iterdir())
        if notes:
            began, note = notes[0]
            self._say(still(note.read_text(encoding="utf-8"), time.time() - began))
            self.heard()


def to_terminal() -> Callable[[str], None]:
    """Writes a line to what is standard output now, also while pytest captures it later."""
    try:
        output = os.dup(1)
    except OSError:
        # There is none.
        return lambda _: None

    def say(line: str) -> None:
        with contextlib.suppress(OSError):
            os.write(output, f"\n{line}\n".encode("utf-8", "backslashreplace"))

    return say
