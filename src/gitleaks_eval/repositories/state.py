"""What a repository holds, known before it is cloned: one hash of all that its refs name."""

import hashlib
import tempfile
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.repositories.clone import CLONED_FROM, clone_environment
from gitleaks_eval.repositories.sources import local_path
from gitleaks_eval.scenarios.scenario import RealRepository

# Of a URL no other refs are cloned.
_OF_A_URL = ("HEAD", "refs/heads/*", "refs/tags/*")
_REPLACEMENT = "\trefs/replace/"
_SECONDS = 60


def state_of(repository: RealRepository, seconds: float) -> str:
    """Return the state of a repository: a hash of what `git ls-remote` says.

    Raises:
        EvaluationError: when it cannot be read, or the host does not answer in `seconds`.
    """
    local = local_path(repository.location)
    if local:
        return _hash(_refs(str(local), "file", seconds))
    return _hash(_refs(repository.location, CLONED_FROM, seconds, *_OF_A_URL))


def state_of_clone(path: Path) -> str:
    """Return the state that a clone of ours has: that of its repository, unless that has changed since it was asked.

    A history that is cut off may become longer without another ref: such a clone has the state of no repository.

    Raises:
        EvaluationError: when it cannot be read.
    """
    shallow = path / ".git" / "shallow"
    cut_off = shallow.read_text(encoding="ascii") if shallow.is_file() else ""
    return _hash(_refs(str(path), "file", _SECONDS), cut_off)


def _refs(source: str, transports: str, seconds: float, *patterns: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "ls-remote", "--quiet", "--", source, *patterns]
        done = run_limited(command, Path(folder), clone_environment(transports), seconds)
        # Only the ends of what is longer are there.
        is_whole = (Path(folder) / "stdout").stat().st_size == len(done.stdout.encode())
    if done.status or not is_whole:
        raise EvaluationError("git does not say which refs it has")
    return sorted(line for line in done.stdout.splitlines() if _REPLACEMENT not in line)


def _hash(refs: list[str], cut_off: str = "") -> str:
    return hashlib.sha256("\n".join([*refs, cut_off]).encode()).hexdigest()
