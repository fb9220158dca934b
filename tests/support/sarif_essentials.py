"""What SARIF 2.1.0 says of the objects that we write, from the text of its specification (OASIS, sections 3.13 on)."""

from typing import Any

TEXT = {"type": "string"}


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def _list(items: Any, *, unique: bool = True) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": unique}


LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = _object(["text"], text={"type": "string", "minLength": 1})
LOCATION = _object(
    [],
    physicalLocation=_object(
        ["artifactLocation"],
        artifactLocation=_object([], uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT),
        region=_object([], startLine={"type": "integer", "minimum": 1}),
    ),
)
RESULT = _object(
    ["message"],
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations=_list(LOCATION, unique=False),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)
DRIVER = _object(["name"], name=TEXT, version=TEXT, rules=_list(_object(["id"], id=TEXT, shortDescription=MESSAGE)))
INVOCATION = _object(
    ["executionSuccessful"],
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=_list(_object(["message"], level=LEVEL, message=MESSAGE), unique=False),
)
RUN = _object(
    ["tool"],
    tool=_object(["driver"], driver=DRIVER),
    automationDetails=_object([], id=TEXT),
    invocations=_list(INVOCATION, unique=False),
    results=_list(RESULT, unique=False),
)
SARIF: dict[str, Any] = _object(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": _list(RUN, unique=False)},
)
