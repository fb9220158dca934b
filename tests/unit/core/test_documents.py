"""What the user names may be a pipe or a device: it is refused at once, wherever it is named."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.analysis.envelope import read_analysis
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.documents import DocumentError, named_path, parse_json, parse_toml, read_input, read_json
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.core.yaml_documents import parse_yaml
from gitleaks_eval.judges.dimensions.shipped import SHIPPED
from gitleaks_eval.judges.prompt import load_template
from gitleaks_eval.repositories.sources import read_sources
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scenarios.recipe import load_recipe
from gitleaks_eval.scenarios.scenario import load_scenario

NO_FILE = "cannot be read: it is a pipe, device or socket; name a file"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that nobody writes to; opened the usual way, it would hang the test."""
    path = tmp_path / f"{SHIPPED[0].dimension}.md"
    os.mkfifo(path)
    return path


def configuration(path: Path) -> object:
    return choose_configuration((str(path), path.parent, "--gitleaks-config"), path.parent, path.parent)


def extended(path: Path) -> object:
    named = path.parent / "named.toml"
    named.write_text(f"[extend]\npath = '{path}'\n", encoding="utf-8")
    return configuration(named)


READERS: dict[str, Callable[[Path], Any]] = {
    "the configuration": configuration,
    "[extend] path of": extended,
    "--gitleaks-baseline": lambda path: read_json(path, "--gitleaks-baseline"),
    "the list": lambda path: read_sources([f"@{path}"], path.parent),
    "ground truth": lambda path: load_scenario(path, path.parent),
    "recipe": load_recipe,
    "severity policy": load_policy,
    "the prompt of the judge": lambda path: load_template(SHIPPED[0], path.parent),
}


@pytest.mark.parametrize(("what", "read"), READERS.items(), ids=READERS)
def test_a_pipe_is_refused_at_once_and_named(what: str, read: Callable[[Path], Any], pipe: Path) -> None:
    with pytest.raises(InputError) as error:
        read(pipe)
    assert what in str(error.value)
    assert f"{pipe}: {NO_FILE}" in str(error.value)


def test_a_pipe_instead_of_an_analysis_is_an_error_of_its_scenario(pipe: Path) -> None:
    with pytest.raises(EvaluationError, match=NO_FILE):
        read_analysis(pipe)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_file(path: str) -> None:
    with pytest.raises(OSError, match="it is a pipe, device or socket"):
        read_input(Path(path))


