"""A program that is not trusted to end, to be quiet, or to take its children with it is run within limits."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import is_gone

from gitleaks_eval.core import process
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.process import Finished, run_limited

# Far more than anything here takes: a test that reaches it has found something that does not end.
ENOUGH = 60.0
QUICK = 10.0
SLEEPS_LONG = "import time; time.sleep(300)"
# A child that keeps the output open and writes its id where the test finds it.
LEAVES_A_CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
open("child", "w").write(str(child.pid))
"""


def run(
    code: str, folder: Path, seconds: float = ENOUGH, stop: threading.Event | None = None, **environment: str
) -> Finished:
    return run_limited([sys.executable, "-c", code], folder, environment, seconds, stop)


def test_a_program_that_ends_gives_its_status_its_output_and_its_time(tmp_path: Path) -> None:
    code = 'import sys, time; print("out"); print("err", file=sys.stderr); time.sleep(0.2); sys.exit(7)'
    done = run(code, tmp_path)
    assert (done.status, done.stdout, done.stderr) == (7, "out\n", "err\n")
    assert 200 <= done.duration_ms < QUICK * 1000


def test_the_time_that_is_reported_is_not_rounded_up_to_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "WATCH_SECONDS", 30)
    assert run_limited(["/bin/true"], tmp_path, {}, ENOUGH).duration_ms < 5000


def test_a_program_runs_in_its_folder_with_only_the_environment_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_DEVELOPER", "1")
    code = 'import os, sys; print(os.getcwd()); print("OF_THE_DEVELOPER" in os.environ, os.environ["OURS"])'
    assert run(code, tmp_path, OURS="2").stdout == f"{tmp_path}\nFalse 2\n"


def test_a_program_that_reads_its_input_gets_none(tmp_path: Path) -> None:
    assert run("import sys; print(len(sys.stdin.read()))", tmp_path, QUICK).stdout == "0\n"


def test_output_that_is_not_utf_8_is_read_all_the_same(tmp_path: Path) -> None:
    assert run(r'import sys; sys.stdout.buffer.write(b"a\xffb")', tmp_path).stdout == "a\ufffdb"


def test_a_program_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(EvaluationError, match=r"^took longer than 0\.3 s and was stopped$"):
        run(SLEEPS_LONG, tmp_path, 0.3)
    assert time.monotonic() - started < QUICK


def test_a_program_that_ignores_signals_is_stopped(tmp_path: Path) -> None:
    code = f"import signal\nfor name in (15, 2, 1): signal.signal(name, signal.SIG_IGN)\n{SLEEPS_LONG}"
    with pytest.raises(EvaluationError, match="took longer than 1 s"):
        run(code, tmp_path, 1)


@pytest.mark.parametrize("where", ["sys.stdout", "sys.stderr", "open('big', 'w')", "open('deep/er/big', 'w')"])
def test_a_program_that_writes_too_much_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1 << 20)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    code = f"import sys\nfile = {where}\nfor _ in range(33): file.write('x' * (1 << 15))\nfile.flush()\n{SLEEPS_LONG}"
    started = time.monotonic()
    with pytest.raises(EvaluationError, match=r"^wrote more than .* and was stopped$"):
        run(code, tmp_path)
    assert time.monotonic() - started < QUICK


def test_a_program_that_writes_less_than_the_limit_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1 << 20)
    done = run("import time; print('x' * 1000_000, flush=True); time.sleep(0.3)", tmp_path)
    assert (done.status, len(done.stdout)) == (0, 1000_001)


def test_output_without_end_does_not_fill_the_disk_nor_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1 << 20)
    monkeypatch.setattr(process, "WATCH_SECONDS", 0.01)
    with pytest.raises(EvaluationError, match="wrote more than"):
        run("while True: print('x' * 10_000)", tmp_path)
    assert (tmp_path / "stdout").stat().st_size < 1 << 30


