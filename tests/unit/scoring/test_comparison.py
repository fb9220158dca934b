"""What changes from one candidate to another, and the verdict on it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from evaluations import ABOUT, HASH, MATCHINGS, A, B, Outcomes, Place, evaluated, matched, searched
from hypothesis import given

from gitleaks_eval.analysis.matching import NO_LINE, Matching, match_findings
from gitleaks_eval.analysis.metrics import make_metrics, metrics_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.scenarios.scenario import Expected
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, REVIEW, SAFE, Pair, compare
from gitleaks_eval.scoring.differences import DIFFERENCES, CheckChange, Difference
from gitleaks_eval.scoring.evaluated import CheckKey, by_key, comparability
from gitleaks_eval.scoring.expected_failures import AS_IN_BASELINE, SLOWER, excuse
from gitleaks_eval.scoring.saved import evaluated_from_report


def pair_of(
    wanted: Sequence[Place],
    before: Sequence[Place],
    after: Sequence[Place],
    outcomes: Outcomes | None = None,
    candidate_outcomes: Outcomes | None = None,
) -> Pair:
    return compare(
        evaluated("old", {"one": matched(wanted, before)}, outcomes),
        evaluated("new", {"one": matched(wanted, after)}, candidate_outcomes),
    )


def sizes(pair: Pair) -> dict[str, int]:
    """How many differences of each kind there are, without the kinds that there are none of."""
    counts = {kind: len(getattr(pair.differences, kind)) for kind in DIFFERENCES}
    return {kind: count for kind, count in counts.items() if count}


# --- truths that differ, and lint


def test_what_only_the_truth_of_the_candidate_lists_and_it_misses_is_incomplete_and_not_excused() -> None:
    old = evaluated("old", {"one": matched([A], [])}, {("SA-10", "one"): "failed"})
    new = evaluated("new", {"one": matched([A, B], [])}, {("SA-10", "one"): "failed"})
    pair = compare(old, new)
    assert pair.verdict == INCOMPLETE
    assert pair.reasons[0] == "one: new misses what only its own ground truth lists"
    assert excuse(pair.differences, old.outcomes, CheckKey("SA-10", "one"), ABOUT["SA-10"], review=True) is None
    found = compare(old, evaluated("new", {"one": matched([A, B], [B])}))
    assert found.verdict == SAFE


@pytest.mark.parametrize(
    ("before", "after", "verdict", "reason"),
    [
        ({"CL-1": frozenset("ab")}, {"CL-1": frozenset("a")}, SAFE, "nothing differs"),
        ({"CL-1": frozenset("a")}, {"CL-1": frozenset("ab")}, REGRESSION, "CL-1 fails for more than with old"),
        ({"CL-1": frozenset()}, {"CL-1": frozenset("a")}, REGRESSION, "CL-1 fails, and passes with old"),
        ({}, {"CL-1": frozenset("a")}, INCOMPLETE, "1 checks fail that old does not have (CL-1)"),
        ({}, {"CL-1": frozenset()}, SAFE, "nothing differs"),
    ],
)
def test_the_faults_of_a_configuration_count_as_far_as_the_baseline_does_not_have_them(
    before: dict[str, frozenset[str]], after: dict[str, frozenset[str]], verdict: str, reason: str
) -> None:
    old, new = (evaluated(name, {"one": matched([A], [A])}) for name in ("old", "new"))
    pair = compare(replace(old, lint=before), replace(new, lint=after))
    assert (pair.verdict, pair.reasons) == (verdict, (reason,))


def test_a_check_that_was_not_run_does_not_fail() -> None:
    old = evaluated("old", {"one": matched([A], [A])}, {("SA-1", "one"): "passed"})
    new = evaluated("new", {"one": matched([A], [A])}, {("SA-1", "one"): "error"}, has_errors=True)
    assert compare(old, new).reasons == ("new has errors",)


# --- differences


@pytest.mark.parametrize(
    ("before", "after", "differences", "verdict"),
    [
        ([A], [A], {}, SAFE),
        ([], [], {}, SAFE),
        ([A], [], {"lost": 1}, REGRESSION),
        ([], [A], {"gained": 1}, SAFE),
        ([A], [A, B], {"new": 1}, REVIEW),
        ([A, B], [A], {"gone": 1}, SAFE),
        ([A, B], [A, B], {}, SAFE),
        ([A, B], [A, B, B], {"new": 1}, REVIEW),
        ([A], [("a.py", "jwt", 6)], {"moved": 1}, REVIEW),
        ([("a.py", "jwt", 6)], [A], {"restored": 1}, SAFE),
        ([("a.py", "jwt", 6)], [("a.py", "jwt", 6)], {}, SAFE),
        ([("a.py", "jwt", 6)], [("a.py", "jwt", 7)], {"moved": 1}, REVIEW),
        ([A], [("a.py", "other", 5)], {"relabelled": 1}, REVIEW),
        ([("a.py", "other", 5)], [("a.py", "other", 5)], {}, SAFE),
        ([("a.py", "other", 5)], [("a.py", "third", 5)], {"relabelled": 1}, REVIEW),
        ([("a.py", "other", 5)], [A], {"restored": 1}, SAFE),
        ([("a.py", "jwt", 6)], [], {"lost": 1}, REGRESSION),
        ([("a.py", "other", 5)], [], {"lost": 1}, REGRESSION),
        ([], [("a.py", "jwt", 6)], {"gained": 1, "moved": 1}, REVIEW),
        ([A], [B], {"lost": 1, "new": 1}, REGRESSION),
        ([A], [("a.py", "jwt", 20)], {"lost": 1, "new": 1}, REGRESSION),
    ],
)
def test_each_kind_of_difference_and_its_verdict(
    before: list[Place], after: list[Place], differences: dict[str, int], verdict: str
) -> None:
    pair = pair_of([A], before, after)
    assert (sizes(pair), pair.verdict) == (differences, verdict)
    assert pair.reasons


def test_a_lost_finding_is_named_as_it_was_expected() -> None:
    (lost,) = pair_of([A], [("a.py", "jwt", 6)], []).differences.lost
    assert lost == Difference("one", "a.py", 5, "jwt", None, None, "HIGH", None, 6, "jwt")


def test_a_relabelled_finding_names_the_expected_rule_and_the_candidates() -> None:
    (relabelled,) = pair_of([A], [A], [("a.py", "other", 5)]).differences.relabelled
    assert relabelled == Difference("one", "a.py", 5, "jwt", 5, "other", "HIGH", "HIGH", 5, "jwt")


def test_a_new_finding_has_no_severity_in_the_baseline() -> None:
    (new,) = pair_of([A], [A], [A, B]).differences.new
    assert new == Difference("one", "b.py", 9, "jwt", 9, "jwt", None, "HIGH")


@pytest.mark.parametrize("place", [A, B])
def test_another_severity_is_a_matter_of_review_on_expected_and_on_unexpected_findings(place: Place) -> None:
    pair = compare(
        evaluated("old", {"one": matched([A], [A, place], severity="HIGH")}),
        evaluated("new", {"one": matched([A], [A, place], severity="LOW")}),
    )
    assert pair.verdict == REVIEW
    changes = {(one.file_path, one.severity, one.candidate_severity) for one in pair.differences.severity_changed}
    assert changes == {(A[0], "HIGH", "LOW"), (place[0], "HIGH", "LOW")}


def test_a_renamed_rule_is_named_as_that_in_the_reasons() -> None:
    expected: Place = ("a.py", "slack-bot-token", 5)
    renamed: Place = ("a.py", "slack-access-token", 5)
    for before, after in ((expected, renamed), (renamed, expected)):
        pair = pair_of([expected], [before], [after])
        assert "slack-bot-token and slack-access-token are one rule, renamed" in pair.reasons


def test_findings_of_one_place_are_counted_and_not_named() -> None:
    assert sizes(pair_of([A, A], [A, A], [A])) == {"lost": 1}
    assert sizes(pair_of([A, A], [A], [A, A])) == {"gained": 1}


@pytest.mark.parametrize(
    ("before", "after", "differences", "verdict"),
    [
        (3, 3, {}, SAFE),
        (3, 1, {"lost": 2}, REGRESSION),
        (1, 3, {"gained": 2}, SAFE),
        (3, 5, {"new": 2}, REVIEW),
        (5, 3, {"gone": 2}, SAFE),
        (5, 2, {"lost": 1, "gone": 2}, REGRESSION),
    ],
)
def test_counts_stand_in_where_the_truth_lists_no_findings(
    before: int, after: int, differences: dict[str, int], verdict: str
) -> None:
    places = [("a.py", "jwt", line * 10) for line in range(5)]
    pair = compare(
        evaluated("old", {"one": matched([], places[:before], total=3)}),
        evaluated("new", {"one": matched([], places[:after], total=3)}),
    )
    assert (sizes(pair), pair.verdict) == (differences, verdict)


# --- what is not common


def test_only_common_scenarios_are_compared_and_the_reasons_say_so() -> None:
    pair = compare(
        evaluated("old", {"one": matched([A], [A]), "two": matched([B], [B])}),
        evaluated("new", {"one": matched([A], [A]), "three": matched([B], [])}),
    )
    assert (sizes(pair), pair.verdict) == ({}, SAFE)
    assert "not compared: only old has two" in pair.reasons
    assert "not compared: only new has three" in pair.reasons


@pytest.mark.parametrize("matchings", [{}, {"two": matched([A], [A])}])
def test_a_comparison_without_a_common_scenario_is_incomplete(matchings: dict[str, Matching]) -> None:
    pair = compare(evaluated("old", {"one": matched([A], [A])}), evaluated("new", matchings))
    assert pair.verdict == INCOMPLETE


def test_a_finding_that_only_one_truth_lists_is_not_compared() -> None:
    pair = compare(evaluated("old", {"one": matched([A], [A, B])}), evaluated("new", {"one": matched([A, B], [A])}))
    assert (sizes(pair), pair.verdict) == ({}, INCOMPLETE)
    assert "one: 1 findings that only one of the two ground truths lists are not compared" in pair.reasons


def test_a_truth_that_counts_differently_is_not_compared_by_counts() -> None:
    pair = compare(
        evaluated("old", {"one": matched([], [A, B], total=2)}), evaluated("new", {"one": matched([], [A, B], total=3)})
    )
    assert sizes(pair) == {}
    assert any("count different numbers" in reason for reason in pair.reasons)


def test_checks_that_only_one_has_are_said_not_to_be_compared() -> None:
    pair = pair_of([A], [A], [A], {("SA-1", "one"): "passed"}, {("ACME-1", "one"): "failed"})
    assert pair.checks_worse == ()
    assert "not compared: only old has 1 checks (SA-1)" in pair.reasons
    assert "not compared: only new has 1 checks (ACME-1)" in pair.reasons


def test_comparability_says_when_the_corpus_is_another() -> None:
    baseline = evaluated("old.json", {})
    assert comparability(baseline, HASH) == []
    (reason,) = comparability(baseline, "d" * 64)
    assert "old.json" in reason
    assert "c" * 12 in reason
    assert "d" * 12 in reason


# --- checks and verdict


@pytest.mark.parametrize("who", ["old", "new"])
def test_errors_of_either_make_the_pair_incomplete_before_anything_else(who: str) -> None:
    pair = compare(
        evaluated("old", {"one": matched([A], [A])}, has_errors=who == "old"),
        evaluated("new", {"one": matched([A], [])}, has_errors=who == "new"),
    )
    assert pair.verdict == INCOMPLETE
    assert pair.reasons[0] == f"{who} has errors"


@pytest.mark.parametrize(
    ("check_id", "after", "verdict"),
    [
        ("SA-1", [A, B], REVIEW),
        ("SA-11", [A, B], REVIEW),
        ("SD-4", [A, B], REVIEW),
        ("SP-3", [A, B], REVIEW),
        ("SP-4", [A, B], REVIEW),
        ("EC-4", [A, B], REVIEW),
        ("SD-5", [A, B], REGRESSION),
        ("EC-2", [A, B], REGRESSION),
        ("OQ-1", [A, B], REGRESSION),
        ("ACME-1", [A, B], REGRESSION),
        ("SA-1", [A], REGRESSION),
        ("SP-1", [A], SAFE),
        ("SP-2", [A], SAFE),
        ("SP-3", [A], SAFE),
        ("SP-4", [A], REGRESSION),
    ],
)
def test_a_check_that_only_the_candidate_fails_is_a_regression_unless_it_is_explained(
    check_id: str, after: list[Place], verdict: str
) -> None:
    key = (check_id, "one")
    pair = pair_of([A], [A], after, {key: "passed"}, {key: "failed"})
    assert pair.verdict == verdict
    assert pair.checks_worse == (CheckChange(check_id, "one", "passed", "failed"),)


def test_slower_alone_is_told_and_decides_nothing() -> None:
    keys = [("SP-1", "one"), ("SP-2", "one")]
    pair = pair_of([A], [A], [A], dict.fromkeys(keys, "passed"), dict.fromkeys(keys, "failed"))
    assert (pair.verdict, pair.reasons) == (SAFE, ("slower: SP-1 of one, SP-2 of one",))


def test_a_difference_explains_nothing_in_another_scenario() -> None:
    key = ("SA-1", "two")
    pair = compare(
        evaluated("old", {"one": matched([A], [A]), "two": matched([A], [A])}, {key: "passed"}),
        evaluated("new", {"one": matched([A], [A, B]), "two": matched([A], [A])}, {key: "failed"}),
    )
    assert pair.verdict == REGRESSION
    assert "SA-1 of two fails, and passes with old" in pair.reasons


@pytest.mark.parametrize("after", [[], [A]])
def test_what_is_gained_or_gone_explains_no_failure(after: list[Place]) -> None:
    key = ("SA-1", "one")
    pair = pair_of([A], [B], after, {key: "passed"}, {key: "failed"})
    assert pair.verdict == REGRESSION


@pytest.mark.parametrize(
    ("outcome", "candidate_outcome", "worse", "better"),
    [
        ("passed", "passed", 0, 0),
        ("passed", "not_applicable", 0, 0),
        ("not_applicable", "passed", 0, 0),
        ("passed", "failed", 1, 0),
        ("not_applicable", "failed", 1, 0),
        ("failed", "error", 1, 0),
        ("failed", "passed", 0, 1),
        ("failed", "failed", 0, 0),
    ],
)
def test_checks_are_worse_or_better(outcome: str, candidate_outcome: str, worse: int, better: int) -> None:
    key = ("OQ-1", "one")
    pair = pair_of([A], [A], [A], {key: outcome}, {key: candidate_outcome})
    assert (len(pair.checks_worse), len(pair.checks_better)) == (worse, better)


def test_checks_with_one_id_in_one_scenario_are_told_apart() -> None:
    outcomes = by_key([("X", "one", "passed"), ("X", "one", "failed"), ("X", None, "error")])
    assert outcomes == {
        CheckKey("X", "one", 0): "passed",
        CheckKey("X", "one", 1): "failed",
        CheckKey("X", None, 0): "error",
    }


# --- what excuses a failure, as xfail does

SA_1, OQ_1, SP_1 = CheckKey("SA-1", "one"), CheckKey("OQ-1", "one"), CheckKey("SP-1", "one")


@pytest.mark.parametrize("review", [False, True])
def test_what_fails_with_the_baseline_too_is_excused(review: bool) -> None:  # noqa: FBT001 - a parameter of the test
    differences = pair_of([A], [A], [A]).differences
    assert excuse(differences, {OQ_1: "failed"}, OQ_1, ABOUT["OQ-1"], review=review) == AS_IN_BASELINE
    for outcomes in ({}, {OQ_1: "passed"}, {OQ_1: "error"}, {SA_1: "failed"}):
        assert excuse(differences, outcomes, OQ_1, ABOUT["OQ-1"], review=review) is None


def test_what_is_to_review_is_excused_only_when_review_is_accepted() -> None:
    differences = pair_of([A], [A], [A, B]).differences
    passed = dict.fromkeys([SA_1, OQ_1, SP_1], "passed")
    assert [bool(excuse(differences, passed, key, ABOUT[key.check_id], review=True)) for key in passed] == [
        True,
        False,
        True,
    ]
    # Time alone fails no comparison, whatever is accepted.
    assert [excuse(differences, passed, key, ABOUT[key.check_id], review=False) for key in passed] == [
        None,
        None,
        SLOWER,
    ]
    assert excuse(differences, {}, SP_1, ABOUT["SP-1"], review=True) is None


def test_where_something_is_lost_no_check_of_findings_is_excused() -> None:
    differences = pair_of([A, B], [A], [("c.py", "jwt", 1)]).differences
    assert differences.lost
    assert differences.new
    failed = dict.fromkeys([SA_1, OQ_1], "failed")
    assert excuse(differences, failed, SA_1, ABOUT["SA-1"], review=True) is None
    assert excuse(differences, failed, OQ_1, ABOUT["OQ-1"], review=True) == AS_IN_BASELINE


# --- properties, by search


@pytest.mark.slow
@searched
@given(MATCHINGS)
def test_nothing_differs_from_itself(matchings: tuple[Matching, Matching]) -> None:
    for matching in matchings:
        same = evaluated("same", {"one": matching}, {("SA-1", "one"): "failed"})
        pair = compare(same, same)
        assert (pair.verdict, sizes(pair), pair.checks_worse, pair.checks_better) == (SAFE, {}, (), ())


@pytest.mark.slow
@searched
@given(MATCHINGS)
def test_the_other_way_round_lost_is_gained_and_new_is_gone(matchings: tuple[Matching, Matching]) -> None:
    old, new = (evaluated(name, {"one": matching}) for name, matching in zip(("o", "n"), matchings, strict=True))
    there, back = sizes(compare(old, new)), sizes(compare(new, old))
    for kind, reverse in (("lost", "gained"), ("new", "gone")):
        assert there.get(kind) == back.get(reverse)
        assert there.get(reverse) == back.get(kind)
    assert there.get("severity_changed") == back.get("severity_changed")


@pytest.mark.slow
@searched
@given(MATCHINGS)
def test_the_differences_add_up(matchings: tuple[Matching, Matching]) -> None:
    old, new = matchings
    found = sizes(compare(evaluated("o", {"one": old}), evaluated("n", {"one": new})))
    assert new.count("missed") - old.count("missed") == found.get("lost", 0) - found.get("gained", 0)
    assert new.count("unexpected") - old.count("unexpected") == found.get("new", 0) - found.get("gone", 0)


@pytest.mark.slow
@searched
@given(MATCHINGS)
def test_safe_means_that_nothing_is_missed_that_was_found(matchings: tuple[Matching, Matching]) -> None:
    pair = compare(evaluated("o", {"one": matchings[0]}), evaluated("n", {"one": matchings[1]}))
    if pair.verdict == SAFE:
        assert matchings[1].count("missed") <= matchings[0].count("missed")


# --- saved reports


def saved(matchings: Mapping[str, Matching], **more: Any) -> dict[str, Any]:
    """The evaluation report of a run, as far as it matters here."""
    score: dict[str, float] = {"total_checks": 1, "passed": 1, "failed": 0, "not_applicable": 0, "errors": 0}
    score |= {"score": 1.0, "applicable_rate": 1.0, "normalized_score": 5.0}
    counts = dict.fromkeys(("expected", "detected", "moved", "relabelled", "missed", "unexpected"), 0)
    document = {
        "schema_version": "1.0",
        "tool": "gitleaks-eval",
        "generated_at": "2026-01-01T00:00:00+00:00",
        "mode": "synthetic",
        "scanner": {
            "name": "gitleaks", "version": "8.18.4", "source": None, "sha256": None, "config": None,
            "config_sha256": None,
        },
        "corpus_sha256": HASH,
        "summary": {**score, "decision": "PASS", "guarded_decision": "FAIL", "findings": counts},
        "dimensions": [],
        "scenarios": [{"name": name, **score} for name in matchings],
        "metrics": metrics_json(make_metrics(matchings)),
        "results": [
            {
                "check_id": "SA-1", "name": "Total", "category": "Accuracy", "scenario": "one", "outcome": "passed",
                "passed": True, "message": "", "expected": 1, "actual": 1, "nodeid": "x::y[one]", "duration_ms": 0.1,
            }
        ],
        "findings": [
            {"scenario": name, **match._asdict()} for name, matching in matchings.items() for match in matching.matches
        ],
        "incomplete": False,
        "partial": False,
        "reasons": [],
        **more,
    }  # fmt: skip
    copied: dict[str, Any] = json.loads(json.dumps(document))
    return copied


@pytest.mark.slow
@searched
@given(MATCHINGS)
def test_a_saved_report_is_as_good_a_baseline_as_the_run_itself(matchings: tuple[Matching, Matching]) -> None:
    old, new = matchings
    baseline = evaluated_from_report(saved({"one": old, "clean": matched([], [])}), "old.json")
    live = evaluated("old.json", {"one": old, "clean": matched([], [])}, {("SA-1", "one"): "passed"})
    candidate = evaluated("new", {"one": new}, {("SA-1", "one"): "failed"})
    assert compare(baseline, candidate) == compare(live, candidate)


def test_a_saved_report_says_what_it_is() -> None:
    baseline = evaluated_from_report(saved({"one": matched([A], [A])}, incomplete=True), "old.json")
    assert (baseline.name, baseline.score, baseline.decision, baseline.guarded_decision) == (
        "old.json",
        1.0,
        "PASS",
        "FAIL",
    )
    assert (baseline.scanner["version"], baseline.corpus_sha256, baseline.has_errors) == ("8.18.4", HASH, True)
    assert baseline.outcomes == {CheckKey("SA-1", "one"): "passed"}


def test_a_report_that_does_not_know_reported_severities_claims_no_change_of_them() -> None:
    document = saved({"one": matched([A], [A, B], severity="HIGH")})
    for entry in document["findings"]:
        del entry["reported_severity"]
    baseline = evaluated_from_report(document, "old.json")
    pair = compare(baseline, evaluated("new", {"one": matched([A], [A, B], severity="LOW")}))
    assert [one.file_path for one in pair.differences.severity_changed] == ["b.py"]


def without_evaluation_of(name: str, matchings: Mapping[str, Matching]) -> dict[str, Any]:
    """A saved report of a run in which a scenario had an error: it is listed, and has no findings and no counts."""
    whole = saved(matchings, incomplete=True)
    evaluated_ones = {one: matching for one, matching in matchings.items() if one != name}
    return {**saved(evaluated_ones, incomplete=True), "scenarios": whole["scenarios"]}


def test_a_scenario_that_had_an_error_in_a_saved_report_is_not_compared_and_no_truth_differs() -> None:
    matchings = {"one": matched([A], [A]), "two": matched([A, B], [A, B])}
    baseline = evaluated_from_report(without_evaluation_of("two", matchings), "old.json")
    assert baseline.matchings == {"one": matchings["one"]}
    pair = compare(baseline, evaluated("new", matchings, {("SA-1", "one"): "passed"}))
    assert (pair.verdict, sizes(pair)) == (INCOMPLETE, {})
    assert pair.reasons == ("old.json has errors", "not compared: only new has two")


def test_a_report_without_metrics_is_compared_by_its_list_of_findings() -> None:
    document = saved({"one": matched([A], [A]), "clean": matched([], [])})
    del document["metrics"]
    assert evaluated_from_report(document, "old.json").matchings == {
        "one": matched([A], [A]),
        "clean": matched([], []),
    }


def test_a_malformed_line_survives() -> None:
    matching = match_findings(Expected(0, 0, 0, 0, 0, 0), [{"file_path": "a"}])
    assert matching.matches[0].line_number == NO_LINE
    assert evaluated_from_report(saved({"one": matching}), "old.json").matchings == {"one": matching}


@pytest.mark.parametrize("version", ["2.0", None, 1, "0" * 500])
def test_a_report_of_another_schema_version_is_refused(version: object) -> None:
    with pytest.raises(InputError, match=r"--gitleaks-baseline old\.json: has schema version .*'1\.0'") as caught:
        evaluated_from_report(saved({}, schema_version=version), "old.json")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "more",
    [
        {"corpus_sha256": "x"},
        {"summary": {}},
        {"findings": None},
        {"findings": [1]},
        {"findings": [{}]},
        {"results": {}},
        {"results": ["x"]},
        {"results": [{"check_id": "SA-1", "scenario": "one", "outcome": "fine"}]},
        {"results": [{"check_id": "SA-1", "scenario": "one", "outcome": []}]},
        {"metrics": []},
        {"metrics": {"by_scenario": {"one": 1}}},
        {"scenarios": []},
        {"incomplete": "no"},
    ],
)
def test_a_report_that_is_malformed_is_refused_with_a_place(more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"--gitleaks-baseline old\.json: "):
        evaluated_from_report(saved({"one": matched([A], [A])}, **more), "old.json")


@pytest.mark.parametrize("status", ["fine", "", "EXACT"])
def test_a_finding_of_an_unknown_status_is_refused(status: str) -> None:
    document = saved({"one": matched([A], [A])})
    document["findings"][0]["status"] = status
    with pytest.raises(InputError, match="is not known"):
        evaluated_from_report(document, "old.json")


@pytest.mark.parametrize("document", [None, [], "x", 1])
def test_what_is_no_report_at_all_is_refused(document: object) -> None:
    with pytest.raises(InputError, match=r"no evaluation_report\.json"):
        evaluated_from_report(document, "old.json")


def test_times_are_compared_as_a_ratio_where_both_are_known() -> None:
    matchings = {"one": matched([A], [A])}
    old, new = evaluated("old", matchings), evaluated("new", matchings)
    assert compare(old, replace(new, scan_ms=50.0)).time_ratio is None
    assert compare(replace(old, scan_ms=100.0), replace(new, scan_ms=50.0)).time_ratio == 0.5
