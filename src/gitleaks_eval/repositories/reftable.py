"""The refs of a repository that keeps them as reftables, read as bytes: git is never run in it.

The format is that of git's Documentation/technical/reftable. Only blocks of refs are read.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError

LARGEST_TABLE = 256 << 20
TABLES_AT_MOST = 1000
LONGEST_NAME = 4096
_NAME = re.compile(r"[A-Za-z0-9_-]+\.(?:ref|log)")
# By version: the length of the header and that of the footer.
_LENGTHS = {1: (24, 68), 2: (28, 72)}
# An index, blocks of objects and of the log.
_BEHIND_REFS = {b"i", b"o", b"g"}
_DELETED, _ID, _PEELED, _SYMBOLIC = range(4)
# A name, and what it stands for: an id in hex, or `ref: ` and another name; None where it was deleted.
Record = tuple[bytes, bytes | None]


def read_reftables(folder: Path) -> dict[bytes, bytes]:
    """What each ref names, HEAD included, from the tables that `tables.list` in the folder names.

    Raises:
        EvaluationError: when a table is missing, too large or broken.
        OSError: when one cannot be read.
    """
    names = _content(folder / "tables.list").decode("ascii", "replace").split()
    if len(names) > TABLES_AT_MOST or not all(map(_NAME.fullmatch, names)):
        raise EvaluationError("its list of reftables is none")
    found: dict[bytes, bytes] = {}
    # The oldest comes first.
    for name in names:
        try:
            records = list(_records(_content(folder / name)))
        except (IndexError, ValueError, struct.error):
            raise EvaluationError(f"its reftable {name} is broken") from None
        for ref, value in records:
            if value is None:
                found.pop(ref, None)
            else:
                found[ref] = value
    return found


def _content(path: Path) -> bytes:
    if not path.is_file() or path.is_symlink():
        raise EvaluationError(f"its {path.name} is no file")
    if path.stat().st_size > LARGEST_TABLE:
        raise EvaluationError(f"its {path.name} is larger than {LARGEST_TABLE >> 20} MiB")
    return path.read_bytes()


def _records(table: bytes) -> Iterator[Record]:
    if table[:4] != b"REFT" or table[4] not in _LENGTHS:
        raise ValueError(table[:5])
    header, footer = _LENGTHS[table[4]]
    id_size = 32 if table[4] == 2 and table[24:28] == b"s256" else 20
    block_size = int.from_bytes(table[5:8], "big")
    start, end = 0, len(table) - footer
    # A table that is cut off would say that there are no refs.
    whole = end >= header and table[end : end + header] == table[:header]
    if not whole or zlib.crc32(table[end:-4]) != int.from_bytes(table[-4:], "big"):
        raise ValueError(end)
    while start < end:
        # The first block begins behind the header, and its length counts that.
        first = header if start == 0 else start
        if (kind := table[first : first + 1]) != b"r":
            if kind not in _BEHIND_REFS:
                raise ValueError(kind)
            return
        length = int.from_bytes(table[first + 1 : first + 4], "big")
        if length <= 4 or start + length > end:
            raise ValueError(length)
        yield from _block(table[first + 4 : start + length], id_size)
        start += block_size or length


def _block(block: bytes, id_size: int) -> Iterator[Record]:
    (restarts,) = struct.unpack(">H", block[-2:])
    end, place, name = len(block) - 2 - 3 * restarts, 0, b""
    if end <= 0:
        raise ValueError(end)
    while place < end:
        shared, place = _number(block, place)
        packed, place = _number(block, place)
        length, kind = packed >> 3, packed & 7
        # Each may share all of a long name: a small table would fill the memory.
        if shared > len(name) or shared + length > LONGEST_NAME or kind > _SYMBOLIC:
            raise ValueError(kind)
        name = name[:shared] + block[place : place + length]
        # How much later than the table it was written follows.
        _, place = _number(block, place + length)
        value: bytes | None = None
        if kind == _SYMBOLIC:
            length, place = _number(block, place)
            value = b"ref: " + block[place : place + length]
            place += length
        elif kind != _DELETED:
            value = block[place : place + id_size].hex().encode("ascii")
            place += id_size * (2 if kind == _PEELED else 1)
        if place > end:
            raise ValueError(place)
        yield name, value


def _number(block: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, as git has it in packs, and where it ends."""
    value = block[place] & 0x7F
    while block[place] & 0x80:
        place += 1
        value = ((value + 1) << 7) | (block[place] & 0x7F)
        if value >> 64:
            raise ValueError(place)
    return value, place + 1
