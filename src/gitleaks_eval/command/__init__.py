"""The command `gitleaks-eval`: a thin face of the plugin for people who do not live in pytest.

`--version` and `--help` load nothing but the options.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from gitleaks_eval.command.line import INTERRUPTED, SUBCOMMANDS, read_line
from gitleaks_eval.command.workflow import write_workflow


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, else with those of the process; the exit status is as pytest's.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help` and `--version`.
    """
    try:
        line = read_line(sys.argv[1:] if arguments is None else arguments)
        if module := SUBCOMMANDS[line.subcommand].module:
            # Imported when asked for, as pytest is.
            return int(import_module(f"{__name__}.{module}").run(line.arguments))
        return write_workflow(Path.cwd()) if line.subcommand == "init" else _run_pytest(line.arguments)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run_pytest(arguments: list[str]) -> int:
    import pytest  # noqa: PLC0415 - 0.15 s that `--version` must not pay

    return int(pytest.main(arguments))
