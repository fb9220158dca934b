"""Comparisons through the plugin, with real scanners: verdicts, exit statuses, reports, and what goes wrong."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from builders import SHIPPED, secret
from corpus import KEY, OWN_CHECK, TOKEN, Place, analysed_corpus, shipped_scenarios, write_analysis, write_truth
from ran import RESULTS, Ran, evaluate, run

from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.plugin.folders import CHECKS, FINDINGS, LINT

OLD, MIDDLE, NEW = "8.16.0", "8.18.4", "8.30.1"
BETTER = "betterleaks@1.4.0"
DEFAULT = "[extend]\nuseDefault = true\n"
USAGE_ERROR = 4
LOST_KEY = "deploy/id_rsa:1"


def versions(*names: str) -> list[str]:
    return [f"--gitleaks-version={name}" for name in names]


def configurations(folder: Path, **contents: str) -> list[str]:
    """Write `<name>/.gitleaks.toml` for each, and the options that compare them."""
    for name, content in contents.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / ".gitleaks.toml").write_text(content, encoding="utf-8")
    return [f"--gitleaks-config={name}/.gitleaks.toml" for name in contents]


@pytest.fixture(scope="module", autouse=True)
def scanners(gitleaks: Callable[[str], Path]) -> None:
    """Installed once, outside the runs."""
    for version in (OLD, MIDDLE, NEW):
        gitleaks(version)


# --- versions


OWN_FAILING = """
from gitleaks_eval import check

@check("ACME-2", "No secret anywhere", category="House Rules")
def test_ACME_2_none(analysis):
    assert analysis.count("total_secrets") == 0
"""


@pytest.fixture(scope="module")
def upgrade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a check and a scenario folder of its own."""
    folder = tmp_path_factory.mktemp("upgrade")
    shipped_scenarios(folder / "scenarios", "cloud-mixed", "no-secrets")
    (folder / "test_own.py").write_text(OWN_CHECK + OWN_FAILING, encoding="utf-8")
    (folder / "summary.md").write_text("# Before\n", encoding="utf-8")
    return folder


UPGRADE = [*versions(OLD, MIDDLE, NEW), "--gitleaks-scenarios=scenarios", "--gitleaks-findings", "-rxf", "test_own.py"]


@pytest.fixture(scope="module")
def upgraded(upgrade: Path) -> Ran:
    return evaluate(upgrade, *UPGRADE, GITHUB_STEP_SUMMARY=str(upgrade / "summary.md"))


def test_an_upgrade_says_precisely_what_changes_and_is_safe(upgraded: Ran) -> None:
    assert upgraded.verdicts == {MIDDLE: "SAFE", NEW: "SAFE"}
    assert upgraded.line(f"SAFE  {NEW}") == (
        f"SAFE  {NEW} against {OLD}: 1 exact again in cloud-mixed; 1 gone in cloud-mixed; "
        "slack-bot-token and slack-access-token are one rule, renamed"
    )
    pair = upgraded.pairs[NEW]
    (restored,), (gone,) = pair["restored"], pair["gone"]
    assert (restored["rule_id"], restored["baseline_rule_id"]) == ("slack-bot-token", "slack-access-token")
    assert (gone["scenario"], gone["candidate_rule_id"]) == ("cloud-mixed", None)
    kinds = ("lost", "gained", "new", "moved", "relabelled", "severity_changed", "checks_worse")
    assert not any(pair[kind] for kind in kinds)
    better = {
        f"{change['check_id']} {change['outcome']} {change['candidate_outcome']}" for change in pair["checks_better"]
    }
    assert {"SA-9 failed passed", "SA-10 failed passed"} <= better
    assert pair["time_ratio"] > 0


def test_a_safe_comparison_ends_with_0_though_the_baseline_fails_checks_which_count_as_failed(upgraded: Ran) -> None:
    assert upgraded.status == 0
    failed = [name for name, outcome in upgraded.outcomes(OLD).items() if outcome == "failed"]
    assert "SA-10[cloud-mixed]" in failed
    assert f"SA_10_expected_findings[{OLD}-cloud-mixed] - as in baseline" in upgraded.text
    report = upgraded.json(f"{OLD}/evaluation_report.json")
    assert report["summary"]["failed"] == len(failed)
    assert report["summary"]["guarded_decision"] == "WEAK_PASS"
    (row,) = (one for one in upgraded.comparison["candidates"] if one["name"] == OLD)
    assert (row["scanner"], row["version"], row["guarded_decision"]) == ("gitleaks", OLD, "WEAK_PASS")
    assert row["score"] == report["summary"]["score"] < 1


def test_a_users_own_check_that_fails_with_each_candidate_is_as_in_the_baseline(upgraded: Ran) -> None:
    for name in (OLD, MIDDLE, NEW):
        assert upgraded.outcomes(name)["ACME-1[cloud-mixed]"] in {"passed", "failed"}
        assert upgraded.outcomes(name)["ACME-2[cloud-mixed]"] == "failed"
        assert f"test_ACME_2_none[{name}-cloud-mixed] - as in baseline" in upgraded.text


