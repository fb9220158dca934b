"""repositories.parquet: a row a difference, for analysts. It needs the extra `parquet`."""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from gitleaks_eval.core.text import without_surrogates
from gitleaks_eval.reports.fleet.repository_rows import COMPARED, INCOMPLETE, read_row
from gitleaks_eval.scoring.fleet import PairRow, RepositoryRow
from gitleaks_eval.scoring.real_differences import RealDifference

AT_ONCE = 10_000
_TEXTS = ("kind", "commit", "file_path", "rule_id", "candidate_rule_id", "cause")
_COLUMNS = (
    *((name, pa.string()) for name in ("repository", "source", "baseline", "candidate", "status", "reason")),
    ("same", pa.int64()),
    *((name, pa.string()) for name in _TEXTS),
    ("line_number", pa.int64()),
    ("in_head", pa.bool_()),
    ("count", pa.int64()),
)


def parquet_pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of the file, from rows as lines of JSON; what differs nowhere has a row without a kind.

    What is in memory is bounded, whatever the number of rows.
    """
    schema = pa.schema(_COLUMNS)
    rows = (made for line in lines for made in _rows(read_row(line)))
    with tempfile.TemporaryFile() as file:
        with ParquetWriter(file, schema) as writer:
            while batch := list(islice(rows, AT_ONCE)):
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
        file.seek(0)
        while piece := file.read(1 << 20):
            yield piece


def _rows(row: RepositoryRow) -> Iterator[dict[str, Any]]:
    for pair in row.pairs:
        about = {**_about(row, pair), "same": pair.real.same if pair.real else None}
        differences = pair.real.differences if pair.real else ()
        yield from ({**about, **_difference(difference)} for difference in differences)
        if not differences:
            yield about


def _about(row: RepositoryRow, pair: PairRow) -> dict[str, str]:
    said = {
        "repository": row.repository,
        "source": row.source,
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "status": COMPARED if pair.real else INCOMPLETE,
        "reason": pair.problem,
    }
    return {name: without_surrogates(text) for name, text in said.items()}


def _difference(real_difference: RealDifference) -> dict[str, Any]:
    texts = {name: getattr(real_difference, name) for name in _TEXTS}
    shown = {name: None if text is None else without_surrogates(text) for name, text in texts.items()}
    return {
        **shown,
        "line_number": real_difference.line_number,
        "in_head": real_difference.in_head,
        "count": real_difference.count,
    }
