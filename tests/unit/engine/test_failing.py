"""Why a run fails although no test of it did."""

from types import SimpleNamespace
from typing import Any

import pytest

from gitleaks_eval.engine.run.failing import why_failing
from gitleaks_eval.judges.material import REAL_WORLD, SYNTHETIC
from gitleaks_eval.judges.verdict import Combined, Judged, Judgement, Verdict
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, REVIEW, SAFE


def run(decision: str | None = "STRONG_PASS", *, failed: bool = False, **said: Any) -> Any:
    result = SimpleNamespace(check_id="SA-1", nodeid="a::b", outcome="failed" if failed else "passed")
    flags = {"incomplete": False, "partial": False, "combined": None, "judged": None, "coverage": None, **said}
    return SimpleNamespace(scorecard=SimpleNamespace(guarded_decision=decision), results=[result], **flags)


def compared(*verdicts: str) -> Any:
    return SimpleNamespace(deciding=[SimpleNamespace(verdict=one, candidate="b", baseline="a") for one in verdicts])


@pytest.mark.parametrize("decision", ["STRONG_PASS", "PASS", "WEAK_PASS", None])
def test_a_run_without_a_reason_ends_well(decision: str | None) -> None:
    assert why_failing({"": run(decision)}, None, None) == []


def test_a_decision_of_fail_and_what_could_not_be_evaluated_are_reasons_and_name_their_candidate() -> None:
    assert why_failing({"": run("FAIL")}, None, None) == ["the decision is FAIL"]
    assert why_failing({"a": run(), "b": run("FAIL")}, None, None) == ["b: the decision is FAIL"]
    assert why_failing({"": run(incomplete=True)}, None, None) == ["could not be evaluated whole"]
    assert why_failing({"": run(incomplete=True)}, compared(SAFE), None) == ["could not be evaluated whole"]


def test_rules_that_cannot_be_read_are_a_reason_unless_that_is_allowed() -> None:
    unreadable = SimpleNamespace(unreadable="a script")
    runs = {"": run("WEAK_PASS", coverage=unreadable)}
    why = ["none of the scanner's rules was tested: a script"]
    assert why_failing(runs, None, None) == why
    assert why_failing(runs, compared(SAFE), None, compares=True) == why
    assert why_failing(runs, None, None, allows_unreadable=True) == []
    assert why_failing({"": run(None, partial=True, coverage=unreadable)}, None, None) == []


def test_a_comparison_excuses_a_decision_and_decides_by_its_verdicts() -> None:
    runs = {"": run("FAIL")}
    assert why_failing(runs, compared(SAFE), None, compares=True) == []
    for verdict in (REVIEW, REGRESSION, INCOMPLETE):
        assert why_failing(runs, compared(SAFE, verdict), None, compares=True) == [f"b against a is {verdict}"]
    assert why_failing(runs, compared(REVIEW), None, compares=True, accepts_review=True) == []
    assert why_failing(runs, compared(REGRESSION), None, compares=True, accepts_review=True) != []


def test_failures_of_a_part_are_reasons_unless_it_was_to_compare() -> None:
    part = {"": run(None, partial=True, failed=True)}
    assert why_failing(part, None, None) == ["SA-1 failed"]
    assert why_failing(part, None, None, compares=True) == []
    assert why_failing({"": run(failed=True)}, None, None) == []
    assert why_failing({"": run(None, partial=True)}, None, None) == []
    assert why_failing(part, None, None, accepted=["a::b"]) == []


def test_a_decision_with_judges_is_a_reason() -> None:
    for decision in ("FAIL", "INCOMPLETE"):
        judged = Combined(None, decision, decision)
        assert why_failing({}, None, judged) == [f"the decision with judges is {decision}"]
        beside = run()
        beside.combined = judged
        assert why_failing({"": beside}, None, None) == [f"the decision with judges is {decision}"]
    assert why_failing({}, None, Combined(4.0, "WEAK_PASS", "WEAK_PASS")) == []


def test_judges_of_real_repositories_that_decide_are_a_reason_where_none_of_them_counts() -> None:
    def verdict(name: str, *, excluded: bool = True, advisory: bool = False, outcome: str = "scored") -> Verdict:
        return Verdict(name, 0.5, outcome, score=5, raw_score=5, excluded=excluded, advisory=advisory)

    def reasons(*verdicts: Verdict, mode: str = REAL_WORLD) -> list[str]:
        judgement = Judgement("heuristic", None, None, verdicts, None, None, {}, partial=False)
        one = run()
        one.judged = Judged({mode: judgement}, ())
        return why_failing({"": one}, None, None)

    silent = verdict("b", excluded=False, outcome="not_applicable")
    assert reasons(verdict("a"), silent) == ["every verdict on real repositories is left out for low confidence"]
    assert reasons(verdict("a"), verdict("b", excluded=False)) == []
    assert reasons(verdict("a", advisory=True)) == reasons(silent) == []
    assert reasons(verdict("a"), mode=SYNTHETIC) == []
