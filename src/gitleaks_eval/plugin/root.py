"""The rootdir and ini file that a run takes its settings from, and the reports that it replaces."""

import contextlib
import os
from collections.abc import Callable
from typing import Any

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.engine.settings.settings import begin_reports
from gitleaks_eval.plugin.command_line import (
    MATCHING,
    NARROWING,
    SHOWING,
    as_meant,
    brought_showing,
    found_around,
    has_any,
    is_typed,
    parsed,
    typed,
)
from gitleaks_eval.plugin.folders import is_shipped


def begin_early(config: pytest.Config, *, is_full: bool) -> None:
    """Remove earlier reports already while plugins are loaded: an unknown option or a broken conftest.py ends it there.

    Only where the evaluation is asked for; what is wrong is said later. `is_full` says that no argument narrows the
    run.
    """
    known = config.known_args_namespace
    shows = has_any(known, SHOWING) and not brought_showing(config)
    if not (is_typed(config) or is_full) or shows or "PYTEST_XDIST_WORKER" in os.environ:
        return
    meant = as_meant(config)
    root = Root(meant.rootpath, meant.inipath, meant.getini, vars(known).get, config.invocation_params.dir)
    narrowed = not is_full or has_any(known, NARROWING) or has_any(typed(config), (*MATCHING, "lf"))
    with contextlib.suppress(InputError, pytest.UsageError, OSError, ValueError, TypeError):
        begin_reports(root, narrowed=narrowed)


def effective_root(config: pytest.Config) -> Root:
    """Return the rootdir and ini file of the full run.

    pytest looks for them around every argument that is no option: around our package when a check is named by
    its path, as a pasted node id does. Then they are the ones that it would find from `--rootdir`, else from
    the invocation directory, `addopts` included; a file named with `-c` stands, and so do settings with `-o`.
    """
    invocation = config.invocation_params.dir
    if config.getoption("inifilename") or not any(map(is_shipped, typed(config).file_or_dir)):
        return Root(config.rootpath, config.inipath, _naming(config.getini), config.getoption, invocation)
    rootdir = config.getoption("rootdir")
    start = invocation / rootdir if rootdir else invocation
    overrides = (f"--override-ini={setting}" for setting in config.getoption("override_ini") or ())
    found = found_around(*overrides, str(start))
    addopts = parsed(config, found.getini("addopts"))

    def getoption(name: str) -> Any:
        return config.getoption(name) or getattr(addopts, name, None)

    return Root(
        start.resolve() if rootdir else found.rootpath, found.inipath, _naming(found.getini), getoption, invocation
    )


def _naming(getini: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return `getini` with errors that name the setting: pytest's own say only what is wrong with the value."""

    def get(name: str) -> Any:
        try:
            return getini(name)
        except (pytest.UsageError, TypeError, ValueError) as error:
            raise InputError(f"ini {name}: {error}") from None

    return get