def test_each_candidate_has_its_own_reports_with_metrics(upgraded: Ran) -> None:
    for row in upgraded.comparison["candidates"]:
        report = upgraded.json(f"{row['name']}/evaluation_report.json")
        assert schema_problems("report", report) == []
        assert report["scanner"]["version"] == row["version"] == row["name"]
        assert (upgraded.folder / RESULTS / row["name"] / "analysis/cloud-mixed.json").is_file()
        assert (upgraded.folder / RESULTS / row["name"] / "scorecard.md").is_file()
        metrics = report["metrics"]
        assert {name: metrics[name] for name in ("tp", "fp", "fn", "precision", "recall", "f1")} == {
            name: row[name] for name in ("tp", "fp", "fn", "precision", "recall", "f1")
        }
        assert set(metrics["by_scenario"]) == {"cloud-mixed", "no-secrets"}
    assert not (upgraded.folder / RESULTS / "evaluation_report.json").exists()


def test_a_relabelled_and_a_doubled_finding_lower_precision_and_recall_of_the_baseline(upgraded: Ran) -> None:
    old = upgraded.json(f"{OLD}/evaluation_report.json")["metrics"]
    new = upgraded.json(f"{NEW}/evaluation_report.json")["metrics"]
    assert (new["fp"], new["fn"]) == (0, 0)
    # The relabelled one is both; the doubled one is unexpected.
    assert (old["tp"], old["fp"], old["fn"]) == (new["tp"] - 1, 2, 1)


def test_the_comparison_is_appended_to_the_summary_of_a_github_job(upgraded: Ran) -> None:
    summary = (upgraded.folder / "summary.md").read_text(encoding="utf-8")
    # The verdict first, for who reads no further.
    assert summary.startswith("# Before\n<!-- gitleaks-eval -->\n## SAFE: ")
    assert summary.endswith(upgraded.markdown)
    assert f"## SAFE: {NEW} against {OLD}" in upgraded.markdown
    assert f"### Error book of {OLD}" in upgraded.markdown


def test_each_expected_finding_is_a_test_whose_id_can_be_pasted_back(upgraded: Ran) -> None:
    node = f"{FINDINGS}/test_findings.py::test_expected_finding[{NEW}-cloud-mixed-.env.production:7:github-pat]"
    again = run(upgraded.folder, *UPGRADE[:-2], node, "-v")
    assert again.status == 0
    assert f"[{NEW}-cloud-mixed-.env.production:7:github-pat] PASSED" in again.text
    assert "collected 1 item" in again.text
    flagged = evaluate(upgraded.folder, *UPGRADE[:-2], node)
    assert (flagged.status, "1 passed" in flagged.text) == (0, True)


def test_findings_of_the_baseline_that_are_not_as_expected_are_tests_as_in_baseline(upgraded: Ran) -> None:
    lines = [line for line in upgraded.text.splitlines() if line.startswith("XFAIL") and "test_findings.py" in line]
    (expected,) = (line for line in lines if "test_expected_finding[" in line)
    (unexpected,) = (line for line in lines if "test_no_unexpected_finding[" in line)
    assert re.search(rf"\[{re.escape(OLD)}-cloud-mixed-.*:\d+:slack-bot-token\] - as in baseline", expected)
    assert f"[{OLD}-cloud-mixed] - as in baseline" in unexpected


def test_two_processes_leave_the_same_comparison_but_for_times(upgrade: Path, upgraded: Ran) -> None:
    first = timeless(upgraded.comparison)
    parallel = evaluate(upgrade, *UPGRADE, "-n2")
    assert parallel.status == 0
    assert timeless(parallel.comparison) == first
    counts = [re.findall(r"(\d+) (passed|xfailed|not applicable)", one.text) for one in (upgraded, parallel)]
    assert counts[0] == counts[1]
    assert len(counts[0]) == 3


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        times = {"scan_ms", "scan_ms_spread", "time_ratio"}
        return {name: timeless(one) for name, one in value.items() if name not in times}
    return [timeless(one) for one in value] if isinstance(value, list) else value


# --- another scanner


def test_betterleaks_loses_the_key_ids_without_a_secret_key_beside_them(tmp_path: Path) -> None:
    scenarios = shipped_scenarios(tmp_path / "scenarios", "aws-credentials")
    ran = evaluate(tmp_path, *versions(NEW, BETTER), scenarios)
    assert (ran.status, ran.verdicts) == (1, {BETTER: "REGRESSION"})
    lost = ran.pairs[BETTER]["lost"]
    assert [(one["file_path"], one["line_number"], one["rule_id"]) for one in lost] == [
        (".aws/credentials", 2, "aws-access-token"),
        ("config/aws.py", 4, "aws-access-token"),
    ]
    assert ran.line("LOST  aws-credentials  config/aws.py") == (
        "LOST  aws-credentials  config/aws.py:4  aws-access-token  CRITICAL"
        "  another rule: it wants a find of aws-secret-access-key near it"
    )
    report = ran.json(f"{BETTER}/evaluation_report.json")
    assert (report["scanner"]["name"], report["scanner"]["version"]) == ("betterleaks", "1.4.0")
    envelope = ran.json(f"{BETTER}/analysis/aws-credentials.json")
    assert (envelope["metadata"]["scanner"], envelope["data"]["tool"]) == ("betterleaks", "gitleaks")
    assert f"FAILED {CHECKS}/test_accuracy.py::test_SA_10_expected_findings[{BETTER}-aws-credentials]" in ran.text


# --- configurations


