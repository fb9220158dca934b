"""The command `gitleaks-eval`: what pytest is given for a line, and what it does itself."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import analysed_corpus
from ran import ended_in

from gitleaks_eval import __version__, command
from gitleaks_eval.command.line import SUBCOMMANDS, TAKEN, read_line
from gitleaks_eval.engine.settings.options import Option
from gitleaks_eval.scanners.build import PINNED_VERSION

pytestmark = pytest.mark.usefixtures("own_environment")

ROOT = Path(__file__).parents[2]


def given(*arguments: str) -> list[str]:
    return read_line(arguments).arguments


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        read_line(arguments)
    assert ended.value.code == 4
    return capsys.readouterr().err


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return ended_in(folder, ("gitleaks_eval", *arguments), os.environ)


def test_without_a_subcommand_the_line_is_that_of_run() -> None:
    assert given() == given("run") == ["--gitleaks-eval"]
    line = ["--config", "a.toml", "tests", "-k", "SA_10"]
    assert (
        given(*line) == given("run", *line) == ["--gitleaks-eval", "--gitleaks-config=a.toml", "tests", "-k", "SA_10"]
    )


@pytest.mark.parametrize("one", [one for one in TAKEN if not one.is_flag], ids=lambda one: one.name)
@pytest.mark.parametrize("subcommand", ["run", "lint"])
def test_each_option_is_taken_without_its_prefix_behind_a_space_or_an_equals_sign(one: Option, subcommand: str) -> None:
    expected = f"{one.option}=a b/c"
    for line in ([one.short, "a b/c"], [f"{one.short}=a b/c"], [one.option, "a b/c"], [expected]):
        assert given(subcommand, *line)[1] == expected


@pytest.mark.parametrize("one", [one for one in TAKEN if one.is_flag], ids=lambda one: one.name)
def test_each_flag_is_taken_without_its_prefix(one: Option) -> None:
    assert given(one.short) == given(one.option) == ["--gitleaks-eval", one.option]


def test_the_names_that_pytest_or_people_would_misread_are_others() -> None:
    assert given("--scanner-version", "8.30.1") == ["--gitleaks-eval", "--gitleaks-version=8.30.1"]
    assert given("--repo", "a", "--repo=b") == ["--gitleaks-eval", "--gitleaks-real-repo=a", "--gitleaks-real-repo=b"]


def test_what_is_not_ours_goes_to_pytest_as_it_is_and_in_order() -> None:
    others = ["-x", "tests", "-k", "not slow", "--junitxml=a.xml", "-o", "a=b", "--conf", "-p", "no:x"]
    assert given(*others) == ["--gitleaks-eval", *others]
    assert given("--output", "o", "--", "--config", "x") == [
        "--gitleaks-eval",
        "--gitleaks-output=o",
        "--",
        "--config",
        "x",
    ]


def test_lint_selects_the_lint_whatever_else_is_selected() -> None:
    assert given("lint", "-m", "accuracy")[-2:] == ["-m", "config_lint"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ([], ["--gitleaks-compare"]),
        (["-q"], ["--gitleaks-compare", "-q"]),
        (["--baseline", "b.json"], ["--gitleaks-baseline=b.json"]),
        (["--config", "a", "--config", "b"], ["--gitleaks-config=a", "--gitleaks-config=b"]),
        (
            ["--scanner-version=1.2.3", "--scanner-version=1.2.4"],
            ["--gitleaks-version=1.2.3", "--gitleaks-version=1.2.4"],
        ),
        (["--config", "a", "--baseline", "b"], ["--gitleaks-config=a", "--gitleaks-baseline=b"]),
    ],
)
def test_compare_takes_the_candidates_of_the_line_or_those_of_pyproject(line: list[str], expected: list[str]) -> None:
    assert given("compare", *line) == ["--gitleaks-eval", *expected]


@pytest.mark.parametrize("line", [["--config", "a"], ["--scanner-version", "8.30.1"], ["--binary", "a"]])
def test_one_candidate_alone_is_compared_with_nothing(capsys: pytest.CaptureFixture[str], line: list[str]) -> None:
    assert "one candidate alone is compared with nothing" in refused(capsys, "compare", *line)


def test_compare_without_any_candidate_ends_with_status_4(tmp_path: Path) -> None:
    ended = run(tmp_path, "compare")
    assert ended.returncode == 4
    assert "[tool.gitleaks-eval.candidates.<name>]" in ended.stderr


@pytest.mark.parametrize("line", [["--config"], ["--config", "--findings"], ["--findings=yes"]])
def test_an_option_without_its_value_is_refused(capsys: pytest.CaptureFixture[str], line: list[str]) -> None:
    assert line[0].partition("=")[0] in refused(capsys, *line)


@pytest.mark.parametrize("line", [["--version", "8.18.4"], ["run", "--version", "8.18.4"], ["-q", "--version=8.18.4"]])
def test_a_version_of_a_scanner_behind_our_own_option_is_refused_and_not_left_out(
    capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    assert "--scanner-version=X.Y.Z names the scanner's" in refused(capsys, *line)


def test_an_error_quotes_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in refused(capsys, "--findings=\x1b[31m")


def test_a_subcommand_that_is_misspelt_is_named_and_a_folder_of_that_name_is_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "lnt: is no subcommand, and no file or folder; did you mean lint?" in refused(capsys, "lnt")
    assert "did you mean compare?" in refused(capsys, "comapre", "-q")
    (tmp_path / "lnt").mkdir()
    assert given("lnt") == ["--gitleaks-eval", "lnt"]


def test_an_argument_that_nobody_knows_is_an_error_of_pytests(tmp_path: Path) -> None:
    ended = run(tmp_path, "--confg", "a.toml")
    assert ended.returncode == 4
    assert "--confg" in ended.stderr


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_help_with_an_example(capsys: pytest.CaptureFixture[str], name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main([name, "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"example:\n  gitleaks-eval {name}" in text
    if not SUBCOMMANDS[name].module:
        assert all(f"  {one.short}" in text for one in TAKEN)
        assert "\nwhat is under test:\n  such as --scanner-version 8.18.4\n" in text


def test_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_line(["--help"])
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in SUBCOMMANDS)
    # In groups, each with an example that can be typed.
    assert all(f"\n{one.group}:\n" in text for one in SUBCOMMANDS.values())
    assert len({one.group for one in SUBCOMMANDS.values()}) > 2
    examples = [line.strip() for line in text.splitlines() if "  $ " in line]
    assert [line.split()[2] for line in examples] == sorted(SUBCOMMANDS, key=lambda name: text.index(f"\n  {name} "))


@pytest.mark.parametrize("line", [["--version"], ["--help"], ["compare", "--help"]])
def test_what_runs_nothing_loads_no_pytest(line: list[str]) -> None:
    code = """
