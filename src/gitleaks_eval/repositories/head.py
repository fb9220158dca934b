"""What HEAD of a repository holds, read from git's objects without a checkout."""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.git import CHUNK, RunningGit, running
from gitleaks_eval.repositories.log import LARGEST_TEXT

LARGEST_TREE_BYTES = 1 << 30
LARGEST_TREE_ENTRIES = 1_000_000
# What a mode of a tree's entry says.
_KIND, _TREE, _SYMLINK, _SUBMODULE = 0o170000, 0o040000, 0o120000, 0o160000


@dataclass(frozen=True, slots=True)
class Head:
    """What HEAD names: a branch, a commit id, and the contents of its files; empty before the first commit."""

    branch: str
    commit: str
    contents: tuple[bytes, ...]

    def __repr__(self) -> str:
        """Without the contents, which hold planted secrets."""
        return f"<Head {self.branch} {self.commit}>"


@dataclass(frozen=True, slots=True)
class HeadFile:
    """A file of HEAD: its path, whether it is a symbolic link (its content is the target), and its content."""

    path: bytes
    is_symlink: bool
    content: bytes

    def __repr__(self) -> str:
        """Without the content, which may hold secrets."""
        return f"<HeadFile {self.path!r}>"


def read_head(repository: Path) -> Head:
    """Read HEAD and its files, each distinct content once, in one git process.

    Raises:
        EvaluationError: when git cannot be run or does not answer.
    """
    branch = head_branch(repository)
    with running(repository, None, "cat-file", "--batch") as git:
        commit, _ = _object(git, b"HEAD")
        contents = tuple(_distinct_contents(git)) if commit else ()
    return Head(branch, commit.decode(), contents)