ALLOWED = "[allowlist]\npaths = ['''^deploy/id_rsa$''']\n"
NOISY = DEFAULT + "[[rules]]\nid = 'noise'\ndescription = 'noise'\nregex = '''BEGIN'''\n"


def configured(folder: Path) -> Path:
    """A project with several configurations."""
    shipped_scenarios(folder / "scenarios", "private-keys")
    configurations(
        folder,
        base=DEFAULT,
        drop=DEFAULT + "disabledRules = ['private-key']\n",
        allow=DEFAULT + ALLOWED,
        noisy=NOISY,
        both=NOISY + ALLOWED,
        typo=DEFAULT + "titel = 'ours'\n",
        same=DEFAULT + "# A comment.\n",
    )
    return folder


def compared(folder: Path, *names: str, more: tuple[str, ...] = (), **environment: str) -> Ran:
    options = [f"--gitleaks-config={name}/.gitleaks.toml" for name in names]
    return evaluate(folder, *versions(NEW), *options, "--gitleaks-scenarios=scenarios", *more, **environment)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return configured(tmp_path)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    project = configured(tmp_path_factory.mktemp("changed"))
    names = ("base", "drop", "allow", "noisy", "both", "typo", "same")
    return compared(project, *names, more=("--gitleaks-findings", "-rfx", "--gitleaks-fail-on=regression"))


def test_a_dropped_rule_and_an_allowlisted_secret_are_regressions_and_a_noisy_rule_is_to_review(changed: Ran) -> None:
    assert changed.status == 1
    assert changed.verdicts == {
        "drop/.gitleaks.toml": "REGRESSION",
        "allow/.gitleaks.toml": "REGRESSION",
        "noisy/.gitleaks.toml": "REVIEW",
        "both/.gitleaks.toml": "REGRESSION",
        "typo/.gitleaks.toml": "REGRESSION",
        "same/.gitleaks.toml": "SAFE",
    }
    assert f"{RESULTS}/comparison.md" in changed.text


@pytest.mark.parametrize(("name", "entry"), [("drop", "[extend] disabledRules[0]"), ("allow", "[allowlist] paths[0]")])
def test_what_is_lost_is_named_with_the_entry_that_hides_it(changed: Ran, name: str, entry: str) -> None:
    hidden = f"hidden by {name}/.gitleaks.toml {entry}"
    assert f"LOST  private-keys  {LOST_KEY}  private-key  HIGH  {hidden}" in changed.text
    lost = [one for one in changed.pairs[f"{name}/.gitleaks.toml"]["lost"] if one["file_path"] == "deploy/id_rsa"]
    assert [(one["rule_id"], one["line_number"], one["hidden_by"]) for one in lost] == [("private-key", 1, hidden)]
    assert hidden.replace("[", "\\[").replace("]", "\\]") in changed.markdown or hidden in changed.markdown


def test_what_a_noisy_rule_finds_is_new_and_fails_a_test_of_its_scenario(changed: Ran) -> None:
    new = changed.pairs["noisy/.gitleaks.toml"]["new"]
    assert {(one["scenario"], one["rule_id"]) for one in new} == {("private-keys", "noise")}
    node = f"{FINDINGS}/test_findings.py::test_no_unexpected_finding[noisy/.gitleaks.toml-private-keys]"
    assert f"XFAIL {node} - to review: findings differ from the baseline" in changed.text


def test_what_is_lost_fails_the_test_of_that_finding(changed: Ran) -> None:
    node = f"test_findings.py::test_expected_finding[allow/.gitleaks.toml-private-keys-{LOST_KEY}:private-key]"
    assert f"{node} - missed: {LOST_KEY} private-key" in changed.text


def test_no_value_of_a_secret_is_in_any_report(changed: Ran) -> None:
    # The noisy rule reports the first line of each key, whose body follows.
    for path in (changed.folder / RESULTS).rglob("*.*"):
        if path.is_file():
            assert b"BEGIN RSA" not in path.read_bytes()


def test_what_differs_in_nothing_says_so(changed: Ran) -> None:
    assert changed.pairs["same/.gitleaks.toml"]["reasons"] == ["nothing differs"]


def test_what_is_lost_between_neighbours_alone_is_said_and_decides_nothing(project: Path) -> None:
    configurations(project, again=(project / "allow/.gitleaks.toml").read_text(encoding="utf-8"))
    ran = compared(project, "allow", "base", "again")
    assert (ran.status, ran.verdicts) == (0, {"base/.gitleaks.toml": "SAFE", "again/.gitleaks.toml": "SAFE"})
    (pair,) = (pair for pair in ran.comparison["pairs"] if pair["neighbour"])
    assert (pair["candidate"], pair["verdict"]) == ("again/.gitleaks.toml", "REGRESSION")
    assert "neighbours  again/.gitleaks.toml against base/.gitleaks.toml: 1 lost" in ran.text
    for row in ran.comparison["candidates"]:
        assert (project / RESULTS / row["folder"] / "evaluation_report.json").is_file()
    assert "### Rules" in ran.markdown