def test_a_folder_is_refused_as_the_operating_system_does(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        read_input(tmp_path)


def test_a_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\n\0b" * 100_000)
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_input(tmp_path / "link") == b"a\r\n\0b" * 100_000


# --- documents that are made to exhaust whoever reads them

EXHAUSTING: dict[str, tuple[Callable[[bytes], Any], bytes, str]] = {
    "toml-arrays": (parse_toml, b"a=" + b"[" * 100_000, "more than 100 lists or objects in each other"),
    "toml-arrays-that-parse": (parse_toml, b"a=" + b"[" * 101 + b"]" * 101, "more than 100 lists or objects"),
    "toml-tables": (parse_toml, b"a=" + b"{a=" * 150 + b"1" + b"}" * 150, "more than 100 lists or objects"),
    "toml-integer": (parse_toml, b"a=" + b"1" * 1_000_000, "a number has thousands of digits"),
    "toml-size": (parse_toml, b"#" * (2 << 20), "it has more than 1 MiB"),
    "json-lists": (parse_json, b"[" * 100_000, "more than 100 lists or objects in each other"),
    "json-lists-that-parse": (parse_json, b"[" * 101 + b"]" * 101, "more than 100 lists or objects in each other"),
    "json-objects": (parse_json, b'{"a":' * 100_000, "more than 100 lists or objects in each other"),
    "json-integer": (parse_json, b"1" * 5_000_000, "a number has thousands of digits"),
    "yaml-lists": (parse_yaml, b"[" * 30_000, "line 1, column 100: more than 100 lists or mappings in each other"),
    "yaml-mappings": (parse_yaml, b"{a: " * 30_000, "more than 100 lists or mappings in each other"),
    "yaml-compact-lists": (parse_yaml, b"- " * 100_000, "more than 100 lists or mappings in each other"),
    "yaml-endless-alias": (parse_yaml, b"&a [*a]", "the alias 'a' stands in what it names"),
    "yaml-tag": (parse_yaml, b"a: !!int ''", "the tag 'tag:yaml.org,2002:int' is not supported; leave it out"),
    "yaml-size": (parse_yaml, b"#" * (9 << 20), "it has more than 8 MiB"),
}


@pytest.mark.parametrize(("parse", "content", "problem"), EXHAUSTING.values(), ids=EXHAUSTING)
def test_what_would_exhaust_its_reader_is_refused(parse: Callable[[bytes], Any], content: bytes, problem: str) -> None:
    with pytest.raises(DocumentError) as error:
        parse(content)
    assert problem in str(error.value)


def test_what_people_write_is_read() -> None:
    assert parse_json(b"[" * 100 + b"]" * 100)
    assert parse_yaml(b"a: &a {x: 1}\nb: [*a, *a]") == {"a": {"x": 1}, "b": [{"x": 1}] * 2}
    assert parse_yaml("a: \u00fc".encode("utf-16")) == {"a": "\u00fc"}
    assert parse_yaml(b"a: [12, 1.5, 2026-01-01]") == {"a": [12, 1.5, "2026-01-01"]}


def test_a_key_that_stands_twice_in_json_is_refused() -> None:
    with pytest.raises(DocumentError, match="the key 'a' stands twice in one object"):
        parse_json(b'{"b": [{"a": 1, "c": 2, "a": 1}]}')


def test_a_number_without_bounds_is_infinite_where_any_number_is_taken() -> None:
    digits = b"9" * 5000
    assert parse_json(b"[%s, -%s, 7]" % (digits, digits), any_number=True) == [math.inf, -math.inf, 7]


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="it has more than 1 MiB"):
        configuration(path)
    with pytest.raises(InputError, match="it has more than 8 MiB"):
        load_recipe(path)
    with pytest.raises(InputError, match="it has more than 8 MiB"):
        load_scenario(path, tmp_path)


TWICE: dict[str, Callable[[Path], Any]] = {
    "ground truth": lambda path: load_scenario(path, path),
    "analysis": read_analysis,
    "report": lambda path: read_json(path, "report"),
}


@pytest.mark.parametrize(("what", "read"), TWICE.items(), ids=TWICE)
def test_a_key_that_stands_twice_is_an_error_with_the_name_of_the_file(
    what: str, read: Callable[[Path], Any], tmp_path: Path
) -> None:
    path = tmp_path / "twice.json"
    path.write_text('{"data": {"total_secrets": 1, "total_secrets": 2}}', encoding="utf-8")
    with pytest.raises(EvaluationError, match=f"{what} .*twice.json: .*the key 'total_secrets' stands twice"):
        read(path)


# --- paths that nothing can have


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\0b", r"a\x00b: its name holds a NUL"),
        ("x" * 300, "File name too long"),
        ("x/" * 50_000, "File name too long"),
        ("circle/a", "Too many levels of symbolic links"),
        ("~nobody-has-this-name/a", "there is no such home folder"),
    ],
    ids=["nul", "long-part", "long", "circle", "home"],
)
def test_a_path_that_nothing_can_have_is_an_error_of_its_option(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(InputError) as error:
        named_path(text, tmp_path, "--gitleaks-output")
    assert str(error.value).startswith("--gitleaks-output: ")
    assert problem in str(error.value)
    assert len(str(error.value)) < 400


def test_a_path_where_nothing_is_yet_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert named_path("a/b", tmp_path, "") == tmp_path / "a" / "b"
    assert named_path("file/b", tmp_path, "") == tmp_path / "file" / "b"
    assert named_path("~", tmp_path, "") == Path.home()


@pytest.mark.parametrize(("length", "is_whole"), [(300, True), (301, False)])
def test_a_problem_of_a_schema_is_told_whole_or_with_its_begin_and_end(length: int, *, is_whole: bool) -> None:
    # The value stands between quotes and before what it should be.
    rest = " does not match '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'"
    value = "x" * (length - len(rest) - 2)
    (problem,) = schema_problems("judge_prices", {"as_of": value, "models": {}})
    assert problem.endswith(rest)
    assert (f"'{value}'" in problem) == is_whole
    assert (" … " in problem) != is_whole
