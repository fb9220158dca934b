"""The two ways in which an evaluation goes wrong that are not the scanner's score."""

from pathlib import Path


class EvaluationError(Exception):
    """A check could not be run: its subject is an error, never a pass and never a failure.

    The message is for people: it names the file or option, says what is wrong and what to do, and
    holds nothing that a scanned repository keeps secret.
    """


class InputError(EvaluationError):
    """What the user gave is wrong on sight: the run ends with status 4 before any test."""


def unreadable(what: str, path: Path, error: OSError) -> InputError:
    """The error for a file or folder that the operating system does not let us read."""
    return InputError(f"{what} {path}: cannot be read: {error.strerror or error}")
