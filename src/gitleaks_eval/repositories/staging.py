"""What a hook sees before a commit: a repository without commits, in which all files are staged."""

from collections.abc import Iterator
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.build import empty_repository, index_content
from gitleaks_eval.repositories.git import run_git
from gitleaks_eval.repositories.head import head_commit

_ID_BYTES = 20
_SUBMODULE = 0o160000
# git knows the empty tree without having it.
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_DIFF = ("diff", "-U0", "--no-textconv", "--no-ext-diff", _EMPTY_TREE)


def stage(repository: Path, folder: Path) -> None:
    """Make a repository in the new folder in which the index of another is staged, or its HEAD where it has none.

    The objects stay where they are; nothing of the other's configuration, hooks or attributes is taken over.

    Raises:
        EvaluationError: when git cannot read the other, its ids are not SHA-1, or the folder cannot be written.
    """
    files = {path: (mode, object_id) for mode, object_id, path in _staged_files(repository)}
    if any(len(object_id) != _ID_BYTES for _, object_id in files.values()):
        raise EvaluationError(f"{repository} has SHA-256 ids, which cannot be staged; scan its history (mode git)")
    objects = repository.joinpath(run_git(repository, "rev-parse", "--git-path", "objects").decode().rstrip("\n"))
    try:
        git_dir = empty_repository(folder)
        (git_dir / "objects" / "info" / "alternates").write_text(f"{objects.resolve()}\n", encoding="utf-8")
        (git_dir / "index").write_bytes(index_content(files))
    except OSError as error:
        raise EvaluationError(f"the files of {repository} cannot be staged: {error.strerror or error}") from None


def staged_diff(repository: Path) -> tuple[str, ...]:
    """Return the git command that shows, asked of the other repository, what is scanned once all of it is staged."""
    if _has_index(repository):
        return (*_DIFF, "--cached")
    return (*_DIFF, "HEAD" if head_commit(repository) else _EMPTY_TREE)


def _staged_files(repository: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Mode, id and path of what would be staged: the index where there is one, else the files of HEAD.

    Submodules are left out, and what a merge left undecided.

    Raises:
        EvaluationError: when git cannot be run or does not answer.
    """
    if _has_index(repository):
        listed = run_git(repository, "ls-files", "--stage", "-z")
    else:
        listed = run_git(repository, "ls-tree", "-r", "-z", "HEAD") if head_commit(repository) else b""
    for entry in filter(None, listed.split(b"\0")):
        said, _, path = entry.partition(b"\t")
        # Of an index: mode, id, stage; of a tree: mode, kind, id.
        mode, *_, last = said.split()
        object_id = last if len(last) > 1 else said.split()[1]
        if last in {b"1", b"2", b"3"} or int(mode, 8) == _SUBMODULE:
            continue
        yield int(mode, 8), bytes.fromhex(object_id.decode()), path


def _has_index(repository: Path) -> bool:
    """Return whether something was ever staged there; a clone without a checkout has no index."""
    return (repository / ".git" / "index").is_file()
