"""Recipes: YAML in, a value out, and each mistake named with its place."""

import json
import textwrap
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import gitleaks_eval.scenarios.recipe
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.scenarios.recipe import Part, Recipe, load_recipe, parse_recipe
from gitleaks_eval.scenarios.secrets import secret_kinds

COMMIT = {"message": "m", "author": "A <a@example.com>", "date": "2026-01-01T00:00:00Z"}
SOURCE = "recipe test.yaml"


def parsed(document: object) -> Recipe:
    return parse_recipe(json.dumps(document).encode(), SOURCE)


def with_commit(**keys: Any) -> dict[str, Any]:
    return {"commits": [{**COMMIT, **keys}]}


def problem_of(document: object) -> str:
    with pytest.raises(InputError) as error:
        parsed(document)
    return str(error.value)


def yaml_problem(text: str) -> str:
    with pytest.raises(InputError) as error:
        parse_recipe(textwrap.dedent(text).encode(), SOURCE)
    return str(error.value)


def parts_of(content: Any, **secrets: Any) -> tuple[Part, ...]:
    recipe = parsed({"secrets": secrets, **with_commit(write={"a": content})})
    return recipe.commits[0].write[b"a"]


@pytest.mark.parametrize("suite", ["", "edge"])
def test_the_shipped_recipes_load(suite: str) -> None:
    paths = sorted((shipped_data("synthetic_repos") / suite).glob("*.yaml"))
    assert all(load_recipe(path) for path in paths)
    assert suite or len(paths) == 9


def test_a_whole_recipe_becomes_a_value() -> None:
    recipe = parse_recipe(
        textwrap.dedent(
            r"""
            description: what it is for
            secrets:
              one: { kind: github-pat, seed: 7 }
              two: { pattern: 'acme_[a-z]{4}', seed: seven }
            commits:
              - message: First
                author: A <a@example.com>
                date: 2026-01-01T00:00:00Z
                tag: v1.0
                write:
                  a.txt: "x {{secret.one}} y\n"
                  b.bin: { bytes: "00 ff" }
                  c.txt: [{ text: "head\n" }, { lines: 3, seed: 1 }, { text: "tail\n", repeat: 2 }]
                symlink: { link: a.txt }
              - message: Second
                author: A <a@example.com>
                date: 2026-01-02T00:00:00+02:00
                branch: side
                from: main
                rename: { a.txt: d.txt }
                delete: [b.bin]
              - message: Third
                author: A <a@example.com>
                date: 2026-01-03
                merge: side
            """
        ).encode(),
        SOURCE,
    )
    assert [secret.pattern for secret in recipe.secrets.values()] == [
        secret_kinds()["github-pat"].pattern,
        "acme_[a-z]{4}",
    ]
    assert [secret.seed for secret in recipe.secrets.values()] == ["7", "seven"]
    first, second, third = recipe.commits
    assert (first.message, first.author, first.branch, first.tag) == ("First", "A <a@example.com>", "main", "v1.0")
    assert dict(first.write) == {
        b"a.txt": (Part(text="x {{secret.one}} y\n"),),
        b"b.bin": (Part(data=b"\x00\xff"),),
        b"c.txt": (Part(text="head\n"), Part(lines=3, seed="1"), Part(text="tail\n", repeat=2)),
    }
    assert dict(first.symlink) == {b"link": b"a.txt"}
    assert (second.branch, second.start, dict(second.rename), second.delete) == (
        "side",
        "main",
        {b"a.txt": b"d.txt"},
        (b"b.bin",),
    )
    assert second.date == datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert (third.merge, third.date) == ("side", datetime(2026, 1, 3, tzinfo=timezone.utc))


def test_a_recipe_may_have_no_commits() -> None:
    assert parsed({"commits": []}) == Recipe({}, ())


def test_paths_are_bytes_and_an_escape_is_one_byte_of_a_name() -> None:
    recipe = parsed(
        with_commit(write={r"caf\xE9": "", "café": "", r"a\x5cxE9": ""}, delete=[r"\x80"], symlink={r"\xff": r"\xfe"})
    )
    assert list(recipe.commits[0].write) == [b"caf\xe9", b"caf\xc3\xa9", rb"a\xE9"]
    assert recipe.commits[0].delete == (b"\x80",)
    assert dict(recipe.commits[0].symlink) == {b"\xff": b"\xfe"}