@pytest.mark.parametrize(("fail_on", "status"), [("review", 1), ("regression", 0)])
def test_what_is_to_review_fails_unless_only_regressions_do(project: Path, fail_on: str, status: int) -> None:
    more = (f"--gitleaks-fail-on={fail_on}", "--gitleaks-findings", "-rfx")
    ran = compared(project, "base", "noisy", more=more)
    assert (ran.status, ran.verdicts) == (status, {"noisy/.gitleaks.toml": "REVIEW"})
    assert ran.outcomes("noisy-gitleaks.toml")["SA-1[private-keys]"] == "failed"
    for name in ("test_SA_1_total_secret_count", "test_no_unexpected_finding"):
        excused = f"{name}[noisy/.gitleaks.toml-private-keys] - to review: findings differ" in ran.text
        assert excused == (fail_on == "regression")
    if fail_on == "review":
        assert re.search(r"FAILED .*test_no_unexpected_finding\[noisy/.*\] - unexpected: config/\S+:1 noise", ran.text)


def test_a_loss_is_not_excused_by_what_is_to_review(changed: Ran) -> None:
    assert f"test_SA_10_expected_findings[both/.gitleaks.toml-private-keys] - missing {LOST_KEY}" in changed.text
    assert "test_SD_2_no_unexpected_rules[both/.gitleaks.toml-private-keys] - unexpected noise" in changed.text
    assert f"test_expected_finding[both/.gitleaks.toml-private-keys-{LOST_KEY}:private-key] - missed" in changed.text


def test_a_loss_is_not_excused_by_a_baseline_that_fails_the_same_checks(project: Path) -> None:
    ran = compared(project, "noisy", "both", more=("-rfx", "--gitleaks-fail-on=regression"))
    assert (ran.status, ran.verdicts) == (1, {"both/.gitleaks.toml": "REGRESSION"})
    check = "test_SD_2_no_unexpected_rules"
    assert f"{check}[noisy/.gitleaks.toml-private-keys] - as in baseline" in ran.text
    assert f"{check}[both/.gitleaks.toml-private-keys] - unexpected noise" in ran.text


def test_a_rule_that_only_the_baseline_defines_is_named(tmp_path: Path) -> None:
    shipped_scenarios(tmp_path / "scenarios", "private-keys")
    key = "[[rules]]\nid = 'private-key'\nregex = '''-----BEGIN[ A-Z]{0,20}PRIVATE KEY-----'''\n"
    other = "[[rules]]\nid = 'github-pat'\nregex = '''ghp_[0-9a-zA-Z]{36}'''\n"
    configurations(tmp_path, base=key + other, head=other)
    ran = compared(tmp_path, "base", "head")
    (hidden,) = {one["hidden_by"] for one in ran.pairs["head/.gitleaks.toml"]["lost"]}
    assert "head/.gitleaks.toml" in hidden
    assert "private-key" in hidden


# --- config lint

IGNORED = f"{LINT}/test_config_lint.py::test_CL_1_nothing_is_ignored"
HIDDEN = f"{LINT}/test_config_lint.py::test_CL_2_no_secret_is_hidden"


def test_lint_that_only_the_candidate_fails_is_a_regression_and_outside_every_score(changed: Ran) -> None:
    node = f"{IGNORED}[typo/.gitleaks.toml]"
    assert f"FAILED {node} - .gitleaks.toml [extend] titel: " in changed.text
    reasons = changed.pairs["typo/.gitleaks.toml"]["reasons"]
    assert reasons == ["CL-1 fails, and passes with base/.gitleaks.toml"]
    summary = changed.json("typo-gitleaks.toml/evaluation_report.json")["summary"]
    assert (summary["total_checks"], summary["failed"], summary["score"]) == (SHIPPED, 0, 1)


def test_an_entry_that_hides_an_expected_secret_is_a_fault_of_the_configuration(changed: Ran) -> None:
    hidden = f"private-keys {LOST_KEY} (private-key): hidden by allow/.gitleaks.toml [allowlist] paths[0]"
    assert f"FAILED {HIDDEN}[allow/.gitleaks.toml] - {hidden}" in changed.text
    for name, outcomes in (
        ("allow", ["passed", "failed"]),
        ("noisy", ["passed", "passed"]),
        ("typo", ["failed", "passed"]),
    ):
        report = changed.json(f"{name}-gitleaks.toml/evaluation_report.json")
        assert [one["outcome"] for one in report["config_lint"]] == outcomes
        assert schema_problems("report", report) == []
    assert "CL-2 fails, and passes with base/.gitleaks.toml" in changed.pairs["allow/.gitleaks.toml"]["reasons"]


def test_the_lint_alone_can_be_run(project: Path) -> None:
    ran = compared(project, "allow", more=("-m", "config_lint", "-v"))
    assert ran.status == 1
    assert "1 failed, 1 passed" in ran.text
    node = f"{HIDDEN}[configuration]"
    pasted = run(
        project, *versions(NEW), "--gitleaks-config=base/.gitleaks.toml", "--gitleaks-scenarios=scenarios", node
    )
    assert (pasted.status, "1 passed" in pasted.text) == (0, True)


def test_lint_that_the_baseline_fails_as_well_is_as_in_baseline(project: Path) -> None:
    typo = DEFAULT + "titel = 'ours'\n"
    configurations(project, again=typo, more=f"{typo}autor = 'me'\n")
    ran = compared(project, "typo", "again", "more", more=("-rx",))
    assert (ran.status, ran.verdicts) == (1, {"again/.gitleaks.toml": "SAFE", "more/.gitleaks.toml": "REGRESSION"})
    assert ran.pairs["more/.gitleaks.toml"]["reasons"] == ["CL-1 fails for more than with typo/.gitleaks.toml"]
    assert f"XFAIL {IGNORED}[again/.gitleaks.toml] - as in baseline" in ran.text


