"""The scanner's own rules, read from its program: every build holds its default configuration as plain text."""

import mmap
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


@lru_cache(maxsize=8)
def builtin_document(binary: Path, sha256: str) -> Table:
    """The tables of the default configuration that a build holds; `sha256`, of the binary, makes keeping them safe.

    Raises:
        EvaluationError: when there is none that can be read.
    """
    del sha256
    try:
        with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            documents = [_parsed(text) for text in _texts(content)]
    except (OSError, ValueError) as error:
        # An empty file cannot be mapped.
        reason = error.strerror if isinstance(error, OSError) else "it is empty"
        raise EvaluationError(f"{binary}: its own rules cannot be read: {reason}") from None
    found = max(documents, key=_rules, default={})
    if not _rules(found):
        raise EvaluationError(f"{binary}: its own rules cannot be read: it holds no configuration as plain text")
    return found


def _texts(content: mmap.mmap) -> Iterator[bytes]:
    """The pieces between two NULs that hold the head of a rule."""
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
        yield content[start:end]
        place = end


def _rules(document: Table) -> int:
    return sum(isinstance(value_of(rule, "id"), str) for _, rule in tables(document, "rules"))


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return {}
