"""Asking git about a repository, in an environment that no user's configuration reaches."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.errors import EvaluationError

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
                commit, _ = _object(process, b"HEAD")
                contents = _blobs(process, b"HEAD^{tree}") if commit else {}
            finally:
                process.kill()
    except OSError as error:
        raise EvaluationError(f"git died while it read {repository}: {error.strerror or error}") from None
    return Head(branch, commit.decode(), tuple(contents.values()))


def read_files(repository: Path) -> dict[bytes, bytes]:
    """The content of each file of HEAD by its path; links and submodules are left out.

    Raises:
        EvaluationError: when git cannot read the repository, or it has no commit.
    """
    listing = run_git(repository, "ls-tree", "-r", "-z", "--full-tree", "HEAD")
    entries = [entry.partition(b"\t") for entry in listing.split(b"\0") if entry.startswith(b"100")]
    ids = {path: entry.split(b" ")[2] for entry, _, path in entries}
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    asked = b"".join(object_id + b"\n" for object_id in ids.values())
    answer = subprocess.run(command, env=git_environment(), input=asked, capture_output=True, check=False).stdout
    files, start = {}, 0
    for path, object_id in ids.items():
        header, _, _ = answer[start : start + 100].partition(b"\n")
        if not header.startswith(object_id + b" blob "):
            raise EvaluationError(f"git cannot read {object_id.decode('ascii')} of {repository}")
        content = start + len(header) + 1
        files[path] = answer[content : content + int(header.split(b" ")[2])]
        start = content + len(files[path]) + 1
    return files


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
    _, entries = _object(process, tree)
    while entries:
        mode, rest = entries.split(b" ", 1)
        _, rest = rest.split(b"\0", 1)
        object_id, entries = rest[:20].hex().encode(), rest[20:]
        if mode == b"40000":
            blobs |= _blobs(process, object_id)
        elif mode != b"160000" and object_id not in blobs:
            blobs[object_id] = _object(process, object_id)[1]
    return blobs


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