def test_a_program_is_stopped_when_the_run_stops(tmp_path: Path) -> None:
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    started = time.monotonic()
    with pytest.raises(EvaluationError, match=r"^was stopped$"):
        run(SLEEPS_LONG, tmp_path, stop=stop)
    assert 0.2 < time.monotonic() - started < QUICK
    timer.join()


def test_nothing_goes_on_when_the_run_was_stopped_before(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    started = time.monotonic()
    with pytest.raises(EvaluationError, match=r"^was stopped$"):
        run(SLEEPS_LONG, tmp_path, stop=stop)
    assert time.monotonic() - started < QUICK


def test_a_child_that_is_left_behind_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    started = time.monotonic()
    assert run(LEAVES_A_CHILD + "print('done')", tmp_path).stdout == "done\n"
    assert time.monotonic() - started < QUICK
    assert is_gone(int((tmp_path / "child").read_text(encoding="ascii")))


@pytest.mark.parametrize("limit", ["time", "stop"])
def test_a_child_is_killed_with_a_program_that_is_stopped(tmp_path: Path, limit: str) -> None:
    stop = threading.Event()
    timer = threading.Timer(2 if limit == "stop" else 0, stop.set if limit == "stop" else lambda: None)
    timer.start()
    with pytest.raises(EvaluationError, match="took longer" if limit == "time" else "was stopped"):
        run(LEAVES_A_CHILD + SLEEPS_LONG, tmp_path, 2 if limit == "time" else ENOUGH, stop)
    assert is_gone(int((tmp_path / "child").read_text(encoding="ascii")))
    timer.join()


def test_a_program_is_killed_with_its_children_when_the_wait_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = subprocess.Popen.wait
    pids: list[int] = []

    def interrupted(self: "subprocess.Popen[bytes]", timeout: float | None = None) -> int:
        if threading.current_thread() is threading.main_thread() and not pids:
            while not (tmp_path / "child").exists() or not (tmp_path / "child").stat().st_size:
                time.sleep(0.01)
            pids.append(self.pid)
            raise KeyboardInterrupt
        return wait(self, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(LEAVES_A_CHILD + SLEEPS_LONG, tmp_path)
    assert [is_gone(pid) for pid in (*pids, int((tmp_path / "child").read_text(encoding="ascii")))] == [True, True]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_the_signal_that_ended_a_program_is_its_status(tmp_path: Path, number: signal.Signals) -> None:
    assert run(f"import os; os.kill(os.getpid(), {int(number)})", tmp_path).status == -number


def _missing(folder: Path) -> Path:
    return folder / "missing"


def _not_executable(folder: Path) -> Path:
    path = folder / "text"
    path.write_text("text", encoding="ascii")
    return path


def _no_program(folder: Path) -> Path:
    path = folder / "no-program"
    path.write_bytes(b"\0\1\2\3")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_missing, "No such file or directory"),
        (_not_executable, "Permission denied"),
        (_no_program, "Exec format error"),
        (lambda folder: folder, "Permission denied"),
    ],
    ids=["missing", "not executable", "no program", "a folder"],
)
def test_a_program_that_cannot_be_started_says_why(tmp_path: Path, make: Callable[[Path], Path], reason: str) -> None:
    program = make(tmp_path)
    with pytest.raises(EvaluationError, match=f"^cannot be run: {reason}$"):
        run_limited([str(program)], tmp_path, {}, ENOUGH)


def test_no_thread_stays_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    run("pass", tmp_path)
    with pytest.raises(EvaluationError):
        run(SLEEPS_LONG, tmp_path, 0.2)
    assert threading.active_count() == before


def test_an_interrupt_while_a_program_starts_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)

    # Where there are several threads, any of them may be the one that takes the signal.
    beside = threading.Event()
    threading.Thread(target=beside.wait, daemon=True).start()
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(SLEEPS_LONG, tmp_path)
    beside.set()
    assert is_gone(started[0].pid)
