"""The judge of pairs without a run: what it does not ask, what it masks, and what counts alone say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import secret

from gitleaks_eval.config.eval_file import Upgrade
from gitleaks_eval.judges.model.question import ClientOptions, Question, Reply, Verdicts
from gitleaks_eval.judges.pairwise.evidence import Compared
from gitleaks_eval.judges.pairwise.panel import ORDERS, PairPanel, agreed, judge_pairs, opinion_of
from gitleaks_eval.judges.pairwise.verdict import Order, PairVerdict
from gitleaks_eval.judges.panel import asking
from gitleaks_eval.judges.settings import HEURISTIC, REPLAY, JudgeSettings
from gitleaks_eval.reports.comparison.pair_judge import pair_judge_lines
from gitleaks_eval.scenarios.redaction import Values, values_of
from gitleaks_eval.scenarios.secrets import MASK
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, REVIEW, Pair
from gitleaks_eval.scoring.differences import Difference, Differences
from gitleaks_eval.scoring.evaluated import Evaluated
from gitleaks_eval.scoring.surveyed import Moves

NOTHING = Values()
ONE = Difference("s", "a.py", 1, "private-key", None, None, "HIGH", None)
SCANNER = {"name": "gitleaks", "version": "8.30.1", "sha256": "ab1" * 21}
SIDE = Evaluated("one", {}, {}, SCANNER, "", 1.0, None, None, has_errors=False)


def compared(hidden_by: str | None = None, verdict: str = REGRESSION, **found: Any) -> Compared:
    moves = Moves(**{name: found.pop(name) for name in list(found) if name in Moves.__slots__})
    pair = Pair("one", "two", verdict, ("why",), Differences(**found), (), (), moves=moves)
    return Compared(pair, SIDE, replace(SIDE, name="two"), lambda _: hidden_by)


def judged(
    folder: Path, one: Compared, mode: str = REPLAY, planted: Values = NOTHING, reported: Values = NOTHING
) -> PairVerdict:
    """In the replay of an empty store: whatever is asked is a miss."""
    settings = JudgeSettings(mode=mode, store=folder / "store")
    (verdict,), _ = judge_pairs([one], PairPanel(settings, "t", planted, lambda _: reported))
    return verdict


@pytest.mark.parametrize("mode", [REPLAY, HEURISTIC])
def test_an_incomplete_pair_is_not_judged(tmp_path: Path, mode: str) -> None:
    verdict = judged(tmp_path, compared(verdict=INCOMPLETE, lost=(ONE,)), mode)
    assert (verdict.outcome, verdict.unscored_kind, verdict.preferred) == ("unscored", "invalid", None)
    assert verdict.reasoning == "there is nothing whole to judge: why"


def test_a_planted_secret_in_what_is_shown_is_a_leak_and_nothing_is_asked(tmp_path: Path) -> None:
    token = secret("github-pat", "pairs")
    leaky = compared(f"hidden by {token}", lost=(ONE,))
    assert judged(tmp_path, leaky).unscored_kind == "replay_miss"
    verdict = judged(tmp_path, leaky, planted=values_of([token]))
    assert (verdict.unscored_kind, verdict.orders) == ("leak", ())
    # What is masked is no leak, and is asked.
    both: dict[str, Any] = {"planted": values_of([token]), "reported": values_of([token])}
    assert judged(tmp_path, leaky, **both).unscored_kind == "replay_miss"


def test_values_that_either_candidate_reported_are_masked_in_both_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secret("github-pat", "pairs")
    prompts: list[str] = []

    def put(questions: Any, *_: Any) -> Any:
        prompts.extend(question.prompt for question in questions.values())
        raise InterruptedError

    monkeypatch.setattr("gitleaks_eval.judges.pairwise.panel.put", put)
    with pytest.raises(InterruptedError):
        judged(tmp_path, compared(f"hidden by x{token}y", lost=(ONE,)), reported=values_of([token]))
    assert len(prompts) == 2
    assert all(MASK in prompt and token[10:] not in prompt for prompt in prompts)


@pytest.mark.parametrize(
    ("found", "score", "confidence"),
    [
        ({"lost": (ONE,)}, 1, 1.0),
        ({"gained": (ONE,)}, 5, 1.0),
        # A secret weighs more than any rule, and a rule more than any noise.
        ({"lost": (ONE,), "rules_gained": ("a", "b"), "gone": (ONE,) * 9}, 1, 0.5),
        ({"places_lost": ("a",), "gone": (ONE,) * 9}, 2, 0.5),
        ({"entries_wider": ("c:1",)}, 2, 1.0),
        ({"rules_gained": ("a",), "new": (ONE,) * 9}, 4, 0.5),
        ({"rules_gained": ("a",)}, 4, 1.0),
        ({"new": (ONE,)}, 2, 1.0),
        ({"gone": (ONE,)}, 4, 1.0),
        ({"moved": (ONE,)}, 2, 1.0),
        ({"restored": (ONE,)}, 4, 1.0),
        ({"new": (ONE,), "gone": (ONE,) * 9}, 3, 0.5),
        ({"relabelled": (ONE._replace(candidate_rule_id="any-secret"),)}, 2, 1.0),
        # The same rule under its new name.
        ({"relabelled": (ONE._replace(rule_id="slack-access-token", candidate_rule_id="slack-bot-token"),)}, 3, 1.0),
        # Who loses something is never the better one, whatever is gained.
        ({"lost": (ONE,), "gained": (ONE,) * 9}, 2, 0.5),
        ({"rules_lost": ("a",) * 5, "places_lost": ("b",) * 17, "rules_gained": ("c",) * 70}, 3, 0.5),
        ({"rules_lost": ("a",), "gained": (ONE,) * 9, "gone": (ONE,)}, 3, 0.5),
        ({"entries_wider": ("c:1",), "places_gained": ("b",), "new": (ONE,)}, 3, 0.5),
        # What people have accepted is no loss.
        ({"lost": (ONE,), "accepted": frozenset({ONE})}, 3, 1.0),
        ({"rules_lost": ("a",), "upgrades": (Upgrade("one", "two", ("a",), (), "why"),)}, 3, 1.0),
    ],
)
def test_counts_prefer_secrets_to_reach_reach_to_noise_and_no_loss_to_any_gain(
    found: dict[str, Any], score: int, confidence: float
) -> None:
    opinion = opinion_of(compared(verdict=REVIEW, **found))
    assert (opinion.score, opinion.confidence) == (score, confidence)


def test_the_candidate_of_a_regression_is_never_the_better_one() -> None:
    # A check fails with it, or a lint: neither is a difference of findings.
    for found in ({"gained": (ONE,)}, {"rules_gained": ("a",)}, {"gone": (ONE,)}):
        opinion = opinion_of(compared(verdict=REGRESSION, **found))
        assert (opinion.score, opinion.confidence) == (3, 0.5)


def test_a_tie_of_gains_and_losses_is_not_called_nothing(tmp_path: Path) -> None:
    verdict = judged(tmp_path, compared(verdict=REVIEW, rules_lost=("a",), rules_gained=("b",)), HEURISTIC)
    assert (verdict.preferred, verdict.low_confidence) == ("tie", True)
    (line,) = pair_judge_lines("one", "two", verdict, 0)
    assert line == (
        "judge (advisory)  two against one: neither is better: what differs speaks for both, or matters too little, "
        "confidence 0.50 (low: review it)"
    )


def test_of_two_orders_the_lower_confidence_counts_and_one_without_a_score_leaves_none() -> None:
    sure, unsure = (Order(name, 5, confidence=one) for name, one in zip(ORDERS, (0.9, 0.6), strict=True))
    assert (agreed([sure, unsure]).confidence, agreed([sure, unsure]).low_confidence) == (0.6, True)
    silent = Order(ORDERS[1], None, unscored_kind="timeout", reasoning="no reply")
    found = agreed([sure, silent])
    assert (found.outcome, found.unscored_kind, found.preferred, found.score) == ("unscored", "timeout", None, None)


def test_each_model_has_what_the_ones_before_it_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    left: list[tuple[int, float | None]] = []

    def ask(questions: Any, options: ClientOptions, _: Any) -> Verdicts:
        left.append((options.max_calls, options.max_cost))
        paid = Reply("pairwise", None, "refusal", "no", "live", cost=0.25)
        return Verdicts((paid, *[replace(paid, source="replay")] * (len(questions) - 1)), sent=3)

    monkeypatch.setattr(asking, "ask", ask)
    settings = JudgeSettings(models=("a", "b"), max_calls=10, max_cost=1.0, store=tmp_path)
    questions = {number: Question("pairwise", "what?", ("one",)) for number in range(2)}
    asking.put(questions, settings, "t", NOTHING)
    # What was looked up costs nothing now.
    assert left == [(10, 1.0), (7, 0.75)]
