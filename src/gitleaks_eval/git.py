"""Asking git about a repository, in an environment that no user's configuration reaches."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.errors import EvaluationError

# More than this is no repository to evaluate a scanner with, but one that is made to fill a disk.
LARGEST_TREE_BYTES = 1 << 30
LARGEST_TREE_ENTRIES = 1_000_000
_FOLDER, _SYMLINK, _SUBMODULE = b"40000", b"120000", b"160000"
_IGNORE_LISTS = {b".gitleaksignore", b".betterleaksignore"}
# What `gitleaks git` runs itself (upstream sources/git.go), so that both read the same history. --no-textconv
# and --no-ext-diff are ours: a repository's own configuration must not run commands.
LOG = ("log", "-p", "-U0", "--full-history", "--all", "--diff-filter=tuxdb", "--no-textconv", "--no-ext-diff")


@dataclass(frozen=True, slots=True)
class Readable:
    """What git says is there to scan in a repository.

    `commits_with_changes` counts commits with a text change that is no deletion (what Gitleaks reports up
    to 8.26), `commits_with_text` those that add lines (8.30), `added_bytes` the size of the added lines.
    """

    commits_with_changes: int
    commits_with_text: int
    added_bytes: int


def git_environment() -> dict[str, str]:
    """The environment for git and for a scanner that runs git: no configuration but the repository's own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # Only command-line configuration may say these: the user's attributes could hide files as binary,
        # and a cache on another user's volume would be refused as of "dubious ownership".
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.attributesFile",
        "GIT_CONFIG_VALUE_0": os.devnull,
        "GIT_CONFIG_KEY_1": "safe.directory",
        "GIT_CONFIG_VALUE_1": "*",
    }


