"""No scan of a real history is turned away that read all of it: our count is the scanner's, in each version."""

import random
import string
import subprocess
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import git

from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.repositories.log import Readable, names_up_to_8_20, readable
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.scan import Scan, Scanner, unread

VERSIONS = ("8.16.0", "8.18.4", "8.26.0", "8.30.1")
# Found in real histories that were imported: git shows it, and Go cannot read it.
BAD_ZONE = "+051800"
GOOD_ZONE = "+0000"


@pytest.fixture(scope="module")
def scanners(gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scanner]:
    folder = tmp_path_factory.mktemp("scanners")
    config = folder / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    return {
        version: Scanner(probe(gitleaks(version), "a test"), config, folder, 60, threading.Event())
        for version in VERSIONS
    }


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    return path


@dataclass(frozen=True)
class Commit:
    """A commit for fast-import; parents are numbers of others, from 1, and the one before unless they are given."""

    changes: bytes
    message: bytes = b"m"
    zone: str = GOOD_ZONE
    seconds: int = 1_700_000_000
    parents: tuple[int, ...] | None = None

    def stream(self, number: int) -> bytes:
        parents = tuple(range(max(number - 1, 1), number)) if self.parents is None else self.parents
        who = f"A <a@example.com> {self.seconds + number}"
        lines = [f"commit refs/heads/branch{number}", f"mark :{number}", f"author {who} {self.zone}"]
        lines += [f"committer {who} {GOOD_ZONE}", f"data {len(self.message)}\n"]
        named = [f"{'merge' if index else 'from'} :{parent}\n" for index, parent in enumerate(parents)]
        return b"".join(["\n".join(lines).encode(), self.message, b"\n", "".join(named).encode(), self.changes, b"\n"])


def written(path: str, content: bytes, mode: str = "644") -> bytes:
    return f"M {mode} inline {path}\ndata {len(content)}\n".encode() + content + b"\n"


def add(number: int) -> bytes:
    return written(f"file{number}", b"text\n")


def imported(repository: Path, commits: Iterable[Commit]) -> Readable:
    stream = b"".join(commit.stream(number) for number, commit in enumerate(commits, 1))
    subprocess.run(
        ["git", "-C", repository, "fast-import", "--quiet", "--date-format=raw-permissive"],  # noqa: S607 - git is on PATH
        input=stream,
        env=git_environment(),
        check=True,
        capture_output=True,
    )
    return readable(repository)


def assert_all_counted(repository: Path, there: Readable, scanners: dict[str, Scanner]) -> None:
    """Each version counts to the number what git says is there, in the way that is known of it."""
    for version, scanner in scanners.items():
        scan = scanner.scan(repository)
        commits, added = {
            "8.16.0": (there.commits_up_to_8_20, None),
            "8.18.4": (there.commits_up_to_8_20, None),
            "8.26.0": (there.commits_with_changes, there.added_bytes_up_to_8_26),
            "8.30.1": (there.commits_with_text, there.added_bytes),
        }[version]
        assert (version, scan.commits, scan.added_bytes) == (version, commits, added)
        assert unread(scan, there) is None


