"""Rows of a CSV file of labels, each with its place."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gitleaks_eval.core.documents import LARGEST_JSON, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.corpora.expected import OPTION

LONGEST_FIELD = 1 << 20


def text_of(path: Path) -> str:
    """Return the text of a file of labels.

    Raises:
        InputError: when it cannot be read or is no UTF-8.
    """
    try:
        return read_input(path, LARGEST_JSON).decode("utf-8-sig")
    except OSError as error:
        raise unreadable(OPTION, path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{OPTION} {path}: it is no UTF-8; save it as UTF-8") from None


def rows(path: Path, *, comments: bool = False) -> Iterator[tuple[str, list[str]]]:
    """Each row that is not empty, after its place (`secrets.csv:3`); with `comments` lines with `#` are passed over.

    Raises:
        InputError: when it cannot be read, or is no CSV (with its line).
    """
    lines = text_of(path).splitlines(keepends=True)
    kept: Iterable[str] = ("\n" if comments and line.lstrip().startswith("#") else line for line in lines)
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(kept, strict=True)
    try:
        for row in reader:
            if any(row):
                yield f"{path.name}:{reader.line_num}", row
    except csv.Error as error:
        raise InputError(f"{OPTION} {path}:{reader.line_num}: this is no CSV: {error}") from None


def records(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each row under a head as a mapping, which has these columns.

    Raises:
        InputError: when a column is not there, or a row has more or fewer fields than the head.
    """
    found = rows(path)
    place, head = next(found, (f"{path.name}:1", []))
    if missing := [name for name in columns if name not in head]:
        raise InputError(f"{OPTION} {place}: there is no column {missing[0]!r}; it has {', '.join(head)[:200]}")
    for place, row in found:
        if len(row) != len(head):
            raise InputError(f"{OPTION} {place}: it has {len(row)} fields, and the head has {len(head)}")
        yield place, dict(zip(head, row, strict=True))


def number(text: str, what: str, place: str) -> int:
    """Return a number from 0 up.

    Raises:
        InputError: when it is none.
    """
    if not (text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 10):
        raise InputError(f"{OPTION} {place}: {what} is no number")
    return int(text)
