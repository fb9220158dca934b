"""A run that is forked is what a run in a Python of its own is."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from forked_programs import forked_programs

if TYPE_CHECKING:
    from forks import Forks

LOOK = """
import gc, json, os, signal, sys, threading, warnings
from pathlib import Path

def pytest_configure(config):
    fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))
    seen = {
        "arguments": sys.argv[1:],
        "paths": sys.path,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "plugins": sorted(name for name, one in config.pluginmanager.list_name_plugin() if one and not name.isdigit()),
        "files": len(fds),
        "handlers": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)],
        "encodings": [sys.stdout.encoding, sys.getfilesystemencoding(), sys.flags.utf8_mode],
        "threads": threading.active_count(),
        "switches": [gc.isenabled(), sys.dont_write_bytecode, sys.getswitchinterval(), sys.getrecursionlimit()],
        "umask": [umask := os.umask(0), os.umask(umask)],
        "filters": [str(one[:2]) for one in warnings.filters],
        "main": getattr(sys.modules["__main__"].__spec__, "name", None),
    }
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    (Path(__file__).parent / f"seen{worker}.json").write_text(json.dumps(seen))
"""


def seen(pytester: pytest.Pytester) -> dict[str, Any]:
    """What the run saw, or its first worker."""
    path = max(pytester.path.glob("seen*.json"), key=lambda path: path.name == "seengw0.json")
    look: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    # The first is another one for each run, the others are readline's, for a Python that is started anew.
    for name in ("PYTEST_XDIST_TESTRUNUID", "COLUMNS", "LINES"):
        look["environment"].pop(name, None)
    return look


@pytest.mark.usefixtures("usual_kinds")
@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
def test_a_forked_run_sees_what_a_run_in_a_python_of_its_own_sees(
    pytester: pytest.Pytester, forks: "Forks", request: pytest.FixtureRequest, parallel: list[str]
) -> None:
    pytester.makeconftest(LOOK)
    before = os.umask(0o027)
    request.addfinalizer(lambda: os.umask(before))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:anyio", "-p", "no:hypothesispytest", *parallel]
    environment = {**os.environ, "PYTHONPATH": str(pytester.mkdir("added")), "ONE_MORE": "here"}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    own = seen(pytester)
    with (pytester.path / "out").open("w") as out, (pytester.path / "err").open("w") as err:
        assert forks.can_run(command, environment)
        status = forks.start(command, pytester.path, environment, out, err).wait(60)
    assert status == done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert seen(pytester) == own
    assert "warning" not in (pytester.path / "out").read_text(encoding="utf-8")


ENDING = """
import atexit, threading

def pytest_unconfigure():
    atexit.register(print, "what was registered")
    threading.Timer(0.3, print, ["what a thread did"]).start()
    print("no end of a line yet", end=", ")
"""


def test_a_forked_run_ends_as_python_does(pytester: pytest.Pytester, forks: "Forks") -> None:
    pytester.makeconftest(ENDING)
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:anyio", "-p", "no:hypothesispytest"]
    own = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    with (pytester.path / "out").open("w") as out:
        status = forks.start(command, pytester.path, os.environ, out, out).wait(60)
    assert status == own.returncode
    last = "no end of a line yet, what a thread did\nwhat was registered\n"
    assert own.stdout.decode().endswith(last)
    assert (pytester.path / "out").read_text(encoding="utf-8").endswith(last)


def test_a_program_of_a_shell_that_is_forked_sees_what_it_sees_by_itself(
    pytester: pytest.Pytester, forks: "Forks", monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makeconftest(LOOK)
    programs, installed = pytester.mkdir("programs"), Path(sys.executable).parent
    command = ["bash", "-c", "printf x | pytest -q -p no:anyio -p no:hypothesispytest"]
    looks, statuses = [], []
    with forked_programs(programs, forks):
        for folder in (programs, installed):
            monkeypatch.setenv("PATH", str(folder), prepend=":")
            statuses.append(subprocess.run(command, check=False, capture_output=True).returncode)
            looks.append(seen(pytester))
    assert statuses == [pytest.ExitCode.NO_TESTS_COLLECTED] * 2
    # Before it stands only what pytest has put there for the conftest.py.
    assert looks[0]["paths"][1] == str(installed)
    for look in looks:
        # Who started it; only what `python -m` starts has a name, and some installers write that into their scripts.
        look["paths"] = [path for path in look["paths"] if path != str(installed)]
        del look["environment"]["_"], look["environment"]["PATH"], look["main"]
    assert looks[0] == looks[1]


def test_a_program_that_cannot_be_forked_is_started(
    pytester: pytest.Pytester, forks: "Forks", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "can_run", lambda *_: False)
    with forked_programs(pytester.path, forks):
        ended = subprocess.run([pytester.path / "gitleaks-eval", "--version"], check=True, capture_output=True)
    assert ended.stdout.startswith(b"gitleaks-eval ")


def test_what_python_reads_when_it_starts_is_left_to_a_python_of_its_own(forks: "Forks") -> None:
    command = (sys.executable, "-m", "pytest")
    assert forks.can_run(command, os.environ)
    assert forks.can_run([sys.executable, "-mpytest", "-q"], os.environ)
    assert forks.can_run([sys.executable, "-m", "gitleaks_eval"], os.environ)
    assert not forks.can_run([sys.executable, "-m", "pip"], os.environ)
    assert not forks.can_run(command, {**os.environ, "PYTHONHASHSEED": "1"})
    assert not forks.can_run(command, {**os.environ, "LC_ALL": "C"})
    assert not forks.can_run([sys.executable, "-I", "-m", "pytest"], os.environ)


@pytest.mark.parametrize(
    ("how", "status"), [("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", -9), ("raise SystemExit(3)", 3)]
)
def test_a_forked_run_ends_as_it_ends(pytester: pytest.Pytester, how: str, status: int) -> None:
    pytester.makeconftest(f"import os\n\ndef pytest_unconfigure():\n    {how}\n")
    assert pytester.runpytest_subprocess().ret == status


def test_a_worker_that_is_forked_and_crashes_is_replaced_by_another(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, pytest

        @pytest.mark.parametrize("number", range(4))
        def test_one(number):
            if number == 1:
                os._exit(3)
        """
    )
    result = pytester.runpytest_subprocess("-n2")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*worker 'gw?' crashed while running *test_one?1?'*"])


def test_what_is_to_be_done_at_exit_is_done_and_what_is_printed_arrives(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import atexit\n\natexit.register(print, 'at the exit', end='')\n")
    assert pytester.runpytest_subprocess().outlines[-1] == "at the exit"


def test_a_forked_run_that_takes_too_long_is_killed_and_the_next_one_works(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import time\n\ndef test_long():\n    time.sleep(300)\n")
    with pytest.raises(pytester.TimeoutExpired):
        pytester.runpytest_subprocess(timeout=2)
    pytester.makepyfile("def test_short():\n    pass\n")
    assert pytester.runpytest_subprocess().ret == 0
