"""The answer of a judge: the schema that it is asked for, and the strict reading of its text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

SCORES = [1, 2, 3, 4, 5]
# In the order in which they are written: what is said before a score is what the score rests on.
KEYS = ("reasoning", "evidence_cited", "sub_scores", "score", "confidence", "recommendations")
LONGEST = 100_000
_WANTED = {
    "integer": "an integer from 1 to 5",
    "number": "a number from 0 to 1",
    "string": "a text",
    "array": "a list of texts",
    "object": "an object",
}


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
    """Return the JSON schema of an answer, inline, as structured output takes it.

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
    """Return the text that `parse_answer` reads as this answer."""
    return json.dumps({name: getattr(answer, name) for name in KEYS})


def parse_answer(text: str, sub_dimensions: Sequence[str]) -> Answer:
    """Return the answer that the whole of `text` is.

    Raises:
        InvalidAnswer: for anything but one JSON object with exactly the keys, types and ranges asked for.
    """
    if len(text) > LONGEST:
        raise InvalidAnswer(f"it is longer than {LONGEST} characters")
    document = _document(text)
    if error := next(Draft202012Validator(answer_schema(sub_dimensions)).iter_errors(document), None):
        raise InvalidAnswer(_reason(error))
    if not 0 <= document["confidence"] <= 1:
        # Structured output knows no bounds of numbers.
        raise InvalidAnswer(f"confidence is not {_WANTED['number']}")
    return Answer(
        # JSON Schema takes 4.0 for an integer, too.
        score=int(document["score"]),
        confidence=float(document["confidence"]),
        reasoning=document["reasoning"],
        evidence_cited=tuple(document["evidence_cited"]),
        recommendations=tuple(document["recommendations"]),
        sub_scores={name: int(document["sub_scores"][name]) for name in sub_dimensions},
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
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except InvalidAnswer as error:
        problem = str(error)
    except UnicodeEncodeError:
        problem = "it holds half a character, which no report can be written with"
    except (ValueError, RecursionError):
        # The decoder's own error carries the whole text.
        pass
    else:
        return document
    raise InvalidAnswer(problem)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise InvalidAnswer("a key stands twice in one object")
    return members


def _no_constant(_: str) -> Any:
    raise InvalidAnswer("NaN and Infinity are not JSON")


def _reason(error: Any) -> str:
    """Return what is wrong; the message of jsonschema would quote the answer."""
    place = ".".join(map(str, error.absolute_path)) or "the answer"
    if error.validator == "required":
        return f"{place} lacks {', '.join(name for name in error.validator_value if name not in error.instance)}"
    if error.validator == "additionalProperties":
        return f"{place} has keys that were not asked for"
    return f"{place} is not {_WANTED[error.schema['type']]}"
