"""Repositories that are built: what git itself says of them, and that they are the same on every machine."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from builders import git

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.repositories.build import build, render
from gitleaks_eval.scenarios.recipe import Part, load_recipe, parse_recipe
from gitleaks_eval.scenarios.secrets import Secret

AUTHOR = "Jürgen Tester <test@example.com>"
SHIPPED = sorted(shipped_data("synthetic_repos").rglob("*.yaml"))
SHIPPED_REFS = {
    "api-keys": {"refs/heads/main": "3d76d9280212baff1a894c4f117d24cc4c380ff3"},
    "aws-credentials": {"refs/heads/main": "a74750c28b552d244f8cb624020c118541bd8e3a"},
    "binary-files": {"refs/heads/main": "dbba3421cabd1850f3cfd00a05310ef5df39e9b9"},
    "cloud-mixed": {"refs/heads/main": "ac1b40dbb46e30f3e8a5744f485b517b0b25a7bc"},
    "database-creds": {"refs/heads/main": "ccdfeb6c1147748d1c0671f66245633ecb563af8"},
    "empty-repository": {},
    "historical-secrets": {"refs/heads/main": "452ad9f384ac5243e2c90b7ec8821c85e4c52458"},
    "large-files": {"refs/heads/main": "0ded88dab91767733a5bb44faacd96c6a4fdae92"},
    "merged-branch": {
        "refs/heads/alerts": "85e38ff4affffcf8acee2790156fc7491bbc272e",
        "refs/heads/main": "f2eea88dfe693a888b8a730c99948614636eed7a",
    },
    "mixed-secrets": {"refs/heads/main": "fa393bd35aa29cddafe8e4707d1010f53c5ea106"},
    "no-secrets": {"refs/heads/main": "1d572f31cdc95c6f00c32daa4652a5d2ecfa9087"},
    "private-keys": {"refs/heads/main": "7e2ba57fa726f903677b2c16da2fe0967f721719"},
    "renamed-file": {"refs/heads/main": "053815255906401b45708c8977ec474a8a52b022"},
    "rewritten-secret": {"refs/heads/main": "5e3fd93bb25e0c9f08094865e32ca5eccfc5cd4c"},
    "side-branch": {
        "refs/heads/experiment/upload": "801ca789345095a060ae3bbd738591d98c1ad60c",
        "refs/heads/main": "c71608234149f0b9a06aa2fb825183af4a3abea4",
        "refs/tags/v1.0": "6ab442f9d709d328eec5186e8ed22dc3fec81e93",
    },
    "synthetic": {"refs/heads/main": "58feb39963c5ff9e1e23931b9cebfdd0c621366d"},
    "unicode-names": {"refs/heads/main": "af656a68b1f23bc4769cd95b8e16f6b4e8fb4093"},
}

EVERYTHING: list[dict[str, Any]] = [
    {
        "message": "Begin",
        "tag": "v1.0",
        "write": {
            "a.txt": "one\r\ntwo\n",
            "a/b/c.txt": "{{secret.own}}\n",
            "a-b": "",
            "a.b/x": "x",
            "ünï/日本 🔑.txt": "text",
            r"latin/caf\xE9": {"bytes": "00 ff 0a"},
            "odd/\"q\" 's'\n\t.txt": [{"text": "head\n"}, {"lines": 3, "seed": 1}, {"text": "again\n", "repeat": 2}],
        },
        "symlink": {"link": "a.txt", "a/up": r"../latin/caf\xE9"},
    },
    {"message": "Branch off\n\nWith a body.\n", "branch": "side/one", "from": "v1.0", "write": {"side.txt": "side"}},
    {"message": "Go on", "rename": {"a.txt": "moved/b.txt"}, "write": {"main.txt": "main"}, "delete": ["a-b"]},
    {"message": "Merge", "merge": "side/one", "tag": "v2.0"},
    {"message": "", "branch": "side/one"},
]


def commits(*specs: dict[str, Any]) -> list[dict[str, Any]]:
    """Commits with a message, an author and a date, a day apart."""
    return [
        {"message": "m", "author": AUTHOR, "date": f"2026-01-{day:02}T09:00:00+05:30", **spec}
        for day, spec in enumerate(specs, start=1)
    ]


def built(path: Path, *specs: dict[str, Any]) -> Path:
    document = {"secrets": {"own": {"pattern": "acme-[a-z]{8}", "seed": 1}}, "commits": commits(*specs)}
    build(parse_recipe(json.dumps(document, ensure_ascii=False).encode(), "recipe"), path, "recipe")
    return path


def problem_of(path: Path, *specs: dict[str, Any]) -> str:
    with pytest.raises(InputError) as error:
        built(path, *specs)
    return str(error.value)


def files_of(repository: Path, commit: str = "HEAD") -> dict[bytes, bytes]:
    """The content of each file of a commit, as git reads it."""
    entries = git(repository, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    return {
        entry.split(b"\t", 1)[1]: git(repository, "cat-file", "blob", entry.split()[2].decode()) for entry in entries
    }


def refs_of(repository: Path) -> dict[str, str]:
    lines = git(repository, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    return dict(line.split() for line in lines)


def contents_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_git_finds_nothing_wrong_with_a_repository_of_everything(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", *EVERYTHING)
    assert git(repository, "fsck", "--strict", "--full", "--no-dangling") == b""
    assert git(repository, "status", "--porcelain=v2", "--branch").startswith(b"# branch.oid")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_git_finds_nothing_wrong_with_a_shipped_repository_and_its_commit_ids_stay(path: Path, tmp_path: Path) -> None:
    build(load_recipe(path), tmp_path / "r", "recipe")
    git(tmp_path / "r", "fsck", "--strict", "--full")
    assert refs_of(tmp_path / "r") == SHIPPED_REFS[path.stem]


def test_files_hold_what_the_recipe_says(tmp_path: Path) -> None:
    files = files_of(built(tmp_path / "r", *EVERYTHING), "v1.0")
    assert files.keys() == {
        b"a.txt",
        b"a/b/c.txt",
        b"a-b",
        b"a.b/x",
        "ünï/日本 🔑.txt".encode(),
        b"latin/caf\xe9",
        b"odd/\"q\" 's'\n\t.txt",
        b"link",
        b"a/up",
    }
    assert files[b"a.txt"] == b"one\r\ntwo\n"
    assert files[b"a/b/c.txt"].decode() == Secret("acme-[a-z]{8}", "1").value + "\n"
    assert files[b"a-b"] == b""
    assert files[b"latin/caf\xe9"] == b"\x00\xff\n"
    assert files[b"link"] == b"a.txt"
    assert files[b"a/up"] == b"../latin/caf\xe9"
    lines = files[b"odd/\"q\" 's'\n\t.txt"].splitlines()
    assert [lines[0], *lines[4:]] == [b"head", b"again", b"again"]
    assert [line.split(b":")[0] for line in lines[1:4]] == [b"1", b"2", b"3"]


def test_symlinks_are_symlinks_and_files_are_plain_files(tmp_path: Path) -> None:
    listing = git(built(tmp_path / "r", *EVERYTHING), "ls-tree", "-r", "-z", "v1.0").split(b"\0")[:-1]
    modes = {entry.split(b"\t")[1]: entry.split()[0] for entry in listing}
    assert (modes[b"link"], modes[b"a/up"], modes[b"a.txt"]) == (b"120000", b"120000", b"100644")


def test_a_rename_and_a_deletion_take_the_old_name_away(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", *EVERYTHING)
    files = files_of(repository, "main~1")
    assert b"a.txt" not in files
    assert b"a-b" not in files
    assert files[b"moved/b.txt"] == b"one\r\ntwo\n"
    assert b"R100\ta.txt\tmoved/b.txt" in git(repository, "diff", "--name-status", "-M", "v1.0", "main~1")


def test_a_merge_has_two_parents_and_the_files_of_both(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", *EVERYTHING)
    assert len(git(repository, "rev-list", "--parents", "-1", "main").split()) == 3
    files = files_of(repository)
    assert files[b"side.txt"] == b"side"
    assert files[b"main.txt"] == b"main"
    assert b"a-b" not in files


def test_branches_and_tags_are_what_the_recipe_names_and_head_is_the_first_branch(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", *EVERYTHING)
    refs = refs_of(repository)
    assert refs.keys() == {"refs/heads/main", "refs/heads/side/one", "refs/tags/v1.0", "refs/tags/v2.0"}
    assert refs["refs/tags/v2.0"] == refs["refs/heads/main"]
    assert git(repository, "symbolic-ref", "HEAD") == b"refs/heads/main\n"
    assert git(repository, "rev-parse", "v1.0") == git(repository, "merge-base", "main~1", "side/one")


def test_messages_authors_and_dates_are_those_of_the_recipe(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", *EVERYTHING)
    shown = git(repository, "log", "--reverse", "--format=%B%x00%an%x00%ae%x00%aI%x00%cI%x00", "main").decode()
    first = shown.split("\0")[:5]
    date = "2026-01-01T09:00:00+05:30"
    assert first == ["Begin\n", "Jürgen Tester", "test@example.com", date, date]
    body = git(repository, "cat-file", "commit", "side/one~1").decode()
    assert body.endswith("\n\nBranch off\n\nWith a body.\n")


def test_the_first_branch_of_the_recipe_is_the_default(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", {"branch": "trunk", "write": {"a": "x"}})
    assert git(repository, "symbolic-ref", "HEAD") == b"refs/heads/trunk\n"
    assert files_of(repository) == {b"a": b"x"}


def test_a_repository_may_have_no_commits(tmp_path: Path) -> None:
    repository = built(tmp_path / "r")
    git(repository, "fsck", "--strict")
    assert refs_of(repository) == {}
    assert git(repository, "symbolic-ref", "HEAD") == b"refs/heads/main\n"


def test_a_commit_may_change_nothing_and_a_tree_may_be_empty(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", {}, {"write": {"a": "x"}}, {}, {"delete": ["a"]})
    git(repository, "fsck", "--strict")
    assert git(repository, "rev-list", "--count", "HEAD") == b"4\n"
    assert files_of(repository) == {}


def test_a_rename_may_go_over_another_file_and_be_written_in_the_same_commit(tmp_path: Path) -> None:
    repository = built(
        tmp_path / "r",
        {"write": {"a": "1", "b": "2"}},
        {"rename": {"a": "b"}, "write": {"a": "3"}},
    )
    assert files_of(repository) == {b"a": b"3", b"b": b"1"}


def test_a_file_may_become_a_folder_and_back(tmp_path: Path) -> None:
    repository = built(
        tmp_path / "r",
        {"write": {"a": "1"}},
        {"delete": ["a"], "write": {"a/b": "2"}},
        {"delete": ["a/b"], "write": {"a": "3"}},
    )
    git(repository, "fsck", "--strict")
    assert files_of(repository, "HEAD~1") == {b"a/b": b"2"}
    assert files_of(repository) == {b"a": b"3"}


def test_what_both_sides_of_a_merge_changed_is_theirs_and_what_they_deleted_is_gone(tmp_path: Path) -> None:
    repository = built(
        tmp_path / "r",
        {"write": {"both": "0", "ours": "0", "gone": "0", "kept": "0"}},
        {"branch": "side", "from": "main", "write": {"both": "theirs", "new": "theirs"}, "delete": ["gone"]},
        {"write": {"both": "ours", "ours": "ours", "own": "ours"}},
        {"merge": "side"},
    )
    assert files_of(repository) == {
        b"both": b"theirs",
        b"ours": b"ours",
        b"own": b"ours",
        b"new": b"theirs",
        b"kept": b"0",
    }


def test_a_merge_may_change_files_of_its_own(tmp_path: Path) -> None:
    repository = built(
        tmp_path / "r",
        {"write": {"a": "1"}},
        {"branch": "side", "from": "main", "write": {"b": "2"}},
        {"write": {"c": "3"}},
        {"merge": "side", "write": {"only-in-the-merge": "4"}},
    )
    assert files_of(repository).keys() == {b"a", b"b", b"c", b"only-in-the-merge"}
    assert git(repository, "log", "-p", "--format=", "-1") == b""


def test_names_of_files_and_folders_are_sorted_as_git_sorts_them(tmp_path: Path) -> None:
    names = ["a", "a-b", "a.b", "a0", "b/x", "b-", "b.c", "b0", "B", "é", r"\xff", "c/d/e", "c/d-e", "c/d.e"]
    repository = built(tmp_path / "r", {"write": dict.fromkeys(names, "x")})
    git(repository, "fsck", "--strict")
    git(repository, "read-tree", "HEAD")
    assert git(repository, "write-tree") == git(repository, "rev-parse", "HEAD^{tree}")


def test_git_itself_makes_the_same_commit(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", {"write": {"dir/a": "x\n"}, "message": "Same"})
    own = tmp_path / "own"
    own.mkdir()
    (own / "dir").mkdir()
    (own / "dir" / "a").write_bytes(b"x\n")
    git(own, "init", "-q")
    git(own, "add", ".")
    date = "2026-01-01T09:00:00+05:30"
    name = {f"GIT_{who}_NAME": "Jürgen Tester" for who in ("AUTHOR", "COMMITTER")}
    email = {f"GIT_{who}_EMAIL": "test@example.com" for who in ("AUTHOR", "COMMITTER")}
    dates = {f"GIT_{who}_DATE": date for who in ("AUTHOR", "COMMITTER")}
    git(own, "commit", "-q", "-m", "Same", **name, **email, **dates)
    assert git(own, "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD")


def test_the_commit_ids_are_the_same_now_and_in_ten_years(tmp_path: Path) -> None:
    assert refs_of(built(tmp_path / "r", *EVERYTHING)) == {
        "refs/heads/main": "8c06bc65da17c04ea11e13f4c3a7b4fbda42d997",
        "refs/heads/side/one": "6206aa9d4b014c9b3e0ce5eef673dc50ae53e1bd",
        "refs/tags/v1.0": "fce2dca019770db6d85dff38e5376e4231715ca9",
        "refs/tags/v2.0": "8c06bc65da17c04ea11e13f4c3a7b4fbda42d997",
    }


def hostile_home(folder: Path) -> Path:
    """A home with a git configuration that changes contents and commits where git is run."""
    hooks, template = folder / "hooks", folder / "template"
    for place in (hooks, template / "hooks"):
        place.mkdir(parents=True)
        for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-checkout"):
            hook = place / name
            hook.write_text(f"#!/bin/sh\ntouch {folder}/hook-was-run\nexit 1\n", encoding="ascii")
            hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    (folder / "attributes").write_text("* text eol=crlf ident\n", encoding="ascii")
    (folder / ".gitconfig").write_text(
        "[core]\n\tautocrlf = true\n\teol = crlf\n\tsafecrlf = true\n\tquotePath = true\n\tignoreCase = true\n"
        f"\tprecomposeUnicode = true\n\thooksPath = {hooks}\n\tattributesFile = {folder}/attributes\n"
        f"\texcludesFile = {folder}/excludes\n\tcompression = 0\n\tlooseCompression = 0\n"
        f"[init]\n\tdefaultBranch = trunk\n\ttemplateDir = {template}\n\tdefaultObjectFormat = sha256\n"
        "[user]\n\tname = Somebody Else\n\temail = else@example.com\n\tsigningKey = nope\n"
        "[commit]\n\tgpgSign = true\n\tcleanup = verbatim\n[tag]\n\tgpgSign = true\n"
        "[i18n]\n\tcommitEncoding = latin1\n[extensions]\n\tobjectFormat = sha256\n",
        encoding="utf-8",
    )
    (folder / "excludes").write_text("*\n", encoding="ascii")
    return folder


@pytest.mark.parametrize(
    "environment",
    [
        {"GIT_DIR": "{elsewhere}", "GIT_WORK_TREE": "{elsewhere}", "GIT_INDEX_FILE": "{elsewhere}/index"},
        {"GIT_OBJECT_DIRECTORY": "{elsewhere}", "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{elsewhere}"},
        {"GIT_NAMESPACE": "other", "GIT_CEILING_DIRECTORIES": "/", "GIT_DEFAULT_HASH": "sha256"},
        {
            "GIT_AUTHOR_NAME": "Somebody Else",
            "GIT_AUTHOR_EMAIL": "else@example.com",
            "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
            "GIT_COMMITTER_NAME": "Somebody Else",
            "GIT_COMMITTER_EMAIL": "else@example.com",
            "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
        },
        {"HOME": "{hostile}", "XDG_CONFIG_HOME": "{hostile}"},
        {"GIT_CONFIG_GLOBAL": "{hostile}/.gitconfig", "GIT_TEMPLATE_DIR": "{hostile}/template"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.autocrlf", "GIT_CONFIG_VALUE_0": "true"},
        {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
        {"PATH": "/nonexistent"},
    ],
    ids=["places", "objects", "odd", "identity", "home", "config", "config-in-environment", "locale", "no-git"],
)
def test_a_repository_is_the_same_to_the_byte_whatever_the_environment(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = contents_of(built(tmp_path / "usual", *EVERYTHING))
    (tmp_path / "elsewhere").mkdir()
    hostile = hostile_home(tmp_path / "hostile")
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(elsewhere=tmp_path / "elsewhere", hostile=hostile))
    assert contents_of(built(tmp_path / "other", *EVERYTHING)) == usual
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (hostile / "hook-was-run").exists()


def test_the_umask_and_the_current_folder_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = contents_of(built(tmp_path / "usual", *EVERYTHING))
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o077)
    try:
        other = built(Path("other"), *EVERYTHING)
    finally:
        os.umask(before)
    assert contents_of(other) == usual


@pytest.mark.parametrize(
    ("specs", "place", "what"),
    [
        (({"write": {"a": "1", "a/b": "2"}},), "/commits/0", "is a file and a folder at once"),
        (({"write": {"x/a/b": "1"}}, {"write": {"x/a": "2"}}), "/commits/1", "is a file and a folder at once"),
        (({"write": {"a": "1"}}, {"symlink": {"a/b": "x"}}), "/commits/1", "is a file and a folder at once"),
        (({"write": {"a": "1", "b": "1"}}, {"rename": {"a": "b/c"}}), "/commits/1", "is a file and a folder at once"),
        (({"rename": {"a": "b"}},), "/commits/0/rename", "there is no file"),
        (({"write": {"a/b": "1"}}, {"rename": {"a": "b"}}), "/commits/1/rename", "there is no file"),
        (({"delete": ["a"]},), "/commits/0/delete", "there is no file"),
        (({"write": {"a": "1"}}, {"delete": ["a", "a"]}), "/commits/1/delete", "there is no file"),
        (({"from": "nope"},), "/commits/0/from", "no branch or tag 'nope' before this commit"),
        (({}, {"merge": "nope"}), "/commits/1/merge", "no branch or tag 'nope' before this commit"),
        (({}, {"from": "main"}), "/commits/1/from", "has commits already"),
        (({}, {"branch": "side"}), "/commits/1/branch", "say with `from` where it starts"),
        (({"merge": "main"},), "/commits/0/merge", "no branch or tag 'main'"),
        (({}, {"merge": "main"}), "/commits/1/merge", "nothing to merge"),
        (
            ({}, {"branch": "side", "from": "main"}, {"merge": "side"}, {"merge": "side"}),
            "/commits/3/merge",
            "nothing to merge",
        ),
        (({"tag": "v1"}, {"tag": "v1"}), "/commits/1/tag", "stands on two commits"),
        (({"branch": "a"}, {"branch": "a/b", "from": "a"}), "/commits/1/branch", "a/b"),
        (({"branch": "a/b"}, {"branch": "a", "from": "a/b"}), "/commits/1/branch", "a"),
        (({"tag": "v"}, {"tag": "v/1"}), "/commits/1/tag", "v/1"),
    ],
)
def test_a_recipe_that_contradicts_itself_is_an_error_with_its_place(
    specs: tuple[dict[str, Any], ...], place: str, what: str, tmp_path: Path
) -> None:
    problem = problem_of(tmp_path / "r", *specs)
    assert problem.startswith(f"recipe: {place}: ")
    assert what in problem


@pytest.mark.parametrize(
    "date", ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00-12:00", "2026-02-03"]
)
def test_any_date_that_a_recipe_takes_is_one_that_git_takes(date: str, tmp_path: Path) -> None:
    git(built(tmp_path / "r", {"date": date}), "fsck", "--strict")


@pytest.mark.parametrize("path", ["GIT~1/config", ".g\u200cit/config", ".git /a", ".git./a", "a\\b", "git~2", "con"])
def test_any_path_that_a_recipe_takes_is_one_that_git_takes(path: str, tmp_path: Path) -> None:
    try:
        repository = built(tmp_path / "r", {"write": {path: "x"}})
    except InputError:
        return
    git(repository, "fsck", "--strict")


def test_a_part_is_rendered_as_often_as_it_says() -> None:
    parts = (Part(text="{{secret.a}}{{ secret.b }},", repeat=2), Part(data=b"\xff", repeat=3), Part(text="x", repeat=0))
    assert render(parts, {"a": "1", "b": "{{secret.a}}"}) == b"1{{secret.a}},1{{secret.a}},\xff\xff\xff"


def test_generated_lines_depend_on_their_seed_only_and_are_the_same_in_ten_years() -> None:
    one = render((Part(lines=50, seed="1"),), {})
    assert one == render((Part(lines=50, seed="1"),), {})
    assert one != render((Part(lines=50, seed="2"),), {})
    assert render((Part(lines=10, seed="1"),), {}) == b"".join(one.splitlines(keepends=True)[:10])
    assert one.splitlines()[0].decode() == "1: cache amount model filter request amount vector"


def test_a_large_file_is_built(tmp_path: Path) -> None:
    repository = built(tmp_path / "r", {"write": {"large": {"text": "0123456789", "repeat": 500_000}}})
    assert git(repository, "cat-file", "-s", "HEAD:large") == b"5000000\n"
