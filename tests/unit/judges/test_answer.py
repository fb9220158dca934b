"""An answer is one JSON object with exactly what was asked for; anything else is no answer, and is not quoted."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gitleaks_eval.judges.model.answer import Answer, InvalidAnswer, answer_schema, parse_answer

NAMES = ("expected_found", "placement", "labels")
GOOD: dict[str, Any] = {
    "score": 4,
    "confidence": 0.85,
    "reasoning": "One finding is moved.",
    "evidence_cited": ["16 of 17 exact"],
    "recommendations": ["Look at line 3"],
    "sub_scores": {"expected_found": 5, "placement": 3, "labels": 5},
}


def refused(text: str) -> str:
    with pytest.raises(InvalidAnswer) as caught:
        parse_answer(text, NAMES)
    return str(caught.value)


def test_an_answer_is_read_as_it_stands() -> None:
    assert parse_answer(json.dumps(GOOD), NAMES) == Answer(
        score=4,
        confidence=0.85,
        reasoning="One finding is moved.",
        evidence_cited=("16 of 17 exact",),
        recommendations=("Look at line 3",),
        sub_scores={"expected_found": 5, "placement": 3, "labels": 5},
    )


def test_the_order_of_keys_and_surrounding_line_ends_do_not_matter() -> None:
    turned = dict(reversed(GOOD.items()))
    assert parse_answer(f"\n{json.dumps(turned, indent=1)}\n", NAMES) == parse_answer(json.dumps(GOOD), NAMES)


@pytest.mark.parametrize("score", [0, 6, 99, -1, 4.5, "4", True, None, [4]])
def test_a_score_is_an_integer_from_1_to_5(score: object) -> None:
    assert refused(json.dumps({**GOOD, "score": score})) == "score is not an integer from 1 to 5"
    sub_scores = {**GOOD["sub_scores"], "labels": score}
    assert refused(json.dumps({**GOOD, "sub_scores": sub_scores})) == "sub_scores.labels is not an integer from 1 to 5"


def test_a_whole_number_may_be_written_with_a_point_as_in_json_schema() -> None:
    answer = parse_answer(json.dumps({**GOOD, "score": 4.0}), NAMES)
    assert (answer.score, type(answer.score)) == (4, int)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, "0.9", True, None])
def test_confidence_is_a_number_from_0_to_1(confidence: object) -> None:
    assert refused(json.dumps({**GOOD, "confidence": confidence})) == "confidence is not a number from 0 to 1"


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_large_for_a_float_is_no_confidence(number: str) -> None:
    assert "confidence" in refused(json.dumps(GOOD).replace("0.85", number))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_not_json_is_refused_where_python_would_take_it(number: str) -> None:
    assert refused(json.dumps(GOOD).replace("0.85", number)) == "NaN and Infinity are not JSON"


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0])
def test_confidence_may_be_at_its_ends(confidence: float) -> None:
    assert parse_answer(json.dumps({**GOOD, "confidence": confidence}), NAMES).confidence == confidence


@pytest.mark.parametrize("key", list(GOOD))
def test_each_key_is_required(key: str) -> None:
    assert (
        refused(json.dumps({name: value for name, value in GOOD.items() if name != key})) == f"the answer lacks {key}"
    )


def test_a_key_that_was_not_asked_for_is_refused() -> None:
    assert refused(json.dumps({**GOOD, "verdict": 5})) == "the answer has keys that were not asked for"


def test_the_sub_scores_are_those_of_the_sub_dimensions() -> None:
    assert refused(json.dumps({**GOOD, "sub_scores": {"placement": 5, "labels": 5}})).endswith("lacks expected_found")
    assert "not asked for" in refused(json.dumps({**GOOD, "sub_scores": {**GOOD["sub_scores"], "other": 5}}))
    assert refused(json.dumps({**GOOD, "sub_scores": [5, 5, 5]})) == "sub_scores is not an object"


@pytest.mark.parametrize("key", ["evidence_cited", "recommendations"])
@pytest.mark.parametrize("value", ["text", None, {"a": 1}, [1], [["text"]], [None]])
def test_lists_are_lists_of_texts(key: str, value: object) -> None:
    assert key in refused(json.dumps({**GOOD, key: value}))


@pytest.mark.parametrize("value", [None, 1, ["text"]])
def test_reasoning_is_a_text(value: object) -> None:
    assert refused(json.dumps({**GOOD, "reasoning": value})) == "reasoning is not a text"


def test_half_a_character_is_refused_because_no_report_can_be_written_with_it() -> None:
    assert "half a character" in refused(json.dumps({**GOOD, "reasoning": "\ud800"}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "5",
        "[]",
        f"[{json.dumps(GOOD)}]",
        f"```json\n{json.dumps(GOOD)}\n```",
        f"Here it is: {json.dumps(GOOD)}",
        json.dumps(GOOD) + json.dumps(GOOD),
        json.dumps(GOOD)[:-1],
        json.dumps(GOOD).replace("4", "9" * 5000, 1),
        "[" * 50_000,
        "\ufeff" + json.dumps(GOOD),
    ],
)
def test_only_one_whole_object_is_an_answer(text: str) -> None:
    assert refused(text)


def test_a_key_that_stands_twice_is_refused() -> None:
    assert refused('{"score": 1, ' + json.dumps(GOOD)[1:]) == "a key stands twice in one object"


def test_an_endless_text_is_refused() -> None:
    assert "longer than" in refused(json.dumps({**GOOD, "reasoning": "a" * 100_000}))


@pytest.mark.parametrize(
    "text",
    [
        "marker-text",
        '{"marker-text": 1}',
        json.dumps({**GOOD, "marker-text": "marker-text"}),
        json.dumps({**GOOD, "score": "marker-text"}),
        json.dumps({**GOOD, "sub_scores": {"marker-text": 1}}),
        '{"marker-text": 1, "marker-text": 1}',
    ],
)
def test_no_reason_quotes_the_text(text: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        parse_answer(text, NAMES)
    assert "marker" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_the_schema_takes_what_is_read_and_refuses_what_is_not() -> None:
    validator = Draft202012Validator(answer_schema(NAMES))
    Draft202012Validator.check_schema(answer_schema(NAMES))
    assert validator.is_valid(GOOD)
    assert not validator.is_valid({**GOOD, "score": 6})
    assert not validator.is_valid({**GOOD, "verdict": 5})
    assert not validator.is_valid({**GOOD, "sub_scores": {"placement": 5}})


def test_the_schema_is_inline_and_closed() -> None:
    schema = answer_schema(NAMES)
    assert "$ref" not in json.dumps(schema)
    assert schema["additionalProperties"] is schema["properties"]["sub_scores"]["additionalProperties"] is False
    assert list(schema["properties"]["sub_scores"]["properties"]) == list(NAMES)