@pytest.mark.parametrize(
    "path", ["a b", "a'b", 'a"b', "a\nb", "a\tb", "-", "--help", "...", ".gitignore", ".gitattributes", "git/a", "C:a"]
)
def test_odd_file_names_are_taken(path: str) -> None:
    assert list(parsed(with_commit(write={path: ""})).commits[0].write) == [path.encode()]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "absolute"),
        ("\\windows", "absolute"),
        ("C:\\a", "absolute"),
        ("c:/a", "absolute"),
        ("..", "leaves the repository"),
        ("../a", "leaves the repository"),
        ("a/../b", "leaves the repository"),
        ("a/..", "leaves the repository"),
        (".git", "goes into .git"),
        (".git/config", "goes into .git"),
        (".GIT/hooks/x", "goes into .git"),
        ("sub/.git/config", "goes into .git"),
        ("GIT~1/config", "goes into .git"),
        (".g\u200cit/config", "goes into .git"),
        ("", "empty part"),
        ("a//b", "empty part"),
        ("a/", "empty part"),
        ("./a", "a `.`"),
        ("a/.", "a `.`"),
        ("a\0b", "NUL"),
        (r"\x2e\x2e/a", "leaves the repository"),
        (r"\x2fetc", "absolute"),
        (r"\x2egit/a", "goes into .git"),
        (r"a\x00b", "NUL"),
    ],
)
def test_a_path_that_no_repository_may_hold_is_an_error_with_its_place(path: str, why: str) -> None:
    for key, value in (
        ("write", {path: ""}),
        ("symlink", {path: "a"}),
        ("rename", {path: "a"}),
        ("rename", {"a": path}),
        ("delete", [path]),
    ):
        problem = problem_of(with_commit(**{key: value}))
        assert problem.startswith(f"{SOURCE}: /commits/0/{key}/")
        assert why in problem


@pytest.mark.parametrize(
    ("document", "pointer", "what"),
    [
        ([], "/", "'object'"),
        (None, "/", "'object'"),
        ({}, "/", "'commits' is a required property"),
        ({"commits": [], "extra": 1}, "/", "'extra' was unexpected"),
        ({"commits": {}}, "/commits", "'array'"),
        ({"commits": [COMMIT, {**COMMIT, "massage": "x"}]}, "/commits/1", "'massage' was unexpected"),
        ({"commits": [{"author": "A <a>", "date": "2026-01-01"}]}, "/commits/0", "'message' is a required property"),
        (with_commit(author="nobody"), "/commits/0/author", "does not match"),
        (with_commit(author="A <a> B <b>"), "/commits/0/author", "does not match"),
        (with_commit(message=1), "/commits/0/message", "is not of type 'string'"),
        (with_commit(branch="a..b"), "/commits/0/branch", "does not match"),
        (with_commit(branch="-a"), "/commits/0/branch", "does not match"),
        (with_commit(branch="../x"), "/commits/0/branch", "does not match"),
        (with_commit(tag="a b"), "/commits/0/tag", "does not match"),
        (with_commit(write={"a": 1}), "/commits/0/write/a", "is not of type"),
        (with_commit(write={"a/b~c": 1}), "/commits/0/write/a~1b~0c", "is not of type"),
        (with_commit(write={"a": {}}), "/commits/0/write/a", ""),
        (with_commit(write={"a": {"txt": "x"}}), "/commits/0/write/a", "'txt' was unexpected"),
        (with_commit(write={"a": [1]}), "/commits/0/write/a/0", "is not of type"),
        (with_commit(write={"a": {"bytes": "0"}}), "/commits/0/write/a/bytes", "does not match"),
        (with_commit(write={"a": {"bytes": "xx"}}), "/commits/0/write/a/bytes", "does not match"),
        (with_commit(write={"a": {"lines": 0, "seed": 1}}), "/commits/0/write/a/lines", "minimum"),
        (with_commit(write={"a": {"text": "x", "repeat": -1}}), "/commits/0/write/a/repeat", "minimum"),
        (with_commit(write={"a": {"text": "x", "lines": 1, "seed": 1}}), "/commits/0/write/a", "exactly one of"),
        (with_commit(write={"a": ["x", {"repeat": 2}]}), "/commits/0/write/a/1", "exactly one of"),
        (with_commit(write={"a": {"lines": 1}}), "/commits/0/write/a", "`lines` and `seed` go together"),
        (with_commit(write={"a": {"text": "x", "seed": 1}}), "/commits/0/write/a", "`lines` and `seed` go together"),
        (with_commit(write={"a": "{{secret.nope}}"}), "/commits/0/write/a", "unknown secret 'nope'"),
        (with_commit(symlink={"a": ""}), "/commits/0/symlink/a", ""),
        (with_commit(delete="a"), "/commits/0/delete", "'array'"),
        ({"commits": [], "secrets": {"a": {}}}, "/secrets/a", "'seed' is a required property"),
        ({"commits": [], "secrets": {"a": {"seed": 1}}}, "/secrets/a", "either `kind` or `pattern`"),
        (
            {"commits": [], "secrets": {"a": {"seed": 1, "kind": "jwt", "pattern": "x"}}},
            "/secrets/a",
            "either `kind` or `pattern`",
        ),
        ({"commits": [], "secrets": {"a": {"seed": 1, "kind": "jvt"}}}, "/secrets/a/kind", "unknown kind 'jvt'; known"),
        ({"commits": [], "secrets": {"a": {"seed": 1.5, "kind": "x"}}}, "/secrets/a/seed", "is not of type"),
        ({"commits": [], "secrets": {"a b": {"seed": 1, "kind": "x"}}}, "/secrets", "does not match"),
        ({"commits": [], "secrets": {"a": {"seed": 1, "pattern": "ab+"}}}, "/secrets/a/pattern", "character 3:"),
        ({"commits": [], "secrets": {"a": {"seed": 1, "pattern": ""}}}, "/secrets/a/pattern", ""),
        ({"commits": [], "secrets": {"a": {"seed": 1, "pattern": "()"}}}, "/secrets/a/pattern", "its value is empty"),
    ],
)
def test_a_mistake_is_an_error_with_its_json_pointer(document: object, pointer: str, what: str) -> None:
    problem = problem_of(document)
    assert f"{SOURCE}: {pointer}: " in problem
    assert what in problem


