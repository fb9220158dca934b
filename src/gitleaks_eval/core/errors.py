"""The two ways in which an evaluation goes wrong that are not the scanner's score."""

import traceback
from pathlib import Path

from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.core.text import printable


class EvaluationError(Exception):
    """A check could not be run: its subject is an error, never a pass and never a failure.

    The message is for people: it names the file or option, says what is wrong and what to do, and
    holds nothing that a scanned repository keeps secret. Each argument is one line of it: a line end that is
    quoted from a file is shown as an escape, and never begins a line of the terminal.
    """

    def __str__(self) -> str:
        """Return the lines of the message, each escaped for a terminal."""
        return "\n".join(printable(str(line)) for line in self.args)


class InputError(EvaluationError):
    """What the user gave is wrong on sight: the run ends with status 4 before any test."""


def unreadable(what: str, path: Path, error: OSError) -> InputError:
    """Return the error for a file or folder that the operating system does not let us read."""
    return InputError(f"{what} {path}: cannot be read: {error.strerror or error}")


def fault(error: Exception) -> str:
    """Return what to say of an error that is ours: its kind and its place, and nothing of what it was about."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if PACKAGE in Path(frame.filename).parents]
    # Two modules of two packages may have one name.
    place = f" at {Path(frames[-1].filename).relative_to(PACKAGE).as_posix()}:{frames[-1].lineno}" if frames else ""
    return f"a fault of gitleaks-eval itself: {type(error).__name__}{place}; please report it"


class CheckFailed(AssertionError):  # noqa: N818 - an outcome, not an error
    """The subject failed the check; the text is the message, the expected and the actual."""
