"""What is under test: names, products, tables of pyproject.toml, and what is refused on sight."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import BUILTIN
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.engine.settings.candidates import Candidate, Trial, read_candidates
from gitleaks_eval.engine.settings.settings import read_settings
from gitleaks_eval.scenarios.scenario import RealRepository

CONFIG = "[extend]\nuseDefault = true\n"


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITLEAKS_CONFIG", raising=False)


def root_of(folder: Path, ini: Mapping[str, Any] | None = None, **options: Any) -> Root:
    """The settings of a run in this folder; options are named without their prefix."""
    given = {f"gitleaks_{name}": value for name, value in options.items()}
    set_there = {f"gitleaks_{name}": value for name, value in (ini or {}).items()}
    return Root(folder, folder / "pytest.ini", set_there.get, given.get, folder)


def read(folder: Path, ini: Mapping[str, Any] | None = None, **options: Any) -> list[Candidate]:
    return list(read_candidates(root_of(folder, ini, **options)))


def names(folder: Path, **options: Any) -> list[str]:
    return [candidate.name for candidate in read(folder, **options)]


def configs(folder: Path, *paths: str) -> list[str]:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(CONFIG, encoding="utf-8")
    return list(paths)


def tables(folder: Path, text: str) -> list[Candidate]:
    (folder / "pyproject.toml").write_text(text.replace("[.", "[tool.gitleaks-eval.candidates."), encoding="utf-8")
    return read(folder, compare=True)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        tables(folder, text)
    return str(caught.value)


# --- options


def test_one_candidate_has_no_name_and_its_trials_are_named_as_before(tmp_path: Path) -> None:
    (alone,) = read(tmp_path)
    repository = RealRepository("cloned", "source", "source")
    assert alone.name == ""
    assert Trial("", repository).name == "cloned"
    assert Trial("8.30.1", repository).name == "8.30.1-cloned"


def test_versions_and_configurations_make_a_product_with_the_first_of_each_first(tmp_path: Path) -> None:
    paths = configs(tmp_path, "old.toml", "new.toml")
    versions = ["8.18.4", "v8.30.1", "betterleaks@1.4.0"]
    assert names(tmp_path, version=versions, config=paths) == [
        *("8.18.4-old.toml", "8.18.4-new.toml", "8.30.1-old.toml", "8.30.1-new.toml"),
        *("betterleaks@1.4.0-old.toml", "betterleaks@1.4.0-new.toml"),
    ]
    assert names(tmp_path, version=versions, config=paths[:1]) == ["8.18.4", "8.30.1", "betterleaks@1.4.0"]
    assert names(tmp_path, version=versions[:1], config=paths) == ["old.toml", "new.toml"]
    assert names(tmp_path, version=versions[:1], config=paths[:1]) == [""]


def test_a_version_names_its_scanner(tmp_path: Path) -> None:
    choices = [one.scanner for one in read(tmp_path, version=["8.30.1", "betterleaks@1.4.0"])]
    assert [(choice.scanner, choice.version) for choice in choices] == [
        ("gitleaks", "8.30.1"),
        ("betterleaks", "1.4.0"),
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["old.toml", "new.toml"], ["old.toml", "new.toml"]),
        (["base/.gitleaks.toml", "head/.gitleaks.toml"], ["base/.gitleaks.toml", "head/.gitleaks.toml"]),
        (["a/x/c.toml", "b/x/c.toml", "d.toml"], ["a/x/c.toml", "b/x/c.toml", "d.toml"]),
        (["builtin", "a/builtin"], ["builtin", "a/builtin"]),
        (["builtin", "strict.toml"], ["builtin", "strict.toml"]),
        (["one/../one/c.toml", "two/c.toml"], ["one/c.toml", "two/c.toml"]),
        (["space here.toml", "größe.toml"], ["space here.toml", "größe.toml"]),
    ],
)
def test_a_configuration_is_named_by_its_shortest_ending_that_is_unique(
    tmp_path: Path, paths: list[str], expected: list[str]
) -> None:
    (tmp_path / "one").mkdir()
    configs(tmp_path, *(path for path in paths if path != BUILTIN))
    assert names(tmp_path, config=paths) == expected


def test_a_path_that_is_the_end_of_another_takes_one_more_folder(tmp_path: Path) -> None:
    paths = configs(tmp_path, ".gitleaks.toml", "head/.gitleaks.toml")
    assert names(tmp_path, config=paths) == [f"{tmp_path.name}/.gitleaks.toml", "head/.gitleaks.toml"]


def test_the_reports_of_each_candidate_have_a_visible_folder_of_one_name(tmp_path: Path) -> None:
    configs(tmp_path, "base/.gitleaks.toml", "head/.gitleaks.toml")
    read_ones = read(tmp_path, config=["base/.gitleaks.toml", "head/.gitleaks.toml"])
    assert [one.folder for one in read_ones] == ["base-gitleaks.toml", "head-gitleaks.toml"]
    named = ["a/b", "a-b", ".A/b", ".analysis", "größe ß", "..x", "-", "n" * 300, "-v"]
    found = [one.folder for one in tables(tmp_path, "".join(f"[.'{name}']\n" for name in named))]
    assert found == ["a-b", "a-b-2", "A-b-3", "analysis-2", "größe-ß", "x", "candidate", "n" * 60, "v"]
    assert [one.folder for one in read(tmp_path)] == [""]


@pytest.mark.parametrize(
    "options",
    [
        {"version": ["8.30.1", "v8.30.1"]},
        {"version": ["8.30.1", "gitleaks@8.30.1"]},
        {"config": ["c.toml", "./c.toml"]},
        {"config": [BUILTIN, BUILTIN]},
    ],
)
def test_the_same_candidate_twice_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    configs(tmp_path, "c.toml")
    with pytest.raises(InputError, match=r"two candidates are the same: .*; name each version and each"):
        read(tmp_path, **options)


def test_an_unknown_scanner_lists_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--gitleaks-version 'trufflehog@3\.1\.0'.*gitleaks, betterleaks"):
        read(tmp_path, version=["8.30.1", "trufflehog@3.1.0"])


@pytest.mark.parametrize("version", ["9", "latest", "8.30", "betterleaks@8", "@8.30.1", "gitleaks@"])
def test_what_is_no_version_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(InputError, match="--gitleaks-version"):
        read(tmp_path, version=[version])


def test_a_binary_beside_a_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--gitleaks-version 8\.18\.4 8\.30\.1: .* leave one of the two out"):
        read(tmp_path, binary="gitleaks", version=["8.18.4", "8.30.1"])


def test_the_command_line_goes_before_the_ini_file(tmp_path: Path) -> None:
    there = {"version": "8.16.0"}
    assert [one.scanner.version for one in read(tmp_path, there)] == ["8.16.0"]
    assert [one.scanner.version for one in read(tmp_path, there, version=["8.18.4", "8.30.1"])] == ["8.18.4", "8.30.1"]


@pytest.mark.parametrize("name", ["c[1].toml", "a:b.toml", "line\nend.toml", "back\\slash.toml"])
def test_a_configuration_whose_name_can_be_no_folder_or_test_id_is_refused(tmp_path: Path, name: str) -> None:
    paths = configs(tmp_path, name, "other.toml")
    with pytest.raises(InputError, match="its name is a folder and part of a test's id; rename it"):
        read(tmp_path, config=paths)
    assert names(tmp_path, config=paths[:1]) == [""]


# --- tables


def test_each_key_of_a_table_is_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    configs(tmp_path, "conf/strict.toml")
    binary = tmp_path / "bin/leaks"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\n", encoding="utf-8")
    binary.chmod(0o755)
    first, second, third = tables(
        tmp_path,
        """
        [.ours]
        binary = "bin/leaks"
        config = "conf/strict.toml"
        decode_depth = 0
        mode = "dir"
        [.better]
        scanner = "betterleaks"
        version = "v1.4.0"
        config = "builtin"
        [.plain]
        """,
    )
    assert (first.name, first.scanner.binary, first.decode_depth, first.mode) == ("ours", binary, 0, "dir")
    assert first.configuration
    assert [file.path for file in first.configuration.chain] == [tmp_path / "conf/strict.toml"]
    assert (second.name, second.scanner.scanner, second.scanner.version) == ("better", "betterleaks", "1.4.0")
    assert (second.decode_depth, second.mode, second.configuration and second.configuration.chain) == (None, "git", ())
    assert (third.scanner.scanner, third.scanner.version, third.scanner.binary) == ("gitleaks", None, None)


def test_the_baseline_comes_first_by_its_mark_else_by_its_place(tmp_path: Path) -> None:
    text = '[.old]\nversion = "8.16.0"\n[.new]\nversion = "8.30.1"\n'
    assert [one.name for one in tables(tmp_path, text)] == ["old", "new"]
    assert [one.name for one in tables(tmp_path, f"{text}baseline = true\n")] == ["new", "old"]
    assert [one.name for one in tables(tmp_path, f"{text}baseline = false\n")] == ["old", "new"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[.a]\nbaseline = true\n[.b]\nbaseline = true\n", "a and b are both the baseline; mark one"),
        (
            "[.a]\nverison = '8.30.1'\n",
            "unknown key 'verison'; there are args, baseline, binary, config, decode_depth, mode",
        ),
        ("[.a]\nversion = 8\n", "version = 8 is not a str"),
        ("[.a]\nversion = '8'\n", "'8': not a version of Gitleaks"),
        ("[.a]\nscanner = 'trufflehog'\n", "'trufflehog' is no scanner that is known; write one of gitleaks, betterl"),
        ("[.a]\nscanner = 'betterleaks'\n", "name the version of betterleaks, or a binary"),
        ("[.a]\nbaseline = 'yes'\n", "baseline = 'yes' is not a bool"),
        ("[.a]\nbaseline = 1\n", "baseline = 1 is not a bool"),
        ("[.a]\ndecode_depth = '1'\n", "decode_depth = '1' is not a int"),
        ("[.a]\ndecode_depth = true\n", "decode_depth = True is not a int"),
        ("[.a]\ndecode_depth = -1\n", "decode_depth -1 is below zero"),
        ("[.a]\ndecode_depth = 101\n", "decode_depth is above 100"),
        ("[.a]\ndecode_depth = 99999999999999999999\n", "decode_depth is above 100"),
        ("[.a]\nmode = 'files'\n", "mode 'files': there are git, dir, staged"),
        ("[.a]\nconfig = ['x.toml']\n", "config = ['x.toml'] is not a str"),
        ("[.a]\nconfig = 'none.toml'\n", "none.toml"),
        ("[.a]\nbinary = 'none'\n", "none"),
        ("[.a]\nbinary = 'none'\nversion = '8.30.1'\n", "version beside binary"),
        ("[.A]\n[.a]\n", "two candidates have one name: A; rename one"),
        ("[.'../a']\n", "the candidate '../a': its name is a folder"),
        ("[.'/a']\n", "the candidate '/a': its name is a folder"),
        ("[.'']\n[.a]\n", "the candidate '': "),
        ("[.'a[1]']\n", "the candidate 'a[1]': its name"),
        ("[.'a:b']\n", "the candidate 'a:b': its name"),
        ('[."a\\tb"]\n', "the candidate 'a\\tb': its name"),
        ("[.analysis]\n", "has something of that name already"),
        ("[.Partial]\n", "has something of that name already"),
        ("[.'comparison.json']\n", "has something of that name already"),
        ("[.'.gitignore']\n", "has something of that name already"),
        ("[tool.gitleaks-eval]\ncandidates = 3\n", "has no [tool.gitleaks-eval.candidates.<name>] table"),
        ("[tool.gitleaks-eval.candidates]\n", "has no [tool.gitleaks-eval.candidates.<name>] table"),
        ("[tool]\ngitleaks-eval = 3\n", "has no [tool.gitleaks-eval.candidates.<name>] table"),
        ("[tool.gitleaks-eval.candidates]\na = 3\n", "candidates.a]: is no table"),
        ("[tool.gitleaks-eval\n", "pyproject.toml is not TOML"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(tmp_path: Path, text: str, part: str) -> None:
    message = refusal(tmp_path, text)
    assert part in message
    assert "pyproject.toml" in message or "the candidate" in message


def test_a_pyproject_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not TOML"):
        read(tmp_path, compare=True)


def test_without_a_pyproject_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--gitleaks-compare: there is no .*pyproject\.toml with"):
        read(tmp_path, compare=True)


@pytest.mark.parametrize("option", [{"version": ["8.30.1"]}, {"config": ["builtin"]}, {"binary": "gitleaks"}])
def test_compare_beside_an_option_that_it_would_ignore_is_refused(tmp_path: Path, option: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"the candidates say what is compared beside --gitleaks-compare"):
        read(tmp_path, compare=True, **option)


def test_compare_beside_analyses_is_refused_because_nothing_is_scanned(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--gitleaks-compare: nothing is scanned beside --gitleaks-analysis"):
        read_settings(root_of(tmp_path, compare=True, analysis="."))


def test_one_table_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one candidate alone is compared with nothing"):
        read_settings(_one_table(tmp_path))


def _one_table(folder: Path) -> Root:
    (folder / "pyproject.toml").write_text("[tool.gitleaks-eval.candidates.a]\n", encoding="utf-8")
    return root_of(folder, compare=True)


def test_what_fails_a_comparison_is_review_or_regression(tmp_path: Path) -> None:
    assert read_settings(root_of(tmp_path)).accepts_review
    assert not read_settings(root_of(tmp_path, fail_on="review")).accepts_review
    assert read_settings(root_of(tmp_path, fail_on="regression")).accepts_review
    with pytest.raises(InputError, match="--gitleaks-fail-on 'never': there are review and regression"):
        read_settings(root_of(tmp_path, fail_on="never"))


# --- flags of the scanner


def test_flags_are_read_from_options_ini_file_and_tables_and_name_candidates(tmp_path: Path) -> None:
    two = ["", '--max-archive-depth 2 --log-opts="--all -m"']
    assert names(tmp_path, config=[BUILTIN], args=two) == ["no-args", "max-archive-depth-2-log-opts=-all-m"]
    (one,) = read(tmp_path, ini={"args": two[1]}, config=[BUILTIN])
    assert (one.name, one.args) == ("", ("--max-archive-depth", "2", "--log-opts=--all -m"))
    assert one.options == ["args --max-archive-depth 2 '--log-opts=--all -m'"]
    (hook,) = tables(tmp_path, "[.hook]\nconfig = 'builtin'\nmode = 'staged'\nargs = '--max-archive-depth=1'\n")
    assert (hook.mode, hook.args) == ("staged", ("--max-archive-depth=1",))
    assert hook.options == ["mode staged", "args --max-archive-depth=1"]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("args = '-c other.toml'", "[tool.gitleaks-eval.candidates.a] args '-c other.toml': -c is not passed on"),
        ("args = ['--x']", "args = ['--x'] is not a str"),
        ("mode = 'dir'\nargs = '--log-opts=-m'", "which mode dir does not read"),
        ("decode_depth = 1\nargs = '--max-decode-depth 2'", "decode_depth beside --max-decode-depth in args"),
    ],
)
def test_flags_of_a_table_that_cannot_be_meant_are_refused(tmp_path: Path, table: str, problem: str) -> None:
    assert problem in refusal(tmp_path, f"[.a]\nconfig = 'builtin'\n{table}\n")


@pytest.mark.parametrize(
    ("version", "file", "taken"),
    [
        ("8.30.1", ".gitleaks.toml", "GITLEAKS_CONFIG_TOML"),
        ("8.18.4", ".gitleaks.toml", ".gitleaks.toml"),
        ("betterleaks@1.4.0", ".betterleaks.toml", ".betterleaks.toml"),
        ("8.30.1", ".betterleaks.toml", BUILTIN),
    ],
)
def test_the_default_is_what_this_scanner_takes_in_production(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, file: str, taken: str
) -> None:
    configs(tmp_path, file)
    if file == ".gitleaks.toml":
        monkeypatch.setenv("GITLEAKS_CONFIG_TOML", CONFIG)
    (one,) = read(tmp_path, version=[version])
    assert one.configuration
    assert one.configuration.title(tmp_path).partition(" ")[0] == taken
