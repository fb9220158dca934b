"""The scanner's own rules, read from its program: every build holds its default configuration as plain text."""

import mmap
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from gitleaks_eval.config.tables import Table, tables, value_of
from gitleaks_eval.core.errors import EvaluationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT_AT_MOST = 4 << 20
TEXTS_AT_MOST = 20
_MARK = b"\n[[rules]]"
# What stands before the first rule, and the last rule, take 4 KiB each in every known build.
EDGE_AT_MOST = 16 << 10
LINES_AT_MOST = 500


@lru_cache(maxsize=8)
def builtin_document(binary: Path, sha256: str) -> Table:
    """The tables of the default configuration that a build holds; `sha256`, of the binary, makes keeping them safe.

    Raises:
        EvaluationError: when there is none that can be read.
    """
    del sha256
    try:
        with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            documents = [_parsed(text) or {} for text in _texts(content)]
    except (OSError, ValueError) as error:
        # An empty file cannot be mapped.
        reason = error.strerror if isinstance(error, OSError) else "it is empty"
        raise EvaluationError(f"{binary}: its own rules cannot be read: {reason}") from None
    found = max(documents, key=_rules, default={})
    if not _rules(found):
        raise EvaluationError(f"{binary}: its own rules cannot be read: it holds no configuration as plain text")
    return found


def _texts(content: mmap.mmap) -> Iterator[bytes]:
    """The configurations in the pieces between two NULs that hold the head of a rule.

    Go puts texts one behind the other, since 1.27 without a NUL between them. No other text is TOML, so a configuration
    begins at the first line, and ends with the last, between which all is.
    """
    place = 0
    for _ in range(TEXTS_AT_MOST):
        place = content.find(_MARK, place)
        if place < 0:
            return
        start = content.rfind(b"\0", max(0, place - TEXT_AT_MOST), place) + 1
        end = content.find(b"\0", place, place + TEXT_AT_MOST)
        if end < 0:
            place += len(_MARK)
            continue
        first, last = place + 1, content.rfind(_MARK, place, end) + 1
        begin = _begin(content[max(start, first - EDGE_AT_MOST) : first], whole=first - start <= EDGE_AT_MOST)
        length = _length(content[last : min(end, last + EDGE_AT_MOST)], whole=end - last <= EDGE_AT_MOST)
        if begin is not None and length is not None:
            yield content[first - begin : last + length]
        place = end


def _begin(head: bytes, *, whole: bool) -> int | None:
    """How many bytes before its first rule a configuration begins; None where it may begin before what is looked at."""
    begins = [*([0] if whole else []), *(found.end() for found in re.finditer(rb"\n", head))][-LINES_AT_MOST:]
    begin = next(begin for begin in begins if _parsed(head[begin:]) is not None)
    return None if begin == begins[0] != 0 else len(head) - begin


def _length(tail: bytes, *, whole: bool) -> int | None:
    """How many bytes a configuration has from its last rule on; None where it is none, or may go on."""
    ends = [*(found.end() for found in re.finditer(rb"\n", tail)), *([len(tail)] if whole else [])][:LINES_AT_MOST]
    length = next((end for end in reversed(ends) if _parsed(tail[:end]) is not None), None)
    return None if length is None or length == ends[-1] != len(tail) else length


def _rules(document: Table) -> int:
    return sum(isinstance(value_of(rule, "id"), str) for _, rule in tables(document, "rules"))


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None
