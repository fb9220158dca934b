"""`--gitleaks-accept`: no test is run; what entries hide is listed, and accepted where a person says so."""

import sys

import pytest

from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.engine.acceptance.accepting import accept, asked_at_terminal
from gitleaks_eval.engine.settings.settings import read_settings
from gitleaks_eval.plugin.root import effective_root

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
    try:
        asked = asked_at_terminal(config.getoption("gitleaks_why") or "", asks=not config.getoption("gitleaks_yes"))
        return accept(read_settings(effective_root(config)), asked)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    except EvaluationError as error:
        sys.stderr.write(f"gitleaks-eval accept: {error}\n")
        return _FAILED
