"""Runs of pytest under test, each in a process of its own, forked from one that has imported pytest already.

Starting Python and its imports is most of what a run takes, and there are a thousand runs. The process that they are
forked from has imported what they import; where a run would find another copy of ours, it imports that by itself.
What depends on who imports what has a Python of its own (`python_of_its_own`), and so has what is installed.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import platform
import runpy
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, NoReturn

from _pytest.assertion import install_importhook
from _pytest.config import get_config
from forked_workers import end, fork_workers

import gitleaks_eval

# What a run imports anyway; one that is not there is not imported.
IMPORTED = """\
pytest _pytest.assertion.rewrite _pytest.cacheprovider _pytest.debugging _pytest.doctest _pytest.faulthandler
_pytest.helpconfig _pytest.junitxml _pytest.logging _pytest.pastebin _pytest.pytester _pytest.setuponly
_pytest.setupplan _pytest.skipping _pytest.stepwise _pytest.threadexception _pytest.tracemalloc _pytest.unittest
_pytest.unraisableexception _pytest.warnings execnet execnet.gateway execnet.multi execnet.rsync jsonschema yaml
tomli_w filelock gitdb gitdb.db asyncio concurrent.futures.thread ctypes email.parser fractions html.entities
http.client jinja2 pdb pickle pyexpat queue readline secrets ssl statistics tarfile tomllib tomli unittest
urllib.request xdist.newhooks xml.etree.ElementTree faulthandler pytest_metadata.hooks encodings.ascii anthropic
""".split()
# Plugins that pytest finds by itself. It rewrites their assertions, and says so of one that was imported otherwise.
PLUGINS = """\
anyio.pytest_plugin platformdirs.pytest_plugin pytest_jsonreport.plugin pytest_metadata.plugin xdist.looponfail
xdist.plugin
""".split()
# What a report is made of, compiled.
TEMPLATES = "base.html", "comparison.html", "parts.html", "report.html"
# What is tested; of it, what is a program and what brings an extra are not imported.
OURS = Path(gitleaks_eval.__file__).parent
NOT_IMPORTED = (
    ".__main__",
    ".judges.model.transport",
    ".engine.fleet.dask",
    ".reports.fleet.parquet",
)
# What Python itself reads of the environment when it starts: with another value a run needs a Python of its own.
READ_AT_START = ("PYTHON", "LC_", "LANG", "TZ", "MALLOC", "LD_")
# Runs that are about something else ask for no rules, places and entries, which would make each a second longer.
NARROWED = ["-o", "gitleaks_only=scenarios,corpora,repos"]
# Installed beside our Python, and the module that each runs.
SCRIPTS = {"pytest": "pytest", "gitleaks-eval": "gitleaks_eval"}
READ_LATER = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}


class Forked:
    """A run that was forked: as much of `subprocess.Popen` as pytester uses."""

    stdin = None

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._connection = connection

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, negative for a signal; TimeoutExpired after so many seconds."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(_line(self._connection))
            except TimeoutError as error:
                raise subprocess.TimeoutExpired("a forked run", timeout or 0) from error
            self._connection.close()
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


class Forks:
    """The process that runs are forked from; it ends with this one."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self._connection = ours
        self.narrowed = NARROWED
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            # It stands nowhere: a folder of a test may be removed.
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                cwd="/",
                env={name: value for name, value in os.environ.items() if name not in READ_LATER},
                stdin=subprocess.DEVNULL,
            )
        self._environment = _started_with(os.environ)

    def close(self) -> None:
        """End it."""
        self._connection.close()
        self._process.wait()

    def can_run(self, command: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether this is pytest, or our command, in the Python that we are, in the environment it started with."""
        return bool(_read_command(command)) and _started_with(environment) == self._environment

    def start(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        out: IO[str] | int,
        err: IO[str] | int,
        *,
        stdin: int | None = None,
    ) -> Forked:
        """Run pytest or our command with the arguments of a command; ValueError if `can_run` is false of it."""
        run = _read_command(command)
        if not (run and self.can_run(command, environment)):
            raise ValueError(f"it needs a Python of its own: {command}")
        ours, theirs = socket.socketpair()
        with theirs:
            module, arguments = run
            # A script looks for modules beside itself; `python -m` where it was started.
            is_script = command[0] != sys.executable
            first = Path(command[0]).parent if is_script else folder
            if module == "pytest" and not is_script:
                arguments = [*self.narrowed, *arguments]
            # Each process of the system has one, and it can only be asked for by setting it.
            os.umask(umask := os.umask(0))
            asked = json.dumps([module, arguments, str(folder), str(first), dict(environment), umask]).encode()
            ours.sendall(len(asked).to_bytes(8, "big"))
            standard = [one if isinstance(one, int) else one.fileno() for one in (out, err)]
            socket.send_fds(self._connection, [b"."], [theirs.fileno(), *standard, *([] if stdin is None else [stdin])])
            ours.sendall(asked)
        return Forked(ours, int(_line(ours)))


@functools.cache
def shared() -> Forks:
    """The one of this process."""
    forks = Forks()
    atexit.register(forks.close)
    return forks


def _read_command(command: Sequence[str]) -> tuple[str, list[str]] | None:
    """The module that Python is to run, pytest or our command, and its arguments; None where it is something else."""
    match list(command):
        case [sys.executable, "-mpytest", *arguments]:
            return "pytest", arguments
        case [sys.executable, "-m", ("pytest" | "gitleaks_eval") as module, *arguments]:
            return module, arguments
        case [program, *arguments] if Path(program).parent == Path(sys.executable).parent:
            name = Path(program).name
            return (SCRIPTS[name], arguments) if name in SCRIPTS else None
    return None


def _started_with(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environment.items() if name.startswith(READ_AT_START) and name not in READ_LATER
    }


def _line(connection: socket.socket) -> str:
    line = b""
    while not line.endswith(b"\n"):
        if not (read := connection.recv(1)):
            raise AssertionError(f"the process that runs are forked from ended after {line!r}")
        line += read
    return line.decode()


# In the process that runs are forked from.


def serve(connection: socket.socket) -> None:
    """Fork a run for each that is asked for, until nobody can ask any more."""
    modules = (module.name for module in pkgutil.walk_packages([str(OURS)], f"{OURS.name}."))
    ours = [name for name in modules if not name.endswith(NOT_IMPORTED)]
    with _rewriting([*PLUGINS, OURS.name]):
        for name in [*IMPORTED, *PLUGINS, *ours]:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    environment = importlib.import_module(f"{OURS.name}.core.templates").environment()
    for name in TEMPLATES:
        environment.get_template(name)
    # Each run puts it into its report; the first answer, which takes a process, is kept.
    platform.platform()
    # pytest collects garbage five times a run: what is here already is none, and was half of the time of a short run.
    gc.collect()
    gc.freeze()
    while True:
        said, fds, _, _ = socket.recv_fds(connection, 1, 4)
        if not said:
            return
        with socket.socket(fileno=fds[0]) as caller:
            length = int.from_bytes(_read(caller, 8), "big")
            module, arguments, folder, first, environment, umask = json.loads(_read(caller, length))
            pid = os.fork()
            if not pid:
                connection.close()
                caller.close()
                os.umask(umask)
                _become(module, arguments, (folder, first), environment, fds[1:])
            for fd in fds[1:]:
                os.close(fd)
            caller.sendall(f"{pid}\n".encode())
            _, status = os.waitpid(pid, 0)
            with contextlib.suppress(OSError):
                caller.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


@contextlib.contextmanager
def _rewriting(names: Sequence[str]) -> Iterator[None]:
    hook = install_importhook(get_config())
    hook.mark_rewrite(*{name.partition(".")[0] for name in names})
    try:
        yield
    finally:
        sys.meta_path.remove(hook)


def _read(connection: socket.socket, length: int) -> bytes:
    read = b""
    while len(read) < length:
        read += connection.recv(length - len(read))
    return read


def _become(
    module: str, arguments: list[str], folders: tuple[str, str], environment: dict[str, str], fds: list[int]
) -> NoReturn:
    """Go on as `python -m` does in a process that has just started in the first folder; the second is on its path."""
    for fd, standard in zip(fds, (1, 2, 0), strict=False):
        os.dup2(fd, standard)
        os.close(fd)
    folder, first = folders
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [os.path.realpath(first), *paths]
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    if plugin := sys.modules.get("xdist.plugin"):
        # Its workers get the path as it was when this module was imported.
        vars(plugin)["_sys_path"][:] = sys.path
        if any(argument.startswith("-n") for argument in arguments):
            fork_workers()
    found = PathFinder.find_spec(OURS.name, sys.path)
    if not found or found.origin != str(OURS / "__init__.py"):
        for name in [name for name in sys.modules if name.partition(".")[0] == OURS.name]:
            del sys.modules[name]
    sys.argv = [module, *arguments]
    status = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as exited:
        if not isinstance(exited.code, int | None):
            raise
        status = exited.code or 0
    except Exception:  # noqa: BLE001 - as Python does at its end
        traceback.print_exc()
        status = 1
    end(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
