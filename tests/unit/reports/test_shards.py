"""Rows as JSON, and shards: together they are one run, and whatever is missing, doubled or damaged is none."""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest
from fleets import CAUSE, PAIR, comparison, difference, row

from gitleaks_eval.config.eval_file import Approval
from gitleaks_eval.core.documents import DocumentError
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.reports.fleet.parquet import parquet_pieces
from gitleaks_eval.reports.fleet.repository_rows import Spool, read_row, row_line
from gitleaks_eval.reports.fleet.shards import Question, is_of_shard, read_shards, shard_pieces, shard_rows
from gitleaks_eval.reports.fleet.summary import LineKey
from gitleaks_eval.scoring.fleet import PairRow, RepositoryRow
from gitleaks_eval.scoring.real_differences import LOST, MOVED

QUESTION = Question(
    total=7,
    list_sha256="1" * 64,
    content="2" * 64,
    candidates=(("base", "gitleaks 1", "one"), ("head", "gitleaks 2", "two")),
    approvals=(Approval("r", None, ("repo*",), "seen", "one", "two", LOST, 3),),
)
ROWS = [
    row(number, *[difference(count=number)] * (number > 2), problem="is gone" * (number == 6)) for number in range(7)
]
LINES: dict[LineKey, Sequence[str]] = {(*PAIR, LOST, CAUSE, "github-pat"): ["head.toml:3"]}


def write(folder: Path, question: Question = QUESTION, of: int = 3) -> list[Path]:
    paths = []
    for number in range(1, of + 1):
        ours = [row_line(one) for one in ROWS if is_of_shard(one.number, number, of)]
        paths.append(folder / f"shard-{number}.jsonl")
        paths[-1].write_bytes(b"".join(shard_pieces(question, (number, of), ours, LINES)))
    return paths


def merge(paths: Iterable[Path]) -> tuple[list[RepositoryRow], dict[LineKey, Sequence[str]]]:
    lines: dict[LineKey, Sequence[str]] = {}
    rows = [one for shard in read_shards(list(paths)) for one, _ in shard_rows(shard, lines)]
    return sorted(rows), lines


def test_a_row_is_read_as_it_was_written() -> None:
    whole = difference(MOVED, cause=None, count=3)
    production = comparison("repo0", difference())
    real = replace(comparison("repo0", whole, difference(rule="übung\udcff")), production=production)
    written = RepositoryRow(
        0, "repo0", "https://x", (PairRow(*PAIR, real, "", 1, 0), PairRow("base", "c", None, "why"))
    )
    found = read_row(row_line(written))
    assert found.pairs[1] == written.pairs[1]
    assert found.pairs[0]._replace(real=None) == written.pairs[0]._replace(real=None)
    read = found.pairs[0].real
    assert read
    assert replace(read, differences=()) == replace(real, differences=())
    assert set(read.differences) == set(real.differences)


def test_a_table_has_a_row_a_difference_and_one_for_each_repository_without_any() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(b"".join(parquet_pieces(map(row_line, ROWS))))).to_pylist()
    assert [(one["repository"], one["status"], one["count"]) for one in table] == [
        *((f"repo{number}", "compared", None) for number in range(3)),
        *((f"repo{number}", "compared", number) for number in range(3, 6)),
        ("repo6", "incomplete", None),
    ]
    assert (table[6]["reason"], table[4]["cause"], table[4]["in_head"]) == ("is gone", CAUSE, True)


@pytest.mark.parametrize(
    "edit",
    [
        {"status": "compared"},
        {"number": -1},
        {"number": True},
        {"repository": None},
        {"pairs": [{"baseline": "base", "candidate": "head"}]},
        {"pairs": [{"baseline": "base", "candidate": "head", "problem": 7}]},
        {"pairs": 1},
    ],
)
def test_a_row_that_was_changed_is_none(edit: dict[str, object]) -> None:
    document = {**json.loads(row_line(ROWS[6])), **edit}
    with pytest.raises(DocumentError):
        read_row(json.dumps(document).encode() + b"\n")


