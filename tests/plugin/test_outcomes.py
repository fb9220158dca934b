"""Four outcomes, and what makes a run incomplete or partial."""

import json
from typing import Any

import pytest
from builders import SHIPPED
from corpus import KEY, OWN_CHECK, analysed_corpus, envelope, outcomes, report, write_analysis, write_truth

pytestmark = pytest.mark.usefixtures("own_environment")

BOTH_WAYS = pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])

ENDINGS = """
import os, pytest
from gitleaks_eval import check, check_equal, not_applicable

own = lambda number: check(f"ACME-{number}", f"Ending {number}", category="House Rules")

@pytest.fixture
def broken():
    raise RuntimeError("no such thing")

@pytest.fixture
def breaks_later():
    yield
    raise RuntimeError("cannot tidy up")

@own("passed")
def test_passes(analysis, evidence):
    check_equal(evidence, 1, 1)

@own("failed")
def test_fails(analysis, evidence):
    check_equal(evidence, 1, 2, what="things")

@own("failed")
def test_fails_by_assert(analysis):
    assert analysis.count("total_secrets") < 0

@own("not_applicable")
def test_does_not_apply(analysis):
    not_applicable("nothing to look at")

@own("error")
def test_skips_itself(analysis):
    pytest.skip("not today")

@own("error")
def test_raises(analysis):
    {}["absent"]

@own("error")
def test_cannot_be_set_up(broken, analysis):
    pass

@own("error")
def test_cannot_be_torn_down(breaks_later, analysis):
    pass

@pytest.mark.skip(reason="later")
@own("error")
def test_is_skipped_by_a_mark(analysis):
    pass

@pytest.mark.xfail(reason="known")
@own("failed")
def test_is_expected_to_fail(analysis):
    assert False

@own("passed")
def test_takes_no_scenario():
    pass
"""


@BOTH_WAYS
def test_every_way_a_check_can_end_has_its_outcome(pytester: pytest.Pytester, parallel: list[str]) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(test_own=ENDINGS)
    pytester.runpytest_subprocess("--gitleaks-eval", *options, *parallel, "test_own.py")
    document = report(pytester)
    own = [result for result in document["results"] if result["category"] == "House Rules"]
    assert len(own) == 2 * 10 + 1
    for result in own:
        assert result["outcome"] == result["check_id"].removeprefix("ACME-"), result
        assert result["message"] or result["outcome"] == "passed"
        assert result["passed"] == (result["outcome"] in {"passed", "not_applicable"})
    summary = document["summary"]
    assert summary["errors"] == 2 * 5
    assert summary["total_checks"] == sum(summary[name] for name in ("passed", "failed", "not_applicable", "errors"))
    assert document["incomplete"]
    assert summary["guarded_decision"] == "FAIL"


