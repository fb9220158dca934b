"""The end of a run: one cause is told once, no message is lost, and nothing contradicts the exit status."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from xml.etree import ElementTree as ET

import pytest
from builders import SHIPPED
from corpus import KEY, analysed_corpus, report, shipped_scenarios

from gitleaks_eval.plugin.pytest_summary import PytestSummary
from gitleaks_eval.reports.run.causes import cause_lines, causes

pytestmark = pytest.mark.usefixtures("own_environment")

BOTH_WAYS = pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
XFAILING = """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xfail(reason="nobody looks"))
"""
HIDING = """
import pytest
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    report = yield
    if report.failed:
        report.outcome = "passed"
    return report
"""


def section(result: pytest.RunResult) -> list[str]:
    """The lines of our section."""
    start = next(index for index, line in enumerate(result.outlines) if line.strip("=") == " gitleaks-eval ")
    return result.outlines[start + 1 :]


@pytest.fixture
def options(pytester: pytest.Pytester) -> list[str]:
    """Options of a run that needs no scanner, and misses a secret."""
    return analysed_corpus(pytester.path / "corpus", missing=[KEY])


# A decision of FAIL.


@BOTH_WAYS
@pytest.mark.parametrize("hooks", [XFAILING, HIDING], ids=["xfails", "passes"])
def test_a_decision_of_fail_never_ends_well_whatever_other_hooks_make_of_failures(
    pytester: pytest.Pytester, options: list[str], hooks: str, parallel: list[str]
) -> None:
    pytester.makepyfile(meddling=hooks)
    result = pytester.runpytest_subprocess("-pmeddling", "--gitleaks-eval", *options, *parallel)
    assert result.parseoutcomes().get("failed", 0) == 0
    assert "FAILED  no test failed, and still: the decision is FAIL" in section(result)
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_hook_that_ends_every_run_well_has_not_the_last_word(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makeconftest("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_failures_of_a_partial_run_are_not_hushed(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makeconftest(XFAILING)
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-k", "accuracy")
    assert result.parseoutcomes().get("failed", 0) == 0
    assert any(one.startswith("FAILED  no test failed, and still: SA-1 ") for one in section(result))
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_judges_alone_end_as_the_run_that_they_look_at(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.makeini("[pytest]\ngitleaks_judge_pass_score = 1\n")
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    result = pytester.runpytest_subprocess("--gitleaks-judges", "--gitleaks-judge-mode=heuristic", *options)
    assert result.parseoutcomes().get("failed", 0) == 0
    assert "FAILED  no test failed, and still: the decision with judges is FAIL" in result.outlines
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    "other", ["--gitleaks-binary=/bin/false", "--gitleaks-version=8.30.1", "--gitleaks-config=builtin"]
)
def test_judges_alone_refuse_what_they_would_not_look_at(pytester: pytest.Pytester, other: str) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-judges", "--gitleaks-judge-mode=heuristic", other)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {other.partition('=')[0]} *judges alone look at the last full run*"])


def test_a_summary_of_the_job_that_is_a_pipe_ends_the_run_at_once(
    pytester: pytest.Pytester, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(pytester.path / "pipe")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "pipe"))
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, timeout=60)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR GITHUB_STEP_SUMMARY *: it is no file; unset it"])


def test_a_baseline_excuses_a_decision_of_fail(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    (pytester.path / "gitleaks-eval-results/evaluation_report.json").rename(pytester.path / "known.json")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "--gitleaks-baseline=known.json")
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"
    assert result.ret == 0


# What fails beside the checks.


@pytest.fixture
def linted(pytester: pytest.Pytester, tmp_path: Path) -> list[str]:
    """Options of a run whose configuration has a key that the scanner ignores."""
    (pytester.path / ".gitleaks.toml").write_text("nothing = 1\n[extend]\nuseDefault = true\n", encoding="utf-8")
    return ["--gitleaks-eval", shipped_scenarios(tmp_path / "scenarios", "private-keys", "no-secrets")]


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_a_configuration_that_fails_its_lint_is_at_most_a_weak_pass_and_the_section_says_so(
    pytester: pytest.Pytester, linted: list[str], quiet: list[str]
) -> None:
    result = pytester.runpytest_subprocess(*linted, *quiet)
    assert result.ret == 1
    first, _, third, *_ = section(result)
    assert first.startswith("WEAK_PASS  2 of 2 expected secrets found, 0 unexpected, canary found")
    assert third.startswith("FAILED  CL-1  .gitleaks.toml nothing: ")
    assert report(pytester)["summary"]["guarded_decision"] == "WEAK_PASS"


@BOTH_WAYS
def test_tests_that_are_no_checks_and_fail_are_named(pytester: pytest.Pytester, parallel: list[str]) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(
        test_own="import pytest\n@pytest.mark.parametrize('n', range(5))\ndef test_unit(n):\n    assert n > 3\n"
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py", *parallel)
    assert result.ret == 1
    (line,) = (line for line in section(result) if line.startswith("FAILED  "))
    assert line.startswith("FAILED  4 tests that are no checks: test_own.py::test_unit[")
    assert line.endswith(", …")


OF_A_USER = {
    "check": """
        from gitleaks_eval import check, check_equal
        @check("ACME-1", "House rule", category="House Rules")
        def test_it(analysis, evidence):
            check_equal(evidence, 0, analysis.count("total_secrets"), what="secrets")
    """,
    "test of our fixtures": "def test_it(analysis):\n    assert analysis.count('total_secrets') == 0\n",
    "plain test": "def test_it():\n    assert False\n",
}


@pytest.mark.parametrize("kind", OF_A_USER)
def test_what_fails_of_a_users_own_is_named_and_nowhere_is_said_that_nothing_is_to_mend(
    pytester: pytest.Pytester, kind: str
) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(test_own=OF_A_USER[kind])
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py", "-q")
    assert result.ret == 1
    first, *others = section(result)
    (following,) = (line for line in others if line.startswith("next: "))
    document = report(pytester)
    page = (pytester.path / "gitleaks-eval-results" / "report.html").read_text(encoding="utf-8")
    assert "Keep this run as a baseline" not in page
    if kind == "check":
        assert first.startswith("WEAK_PASS  2 of 2 expected secrets found")
        assert following == "next: mend what fails: ACME-1"
        assert any(line.startswith("FAILED  ACME-1 House rule  leaky: ") for line in others)
        assert document["summary"]["guarded_decision"] == "WEAK_PASS"
    else:
        assert "FAILED" in first
        assert following.startswith("next: mend what fails: test_own.py::test_it")
        assert all(name.startswith("test_own.py::test_it") for name in document["other_failures"])
        assert "test_own.py::test_it" in page


def test_a_page_about_nothing_says_that_nothing_was_evaluated_and_why(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    hiding = "[extend]\nuseDefault = true\n[allowlist]\npaths = ['^deploy/', '^docs/']\n"
    (pytester.path / ".gitleaks.toml").write_text(hiding, encoding="utf-8")
    dead = pytester.path / "dead"
    dead.write_text("#!/bin/sh\nexit 2\n", encoding="utf-8")
    dead.chmod(0o755)
    corpus = shipped_scenarios(tmp_path / "scenarios", "private-keys")
    result = pytester.runpytest_subprocess("--gitleaks-eval", corpus, f"--gitleaks-binary={dead}", "-q")
    assert result.ret == 1
    page = (pytester.path / "gitleaks-eval-results" / "report.html").read_text(encoding="utf-8")
    (why,) = (line for line in page.splitlines() if line.startswith('<p class="why">'))
    assert why.startswith('<p class="why">Nothing was evaluated: ')
    assert "answered `--help` with exit code 2" in why
    assert "too much" not in page
    assert "planted secrets found" not in page


# Nothing decided.


def test_a_run_without_the_terminal_says_its_decision_on_standard_error(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-p", "no:terminal")
    assert result.ret == 1
    assert result.outlines == []
    assert result.errlines[0].startswith("FAIL  1 of 2 expected secrets found, 1 MISSED")


def test_a_plan_of_a_run_is_no_run_that_ends_well(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "--setup-plan")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR gitleaks-eval: --setup-plan runs no test, so nothing was evaluated; *"])


DROPPING = """
def pytest_collection_modifyitems(config, items):
    gone = [item for item in items if "SA_1_" not in item.name]
    items[:] = [item for item in items if "SA_1_" in item.name]
    if {reports}:
        config.hook.pytest_deselected(items=gone)
