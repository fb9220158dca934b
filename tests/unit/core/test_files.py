"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from gitleaks_eval.core.files import write_atomically


def test_a_device_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    # Behind a link: whoever breaks this does not lose the machine's own.
    link = tmp_path / "link"
    link.symlink_to(os.devnull)
    with pytest.raises(OSError, match="is a device"):
        write_atomically(link, b"text")
    assert link.is_symlink()
    assert list(tmp_path.iterdir()) == [link]