def run_git(repository: Path, *arguments: str) -> bytes:
    """The output of a git command.

    Raises:
        EvaluationError: when git is not installed or fails; the text has git's last line.
    """
    command = ["git", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(
            command, env=git_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise _no_git(error) from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise EvaluationError(f"git {arguments[0]} failed in {repository}: {reason[0]}")
    return done.stdout


def _no_git(error: OSError) -> EvaluationError:
    return EvaluationError(f"git cannot be run: {error.strerror}; install git 2.32 or newer")


def readable(repository: Path) -> Readable:
    """Count what there is to scan, from the log that the scanner reads.

    Raises:
        EvaluationError: when git cannot read the repository.
    """
    commits_with_changes: set[bytes] = set()
    commits_with_text: set[bytes] = set()
    added_bytes = 0
    commit = b""
    for entry in _log_entries(run_git(repository, *LOG, "--format=%x01%H")):
        if isinstance(entry, bytes):
            commit = entry
            continue
        if not entry.is_delete and not entry.is_binary:
            commits_with_changes.add(commit)
        if entry.added_bytes and not entry.is_delete:
            commits_with_text.add(commit)
            added_bytes += entry.added_bytes
    return Readable(len(commits_with_changes), len(commits_with_text), added_bytes)


@dataclass(frozen=True, slots=True)
class Head:
    """What HEAD names: a branch, a commit id, and the contents of its files; empty before the first commit."""

    branch: str
    commit: str
    contents: tuple[bytes, ...]

    def __repr__(self) -> str:
        """Without the contents, which hold planted secrets."""
        return f"<Head {self.branch} {self.commit}>"


def read_head(repository: Path) -> Head:
    """Read HEAD and its files, each distinct content once, in one git process.

    Raises:
        EvaluationError: when git cannot be run or does not answer.
    """
    try:
        head = (repository / ".git" / "HEAD").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise EvaluationError(f"git cannot read HEAD of {repository}: {error}") from None
    branch = head.strip().removeprefix("ref: refs/heads/")
    with _objects(repository) as process:
        commit, _ = _object(process, b"HEAD")
        contents = _blobs(process, b"HEAD^{tree}") if commit else {}
    return Head(branch, commit.decode(), tuple(contents.values()))


def write_head(repository: Path, folder: Path) -> int:
    """Write the files of HEAD into an empty folder, and say how many of them are not empty.

    This is no checkout: nothing of the repository's configuration or attributes is obeyed. Symlinks and
    submodules are left out, as scanners of files pass them by; so are the lists of findings to ignore in the root,
    which a scanner would obey.

    Raises:
        EvaluationError: when git does not answer, a name is not one that a file in a folder can have, a file
            cannot be written, or there is too much.
    """
    with _objects(repository) as process:
        commit, _ = _object(process, b"HEAD")
        written = bytes_written = 0
        for path, blob in _files_of_head(process, folder) if commit else ():
            _, content = _object(process, blob)
            bytes_written += len(content)
            if bytes_written > LARGEST_TREE_BYTES:
                raise _too_large()
            _write(path, content)
            written += bool(content)
    return written


def _files_of_head(process: "subprocess.Popen[bytes]", folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Where in `folder` each file of HEAD belongs, and its id; the folders are made."""
    pending = [(folder, b"HEAD^{tree}")]
    entries = 0
    while pending:
        parent, tree = pending.pop()
        for mode, name, object_id in _entries(_object(process, tree)[1]):
            entries += 1
            if entries > LARGEST_TREE_ENTRIES:
                raise _too_large()
            path = parent / _safe_name(name)
            if mode == _FOLDER:
                _make_folder(path)
                pending.append((path, object_id))
            elif mode not in {_SYMLINK, _SUBMODULE} and (parent != folder or name.lower() not in _IGNORE_LISTS):
                yield path, object_id


def _safe_name(name: bytes) -> str:
    separators = b"/\\:" if os.name == "nt" else b"/"
    if name.lower() in {b"", b".", b"..", b".git"} or any(byte in separators for byte in name):
        raise EvaluationError(f"HEAD has a file named {name!r}, which no checkout would write")
    return os.fsdecode(name)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(mode=0o700)
    except OSError as error:
        raise _not_written(path, error) from None


def _write(path: Path, content: bytes) -> None:
    try:
        # Exclusive: a tree that names one path twice, or a link where a folder is, is refused.
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise _not_written(path, error) from None


def _not_written(path: Path, error: OSError) -> EvaluationError:
    name = os.fsencode(path.name)
    return EvaluationError(f"the file {name!r} of HEAD cannot be written: {error.strerror or error}")


def _too_large() -> EvaluationError:
    return EvaluationError(
        f"the files of HEAD are more than {LARGEST_TREE_BYTES >> 20} MiB or {LARGEST_TREE_ENTRIES} entries; "
        "scan its history instead (mode git)"
    )


@contextmanager
def _objects(repository: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A git that answers with one object after the other."""
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    try:
        process = subprocess.Popen(
            command, env=git_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise _no_git(error) from None
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    except OSError as error:
        raise EvaluationError(f"git died while it read {repository}: {error.strerror or error}") from None


def _object(process: "subprocess.Popen[bytes]", name: bytes) -> tuple[bytes, bytes]:
    """The id and the content of an object; both empty when there is none of that name."""
    assert process.stdin  # noqa: S101 - for the type checker: both are pipes
    assert process.stdout  # noqa: S101 - the same
    try:
        process.stdin.write(name + b"\n")
        process.stdin.flush()
        header = process.stdout.readline().split()
        if header[1:] == [b"missing"] and name == b"HEAD":
            return b"", b""
        content = process.stdout.read(int(header[2]))
        process.stdout.read(1)
    except (OSError, IndexError, ValueError):
        raise EvaluationError(f"git cannot read {name.decode('ascii', 'replace')} of the repository") from None
    return header[0], content


def _blobs(process: "subprocess.Popen[bytes]", tree: bytes) -> dict[bytes, bytes]:
    """The content of each file below a tree, by its id; submodules hold none."""
    blobs: dict[bytes, bytes] = {}
    for mode, _, object_id in _entries(_object(process, tree)[1]):
        if mode == _FOLDER:
            blobs |= _blobs(process, object_id)
        elif mode != _SUBMODULE and object_id not in blobs:
            blobs[object_id] = _object(process, object_id)[1]
    return blobs


def _entries(tree: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Mode, name and id of each entry of a tree."""
    start = 0
    while start < len(tree):
        end = tree.find(b"\0", start)
        mode, space, name = tree[start:end].partition(b" ")
        if end < 0 or not space:
            raise EvaluationError("git has a tree that cannot be read")
        yield mode, name, tree[end + 1 : end + 21].hex().encode()
        start = end + 21


@dataclass(slots=True)
class _FileDiff:
    is_delete: bool = False
    is_binary: bool = False
    added_bytes: int = 0


def _log_entries(log: bytes) -> Iterator[bytes | _FileDiff]:
    """Commit ids, each followed by the diffs of its files."""
    file_diff: _FileDiff | None = None
    pending = 0
    last_added = False
    for line in log.split(b"\n"):
        # Inside a hunk a line is content, whatever it looks like; the header says how many there are.
        if file_diff and pending and line[:1] in (b"+", b"-"):
            pending -= 1
            last_added = line[:1] == b"+"
            # The sign is not content and the line end that split() took is: the sizes cancel out.
            file_diff.added_bytes += len(line) if last_added else 0
        elif file_diff and line.startswith(b"\\ No newline"):
            file_diff.added_bytes -= last_added
        elif line.startswith((b"\x01", b"diff --git ")):
            if file_diff:
                yield file_diff
            file_diff = _FileDiff() if line.startswith(b"diff") else None
            if file_diff is None:
                yield line[1:]
        elif line.startswith(b"@@ "):
            pending = _hunk_size(line)
        elif file_diff:
            file_diff.is_delete |= line.startswith(b"deleted file")
            file_diff.is_binary |= line.startswith((b"Binary files ", b"GIT binary patch"))
    if file_diff:
        yield file_diff


def _hunk_size(header: bytes) -> int:
    """How many lines follow `@@ -a,b +c,d @@`: b + d, each 1 when it is not given."""
    ranges = header.split(b" ")[1:3]
    return sum(int(part.partition(b",")[2] or 1) for part in ranges)
