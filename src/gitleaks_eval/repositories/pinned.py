"""A clone of a repository as it was at one commit: the history of that commit, and nothing else."""

import re
import shutil
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.clone import LARGEST_COPY, Clone, clone
from gitleaks_eval.repositories.git import run_git
from gitleaks_eval.scenarios.scenario import RealRepository

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def pinned_clone(
    repository: RealRepository, commit: str, folder: Path, seconds: float, at_most: int = LARGEST_COPY
) -> Clone:
    """Clone a repository as `clone`, with a commit as its HEAD and no other ref; empty for the one that HEAD names.

    Raises:
        EvaluationError: when it cannot be cloned, or does not have the commit.
    """
    cloned = clone(repository, folder, seconds, at_most=at_most)
    wanted = commit or cloned.commit
    if not _COMMIT.fullmatch(wanted):
        raise EvaluationError(f"{printable(repository.source)}: it has no commit yet")
    if not has_commit(cloned.path, wanted):
        raise EvaluationError(f"{printable(repository.source)}: it has no commit {wanted}: another repository?")
    git_folder = cloned.path / ".git"
    shutil.rmtree(git_folder / "refs")
    (git_folder / "refs").mkdir()
    (git_folder / "packed-refs").unlink(missing_ok=True)
    (git_folder / "HEAD").write_text(f"{wanted}\n", encoding="ascii")
    return Clone(cloned.path, "HEAD", wanted, cloned.shallow)


def has_commit(path: Path, commit: str) -> bool:
    """Return whether a clone has a commit."""
    try:
        return run_git(path, "cat-file", "-t", commit) == b"commit\n"
    except EvaluationError:
        return False


def history_of(path: Path) -> frozenset[str]:
    """Return the ids of the commits that HEAD of a clone has behind it, itself among them.

    Raises:
        EvaluationError: when git cannot read it.
    """
    return frozenset(run_git(path, "rev-list", "HEAD").decode("ascii").split())
