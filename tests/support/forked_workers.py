"""xdist's workers of a run under test, forked as the run is: two of them cost more to start than all they do.

A process that stands beside the run, and in which nothing has run, forks a worker for each that execnet starts.
"""

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from execnet import gateway_io
from execnet.gateway_base import ExecModel, Popen2IO

A_PYTHON_OF_ITS_OWN = gateway_io.Popen2IOMaster


class ForkedWorker(Popen2IO):
    """A worker that was forked: as much of `execnet.gateway_io.Popen2IOMaster` as execnet uses."""

    def __init__(self, nursery: socket.socket, execmodel: ExecModel) -> None:
        to_it, its_input = os.pipe()
        its_output, from_it = os.pipe()
        asked = json.dumps([str(Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(nursery, [len(asked).to_bytes(8, "big")], [to_it, from_it])
        nursery.sendall(asked)
        self._pid = int.from_bytes(nursery.recv(8, socket.MSG_WAITALL), "big")
        for fd in (to_it, from_it):
            os.close(fd)
        super().__init__(os.fdopen(its_input, "wb"), os.fdopen(its_output, "rb"), execmodel)

    def wait(self) -> None:
        """Return when it has ended."""
        with contextlib.suppress(ProcessLookupError), os.fdopen(os.pidfd_open(self._pid)) as process:
            select.select([process], [], [])

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def fork_workers() -> None:
    """Let the run that this process becomes fork its workers from what it is now."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if not pid:
        ours.close()
        _serve(theirs)
    theirs.close()

    def start(arguments: Sequence[str], execmodel: ExecModel) -> Any:
        plain = [sys.executable, "-u", "-c", gateway_io.popen_bootstrapline]
        return ForkedWorker(ours, execmodel) if arguments == plain else A_PYTHON_OF_ITS_OWN(list(arguments), execmodel)

    def end() -> None:
        ours.close()
        os.waitpid(pid, 0)

    vars(gateway_io)["Popen2IOMaster"] = start
    atexit.register(end)


def _serve(run: socket.socket) -> NoReturn:
    while True:
        length, fds, _, _ = socket.recv_fds(run, 8, 2)
        if not length:
            break
        folder, environment = json.loads(run.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL))
        pid = os.fork()
        if not pid:
            run.close()
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            _become_worker(*fds)
        for fd in fds:
            os.close(fd)
        run.sendall(pid.to_bytes(8, "big"))
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    os._exit(0)


def _become_worker(to_it: int, from_it: int) -> NoReturn:
    """Go on as `python -u -c` does."""
    for fd, standard in ((to_it, 0), (from_it, 1)):
        os.dup2(fd, standard)
        os.close(fd)
    sys.argv = ["-c"]
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S102, S307 - it is what execnet does
    end(0)


def end(status: int) -> NoReturn:
    """End as Python does, but let the system take down what is in memory: no finalizer runs, no open file is flushed.

    Python takes it down object by object, and each page that was forked is copied for that: more work than a short run.
    """
    try:
        # Python calls it here, too, to wait for threads, and ignores that somebody does not want to wait.
        vars(threading)["_shutdown"]()
    except KeyboardInterrupt:
        traceback.print_exc()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)