@pytest.mark.parametrize(
    "date",
    [
        "yesterday",
        "2026-13-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "2026-01-01T25:00:00Z",
        "",
        # Valid ISO 8601 that no git commit can hold: before 1970 in UTC, and an offset with seconds.
        "1970-01-01T00:00:00+05:00",
        "2026-01-01T00:00:00+01:30:15",
    ],
)
def test_a_date_that_git_cannot_hold_is_an_error_with_its_place(date: str) -> None:
    assert problem_of(with_commit(date=date)).startswith(f"{SOURCE}: /commits/0/date: ")


@pytest.mark.parametrize(
    ("date", "instant"),
    [
        ("2026-01-01T09:00:00Z", 1_767_258_000),
        ("2026-01-01T09:00:00z", 1_767_258_000),
        ("2026-01-01T09:00:00", 1_767_258_000),
        ("2026-01-01 09:00:00+00:00", 1_767_258_000),
        ("2026-01-01T10:00:00+01:00", 1_767_258_000),
        ("2026-01-01", 1_767_225_600),
        ("1970-01-01T00:00:00Z", 0),
    ],
)
def test_a_date_without_an_offset_is_in_utc(date: str, instant: int) -> None:
    assert parsed(with_commit(date=date)).commits[0].date.timestamp() == instant


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("author", "A <a@example.com>\n"),
        ("author", "A\0 <a@example.com>"),
        ("branch", "side\n"),
        ("tag", "v1\n"),
        ("branch", "side.lock"),
        ("message", "a\0b"),
    ],
)
def test_what_git_would_call_corrupt_is_an_error_with_its_place(key: str, value: str) -> None:
    assert f"{SOURCE}: /commits/0/{key}: " in problem_of(with_commit(**{key: value}))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (with_commit(message="\udce9"), "/commits/0/message"),
        (with_commit(author="\udce9 <a@example.com>"), "/commits/0/author"),
        (with_commit(write={"a": "\udce9"}), "/commits/0/write/a"),
        (with_commit(write={"a": [{"text": "\ud800"}]}), "/commits/0/write/a/0"),
        (with_commit(write={"\ud800": ""}), "/commits/0/write/"),
        (with_commit(delete=["\udce9"]), "/commits/0/delete/0"),
        (with_commit(write={"a": {"lines": 1, "seed": "\udce9"}}), "/commits/0/write/a"),
        (with_commit(symlink={"a": "\ud800"}), "/commits/0/symlink/a"),
        ({"commits": [], "secrets": {"a": {"kind": "github-pat", "seed": "\udce9"}}}, "/secrets/a"),
        ({"commits": [], "secrets": {"a": {"pattern": "x{2}", "seed": "\udce9"}}}, "/secrets/a"),
        ({"commits": [], "secrets": {"a": {"pattern": "\udce9", "seed": 1}}}, "/secrets/a/pattern"),
        ({"commits": [], "secrets": {"a": {"pattern": "[\ud7ff-\ue000]{9}", "seed": 1}}}, "/secrets/a/pattern"),
    ],
)
def test_a_lone_surrogate_is_an_error_with_its_place_whichever_parser_reads_it(
    document: object, pointer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # PyYAML's parser in C takes no lone surrogate; the one in Python, used where there is no libyaml, does.
    monkeypatch.setattr(gitleaks_eval.scenarios.recipe, "parse_yaml", json.loads)
    assert problem_of(document).startswith(f"{SOURCE}: {pointer}")


@pytest.mark.parametrize("key", ["message", "author", "branch"])
def test_a_lone_surrogate_in_yaml_is_an_error(key: str) -> None:
    assert problem_of(with_commit(**{key: "\udce9"})).startswith(SOURCE)


def test_no_error_holds_a_control_or_a_surrogate_that_a_terminal_would_obey() -> None:
    for path in ("../\x1b[31m", "/\x9b", "../\u202e"):
        assert problem_of(with_commit(write={path: ""})).isprintable()


def test_a_secret_of_a_users_own_pattern_is_taken() -> None:
    recipe = parsed({"commits": [], "secrets": {"a": {"pattern": "acme_[a-z0-9]{32}", "seed": 1}}})
    assert recipe.secrets["a"].value.startswith("acme_")
    assert len(recipe.secrets["a"].value) == 37


@pytest.mark.parametrize("text", ["{{secret.a}}", "{{ secret.a }}", "x{{  secret.a}}{{secret.a  }}y"])
def test_a_placeholder_may_have_spaces(text: str) -> None:
    assert parts_of(text, a={"kind": "github-pat", "seed": 1}) == (Part(text=text),)


@pytest.mark.parametrize("text", ["{{other.a}}", "{secret.a}", "{{secret}}", "{{ }}"])
def test_what_only_looks_like_a_placeholder_is_text(text: str) -> None:
    assert parts_of(text) == (Part(text=text),)


def test_yaml_that_does_not_parse_is_an_error_with_line_and_column() -> None:
    assert f"{SOURCE}: not YAML: line 3, column 1: " in yaml_problem("commits:\n  - {message: [\n}")
    assert "line 2, column 1: " in yaml_problem("a: b\n\tc: d\n")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("commits: []\ncommits: []\n", "line 2, column 1: the key 'commits' stands here twice"),
        ("commits: []\nsecrets: {1: {}}\n", "line 2, column 11: the key 1 is no text; put it in quotes"),
        ("commits: []\nyes: 1\n", "line 2, column 1: the key True is no text"),
    ],
)
def test_a_key_that_stands_twice_or_is_no_text_is_an_error(text: str, what: str) -> None:
    assert what in yaml_problem(text)


