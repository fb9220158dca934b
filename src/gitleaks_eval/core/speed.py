"""The one place for what only serves speed: without it every result would be the same, only later."""

import contextlib
import gc
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

# For a scan of so few bytes a second core only adds work: the time is the same.
SMALL_BYTES = 1 << 18


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no garbage meanwhile: for code that makes millions of values of which none is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def collector_seldom(after: int) -> Iterator[None]:
    """Look for garbage only when so many objects more are there: for many that live long, and some garbage."""
    before = gc.get_threshold()
    gc.set_threshold(after, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def freeze() -> None:
    """Keep all that exists now out of later collections: it stays to the end of the run."""
    gc.freeze()


def cores_beside_others(added_bytes: int) -> int | None:
    """How many cores a scan of so many bytes may use beside other scans; None for all."""
    return 1 if added_bytes < SMALL_BYTES else None


class _AsPythonDoes:
    """Finds modules of this package, but for tests, where and as Python does without pytest."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where the module is; None for all that is not ours."""
        package, _, last = name.rpartition(".")
        is_ours = package.partition(".")[0] == "gitleaks_eval" and not last.startswith("test_")
        return PathFinder.find_spec(name, path, target) if is_ours else None


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Load modules of ours meanwhile: without collecting garbage, and without having their assertions rewritten.

    pytest rewrites those of each module of a plugin that is installed, 0.1 s a run, and only tests gain by that.
    """
    sys.meta_path.insert(0, _AsPythonDoes)
    try:
        with collector_paused():
            yield
    finally:
        sys.meta_path.remove(_AsPythonDoes)