# --- what goes wrong


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A baseline and a good candidate, one whose regex is broken, and one whose version cannot be had."""
    folder = tmp_path_factory.mktemp("broken")
    shipped_scenarios(folder / "scenarios", "private-keys")
    (folder / "broken.toml").write_text(DEFAULT + "[[rules]]\nid = 'own'\nregex = '''own-(['''\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        f"""
        [tool.gitleaks-eval.candidates.good]
        version = "{NEW}"
        mode = "dir"
        decode_depth = 1
        [tool.gitleaks-eval.candidates.regex]
        version = "{NEW}"
        config = "broken.toml"
        [tool.gitleaks-eval.candidates.absent]
        version = "8.99.0"
        [tool.gitleaks-eval.candidates.now]
        version = "{NEW}"
        baseline = true
        """,
        encoding="utf-8",
    )
    options = ["--gitleaks-compare", "--gitleaks-scenarios=scenarios", "-rfE"]
    return evaluate(folder, *options, GITLEAKS_EVAL_OFFLINE="1")


def test_a_candidate_that_fails_does_not_take_the_others_with_it(broken: Ran) -> None:
    assert broken.status == 1
    assert broken.verdicts == {"good": "SAFE", "regex": "INCOMPLETE", "absent": "INCOMPLETE"}
    assert {pair["baseline"] for pair in broken.pairs.values()} == {"now"}
    assert set(broken.outcomes("now").values()) == {"passed", "not_applicable"}
    assert set(broken.outcomes("good").values()) == {"passed", "not_applicable"}
    for name in ("regex", "absent"):
        outcomes = broken.outcomes(name)
        assert outcomes["SA-10[private-keys]"] == "error"
        assert broken.json(f"{name}/evaluation_report.json")["summary"]["guarded_decision"] == "FAIL"


def test_why_a_candidate_failed_is_said(broken: Ran) -> None:
    assert "8.99.0" in broken.line("  absent: NO SCANNER")
    assert f"FAILED {IGNORED}[regex] - broken.toml rules[0].regex" in broken.text
    assert any(line.startswith("ERROR  ") and "8.99.0" in line for line in broken.text.splitlines())
    assert "absent has errors" in broken.line("INCOMPLETE  absent")
    assert broken.pairs["absent"]["reasons"][0] == "absent has errors"


def test_options_of_a_candidate_are_in_force_and_in_its_reports(broken: Ran) -> None:
    assert "decode depth 1 | mode dir" in broken.line("  good: ")
    assert broken.line("  now (baseline): ")
    scanner = broken.json("good/evaluation_report.json")["scanner"]
    assert (scanner["mode"], scanner["decode_depth"]) == ("dir", 1)


def test_a_baseline_that_cannot_be_had_leaves_every_pair_incomplete(tmp_path: Path) -> None:
    scenarios = shipped_scenarios(tmp_path / "scenarios", "private-keys")
    ran = evaluate(tmp_path, *versions("8.99.0", NEW), scenarios, GITLEAKS_EVAL_OFFLINE="1")
    assert (ran.status, ran.verdicts) == (1, {NEW: "INCOMPLETE"})
    assert set(ran.outcomes(NEW).values()) == {"passed", "not_applicable"}


def test_a_part_of_the_checks_is_not_compared(tmp_path: Path) -> None:
    scenarios = shipped_scenarios(tmp_path / "scenarios", "no-secrets")
    ran = evaluate(tmp_path, *versions(MIDDLE, NEW), scenarios, "-k", "SA_1")
    assert ran.status == 0
    assert "NOT COMPARED  only a part of the checks of 8.18.4, 8.30.1 was selected" in ran.text
    assert not (tmp_path / RESULTS / "comparison.json").exists()
    assert (tmp_path / RESULTS / NEW / "partial/evaluation_report.json").is_file()


# --- saved baselines; analyses that exist do, and need no scan


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which a key is missed."""
    folder = tmp_path_factory.mktemp("saved")
    assert evaluate(folder, *analysed_corpus(folder / "corpus", missing=[KEY])).status == 1
    return folder / RESULTS / "evaluation_report.json"


def against(saved: Path, folder: Path, *more: str, missing: Sequence[Place] = (), **environment: str) -> Ran:
    """Compare analyses in which these are missed with the saved report."""
    options = analysed_corpus(folder / "corpus", missing=missing)
    return evaluate(folder, *options, f"--gitleaks-baseline={saved}", "--gitleaks-findings", *more, **environment)


def test_known_gaps_are_accepted(saved: Path, tmp_path: Path) -> None:
    same = against(saved, tmp_path, missing=[KEY])
    assert (same.status, same.verdicts) == (0, {NEW: "SAFE"})
    assert f"baseline {saved}" in same.line("gitleaks-eval: ")
    decided = [line for line in same.text.splitlines() if line.startswith("FAIL  ")]
    assert decided[-1].startswith(f"FAIL  {NEW}: 1 MISSED")
    assert decided[-1].endswith(f"excused, as in {saved}")
    assert [one["name"] for one in same.comparison["candidates"]] == [str(saved), NEW]
    assert same.json("evaluation_report.json")["summary"]["guarded_decision"] == "FAIL"
    better = against(saved, tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "none/summary.md"))
    assert better.verdicts == {NEW: "SAFE"}
    assert len(better.pairs[NEW]["gained"]) == 1
    assert better.status == USAGE_ERROR
    assert better.line("ERROR GITHUB_STEP_SUMMARY ")


