"""Options on the command line: none is ignored without a word, and none changes where pytest looks."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import OWN_CHECK, analysed_corpus, report

from gitleaks_eval.plugin.folders import CHECKS
from gitleaks_eval.reports.output.folder import MARKER

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

USAGE_ERROR = pytest.ExitCode.USAGE_ERROR
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest with these arguments alone: pytester's own `--basetemp` has a path behind it."""

    def run(*arguments: str, folder: Path = pytester.path) -> pytest.RunResult:
        monkeypatch.chdir(folder)
        return pytester.run(sys.executable, "-m", "pytest", *arguments)

    return run


@pytest.fixture
def options(pytester: pytest.Pytester) -> list[str]:
    """Options of a run that needs no scanner."""
    return analysed_corpus(pytester.path / "corpus")


# Without the flag.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gitleaks-config", "x.toml"], "--gitleaks-config: nothing is evaluated without --gitleaks-eval; add *"),
        (["--gitleaks-compare"], "--gitleaks-compare: *add --gitleaks-eval"),
        (["--gitleaks-findings"], "--gitleaks-findings: *add --gitleaks-eval"),
        (["--gitleaks-real-repo=.", "test_unit.py"], "--gitleaks-real-repo: *add --gitleaks-eval"),
        (["--gitleaks-version=8.30.1", "--gitleaks-output="], "--gitleaks-version, --gitleaks-output: *"),
        (["--gitleaks-judge-mode=replay"], "--gitleaks-judge-mode: *add --gitleaks-judges"),
        (["@arguments.txt"], "--gitleaks-config: *add --gitleaks-eval"),
    ],
)
def test_an_option_of_ours_without_the_flag_ends_with_status_4(
    pytester: pytest.Pytester, run: Run, arguments: list[str], message: str
) -> None:
    pytester.makepyfile(test_unit="def test_unit():\n    pass\n")
    (pytester.path / "arguments.txt").write_text("--gitleaks-config=x.toml\n", encoding="utf-8")
    result = run(*arguments)
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_options_that_are_not_typed_wait_for_the_flag_in_silence(
    pytester: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_unit="def test_unit():\n    pass\n")
    pytester.makeini("[pytest]\naddopts = --gitleaks-version=8.30.1\ngitleaks_config = none.toml\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--gitleaks-output=elsewhere")
    result = run()
    result.assert_outcomes(passed=1)
    assert "gitleaks-eval:" not in result.stdout.str()


def test_a_file_of_arguments_is_read_before_a_test_removes_it(
    pytester: pytest.Pytester, run: Run, options: list[str]
) -> None:
    (pytester.path / "arguments.txt").write_text("\n".join(["--gitleaks-eval", *options, "test_own.py"]), "utf-8")
    pytester.makepyfile(test_own="import os\ndef test_own():\n    os.remove('arguments.txt')\n")
    result = run("@arguments.txt")
    assert result.ret == 0
    assert not report(pytester)["partial"]


# A path behind a space.


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the project, with an ini file of its own that collects only."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --co\n", encoding="utf-8")
    return folder


def test_a_path_that_changes_rootdir_or_ini_file_is_refused_with_the_command_that_does_not(
    run: Run, options: list[str], elsewhere: Path
) -> None:
    (elsewhere / MARKER).touch()
    result = run("--gitleaks-eval", "--gitleaks-output", str(elsewhere), *options)
    assert result.ret == USAGE_ERROR
    written = f"  pytest --gitleaks-eval --gitleaks-output={elsewhere} {shlex.join(options)}"
    result.stderr.fnmatch_lines(
        [f"ERROR: --gitleaks-output {elsewhere}: *rootdir {elsewhere} and its ini file {elsewhere}/pytest.ini; write"]
    )
    assert written in result.errlines
    again = run(*shlex.split(written)[1:])
    assert again.ret == 0
    assert (elsewhere / "scorecard.md").exists()


