"""What a judge is asked to answer, and the strict reading of what it says."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SCORES = [1, 2, 3, 4, 5]
# In the order in which they are written: what is said before a score is what the score rests on.
KEYS = ("reasoning", "evidence_cited", "sub_scores", "score", "confidence", "recommendations")
LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A judge's answer: scores from 1 to 5, confidence from 0 to 1; one sub-score a sub-dimension."""

    score: int
    confidence: float
    reasoning: str
    evidence_cited: tuple[str, ...]
    recommendations: tuple[str, ...]
    sub_scores: Mapping[str, int]


class InvalidAnswer(ValueError):  # noqa: N818 - what it is, as in the outcome `invalid`
    """A text that is not an answer; the message says why and quotes nothing of it."""


def answer_schema(sub_dimensions: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of an answer, inline, as structured output takes it.

    Scores are enums: `minimum` and `maximum` reach the model as a description only.
    """
    score = {"type": "integer", "enum": SCORES}
    texts = {"type": "array", "items": {"type": "string"}}
    properties = {
        "reasoning": {"type": "string"},
        "evidence_cited": texts,
        "sub_scores": _closed_object(dict.fromkeys(sub_dimensions, score)),
        "score": score,
        "confidence": {"type": "number", "description": "from 0 to 1"},
        "recommendations": texts,
    }
    return _closed_object({name: properties[name] for name in KEYS})


def answer_text(answer: Answer) -> str:
    """The text that is this answer; `parse_answer` is the inverse."""
    return json.dumps({name: getattr(answer, name) for name in KEYS})


def parse_answer(text: str, sub_dimensions: Sequence[str]) -> Answer:
    """The answer that `text` is, as a whole.

    Raises:
        InvalidAnswer: for anything but one JSON object with exactly the keys, types and ranges asked for.
    """
    if len(text) > LONGEST:
        raise InvalidAnswer(f"it is longer than {LONGEST} characters")
    document = _members(_document(text), KEYS, "the answer")
    return Answer(
        score=_score(document["score"], "score"),
        confidence=_confidence(document["confidence"]),
        reasoning=_text(document["reasoning"], "reasoning"),
        evidence_cited=_texts(document["evidence_cited"], "evidence_cited"),
        recommendations=_texts(document["recommendations"], "recommendations"),
        sub_scores={
            name: _score(value, f"sub_scores.{name}")
            for name, value in _members(document["sub_scores"], sub_dimensions, "sub_scores").items()
        },
    )


def _closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _document(text: str) -> Any:
    problem = "it is not one JSON document"
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except InvalidAnswer as error:
        problem = str(error)
    except (ValueError, RecursionError):
        # The decoder's own error carries the whole text.
        pass
    raise InvalidAnswer(problem)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise InvalidAnswer("a key stands twice in one object")
    return members


def _no_constant(_: str) -> Any:
    raise InvalidAnswer("NaN and Infinity are not JSON")


def _members(value: Any, names: Sequence[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidAnswer(f"{what} is not an object")
    if missing := [name for name in names if name not in value]:
        raise InvalidAnswer(f"{what} lacks {', '.join(missing)}")
    if len(value) > len(names):
        raise InvalidAnswer(f"{what} has keys that were not asked for")
    return {name: value[name] for name in names}


def _score(value: Any, what: str) -> int:
    if type(value) is not int or value not in SCORES:
        raise InvalidAnswer(f"{what} is not an integer from 1 to 5")
    return value


def _confidence(value: Any) -> float:
    if type(value) not in {int, float} or not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidAnswer("confidence is not a number from 0 to 1")
    return float(value)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidAnswer(f"{what} is not a text")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidAnswer(f"{what} holds half a character, which no report can be written with")
    return value


def _texts(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidAnswer(f"{what} is not a list of texts")
    return tuple(_text(item, f"an item of {what}") for item in value)
