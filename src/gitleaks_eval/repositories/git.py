"""Asking git about a repository, in an environment that no user's configuration reaches."""

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.resources import data

CHUNK = 1 << 20


def git_environment() -> dict[str, str]:
    """Return the environment for git and for a scanner that runs git: no configuration but the repository's own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        # A git that serves a clone on this machine reads no configuration of the command line.
        "GIT_CONFIG_GLOBAL": str(data("gitconfig")),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # Only command-line configuration may say these: the user's attributes could hide files as binary,
        # and a cache on another user's volume would be refused as of "dubious ownership".
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.attributesFile",
        "GIT_CONFIG_VALUE_0": os.devnull,
        "GIT_CONFIG_KEY_1": "safe.directory",
        "GIT_CONFIG_VALUE_1": "*",
    }


def run_git(repository: Path, *arguments: str) -> bytes:
    """Return the output of a git command.

    Raises:
        EvaluationError: when git is not installed or fails; the text has git's last line.
    """
    command = ["git", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(
            command, env=git_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise no_git(error) from None
    if done.returncode:
        raise failed(arguments[0], repository, done.stderr)
    return done.stdout


def failed(command: str, repository: Path, stderr: bytes) -> EvaluationError:
    """Return the error for a git command that failed, with git's last line."""
    reason = stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
    return EvaluationError(f"git {command} failed in {repository}: {reason[0]}")


def no_git(error: OSError) -> EvaluationError:
    """Return the error for a git that cannot be started."""
    return EvaluationError(f"git cannot be run: {error.strerror}; install git 2.32 or newer")


@dataclass(frozen=True, slots=True)
class RunningGit:
    """A git process that runs: what is written to it, what it answers, and what it complains of."""

    process: "subprocess.Popen[bytes]"
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


@contextmanager
def running(repository: Path, seconds: float | None, *arguments: str) -> Iterator[RunningGit]:
    """Yield a git process with pipes, killed on the way out and when its time is over."""
    command = ["git", "-C", str(repository), *arguments]
    over = threading.Event()
    with tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(
                command,
                env=git_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        except OSError as error:
            raise no_git(error) from None
        assert process.stdin  # noqa: S101 - for the type checker: both are pipes
        assert process.stdout  # noqa: S101 - the same

        def stop() -> None:
            over.set()
            process.kill()

        timer = threading.Timer(seconds or 0, stop)
        timer.daemon = True
        try:
            with process:
                if seconds is not None:
                    timer.start()
                try:
                    yield RunningGit(process, process.stdin, process.stdout, stderr)
                finally:
                    timer.cancel()
                    process.kill()
        except (OSError, EvaluationError) as error:
            if over.is_set():
                raise EvaluationError(f"git took longer than {seconds:g} s to read {repository}") from None
            if isinstance(error, EvaluationError):
                raise
            raise EvaluationError(f"git died while it read {repository}: {error.strerror or error}") from None