def test_a_count_that_its_places_do_not_bear_out_is_no_row() -> None:
    document = json.loads(row_line(row(0, difference(count=2))))
    document["pairs"][0][LOST][0]["count"] = 1
    with pytest.raises(DocumentError):
        read_row(json.dumps(document).encode())


def test_rows_wait_in_a_file_and_come_out_in_the_order_of_the_list() -> None:
    spool = Spool(io.BytesIO())
    for one in reversed(ROWS):
        spool.add(one.number, row_line(one))
    assert list(spool.lines()) == [row_line(one) for one in ROWS]


@pytest.mark.parametrize("of", [1, 3, 10])
def test_all_shards_together_are_one_run_in_whatever_order_they_are_named(tmp_path: Path, of: int) -> None:
    rows, lines = merge(reversed(write(tmp_path, of=of)))
    assert rows == sorted(read_row(row_line(one)) for one in ROWS)
    assert lines == LINES


def test_machines_may_call_their_scanners_otherwise(tmp_path: Path) -> None:
    paths = write(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/two").mkdir()
    named = (("base", "gitleaks 1 (downloaded)", "one"), QUESTION.candidates[1])
    others = write(tmp_path / "other", replace(QUESTION, candidates=named))
    assert len(merge([paths[0], others[1], paths[2]])[0]) == 7


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"list_sha256": "3" * 64}, "another list"),
        ({"total": 8}, "another list"),
        ({"content": "3" * 64}, "another scanner, configuration"),
        ({"candidates": (("base", "gitleaks 1", "one"), ("head", "gitleaks 2", "three"))}, "another scanner"),
        ({"approvals": ()}, "other approvals"),
    ],
)
def test_a_shard_of_another_run_is_refused(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    paths = write(tmp_path)
    (tmp_path / "foreign").mkdir()
    foreign = write(tmp_path / "foreign", replace(QUESTION, **change))  # type: ignore[arg-type]  # each is of its type
    with pytest.raises(EvaluationError, match=problem) as error:
        read_shards([paths[0], foreign[1], paths[2]])
    assert not isinstance(error.value, InputError)


def test_a_shard_of_another_number_of_shards_is_refused(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    with pytest.raises(EvaluationError, match="another number of shards"):
        read_shards([write(tmp_path)[0], write(tmp_path / "two", of=2)[1]])


def test_a_shard_that_is_missing_or_there_twice_is_named(tmp_path: Path) -> None:
    one, two, three = write(tmp_path)
    with pytest.raises(EvaluationError, match="shard 2 of 3 is missing"):
        read_shards([one, three])
    with pytest.raises(EvaluationError, match="shard 2 of 3 is there twice"):
        read_shards([one, two, two, three])


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines[:-1],
        lambda lines: [*lines[:-1], lines[-1][:-1]],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[1], *lines[1:]],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [*lines, b"\n"],
        lambda lines: [lines[0], lines[1].replace(b'"same": 2', b'"same": 3'), *lines[2:]],
        lambda lines: [*lines[:2], b"{}\n", *lines[3:]],
        lambda lines: [*lines[:2], b"\xff\n", *lines[3:]],
    ],
    ids=["no end", "cut", "row less", "row twice", "order", "more", "changed", "no row", "no text"],
)
def test_a_damaged_shard_is_never_counted(tmp_path: Path, damage: object) -> None:
    paths = write(tmp_path)
    assert callable(damage)
    paths[0].write_bytes(b"".join(damage(lines_of(paths[0]))))
    with pytest.raises(InputError, match=r"shard-1\.jsonl: is damaged"):
        merge(paths)


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b"[]\n", b"no JSON\n", b'{"tool": "gitleaks-eval", "schema_version": "1.0"}\n']
)
def test_what_is_no_shard_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no file of a shard"):
        read_shards([path])
    with pytest.raises(InputError, match="cannot be read"):
        read_shards([tmp_path / "gone"])