"""


@BOTH_WAYS
@pytest.mark.parametrize("reports", [True, False], ids=["deselects", "removes"])
def test_a_run_whose_checks_a_conftest_drops_does_not_end_well(
    pytester: pytest.Pytester, parallel: list[str], *, reports: bool
) -> None:
    pytester.makeconftest(DROPPING.format(reports=reports))
    options = analysed_corpus(pytester.path / "corpus")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *parallel)
    assert result.ret == 1
    lines = section(result)
    assert lines[0] == f"PARTIAL 2 of {2 * SHIPPED} checks, no decision"
    dropped = (
        f"a conftest.py or a plugin dropped {2 * SHIPPED - 2} of {2 * SHIPPED} checks; no option of pytest selects"
    )
    assert f"INCOMPLETE  {dropped}" in lines


@pytest.mark.parametrize("selects", [["-k", "SA_1_"], ["-o", "addopts=-k SA_1_"]], ids=["typed", "addopts"])
def test_a_selection_of_checks_is_partial_and_ends_as_its_checks_do(
    pytester: pytest.Pytester, selects: list[str]
) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *selects)
    assert result.ret == 0
    assert section(result)[0] == f"PARTIAL 2 of {2 * SHIPPED} checks, no decision"


def test_a_test_of_the_configuration_that_a_conftest_drops_is_missed(
    pytester: pytest.Pytester, linted: list[str]
) -> None:
    pytester.makeconftest(
        "def pytest_collection_modifyitems(items):\n"
        "    items[:] = [item for item in items if 'CL_1' not in item.name]\n"
    )
    result = pytester.runpytest_subprocess(*linted)
    assert result.ret == 1
    assert any("a conftest.py or a plugin dropped 1 of " in line for line in section(result))


# One cause.


@pytest.mark.parametrize(
    "verbosity", [[], ["-q"], ["-qq"], ["-v", "--tb=long"], ["-n2"], ["-n2", "-v", "--tb=long"]], ids=" ".join
)
def test_one_cause_is_one_block_that_counts_its_checks(
    pytester: pytest.Pytester, tmp_path: Path, verbosity: list[str]
) -> None:
    (pytester.path / ".gitleaks.toml").write_text(
        "[extend]\nuseDefault = true\n[[rules]]\nid = 'bad'\nregex = '''(?<=x)y('''\n", encoding="utf-8"
    )
    corpus = shipped_scenarios(tmp_path / "scenarios", "private-keys", "no-secrets")
    result = pytester.runpytest_subprocess("--gitleaks-eval", corpus, "--gitleaks-findings", *verbosity)
    assert result.ret == 1
    (told,) = (line for line in result.outlines if line.startswith("ERROR "))
    # The checks of each scenario, CL-2, two expected findings, and one test a scenario for unexpected ones.
    assert told.startswith("ERROR  in 2 scenarios (")
    assert ".gitleaks.toml:5 rules[0].regex: the regex does not compile" in told
    concerned = 2 * SHIPPED + 1 + 2 + 2
    assert told.endswith(f"  ({concerned} checks)")
    result.stdout.no_fnmatch_line("*ERROR at setup*")
    if "-qq" not in verbosity:
        assert result.parseoutcomes()["errors"] == concerned


@pytest.mark.parametrize("verbosity", [["-q"], ["-v", "--tb=long"]], ids=" ".join)
def test_that_there_is_no_scanner_is_said_once_in_few_lines(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbosity: list[str]
) -> None:
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    corpus = shipped_scenarios(tmp_path / "scenarios", "private-keys", "no-secrets")
    result = pytester.runpytest_subprocess("--gitleaks-eval", corpus, "--gitleaks-version=8.0.99", *verbosity)
    assert result.ret == 1
    told = section(result)
    (cause,) = (line for line in told if "gitleaks 8.0.99 is not installed" in line and line.startswith("ERROR  "))
    assert cause.startswith("ERROR  in 2 scenarios (")
    block = [line for line in told[told.index(cause) :] if line.startswith(("ERROR  ", "  | "))]
    assert len(block) <= 10
    outside = [line for line in result.outlines if "is not installed" in line and line not in block]
    assert len(outside) <= 1, "beside the header"
    assert not any("\\n" in line for line in result.outlines)


def test_a_fixture_that_breaks_shows_its_traceback_once(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(
        test_own="""
        import pytest
        from gitleaks_eval import check
        @pytest.fixture
        def broken():
            raise RuntimeError("no such thing")
        @check("OWN-1", "Own", category="Own")
        def test_own(broken, analysis):
            pass
        """
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py")
    assert result.stdout.str().count('raise RuntimeError("no such thing")') == 1
    assert result.parseoutcomes()["errors"] == 2


def test_of_errors_that_are_told_only_those_without_a_traceback_are_left_out() -> None:
    def report(nodeid: str, style: str) -> SimpleNamespace:
        longrepr = SimpleNamespace(reprtraceback=SimpleNamespace(style=style))
        return SimpleNamespace(nodeid=nodeid, longrepr=longrepr, user_properties=[("outcome", "error")])

    reports = [report("told", "value"), report("traced", "long"), report("again", "long"), report("untold", "value")]
    terminal = SimpleNamespace(stats={"error": reports})
    found = causes({"told": ("", "one"), "traced": ("", "two"), "again": ("", "two")})
    PytestSummary().leave_out(cast("pytest.TerminalReporter", terminal), found)
    assert [one.nodeid for one in terminal.stats["error"]] == ["traced", "untold"]


def test_causes_are_bounded_and_no_line_of_them_starts_with_what_is_quoted() -> None:
    long = "scenario a: first\n::error::second\n" + "\n".join(f"line {number} " + "x" * 9999 for number in range(99))
    found = causes({"one[a]": ("a", long), "one[b]": ("b", long.replace("scenario a", "scenario b"))})
    lines = list(cause_lines(found))
    assert len(lines) == 10
    assert lines[:2] == ["ERROR  in 2 scenarios (a, b): first  (2 checks)", "  | \\x3a:error::second"]
    assert max(map(len, lines)) < 500
    many = causes({f"one[{number}]": (str(number), f"cause {number}") for number in range(9)})
    assert list(cause_lines(many))[-1] == "ERROR  and 4 more"


# pytest's short summary.


@BOTH_WAYS
def test_at_80_columns_a_failed_line_keeps_its_message(
    pytester: pytest.Pytester, options: list[str], monkeypatch: pytest.MonkeyPatch, parallel: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *parallel)
    failed = [line for line in result.outlines if line.startswith("FAILED ")]
    assert len(failed) == result.parseoutcomes()["failed"]
    (line,) = (line for line in failed if "SA_10" in line)
    assert line.endswith(f"::test_SA_10_expected_findings[leaky] - missing {KEY[0]}:{KEY[2]}")
    assert sum("short test summary info" in line for line in result.outlines) == 1


@BOTH_WAYS
def test_a_failed_line_of_a_run_from_another_folder_can_be_pasted_back_there(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: list[str], parallel: list[str]
) -> None:
    pytester.makeini("[pytest]")
    monkeypatch.chdir(pytester.mkdir("below"))
    result = pytester.runpytest_subprocess("--gitleaks-eval", f"--rootdir={pytester.path}", *options, *parallel)
    assert section(result)
    (failed,) = (line for line in result.outlines if line.startswith("FAILED ") and "test_SA_1_" in line)
    nodeid = failed.removeprefix("FAILED ").partition(" - ")[0]
    assert Path(nodeid.partition("::")[0]).is_file()
    again = pytester.runpytest_subprocess("--gitleaks-eval", f"--rootdir={pytester.path}", *options, nodeid)
    assert again.parseoutcomes()["failed"] == 1


@BOTH_WAYS
@pytest.mark.parametrize("asked", ["-rA", "-ra", "-rs"])
def test_what_was_not_applicable_is_listed_with_its_reason_where_pytest_lists_skips(
    pytester: pytest.Pytester, options: list[str], asked: str, parallel: list[str]
) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, asked, *parallel)
    listed = [line for line in result.outlines if line.startswith("N/A [")]
    assert "N/A [2] EC-1: N/A - repo is not expected to be empty" in listed
    counts = [int(line.partition("[")[2].partition("]")[0]) for line in listed]
    assert sum(counts) == report(pytester)["summary"]["not_applicable"]


# The suite in JUnit's file.


@BOTH_WAYS
def test_the_suite_in_a_junit_file_has_decision_scores_scanner_and_configuration(
    pytester: pytest.Pytester, options: list[str], parallel: list[str]
) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options, "--junitxml=junit.xml", *parallel)
    suite = ET.parse(pytester.path / "junit.xml").getroot().find("testsuite")  # noqa: S314 - our own file
    assert suite is not None
    found = {one.get("name"): one.get("value") for one in suite.findall("properties/property")}
    summary, scanner = report(pytester)["summary"], report(pytester)["scanner"]
    assert found["gitleaks_eval.decision"] == summary["guarded_decision"] == "FAIL"
    assert found["gitleaks_eval.documented_decision"] == summary["decision"]
    assert float(found["gitleaks_eval.score"] or 0) == pytest.approx(5 * summary["score"], abs=0.01)
    assert found["gitleaks_eval.scanner_name"] == scanner["name"]
    assert found["gitleaks_eval.scanner_version"] == scanner["version"]
    assert {"gitleaks_eval.config", "gitleaks_eval.config_sha256", "gitleaks_eval.scanner_sha256"} <= found.keys()


# Names and colours.


@BOTH_WAYS
def test_with_v_each_check_is_named_by_scenario_and_title_and_what_can_be_pasted_stays(
    pytester: pytest.Pytester, options: list[str], monkeypatch: pytest.MonkeyPatch, parallel: list[str]
) -> None:
    # Of pytester.
    monkeypatch.delenv("PY_COLORS")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "-v", "-rA", *options, *parallel)
    text = result.stdout.str()
    assert "PASSED clean :: SA-1 Total secret count" in text
    assert "FAILED leaky :: SA-1 Total secret count" in text
    assert "N/A clean :: SA-11 Severity assignments correct" in text
    assert "test_SA_1_total_secret_count[clean]" in text
    # The summary has node ids and messages alone, and whoever wants no colour gets none.
    (failed,) = (line for line in result.outlines if line.startswith("FAILED ") and "test_SA_10" in line)
    assert "::test_SA_10_expected_findings[leaky] - missing " in failed
    assert "\x1b[" not in text
    assert " :: " not in pytester.runpytest_subprocess("--gitleaks-eval", *options).stdout.str()


def test_colours_are_there_where_they_are_asked_for(
    pytester: pytest.Pytester, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PY_COLORS")
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    assert any(line.startswith("\x1b[") and "FAIL  " in line for line in result.outlines)