BASE = Commit(written("a", b"one\ntwo\nthree\n") + written("b", b"b\n" * 20))
LINK = written("a", b"b", "120000")
HISTORIES = {
    # What differs: changes, those with text, bytes; changes up to 8.20, bytes up to 8.26.
    "a removed line counts, a changed mode only up to 8.26": (
        [BASE, Commit(written("a", b"one\n")), Commit(written("a", b"one\n", "755"))],
        Readable(3, 2, 54, 3, 54),
    ),
    "a removed line counts, a rename only up to 8.26": (
        [BASE, Commit(written("a", b"one\n")), Commit(b"R b c\n")],
        Readable(3, 2, 54, 3, 54),
    ),
    "a file that becomes a link and back counts up to 8.26": (
        [BASE, Commit(LINK), Commit(written("a", b"z\n"))],
        Readable(3, 1, 54, 3, 57),
    ),
    "a file that becomes a submodule counts up to 8.26": (
        [BASE, Commit(f"M 160000 {'1' * 40} a\n".encode())],
        Readable(2, 1, 54, 2, 54 + 59),
    ),
    "a submodule that comes, changes and goes": (
        [BASE, *(Commit(f"M 160000 {digit * 40} sub\n".encode()) for digit in "12"), Commit(b"D sub\n")],
        Readable(3, 3, 54 + 2 * 59, 3, 54 + 2 * 59),
    ),
    "commits with unreadable time zones are one commit up to 8.26 and none later": (
        [BASE, *(Commit(add(number), zone=BAD_ZONE) for number in range(3))],
        Readable(2, 1, 69, 2, 69),
    ),
    "up to 8.20 a merge lends its header to the commit after it": (
        [
            BASE,
            *(
                Commit(changes, zone=zone, parents=parents, seconds=1_700_000_000 + 10 * number)
                for number in range(3)
                for changes, zone, parents in (
                    (add(number), BAD_ZONE, (3 * number + 1,)),
                    (written(f"main{number}", b"text\n"), GOOD_ZONE, (3 * number + 1,)),
                    (b"", GOOD_ZONE, (3 * number + 3, 3 * number + 2)),
                )
            ),
        ],
        Readable(5, 4, 84, 5, 84),
    ),
    "years of five digits are unreadable": (
        [BASE, *(Commit(add(number), seconds=10**12) for number in range(2))],
        Readable(2, 1, 64, 2, 64),
    ),
    "a message with a line of more than 64 KiB is unreadable, whatever comes before it": (
        [BASE, Commit(add(1), message=b"y" * 65531), Commit(add(2), message=b"t\n\n" + b"y" * 65532)],
        Readable(3, 2, 64, 3, 64),
    ),
    "messages that look like a log": (
        [BASE, Commit(add(1), message=b"commit 1\nDate: x\n\ndiff --git a/x b/x\n@@ -1 +1 @@\n+x\n\r\n\x01")],
        Readable(2, 2, 59, 2, 59),
    ),
    "contents that look like a log": (
        [
            BASE,
            Commit(written("a", b"-- a/x\n++ b/x\n@@ -1 +1 @@\ndiff --git a/x b/x\ncommit 1\nDate:   x\n")),
            Commit(written("a", b"\\ No newline at end of file")),
            Commit(written("a", b"")),
        ],
        Readable(4, 4, 54 + 64 + 27, 4, 54 + 64 + 27),
    ),
    "binary files, late NUL bytes, UTF-16, CRLF, no newline at the end, huge lines": (
        [
            BASE,
            Commit(written("commit.zip", b"PK\3\4\0\0") + written("a.png", b"\0")),
            Commit(written("late", b"x" * 9000 + b"\0\n\0")),
            Commit(written("wide", "wide\n".encode("utf-16"))),
            Commit(written("a", b"q\r\nr\rs\r\nz")),
            Commit(written("huge", b"x" * 2_000_000)),
        ],
        Readable(4, 4, 54 + 9003 + 9 + 2_000_000, 4, 54 + 9003 + 9 + 2_000_000),
    ),
    "merges of several, empty commits, more than one root": (
        [
            BASE,
            Commit(add(1), parents=(1,)),
            Commit(add(2), parents=(1,)),
            Commit(add(3), parents=()),
            Commit(written("only here", b"never read\n"), parents=(2, 3, 4)),
            Commit(b""),
            Commit(add(4), message=b""),
        ],
        Readable(5, 5, 74, 5, 74),
    ),
    "names with quotes, tabs, line ends, spaces and any bytes": (
        [
            BASE,
            *(
                Commit(written(name, b"") + written(f"{name[:-1]}x{name[-1:]}", b"text\n"))
                for name in (
                    '"q\\"u"',
                    '"t\\tab"',
                    '"l\\nine"',
                    '"\\303\\251"',
                    '"\\377"',
                    " b/c b/c ",
                    '"\\r\\a\\177"',
                )
            ),
            Commit(written('"\\303\\251"', b"", "755") + b'R "q\\"u" plain\n'),
        ],
        Readable(9, 8, 54 + 35, 9, 54 + 35),
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_each_version_counts_what_git_says_is_there(name: str, repository: Path, scanners: dict[str, Scanner]) -> None:
    commits, expected = HISTORIES[name]
    there = imported(repository, commits)
    assert there == expected
    assert_all_counted(repository, there, scanners)


def test_notes_stashes_odd_tags_and_a_branch_named_head_are_counted(
    repository: Path, scanners: dict[str, Scanner]
) -> None:
    imported(repository, [BASE, Commit(add(1)), Commit(add(2))])
    git(repository, "checkout", "-q", "branch3")
    for name, target in (("tree", "HEAD^{tree}"), ("blob", "HEAD:a"), ("branch1", "HEAD")):
        git(repository, "tag", name, target)
        git(repository, "tag", "-a", "-m", "a tag", f"{name}-annotated", target)
    git(repository, "notes", "add", "-m", "commit 1\ndiff --git a/x b/x\n@@ -1 +1 @@")
    git(repository, "update-ref", "refs/heads/HEAD", "HEAD~1")
    (repository / "a").write_bytes(b"stashed\n")
    (repository / "untracked").write_bytes(b"untracked\n")
    git(repository, "stash", "-q", "-u")
    there = readable(repository)
    # The three commits, the note, and what is untracked; what the stash changes is in a merge.
    assert (there.commits_with_changes, there.commits_with_text) == (5, 5)
    assert_all_counted(repository, there, scanners)


NAMES = ("a", "b c", "d/e", "d/f g", '"q\\"u"', '"\\303\\251"', "commit", "x.zip", "p.png", '"t\\tab"', '"\\377"')
LINES = (
    *(b"one\n", b"-- a/x\n", b"++ b/x\n", b"@@ -1 +1 @@\n", b"diff --git a/x b/x\n", b"commit 12\n", b"\r\n", b"\n"),
    *(b"x\r", b"\\ No newline at end of file\n", b"\x01\n", b"\xff\xfe\n", "é\u2028\n".encode(), b"z" * 300 + b"\n"),
)
MESSAGES = (b"m", b"", b"diff --git a/x b/x", b"commit 1\nDate: 5\n\nx", b"a\n\nb\nc", b"y" * 70_000)


def random_history(seed: int) -> list[Commit]:
    """Forty commits of every kind at random: edits, removals, links, submodules, merges, odd headers."""
    chance = random.Random(seed)  # noqa: S311 - a history, not a secret
    commits = []
    for number in range(1, 41):
        parents = {chance.randint(max(1, number - 6), number - 1)} if number > 1 else set()
        if parents and chance.random() < 0.25:
            parents |= {chance.randint(1, number - 1) for _ in range(chance.randint(1, 3))}
        commits.append(
            Commit(
                b"".join(_random_change(chance) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))),
                chance.choices(MESSAGES, (12, 1, 1, 1, 1, 1))[0],
                chance.choices((GOOD_ZONE, "+0545", BAD_ZONE), (8, 1, 1))[0],
                chance.choices((1_700_000_000, 1_700_000_500, 10**12), (12, 12, 1))[0],
                tuple(sorted(parents)),
            )
        )
    return commits


