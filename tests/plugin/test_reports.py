"""The files and the terminal section of a run."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from builders import SHIPPED
from corpus import KEY, TOKEN, analysed_corpus, envelope, outcomes, report, shipped_scenarios, write_analysis

from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.reports.output.folder import MARKER

pytestmark = pytest.mark.usefixtures("own_environment")

BOTH_WAYS = pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])


@pytest.fixture
def options(pytester: pytest.Pytester) -> list[str]:
    """A run in which the key is missed."""
    return analysed_corpus(pytester.path / "corpus", missing=[KEY])


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@BOTH_WAYS
def test_the_report_follows_its_schema(pytester: pytest.Pytester, options: list[str], parallel: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options, *parallel)
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert document["scanner"] == {
        "name": "gitleaks", "version": "8.30.1", "source": None, "sha256": None, "config": None,
        "config_sha256": None, "command": None, "decode_depth": None,
    }  # fmt: skip
    assert document["findings"] == [
        {
            "scenario": "leaky", "file_path": "config/token.env", "line_number": 4, "rule_id": "github-pat",
            "severity": "HIGH", "status": "exact", "reported_rule_id": "github-pat", "reported_line_number": 4,
            "reported_severity": "HIGH",
        },
        {
            "scenario": "leaky", "file_path": "deploy/key.pem", "line_number": 1, "rule_id": "private-key",
            "severity": "HIGH", "status": "missed", "reported_rule_id": None, "reported_line_number": None,
            "reported_severity": None,
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("attempts", "said"), [(2, 2), (1, 1), (0, None), (-1, None), (True, None), ("2", None), (1.5, None), ([], None)]
)
def test_the_attempts_of_a_foreign_analysis_are_a_number_above_zero_or_not_known(
    pytester: pytest.Pytester, options: list[str], attempts: object, said: int | None
) -> None:
    path = pytester.path / "corpus/analyses/clean.json"
    analysis = read(path)
    path.write_text(json.dumps({**analysis, "data": {**analysis["data"], "scan_attempts": attempts}}), encoding="utf-8")
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert {one["name"]: one["scan_attempts"] for one in document["scenarios"]} == {"clean": said, "leaky": 1}


def test_evidence_is_json_values(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    results = {f"{result['check_id']}[{result['scenario']}]": result for result in report(pytester)["results"]}
    assert (results["SA-1[leaky]"]["expected"], results["SA-1[leaky]"]["actual"]) == (2, 1)
    assert results["SA-7[leaky]"]["actual"] == {"count": 1, "items": ["github-pat"]}
    assert results["SA-10[leaky]"]["message"] == "missing deploy/key.pem:1"
    assert results["SA-1[leaky]"]["name"] == "Total secret count"


def test_the_scorecard_has_the_keys_of_the_reference(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    card = read(pytester.path / "gitleaks-eval-results/scorecard.json")
    assert {"tool", "version", "generated_at", "description", "summary", "dimensions"} <= card.keys()
    assert {"critical_failures", "thresholds", "metadata"} <= card.keys()
    summary = card["summary"]
    assert summary["passed"] + summary["failed"] == summary["total_checks"] == 78
    assert summary["score_percent"] == pytest.approx(summary["score"] * 100, abs=0.01)
    assert summary["normalized_score"] == pytest.approx(summary["score"] * 5)
    assert [dimension["id"] for dimension in card["dimensions"]] == [f"D{number}" for number in range(1, 9)]
    first = card["dimensions"][0]
    assert (first["name"], first["weight"], first["total_checks"]) == ("Accuracy", 0.125, 22)
    assert first["weighted_score"] == pytest.approx(first["score"] * 0.125)
    assert len(first["checks"]) == 11
    assert card["metadata"]["repositories_evaluated"] == 2
    failures = {(failure["check_id"], failure["scenario"]) for failure in card["critical_failures"]}
    assert failures == {(f"SA-{number}", "leaky") for number in (1, 7, 8, 9, 10)} | {("SD-1", "leaky")}


def test_each_scenario_has_a_report_of_its_own(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    document = read(pytester.path / "gitleaks-eval-results/leaky_eval.json")
    assert document["repository"] == "leaky"
    assert (document["total_checks"], document["failed_checks"]) == (SHIPPED, 9)
    assert document["pass_rate"] == document["passed_checks"] / SHIPPED
    assert len(document["results"]) == SHIPPED


def test_the_folder_ignores_itself_and_holds_no_report_of_yesterday(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    folder, truth = pytester.path / "gitleaks-eval-results", pytester.path / "corpus/truth"
    (truth / "clean.json").rename(pytester.path / "clean.json")
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    (pytester.path / "clean.json").rename(truth / "clean.json")
    (truth / "leaky.json").unlink()
    assert (folder / "leaky_eval.json").exists()
    pytester.runpytest_subprocess("--gitleaks-eval", *options)
    assert "*" in (folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert sorted(path.name for path in folder.iterdir()) == [
        ".gitignore", MARKER, "clean_eval.json", "code-quality.json", "comment.md", "configuration.sarif",
        "evaluation_report.json", "report.html", "scorecard.json", "scorecard.md",
    ]  # fmt: skip


@BOTH_WAYS
def test_junit_and_json_report_carry_the_same_evidence(
    pytester: pytest.Pytester, options: list[str], parallel: list[str]
) -> None:
    files = ["--junitxml=junit.xml", "--json-report", "--json-report-file=report.json"]
    pytester.runpytest_subprocess("--gitleaks-eval", *options, *files, *parallel)
    expected = report(pytester)
    cases = ET.parse(pytester.path / "junit.xml").getroot().iter("testcase")  # noqa: S314 - made by our own run
    properties = [{p.attrib["name"]: p.attrib["value"] for p in case.iter("property")} for case in cases]
    json_report = read(pytester.path / "report.json")
    tests = [dict(pair for part in test["user_properties"] for pair in part.items()) for test in json_report["tests"]]
    for carried in (properties, tests):
        found = {f"{one['check_id']}[{one['scenario']}]": one for one in carried}
        assert len(found) == 78
        for result in expected["results"]:
            one = found[f"{result['check_id']}[{result['scenario']}]"]
            assert one["outcome"] == result["outcome"]
            assert one["message"] == result["message"]
            assert json.loads(one["expected"]) == result["expected"]
            assert json.loads(one["actual"]) == result["actual"]
    assert json_report["gitleaks_eval"]["summary"] == expected["summary"]


def test_the_reports_are_written_without_a_terminal(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-p", "no:terminal", "-p", "no:cacheprovider")
    assert result.ret == 1
    assert result.stdout.str() == ""
    assert report(pytester)["summary"]["failed"] == 9


def test_nothing_warns(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-W", "error", "--json-report")
    assert result.ret == 1
    result.assert_outcomes(failed=9, passed=report(pytester)["summary"]["passed"])
    result.stderr.no_fnmatch_line("*Warning*")


def test_a_failing_check_prints_five_lines_and_no_internals(pytester: pytest.Pytester, options: list[str]) -> None:
    command = ["--gitleaks-eval", *options, "-k", "SA_10 and leaky", "-vv", "-l", "--tb=long"]
    result = pytester.runpytest_subprocess(*command)
    lines = result.stdout.lines
    start = next(index for index, line in enumerate(lines) if line.startswith("____"))
    end = next(index for index, line in enumerate(lines[start:], start) if line.startswith("===="))
    shown = [line for line in lines[start + 1 : end] if line.strip()]
    assert shown[0] == "missing deploy/key.pem:1"
    assert len(shown) <= 5
    result.stdout.no_fnmatch_line("*def *")


def test_the_short_summary_says_what_is_missing(
    pytester: pytest.Pytester, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "-k", "SA_10")
    result.stdout.fnmatch_lines(["FAILED *::test_SA_10_expected_findings?leaky? - missing deploy/key.pem:1*"])


@pytest.mark.parametrize(
    ("verbosity", "shown", "hidden"),
    [
        ("-v", ["category  Accuracy * 8 failed  *", "scenario  clean  ok  5.00"], ["*more categories*"]),
        ("-q", ["FAIL  *", "MISSED  *", "Accuracy 8 failed *"], ["gitleaks-eval: *", "report: *"]),
        ("-qq", ["FAIL  *"], ["MISSED  *", "report: *"]),
        ("--no-header", ["FAIL  *", "report: gitleaks-eval-results/scorecard.md"], ["gitleaks-eval: *"]),
    ],
)
def test_the_section_respects_what_is_asked_of_the_terminal(
    pytester: pytest.Pytester, options: list[str], verbosity: str, shown: list[str], hidden: list[str]
) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, verbosity)
    result.stdout.fnmatch_lines(shown)
    for line in hidden:
        result.stdout.no_fnmatch_line(line)


def test_moved_relabelled_and_unexpected_findings_are_at_most_a_weak_pass(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    moved, other = ("config/token.env", "github-pat", 6), ("deploy/key.pem", "generic-api-key", 1)
    write_analysis(pytester.path / "corpus/analyses", "leaky", [moved, other])
    write_analysis(pytester.path / "corpus/analyses", "clean", [TOKEN])
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    counts = report(pytester)["summary"]["findings"]
    assert counts == {
        "expected": 2,
        "detected": 0,
        "moved": 1,
        "relabelled": 1,
        "missed": 0,
        "unexpected": 1,
        "unlabelled": 0,
    }
    assert report(pytester)["summary"]["guarded_decision"] == "WEAK_PASS"
    result.stdout.fnmatch_lines(
        [
            "WEAK_PASS  0 of 2 expected secrets found, 1 moved, 1 relabelled, 1 unexpected*",
            "UNEXPECTED  clean  config/token.env:4  github-pat  HIGH  fails *",
            "MOVED  leaky  config/token.env:4 (reported on line 6)  github-pat  HIGH  fails *",
            "RELABELLED  leaky  deploy/key.pem:1 (reported as generic-api-key)  private-key  MEDIUM  fails *",
        ]
    )


def test_at_most_twenty_findings_are_listed_the_missed_first(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus", missing=[KEY])
    noise = [(f"noise/{number}.py", "generic-api-key", 1) for number in range(30)]
    write_analysis(pytester.path / "corpus/analyses", "clean", noise)
    lines = pytester.runpytest_subprocess("--gitleaks-eval", *options).stdout.lines
    listed = [line for line in lines if line.startswith(("MISSED", "UNEXPECTED"))]
    assert len(listed) == 20
    assert listed[0].startswith("MISSED  leaky")
    assert "and 11 more" in lines


def test_a_folder_that_cannot_be_written_is_refused_before_any_test(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options, "--gitleaks-output=/proc/results")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --gitleaks-output /proc/results: cannot be written to: *"])


def test_the_analyses_of_a_scan_read_back_to_the_same_results(pytester: pytest.Pytester) -> None:
    scenarios = shipped_scenarios(pytester.path / "corpus", "cloud-mixed", "historical-secrets", "no-secrets")
    scan = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-version=8.30.1", scenarios, "-n2")
    assert scan.ret == 0
    scanned = report(pytester)
    analyses = "--gitleaks-analysis=gitleaks-eval-results/analysis"
    again = pytester.runpytest_subprocess("--gitleaks-eval", scenarios, analyses, "--gitleaks-output=again")
    assert again.ret == 0
    read_back = report(pytester, "again")
    assert outcomes(read_back) == outcomes(scanned)
    assert read_back["findings"] == scanned["findings"]
    assert read_back["corpus_sha256"] == scanned["corpus_sha256"]
    assert read_back["summary"] == scanned["summary"]
    assert schema_problems("report", scanned) == []
    assert schema_problems("envelope", read(pytester.path / "gitleaks-eval-results/analysis/cloud-mixed.json")) == []


def test_an_analysis_in_the_legacy_format_is_evaluated(pytester: pytest.Pytester) -> None:
    options = analysed_corpus(pytester.path / "corpus")
    data = envelope([KEY, TOKEN])["data"]
    legacy = {
        "schema_version": "1.0", "generated_at": "2026-01-01T00:00:00Z", "repo_name": "leaky", "repo_path": "leaky",
        "results": data,
    }  # fmt: skip
    (pytester.path / "corpus/analyses/leaky.json").write_text(json.dumps(legacy), encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", *options)
    assert result.ret == 0
    assert report(pytester)["scanner"]["version"] == "8.30.1"


def test_parallel_and_serial_runs_report_the_same(pytester: pytest.Pytester, options: list[str]) -> None:
    for output, parallel in (("one", []), ("two", ["-n2"])):
        pytester.runpytest_subprocess("--gitleaks-eval", *options, f"--gitleaks-output={output}", *parallel)
    one, two = (without_times(report(pytester, output)) for output in ("one", "two"))
    assert one == two


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    results = [{**result, "duration_ms": 0} for result in document["results"]]
    return {**document, "generated_at": "", "results": results}
