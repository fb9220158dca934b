"""JSON Schemas that ship with the package, and what a document says against one."""

import json
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from gitleaks_eval.core.resources import schema
from gitleaks_eval.core.text import printable

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# A document may be wrong in each of a million places.
PROBLEMS_AT_MOST = 1000


def schema_problems(name: str, document: Any) -> list[str]:
    """Each violation of the schema `name` as `JSON pointer: what is wrong`, sorted by place; the first 1,000 only."""
    errors = islice(_validator(name).iter_errors(document), PROBLEMS_AT_MOST)
    return sorted(f"{pointer(error.absolute_path)}: {printable(_described(error))}" for error in errors)


def schema_violations(name: str, document: Any) -> list[tuple[tuple[str | int, ...], str]]:
    """Each violation of the schema `name`: the address of what is wrong, and how; the first 1,000 only.

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
    """Each violation of the schema of `evaluation_report.json`, as `schema_problems` has them.

    Of `results` and `findings` only that they are lists: a schema takes seconds for thousands of entries.
    """
    if not isinstance(document, dict):
        return schema_problems("report", document)
    long_lists = {name for name in ("results", "findings") if isinstance(document.get(name), list)}
    return schema_problems("report", {**document, **{name: [] for name in long_lists}})


def pointer(path: Any) -> str:
    """The JSON pointer (RFC 6901) of a path; the document itself is `/`."""
    return "/" + "/".join(printable(str(part).replace("~", "~0").replace("/", "~1")) for part in path)


@cache
def _validator(name: str) -> "Validator":
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 33 ms, and not all processes of a run validate

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
