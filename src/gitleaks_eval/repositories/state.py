"""What a repository holds, known before it is cloned: one hash of all that its refs name."""

import hashlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.repositories.clone import CLONED_FROM, clone_environment
from gitleaks_eval.repositories.refs import local_path, named_in
from gitleaks_eval.scenarios.scenario import RealRepository

# `git ls-remote` says as much of a repository as is cloned from a URL.
_REF = re.compile(r"([0-9a-f]{40}(?:[0-9a-f]{24})?)\t(HEAD|refs/(?:heads|tags)/\S+)")
_SYMBOLIC = re.compile(r"ref: (refs/heads/\S+)\tHEAD")
# What follows the name of a tag where the commit that it stands for is named.
_PEELED = "^{}"


def state_of(repository: RealRepository, seconds: float) -> str:
    """The state of a repository: its refs read as text, or asked of the host of a URL.

    Raises:
        EvaluationError: when it cannot be read, or the host does not answer in `seconds`.
    """
    local = local_path(repository.location)
    if local is None:
        return _of_url(repository.location, seconds)
    try:
        return _hash(*named_in(local))
    except OSError as error:
        raise EvaluationError(error.strerror or "cannot be read") from None


def state_of_clone(path: Path) -> str:
    """The state that a clone of ours has; that of its repository, unless that has changed since it was asked.

    Raises:
        EvaluationError: when it cannot be read.
    """
    try:
        return _hash(*named_in(path))
    except OSError as error:
        raise EvaluationError(error.strerror or "cannot be read") from None


def _of_url(location: str, seconds: float) -> str:
    with tempfile.TemporaryDirectory() as folder:
        done = run_limited(
            ["git", "ls-remote", "--symref", "--", location, "HEAD", "refs/heads/*", "refs/tags/*"],
            Path(folder),
            clone_environment(CLONED_FROM),
            seconds,
        )
        # Only the ends of what is longer are there.
        is_whole = (Path(folder) / "stdout").stat().st_size == len(done.stdout.encode())
    if done.status or not is_whole:
        raise EvaluationError("its host does not say what it holds")
    lines = done.stdout.splitlines()
    refs = {match[2]: match[1] for line in lines if (match := _REF.fullmatch(line))}
    symbolic = next((match[1] for line in lines if (match := _SYMBOLIC.fullmatch(line))), None)
    head = f"ref: {symbolic}" if symbolic else refs.get("HEAD", "")
    named = {
        name.encode(): found.encode() for name, found in refs.items() if name != "HEAD" and not name.endswith(_PEELED)
    }
    return _hash(head.encode(), named, ())


def _hash(head: bytes, refs: Mapping[bytes, bytes], shallow: Sequence[bytes]) -> str:
    # Not the name of its branch: git guesses one where HEAD names a commit.
    head = refs.get(head.removeprefix(b"ref: "), b"") if head.startswith(b"ref: ") else head
    lines = [head, *(b"%s %s" % (refs[name], name) for name in sorted(refs)), b"shallow", *sorted(shallow)]
    return hashlib.sha256(b"\n".join(lines)).hexdigest()
