"""Whoever waits for a scan sees which one it is."""

import queue
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import shipped_scenarios

from gitleaks_eval.engine import watching
from gitleaks_eval.engine.watching import Watch, under_way

SLOW = """\
#!{python} -ISB
import os, sys, time
if sys.argv[1] == "git":
    time.sleep(1)
os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""


def test_a_scan_that_takes_long_is_named_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SECONDS", 0.0)
    monkeypatch.setattr(watching, "EVERY_SECONDS", 0.01)
    said: queue.Queue[str] = queue.Queue()
    watch = Watch(tmp_path / "notes", said.put)
    with under_way(tmp_path / "notes", "first"):
        assert said.get(timeout=60).startswith("gitleaks-eval: still scanning first after ")
    with under_way(tmp_path / "notes", "second"):
        assert "second" in said.get(timeout=60)
    watch.stop()
    assert said.empty()
    assert list((tmp_path / "notes").iterdir()) == []


@pytest.mark.usefixtures("own_environment")
@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
def test_a_run_says_which_scenario_is_scanned_for_long(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], tmp_path: Path, parallel: list[str]
) -> None:
    scanner = pytester.path / "slow"
    scanner.write_text(SLOW.format(python=sys.executable, real=str(gitleaks("8.30.1"))), encoding="utf-8")
    scanner.chmod(0o755)
    pytester.makepyfile(sooner="from gitleaks_eval.engine import watching\nwatching.SECONDS = 0.2\n")
    corpus = shipped_scenarios(tmp_path / "scenarios", "private-keys")
    arguments = ["-psooner", "--gitleaks-eval", corpus, f"--gitleaks-binary={scanner}", "--gitleaks-findings"]
    result = pytester.runpytest_subprocess(*arguments, *parallel)
    result.stdout.fnmatch_lines(["gitleaks-eval: still scanning private-keys after * s"])
