"""Processes that work for a run: replaced when they die, ended when they hang, and gone when it ends."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import pytest

from gitleaks_eval.engine.fleet.local import Lanes, _gate


def pool(_private: Path) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("forkserver"))


@pytest.fixture
def lanes(tmp_path: Path) -> Iterator[Lanes]:
    made = Lanes(pool, tmp_path, 0.3, 1)
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_does_one_thing_after_the_other(lanes: Lanes) -> None:
    assert lanes.submit(os.getpid).result() == lanes.submit(os.getpid).result() != os.getpid()


def test_a_process_that_died_is_replaced_and_its_folder_is_removed(lanes: Lanes, tmp_path: Path) -> None:
    first = lanes.submit(os.getpid).result()
    (before,) = tmp_path.iterdir()
    (before / "secret").touch()
    lost = lanes.submit(time.sleep, 60)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(BrokenProcessPool):
        lost.result(10)
    assert lanes.submit(os.getpid).result() != first
    assert not before.exists()


def test_a_process_that_hangs_is_ended(lanes: Lanes) -> None:
    process = lanes.submit(os.getpid).result()
    future = lanes.submit(time.sleep, 60)
    os.kill(process, signal.SIGSTOP)
    lanes.watch()
    assert not future.done()
    time.sleep(0.35)
    lanes.watch()
    with pytest.raises(BrokenProcessPool):
        future.result(10)
    assert lanes.submit(os.getpid).result() != process


def test_whoever_ends_the_run_ends_what_is_under_way(tmp_path: Path) -> None:
    lanes = Lanes(pool, tmp_path, 60, 2)
    processes = [lanes.submit(os.getpid).result()]
    lanes.submit(time.sleep, 60)
    started = time.monotonic()
    lanes.close()
    assert time.monotonic() - started < 10
    assert list(tmp_path.iterdir()) == []
    assert not any(map(is_alive, processes))


def test_of_one_host_no_more_are_cloned_at_once_than_that(tmp_path: Path) -> None:
    def clone_a_third() -> None:
        with _gate(tmp_path, 2, "git@example.com:c"):
            pass

    third = threading.Thread(target=clone_a_third)
    with _gate(tmp_path, 2, "https://example.com/a"), _gate(tmp_path, 2, "https://u:p@example.com/b"):
        with _gate(tmp_path, 2, "https://example.org/a"), _gate(tmp_path, 2, "/home/a"), _gate(tmp_path, 2, "/home/b"):
            pass
        third.start()
        third.join(0.2)
        assert third.is_alive()
    third.join(10)
    assert not third.is_alive()
