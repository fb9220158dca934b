"""A worker finds the canary again after some clean scans: which ones, and what has waited for it."""

import pytest

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine import fleet_proof as module
from gitleaks_eval.engine.fleet_proof import CLEAN_AT_MOST, Proof, Prover, Waiting


class Checked:
    """What a prover has asked for; a candidate that is blind does not find it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.blind = ""

    def __call__(self, candidate: str) -> None:
        self.asked.append(candidate)
        if candidate == self.blind:
            raise EvaluationError("it found none")


def test_after_twenty_clean_scans_of_a_candidate_the_canary_is_found_with_each_that_had_some() -> None:
    checked = Checked()
    prover = Prover("w", checked)
    proofs = [prover.after({"base": 1}) for _ in range(CLEAN_AT_MOST - 2)]
    assert proofs == [Proof("w", 1)] * (CLEAN_AT_MOST - 2)
    assert (prover.after({"head": 1}), checked.asked) == (Proof("w", 1), [])
    assert prover.after({}) is None
    assert prover.after({"base": 2}) == Proof("w", 1, found=True)
    assert checked.asked == ["base", "head"]
    # From then on it is the next one that is waited for.
    assert prover.after({"head": 1}) == Proof("w", 2)


def test_what_is_asked_at_once_or_has_waited_too_long_waits_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    prover = Prover("w", Checked())
    assert prover.after({"base": 1}, at_once=True) == Proof("w", 1, found=True)
    monkeypatch.setattr(module, "SECONDS_AT_MOST", -1.0)
    assert prover.after({"base": 1}) == Proof("w", 2, found=True)


def test_one_blind_candidate_is_enough_that_nothing_counts() -> None:
    checked = Checked()
    checked.blind = "head"
    prover = Prover("w", checked)
    prover.after({"base": 1, "head": 1})
    assert prover.now() == Proof("w", 1, found=False, problem="it found none")


def test_a_result_waits_for_its_own_check_whichever_message_comes_first() -> None:
    waiting: Waiting[str] = Waiting()
    assert waiting.take("free", None) == [("free", "")]
    assert waiting.take("early", Proof("w", 1)) == []
    assert waiting.take("of another", Proof("v", 1)) == []
    assert waiting.take("later", Proof("w", 2)) == []
    assert waiting.take("check", Proof("w", 1, found=True)) == [("check", ""), ("early", "")]
    assert waiting.take("late", Proof("w", 1)) == [("late", "")]
    blind = Proof("w", 2, found=False, problem="blind")
    assert waiting.end(blind) == [("later", "blind")]
    assert waiting.take("too late", Proof("w", 2)) == [("too late", "blind")]
    assert (waiting.workers(), waiting.give_up("v"), waiting.workers()) == (["v"], ["of another"], [])