def test_a_run_that_compares_nothing_leaves_no_comparison_of_yesterday(saved: Path, tmp_path: Path) -> None:
    assert against(saved, tmp_path, missing=[KEY]).comparison
    assert evaluate(tmp_path, *analysed_corpus(tmp_path / "corpus")).status == 0
    assert sorted(path.name for path in (tmp_path / RESULTS).glob("comparison.*")) == []


def test_a_baseline_is_never_written_over_so_that_a_loss_stays_one_in_the_next_run(tmp_path: Path) -> None:
    assert evaluate(tmp_path, *analysed_corpus(tmp_path / "corpus")).status == 0
    saved = tmp_path / RESULTS / "evaluation_report.json"
    content = saved.read_bytes()
    for _ in range(2):
        ran = against(Path(RESULTS) / saved.name, tmp_path, missing=[KEY])
        assert (ran.status, ran.verdicts) == (1, {NEW: "REGRESSION"})
        assert saved.read_bytes() == content
        assert ran.json(f"{NEW}/evaluation_report.json")["summary"]["findings"]["missed"] == 1
    options = [*versions(OLD, NEW), f"--gitleaks-baseline={RESULTS}/{NEW}/evaluation_report.json"]
    several = evaluate(tmp_path, *options)
    assert several.status == USAGE_ERROR
    assert "this run would write over it; keep a copy elsewhere" in several.text


def test_a_baseline_of_a_partial_run_is_refused(tmp_path: Path) -> None:
    options = analysed_corpus(tmp_path / "corpus")
    assert evaluate(tmp_path, *options, "-k", "SA_1_").status == 0
    ran = evaluate(tmp_path, *options, f"--gitleaks-baseline={RESULTS}/partial/evaluation_report.json")
    assert ran.status == USAGE_ERROR
    assert "is of a partial run" in ran.text


def test_reports_of_yesterdays_candidates_do_not_stay(tmp_path: Path) -> None:
    scenarios = shipped_scenarios(tmp_path / "scenarios", "no-secrets")

    def left(*options: str) -> list[str]:
        assert evaluate(tmp_path, *options, scenarios).status == 0
        folder = tmp_path / RESULTS
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("scorecard.md"))

    assert left(*versions(NEW)) == ["scorecard.md"]
    assert left(*versions(MIDDLE, NEW)) == [f"{MIDDLE}/scorecard.md", f"{NEW}/scorecard.md"]
    assert left(*versions(OLD, NEW)) == [f"{OLD}/scorecard.md", f"{NEW}/scorecard.md"]
    assert left(*versions(NEW)) == ["scorecard.md"]


def test_own_checks_that_fail_skip_or_are_parametrized_do_not_break_a_comparison(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        """
import pytest
from gitleaks_eval import check

@check("ACME-1", "Fails by hand", category="House Rules")
def test_ACME_1(analysis):
    pytest.fail("by hand")

@pytest.mark.parametrize("most", [-1, 5])
@check("ACME-2", "At most", category="House Rules")
def test_ACME_2(analysis, most):
    assert analysis.count("total_secrets") <= most
""",
        encoding="utf-8",
    )
    scenarios = shipped_scenarios(tmp_path / "scenarios", "no-secrets")
    ran = evaluate(tmp_path, *versions(MIDDLE, NEW), scenarios, "test_own.py")
    assert (ran.status, ran.verdicts) == (0, {NEW: "SAFE"})
    assert "4 xfailed" in ran.text


def test_a_further_miss_is_a_regression(saved: Path, tmp_path: Path) -> None:
    worse = against(saved, tmp_path, "--gitleaks-fail-on=regression", "-rfx", missing=[KEY, TOKEN])
    assert (worse.status, worse.verdicts) == (1, {NEW: "REGRESSION"})
    # Its ground truth says no severity, and the two say the same of one finding.
    assert worse.line("LOST  leaky  config/token.env:4") == "LOST  leaky  config/token.env:4  github-pat  HIGH"
    assert worse.line("MISSED  leaky  config/token.env:4").startswith(
        "MISSED  leaky  config/token.env:4  github-pat  HIGH  fails "
    )
    assert "test_expected_finding[leaky-deploy/key.pem:1:private-key] - as in baseline" in worse.text
    assert "test_expected_finding[leaky-config/token.env:4:github-pat] - missed: " in worse.text


@pytest.mark.parametrize(("found", "status", "verdict"), [([], 0, "SAFE"), ([TOKEN], 1, "INCOMPLETE")])
def test_a_baseline_of_another_corpus_is_compared_in_what_both_have(
    saved: Path, tmp_path: Path, found: list[Place], status: int, verdict: str
) -> None:
    write_truth(tmp_path / "corpus/truth", "further", [])
    write_analysis(tmp_path / "corpus/analyses", "further", found)
    ran = against(saved, tmp_path, missing=[KEY])
    assert (ran.status, ran.verdicts) == (status, {NEW: verdict})
    reasons = ran.pairs[NEW]["reasons"]
    assert any(reason.startswith("the corpus differs (sha256 ") for reason in reasons)
    assert f"not compared: only {NEW} has further" in reasons
    assert any("checks fail that" in reason and "SA-1 of further" in reason for reason in reasons) == bool(found)


