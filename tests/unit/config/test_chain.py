"""The configuration under test: which one is taken, what it extends, and the copy a scanner is given."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import BUILTIN_CONTENT, Configuration, copy_configuration
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.scanners import GITLEAKS, SCANNERS, Sources
from gitleaks_eval.scanners.build import ScannerChoice, configuration_sources
from gitleaks_eval.scanners.configuration import choose_configuration

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULES = "[[rules]]\nid = 'own'\nregex = 'own_[a-z]{8}'\n"
DEFAULT = "[extend]\nuseDefault = true\n"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for sources in (adapter.sources for adapter in SCANNERS.values()):
        for name in (*sources.paths, *sources.contents):
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def invocation(tmp_path: Path) -> Path:
    path = tmp_path / "invocation"
    path.mkdir()
    return path


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def extending(target: object) -> str:
    return f"[extend]\npath = '{target}'\n"


def chosen(path: Path, invocation: Path | None = None) -> Configuration:
    return choose_configuration((str(path), path.parent, "--gitleaks-config"), path.parent, invocation or path.parent)


def problem_of(path: Path) -> str:
    with pytest.raises(InputError) as error:
        chosen(path)
    return str(error.value)


def paths(configuration: Configuration) -> list[Path]:
    return [file.path for file in configuration.chain]


def parsed(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


# --- which one


def test_the_named_one_goes_before_the_environment_and_the_file_in_rootdir(
    root: Path, invocation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / ".gitleaks.toml", RULES)
    write(invocation / "environment.toml", RULES)
    named = write(root / "named.toml", RULES)
    monkeypatch.setenv("GITLEAKS_CONFIG", "environment.toml")
    configuration = choose_configuration(("named.toml", root, "--gitleaks-config"), root, invocation)
    assert (paths(configuration), configuration.why) == ([named], "--gitleaks-config")


def test_the_environment_goes_before_the_file_in_rootdir_and_is_relative_to_the_invocation(
    root: Path, invocation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / ".gitleaks.toml", RULES)
    write(root / "environment.toml", RULES)
    wanted = write(invocation / "environment.toml", RULES)
    monkeypatch.setenv("GITLEAKS_CONFIG", "environment.toml")
    configuration = choose_configuration(None, root, invocation)
    assert (paths(configuration), configuration.why) == ([wanted], "GITLEAKS_CONFIG")


def test_an_empty_environment_variable_names_nothing(
    root: Path, invocation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLEAKS_CONFIG", "")
    assert choose_configuration(None, root, invocation).chain == ()


def test_the_file_in_rootdir_goes_before_the_scanners_own_rules(root: Path, invocation: Path) -> None:
    wanted = write(root / ".gitleaks.toml", RULES)
    write(invocation / ".gitleaks.toml", RULES)
    configuration = choose_configuration(None, root, invocation)
    assert (paths(configuration), configuration.why) == ([wanted], "found in rootdir")


def test_a_link_to_nothing_in_rootdir_is_an_error_and_not_the_scanners_own_rules(root: Path, invocation: Path) -> None:
    (root / ".gitleaks.toml").symlink_to("nowhere.toml")
    with pytest.raises(InputError, match=r"rootdir: the configuration .*gitleaks.toml is a link to what is not"):
        choose_configuration(None, root, invocation)


def test_without_any_it_is_the_scanners_own(root: Path, invocation: Path) -> None:
    write(invocation / ".gitleaks.toml", RULES)
    configuration = choose_configuration(None, root, invocation)
    assert (configuration.chain, configuration.why) == ((), "no .gitleaks.toml in rootdir")
    assert configuration.title(root) == "builtin"


def test_builtin_names_the_scanners_own_whatever_stands_in_rootdir(root: Path, invocation: Path) -> None:
    write(root / ".gitleaks.toml", RULES)
    configuration = choose_configuration(("builtin", root, "gitleaks_config"), root, invocation)
    assert (configuration.chain, configuration.why) == ((), "gitleaks_config")


def test_the_content_of_a_variable_is_taken_by_its_name_and_extends_from_the_invocation(
    root: Path, invocation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = write(invocation / "base.toml", RULES)
    write(root / ".gitleaks.toml", RULES)
    monkeypatch.setenv("GITLEAKS_CONFIG_TOML", extending("base.toml"))
    configuration = choose_configuration(None, root, invocation)
    assert paths(configuration) == [Path("GITLEAKS_CONFIG_TOML"), base]
    assert configuration.why == "content of a variable"
    assert configuration.title(invocation) == "GITLEAKS_CONFIG_TOML > base.toml"
    same = chosen(write(tmp_path / "same.toml", extending("base.toml")), invocation)
    assert configuration.sha256 == same.sha256
    (tmp_path / "copy").mkdir()
    assert parsed(copy_configuration(configuration, tmp_path / "copy"))["extend"]["path"].endswith("config-1.toml")


@pytest.mark.parametrize(("content", "problem"), [("a = ", "is not TOML"), ("title = 'x'", "has no rules")])
def test_what_is_wrong_with_the_content_of_a_variable_is_said_by_its_name(
    root: Path, monkeypatch: pytest.MonkeyPatch, content: str, problem: str
) -> None:
    monkeypatch.setenv("GITLEAKS_CONFIG_TOML", content)
    with pytest.raises(InputError, match=f"^content of a variable: .*GITLEAKS_CONFIG_TOML {problem}"):
        choose_configuration(None, root, root)


def test_a_variable_goes_before_the_next_in_the_order_of_the_scanner(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = []
    files = (".betterleaks.toml", ".gitleaks.toml")
    for name in files:
        write(root / name, RULES)
        expected.append((name, "found in rootdir"))
    for name in ("GITLEAKS_CONFIG_TOML", "BETTERLEAKS_CONFIG_TOML"):
        monkeypatch.setenv(name, RULES)
        expected.insert(-2 if name.startswith("G") else 0, (name, "content of a variable"))
    for name in ("GITLEAKS_CONFIG", "BETTERLEAKS_CONFIG"):
        monkeypatch.setenv(name, f"{name}.toml")
        write(root / f"{name}.toml", RULES)
        expected.insert(0, (f"{name}.toml", name))
    for title, why in expected:
        configuration = choose_configuration(None, root, root, lambda: SCANNERS["betterleaks"].sources)
        assert (configuration.title(root), configuration.why) == (title, why)
        (root / title).unlink(missing_ok=True)
        for variable in (title, title.removesuffix(".toml")):
            monkeypatch.delenv(variable, raising=False)
    left = choose_configuration(None, root, root, lambda: SCANNERS["betterleaks"].sources)
    assert (left.chain, left.why) == ((), "no .gitleaks.toml in rootdir")


@pytest.mark.parametrize("git", ["folder", "file"])
def test_in_a_subfolder_the_file_at_gits_top_level_is_taken_as_production_does(root: Path, git: str) -> None:
    top = write(root / ".gitleaks.toml", RULES)
    below = root / "tests" / "unit"
    below.mkdir(parents=True)
    assert choose_configuration(None, below, below).chain == ()
    if git == "folder":
        (root / ".git").mkdir()
    else:
        write(root / ".git", "gitdir: elsewhere\n")
    configuration = choose_configuration(None, below, below)
    assert (paths(configuration), configuration.why) == ([top], "found in the top of the git repository")
    nearer = write(below / ".gitleaks.toml", RULES)
    assert paths(choose_configuration(None, below, below)) == [nearer]
    nearer.unlink()
    top.unlink()
    assert choose_configuration(None, below, below).why == (
        "no .gitleaks.toml in rootdir or at the top of the git repository"
    )


def test_the_scanner_is_asked_only_where_scanners_differ_in_what_they_take(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> Sources:
        raise AssertionError

    monkeypatch.setenv("GITLEAKS_CONFIG", str(write(root / "a.toml", RULES)))
    write(root / ".gitleaks.toml", RULES)
    choose_configuration(None, root, root, asked)
    write(root / ".betterleaks.toml", RULES)
    choose_configuration(("a.toml", root, "--gitleaks-config"), root, root, asked)
    with pytest.raises(AssertionError):
        choose_configuration(None, root, root, asked)


def test_a_version_says_where_it_looks_and_a_binary_is_asked_by_its_help(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Sources(("GITLEAKS_CONFIG",), (), (".gitleaks.toml",))
    monkeypatch.setenv("PATH", str(tmp_path))
    for version, wanted in (("8.24.2", old), ("8.24.3", GITLEAKS.sources), (None, GITLEAKS.sources)):
        assert configuration_sources(ScannerChoice(version=version)) == wanted
    assert (
        configuration_sources(ScannerChoice(version="1.0.0", scanner="betterleaks")) == SCANNERS["betterleaks"].sources
    )
    assert configuration_sources(ScannerChoice(binary=gitleaks("8.18.4"))) == old
    assert configuration_sources(ScannerChoice(binary=gitleaks("8.30.1"))) == GITLEAKS.sources
    (tmp_path / "gitleaks").symlink_to(gitleaks("8.18.4"))
    assert configuration_sources(ScannerChoice()) == old
    # What is wrong with a binary is said when it is probed.
    assert configuration_sources(ScannerChoice(binary=tmp_path / "missing")) == old


def test_a_file_may_be_named_absolutely_or_below_home(
    root: Path, invocation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = write(root / "a.toml", RULES)
    monkeypatch.setenv("HOME", str(root))
    for text in (str(wanted), "~/a.toml"):
        assert paths(choose_configuration((text, invocation, "option"), root, invocation)) == [wanted]


# --- the chain


def test_a_chain_is_followed_to_its_end(root: Path) -> None:
    write(root / "c.toml", RULES)
    write(root / "b.toml", extending("c.toml"))
    first = write(root / "a.toml", extending("b.toml"))
    configuration = chosen(first)
    assert paths(configuration) == [root / "a.toml", root / "b.toml", root / "c.toml"]
    assert configuration.title(root) == "a.toml > b.toml > c.toml"


def test_the_title_ends_with_builtin_where_the_default_is_extended(root: Path, tmp_path: Path) -> None:
    write(root / "b.toml", DEFAULT)
    configuration = chosen(write(root / "deep" / "a.toml", extending(root / "b.toml")))
    assert configuration.title(root) == "deep/a.toml > b.toml > builtin"
    assert configuration.title(tmp_path / "elsewhere").startswith(str(root))


def test_a_path_is_looked_up_in_the_invocation_first_and_then_beside_the_file(root: Path, invocation: Path) -> None:
    first = write(root / "a.toml", extending("base.toml"))
    beside = write(root / "base.toml", RULES)
    assert paths(chosen(first, invocation)) == [first, beside]
    from_invocation = write(invocation / "base.toml", RULES)
    assert paths(chosen(first, invocation)) == [first, from_invocation]


def test_an_absolute_path_is_taken_as_it_is(root: Path, invocation: Path, tmp_path: Path) -> None:
    base = write(tmp_path / "elsewhere" / "base.toml", RULES)
    first = write(root / "a.toml", extending(base))
    assert paths(chosen(first, invocation)) == [first, base]


def test_the_default_and_a_path_at_once_are_refused_as_gitleaks_refuses_them(root: Path) -> None:
    write(root / "b.toml", RULES)
    both = write(root / "a.toml", "[extend]\nuseDefault = true\npath = 'b.toml'\n")
    assert "both useDefault and path" in problem_of(both)


@pytest.mark.parametrize(
    "content",
    [
        "[EXTEND]\nPATH = 'base.toml'\n",
        "[Extend]\nPath = 'base.toml'\n",
        "extend = { pAtH = 'base.toml' }\n",
        "extend.path = 'base.toml'\n",
        "[extend]\nusedefault = false\npath = 'base.toml'\n",
        "title = 'x'\n[extend]\n'path' = \"base.toml\"\n",
    ],
)
def test_keys_are_read_and_rewritten_without_regard_to_their_case(content: str, root: Path, tmp_path: Path) -> None:
    base = write(root / "base.toml", RULES)
    first = write(root / "a.toml", content)
    configuration = chosen(first)
    assert paths(configuration) == [first, base]
    (tmp_path / "copy").mkdir()
    copy = parsed(copy_configuration(configuration, tmp_path / "copy"))
    extend = next(value for key, value in copy.items() if key.lower() == "extend")
    assert [value for key, value in extend.items() if key.lower() == "path"] == [
        str(tmp_path / "copy" / "config-1.toml")
    ]


@pytest.mark.parametrize("content", ["[EXTEND]\nUSEDEFAULT = true\n", "[extend]\nusedefault = true\n"])
def test_the_default_is_extended_without_regard_to_case(content: str, root: Path) -> None:
    assert chosen(write(root / "a.toml", content)).chain[0].extends_default


@pytest.mark.parametrize("content", ["[[Rules]]\nid = 'own'\n", "[[RULES]]\nid = 'own'\n"])
def test_rules_are_seen_without_regard_to_case(content: str, root: Path) -> None:
    assert len(chosen(write(root / "a.toml", content)).chain) == 1


def test_a_circle_is_an_error(root: Path) -> None:
    write(root / "b.toml", extending("a.toml"))
    assert "[extend] path runs in a circle at" in problem_of(write(root / "a.toml", extending("b.toml")))


def test_what_the_third_file_extends_is_not_looked_at_as_gitleaks_does_not(root: Path) -> None:
    write(root / "c.toml", RULES + extending("nope.toml"))
    write(root / "b.toml", extending("c.toml"))
    assert len(chosen(write(root / "a.toml", extending("b.toml"))).chain) == 3


def test_a_file_that_extends_itself_is_an_error(root: Path) -> None:
    assert "runs in a circle" in problem_of(write(root / "a.toml", extending("./a.toml")))


def test_a_circle_through_a_symlink_is_an_error(root: Path) -> None:
    first = write(root / "a.toml", extending("link.toml"))
    (root / "link.toml").symlink_to(first)
    assert "runs in a circle" in problem_of(first)


# --- mistakes


def test_a_file_that_does_not_exist_is_an_error_with_its_name_and_who_named_it(root: Path) -> None:
    assert problem_of(root / "nope.toml") == f"--gitleaks-config: the configuration {root}/nope.toml does not exist"


def test_an_extended_file_that_does_not_exist_is_an_error_with_its_name(root: Path) -> None:
    assert f"the configuration {root}/nope.toml does not exist" in problem_of(
        write(root / "a.toml", extending("nope.toml"))
    )


def test_a_folder_is_an_error(root: Path) -> None:
    assert "cannot be read: Is a directory" in problem_of(root)


@pytest.mark.parametrize(
    "content",
    [b"[extend", b"a = ", b"\xff\xfe", b"[a]\n[a]\n", b"a = " + b"[" * 5000],
    ids=["table", "value", "not-utf-8", "twice", "deep"],
)
def test_what_is_no_toml_is_an_error_with_its_name(content: bytes, root: Path) -> None:
    (root / "a.toml").write_bytes(content)
    assert problem_of(root / "a.toml").startswith(f"--gitleaks-config: the configuration {root}/a.toml is not TOML: ")


def test_toml_that_does_not_parse_is_an_error_with_line_and_column(root: Path) -> None:
    assert "line 2, column" in problem_of(write(root / "a.toml", "a = 1\nb = = 2\n"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "title = 'x'\n",
        "rules = []\n",
        "[allowlist]\npaths = ['x']\n",
        "[extend]\nuseDefault = false\n",
        "extend = 1\n",
    ],
)
def test_a_configuration_without_rules_is_an_error_that_says_what_to_do(content: str, root: Path) -> None:
    problem = problem_of(write(root / "a.toml", content))
    assert "has no rules, so it finds nothing" in problem
    assert "useDefault = true" in problem


def test_a_chain_has_rules_if_any_of_its_files_has(root: Path) -> None:
    write(root / "b.toml", "title = 'no rules'\n")
    assert len(chosen(write(root / "a.toml", RULES + extending("b.toml"))).chain) == 2
    assert "has no rules" in problem_of(write(root / "c.toml", extending("b.toml")))


def test_a_file_that_must_not_be_read_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    # Not by chmod: root may read everything.
    monkeypatch.setattr("gitleaks_eval.config.chain.read_input", refuse)
    assert "cannot be read: Permission denied" in problem_of(root / "a.toml")


# --- the copy


def test_the_copy_of_one_file_is_the_same_to_the_byte(root: Path, tmp_path: Path) -> None:
    content = "# ünïcode\r\n" + RULES.replace("\n", "\r\n")
    (root / "a.toml").write_bytes(content.encode())
    assert copy_configuration(chosen(root / "a.toml"), tmp_path).read_bytes() == content.encode()


def test_the_copy_of_a_chain_names_copies_and_keeps_all_else(root: Path, tmp_path: Path) -> None:
    write(root / "c.toml", RULES)
    write(root / "b.toml", "# a comment\n" + extending("c.toml") + "disabledRules = ['jwt']\n")
    first = write(root / "a.toml", extending("b.toml") + "[allowlist]\nregexes = ['''a'b\\d''']\n" + RULES)
    copy = tmp_path / "copy"
    copy.mkdir()
    start = copy_configuration(chosen(first), copy)
    assert sorted(path.name for path in copy.iterdir()) == ["config-0.toml", "config-1.toml", "config-2.toml"]
    one, two = parsed(start), parsed(copy / "config-1.toml")
    assert one["extend"]["path"] == str(copy / "config-1.toml")
    assert two["extend"] == {"path": str(copy / "config-2.toml"), "disabledRules": ["jwt"]}
    assert {**one, "extend": None} == {**parsed(first), "extend": None}
    assert (copy / "config-2.toml").read_bytes() == (root / "c.toml").read_bytes()


def test_the_copy_may_stand_in_a_folder_with_an_odd_name(root: Path, tmp_path: Path) -> None:
    write(root / "b.toml", RULES)
    copy = tmp_path / "with space, 'quotes' and \\ back\\slash ü"
    copy.mkdir()
    start = copy_configuration(chosen(write(root / "a.toml", extending("b.toml"))), copy)
    assert parsed(start)["extend"]["path"] == str(copy / "config-1.toml")


def test_the_copy_of_the_scanners_own_asks_for_the_default(tmp_path: Path) -> None:
    copy = copy_configuration(Configuration((), "why"), tmp_path)
    assert parsed(copy) == {"extend": {"useDefault": True}}


def test_the_files_under_test_are_not_touched(root: Path, tmp_path: Path) -> None:
    write(root / "b.toml", RULES)
    first = write(root / "a.toml", extending("b.toml"))
    before = {path: path.read_bytes() for path in root.iterdir()}
    copy_configuration(chosen(first), tmp_path)
    assert {path: path.read_bytes() for path in root.iterdir()} == before


# --- the hash


def test_the_hash_is_over_all_files_and_not_over_their_names(root: Path, tmp_path: Path) -> None:
    write(root / "b.toml", RULES)
    one = chosen(write(root / "a.toml", extending("b.toml"))).sha256
    for name, content in (("a.toml", extending("b.toml")), ("b.toml", RULES)):
        write(tmp_path / "moved" / name, content)
    assert chosen(tmp_path / "moved" / "a.toml").sha256 == one
    write(root / "b.toml", RULES + "# changed\n")
    assert chosen(root / "a.toml").sha256 != one


def test_where_one_file_ends_and_the_next_begins_is_part_of_the_hash(root: Path) -> None:
    write(root / "b.toml", RULES)
    first = write(root / "a.toml", extending("b.toml"))
    one = chosen(first).sha256
    write(root / "b.toml", "\n" + RULES)
    first.write_text(extending("b.toml").rstrip("\n"), encoding="utf-8")
    assert chosen(first).sha256 != one


def test_the_hash_of_the_scanners_own_rules_is_that_of_the_file_that_asks_for_them(root: Path) -> None:
    (root / "a.toml").write_bytes(BUILTIN_CONTENT)
    assert chosen(root / "a.toml").sha256 == Configuration((), "why").sha256
    assert len(Configuration((), "why").sha256) == 64


def test_the_hash_of_one_file_does_not_depend_on_where_it_is_named(root: Path, invocation: Path) -> None:
    path = write(root / ".gitleaks.toml", RULES)
    assert choose_configuration(None, root, invocation).sha256 == chosen(path).sha256