def _random_change(chance: random.Random) -> bytes:
    name, kind = chance.choice(NAMES), chance.random()
    if kind < 0.15:
        return f"D {name}\n".encode()
    if kind < 0.22:
        return written(name, b"link", "120000")
    if kind < 0.26:
        return f"M 160000 {chance.randint(1, 99):040x} {name}\n".encode()
    content = b"".join(chance.choice(LINES) for _ in range(chance.randint(0, 12)))
    if kind < 0.32:
        content = b"\0" + content
    return written(name, content[:-1] if kind < 0.5 else content, chance.choice(("644", "644", "755")))


@pytest.mark.parametrize("seed", range(6))
def test_each_version_counts_random_histories_as_git_says(
    seed: int, repository: Path, scanners: dict[str, Scanner]
) -> None:
    assert_all_counted(repository, imported(repository, random_history(seed)), scanners)


def test_a_file_that_the_scanner_passes_over_for_its_name_is_a_scan_that_does_not_count(
    repository: Path, scanners: dict[str, Scanner]
) -> None:
    """go-gitdiff cannot read a quoted name that ends in a backslash, and says nothing of it."""
    there = imported(repository, [BASE, Commit(written('"x\\\\"', b"text\n"))])
    for scanner in scanners.values():
        assert unread(scanner.scan(repository), there) is not None


