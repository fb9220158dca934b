"""What is collected, with which settings, and what is refused on sight."""

import sys
from pathlib import Path

import pytest
from builders import IN_CORE, SHIPPED
from corpus import OWN_CHECK, analysed_corpus, outcomes, report, write_truth

from gitleaks_eval.plugin.folders import CHECKS

pytestmark = pytest.mark.usefixtures("own_environment")

USAGE_ERROR = pytest.ExitCode.USAGE_ERROR


@pytest.fixture
def options(pytester: pytest.Pytester) -> list[str]:
    """Options of a run that needs no scanner."""
    return analysed_corpus(pytester.path / "corpus")


def test_the_flag_collects_the_shipped_checks_in_any_folder(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    result.assert_outcomes(passed=report(pytester)["summary"]["passed"])
    assert report(pytester)["summary"]["total_checks"] == 2 * SHIPPED
    assert result.ret == 0


@pytest.mark.parametrize("named", ["test_own.py", "own"])
def test_files_and_folders_beside_the_flag_are_collected_as_well(
    pytester: pytest.Pytester, options: list[str], named: str
) -> None:
    path = pytester.path / ("own/test_own.py" if named == "own" else named)
    path.parent.mkdir(exist_ok=True)
    path.write_text(OWN_CHECK + "\ndef test_plain():\n    pass\n", encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, named)
    assert result.ret == 0
    document = report(pytester)
    assert document["summary"]["total_checks"] == 2 * (SHIPPED + 1)
    assert document["dimensions"][-1]["name"] == "House Rules"
    assert not document["partial"]
    result.stdout.fnmatch_lines(["collected 81 items"])


def test_a_node_id_narrows_the_run_to_it(pytester: pytest.Pytester, options: list[str]) -> None:
    node = f"{CHECKS}/test_accuracy.py::test_SA_10_expected_findings[leaky]"
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, node)
    result.stdout.fnmatch_lines(["PARTIAL 1 of 78 checks, no decision"])
    assert outcomes(report(pytester, "gitleaks-eval-results/partial")) == {"SA-10[leaky]": "passed"}
    assert not (pytester.path / "gitleaks-eval-results/evaluation_report.json").exists()


@pytest.mark.parametrize("named", [[f"{CHECKS}/test_rollup.py"], ["--pyargs", "gitleaks_eval.checks.test_rollup"]])
def test_a_shipped_module_narrows_the_run_to_it(
    pytester: pytest.Pytester, options: list[str], named: list[str]
) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *named)
    result.stdout.fnmatch_lines(["PARTIAL 8 of 78 checks, no decision"])


def test_naming_the_folder_of_the_checks_is_a_full_run(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options, str(CHECKS))
    assert not report(pytester)["partial"]


def test_with_the_flag_in_addopts_testpaths_are_collected_too(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makeini(f"[pytest]\naddopts = --gitleaks-eval {' '.join(options)}\ntestpaths = unit\n")
    pytester.mkdir("unit").joinpath("test_unit.py").write_text("def test_unit():\n    pass\n", encoding="utf-8")
    pytester.makepyfile(test_elsewhere="def test_elsewhere():\n    pass\n")
    result = pytester.runpytest_subprocess()
    result.stdout.fnmatch_lines(["collected 79 items", "*unit/test_unit.py*"])
    result.stdout.no_fnmatch_line("*test_elsewhere*")


def test_with_the_flag_in_addopts_and_no_testpaths_a_users_tests_still_run(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    pytester.makeini(f"[pytest]\naddopts = --gitleaks-eval {' '.join(options)}\n")
    pytester.makepyfile(test_unit="def test_unit():\n    pass\n")
    pytester.runpytest_subprocess().stdout.fnmatch_lines(["collected 79 items"])


@pytest.mark.parametrize(
    "narrowing",
    [
        ["-k", "no_such_check"],
        ["test_unit.py::test_unit"],
        ["-m", "no_such_mark"],
        # Workers collect, and the controller alone knows what they found.
        ["-k", "no_such_check", "-n2"],
        ["test_unit.py::test_unit", "-n2"],
    ],
)
def test_a_run_that_collects_no_check_ends_with_status_4(
    pytester: pytest.Pytester, options: list[str], narrowing: list[str]
) -> None:
    pytester.makepyfile(test_unit="def test_unit():\n    pass\n")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *narrowing)
    assert result.ret == USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR gitleaks-eval: no check was collected*"])


@pytest.mark.usefixtures("python_of_its_own")
def test_without_the_flag_nothing_is_printed_written_or_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_unit="""
        import pathlib, sys
        def test_unit(pytestconfig):
            on = pytestconfig.pluginmanager.has_plugin("gitleaks_eval")
            pathlib.Path(f"modules-{on}.txt").write_text("\\n".join(sys.modules))
        """
    )
    result = pytester.runpytest_subprocess()
    result.stdout.no_fnmatch_line("*gitleaks-eval:*")
    pytester.runpytest_subprocess("-p", "no:gitleaks_eval")
    on, off = (set((pytester.path / f"modules-{on}.txt").read_text().split()) for on in (True, False))
    assert {name for name in on - off if not name.startswith("gitleaks_eval")} == set()
    light = {"config.names", "core.resources", "core.text", "engine.settings.options"}
    light |= {f"plugin.{name}" for name in ("command_line", "folders", "hookspecs")}
    packages = {
        "gitleaks_eval",
        *(f"gitleaks_eval.{name}" for name in ("checks", "config", "core", "engine", "engine.settings", "plugin")),
    }
    assert on - off == packages | {f"gitleaks_eval.{name}" for name in light}
    assert not (pytester.path / "gitleaks-eval-results").exists()