def test_a_baseline_with_nothing_in_common_is_incomplete(saved: Path, tmp_path: Path) -> None:
    write_truth(tmp_path / "truth", "other", [])
    write_analysis(tmp_path / "analyses", "other", [])
    options = ["--gitleaks-scenarios=truth", "--gitleaks-analysis=analyses", f"--gitleaks-baseline={saved}"]
    ran = evaluate(tmp_path, *options)
    assert (ran.status, ran.verdicts) == (1, {NEW: "INCOMPLETE"})


def test_a_baseline_that_is_none_is_refused_with_its_name(tmp_path: Path) -> None:
    options = analysed_corpus(tmp_path / "corpus")
    (tmp_path / "other.json").write_text('{"schema_version": "9.0"}', encoding="utf-8")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    for name, message in (
        ("other.json", "--gitleaks-baseline other.json: has schema version '9.0', and only '1.0' can be compared"),
        ("broken.json", "--gitleaks-baseline: "),
        ("none.json", "--gitleaks-baseline: "),
    ):
        ran = evaluate(tmp_path, *options, f"--gitleaks-baseline={name}")
        assert ran.status == USAGE_ERROR
        assert message in ran.text
        assert name in ran.text
        assert "Traceback" not in ran.text


def test_two_candidates_are_each_compared_with_a_saved_report(project: Path) -> None:
    first = compared(project, "base", more=("--gitleaks-output=saved", "-p", "no:terminal"))
    assert first.status == 0
    # What it decided is said on standard error.
    assert first.text.startswith("STRONG_PASS")
    more = ("--gitleaks-baseline=saved/evaluation_report.json", "-p", "no:terminal")
    ran = compared(project, "allow", "base", more=more)
    assert (ran.status, ran.verdicts) == (
        1,
        {"allow/.gitleaks.toml": "REGRESSION", "base/.gitleaks.toml": "SAFE"},
    )


def test_each_of_several_own_checks_with_one_id_is_held_against_its_own_outcome(tmp_path: Path) -> None:
    own = """
    import os, pytest
    from gitleaks_eval import check

    @pytest.mark.parametrize("name", ["first", "second"])
    @check("ACME-1", "Fails where told to", category="House Rules")
    def test_ACME_1(analysis, name):
        assert name not in os.environ["FAILING"]
    """
    (tmp_path / "test_own.py").write_text(own.replace("\n    ", "\n"), encoding="utf-8")
    options = [*analysed_corpus(tmp_path / "corpus"), "test_own.py"]
    assert evaluate(tmp_path, *options, FAILING="first").status == 1
    (tmp_path / RESULTS / "evaluation_report.json").rename(tmp_path / "saved.json")
    ran = evaluate(tmp_path, *options, "--gitleaks-baseline=saved.json", FAILING="first second")
    assert (ran.status, ran.verdicts) == (1, {NEW: "REGRESSION"})


# --- corpora


PATHS = ("ok.py", "moved.py", "missed.py", "noise.py", "später [1].py")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Mapping[str, str]]:
    """An annotated corpus, made here: two found, one that nothing finds, one unlabelled, one left out of account."""
    folder = tmp_path_factory.mktemp("corpora")
    source = folder / "labelled"
    source.mkdir()
    values = {name: secret("github-pat", name) for name in PATHS}
    contents = {
        "ok.py": f"# ruleid: github-pat\ntoken = '{values['ok.py']}'\n",
        "moved.py": f"# ruleid: github-pat\n\n\n# ok: github-pat\nplain = 1\n\ntoken = '{values['moved.py']}'\n",
        "missed.py": "# ruleid: github-pat\ntoken = 'nothing'\n",
        "noise.py": f"token = '{values['noise.py']}'\n",
        "später [1].py": f"# todoruleid: github-pat\ntoken = '{values['später [1].py']}'\n",
    }
    del contents["moved.py"]
    contents["two.py"] = f"a = 1\n# ruleid: github-pat\nb = '{values['moved.py']}'\n"
    for name, content in contents.items():
        (source / name).write_text(content, encoding="utf-8")
    # Neither is obeyed.
    (source / ".gitleaks.toml").write_text(DEFAULT + "[allowlist]\npaths = ['''.*''']\n", encoding="utf-8")
    (source / ".gitleaksignore").write_text("ok.py:github-pat:2\n", encoding="utf-8")
    shipped_scenarios(folder / "scenarios", "no-secrets")
    options = ["--gitleaks-scenarios=scenarios", "--gitleaks-corpus=annotated:labelled", "--gitleaks-findings", "-rf"]
    return evaluate(folder, *versions(NEW), *options), values


