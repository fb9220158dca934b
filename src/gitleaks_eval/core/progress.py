"""Whoever waits sees that something goes on: a line after some seconds, and again and again until it ends."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

# After so many seconds something is said, and after so many more again.
SECONDS, AGAIN = 5.0, 5.0


@contextlib.contextmanager
def telling(say: Callable[[str], None], doing: str) -> Iterator[None]:
    """Say what is being done, where it takes longer than `SECONDS`; from a thread of its own, one line at a time."""
    began, ended = time.monotonic(), threading.Event()

    def tell() -> None:
        wait = SECONDS
        while not ended.wait(wait):
            say(still(doing, time.monotonic() - began))
            wait = AGAIN

    thread = threading.Thread(target=tell, name="gitleaks-eval-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def still(doing: str, seconds: float) -> str:
    """The line that says it."""
    return f"gitleaks-eval: still {doing} after {seconds:.0f} s"