def head_branch(repository: Path) -> str:
    """Return the branch that HEAD names, also before its first commit; `HEAD` where it names a commit.

    Raises:
        EvaluationError: when there is no HEAD.
    """
    try:
        head = (repository / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise EvaluationError(f"git cannot read HEAD of {repository}: {error}") from None
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD"


def head_commit(repository: Path) -> str:
    """Return the id of the commit that HEAD names; empty before the first one.

    Raises:
        EvaluationError: when git cannot be run or does not answer.
    """
    with running(repository, None, "cat-file", "--batch") as git:
        return _object(git, b"HEAD")[0].decode()


def head_contents(repository: Path, seconds: float | None = None) -> Iterator[bytes]:
    """Yield each distinct content of HEAD's files once, one at a time; git is not run before the first is asked for.

    Files of more than 512 MiB are left out: git takes them for binary, and no scanner that reads its log sees them.

    Raises:
        EvaluationError: when git cannot be run or does not answer, or not all in `seconds`.
    """
    with running(repository, seconds, "cat-file", "--batch") as git:
        if _object(git, b"HEAD")[0]:
            yield from _distinct_contents(git)


def head_files(repository: Path, largest: int, seconds: float | None = None) -> Iterator[HeadFile]:
    """Yield the files of HEAD one at a time, in the order of their paths, but those of more than `largest` bytes.

    Raises:
        EvaluationError: when git cannot be run or does not answer, or not all in `seconds`.
    """
    with running(repository, seconds, "cat-file", "--batch") as git:
        if not _object(git, b"HEAD")[0]:
            return
        for path, kind, object_id in _head_entries(git):
            content = _object(git, object_id, largest)[1]
            if content is not None:
                yield HeadFile(path, kind == _SYMLINK, content)


def write_head(repository: Path, folder: Path, ignore_lists: Collection[str] = (), seconds: float | None = None) -> int:
    """Write the files of HEAD into an empty folder, and say how many of them are not empty.

    This is no checkout: nothing of the repository's configuration or attributes is obeyed. Symlinks and
    submodules are left out, as scanners of files pass them by; so are files of more than 512 MiB, and in the root
    those named `ignore_lists`, in any case: lists of findings to ignore, which a scanner would obey.

    Raises:
        EvaluationError: when git does not answer, a name is not one that a file in a folder can have, a file
            cannot be written, or there is too much.
    """
    left_out = {name.lower() for name in ignore_lists}
    written = total = 0
    for number, file in enumerate(head_files(repository, LARGEST_TEXT, seconds)):
        total += len(file.content)
        if total > LARGEST_TREE_BYTES or number >= LARGEST_TREE_ENTRIES:
            raise EvaluationError(
                f"the files of HEAD are more than {LARGEST_TREE_BYTES >> 20} MiB or {LARGEST_TREE_ENTRIES} entries; "
                "scan its history instead (mode git)"
            )
        if file.is_symlink or os.fsdecode(file.path.lower()) in left_out:
            continue
        _write(folder.joinpath(*map(_safe_name, file.path.split(b"/"))), file.content)
        written += bool(file.content)
    return written


def _safe_name(name: bytes) -> str:
    separators = b"/\\:" if os.name == "nt" else b"/"
    if name.lower() in {b"", b".", b"..", b".git"} or any(byte in separators for byte in name):
        raise EvaluationError(f"HEAD has a file named {name!r}, which no checkout would write")
    return os.fsdecode(name)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Exclusive: a tree that names one path twice is refused.
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        name = os.fsencode(path.name)
        raise EvaluationError(f"the file {name!r} of HEAD cannot be written: {error.strerror or error}") from None


def contents_of(
    repository: Path, names: Iterable[bytes], largest: int, seconds: float | None
) -> Iterator[bytes | None]:
    """The content of each object that is named, as `commit:path`; None where it is missing or above `largest` bytes.

    Raises:
        EvaluationError: when git cannot be run or does not answer, or not all in `seconds`.
    """
    with running(repository, seconds, "cat-file", "--batch") as git:
        for name in names:
            yield _object(git, name, largest, may_miss=True)[1] if _can_be_asked_for(name) else None


def _can_be_asked_for(name: bytes) -> bool:
    # One line is one name, and git takes a path that begins with a dot and a slash relative to a work tree.
    return b"\n" not in name and not name.partition(b":")[2].startswith((b"./", b"../"))


def _object(
    git: RunningGit, name: bytes, largest: int = LARGEST_TEXT, *, may_miss: bool = False
) -> tuple[bytes, bytes | None]:
    """The id and the content of an object; the id is empty when there is none, the content None above `largest`."""
    try:
        git.stdin.write(name + b"\n")
        git.stdin.flush()
        answer = git.stdout.readline()
        if answer.endswith(b" missing\n") and (may_miss or name == b"HEAD"):
            return b"", None
        object_id, _, size = answer.split()
        content = _sized(git.stdout, int(size), largest)
    except (OSError, ValueError):
        raise EvaluationError(f"git cannot read {name.decode('ascii', 'replace')} of the repository") from None
    return object_id, content


def _sized(stream: IO[bytes], size: int, largest: int) -> bytes | None:
    """What git answers: `size` bytes and a line end; read and dropped when they are more than memory should hold."""
    if size <= largest:
        content = stream.read(size + 1)
        if len(content) != size + 1:
            raise ValueError(size)
        return content[:-1]
    left = size + 1
    while left:
        chunk = stream.read(min(left, CHUNK))
        if not chunk:
            raise ValueError(size)
        left -= len(chunk)
    return None


def _distinct_contents(git: RunningGit) -> Iterator[bytes]:
    seen: set[bytes] = set()
    for _, _, object_id in _head_entries(git, seen):
        content = _object(git, object_id)[1]
        if content is not None:
            yield content


def _head_entries(git: RunningGit, seen: set[bytes] | None = None) -> Iterator[tuple[bytes, int, bytes]]:
    """Path, kind and id of each file of HEAD but submodules; with `seen`, each folder and file only once by its id."""
    pending = [(b"", _TREE, b"HEAD^{tree}")]
    while pending:
        path, kind, object_id = pending.pop()
        if seen is not None:
            if object_id in seen:
                continue
            seen.add(object_id)
        if kind != _TREE:
            yield path, kind, object_id
            continue
        tree_id, content = _object(git, object_id)
        try:
            entries = list(_tree_entries(content, len(tree_id) // 2))
        except ValueError:
            raise EvaluationError(f"git cannot read the folder {object_id.decode('ascii', 'replace')}") from None
        prefix = path + b"/" if path else b""
        pending += [(prefix + name, kind, item) for name, kind, item in reversed(entries) if kind != _SUBMODULE]


def _tree_entries(content: bytes | None, id_size: int) -> Iterator[tuple[bytes, int, bytes]]:
    """Name, kind and id (in hex) of each entry of a tree; ids have 20 bytes, or 32 where they are SHA-256."""
    if content is None:
        raise ValueError(LARGEST_TEXT)
    start = 0
    while start < len(content):
        space = content.index(b" ", start)
        end = content.index(b"\0", space) + 1
        kind = int(content[start:space], 8) & _KIND
        yield content[space + 1 : end - 1], kind, content[end : end + id_size].hex().encode()
        start = end + id_size