def test_without_the_flag_a_users_own_checks_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_own=OWN_CHECK + "\ndef test_plain():\n    pass\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize("narrowed", ["test_own.py", "test_own.py::test_ACME_1_findings_a_file[leaky]"])
def test_a_users_own_check_that_is_named_runs_without_the_flag_and_writes_nothing(
    pytester: pytest.Pytester, options: list[str], narrowed: str
) -> None:
    pytester.makepyfile(test_own=OWN_CHECK)
    result = pytester.runpytest_subprocess(*options, narrowed)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gitleaks-eval: analyses in *", "PARTIAL * checks, no decision"])
    assert not (pytester.path / "gitleaks-eval-results").exists()


def test_a_shipped_check_that_is_named_runs_without_the_flag(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess(*options, f"{CHECKS}/test_accuracy.py::test_SA_1_total_secret_count[leaky]")
    result.assert_outcomes(passed=1)
    assert not (pytester.path / "gitleaks-eval-results").exists()


def test_a_users_own_scenario_fixture_goes_before_ours(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makepyfile(
        test_own="""
        import pytest
        @pytest.fixture
        def scenario():
            return "mine"
        def test_mine(scenario):
            assert scenario == "mine"
        """
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["collected 79 items"])


def test_an_ids_part_and_a_category_marker_select_checks(pytester: pytest.Pytester, options: list[str]) -> None:
    by_id = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-k", "SA_10")
    by_id.stdout.fnmatch_lines(["collected 78 items / 76 deselected / 2 selected"])
    by_category = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-m", "output_quality")
    by_category.stdout.fnmatch_lines(["collected 78 items / 76 deselected / 2 selected"])


def test_only_collecting_writes_nothing(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("tmp")))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    before = sorted(pytester.path.rglob("*"))
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--co", "-q", "-p", "no:cacheprovider")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"{IN_CORE} tests collected in *"])
    left = {path.name for path in set(pytester.path.rglob("*")) - set(before)}
    # What pytester itself leaves of a run.
    assert left <= {"stdout", "stderr", "runpytest-0", "runpytest-current"}


def test_each_option_but_the_flag_has_an_ini_twin_relative_to_the_ini_file(pytester: pytest.Pytester) -> None:
    analysed_corpus(pytester.path / "corpus")
    pytester.makeini(
        "[pytest]\ngitleaks_scenarios = corpus/truth\ngitleaks_analysis = corpus/analyses\ngitleaks_output = out\n"
        "gitleaks_scan_timeout = 7.5\ngitleaks_config = builtin\ngitleaks_version = 8.30.1\n"
    )
    below = pytester.mkdir("below")
    result = pytester.run(sys.executable, "-m", "pytest", "--gitleaks-eval", "--rootdir", pytester.path, below)
    assert result.ret == 0
    assert report(pytester, "out")["summary"]["total_checks"] == 78


def test_native_toml_settings_keep_their_types(pytester: pytest.Pytester) -> None:
    analysed_corpus(pytester.path / "corpus")
    pytester.makepyprojecttoml(
        "[tool.pytest]\nstrict = true\ngitleaks_scenarios = ['corpus/truth']\n"
        "gitleaks_analysis = 'corpus/analyses'\ngitleaks_scan_timeout = 30\n"
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval")
    assert result.ret == 0


def test_help_groups_the_options(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--help")
    result.stdout.fnmatch_lines(["gitleaks-eval: *", "  --gitleaks-eval *", "  --gitleaks-binary=PATH*"])
    result.stdout.fnmatch_lines(["gitleaks-eval: judges, such as --gitleaks-judges --gitleaks-judge-mode=heuristic:"])
    result.stdout.fnmatch_lines(["  gitleaks_severity_policy *"])


def test_the_fixtures_are_documented(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--fixtures", *options)
    for fixture in ("analysis", "evidence", "expected", "scenario"):
        result.stdout.fnmatch_lines([f"{fixture}*"])


BROKEN: dict[str, tuple[list[str], str]] = {
    "a binary that is not there": (["--gitleaks-binary=none"], "--gitleaks-binary *none: does not exist; *"),
    "a binary that is a folder": (["--gitleaks-binary=."], "--gitleaks-binary *: is not a file*"),
    "a binary that cannot be run": (["--gitleaks-binary=plain.txt"], "*plain.txt: is not executable*"),
    "a version that is none": (["--gitleaks-version=newest"], "*'newest': not a version of Gitleaks*"),
    "a configuration that is not there": (["--gitleaks-config=none.toml"], "*none.toml does not exist"),
    "a configuration that is a folder": (["--gitleaks-config=."], "*cannot be read: Is a directory"),
    "a configuration that is no TOML": (["--gitleaks-config=plain.txt"], "*plain.txt is not TOML: *line 1*"),
    "a configuration without rules": (["--gitleaks-config=empty.toml"], "*empty.toml has no rules*"),
    "a configuration that extends nothing": (["--gitleaks-config=lost.toml"], "*base.toml does not exist"),
    "scenarios that are not there": (["--gitleaks-scenarios=none"], "*none: does not exist*"),
    "scenarios in a file": (["--gitleaks-scenarios=plain.txt"], "*plain.txt: is not a folder*"),
    "a folder without a scenario": (["--gitleaks-scenarios=bare"], "*no ground truth*bare"),
    "analyses that are not there": (["--gitleaks-analysis=none"], "--gitleaks-analysis *none: does not exist*"),
    "an output that is a file": (["--gitleaks-output=plain.txt"], "*plain.txt is a file; name a folder"),
    "a time limit that is none": (["--gitleaks-scan-timeout=soon"], "*'soon': not a number of seconds*"),
    "a disk limit that is none": (["--gitleaks-real-repo-disk=0"], "*'0': not a number of GiB above zero*"),
    "a negative time limit": (["--gitleaks-scan-timeout=-1"], "*'-1': not a number of seconds*"),
    "a ground truth that is no JSON": (["--gitleaks-scenarios=garbled"], "*s.json: line 1, column 2: not JSON*"),
    "a ground truth of the wrong shape": (["--gitleaks-scenarios=wrong"], "*s.json: /expected/total_secrets: *"),
    "two scenarios of one name": (["--gitleaks-scenarios=one", "--gitleaks-scenarios=two"], "*named 's'*"),
    "a recipe that is no YAML": (["--gitleaks-scenarios=recipe"], "*s.yaml: not YAML: line 2, column 1: *"),
}


@pytest.mark.parametrize(("arguments", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_on_sight_ends_with_status_4_before_any_test(
    pytester: pytest.Pytester, arguments: list[str], message: str
) -> None:
    (pytester.path / "plain.txt").write_text("= this", encoding="utf-8")
    (pytester.path / "empty.toml").write_text("title = 'nothing'\n", encoding="utf-8")
    (pytester.path / "lost.toml").write_text("[extend]\npath = 'base.toml'\n", encoding="utf-8")
    pytester.mkdir("bare")
    pytester.mkdir("garbled").joinpath("s.json").write_text("{x", encoding="utf-8")
    write_truth(pytester.path / "wrong", "s", [], total_secrets="two")
    for folder in ("one", "two", "recipe"):
        write_truth(pytester.path / folder, "s", [])
    (pytester.path / "recipe" / "s.yaml").write_text("commits: [", encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *arguments)
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    result.stdout.no_fnmatch_line("collected*")
    assert not (pytester.path / "gitleaks-eval-results").exists()


def test_a_severity_policy_of_the_wrong_shape_is_refused(pytester: pytest.Pytester) -> None:
    (pytester.path / "policy.json").write_text('{"default": "HUGE", "rules": {}}', encoding="utf-8")
    pytester.makeini("[pytest]\ngitleaks_severity_policy = policy.json\n")
    result = pytester.runpytest_subprocess("--gitleaks-eval")
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: severity policy *policy.json: /default: *"])


def test_the_variable_of_gitleaks_names_the_configuration_and_is_named_when_it_is_wrong(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLEAKS_CONFIG", "none.toml")
    result = pytester.runpytest_subprocess("--gitleaks-eval")
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: GITLEAKS_CONFIG: the configuration *none.toml does not exist"])


def test_a_ground_truth_without_its_analysis_is_an_error_of_that_scenario_only(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    lost = pytester.path / "corpus/analyses/leaky.json"
    lost.unlink()
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    assert result.ret == 1
    by_check = outcomes(report(pytester))
    assert {outcome for name, outcome in by_check.items() if "leaky" in name} == {"error"}
    assert "error" not in {outcome for name, outcome in by_check.items() if "clean" in name}
    result.stdout.fnmatch_lines([f"ERROR  scenario leaky: the analysis {lost} is missing*"])
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"


def test_a_ground_truth_without_its_recipe_is_an_error_of_that_scenario(pytester: pytest.Pytester) -> None:
    write_truth(pytester.path / "truth", "lonely", [])
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-scenarios=truth")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["ERROR  scenario lonely: the recipe *lonely.yaml is missing*"])
    assert set(outcomes(report(pytester)).values()) == {"error"}


@pytest.mark.parametrize("quiet", [["-q"], ["-qq"], ["-q", "-n2"]], ids=" ".join)
def test_what_is_evaluated_is_named_also_where_pytest_is_quiet(
    pytester: pytest.Pytester, options: list[str], quiet: list[str]
) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *quiet)
    assert sum(line.startswith("evaluated: analyses in ") for line in result.outlines) == 1


def test_a_quiet_list_of_tests_has_nothing_else_before_it(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "--co", "-q")
    assert "::test_" in result.outlines[0]
