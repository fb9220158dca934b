"""Files that are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from gitleaks_eval.core.files import write_atomically


def test_what_is_no_regular_file_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is no regular file"):
        write_atomically(pipe, b"text")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_behind_a_link_stays_too(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(os.devnull)
    with pytest.raises(OSError, match="is no regular file"):
        write_atomically(link, b"text")
    assert link.is_symlink()
