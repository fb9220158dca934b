"""A row a repository, as JSON: in repositories.jsonl, in the file of a shard, and in the store."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from gitleaks_eval.core.documents import DocumentError, parse_json
from gitleaks_eval.reports.comparison.real_differences import real_json
from gitleaks_eval.scoring.fleet import PairRow, RepositoryRow
from gitleaks_eval.scoring.real_differences import KINDS, Other, Real, RealComparison, RealDifference

COMPARED, INCOMPLETE = "compared", "incomplete"


def row_line(row: RepositoryRow) -> bytes:
    """Return a row as one line of JSON, ASCII alone."""
    document = {
        "number": row.number,
        "repository": row.repository,
        "source": row.source,
        "status": INCOMPLETE if row.problems else COMPARED,
        "reasons": row.problems,
        "pairs": [_pair_json(pair) for pair in row.pairs],
    }
    return json.dumps(document, ensure_ascii=True).encode("ascii") + b"\n"


def read_row(line: bytes) -> RepositoryRow:
    """Return the row of a line.

    Raises:
        DocumentError: when it is none.
    """
    document = parse_json(line)
    try:
        row = RepositoryRow(
            _count(document["number"]),
            _text(document["repository"]),
            _text(document["source"]),
            tuple(_pair(one) for one in _list(document["pairs"])),
        )
        is_itself = document["status"] == (INCOMPLETE if row.problems else COMPARED)
    except (LookupError, TypeError, ValueError):
        is_itself = False
    if not is_itself:
        raise DocumentError("is no row of a repository")
    return row


class Spool:
    """Rows that wait in a file, in whatever order they come; of each only its place is kept in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[int, tuple[int, int]] = {}
        self._end = 0

    def add(self, number: int, line: bytes) -> None:
        """Add the row of a repository.

        Raises:
            OSError: when the file cannot be written.
        """
        self._file.seek(self._end)
        self._file.write(line)
        self._places[number] = self._end, len(line)
        self._end += len(line)

    def lines(self) -> Iterator[bytes]:
        """Yield the rows in the order of the list."""
        for number in sorted(self._places):
            place, length = self._places[number]
            self._file.seek(place)
            yield self._file.read(length)


def comparison_json(real_comparison: RealComparison) -> dict[str, Any]:
    """Return a comparison, as comparison.json has it."""
    (document,) = real_json(Real((real_comparison,)))
    return document


def read_comparison(document: Mapping[str, Any]) -> RealComparison:
    """Return the comparison of a document.

    Raises:
        LookupError, TypeError, ValueError: when it is none.
    """
    differences = [_difference(kind, one) for kind in KINDS for one in _list(document[kind])]
    times, peaks = document["scan_ms"], document["peak_kib"]
    production = document.get("production")
    return RealComparison(
        repository=_text(document["repository"]),
        commit=_text(document["commit"]),
        same=_count(document["same"]),
        differences=tuple(differences),
        times_ms=None if times is None else (float(times[0]), float(times[1])),
        peaks_kib=None if peaks is None else (_count_or_none(peaks[0]), _count_or_none(peaks[1])),
        production=None if production is None else read_comparison(production),
        broken={_text(file): _count(count) for file, count in document.get("broken_lines", {}).items()},
    )


def _pair_json(pair_row: PairRow) -> dict[str, Any]:
    truth = (
        {"truth_lost": pair_row.truth_lost, "truth_better": pair_row.truth_better}
        if pair_row.truth_lost is not None
        else {}
    )
    real = {"problem": pair_row.problem} if pair_row.real is None else comparison_json(pair_row.real)
    return {"baseline": pair_row.baseline, "candidate": pair_row.candidate, **truth, **real}


def _pair(document: Mapping[str, Any]) -> PairRow:
    names = _text(document["baseline"]), _text(document["candidate"])
    truth = _count_or_none(document.get("truth_lost")), _count_or_none(document.get("truth_better"))
    if "problem" in document:
        # Without a reason it would look as if it had been compared.
        return PairRow(*names, None, _text(document["problem"]) or "it was not compared", *truth)
    return PairRow(*names, read_comparison(document), "", *truth)


def _difference(kind: str, one: Mapping[str, Any]) -> RealDifference:
    in_head = one["in_head"]
    if not isinstance(in_head, bool):
        raise TypeError("in_head")
    others = tuple(
        Other(
            _text(other["commit"]),
            _text(other["file_path"]),
            _count(other["line_number"]),
            _text_or_none(other.get("candidate_commit")),
        )
        for other in _list(one.get("others", []))
    )
    if _count(one["count"]) != 1 + len(others):
        raise ValueError("count")
    return RealDifference(
        kind=kind,
        commit=_text(one["commit"]),
        file_path=_text(one["file_path"]),
        line_number=_count(one["line_number"]),
        rule_id=_text(one["rule_id"]),
        candidate_rule_id=_text_or_none(one["candidate_rule_id"]),
        in_head=in_head,
        cause=_text_or_none(one["cause"]),
        count=1 + len(others),
        candidate_line_number=_count_or_none(one.get("candidate_line_number")),
        candidate_commit=_text_or_none(one.get("candidate_commit")),
        elsewhere=one.get("reported_elsewhere", False) is True,
        others=others,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("a number")
    return value


def _count_or_none(value: object) -> int | None:
    return None if value is None else _count(value)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list")
    return value
