"""Which modules a run collects, which arguments narrow it, and whose settings it has."""

import contextlib
import glob
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.errors import InputError
from gitleaks_eval.plugin import CHECKS, FINDINGS, FLAG, JUDGES, JUDGES_FLAG, LINT, is_shipped
from gitleaks_eval.root import Root

PATH_OPTIONS = {
    f"--gitleaks-{name}"
    for name in (
        *("binary", "version", "config", "scenarios", "analysis", "output"),
        *("judge-store", "real-repo", "corpus", "baseline", "save-baseline"),
    )
}
# Options with which pytest runs no test.
SHOWING = (
    *("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow"),
    *("markers", "help", "version"),
)
# What selects tests; `maxfail` only ends a run early.
NARROWING = ("keyword", "markexpr", "lf", "deselect", "stepwise")


def added_arguments(config: pytest.Config, named: Sequence[str]) -> list[str]:
    """What the flags add to the arguments: the shipped checks or judges, unless a node id or one of them narrows.

    With a flag in `addopts`, what pytest would collect without arguments is added, too: appending
    arguments makes it forget that.
    """
    if any("::" in argument or is_shipped(argument) for argument in named):
        return []
    shipped = [str(folder) for folder in flagged(config)]
    if named or {FLAG, JUDGES_FLAG}.intersection(config.invocation_params.args):
        return shipped
    return [*shipped, *_default_arguments(config)]


def is_narrowed(config: pytest.Config) -> bool:
    """Whether the options select a part of the checks, so that the run will be partial."""
    selects = any(config.getoption(name, None) for name in NARROWING)
    return selects or not {str(CHECKS), str(JUDGES)}.intersection(config.getoption("file_or_dir"))


def only_shows(config: pytest.Config) -> bool:
    """Whether pytest runs no test."""
    return any(config.getoption(name, None) for name in SHOWING)


def begin_early(config: pytest.Config, added: Sequence[str]) -> None:
    """Remove earlier reports already while plugins are loaded: an unknown option or a broken conftest.py ends it there.

    Only for a flag on the command line, and where pytest has found the right rootdir; what is wrong is said later.
    """
    from gitleaks_eval.controller import begin_reports  # noqa: PLC0415 - it imports this module

    known, typed = config.known_args_namespace, set(map(str, config.invocation_params.args))
    shows = any(getattr(known, name, None) for name in SHOWING)
    if FLAG not in typed or typed & PATH_OPTIONS or shows or "PYTEST_XDIST_WORKER" in os.environ:
        return
    root = Root(config.rootpath, config.inipath, config.getini, vars(known).get, config.invocation_params.dir)
    narrowed = not added or any(getattr(known, name, None) for name in NARROWING)
    with contextlib.suppress(InputError, pytest.UsageError, OSError, ValueError, TypeError):
        begin_reports(root, narrowed=narrowed)


def flagged(config: pytest.Config) -> list[Path]:
    """The folders that the flags ask for; while plugins are loaded, the namespace has what is known so far."""
    known = config.known_args_namespace
    folders = [CHECKS, LINT, *([FINDINGS] if known.gitleaks_findings else [])] if known.gitleaks_eval else []
    return [*folders, *([JUDGES] if known.gitleaks_judges else [])]


def refuse_misread_repositories(config: pytest.Config) -> None:
    """Refuse what gives a real repository a say in the run: pytest reads values behind a space in its own way.

    A list `@file` it takes for a file of arguments, and around a path it looks for its own configuration,
    which can name plugins to load and checks to leave out.

    Raises:
        pytest.UsageError: before any conftest.py is loaded.
    """
    option, invocation = "--gitleaks-real-repo", config.invocation_params.dir
    ini = None if config.known_args_namespace.inifilename else config.inipath
    is_foreign = ini is not None and ini.parent not in (invocation, *invocation.parents)
    arguments = [str(argument) for argument in config.invocation_params.args]
    for value in [value for name, value in pairwise(arguments) if name == option]:
        if value.startswith("@"):
            raise pytest.UsageError(f"{option} {value}: pytest reads it as a file of arguments; write {option}={value}")
        if is_foreign:
            raise pytest.UsageError(
                f"{option} {value}: pytest takes its own configuration from {ini}; write {option}={value}"
            )


def effective_root(config: pytest.Config) -> Root:
    """The rootdir and ini file of the full run.

    pytest looks for them before it knows our options, around every argument that is no option: around our
    package when a check is named by its path, and around the value of `--gitleaks-output DIR`. Then they are
    the ones that it would find from `--rootdir`, else from the invocation directory, `addopts` included; a
    file named with `-c` stands.
    """
    invocation = config.invocation_params.dir
    if config.getoption("inifilename") or not _misled(config):
        return Root(config.rootpath, config.inipath, _naming(config.getini), config.getoption, invocation)
    rootdir = config.getoption("rootdir")
    start = invocation / rootdir if rootdir else invocation
    # A second configuration that only finds and parses: it captures, rewrites and imports nothing.
    quiet = ["--noconftest", "--assert=plain", "-s", str(start)]
    found = pytest.Config.fromdictargs({}, list(quiet))
    if addopts := found.getini("addopts"):
        found = pytest.Config.fromdictargs({}, [*addopts, *quiet])

    def getoption(name: str) -> Any:
        return config.getoption(name) or found.getoption(name)

    return Root(
        start.resolve() if rootdir else found.rootpath, found.inipath, _naming(found.getini), getoption, invocation
    )


def _naming(getini: Callable[[str], Any]) -> Callable[[str], Any]:
    """`getini` with errors that name the setting: pytest's own say only what is wrong with the value."""

    def get(name: str) -> Any:
        try:
            return getini(name)
        except (pytest.UsageError, TypeError, ValueError) as error:
            raise InputError(f"ini {name}: {error}") from None

    return get


def _misled(config: pytest.Config) -> bool:
    # The folder that the flag itself adds came after pytest had looked for its ini file.
    added = set(map(str, flagged(config))) - set(config.invocation_params.args)
    names_shipped = any(is_shipped(argument) for argument in set(config.getoption("file_or_dir")) - added)
    return names_shipped or any(option in config.invocation_params.args for option in PATH_OPTIONS)


def _default_arguments(config: pytest.Config) -> list[str]:
    invocation = config.invocation_params.dir
    if invocation != config.rootpath:
        return [str(invocation)]
    # As pytest does it, to the letter.
    found = (sorted(glob.glob(pattern, recursive=True)) for pattern in config.getini("testpaths"))  # noqa: PTH207
    return [path for paths in found for path in paths] or [str(invocation)]