import atexit, sys
atexit.register(lambda: print(sorted(name for name in sys.modules if "pytest" in name or name.startswith("gitleaks"))))
from gitleaks_eval.command import main
sys.exit(main(sys.argv[1:]))
"""
    done = subprocess.run([sys.executable, "-c", code, *line], check=True, capture_output=True, text=True)
    loaded = done.stdout.splitlines()[-1]
    assert "pytest" not in loaded
    assert "gitleaks_eval.engine.settings.settings" not in loaded
    if line == ["--version"]:
        assert done.stdout.splitlines()[0] == f"gitleaks-eval {__version__}"


def test_the_console_script_is_the_same_command() -> None:
    script = shutil.which("gitleaks-eval", path=str(Path(sys.executable).parent))
    assert script
    done = subprocess.run([script, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout == f"gitleaks-eval {__version__}\n"


def test_a_folder_with_a_configuration_gets_a_verdict_without_a_word(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitleaks.toml").write_text("[extend]\nuseDefault = true\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{gitleaks(PINNED_VERSION).parent}{os.pathsep}{os.environ['PATH']}")
    # A warning of pytest's own would be an error: it knows this package before it looks for plugins.
    ended = run(tmp_path, "-W", "error")
    assert ended.returncode == 0, ended.stdout
    assert "config .gitleaks.toml > builtin" in ended.stdout
    assert "STRONG_PASS  17 of 17 expected secrets found" in ended.stdout
    assert re.search(r"^\d+ categories and \d+ scenarios without a failure$", ended.stdout, re.MULTILINE)
    assert "warning" not in ended.stdout


def test_lint_runs_the_lint_alone_and_fails_with_it(gitleaks: Callable[[str], Path], tmp_path: Path) -> None:
    config = tmp_path / "my rules" / "ours.toml"
    config.parent.mkdir()
    config.write_text("[extend]\nuseDefault = true\n\n[allowlist]\npathes = ['''a''']\n", encoding="utf-8")
    ended = run(tmp_path, "lint", "--config", str(config), "--binary", str(gitleaks(PINNED_VERSION)))
    assert ended.returncode == 1, ended.stdout
    assert "test_CL_1_nothing_is_ignored" in ended.stdout
    assert "test_SA_" not in ended.stdout


def test_a_path_behind_a_space_does_not_move_rootdir(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    elsewhere = pytester.mkdir("elsewhere")
    (elsewhere / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", encoding="utf-8")
    spaced = [part for option in options for part in option.split("=", 1)]
    ended = run(pytester.path, *spaced, "--output", str(elsewhere / "reports"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads((elsewhere / "reports/evaluation_report.json").read_text(encoding="utf-8"))
    assert report["partial"] is False


def test_ctrl_c_ends_with_status_2(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(pytest, "main", interrupted)
    assert command.main(["run"]) == 2


def test_init_writes_the_workflow_of_the_docs_and_never_over_a_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitleaks.toml").touch()
    first = run(tmp_path, "init")
    assert (first.returncode, first.stdout) == (0, "wrote .github/workflows/gitleaks-eval.yml\n")
    path = tmp_path / ".github/workflows/gitleaks-eval.yml"
    assert path.read_text(encoding="utf-8") in (ROOT / "docs/in-a-pull-request.md").read_text(encoding="utf-8")
    assert f"--scanner-version={PINNED_VERSION}" in path.read_text(encoding="utf-8")
    # What can be installed today: nothing has been released.
    assert "gitleaks-eval @ git+https://github.com/gitleaks-eval/gitleaks-eval@" in path.read_text(encoding="utf-8")
    path.write_text("mine\n", encoding="utf-8")
    again = run(tmp_path, "init")
    assert again.returncode == 4
    assert "is there already and stays as it is" in again.stderr
    assert path.read_text(encoding="utf-8") == "mine\n"


def test_init_follows_no_link_and_says_what_it_cannot_do(tmp_path: Path) -> None:
    workflows = tmp_path / ".github/workflows"
    workflows.mkdir(parents=True)
    (workflows / "gitleaks-eval.yml").symlink_to(tmp_path / "elsewhere.yml")
    assert run(tmp_path, "init").returncode == 4
    assert not (tmp_path / "elsewhere.yml").exists()
    shutil.rmtree(tmp_path / ".github")
    (tmp_path / ".github").touch()
    ended = run(tmp_path, "init")
    assert ended.returncode == 4
    assert ".github/workflows/gitleaks-eval.yml cannot be written" in ended.stderr


def test_init_below_the_top_of_a_repository_says_where_to_run_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    below = tmp_path / "below"
    below.mkdir()
    ended = run(below, "init")
    assert ended.returncode == 4
    assert f"run it in {tmp_path}" in ended.stderr
    assert not (below / ".github").exists()


def test_init_says_that_there_is_nothing_to_evaluate_yet(tmp_path: Path) -> None:
    assert "it fails until there is a .gitleaks.toml" in run(tmp_path, "init").stdout


def test_init_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["init", "--force"])
    assert ended.value.code == 4
    assert "unrecognized arguments: --force" in capsys.readouterr().err


@pytest.fixture
def evaluated(pytester: pytest.Pytester) -> Path:
    """A project with a small corpus that was evaluated yesterday."""
    pytester.makeini("[pytest]\ngitleaks_scenarios = corpus/truth\ngitleaks_analysis = corpus/analyses\n")
    analysed_corpus(pytester.path / "corpus")
    assert pytester.runpytest_subprocess("--gitleaks-eval", "-q").ret == 0
    return pytester.path


CARD = "gitleaks-eval-results/scorecard.md"


@pytest.mark.parametrize(
    "line",
    [
        ["compare", "--config", "x"],
        ["run", "--scan-timeout"],
        ["--findings=yes"],
        ["--version", "8.30.1"],
        ["--config", "--findings", "-q"],
    ],
    ids=" ".join,
)
def test_a_line_that_is_wrong_leaves_no_decision_of_yesterday(evaluated: Path, line: list[str]) -> None:
    assert (evaluated / CARD).exists()
    ended = run(evaluated, *line)
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr.count("\n") == 1
    assert not (evaluated / CARD).exists()


@pytest.mark.parametrize(
    "line",
    [["init", "--force"], ["lint", "--scan-timeout"], ["-k", "SA", "--findings=yes"], ["--version"], ["--help"]],
    ids=" ".join,
)
def test_a_line_that_would_have_replaced_nothing_removes_nothing(evaluated: Path, line: list[str]) -> None:
    run(evaluated, *line)
    assert (evaluated / CARD).exists()


def test_a_wrong_line_removes_what_it_names_and_not_what_it_reads(evaluated: Path) -> None:
    saved = (evaluated / CARD).with_name("evaluation_report.json")
    assert run(evaluated, "--findings=yes", "--output", "elsewhere").returncode == 4
    assert (evaluated / CARD).exists()
    assert run(evaluated, "--baseline", str(saved), "--scan-timeout").returncode == 4
    assert saved.exists()
    assert not (evaluated / CARD).exists()


def test_ctrl_c_before_there_is_a_session_leaves_no_decision_of_yesterday(evaluated: Path) -> None:
    code = """
import sys
from gitleaks_eval import command
class Late:
    def find_spec(self, name, path=None, target=None):
        if name == "_pytest.config":
            sys.meta_path.remove(self)
            raise KeyboardInterrupt
sys.meta_path.insert(0, Late())
sys.exit(command.main([]))
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=evaluated, check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", "")
    assert not (evaluated / CARD).exists()


def test_addopts_that_only_show_end_with_status_4_and_leave_no_decision_of_yesterday(evaluated: Path) -> None:
    with (evaluated / "tox.ini").open("a", encoding="utf-8") as file:
        file.write("\naddopts = -v --co\n")
    ended = run(evaluated)
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr.startswith("ERROR: addopts: --collect-only: nothing would be evaluated")
    assert not (evaluated / CARD).exists()
    assert run(evaluated, "--co", "-q").returncode == run(evaluated, "-o", "addopts=").returncode == 0
