"""`pytest` and `gitleaks-eval` on the PATH of a shell, forked as all runs under test are: a page has a dozen of them.

Each is a Python that imports next to nothing. It hands what it was started with to the process of the test, and ends
as the run does that this one has forked.
"""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from forks import SCRIPTS, Forks
from programs import script

# Where it cannot be forked, it is what it says it is.
PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
program, arguments = {program!r}, sys.argv[1:]
with socket.socket(socket.AF_UNIX) as asking:
    asking.connect({address!r})
    socket.send_fds(asking, [b"."], [0, 1, 2])
    asking.sendall(json.dumps([[program, *arguments], os.getcwd(), dict(os.environ)]).encode())
    asking.shutdown(socket.SHUT_WR)
    status = asking.makefile().read()
if not status:
    os.execv(program, [program, *arguments])
sys.exit(int(status))
"""


@contextmanager
def forked_programs(folder: Path, forks: Forks) -> Iterator[None]:
    """Write the programs into a folder; they can be started until the end."""
    # In no folder: the path of one may be too long.
    address = f"\0{token_hex(16)}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        for name in SCRIPTS:
            real = Path(sys.executable).with_name(name)
            script(folder / name, PROGRAM.format(python=sys.executable, program=str(real), address=address))
        answering = threading.Thread(target=_answer, args=(listening, forks))
        answering.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            answering.join()


def _answer(listening: socket.socket, forks: Forks) -> None:
    while True:
        try:
            asking, _ = listening.accept()
        except OSError:
            return
        with asking:
            _, fds, _, _ = socket.recv_fds(asking, 1, 3)
            command, folder, environment = json.load(asking.makefile())
            try:
                stdin, out, err = fds
                if forks.can_run(command, environment):
                    status = forks.start(command, Path(folder), environment, out, err, stdin=stdin).wait()
                    asking.sendall(str(status if status >= 0 else 128 - status).encode())
            finally:
                for fd in fds:
                    os.close(fd)