def test_a_crashed_worker_leaves_an_error_and_an_incomplete_run(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(
        test_own="""
        import os
        from gitleaks_eval import check
        @check("ACME-1", "Crashes", category="House Rules")
        def test_crashes(scenario):
            if scenario.name == "leaky":
                os._exit(3)
        """
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-n2", "test_own.py")
    assert result.ret == 1
    document = report(pytester)
    assert outcomes(document)["ACME-1[leaky]"] == "error"
    assert outcomes(document)["ACME-1[clean]"] == "passed"
    assert document["incomplete"]


@BOTH_WAYS
def test_checks_that_were_not_run_are_errors(pytester: pytest.Pytester, parallel: list[str]) -> None:
    options = analysed_corpus(pytester.path / "corpus", missing=[KEY])
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-x", *parallel)
    assert result.ret in {1, 2}
    document = report(pytester)
    assert document["incomplete"]
    assert document["summary"]["total_checks"] == 78
    assert document["summary"]["errors"] > 0
    assert document["summary"]["guarded_decision"] == "FAIL"
    result.stdout.fnmatch_lines(["INCOMPLETE  * selected checks were not run: the run ended early"])


def test_an_interrupted_run_is_incomplete_and_still_reports(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(
        test_own="""
        from gitleaks_eval import check
        @check("ACME-1", "Interrupted", category="House Rules")
        def test_interrupted():
            raise KeyboardInterrupt
        """
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert outcomes(report(pytester))["ACME-1[None]"] == "error"
    assert report(pytester)["incomplete"]


@pytest.mark.parametrize(
    ("narrowing", "selected"),
    [(["-k", "SA_1_ or SA_2_"], 4), (["-m", "performance"], 8), (["--deselect", "CHECKS/test_rollup.py"], 70)],
)
def test_a_selection_is_partial_has_no_decision_and_keeps_the_full_runs_files(
    pytester: pytest.Pytester, narrowing: list[str], selected: int
) -> None:
    from gitleaks_eval.plugin.folders import CHECKS  # noqa: PLC0415 - its path is part of an argument

    options = analysed_corpus(pytester.path / "corpus")
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    full = report(pytester)
    arguments = [argument.replace("CHECKS", CHECKS.as_posix()) for argument in narrowing]
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *arguments)
    result.stdout.fnmatch_lines([f"PARTIAL {selected} of 78 checks, no decision"])
    document = report(pytester, "gitleaks-eval-results/partial")
    assert document["partial"]
    assert document["summary"]["decision"] is document["summary"]["guarded_decision"] is None
    assert report(pytester) == full


def test_rerunning_the_last_failures_is_partial(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus", missing=[KEY])
    failed = report_after(pytester, options)["summary"]["failed"]
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "--lf")
    result.stdout.fnmatch_lines([f"PARTIAL {failed} of 78 checks, no decision"])


def report_after(pytester: pytest.Pytester, options: list[str]) -> dict[str, Any]:
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    return report(pytester)


def test_a_check_of_ones_own_that_is_left_out_makes_the_run_partial(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    pytester.makepyfile(test_own=OWN_CHECK)
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py", "-k", "not ACME")
    result.stdout.fnmatch_lines(["PARTIAL 78 of 80 checks, no decision"])


def test_a_missed_secret_is_a_guarded_fail_beside_a_documented_strong_pass(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus", missing=[KEY])
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    document = report(pytester)
    assert document["summary"]["decision"] == "STRONG_PASS"
    assert document["summary"]["guarded_decision"] == "FAIL"
    failed = {name for name, outcome in outcomes(document).items() if outcome == "failed"}
    ids = ("SA-1", "SA-2", "SA-3", "SA-5", "SA-7", "SA-8", "SA-9", "SA-10", "SD-1")
    assert failed == {f"{check_id}[leaky]" for check_id in ids}
    result.stdout.fnmatch_lines(
        [
            "FAIL  1 of 2 expected secrets found, 1 MISSED, 0 unexpected",
            "next: find again what is MISSED; *",
            f"MISSED  leaky  deploy/key.pem:1  private-key  HIGH  fails {' '.join(ids)}",
            "documented score * STRONG_PASS",
            "Accuracy 8 failed * | Detection 1 failed * | 6 more categories 5.00 | leaky 9 failed | *",
        ]
    )


def test_a_total_without_a_list_of_findings_is_matched_by_count(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus", missing=[KEY])
    write_truth(pytester.path / "corpus/truth", "leaky", [KEY], findings=[], total_secrets=3, unique_secrets=3)
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    counts = report(pytester)["summary"]["findings"]
    assert counts == {
        "expected": 3,
        "detected": 1,
        "moved": 0,
        "relabelled": 0,
        "missed": 2,
        "unexpected": 0,
        "unlabelled": 0,
    }
    result.stdout.fnmatch_lines(["MISSED  leaky  2 (by count*"])


def test_an_analysis_that_cannot_be_read_is_an_error_of_its_scenario(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    broken = pytester.path / "corpus/analyses/leaky.json"
    for content, message in (
        ("{", "line 1, column *: not JSON: *"),
        ("[]", "*is a list, not an object"),
        ("{}", "*neither*"),
    ):
        broken.write_text(content, encoding="utf-8")
        result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
        assert result.ret == 1
        result.stdout.fnmatch_lines([f"ERROR  analysis {broken}: {message}  ({SHIPPED} checks)"])
        assert {outcome for name, outcome in outcomes(report(pytester)).items() if "leaky" in name} == {"error"}


@BOTH_WAYS
def test_hostile_text_in_an_analysis_is_escaped_wherever_it_goes(
    pytester: pytest.Pytester, parallel: list[str]
) -> None:
    nasty = "a\ud800\x1b[31m\u202e|`<b>\n]]>{{ x }}.py"
    options = analysed_corpus(pytester.path / "corpus")
    write_analysis(pytester.path / "corpus/analyses", "clean", [])
    document = envelope([("plain.py", "rule", 1)])
    document["data"]["findings"][0]["file_path"] = nasty
    document["data"]["secrets_by_rule"] = {nasty: 1}
    path = pytester.path / "corpus/analyses/clean.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    files = ["--junitxml=junit.xml", "--json-report", "--json-report-file=json.json"]
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, *files, *parallel)
    assert result.ret == 1
    assert "\x1b[31m" not in result.stdout.str()
    assert "\u202e" not in result.stdout.str()
    written = [path for path in (pytester.path / "gitleaks-eval-results").rglob("*.*") if path.is_file()]
    for path in [*written, pytester.path / "junit.xml", pytester.path / "json.json"]:
        content = path.read_bytes().decode("utf-8")
        assert "\x1b" not in content, path
        if path.suffix == ".json":
            assert "\ud800" not in json.dumps(json.loads(content), ensure_ascii=False), path
    scorecard = (pytester.path / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert "<b>" not in scorecard.replace("\\<b\\>", "")


def test_what_is_shown_by_its_message_alone_keeps_its_traceback_for_other_plugins(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "def pytest_exception_interact(node, call):\n"
        "    print(len(call.excinfo.traceback) > 2, node.config.option.tbstyle)\n"
    )
    pytester.makepyfile(test_own=OWN_CHECK.replace("evidence, 2", "evidence, -1"))
    options = analysed_corpus(pytester.path / "corpus")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "test_own.py", "-s")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*True auto"])
    assert "check_at_most(" not in result.stdout.str()
