"""Whoever waits for a scan sees which one it is."""

import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git
from corpus import shipped_scenarios

from gitleaks_eval import command
from gitleaks_eval.core import progress
from gitleaks_eval.core.progress import Watch, under_way

SLOW = """\
#!{python} -ISB
import os, sys, time
if sys.argv[1] == "git":
    time.sleep(0.5)
os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""


def test_a_scan_that_takes_long_is_named_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.01)
    said: queue.Queue[str] = queue.Queue()
    watch = Watch(tmp_path / "notes", said.put)
    with under_way(tmp_path / "notes", "scanning first"):
        assert said.get(timeout=60).startswith("gitleaks-eval: still scanning first after ")
    with under_way(tmp_path / "notes", "cloning second"):
        assert any("second" in said.get(timeout=60) for _ in range(1000))
    watch.stop()
    assert list((tmp_path / "notes").iterdir()) == []


def test_what_goes_on_for_long_is_told_again_and_nothing_of_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    said: queue.Queue[str] = queue.Queue()
    with progress.telling(said.put, "doing what is short"):
        pass
    monkeypatch.setattr(progress, "SECONDS", 0.01)
    with progress.telling(said.put, "asking"):
        assert [said.get(timeout=60), said.get(timeout=60)] == ["gitleaks-eval: still asking after 0 s"] * 2


def test_a_note_that_stays_is_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.05)
    said: queue.Queue[str] = queue.Queue()
    watch = Watch(tmp_path / "notes", said.put)
    with under_way(tmp_path / "notes", "scanning"):
        assert all("still scanning" in said.get(timeout=60) for _ in range(3))
    watch.stop()


def test_of_many_short_scans_one_is_named_when_nothing_was_said_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.3)
    said: queue.Queue[str] = queue.Queue()
    watch = Watch(tmp_path / "notes", said.put)
    ends = time.monotonic() + 20
    while said.empty() and time.monotonic() < ends:
        with under_way(tmp_path / "notes", "scanning one of many"):
            time.sleep(0.05)
    assert "one of many" in said.get(timeout=1)
    watch.stop()


@pytest.mark.parametrize("line", [["explain", "a.txt"], ["try", "github-pat", "source"]], ids=["explain", "try"])
def test_a_subcommand_says_on_standard_error_what_goes_on(
    tmp_path: Path,
    gitleaks: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "SECONDS", 0.01)
    (tmp_path / "a.txt").write_text("nothing = 1\n", encoding="utf-8")
    source = tmp_path / "source"
    source.mkdir()
    git(source, "init", "-q")
    git(source, "commit", "-q", "--allow-empty", "-m", "m")
    command.main([*line, f"--binary={gitleaks('8.30.1')}", "--config=builtin"])
    told = capsys.readouterr()
    expected = {"explain": ["asking what stops each rule"], "try": ["testing github-pat", "scanning source"]}[line[0]]
    assert [one for one in expected if f"gitleaks-eval: still {one} after 0 s\n" not in told.err] == []
    assert "still" not in told.out


@pytest.mark.usefixtures("own_environment")
@pytest.mark.parametrize("parallel", [[], ["-q"], ["-n2"]], ids=["serial", "quiet", "parallel"])
def test_a_run_says_which_scenario_is_scanned_for_long(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], tmp_path: Path, parallel: list[str]
) -> None:
    scanner = pytester.path / "slow"
    scanner.write_text(SLOW.format(python=sys.executable, real=str(gitleaks("8.30.1"))), encoding="utf-8")
    scanner.chmod(0o755)
    pytester.makepyfile(sooner="from gitleaks_eval.core import progress\nprogress.SECONDS = 0.2\n")
    corpus = shipped_scenarios(tmp_path / "scenarios", "private-keys")
    arguments = ["-psooner", "--gitleaks-eval", corpus, f"--gitleaks-binary={scanner}", "--gitleaks-findings"]
    result = pytester.runpytest_subprocess(*arguments, *parallel)
    result.stdout.fnmatch_lines(["gitleaks-eval: still scanning private-keys with gitleaks 8.30.1 after * s"])
