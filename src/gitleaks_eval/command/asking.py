"""What the subcommands share that ask a scanner themselves, without a test session."""

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from gitleaks_eval.command.line import PROGRAM, TAKEN, USAGE_ERROR, Parser, add_options, subcommand_parser
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.progress import telling
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.settings.settings import Settings

PASSED, FAILED = 0, 1
# The options that say who is asked, and what a clone may take.
_ASKED, _CLONED = ("binary", "version", "config", "args", "scan_timeout"), "real_repo_disk"


def asking_parser(name: str, usage: str, *, clones: bool = True) -> Parser:
    """Return a parser with the options that name a scanner and a configuration, and where it `clones` its limit."""
    parser = subcommand_parser(name, f"[options] {usage}")
    add_options(parser, [taken for taken in TAKEN if taken.name in _ASKED or (clones and taken.name == _CLONED)])
    return parser


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings that these options amount to.

    Raises:
        InputError: when one is wrong on sight.
    """
    values = {name: getattr(options, f"gitleaks_{name}", None) for name in (*_ASKED, _CLONED)}
    return Settings.of(**{name: value for name, value in values.items() if value is not None})


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def progress(text: str) -> None:
    """Tell what takes long, beside what the subcommand is asked for."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


def waiting(doing: str) -> AbstractContextManager[None]:
    """Tell that this goes on, where it takes longer than some seconds."""
    return telling(progress, doing)


def told(name: str, run: Callable[[], int]) -> int:
    """Return the exit status of a subcommand; an error is told in a line."""
    try:
        return run()
    except BrokenPipeError:
        # Who reads has seen enough (`| head`); what Python would still write at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except EvaluationError as error:
        sys.stderr.write(f"{PROGRAM} {name}: {error}\n")
        return USAGE_ERROR if isinstance(error, InputError) else FAILED
