"""`--gitleaks-accept`: no test is run; what entries hide is listed, and accepted where a person says so."""

import sys

import pytest

from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.accepting import Asked, accept
from gitleaks_eval.engine.settings import read_settings
from gitleaks_eval.plugin.arguments import effective_root

_FAILED = pytest.ExitCode.TESTS_FAILED


def accept_entries(config: pytest.Config) -> int:
    """Accept the entries of the configuration under test; the exit status.

    Raises:
        pytest.UsageError: when what the user gave is wrong on sight, or nothing can be written.
    """
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        # Else what is typed is not read.
        capture.suspend_global_capture(in_=True)
    asks = not config.getoption("gitleaks_yes")
    if asks and not sys.stdin.isatty():
        raise pytest.UsageError("accept: nobody can be asked: the input is no terminal; add --gitleaks-yes (--yes)")
    try:
        settings = read_settings(effective_root(config))
        asked = Asked(_write, _confirm if asks else lambda _: True, config.getoption("gitleaks_why") or "")
        return accept(settings, asked)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    except EvaluationError as error:
        sys.stderr.write(f"gitleaks-eval accept: {error}\n")
        return _FAILED


def _write(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
    sys.stdout.flush()


def _confirm(question: str) -> bool:
    sys.stdout.write(f"{printable(question)} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