@pytest.mark.parametrize(
    "text", ["!!python/object/apply:os.getcwd []", "commits: !!python/name:os.system", "a: &a [*a]", "\x00", "- [", ""]
)
def test_yaml_that_is_no_plain_data_is_an_error(text: str) -> None:
    assert yaml_problem(text).startswith(SOURCE)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"commits: [\x80]", b"[" * 5000])
def test_bytes_that_are_no_yaml_are_an_error(content: bytes) -> None:
    with pytest.raises(InputError, match="not YAML"):
        parse_recipe(content, SOURCE)


def test_a_recipe_that_is_missing_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"recipe .*nope\.yaml: this file is missing; write it"):
        load_recipe(tmp_path / "nope.yaml")


def test_a_recipe_that_is_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        load_recipe(tmp_path)


def test_five_problems_are_shown_at_most() -> None:
    problem = problem_of({"commits": [{}] * 10})
    assert len(problem.splitlines()) == 5


@pytest.mark.parametrize(
    "content",
    [
        {"text": "x" * 1000, "repeat": 100_000_000},
        {"bytes": "00" * 11, "repeat": 100_000_000},
        [{"lines": 1_000_000, "seed": "s", "repeat": 11}],
        [{"text": "{{secret.long}}" * 1000, "repeat": 1000}] * 11,
    ],
)
def test_a_recipe_that_would_write_too_much_is_refused_before_anything_is_built(content: Any) -> None:
    document = {
        "secrets": {"long": {"pattern": "a{100}", "seed": 1}},
        "commits": [{"message": "m", "author": "A <a@example.com>", "date": "2026-01-01", "write": {"a": content}}],
    }
    with pytest.raises(InputError, match="/commits: they write more than 1024 MiB in all; write less"):
        parse_recipe(json.dumps(document).encode(), "recipe")


def test_a_recipe_with_too_many_secrets_is_refused() -> None:
    secrets = {f"s{number}": {"pattern": "a", "seed": 1} for number in range(1001)}
    with pytest.raises(InputError, match="/secrets: "):
        parse_recipe(json.dumps({"commits": [], "secrets": secrets}).encode(), "recipe")
