"""The command `gitleaks-eval`: a thin face of the plugin for people who do not live in pytest.

`--version` and `--help` load nothing but the options.
"""

import contextlib
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from gitleaks_eval.command.line import (
    INTERRUPTED,
    LINT,
    MANY,
    SUBCOMMANDS,
    USAGE_ERROR,
    names_many,
    read_leniently,
    read_line,
)

# Nobody knows it: pytest ends, and has removed the reports of earlier runs by then.
_NO_OPTION = "--gitleaks-eval-has-ended"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, else with those of the process; the exit status is as pytest's.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help` and `--version`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        line = read_line(given)
        if module := SUBCOMMANDS[line.subcommand].module:
            # Imported when asked for, as pytest is.
            return int(import_module(f"{__name__}.{module}").run(line.arguments))
        if line.subcommand == LINT and line.options.gitleaks_real_repo:
            lint = import_module(f"{__name__}.lint_repositories").run
            return int(lint(line.options, lambda: _run_pytest(line.arguments)))
        if line.subcommand in MANY and names_many(line.options):
            return int(import_module(f"{__name__}.{MANY[line.subcommand]}").run(line.options, line.foreign))
        return _run_pytest(line.arguments)
    except SystemExit as ended:
        if ended.code == USAGE_ERROR:
            _forget(given)
        raise
    except KeyboardInterrupt:
        # Before there was a session: pytest takes all others. Whoever repeats it means it.
        with contextlib.suppress(KeyboardInterrupt):
            _forget(given)
        return INTERRUPTED


def _forget(arguments: Sequence[str]) -> None:
    """Remove the reports that this line would have replaced: a run that ends early leaves no decision of yesterday."""
    if line := read_leniently(arguments):
        with contextlib.redirect_stderr(io.StringIO()):
            _run_pytest([*line, "--noconftest", _NO_OPTION])


def _run_pytest(arguments: list[str]) -> int:
    import pytest  # noqa: PLC0415 - 0.15 s that `--version` must not pay

    return int(pytest.main(arguments))
