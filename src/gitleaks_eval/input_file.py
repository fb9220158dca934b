"""Reading a file that the user named, which may be no file at all."""

import errno
import os
import stat
from pathlib import Path


def read_input(path: Path) -> bytes:
    """The content of a regular file: a pipe would keep us waiting, and a device may never end.

    Raises:
        OSError: when it cannot be read, or is a folder, pipe, device or socket.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe, device or socket; name a file", str(path))
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    # Already opening a pipe waits for who is at its other end.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
