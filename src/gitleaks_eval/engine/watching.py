"""Says which part of a run takes long: whoever waits must see that something goes on, and where."""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gitleaks_eval.core.progress import AGAIN, SECONDS, still

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
    """Says of each note that is older than `SECONDS` what it says, now and then, from a thread of its own."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._say = say
        self._next: dict[Path, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gitleaks-eval-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Wait for the end of the thread."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            for note in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
                # It is gone when that has ended.
                with contextlib.suppress(OSError):
                    self._look(note)

    def _look(self, note: Path) -> None:
        seconds = time.time() - note.stat().st_mtime
        if seconds > self._next.get(note, SECONDS):
            self._next[note] = seconds + AGAIN
            self._say(still(note.read_text(encoding="utf-8"), seconds))


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
