"""Many replies become one: medians, majorities, no score where half of them are missing; citations are looked up."""

import time

import pytest

from gitleaks_eval.judges.model.answer import Answer
from gitleaks_eval.judges.model.question import Reply, usage
from gitleaks_eval.judges.panel.merging import Grounds, Merged, grounded, merged, sample_rows
from gitleaks_eval.reports.run.judges import LISTED_AT_MOST, details


def replies(**said: list[int | None]) -> list[Reply]:
    """The samples of each model, None for one without an answer; the confidence tells which of them it is."""
    return [
        Reply(
            "d",
            None if score is None else Answer(score, number / 10, f"{model} says {score}", (), (), {}),
            "refusal" if score is None else None,
            "" if score else "declined",
            "live",
            model_requested=model,
            sample=number,
        )
        for model, scores in said.items()
        for number, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("said", "score", "spread", "disagree"),
    [
        ({"a": [4]}, 4, 0, False),
        ({"a": [1, 5, 4]}, 4, 4, False),
        # Of two the lower; of an even number the lower middle.
        ({"a": [5, 3]}, 3, 2, False),
        ({"a": [5, 4, 3, 2]}, 3, 3, False),
        ({"a": [5, None, 4]}, 4, 1, False),
        # A majority of models, each by its median; without one the lower.
        ({"a": [5], "b": [5], "c": [1]}, 5, 4, True),
        ({"a": [5, 5, 1], "b": [4, 4, 1]}, 4, 4, True),
        ({"a": [2], "b": [3], "c": [4]}, 2, 2, True),
    ],
)
def test_the_median_of_samples_and_the_majority_of_models_count(
    said: dict[str, list[int | None]], score: int, spread: int, *, disagree: bool
) -> None:
    found = merged(replies(**said))
    assert isinstance(found, Merged)
    assert (found.answer.score, found.spread, found.disagreement) == (score, spread, disagree)
    # The answer is one that was given, with its own words.
    assert found.answer.reasoning.endswith(f"says {score}")


@pytest.mark.parametrize("said", [{"a": [None]}, {"a": [5, None]}, {"a": [5], "b": [5, None, None]}])
def test_where_half_of_a_models_samples_are_no_answer_there_is_no_score(said: dict[str, list[int | None]]) -> None:
    found = merged(replies(**said))
    assert isinstance(found, Reply)
    assert (found.kind, found.answer) == ("refusal", None)


def test_each_sample_is_kept_and_what_is_unknown_in_part_is_unknown() -> None:
    assert [(row["model"], row["sample"], row["score"], row["unscored_kind"]) for row in
            sample_rows(replies(a=[4, None], b=[2]))] == [
        ("a", 0, 4, None), ("a", 1, None, "refusal"), ("b", 0, 2, None),
    ]  # fmt: skip
    one, two = (Reply("d", None, None, "", "live", output_tokens=number, cost=0.5) for number in (1, 2))
    assert usage([one, two]) == {"input_tokens": None, "output_tokens": 3, "cost": 1.0}
    assert set(usage([]).values()) == {None}


def answer(confidence: float, *citations: str) -> Answer:
    return Answer(4, confidence, "", citations, (), {})


SHOWN = (
    """{"by_rule": {"private-key": {"missed": 1}}, "file_path": "config/key.pem", "checks": ["SD-1"], "rate": 0.5}"""
)


@pytest.mark.parametrize(
    ("citation", "holds"),
    [
        ("config/key.pem", True),
        ("`config/key.pem`:12", True),
        ("(config/key.pem:3-9)", True),
        ("by_rule.private-key.missed = 1", True),
        ("SD-1 fails", True),
        ("sd-1", True),
        ("one key is missed", True),
        ("config/other.pem", False),
        ("SD-2 fails", False),
        ("by_rule.github-pat.missed", False),
        ("private-key and github-pat", False),
        ("so much... and no more", True),
        (".env", False),
    ],
)
def test_a_citation_has_ground_where_each_name_in_it_was_shown(citation: str, *, holds: bool) -> None:
    assert grounded(answer(1, citation), SHOWN).unfounded == (() if holds else (citation,))


@pytest.mark.parametrize("piece", ["a", "a.", "-", "_", "./", ":1", "a//"])
def test_a_citation_without_an_end_is_looked_at_in_a_time_that_grows_with_it(piece: str) -> None:
    start = time.process_time()
    grounded(answer(1, piece * (100_000 // len(piece))), SHOWN)
    assert time.process_time() - start < 5


def test_of_endless_lists_people_are_shown_the_first() -> None:
    many = tuple(f"a-{number}" for number in range(99))
    said = {"sub_scores": {}, "samples": (), "evidence_cited": many, "unfounded_citations": many[1:]}
    lines = list(details({**said, "recommendations": ("once",)}))
    assert lines[:2] == ["cites: a-0", "cites: a-1 (NOT in the evidence)"]
    assert lines[-2:] == ["recommends: once", f"and {99 - LISTED_AT_MOST} more citations"]
    assert len(lines) == LISTED_AT_MOST + 2


def test_confidence_is_lowered_by_the_share_of_citations_without_ground() -> None:
    assert grounded(answer(0.9, "SD-1", "SD-2", "rate"), SHOWN) == Grounds(0.6, ("SD-2",))
    assert grounded(answer(0.9), SHOWN) == Grounds(0.9, (), "it cites nothing")
    assert grounded(answer(0.9, "SD-2"), SHOWN) == Grounds(0, ("SD-2",), "nothing that it cites stands in the evidence")
    assert grounded(answer(0, "SD-1"), SHOWN).problem == "its confidence is 0"
