"""A scan that crashed is kept, and one that was refused is none."""

import threading
from pathlib import Path

import pytest
from programs import script

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.crashes import crashed_scans
from gitleaks_eval.scanners.scan import Scanner

REPORTS = 'while [ "$1" != --report-path ]; do shift; done; echo "[]" > "$2"\n'


def scan(folder: Path, text: str) -> str:
    """What is kept of two scans, of which the second ends as this text of a shell says."""
    (folder / "repository").mkdir()
    for lines in (REPORTS, REPORTS + text):
        program = script(folder / "gitleaks", f"#!/bin/sh\n{lines}\n")
        build = ScannerBuild(str(program), "gitleaks", "8.30.1", "a test", "", "git", None)
        scanner = Scanner(build, folder / "config.toml", folder, 30, threading.Event())
        try:
            scanner.scan(folder / "repository")
        except EvaluationError:
            continue
    return crashed_scans(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit 1", "1 of 2 scans crashed (exit code 1)"),
        ("kill -SEGV $$", "1 of 2 scans crashed (signal 11)"),
        ("echo 'panic: runtime error' >&2; exit 2", "1 of 2 scans crashed (exit code 2)"),
        ("", ""),
        ("echo '9:00AM FTL Failed to load config' >&2; exit 1", ""),
        ("echo 'panic: regexp: Compile(`(`)' >&2; exit 2", ""),
    ],
)
def test_a_scan_crashed_that_neither_finished_nor_said_why_not(tmp_path: Path, text: str, said: str) -> None:
    assert scan(tmp_path, text) == said


def test_a_folder_without_a_scan_has_no_crash(tmp_path: Path) -> None:
    assert not crashed_scans(tmp_path)
