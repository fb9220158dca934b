"""Programs that tests write: scanners that only say what they are, and what becomes of processes."""

import hashlib
import os
import signal
import time
from pathlib import Path

# As the help of 8.30.1 says it; the parts that a probe looks at.
USAGE = """\
Usage:
  gitleaks [command]

Available Commands:
  completion  Generate the autocompletion script for the specified shell
  git         scan git repositories for secrets

Flags:
      --exit-code int                 exit code when leaks have been encountered (default 1)
      --max-decode-depth int          allow recursive decoding up to this depth (default 5)
  -r, --report-path string            report file
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def stating(path: Path, version: str = "8.30.1", usage: str = USAGE, before: str = "", after: str = "") -> Path:
    """A script that answers like Gitleaks when it is asked what it is."""
    answers = f"case $1 in --help) cat <<'END'\n{usage}END\n;; version) echo '{version}';; esac\n"
    return script(path, f"#!/bin/sh\n{before}\n{answers}exit 0\n{after}")


def is_gone(pid: int) -> bool:
    """Whether a process ended within a few seconds; one that only waits to be reaped has ended."""
    for _ in range(200):
        try:
            if " Z " in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8"):
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    return False


def pid_in(path: Path) -> int:
    """The process id that a script writes into a file."""
    for _ in range(1000):
        if path.exists() and (text := path.read_text(encoding="ascii")).endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
