"""Rows as they come, for readers who do not wait: a file that grows, and is gone when the report is there."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from gitleaks_eval.core.documents import DocumentError
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.reports.folder import ELSEWHERE, ReportFolder
from gitleaks_eval.reports.repository_rows import read_row

# No name that a pattern of finished files has.
_SUFFIX = ".partial"
# The row of a repository with a hundred thousand differences is 30 MiB.
_LARGEST_LINE = 1 << 28


@contextlib.contextmanager
def streamed(folder: ReportFolder, report: str) -> Iterator[Callable[[bytes], object]]:
    """What writes a line beside a report of this name (`a.jsonl`: `a.jsonl.partial`), in whatever order they come.

    What a run that was killed has left is replaced.

    Raises:
        InputError: when such a file is there, and is none of ours.
        OSError: when it cannot be written.
    """
    path = folder.path / f"{report}{_SUFFIX}"
    if os.path.lexists(path):
        if not _is_ours(path):
            raise InputError(f"{path}: is in the way of rows, and is none of them; move it away, or {ELSEWHERE}")
        path.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags, 0o644), "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        try:
            yield file.write
        finally:
            path.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    """Whether it is empty or begins with a row; the last one may be cut off."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return False
    with path.open("rb") as file:
        first = file.readline(_LARGEST_LINE)
    if not first.endswith(b"\n"):
        # Killed while it wrote the first one.
        return not first or first.startswith(b'{"number": ')
    try:
        read_row(first)
    except DocumentError:
        return False
    return True
