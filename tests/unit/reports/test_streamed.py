"""Rows as they come, in a file that is there while a run is."""

from pathlib import Path

import pytest
from fleets import row

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.reports.folder import ReportFolder
from gitleaks_eval.reports.repository_rows import read_row, row_line
from gitleaks_eval.reports.streamed import streamed

NAME = "repositories.jsonl"


def test_a_row_can_be_read_as_soon_as_it_is_there_and_nothing_stays(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.partial"
    with streamed(ReportFolder(tmp_path, tmp_path), NAME) as write:
        assert path.read_bytes() == b""
        for number in (3, 1):
            write(row_line(row(number)))
            assert read_row(path.read_bytes().splitlines()[-1]) == row(number)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", [b"", row_line(row(0)) + b'{"number"', row_line(row(0))[:40]])
def test_what_a_killed_run_has_left_is_replaced(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / f"{NAME}.partial"
    path.write_bytes(left)
    with streamed(ReportFolder(tmp_path, tmp_path), NAME):
        assert path.read_bytes() == b""


def test_a_file_or_link_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path, other = tmp_path / f"{NAME}.partial", tmp_path / "other"
    other.write_bytes(row_line(row(0)))
    for make in (lambda: path.write_bytes(b"mine\n"), lambda: path.symlink_to(other), path.mkdir):
        make()
        with pytest.raises(InputError, match="move it away"), streamed(ReportFolder(tmp_path, tmp_path), NAME):
            pass
        path.rmdir() if path.is_dir() else path.unlink()
    assert other.read_bytes() == row_line(row(0))