def test_a_path_that_changes_rootdir_alone_is_refused(
    run: Run, options: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    plain = tmp_path_factory.mktemp("plain")
    result = run("--gitleaks-eval", *options, "--gitleaks-output", str(plain))
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --gitleaks-output {plain}: * and no ini file; write"])


def test_a_path_in_the_environment_is_refused_as_well(
    run: Run, options: list[str], elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--gitleaks-output {elsewhere}")
    result = run("--gitleaks-eval", *options)
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines([f"  PYTEST_ADDOPTS=--gitleaks-output={elsewhere} pytest --gitleaks-eval *"])


def test_a_path_that_changes_neither_may_stand_behind_a_space(
    pytester: pytest.Pytester, run: Run, options: list[str], elsewhere: Path
) -> None:
    pytester.makeini("[pytest]\n")
    inside = [part for option in options for part in option.split("=")]
    assert run("--gitleaks-eval", *inside, "--gitleaks-output", "not-yet-there").ret == 0
    named = ("-c", str(pytester.path / "tox.ini"), "--gitleaks-output", str(elsewhere / "out"))
    assert run("--gitleaks-eval", *options, *named).ret == 0


def test_a_setting_of_the_command_line_counts_also_beside_a_pasted_node_id(
    pytester: pytest.Pytester, run: Run, options: list[str]
) -> None:
    node = f"{CHECKS}/test_accuracy.py::test_SA_1_total_secret_count[leaky]"
    (scenarios, _), settings = options, "-ogitleaks_analysis=corpus/analyses"
    pytester.makeini("[pytest]\ngitleaks_analysis = none\n")
    run(scenarios, settings, node).assert_outcomes(passed=1)


# The flag in addopts.


@pytest.fixture
def always(pytester: pytest.Pytester, options: list[str]) -> None:
    """A project with a test of its own, in which each run evaluates."""
    pytester.makeini(f"[pytest]\naddopts = --gitleaks-eval {' '.join(options)}\n")
    pytester.makepyfile(test_unit="def test_add():\n    pass\ndef test_other():\n    pass\n")


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "arguments", [["test_unit.py::test_add"], ["-k", "test_add"], ["-qktest_add"], ["test_unit.py", "-k", "test_add"]]
)
def test_with_the_flag_in_addopts_everyday_selections_run_what_they_name(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] == 1
    said = [line for line in result.outlines if line.startswith("gitleaks-eval: no check")]
    assert said == ["gitleaks-eval: no check is among what was selected, so nothing was evaluated"]


@pytest.mark.usefixtures("always")
def test_with_the_flag_in_addopts_a_failed_test_can_be_run_again(pytester: pytest.Pytester, run: Run) -> None:
    (pytester.path / "test_unit.py").write_text("def test_add():\n    assert 0\n", encoding="utf-8")
    assert run().ret == 1
    (pytester.path / "test_unit.py").write_text("def test_add():\n    pass\n", encoding="utf-8")
    result = run("--lf")
    assert result.ret == 0
    result.assert_outcomes(passed=1)


@pytest.mark.usefixtures("always")
def test_with_the_flag_in_addopts_a_named_folder_is_all_that_is_collected(pytester: pytest.Pytester, run: Run) -> None:
    pytester.mkdir("checks").joinpath("test_own.py").write_text(OWN_CHECK, encoding="utf-8")
    result = run("checks")
    result.stdout.fnmatch_lines(["collected 2 items", "PARTIAL 2 of 80 checks, no decision"])
    assert report(pytester, "gitleaks-eval-results/partial")["partial"]


@pytest.mark.usefixtures("always")
def test_with_the_flag_in_addopts_a_run_that_selects_nothing_still_needs_a_check(
    pytester: pytest.Pytester, run: Run
) -> None:
    pytester.makeconftest(
        "def pytest_collection_modifyitems(items):\n    items[:] = [one for one in items if 'unit' in one.nodeid]\n"
    )
    assert run().ret == USAGE_ERROR
    assert run("-v").ret == USAGE_ERROR


@pytest.mark.usefixtures("always")
def test_without_a_selection_of_the_command_line_all_is_evaluated(pytester: pytest.Pytester, run: Run) -> None:
    assert run("-q").ret == 0
    assert not report(pytester)["partial"]


def test_a_check_in_a_text_of_a_named_file_switches_nothing_on(pytester: pytest.Pytester) -> None:
    written = "@check('A-1', 'x', category='y')"
    test = "@pytest.mark.parametrize('check', [1])\ndef test_one(check):\n    assert TEXT"
    pytester.makepyfile(test_texts=f"import gitleaks_eval, pytest\nTEXT = '''\n{written}\n'''\n{test}\n")
    result = pytester.runpytest_subprocess("test_texts.py")
    result.assert_outcomes(passed=1)
    assert not [line for line in result.outlines if "gitleaks-eval" in line and not line.startswith("plugins: ")]
