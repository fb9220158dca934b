"""JSON Schemas that ship with the package, and what a document says against one."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator

from gitleaks_eval.core.resources import schema
from gitleaks_eval.core.text import printable

# A document may be wrong in each of a million places.
PROBLEMS_AT_MOST = 1000


def schema_problems(name: str, document: Any) -> list[str]:
    """Return each violation of the schema `name` as `JSON pointer: what is wrong`, by place; the first 1,000 only."""
    errors = islice(_validator(name).iter_errors(document), PROBLEMS_AT_MOST)
    return sorted(f"{pointer(error.absolute_path)}: {printable(_described(error))}" for error in errors)


def schema_violations(name: str, document: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Return each violation of the schema `name`: the address of what is wrong, and how; the first 1,000 only.

    Of a key that is not known the address is that of the key.
    """
    violations: list[tuple[tuple[str | int, ...], str]] = []
    errors: Iterable[Any] = islice(_validator(name).iter_errors(document), PROBLEMS_AT_MOST)
    for error in errors:
        address: tuple[str | int, ...] = tuple(error.absolute_path)
        known: Any = error.schema["properties"] if error.validator == "additionalProperties" else {}
        unknown = [key for key in error.instance if key not in known] if known else []
        if unknown:
            there = ", ".join(known)
            violations += [
                ((*address, key), f"the key {key[:100]!r} is not known; there are {there}") for key in unknown
            ]
        else:
            violations.append((address, printable(_described(error))))
    return violations


def report_problems(document: Any) -> list[str]:
    """Return each violation of the schema of `evaluation_report.json`, as `schema_problems` has them.

    Of `results` and `findings` only that they are lists: a schema takes seconds for thousands of entries.
    """
    if not isinstance(document, dict):
        return schema_problems("report", document)
    long_lists = {name for name in ("results", "findings") if isinstance(document.get(name), list)}
    return schema_problems("report", {**document, **{name: [] for name in long_lists}})


def list_problem(name: str, key: str, rows: Iterable[Any]) -> str:
    """Return what the first wrong row of a long list lacks, or holds of another type, by the schema `name`; else empty.

    For what a schema would take seconds for; values are not held against their enumerations.
    """
    root = _validator(name).schema
    assert isinstance(root, dict)  # noqa: S101 - each of ours is an object
    row = _resolved(root, root["properties"][key]["items"])
    fields = {field: _types(_resolved(root, one)) for field, one in row["properties"].items()}
    for index, entry in enumerate(rows):
        if not isinstance(entry, dict):
            return f"/{key}/{index}: is not an object"
        for field in row["required"]:
            if field not in entry:
                return f"/{key}/{index}: {field!r} is missing"
        for field, types in fields.items():
            if types and field in entry and not isinstance(entry[field], types):
                return f"/{key}/{index}/{field}: is of the wrong type"
    return ""


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def _types(one: Mapping[str, Any]) -> tuple[type, ...]:
    """Return the types that a value may have; empty where they are not said. A value of an enumeration is a text."""
    said = one.get("type", "string" if "enum" in one else [])
    return tuple(kind for name in ([said] if isinstance(said, str) else said) for kind in _TYPES[name])


def _resolved(root: Mapping[str, Any], one: Mapping[str, Any]) -> Mapping[str, Any]:
    named: Mapping[str, Any] = root["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one
    return named


def pointer(path: Any) -> str:
    """Return the JSON pointer (RFC 6901) of a path; the document itself is `/`."""
    return "/" + "/".join(printable(str(part).replace("~", "~0").replace("/", "~1")) for part in path)


@cache
def _validator(name: str) -> Validator:
    return Draft202012Validator(json.loads(schema(name).read_text(encoding="utf-8")))


def _described(error: Any) -> str:
    # jsonschema quotes the offending value whole; an object or list may hold anything, a preview included.
    if isinstance(error.instance, (dict, list)) and error.validator in {"type", "const", "enum"}:
        kind = "an object" if isinstance(error.instance, dict) else "a list"
        return f"{kind} where {error.validator} {error.validator_value!r} is wanted"
    return _without_document(error.message)


def _without_document(message: str) -> str:
    # jsonschema quotes the offending value whole, and that may be a report of many megabytes.
    return message if len(message) <= 300 else f"{message[:120]} … {message[-160:]}"
