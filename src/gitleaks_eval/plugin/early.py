"""What the flag does before pytest has read any conftest.py: add the shipped checks, remove earlier reports."""

import contextlib
import os
from collections.abc import Sequence

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.engine.option_table import WITH_VALUE
from gitleaks_eval.plugin.arguments import NARROWING, SHOWING, added_arguments
from gitleaks_eval.plugin.begin import begin_reports
from gitleaks_eval.plugin.command_line import is_typed, typed_arguments


def begin_early(config: pytest.Config) -> list[str]:
    """Begin a run with the flag while plugins are loaded; what the flag adds to the arguments."""
    added = added_arguments(config, config.known_args_namespace.file_or_dir)
    _forget_reports(config, added)
    return added


def _forget_reports(config: pytest.Config, added: Sequence[str]) -> None:
    """Remove earlier reports already while plugins are loaded: an unknown option or a broken conftest.py ends it there.

    Only for a flag on the command line, and where pytest has found the right rootdir; what is wrong is said later.
    """
    known = config.known_args_namespace
    misleads = not WITH_VALUE.isdisjoint(typed_arguments(config))
    shows = any(getattr(known, name, None) for name in SHOWING)
    if not is_typed(config) or misleads or shows or "PYTEST_XDIST_WORKER" in os.environ:
        return
    root = Root(config.rootpath, config.inipath, config.getini, vars(known).get, config.invocation_params.dir)
    narrowed = not added or any(getattr(known, name, None) for name in NARROWING)
    with contextlib.suppress(InputError, pytest.UsageError, OSError, ValueError, TypeError):
        begin_reports(root, narrowed=narrowed)
