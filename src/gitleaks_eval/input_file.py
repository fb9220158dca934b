"""Reading a file that the user named, which may be no file at all."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def read_input(path: Path) -> bytes:
    """The content of a regular file: a pipe would keep us waiting, and a device may never end.

    Raises:
        OSError: when it cannot be read, or is a folder, pipe, device or socket.
    """
    with _opened(path) as file:
        return file.read()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a regular file, in hex.

    Raises:
        OSError: as `read_input`.
    """
    digest = hashlib.sha256()
    with _opened(path) as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe, device or socket; name a file", str(path))
        yield file


def _open_at_once(path: str, flags: int) -> int:
    # Already opening a pipe waits for who is at its other end.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
