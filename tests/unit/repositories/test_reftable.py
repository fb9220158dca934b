"""Refs that are kept as reftables: read as git's own document says, and bounded where they lie."""

import contextlib
import struct
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from builders import git
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.reftable import read_reftables
from gitleaks_eval.scenarios.scenario import RealRepository

ONE, TWO = "1" * 40, "2" * 40
# A value is an id, an id and the one of the tag's object, `ref: ` and a name, or "" for one that is deleted.
Values = dict[str, str]


def number(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        value -= 1
        digits.append(0x80 | (value & 0x7F))
    return bytes(reversed(digits))


def record(before: str, name: str, value: str) -> bytes:
    shared = next((at for at, pair in enumerate(zip(before, name, strict=False)) if len(set(pair)) > 1), len(before))
    if value.startswith("ref: "):
        kind, data = 3, number(len(value) - 5) + value[5:].encode()
    else:
        ids = [bytes.fromhex(one) for one in value.split()]
        kind, data = len(ids), b"".join(ids)
    suffix = name[shared:].encode()
    return number(shared) + number(len(suffix) << 3 | kind) + suffix + number(300) + data


def block(values: Values, header: int) -> bytes:
    names = ["", *sorted(values)]
    records = b"".join(record(*pair, values[pair[1]]) for pair in pairwise(names))
    body = records + (4).to_bytes(3, "big") + struct.pack(">H", 1)
    return b"r" + (header + 4 + len(body)).to_bytes(3, "big") + body


def table(*blocks: Values, size: int = 4096, version: int = 1) -> bytes:
    """A table of blocks of refs; those of no size follow each other at once."""
    head = b"REFT" + bytes([version]) + size.to_bytes(3, "big") + bytes(16) + b"s256" * (version - 1)
    content = b""
    for index, values in enumerate(blocks):
        content += block(values, 0 if index else len(head))
        if size and index < len(blocks) - 1:
            content += bytes(size * (index + 1) - len(head) - len(content))
    footer = head + bytes(40)
    return head + content + footer + zlib.crc32(footer).to_bytes(4, "big")


def kept(folder: Path, *tables: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    names = [f"0x{index:012x}-0x{index:012x}-abcdef01.ref" for index in range(len(tables))]
    for name, content in zip(names, tables, strict=True):
        (folder / name).write_bytes(content)
    (folder / "tables.list").write_text("".join(f"{name}\n" for name in names), encoding="ascii")
    return folder


@pytest.mark.parametrize("size", [0, 4096])
def test_refs_of_all_kinds_and_blocks_are_read(tmp_path: Path, size: int) -> None:
    first = {"HEAD": "ref: refs/heads/main", "refs/heads/main": ONE, "refs/heads/maintenance": TWO}
    second = {f"refs/tags/v{index}": f"{ONE} {TWO}" for index in range(20)}
    found = read_reftables(kept(tmp_path / "t", table(first, second, size=size)))
    assert found == {
        name.encode(): value.split()[0].encode() if value[0] in "12" else value.encode()
        for name, value in (first | second).items()
    }


def test_a_later_table_goes_before_an_earlier_and_may_delete(tmp_path: Path) -> None:
    before = table({"refs/heads/a": ONE, "refs/heads/b": ONE, "refs/heads/c": ONE})
    found = read_reftables(kept(tmp_path / "t", before, table({"refs/heads/a": TWO, "refs/heads/b": ""})))
    assert found == {b"refs/heads/a": TWO.encode(), b"refs/heads/c": ONE.encode()}


def test_ids_of_sha256_are_whole(tmp_path: Path) -> None:
    found = read_reftables(kept(tmp_path / "t", table({"refs/heads/a": "3" * 64}, version=2)))
    assert found == {b"refs/heads/a": b"3" * 64}


def test_a_repository_with_reftables_is_cloned_as_one_with_files(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "-q", "-b", "main")
    for text in ("one", "two"):
        (source / "a").write_text(text, encoding="ascii")
        git(source, "add", ".")
        git(source, "commit", "-q", "-m", text)
    tip, old = (git(source, "rev-parse", name).decode().strip() for name in ("HEAD", "HEAD~1"))
    refs = {"HEAD": "ref: refs/heads/main", "refs/heads/main": tip, "refs/tags/old": old, "refs/replace/x": old}
    kept(source / ".git/reftable", table(refs))
    # As git leaves them, so that no older one takes it for a repository with files.
    (source / ".git/HEAD").write_text("ref: refs/heads/.invalid\n", encoding="ascii")
    (source / ".git/refs/heads/main").unlink()
    made = clone(RealRepository("source", str(source), str(source)), tmp_path / "folder", 60)
    assert (made.branch, made.commit) == ("main", tip)
    named = git(made.path, "for-each-ref", "--format=%(refname) %(objectname)").decode().split("\n")
    assert named == [f"refs/heads/main {tip}", f"refs/tags/old {old}", ""]


LONG = {f"refs/heads/{'a' * 3000}{'b' * index}": ONE for index in range(0, 2000, 100)}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"REFT",
        b"REFT\x07" + bytes(200),
        table({"refs/heads/a": ONE})[:60],
        table({"refs/heads/a": ONE})[:-80] + table({"refs/heads/a": ONE})[-68:],
        table({"refs/heads/a": ONE}).replace(b"r\x00", b"r\xff"),
        table({"refs/heads/a": ONE}).replace(b"\x00\x61refs", b"\xff\xff" * 9 + b"refs"),
        table(LONG, size=0),
    ],
)
def test_a_table_that_is_broken_or_has_endless_names_is_an_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(EvaluationError, match=r"its reftable .* is broken"):
        read_reftables(kept(tmp_path / "t", content))


@pytest.mark.parametrize("listed", ["../../x.ref", "missing.ref", "a.ref\n" * 1001])
def test_a_list_that_names_something_else_is_an_error(tmp_path: Path, listed: str) -> None:
    (kept(tmp_path / "t") / "tables.list").write_text(listed, encoding="ascii")
    with pytest.raises(EvaluationError, match=r"list of reftables is none|is no file"):
        read_reftables(tmp_path / "t")


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.lists(some.tuples(some.integers(0, 200), some.integers(0, 255)), max_size=6))
def test_whatever_a_table_holds_it_ends(tmp_path: Path, edits: list[tuple[int, int]]) -> None:
    content = bytearray(table({"HEAD": "ref: refs/heads/a", "refs/heads/a": ONE, "refs/tags/b": f"{ONE} {TWO}"}))
    for place, value in edits:
        content[place % len(content)] = value
    with contextlib.suppress(EvaluationError):
        read_reftables(kept(tmp_path / "t", bytes(content)))