def test_an_annotated_corpus_gives_the_figures_computed_by_hand(labelled: tuple[Ran, Mapping[str, str]]) -> None:
    ran, _ = labelled
    assert ran.status == 1
    metrics = ran.json("evaluation_report.json")["corpora"]
    counts = metrics["by_scenario"]["labelled"]
    # Found: ok.py, two.py. Unlabelled: noise.py. Missed: missed.py. Left out of account: später [1].py.
    assert (counts["tp"], counts["fp"], counts["fn"], counts["unlabelled"]) == (2, 0, 1, 1)
    figures = {"precision": 1, "recall": 2 / 3, "f1": 4 / 5, "f2": 10 / 14}
    assert {name: counts[name] for name in figures} == {name: pytest.approx(rate) for name, rate in figures.items()}
    low, high = counts["intervals"]["recall"]
    # Wilson for 2 of 3.
    assert (low, high) == (pytest.approx(0.2077, abs=1e-4), pytest.approx(0.9385, abs=1e-4))
    assert metrics["by_rule"]["github-pat"]["tp"] == 2


def test_what_a_corpus_cannot_know_is_not_applicable(labelled: tuple[Ran, Mapping[str, str]]) -> None:
    outcomes = labelled[0].outcomes()
    assert outcomes["SA-1[labelled]"] == "passed"
    assert outcomes["SA-2[labelled]"] == "not_applicable"
    assert outcomes["SA-10[labelled]"] == "failed"
    assert "error" not in outcomes.values()


def test_each_label_of_a_corpus_is_a_test(labelled: tuple[Ran, Mapping[str, str]]) -> None:
    ran, _ = labelled
    assert "test_expected_finding[labelled-missed.py:2:github-pat] - missed: missed.py:2 github-pat" in ran.text
    assert "test_no_unexpected_finding[labelled] - unexpected: noise.py:1 github-pat" in ran.text
    assert "(core" not in ran.line("gitleaks-eval: ")
    assert "annotated:labelled" in ran.line("gitleaks-eval: ")


def test_no_value_of_a_corpus_is_printed_or_written(labelled: tuple[Ran, Mapping[str, str]]) -> None:
    ran, values = labelled
    for value in values.values():
        assert value not in ran.text
        for path in (ran.folder / RESULTS).rglob("*"):
            assert not path.is_file() or value.encode() not in path.read_bytes()


def test_hostile_names_in_a_corpus_are_escaped_wherever_they_are_shown(tmp_path: Path) -> None:
    source = tmp_path / "hostile"
    source.mkdir()
    name = "a|b\x1b[31m\u202e`<b>`.py"
    (source / name).write_text("# ruleid: github-pat\nnothing\n", encoding="utf-8")
    shipped_scenarios(tmp_path / "scenarios", "no-secrets")
    options = ["--gitleaks-corpus=annotated:hostile", "--gitleaks-findings", "-rfxE", "-v"]
    ran = evaluate(tmp_path, *versions(MIDDLE, NEW), "--gitleaks-scenarios=scenarios", *options)
    assert (ran.status, ran.verdicts) == (0, {NEW: "SAFE"})
    for text in (ran.text, ran.markdown):
        assert "\x1b[31m" not in text
        assert "\u202e" not in text
    assert "<b>" not in ran.markdown


def test_a_broken_label_ends_with_status_4_and_its_place(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels/a.py").write_text("x = 1\n# ruleid: a b\ny = 2\n", encoding="utf-8")
    ran = evaluate(tmp_path, *versions(NEW), "--gitleaks-corpus=annotated:labels")
    assert ran.status == USAGE_ERROR
    assert "labels: a.py:2: after `ruleid:` write rule ids" in ran.text


def test_a_report_of_gitleaks_with_its_folder_is_a_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "past/repository"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(f"a = 1\nb = '{secret('github-pat', 'a')}'\n", encoding="utf-8")
    finding = {"RuleID": "github-pat", "File": "a.py", "StartLine": 2, "Secret": "REDACTED", "Commit": ""}
    (tmp_path / "past/report.json").write_text(json.dumps([finding]), encoding="utf-8")
    shipped_scenarios(tmp_path / "scenarios", "no-secrets")
    ran = evaluate(
        tmp_path,
        *versions(NEW),
        "--gitleaks-scenarios=scenarios",
        "--gitleaks-corpus=report:past",
        "--gitleaks-findings",
    )
    assert ran.status == 0, ran.text
    assert ran.json("evaluation_report.json")["corpora"]["by_scenario"]["past"]["tp"] == 1


# --- one candidate


def test_with_one_candidate_and_its_own_rules_everything_is_as_before(tmp_path: Path) -> None:
    scenarios = shipped_scenarios(tmp_path / "scenarios", "private-keys")
    ran = evaluate(tmp_path, *versions(NEW), scenarios)
    assert ran.status == 0
    assert f"collected {SHIPPED} items" in ran.text
    assert "comparison" not in ran.text
    assert ran.line("STRONG_PASS  ")
    assert not (tmp_path / RESULTS / "comparison.json").exists()
    metrics = ran.json("evaluation_report.json")["metrics"]
    assert {"tp", "fp", "fn", "precision", "recall", "f1", "f2", "intervals", "by_rule", "by_scenario"} <= set(metrics)
    assert (metrics["fp"], metrics["fn"], metrics["precision"], metrics["recall"]) == (0, 0, 1, 1)


def test_candidates_can_be_collected_without_scanning(tmp_path: Path) -> None:
    scenarios = shipped_scenarios(tmp_path / "scenarios", "no-secrets")
    ran = evaluate(tmp_path, *versions("8.98.0", NEW), scenarios, "--collect-only", "-q")
    assert ran.status == 0
    assert f"{2 * SHIPPED} tests collected" in ran.text
    assert not (tmp_path / RESULTS).exists()
