"""What git says is there to scan, and what stands in HEAD, in repositories that git itself made."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.git import git_environment, run_git
from gitleaks_eval.repositories.head import read_head, write_head
from gitleaks_eval.repositories.log import Readable, readable
from gitleaks_eval.scanners import IGNORE_FILES


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    return path


def write(repository: Path, name: str | bytes, content: bytes) -> None:
    path = os.path.join(os.fsencode(repository), os.fsencode(name))  # noqa: PTH118 - a name may be any bytes
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - the same
    with open(path, "wb") as file:  # noqa: PTH123 - the same
        file.write(content)


def commit(repository: Path, *arguments: str) -> None:
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "--allow-empty", "-m", "+not a diff\n\n@@ -1 +1 @@\ndiff --git a b", *arguments)


def committed(repository: Path, name: str | bytes, content: bytes) -> None:
    write(repository, name, content)
    commit(repository)


def counted(changes: int, text: int, added: int) -> Readable:
    """A history without the things that versions read differently."""
    return Readable(changes, text, added, changes, added)


def start(repository: Path) -> Readable:
    """A first commit that every case begins with: one line of four bytes."""
    committed(repository, "a", b"one\n")
    return counted(1, 1, 4)


def grown(before: Readable, changes: int, text: int, added: int) -> Readable:
    return counted(before.commits_with_changes + changes, before.commits_with_text + text, before.added_bytes + added)


def test_a_repository_without_commits_has_nothing_to_read(repository: Path) -> None:
    assert readable(repository) == counted(0, 0, 0)


def test_an_added_line_counts_with_its_line_end(repository: Path) -> None:
    assert start(repository) == readable(repository)


@pytest.mark.parametrize(
    ("content", "added"),
    [
        (b"two", 3),
        (b"two\nthree", 9),
        (b"\n\n\n", 3),
        (b"two\r\n", 5),
        (b"a\rb\x0bc\x0cd\n", 8),
        ("ü🔑\u2028\n".encode(), 10),
        (b"\xff\xfe\n", 3),
        (b"+++ b/x\n--- a/x\n", 16),
        (b"diff --git a/x b/x\n@@ -1,2 +3,4 @@\n\\ No newline at end of file\n", 63),
        (b"\x010123456789012345678901234567890123456789\n", 42),
        (b"deleted file mode 100644\nBinary files a and b differ\n", 53),
        (b"-\n+\n \n", 6),
    ],
)
def test_added_bytes_are_the_size_of_the_added_lines_whatever_they_look_like(
    repository: Path, content: bytes, added: int
) -> None:
    before = start(repository)
    committed(repository, "b", content)
    assert readable(repository) == grown(before, 1, 1, added)


@pytest.mark.parametrize(
    ("content", "text", "added"),
    [
        (b"two\n", 1, 4),
        (b"one\ntwo\n", 1, 4),
        (b"one", 1, 3),
        (b"one\ntwo", 1, 3),
        (b"", 1, 0),
    ],
    ids=["replaced", "appended", "line-end-lost", "appended-without-line-end", "emptied"],
)
def test_a_changed_file_counts_the_lines_that_are_new(repository: Path, content: bytes, text: int, added: int) -> None:
    before = start(repository)
    committed(repository, "a", content)
    assert readable(repository) == grown(before, 1, text, added)


def deleted(repository: Path) -> None:
    (repository / "a").unlink()
    commit(repository)


def empty(repository: Path) -> None:
    commit(repository)


def empty_file(repository: Path) -> None:
    committed(repository, "b", b"")


def mode(repository: Path) -> None:
    (repository / "a").chmod(0o755)
    commit(repository)


def binary(repository: Path) -> None:
    committed(repository, "b", b"\x00\x01two\n")


def renamed(repository: Path) -> None:
    git(repository, "mv", "a", "b")
    commit(repository)


@pytest.mark.parametrize(
    ("change", "changes", "text"),
    [(deleted, 0, 0), (empty, 0, 0), (empty_file, 1, 0), (mode, 1, 0), (binary, 0, 0), (renamed, 1, 0)],
)
def test_a_commit_without_an_added_line_has_no_text(
    repository: Path, change: Callable[[Path], None], changes: int, text: int
) -> None:
    before = start(repository)
    change(repository)
    assert readable(repository) == grown(before, changes, text, 0)


def test_the_six_commits_of_the_measured_facts_give_three_and_one(repository: Path) -> None:
    # Add, delete, empty, mode change, binary, empty file: 3 commits up to 8.26, 1 for 8.30.
    write(repository, "mode", b"")
    committed(repository, "a", b"one\n")
    deleted(repository)
    empty(repository)
    (repository / "mode").chmod(0o755)
    commit(repository)
    binary(repository)
    committed(repository, "c", b"")
    assert git(repository, "rev-list", "--count", "HEAD") == b"6\n"
    assert readable(repository) == counted(3, 1, 4)


def test_a_rename_with_a_change_counts_the_new_line(repository: Path) -> None:
    content = b"".join(b"line %d\n" % number for number in range(50))
    committed(repository, "a", content)
    before = readable(repository)
    (repository / "a").unlink()
    committed(repository, "b", content + b"two\n")
    assert readable(repository) == grown(before, 1, 1, 4)


def test_a_binary_file_beside_a_text_file_leaves_the_commit_readable(repository: Path) -> None:
    before = start(repository)
    write(repository, "b.bin", b"\x00\x01")
    write(repository, "c", b"two\n")
    commit(repository)
    assert readable(repository) == grown(before, 1, 1, 4)


def test_a_merge_counts_nothing_and_what_it_merges_counts_once(repository: Path) -> None:
    start(repository)
    git(repository, "checkout", "-q", "-b", "side")
    committed(repository, "side", b"side\n")
    git(repository, "checkout", "-q", "main")
    committed(repository, "main", b"main\n")
    before = readable(repository)
    git(repository, "merge", "-q", "--no-commit", "side")
    write(repository, "only-in-the-merge", b"never read\n")
    commit(repository)
    assert len(git(repository, "rev-list", "--parents", "-1", "HEAD").split()) == 3
    assert before == readable(repository) == counted(3, 3, 14)


def test_all_branches_and_tags_are_read_and_what_no_ref_names_is_not(repository: Path) -> None:
    start(repository)
    git(repository, "checkout", "-q", "--orphan", "other")
    committed(repository, "b", b"two\n")
    git(repository, "tag", "kept")
    git(repository, "checkout", "-q", "main")
    git(repository, "branch", "-q", "-D", "other")
    assert readable(repository).commits_with_text == 2
    git(repository, "tag", "-d", "kept")
    assert readable(repository).commits_with_text == 1


@pytest.mark.parametrize("name", ["with space", 'q"uote', "new\nline", "übung", b"caf\xe9", "@@ -1 +1 @@", "\x01x"])
def test_odd_file_names_do_not_confuse_the_count(repository: Path, name: str | bytes) -> None:
    before = start(repository)
    committed(repository, name, b"two\n")
    assert readable(repository) == grown(before, 1, 1, 4)
    assert sorted(read_head(repository).contents) == [b"one\n", b"two\n"]


def test_many_hunks_of_one_file_all_count(repository: Path) -> None:
    lines = [b"line %d\n" % number for number in range(100)]
    committed(repository, "a", b"".join(lines))
    before = readable(repository)
    for number in (0, 30, 60, 99):
        lines[number] = b"changed\n"
    committed(repository, "a", b"".join(lines))
    assert readable(repository) == grown(before, 1, 1, 32)


def test_attributes_and_filters_of_the_user_have_no_say(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(repository)
    home = tmp_path / "home"
    home.mkdir()
    (home / "attributes").write_text("* binary\n", encoding="ascii")
    (home / ".gitconfig").write_text(
        f"[core]\n\tattributesFile = {home}/attributes\n[diff]\n\texternal = false\n\tnoprefix = true\n"
        "\tmnemonicPrefix = true\n\tcolorMoved = zebra\n[color]\n\tui = always\n[log]\n\tshowSignature = true\n",
        encoding="utf-8",
    )
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("GIT_DIR", str(home))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    assert readable(repository) == counted(1, 1, 4)
    assert read_head(repository).contents == (b"one\n",)


def test_a_repository_cannot_make_git_run_a_command(repository: Path, tmp_path: Path) -> None:
    write(repository, ".gitattributes", b"* diff=evil\n")
    committed(repository, "a", b"one\n")
    ran = tmp_path / "ran"
    git(repository, "config", "diff.evil.textconv", f"touch {ran}; cat")
    git(repository, "config", "diff.evil.command", f"touch {ran}; true")
    git(repository, "config", "diff.external", f"touch {ran}; true")
    assert readable(repository) == counted(1, 1, 16)
    read_head(repository)
    assert not ran.exists()


def test_the_environment_for_git_holds_nothing_of_the_users_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_TRACE", "GITLEAKS_CONFIG", "GITLEAKS_CONFIG_TOML", "GIT_PAGER"):
        monkeypatch.setenv(name, "x")
    kept = git_environment()
    assert not {"GIT_DIR", "GIT_WORK_TREE", "GIT_TRACE", "GITLEAKS_CONFIG", "GITLEAKS_CONFIG_TOML"} & kept.keys()
    assert Path(kept["GIT_CONFIG_GLOBAL"]).read_text(encoding="ascii").endswith("[safe]\n\tdirectory = *\n")
    assert kept["GIT_TERMINAL_PROMPT"] == "0"


# --- HEAD


def test_head_before_the_first_commit_is_empty(repository: Path) -> None:
    head = read_head(repository)
    assert (head.branch, head.commit, head.contents) == ("main", "", ())


def test_head_names_the_branch_and_the_commit(repository: Path) -> None:
    start(repository)
    git(repository, "checkout", "-q", "-b", "side/one")
    committed(repository, "b", b"two\n")
    head = read_head(repository)
    assert (head.branch, head.commit.encode()) == ("side/one", git(repository, "rev-parse", "HEAD").strip())


def test_a_tag_of_the_same_name_does_not_change_the_branch(repository: Path) -> None:
    start(repository)
    git(repository, "tag", "main")
    assert read_head(repository).branch == "main"


def test_head_holds_each_distinct_content_once_in_folders_symlinks_and_binary_files(repository: Path) -> None:
    for name, content in (("a", b"one\n"), ("d/e/f", b"deep"), ("d/same", b"one\n"), ("z", b"\x00\n\xff"), ("e", b"")):
        write(repository, name, content)
    (repository / "link").symlink_to("a target")
    commit(repository)
    assert sorted(read_head(repository).contents) == [b"", b"\x00\n\xff", b"a target", b"deep", b"one\n"]


def test_head_holds_what_is_committed_and_not_what_lies_in_the_folder(repository: Path) -> None:
    start(repository)
    write(repository, "a", b"changed\n")
    write(repository, "untracked", b"new\n")
    assert read_head(repository).contents == (b"one\n",)


def test_what_another_branch_holds_is_not_in_head(repository: Path) -> None:
    start(repository)
    git(repository, "checkout", "-q", "-b", "side")
    committed(repository, "b", b"side\n")
    git(repository, "checkout", "-q", "main")
    assert read_head(repository).contents == (b"one\n",)


def test_a_submodule_has_no_content(repository: Path) -> None:
    start(repository)
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    git(repository, "commit", "-q", "-m", "submodule")
    assert read_head(repository).contents == (b"one\n",)


def _tree(repository: Path, *entries: tuple[str, bytes, bytes]) -> None:
    """Make HEAD a commit of a tree with these entries (mode, name, id of 20 bytes), also of one git would refuse."""
    content = b"".join(f"{mode} ".encode() + name + b"\0" + object_id for mode, name, object_id in entries)
    (repository / "tree").write_bytes(content)
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "tree").decode().strip()
    made = git(repository, "commit-tree", "-m", "a tree", tree).decode().strip()
    git(repository, "update-ref", "HEAD", made)


def _blob(repository: Path, content: bytes) -> bytes:
    (repository / "blob").write_bytes(content)
    return bytes.fromhex(git(repository, "hash-object", "-w", "blob").decode().strip())


def _written(folder: Path) -> dict[bytes, bytes]:
    return {os.fsencode(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_of_head_are_written_as_they_are_and_those_that_are_not_empty_counted(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    files = {b"a.txt": b"$Id$\n", b"deep/er/b": b"\0\1", b'caf\xe9 "x"\n': b"odd", b"empty": b"", b"-f": b"dash"}
    for name, content in files.items():
        write(repository, name, content)
    committed(repository, ".gitattributes", b"*.txt text eol=crlf ident\n")
    write(repository, "a.txt", b"not committed")
    assert write_head(repository, tmp_path / "out") == 5
    assert _written(tmp_path / "out") == {**files, b".gitattributes": b"*.txt text eol=crlf ident\n"}


def test_links_and_submodules_and_lists_of_what_to_ignore_are_not_written(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    blob = _blob(repository, b"/etc")
    modes = {b".GitLeaksIgnore": "100644", b".betterleaksignore": "100755", b"link": "120000", b"module": "160000"}
    _tree(repository, *((mode, name, blob) for name, mode in modes.items()), ("100644", b"kept", blob))
    assert write_head(repository, tmp_path / "out", IGNORE_FILES) == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kept"]


@pytest.mark.parametrize("name", [b"..", b".", b"", b".git", b".GIT", b"../escaped", b"/escaped"])
def test_a_name_that_leaves_the_folder_is_refused(repository: Path, tmp_path: Path, name: bytes) -> None:
    (tmp_path / "out").mkdir()
    _tree(repository, ("100644", name, _blob(repository, b"content")))
    with pytest.raises(EvaluationError, match=r"^HEAD has a file named .*, which no checkout would write$"):
        write_head(repository, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_one_path_twice_is_refused(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    entries = [("100644", b"a", _blob(repository, content)) for content in (b"one", b"two")]
    _tree(repository, *entries)
    with pytest.raises(EvaluationError, match=r"^the file b'a' of HEAD cannot be written: File exists$"):
        write_head(repository, tmp_path / "out")


@pytest.mark.parametrize("limit", ["LARGEST_TREE_BYTES", "LARGEST_TREE_ENTRIES"])
def test_a_tree_that_would_fill_a_disk_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    (tmp_path / "out").mkdir()
    for name in "abc":
        write(repository, name, b"12345")
    commit(repository)
    monkeypatch.setattr(f"gitleaks_eval.repositories.head.{limit}", 2)
    with pytest.raises(EvaluationError, match=r"^the files of HEAD are more than"):
        write_head(repository, tmp_path / "out")


def test_a_head_shows_no_content_in_a_traceback(repository: Path) -> None:
    committed(repository, "a", b"planted\n")
    assert "planted" not in repr(read_head(repository))


@pytest.mark.slow
def test_a_thousand_files_are_read(repository: Path) -> None:
    for number in range(1000):
        write(repository, f"d{number % 7}/f{number}", b"%d\n" % number * 50)
    commit(repository)
    assert len(read_head(repository).contents) == 1000


# --- what is broken

# A HEAD whose commit is missing looks like one before the first commit; the count tells them apart.
BROKEN = [
    (readable, "commit"),
    (readable, "tree"),
    (readable, "blob"),
    (read_head, "tree"),
    (read_head, "blob"),
]


@pytest.mark.parametrize("function", [readable, read_head])
def test_a_folder_that_is_no_repository_is_an_error(function: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        function(tmp_path)


@pytest.mark.parametrize(("function", "kind"), BROKEN)
def test_a_repository_that_lacks_an_object_is_an_error(
    function: Callable[[Path], object], kind: str, repository: Path
) -> None:
    start(repository)
    name = {"commit": "HEAD", "tree": "HEAD^{tree}", "blob": "HEAD:a"}[kind]
    object_id = git(repository, "rev-parse", name).decode().strip()
    (repository / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()
    with pytest.raises(EvaluationError):
        function(repository)


@pytest.mark.parametrize(("function", "kind"), BROKEN)
def test_a_repository_with_a_corrupt_object_is_an_error(
    function: Callable[[Path], object], kind: str, repository: Path
) -> None:
    start(repository)
    name = {"commit": "HEAD", "tree": "HEAD^{tree}", "blob": "HEAD:a"}[kind]
    object_id = git(repository, "rev-parse", name).decode().strip()
    path = repository / ".git" / "objects" / object_id[:2] / object_id[2:]
    path.chmod(0o644)
    path.write_bytes(b"garbage")
    with pytest.raises(EvaluationError):
        function(repository)


def test_a_command_that_fails_is_an_error_with_the_last_line_of_git(repository: Path) -> None:
    with pytest.raises(EvaluationError, match=r"git rev-parse failed in .*: fatal: Needed a single revision"):
        run_git(repository, "rev-parse", "--verify", "nope")


@pytest.mark.parametrize("function", [readable, read_head])
def test_where_there_is_no_git_the_error_says_so(
    function: Callable[[Path], object], repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("git") is None
    with pytest.raises(EvaluationError, match=r"git cannot be run: .*; install git 2\.32 or newer"):
        function(repository)
