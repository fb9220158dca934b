"""What a scan of the history has to have read: commits and bytes, counted as the scanner's own parser counts them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.repositories.git import CHUNK, failed, running

# What `gitleaks git` runs itself (upstream sources/git.go), so that both read the same history. --no-textconv
# and --no-ext-diff are ours: a repository's own configuration must not run commands.
LOG = ("log", "-p", "-U0", "--full-history", "--all", "--no-textconv", "--no-ext-diff")
# With log options of the user's it leaves out all but the first three, `--all` included.
LOG_WITH_OPTIONS = ("log", "-p", "-U0", "--no-textconv", "--no-ext-diff")
# Above git's own core.bigFileThreshold no log shows a file as text, so nothing is ever found in it.
LARGEST_TEXT = 512 << 20
# What the scanner's parser (go-gitdiff) makes of the headers of commits: one that it cannot read leaves its diffs
# without a name. Up to 8.26 all of those count as one commit, later as none.
_NAMELESS = b""
_LONGEST_LINE = 1 << 16
_PLUS, _MINUS = b"+-"
# How git writes what is not plain in a name.
_ESCAPED = re.compile(rb"\\([abtnvfr\"\\]|[0-7]{3})")
_ESCAPES = dict(
    zip(
        (b"a", b"b", b"t", b"n", b"v", b"f", b"r", b'"', b"\\"),
        (bytes([one]) for one in b'\a\b\t\n\v\f\r"\\'),
        strict=True,
    )
)
_DATE = re.compile(rb"Date: +\w{3} \w{3} \d{1,2} \d\d:\d\d:\d\d \d{4} [+-](\d\d)(\d\d)\n")


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


def readable(repository: Path, seconds: float | None = None, command: Sequence[str] = LOG) -> Readable:
    """Count what there is to scan, from the output that the scanner reads, a line at a time.

    `command` is what it runs of git itself: `LOG`, or a diff, which belongs to no commit.

    Raises:
        EvaluationError: when git cannot read the repository, or not in `seconds`.
    """
    changed: set[bytes] = set()
    changed_up_to_8_20: set[bytes] = set()
    with_text: set[bytes] = set()
    added = added_up_to_8_26 = 0
    before = _FileDiff(b"", b"", b"")
    with running(repository, seconds, *command) as git:
        for diff in file_diffs(git.stdout):
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
            raise failed(command[0], repository, git.stderr.read(CHUNK))
    return Readable(len(changed), len(with_text - {_NAMELESS}), added, len(changed_up_to_8_20), added_up_to_8_26)


def added_by_path(repository: Path, seconds: float | None = None, command: Sequence[str] = LOG) -> Counter[bytes]:
    """How many of the `added_bytes` of `readable` are of each path; of a path that git cannot be asked for, none.

    Raises:
        EvaluationError: as `readable`.
    """
    added: Counter[bytes] = Counter()
    before = _FileDiff(b"", b"", b"")
    with running(repository, seconds, *command) as git:
        for diff in file_diffs(git.stdout):
            counts = not diff.is_delete and not diff.is_binary and not diff.is_other_half_of(before)
            if counts and diff.added_bytes and (path := _path(diff.new_name)):
                added[path] += diff.added_bytes
            before = diff
        if git.process.wait():
            git.stderr.seek(0)
            raise failed(command[0], repository, git.stderr.read(CHUNK))
    return added


def names_up_to_8_20(repository: Path, seconds: float | None = None, command: Sequence[str] = LOG) -> dict[str, str]:
    """Return the commits that builds up to 8.20 name differently, each with the name that they give it.

    Commits whose headers the scanner cannot read have no name, and are left out.

    Raises:
        EvaluationError: as `readable`.
    """
    names: dict[str, str] = {}
    with running(repository, seconds, *command) as git:
        for diff in file_diffs(git.stdout):
            if diff.commit != diff.commit_up_to_8_20 and _NAMELESS not in (diff.commit, diff.commit_up_to_8_20):
                names[diff.commit.decode()] = diff.commit_up_to_8_20.decode()
        if git.process.wait():
            git.stderr.seek(0)
            raise failed(command[0], repository, git.stderr.read(CHUNK))
    return names


def _path(name: bytes) -> bytes:
    """Return the path that git names `b/path`, between quotes where it has other than plain characters."""
    name = name.rstrip(b"\t\n")
    if name.startswith(b'"') and name.endswith(b'"'):
        name = _ESCAPED.sub(lambda found: _ESCAPES.get(found[1]) or bytes([int(found[1], 8) & 255]), name[1:-1])
    return name.removeprefix(b"b/") if name.startswith(b"b/") else b""


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
    # Whether the last line of a hunk was an added one.
    last_added: bool = False
    # As git writes it behind `+++`.
    new_name: bytes = b""

    def read(self, line: bytes, rest: Iterator[bytes]) -> None:
        """Take the next line of the diff, and with the header of a hunk the hunk, which the rest begins with."""
        if line.startswith(b"\\ No newline"):
            self.added_bytes -= self.last_added
        elif line.startswith(b"@@ "):
            self.has_lines = True
            self._read_hunk(_hunk_size(line), rest)
        elif line.startswith(b"+++ ") and not self.has_lines:
            self.new_name = line[4:]
        else:
            self.is_delete |= line.startswith(b"deleted file")
            self.is_binary |= line.startswith((b"Binary files ", b"GIT binary patch"))

    def _read_hunk(self, pending: int, rest: Iterator[bytes]) -> None:
        """Take as many lines as the header has named: here a line is content, whatever it looks like.

        Most of a log is these lines, so each is looked at once.
        """
        while pending and (line := next(rest, b"")):
            first = line[0]
            if first == _PLUS:
                self.added_bytes += len(line) - 1
                self.last_added = True
                pending -= 1
            elif first == _MINUS:
                self.last_added = False
                pending -= 1
            elif line.startswith(b"@@ "):
                pending = _hunk_size(line)
            else:
                self.read(line, rest)

    def is_other_half_of(self, before: "_FileDiff") -> bool:
        """Return whether both are one file that changes its type: git shows it as deleted, then as new."""
        return before.is_delete and before.line == self.line and before.commit == self.commit


def file_diffs(log: Iterable[bytes]) -> Iterator[_FileDiff]:
    """Yield the diffs of a log, each with the name that the scanner gives its commit."""
    diff: _FileDiff | None = None
    header = first = _Header(_NAMELESS)
    lines = iter(log)
    for line in lines:
        if line.startswith((b"commit ", b"diff --git ")):
            if diff:
                yield diff
            if line.startswith(b"diff"):
                diff = _FileDiff(line, header.name, first.name)
                continue
            # Of a merge that is shown against each parent (`-m`) git names the parent behind it.
            header = _Header(line[7:-1].partition(b" ")[0])
            # Up to 8.20 the first of several commits in a row that have no diff lends its header to the next that has.
            first = header if diff or first.commit == _NAMELESS else first
            diff = None
        elif diff:
            diff.read(line, lines)
        else:
            header.read(line)
            first.is_readable &= len(line) <= _LONGEST_LINE
    if diff:
        yield diff


def _hunk_size(header: bytes) -> int:
    """Return how many lines follow `@@ -a,b +c,d @@`: b + d, each 1 when it is not given."""
    ranges = header.split(b" ")[1:3]
    return sum(int(part.partition(b",")[2] or 1) for part in ranges)
