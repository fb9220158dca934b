"""YAML of others: no key twice, no tag, and not too deep."""

import codecs
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from gitleaks_eval.core.documents import DEEPEST, LARGEST_TEXT, DocumentError

# The C parser where PyYAML was built with it; both read the same language.
_FastLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(content: bytes) -> Any:
    """Return the value of a YAML document, in which every key is a text and none stands twice in one mapping.

    Raises:
        DocumentError: when it is no YAML (line and column), or is beyond a bound.
    """
    if len(content) > LARGEST_TEXT:
        raise DocumentError(f"it has more than {LARGEST_TEXT >> 20} MiB")
    try:
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            content = content.decode("utf-16").encode("utf-8")
        _check(yaml.parse(content, Loader=_FastLoader))
        return yaml.load(content, Loader=_Loader)  # noqa: S506 - a SafeLoader with more checks
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = f"{place}{error.problem}"
    except (yaml.YAMLError, ValueError) as error:
        problem = " ".join(str(error).split())
    raise DocumentError(problem)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands: line and column of its beginning (of its key, where it has one), counted from 1.

    `start` and `end` are the characters of the value itself, counted from 0.
    """

    line: int
    column: int
    start: int
    end: int

    def __str__(self) -> str:
        """`line:column`."""
        return f"{self.line}:{self.column}"


Spots = dict[tuple[str | int, ...], Spot]


def yaml_spots(text: str) -> Spots:
    """Return where each value of a document stands, by its address; the text is one that `parse_yaml` takes."""
    spots: Spots = {}
    root = yaml.compose(text, Loader=_Loader)
    left: list[tuple[tuple[str | int, ...], Any, Any]] = [((), root, root)] if root else []
    while left:
        address, node, named = left.pop()
        mark = named.start_mark
        spots[address] = Spot(mark.line + 1, mark.column + 1, node.start_mark.index, node.end_mark.index)
        if isinstance(node, yaml.MappingNode):
            left += [((*address, key.value), value, key) for key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            left += [((*address, index), value, value) for index, value in enumerate(node.value)]
    return spots


def _check(events: Iterator[Any]) -> None:
    """Look at the events of the parser, which need no stack: making nodes of them recurses in C."""
    anchors: list[str | None] = []
    for event in events:
        if tag := getattr(event, "tag", None):
            raise _Refused(f"the tag {tag[:100]!r} is not supported; leave it out", event)
        if isinstance(event, yaml.CollectionStartEvent):
            anchors.append(event.anchor)
            if len(anchors) >= DEEPEST:
                raise _Refused(f"more than {DEEPEST} lists or mappings in each other", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchors.pop()
        elif isinstance(event, yaml.AliasEvent) and event.anchor in anchors:
            raise _Refused(f"the alias {str(event.anchor)[:100]!r} stands in what it names", event)


class _Refused(yaml.MarkedYAMLError):
    """YAML that is not taken, and where it stands."""

    def __init__(self, problem: str, event: Any) -> None:
        super().__init__(problem=problem, problem_mark=event.start_mark)


class _Loader(_FastLoader):  # type: ignore[misc]  # one of two classes, chosen at run time
    """YAML with dates left as text, every key a string, and no key twice."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML wants a class attribute
        first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in _FastLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node)
            if not isinstance(key, str):
                raise _Refused(f"the key {repr(key)[:100]} is no text; put it in quotes", key_node)
            if key in keys:
                raise _Refused(f"the key {key[:100]!r} stands here twice", key_node)
            keys.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping
