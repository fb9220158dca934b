"""Folders with secrets are private, and what dead runs left of them is swept, and nothing else."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.private_folder import LEAST_FREE, LOCK, check_room, private_folder, stay_in, sweep


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The TMPDIR."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def left_by_a_dead_process(scratch: Path) -> Path:
    code = "import os\nfrom gitleaks_eval.core import private_folder\n"
    code += "it = private_folder.private_folder()\nit.__enter__()\nos._exit(9)"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(scratch)}, check=False)
    (folder,) = (path for path in scratch.iterdir() if not path.is_symlink() and (path / LOCK).exists())
    (folder / "scan-x").mkdir()
    (folder / "scan-x" / "report.json").write_text("a secret", encoding="utf-8")
    return folder


def test_a_private_folder_is_for_its_owner_and_removed_on_the_way_out(scratch: Path) -> None:
    with private_folder() as folder:
        assert (folder.parent, folder.stat().st_mode & 0o777) == (scratch, 0o700)
    assert list(scratch.iterdir()) == []


def test_what_a_dead_process_left_is_swept(scratch: Path) -> None:
    left_by_a_dead_process(scratch)
    sweep()
    assert list(scratch.iterdir()) == []


def test_what_a_living_process_has_is_left_alone() -> None:
    with private_folder() as folder:
        (folder / "report.json").touch()
        sweep()
        assert (folder / "report.json").exists()


def test_a_folder_in_which_a_worker_still_is_outlives_its_owner(scratch: Path) -> None:
    folder = left_by_a_dead_process(scratch)
    worker = stay_in(folder)
    sweep()
    assert (folder / "scan-x" / "report.json").exists()
    worker.release()
    sweep()
    assert list(scratch.iterdir()) == []


def test_links_of_our_name_are_not_followed(scratch: Path, tmp_path: Path) -> None:
    dead = left_by_a_dead_process(scratch).rename(tmp_path / "elsewhere")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    (scratch / "gitleaks-eval-link").symlink_to(dead)
    left_by_a_dead_process(scratch).joinpath("link").symlink_to(kept)
    sweep()
    assert [path.name for path in scratch.iterdir()] == ["gitleaks-eval-link"]
    assert (dead / "scan-x" / "report.json").exists()
    assert (kept / "file").exists()


@pytest.mark.parametrize(
    "fault", ["another's", "open to others", "without a lock", "a lock that is a link", "a worker's"]
)
def test_a_folder_that_is_not_surely_ours_is_left_alone(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    folder = left_by_a_dead_process(scratch)
    if fault == "another's":
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    elif fault == "open to others":
        folder.chmod(0o777)
    elif fault == "a worker's":
        (folder / f"{LOCK}-1").symlink_to(tmp_path / "target")
    else:
        (folder / LOCK).unlink()
    if fault == "a lock that is a link":
        (folder / LOCK).symlink_to(tmp_path / "target")
    sweep()
    assert (folder / "scan-x" / "report.json").exists()
    assert not (tmp_path / "target").exists()


def test_too_little_room_is_one_error_that_says_how_much_is_needed(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_room()
    nearly_full = shutil.disk_usage(scratch)._replace(free=LEAST_FREE - 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: nearly_full)
    with pytest.raises(InputError, match=rf"^TMPDIR {scratch}: 15 MiB are free, and a run needs 16; make room"):
        check_room()