THERE = Readable(9, 7, 100, 8, 120)


@pytest.mark.parametrize(
    ("commits", "added", "problem"),
    [
        (7, 100, None),
        (9, 120, None),
        (8, 120, None),
        (9, None, None),
        (8, None, None),
        (None, 100, None),
        (7, 99, "99 bytes scanned, and git has 100"),
        (9, 119, "119 bytes scanned, and git has 120"),
        (8, 100, "100 bytes scanned, and git has 120"),
        (6, 120, "6 commits scanned, and git has 7 or 8 or 9"),
        (10, None, "10 commits scanned, and git has 7 or 8 or 9"),
        (None, 99, "99 bytes scanned, and git has 100"),
        (None, None, "neither how many commits nor how many bytes"),
    ],
)
def test_a_scan_has_to_agree_with_one_way_of_counting_whole(
    commits: int | None, added: int | None, problem: str | None
) -> None:
    found = unread(Scan([], 1.0, commits, added), THERE)
    assert (found is None) == (problem is None)
    assert (problem or "") in (found or "")


def planted(number: int) -> bytes:
    """Return a change that adds a token; the same number gives the same one."""
    letters = random.Random(number).choices(string.ascii_letters + string.digits, k=36)  # noqa: S311 - reproducible
    return written(f"file{number}.py", f'token = "ghp_{"".join(letters)}"\n'.encode())


EMPTY = b""
CREDITED = {
    "an empty commit, and two in a row": [
        Commit(planted(1)),
        Commit(EMPTY),
        Commit(planted(2)),
        Commit(EMPTY),
        Commit(EMPTY),
    ],
    "a merge with content of its own": [
        Commit(planted(1)),
        Commit(planted(2), parents=(1,)),
        Commit(planted(3), parents=(1,)),
        Commit(planted(4), parents=(3, 2)),
    ],
    "an octopus merge": [
        Commit(planted(1)),
        *(Commit(planted(number), parents=(1,)) for number in (2, 3, 4)),
        Commit(EMPTY, parents=(2, 3, 4)),
    ],
    "a cherry-pick beside a merge": [
        Commit(planted(1)),
        Commit(planted(2), parents=(1,)),
        Commit(planted(3), parents=(1,)),
        Commit(EMPTY, parents=(3, 2)),
        Commit(planted(2), parents=(3,)),
    ],
}


@pytest.mark.parametrize("history", CREDITED)
def test_the_map_names_the_commits_that_builds_up_to_8_20_name(
    repository: Path, scanners: dict[str, Scanner], history: str
) -> None:
    imported(repository, CREDITED[history])
    names = names_up_to_8_20(repository)
    assert names

    def found(version: str, named: dict[str, str]) -> list[tuple[str, ...]]:
        findings = scanners[version].scan(repository).findings
        return sorted((named.get(one["Commit"], one["Commit"]), one["File"], one["Secret"]) for one in findings)

    for old in ("8.16.0", "8.18.4"):
        for new in ("8.26.0", "8.30.1"):
            assert found(old, {}) != found(new, {})
            assert found(old, {}) == found(new, names)
    assert found("8.26.0", {}) == found("8.30.1", {})
