"""Nothing outlives a run that dies: programs end with the process that started them, a worker with its parent."""

import atexit
import contextlib
import os
import subprocess
import threading
import time

# A pipe tells the death of its writer on every POSIX system, at once, and also after SIGKILL. The shell needs a
# millisecond to start, and reads which process groups there are to kill.
_KEEPER = """\
running=
while read -r what group; do
    case $what in
        hold) running="$running $group" ;;
        release)
            left=
            for one in $running; do [ "$one" = "$group" ] || left="$left $one"; done
            running=$left
            ;;
    esac
done
for group in $running; do kill -s KILL -- "-$group"; done
"""
WATCH_SECONDS = 0.5
_starting = threading.Lock()
_keepers: "dict[int, subprocess.Popen[bytes]]" = {}


def hold(group: int) -> None:
    """Have a process group killed when this process dies, until `release`."""
    _tell(f"hold {group}\n")


def release(group: int) -> None:
    """The process group has ended: its number may be given to another."""
    _tell(f"release {group}\n")


def die_with_parent() -> None:
    """End this process, and what it holds, within a second of the end of its parent, however that ends."""
    threading.Thread(target=_watch, args=(os.getppid(),), name="gitleaks-eval-parent", daemon=True).start()


def _watch(parent: int) -> None:
    # Who has lost its parent gets another one, on every POSIX system and whether or not the dead one is waited for.
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def _tell(line: str) -> None:
    if os.name != "posix":
        return
    with _starting:
        # One a process: a fork of this one has the pipe of its parent.
        keeper = _keepers.get(os.getpid()) or _start()
    # Without a keeper the programs are still killed on each way out that this process can see.
    if keeper and keeper.stdin:
        with contextlib.suppress(OSError, ValueError):
            os.write(keeper.stdin.fileno(), line.encode("ascii"))


def _start() -> "subprocess.Popen[bytes] | None":
    try:
        keeper = subprocess.Popen(
            ["/bin/sh", "-c", _KEEPER],
            cwd="/",
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Not in the group that a terminal or a CI runner kills.
            start_new_session=True,
        )
    except OSError:
        return None
    _keepers[os.getpid()] = keeper
    atexit.register(_end, keeper)
    return keeper


def _end(keeper: "subprocess.Popen[bytes]") -> None:
    if keeper.stdin:
        keeper.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        keeper.wait(1)
