"""Asking git about a repository, in an environment that no user's configuration reaches."""

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gitleaks_eval.core.errors import EvaluationError

# What `gitleaks git` runs itself (upstream sources/git.go), so that both read the same history. --no-textconv
# and --no-ext-diff are ours: a repository's own configuration must not run commands.
LOG = ("log", "-p", "-U0", "--full-history", "--all", "--no-textconv", "--no-ext-diff")
# Above git's own core.bigFileThreshold no log shows a file as text, so nothing is ever found in it.
LARGEST_TEXT = 512 << 20
_CHUNK = 1 << 20
LARGEST_TREE_BYTES = 1 << 30
LARGEST_TREE_ENTRIES = 1_000_000
# Every scanner of files obeys these where they stand in the root (upstream cmd/root.go).
_IGNORE_LISTS = {b".gitleaksignore", b".betterleaksignore"}


@dataclass(frozen=True, slots=True)
class Readable:
    """What git says is there to scan in a repository, counted as the builds of Gitleaks do that read all of it.

    `commits_with_changes` counts commits with a text change that is no deletion (8.21 to 8.26), `commits_with_text`
    those that add or remove lines of a file (8.27 and later), `added_bytes` is the size of the added lines. From 8.27
    on a file that becomes a link, or the other way round, is passed over; `added_bytes_up_to_8_26` has those, too.
    `commits_up_to_8_20` differs from `commits_with_changes` where headers of commits cannot be read.
    """

    commits_with_changes: int
    commits_with_text: int
    added_bytes: int
    commits_up_to_8_20: int
    added_bytes_up_to_8_26: int


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
        raise _failed(arguments[0], repository, done.stderr)
    return done.stdout


def _failed(command: str, repository: Path, stderr: bytes) -> EvaluationError:
    reason = stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
    return EvaluationError(f"git {command} failed in {repository}: {reason[0]}")


def _no_git(error: OSError) -> EvaluationError:
    return EvaluationError(f"git cannot be run: {error.strerror}; install git 2.32 or newer")


@dataclass(frozen=True, slots=True)
class _Git:
    """A git process that runs: what is written to it, what it answers, and what it complains of."""

    process: "subprocess.Popen[bytes]"
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


