"""The clones of real repositories: made once a run, and shared by all candidates."""

import contextlib
import shutil
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gitleaks_eval.core.once import made_once
from gitleaks_eval.core.progress import UNDER_WAY, under_way
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.scan.shared import Bench
from gitleaks_eval.repositories.clone import Clone, clone
from gitleaks_eval.repositories.log import Readable, readable
from gitleaks_eval.scenarios.scenario import RealRepository


def shared_clone(bench: Bench, repository: RealRepository, stop: threading.Event | None = None) -> Clone:
    """Return the clone of a repository, made by the first candidate that asks: all of them scan the same commits.

    Raises:
        EvaluationError: when it cannot be cloned; for every candidate with the same text.
    """
    folder = clone_folder(bench, repository.name)

    def make() -> Any:
        with under_way(bench.root / UNDER_WAY, f"cloning {printable(repository.name)}"):
            made = clone(repository, folder / "clone", bench.timeout_seconds, stop, bench.clone_bytes)
        return {**asdict(made), "path": str(made.path)}

    made = made_once(folder / "clone", make)
    return Clone(**{**made, "path": Path(made["path"])})


def shared_readable(bench: Bench, name: str, path: Path) -> Readable:
    """Return what git says is there to read in a clone, counted once a run.

    Raises:
        EvaluationError: when git cannot read it, or not in time.
    """

    def make() -> Any:
        return asdict(readable(path, bench.timeout_seconds))

    return Readable(**made_once(clone_folder(bench, name) / "readable", make))


@contextlib.contextmanager
def removed_unless_compared(bench: Bench, repository: RealRepository) -> Iterator[None]:
    """Remove the clone on the way out where no other candidate needs it, nor what looks for causes."""
    try:
        yield
    finally:
        if not bench.value_key:
            shutil.rmtree(clone_folder(bench, repository.name), ignore_errors=True)


def clone_folder(bench: Bench, name: str) -> Path:
    """Return where the clone of a repository stands, with what all candidates know of it."""
    return bench.root / "clones" / name
