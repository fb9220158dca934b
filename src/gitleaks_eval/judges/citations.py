"""Are the things that a judge cites there? What it names must stand in what it was shown."""

import re
from collections.abc import Iterable, Sequence

# What stands between spaces, brackets, quotes; each pattern takes a time that is linear in its text, which is anyone's.
_WORD = re.compile(r"(?:[\w@$-]|[./:](?![./:]))+")
# Something inside that no plain word has: a path, a rule id, a key of the evidence, a check's id.
_IS_NAME = re.compile(r"[./_:-][\w@$-]")
_EDGES = "./:-`'\"()[]{},;"
_LINE = re.compile(r":\d+(?:-\d+)?$")


def unfounded(citations: Iterable[str], shown: str) -> tuple[str, ...]:
    """The citations that name something which does not stand in `shown`, the prompt."""
    lowered = shown.lower()
    return tuple(citation for citation in citations if not all(name in lowered for name in _names(citation)))


def _names(citation: str) -> Sequence[str]:
    names = filter(_IS_NAME.search, _WORD.findall(citation))
    found = (_LINE.sub("", name.strip(_EDGES)).lower() for name in names)
    return [part for name in found for part in _parts(name) if any(char.isalpha() for char in part)]


def _parts(name: str) -> Iterable[str]:
    # `by_rule.private-key.missed` is a way through the evidence, `config/key.pem` one name.
    return [name] if "/" in name or "_" not in name else name.split(".")


def lowered_confidence(confidence: float, citations: Sequence[str], without_ground: Sequence[str]) -> float:
    """The confidence of a judge, less the share of its citations that have no ground."""
    return round(confidence * (1 - len(without_ground) / len(citations)), 4) if citations else confidence