@contextmanager
def _running(repository: Path, seconds: float | None, *arguments: str) -> Iterator[_Git]:
    """A git process with pipes, killed on the way out and when its time is over."""
    command = ["git", "-C", str(repository), *arguments]
    over = threading.Event()
    with tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(
                command,
                env=git_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        except OSError as error:
            raise _no_git(error) from None
        assert process.stdin  # noqa: S101 - for the type checker: both are pipes
        assert process.stdout  # noqa: S101 - the same

        def stop() -> None:
            over.set()
            process.kill()

        timer = threading.Timer(seconds or 0, stop)
        timer.daemon = True
        try:
            with process:
                if seconds is not None:
                    timer.start()
                try:
                    yield _Git(process, process.stdin, process.stdout, stderr)
                finally:
                    timer.cancel()
                    process.kill()
        except (OSError, EvaluationError) as error:
            if over.is_set():
                raise EvaluationError(f"git took longer than {seconds:g} s to read {repository}") from None
            if isinstance(error, EvaluationError):
                raise
            raise EvaluationError(f"git died while it read {repository}: {error.strerror or error}") from None


def readable(repository: Path, seconds: float | None = None) -> Readable:
    """Count what there is to scan, from the log that the scanner reads, a line at a time.

    Raises:
        EvaluationError: when git cannot read the repository, or not in `seconds`.
    """
    changed: set[bytes] = set()
    changed_up_to_8_20: set[bytes] = set()
    with_text: set[bytes] = set()
    added = added_up_to_8_26 = 0
    before = _FileDiff(b"", b"", b"")
    with _running(repository, seconds, *LOG) as git:
        for diff in _file_diffs(git.stdout):
            if not diff.is_delete and not diff.is_binary:
                changed.add(diff.commit)
                changed_up_to_8_20.add(diff.commit_up_to_8_20)
                added_up_to_8_26 += diff.added_bytes
                if not diff.is_other_half_of(before):
                    with_text |= {diff.commit} if diff.has_lines else set()
                    added += diff.added_bytes
            before = diff
        if git.process.wait():
            git.stderr.seek(0)
            raise _failed(LOG[0], repository, git.stderr.read(_CHUNK))
    return Readable(len(changed), len(with_text - {_NAMELESS}), added, len(changed_up_to_8_20), added_up_to_8_26)


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
    with _running(repository, None, "cat-file", "--batch") as git:
        commit, _ = _object(git, b"HEAD")
        contents = tuple(_distinct_contents(git)) if commit else ()
    return Head(branch, commit.decode(), contents)


def head_branch(repository: Path) -> str:
    """The branch that HEAD names, also before its first commit; `HEAD` where it names a commit.

    Raises:
        EvaluationError: when there is no HEAD.
    """
    try:
        head = (repository / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise EvaluationError(f"git cannot read HEAD of {repository}: {error}") from None
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD"


def head_commit(repository: Path) -> str:
    """The id of the commit that HEAD names; empty before the first one.

    Raises:
        EvaluationError: when git cannot be run or does not answer.
    """
    with _running(repository, None, "cat-file", "--batch") as git:
        return _object(git, b"HEAD")[0].decode()


def head_contents(repository: Path, seconds: float | None = None) -> Iterator[bytes]:
    """Each distinct content of HEAD's files once, one at a time; git is not run before the first is asked for.

    Files of more than 512 MiB are left out: git takes them for binary, and no scanner that reads its log sees them.

    Raises:
        EvaluationError: when git cannot be run or does not answer, or not all in `seconds`.
    """
    with _running(repository, seconds, "cat-file", "--batch") as git:
        if _object(git, b"HEAD")[0]:
            yield from _distinct_contents(git)


def head_files(repository: Path, largest: int, seconds: float | None = None) -> Iterator[HeadFile]:
    """The files of HEAD one at a time, in the order of their paths, but those of more than `largest` bytes.

    Raises:
        EvaluationError: when git cannot be run or does not answer, or not all in `seconds`.
    """
    with _running(repository, seconds, "cat-file", "--batch") as git:
        if not _object(git, b"HEAD")[0]:
            return
        for path, kind, object_id in _head_entries(git):
            content = _object(git, object_id, largest)[1]
            if content is not None:
                yield HeadFile(path, kind == _SYMLINK, content)


def write_head(repository: Path, folder: Path, seconds: float | None = None) -> int:
    """Write the files of HEAD into an empty folder, and say how many of them are not empty.

    This is no checkout: nothing of the repository's configuration or attributes is obeyed. Symlinks and
    submodules are left out, as scanners of files pass them by; so are files of more than 512 MiB, and the lists
    of findings to ignore in the root, which a scanner would obey.

    Raises:
        EvaluationError: when git does not answer, a name is not one that a file in a folder can have, a file
            cannot be written, or there is too much.
    """
    written = total = 0
    for number, file in enumerate(head_files(repository, LARGEST_TEXT, seconds)):
        total += len(file.content)
        if total > LARGEST_TREE_BYTES or number >= LARGEST_TREE_ENTRIES:
            raise EvaluationError(
                f"the files of HEAD are more than {LARGEST_TREE_BYTES >> 20} MiB or {LARGEST_TREE_ENTRIES} entries; "
                "scan its history instead (mode git)"
            )
        if file.is_symlink or file.path.lower() in _IGNORE_LISTS:
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
    with _running(repository, seconds, "cat-file", "--batch") as git:
        for name in names:
            yield _object(git, name, largest, may_miss=True)[1] if _can_be_asked_for(name) else None


def _can_be_asked_for(name: bytes) -> bool:
    # One line is one name, and git takes a path that begins with a dot and a slash relative to a work tree.
    return b"\n" not in name and not name.partition(b":")[2].startswith((b"./", b"../"))


_KIND, _TREE, _SYMLINK, _SUBMODULE = 0o170000, 0o040000, 0o120000, 0o160000


def _object(
    git: _Git, name: bytes, largest: int = LARGEST_TEXT, *, may_miss: bool = False
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
        chunk = stream.read(min(left, _CHUNK))
        if not chunk:
            raise ValueError(size)
        left -= len(chunk)
    return None


def _distinct_contents(git: _Git) -> Iterator[bytes]:
    seen: set[bytes] = set()
    for _, _, object_id in _head_entries(git, seen):
        content = _object(git, object_id)[1]
        if content is not None:
            yield content


def _head_entries(git: _Git, seen: set[bytes] | None = None) -> Iterator[tuple[bytes, int, bytes]]:
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


# What the scanner's parser (go-gitdiff) makes of the headers of commits: one that it cannot read leaves its diffs
# without a name. Up to 8.26 all of those count as one commit, later as none.
_NAMELESS = b""
_LONGEST_LINE = 1 << 16
_DATE = re.compile(rb"Date: +\w{3} \w{3} \d{1,2} \d\d:\d\d:\d\d \d{4} [+-](\d\d)(\d\d)\n")


@dataclass(slots=True)
class _Header:
    commit: bytes
    is_readable: bool = True

    def read(self, line: bytes) -> None:
        """Take a line of the header, or of the message below it."""
        if len(line) > _LONGEST_LINE:
            self.is_readable = False
        elif line.startswith(b"Date:"):
            # Imported histories have time zones such as +51800, and years of five digits.
            date = _DATE.fullmatch(line)
            self.is_readable &= date is not None and int(date[1]) <= 24 and int(date[2]) <= 60

    @property
    def name(self) -> bytes:
        return self.commit if self.is_readable else _NAMELESS


@dataclass(slots=True)
class _FileDiff:
    line: bytes
    commit: bytes
    commit_up_to_8_20: bytes
    is_delete: bool = False
    is_binary: bool = False
    has_lines: bool = False
    added_bytes: int = 0
    # How many lines of a hunk are still to come, and whether the last one was an added one.
    pending: int = 0
    last_added: bool = False

    def read(self, line: bytes) -> None:
        """Take the next line of the diff."""
        # Inside a hunk a line is content, whatever it looks like; the header says how many there are.
        if self.pending and line[:1] in (b"+", b"-"):
            self.pending -= 1
            self.last_added = line[:1] == b"+"
            self.added_bytes += len(line) - 1 if self.last_added else 0
        elif line.startswith(b"\\ No newline"):
            self.added_bytes -= self.last_added
        elif line.startswith(b"@@ "):
            self.pending = _hunk_size(line)
            self.has_lines = True
        else:
            self.is_delete |= line.startswith(b"deleted file")
            self.is_binary |= line.startswith((b"Binary files ", b"GIT binary patch"))

    def is_other_half_of(self, before: "_FileDiff") -> bool:
        """Whether both are one file that changes its type: git shows it as deleted, then as new."""
        return before.is_delete and before.line == self.line and before.commit == self.commit


def _file_diffs(log: Iterable[bytes]) -> Iterator[_FileDiff]:
    """The diffs of a log, each with the name that the scanner gives its commit."""
    diff: _FileDiff | None = None
    header = first = _Header(_NAMELESS)
    for line in log:
        if (diff is None or not diff.pending) and line.startswith((b"commit ", b"diff --git ")):
            if diff:
                yield diff
            if line.startswith(b"diff"):
                diff = _FileDiff(line, header.name, first.name)
                continue
            header = _Header(line[7:-1])
            # Up to 8.20 the first of several commits in a row that have no diff lends its header to the next that has.
            first = header if diff or first.commit == _NAMELESS else first
            diff = None
        elif diff:
            diff.read(line)
        else:
            header.read(line)
            first.is_readable &= len(line) <= _LONGEST_LINE
    if diff:
        yield diff


def _hunk_size(header: bytes) -> int:
    """How many lines follow `@@ -a,b +c,d @@`: b + d, each 1 when it is not given."""
    ranges = header.split(b" ")[1:3]
    return sum(int(part.partition(b",")[2] or 1) for part in ranges)
