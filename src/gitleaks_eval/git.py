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


def run_git(repository: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    """The output of a git command.

    Raises:
        EvaluationError: when git is not installed or fails; the text has git's last line.
    """
    command = ["git", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(command, env=git_environment(), input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise EvaluationError(f"git cannot be run: {error.strerror}; install git 2.32 or newer") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise EvaluationError(f"git {arguments[0]} failed in {repository}: {reason[0]}")
    return done.stdout


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


def head_of(repository: Path) -> tuple[str, str]:
    """The branch that HEAD names and its commit id; both empty when there is no commit yet.

    Raises:
        EvaluationError: when git cannot read the repository.
    """
    if not run_git(repository, "for-each-ref", "--count=1"):
        return "", ""
    commit, branch = run_git(repository, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").decode().split()
    return branch, commit


def head_contents(repository: Path) -> Iterator[bytes]:
    """The content of each file of the HEAD tree; nothing when there is no commit yet.

    Raises:
        EvaluationError: when git cannot read the repository.
    """
    if not head_of(repository)[1]:
        return
    listing = run_git(repository, "ls-tree", "-r", "-z", "HEAD").split(b"\0")
    blobs = dict.fromkeys(line.split()[2] for line in listing if line and line.split()[1] == b"blob")
    if not blobs:
        return
    output = run_git(repository, "cat-file", "--batch", stdin=b"\n".join(blobs) + b"\n")
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        size = int(output[at:end].split()[2])
        yield output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


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
