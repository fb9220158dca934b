"""Outcomes become rates and decisions: the documented formula, and the guard beside it."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import IN_CORE, SHIPPED, outcomes_of, shipped_checks

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.envelope import as_analysis
from gitleaks_eval.analysis.matching import Match, Matching, match_findings
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.checks.catalogue import catalogue
from gitleaks_eval.scenarios.scenario import Scenario, load_scenarios
from gitleaks_eval.scoring.scorecard import (
    CATEGORIES,
    FindingCounts,
    Score,
    categories,
    count_findings,
    decide,
    guard,
    make_scorecard,
    score_of,
)

DECISIONS = ["STRONG_PASS", "PASS", "WEAK_PASS", "FAIL"]


@dataclass(frozen=True)
class Result:
    category: str
    outcome: str


def results(category: str, passed: int = 0, failed: int = 0, not_applicable: int = 0, errors: int = 0) -> list[Result]:
    outcomes = ["passed"] * passed + ["failed"] * failed + ["not_applicable"] * not_applicable + ["error"] * errors
    return [Result(category, outcome) for outcome in outcomes]


@pytest.fixture(scope="module")
def core() -> list[Scenario]:
    return load_scenarios(["core"], Path("/nowhere"))


def test_the_four_outcomes_are_counted_and_disjoint() -> None:
    score = score_of(["passed", "passed", "failed", "not_applicable", "error", "passed"])
    assert score == Score(passed=3, failed=1, not_applicable=1, errors=1)
    assert score.total == 6


@pytest.mark.parametrize(
    ("score", "rate", "applicable"),
    [
        (Score(3, 1, 0, 0), 3 / 4, 3 / 4),
        (Score(3, 0, 1, 0), 1.0, 1.0),
        (Score(2, 1, 1, 0), 3 / 4, 2 / 3),
        (Score(2, 0, 1, 1), 3 / 4, 2 / 3),
        (Score(0, 0, 4, 0), 1.0, 0.0),
        (Score(0, 2, 0, 2), 0.0, 0.0),
        (Score(0, 0, 0, 0), 0.0, 0.0),
    ],
)
def test_what_does_not_apply_counts_as_a_pass_and_an_error_as_a_failure(
    score: Score, rate: float, applicable: float
) -> None:
    assert score.rate == rate
    assert score.applicable_rate == applicable
    assert score.normalized == rate * 5.0


@pytest.mark.parametrize(
    ("rate", "decision"),
    [
        (1.0, "STRONG_PASS"),
        (0.8, "STRONG_PASS"),
        (0.7999, "PASS"),
        (0.7, "PASS"),
        (0.6999, "WEAK_PASS"),
        (0.6, "WEAK_PASS"),
        (0.5999, "FAIL"),
        (0.0, "FAIL"),
    ],
)
def test_the_decision_follows_the_documented_thresholds(rate: float, decision: str) -> None:
    assert decide(rate) == decision


@pytest.mark.parametrize("total", [5, 10, SHIPPED, 100, IN_CORE, 1000])
def test_every_rate_of_a_run_has_the_decision_of_the_requirements(total: int) -> None:
    for passed in range(total + 1):
        normalized = passed / total * 5.0
        documented = (
            "STRONG_PASS"
            if normalized >= 4.0
            else "PASS"
            if normalized >= 3.5
            else "WEAK_PASS"
            if normalized >= 3.0
            else "FAIL"
        )
        assert decide(passed / total) == documented


@pytest.mark.parametrize(
    ("findings", "incomplete", "guarded"),
    [
        (FindingCounts(), False, ["STRONG_PASS", "PASS", "WEAK_PASS", "FAIL"]),
        (FindingCounts(expected=9, detected=9), False, ["STRONG_PASS", "PASS", "WEAK_PASS", "FAIL"]),
        (FindingCounts(moved=1), False, ["WEAK_PASS", "WEAK_PASS", "WEAK_PASS", "FAIL"]),
        (FindingCounts(relabelled=1), False, ["WEAK_PASS", "WEAK_PASS", "WEAK_PASS", "FAIL"]),
        (FindingCounts(unexpected=1), False, ["WEAK_PASS", "WEAK_PASS", "WEAK_PASS", "FAIL"]),
        (FindingCounts(missed=1), False, ["FAIL"] * 4),
        (FindingCounts(missed=1, moved=1, unexpected=9), False, ["FAIL"] * 4),
        (FindingCounts(unevaluated=1), False, ["FAIL"] * 4),
        (FindingCounts(), True, ["FAIL"] * 4),
        (FindingCounts(expected=9, detected=9), True, ["FAIL"] * 4),
        (FindingCounts(moved=1), True, ["FAIL"] * 4),
    ],
)
def test_the_guard_lets_nothing_be_lost_or_invented(
    findings: FindingCounts,
    incomplete: bool,  # noqa: FBT001 - a column
    guarded: list[str],
) -> None:
    assert [guard(decision, findings, incomplete=incomplete) for decision in DECISIONS] == guarded


def test_the_guarded_decision_is_never_better_than_the_documented_one() -> None:
    for decision, missed, moved, incomplete in itertools.product(DECISIONS, (0, 1), (0, 1), (False, True)):
        guarded = guard(decision, FindingCounts(missed=missed, moved=moved), incomplete=incomplete)
        assert DECISIONS.index(guarded) >= DECISIONS.index(decision)


def test_a_scorecard_has_the_scores_of_categories_and_scenarios() -> None:
    card = make_scorecard(
        {
            "one": results("Accuracy", passed=3, failed=1) + results("Coverage", passed=1),
            "two": results("Accuracy", not_applicable=2) + results("My own", errors=1),
            None: results("My own", passed=1),
        },
        FindingCounts(expected=2, detected=2),
        incomplete=False,
        partial=False,
    )
    assert card.score == Score(5, 1, 2, 1)
    assert card.by_category == {
        "Accuracy": Score(3, 1, 2, 0),
        "Coverage": Score(1, 0, 0, 0),
        "My own": Score(1, 0, 0, 1),
    }
    assert card.by_scenario == {"one": Score(4, 1, 0, 0), "two": Score(0, 0, 2, 1)}
    assert (card.decision, card.guarded_decision) == ("PASS", "PASS")


def test_a_part_of_the_checks_has_no_decision() -> None:
    card = make_scorecard({"one": results("Accuracy", passed=1)}, FindingCounts(), incomplete=False, partial=True)
    assert (card.decision, card.guarded_decision) == (None, None)
    assert card.score.rate == 1.0


def test_an_incomplete_run_has_the_documented_decision_and_fails_the_guard() -> None:
    card = make_scorecard({"one": results("Accuracy", passed=9)}, FindingCounts(), incomplete=True, partial=False)
    assert (card.decision, card.guarded_decision) == ("STRONG_PASS", "FAIL")


def test_a_run_without_any_result_is_a_failure() -> None:
    card = make_scorecard({}, FindingCounts(), incomplete=True, partial=False)
    assert (card.decision, card.guarded_decision, card.score.total) == ("FAIL", "FAIL", 0)


def test_categories_stand_in_the_order_of_the_requirements_and_new_ones_by_name_after_them() -> None:
    names = ["Zebra", "Rollup Validation", "Accuracy", "apple", "Edge Cases", "Accuracy"]
    found = categories(Result(name, "passed") for name in names)
    assert found == ["Accuracy", "Edge Cases", "Rollup Validation", "Zebra", "apple"]


def test_the_categories_are_those_of_the_checks() -> None:
    marks = [mark for function in shipped_checks().values() for mark in vars(function)["pytestmark"]]
    assert {mark.kwargs["category"] for mark in marks} == set(CATEGORIES)


def test_the_critical_checks_are_those_of_a_missed_wrong_or_unexpected_secret() -> None:
    assert sorted(entry.check_id for entry in catalogue() if entry.critical) == sorted(
        ["SA-1", "SA-7", "SA-8", "SA-9", "SA-10", "SA-11", "SD-1", "SD-2", "SD-3", "SD-4", "SD-6"]
    )


def test_findings_of_all_scenarios_are_added_up() -> None:
    def match(status: str) -> Match:
        return Match(status, "a", 1, "r", None, None, None)

    one = Matching(tuple(map(match, ["exact", "exact", "moved", "missed", "unexpected"])), 4)
    other = Matching((match("relabelled"),), 1)
    counted = Matching((), 5, unlisted_detected=3, unlisted_missed=2, unlisted_unexpected=4)
    assert count_findings([one, other, counted], 7) == FindingCounts(
        expected=17, detected=5, moved=1, relabelled=1, missed=3, unexpected=5, unevaluated=7
    )


# --- what the requirements say of scanners that lose secrets


def outcomes_for(scenario: Scenario, report: list[dict[str, object]], head: list[bytes]) -> list[str]:
    provenance = Provenance(scenario.name, "main", "1" * 40, "8.30.1", "run", "2026-01-01T00:00:00Z", 20, 1)
    analysis = as_analysis(analyse(report, head, load_policy(), provenance), "test")
    return [outcome.name for outcome in outcomes_of(scenario.expected, analysis).values()]


def perfect_report(scenario: Scenario) -> list[dict[str, object]]:
    """What a scanner reports that finds what is expected and nothing else."""
    return [
        {
            "RuleID": finding.rule_id,
            "File": finding.file_path,
            "StartLine": finding.line_number,
            "Secret": f"value number {number}",
            "Match": "",
            "Commit": "1" * 40,
        }
        for number, finding in enumerate(scenario.expected.findings)
    ]


def head_of(scenario: Scenario) -> list[bytes]:
    count = scenario.expected.secrets_in_head
    assert count is not None
    return [f"value number {number}\n".encode() for number in range(count)]


def test_a_scanner_that_finds_everything_passes_all_301_checks_that_apply(core: list[Scenario]) -> None:
    score = score_of(
        outcome for scenario in core for outcome in outcomes_for(scenario, perfect_report(scenario), head_of(scenario))
    )
    assert score == Score(passed=301, failed=0, not_applicable=50, errors=0)


def test_a_scanner_that_finds_nothing_reaches_78_9_percent_and_is_a_guarded_failure(core: list[Scenario]) -> None:
    by_scenario = {scenario.name: outcomes_for(scenario, [], []) for scenario in core}
    score = score_of(itertools.chain.from_iterable(by_scenario.values()))
    assert score.total == IN_CORE
    assert f"{score.rate:.1%}" == "78.9%"
    assert decide(score.rate) == "PASS"
    findings = count_findings([match_findings(scenario.expected, []) for scenario in core], 0)
    assert (findings.expected, findings.missed) == (17, 17)
    assert guard(decide(score.rate), findings, incomplete=False) == "FAIL"


def test_a_scanner_that_loses_a_private_key_scores_4_87_and_is_a_guarded_failure(core: list[Scenario]) -> None:
    outcomes: list[str] = []
    failed: list[str] = []
    for scenario in core:
        report = perfect_report(scenario)
        if scenario.name == "private-keys":
            report = [finding for finding in report if finding["File"] != "deploy/id_rsa"]
        found = outcomes_for(scenario, report, head_of(scenario))
        outcomes += found
        failed += [check_id for check_id, outcome in zip(shipped_checks(), found, strict=True) if outcome == "failed"]
    score = score_of(outcomes)
    assert sorted(failed) == sorted("SA-1 SA-2 SA-3 SA-5 SA-8 SA-9 SA-10 SA-11 SD-1".split())
    assert f"{score.normalized:.2f}" == "4.87"
    assert decide(score.rate) == "STRONG_PASS"
    assert guard("STRONG_PASS", FindingCounts(expected=17, detected=16, missed=1), incomplete=False) == "FAIL"
