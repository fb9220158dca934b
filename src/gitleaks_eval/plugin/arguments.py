"""Which modules a run collects, which arguments narrow it, and whose settings it has."""

import contextlib
import glob
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.names import NAMES
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.settings.settings import begin_reports
from gitleaks_eval.plugin.command_line import as_meant, is_typed, names_paths, typed_arguments, types_selection
from gitleaks_eval.plugin.folders import CHECKS, FINDINGS, FOLDERS, JUDGES, LINT, REAL, SURVEYS, is_shipped

# Options with which pytest runs no test.
SHOWING = (
    *("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow"),
    *("markers", "help", "version"),
)
SHOWING_ARGUMENTS = {
    *("--collect-only", "--co", "--fixtures", "--funcargs", "--fixtures-per-test", "--setup-only", "--setuponly"),
    *("--setup-plan", "--setupplan", "--cache-show", "--markers", "--help", "-h", "--version", "-V"),
}
# What selects tests; `maxfail` only ends a run early.
NARROWING = ("lf", "deselect", "stepwise")


def added_arguments(config: pytest.Config, named: Sequence[str]) -> list[str]:
    """Return what the flags add to the arguments: the shipped checks or judges, unless one of them narrows.

    With a flag in `addopts` nothing is added to what the command line names; where it names nothing, what
    pytest would collect without arguments is added, too: appending arguments makes it forget that.
    """
    if any("::" in argument or is_shipped(argument) for argument in named):
        return []
    shipped = [str(folder) for folder in flagged(config)]
    if is_typed(config):
        return shipped
    if names_paths(config, named):
        return []
    return shipped if named else [*shipped, *_default_arguments(config)]


def is_narrowed(config: pytest.Config) -> bool:
    """Return whether the command line selects a part of the checks, so that the run will be partial.

    What addopts select is what runs there always have, such as `-m "not slow"`: most often that leaves out no check.
    """
    narrows = any(config.getoption(name, None) for name in NARROWING) or types_selection(config)
    return narrows or not {str(CHECKS), str(JUDGES)}.intersection(config.getoption("file_or_dir"))


def selects_checks(config: pytest.Config) -> bool:
    """Return whether any option of pytest, in addopts too, leaves out checks."""
    chosen = ("keyword", "markexpr", "ignore", "ignore_glob")
    return is_narrowed(config) or any(config.getoption(name, None) for name in chosen)


def names_a_survey(config: pytest.Config) -> bool:
    """Return whether a test of rules, places or entries, or their module, is named: it runs whatever options say."""
    named = set(config.getoption("file_or_dir")) - {str(SURVEYS)}
    return any(is_shipped(argument, SURVEYS) for argument in named)


def names_own_tests(config: pytest.Config) -> bool:
    """Return whether a file of tests that a user wrote of rules, or one of its lines, is named."""
    return any(Path(argument.partition("::")[0]).name in NAMES for argument in config.getoption("file_or_dir"))


def only_shows(config: pytest.Config) -> bool:
    """Return whether pytest runs no test."""
    return any(config.getoption(name, None) for name in SHOWING)


def refuse_showing(config: pytest.Config, arguments: Sequence[str]) -> None:
    """Refuse a run that evaluates nothing because of addopts, although the command line asks for the evaluation.

    Raises:
        pytest.UsageError: naming what pytest was told there.
    """
    if brought := _brought(config, arguments):
        raise pytest.UsageError(
            f"addopts: {printable(brought[0])}: nothing would be evaluated, and the run would end well; "
            "remove it there, or add -o addopts="
        )


def _brought(config: pytest.Config, arguments: Sequence[str]) -> list[str]:
    """Return what shows instead of running and was not typed beside the flag; `arguments` are all."""
    if not is_typed(config):
        return []
    return [
        argument for argument in arguments if argument in SHOWING_ARGUMENTS and argument not in typed_arguments(config)
    ]


def begin_early(config: pytest.Config, added: Sequence[str], arguments: Sequence[str]) -> None:
    """Remove earlier reports already while plugins are loaded: an unknown option or a broken conftest.py ends it there.

    Only where the evaluation is asked for; what is wrong is said later.
    """
    known = config.known_args_namespace
    shows = any(getattr(known, name, None) for name in SHOWING) and not _brought(config, arguments)
    if not (is_typed(config) or added) or shows or "PYTEST_XDIST_WORKER" in os.environ:
        return
    meant = as_meant(config)
    root = Root(meant.rootpath, meant.inipath, meant.getini, vars(known).get, config.invocation_params.dir)
    narrowed = not added or any(getattr(known, name, None) for name in NARROWING) or types_selection(config)
    with contextlib.suppress(InputError, pytest.UsageError, OSError, ValueError, TypeError):
        begin_reports(root, narrowed=narrowed)


def flagged(config: pytest.Config) -> list[Path]:
    """Return the folders that the flags ask for; while plugins are loaded, the namespace has what is known so far."""
    known = config.known_args_namespace
    findings = FINDINGS if known.gitleaks_findings else REAL
    folders = [CHECKS, LINT, SURVEYS, findings] if known.gitleaks_eval else []
    return [*folders, *([JUDGES] if known.gitleaks_judges else [])]


def asked_for(config: pytest.Config) -> set[Path]:
    """Our folders and modules that stand among the arguments: named, or added there by a flag."""
    named = {config.invocation_params.dir / one.partition("::")[0] for one in config.getoption("file_or_dir")}
    paths = (Path(os.path.abspath(path)) for path in named)  # noqa: PTH100 - resolve() would follow links
    return {path for path in paths if path in FOLDERS or path.parent in FOLDERS}


def effective_root(config: pytest.Config) -> Root:
    """Return the rootdir and ini file of the full run.

    pytest looks for them around every argument that is no option: around our package when a check is named by
    its path, as a pasted node id does. Then they are the ones that it would find from `--rootdir`, else from
    the invocation directory, `addopts` included; a file named with `-c` stands, and so do settings with `-o`.
    """
    invocation = config.invocation_params.dir
    if config.getoption("inifilename") or not _names_shipped(config):
        return Root(config.rootpath, config.inipath, _naming(config.getini), config.getoption, invocation)
    rootdir = config.getoption("rootdir")
    start = invocation / rootdir if rootdir else invocation
    # A second configuration that only finds and parses: it captures, rewrites and imports nothing.
    overrides = [f"--override-ini={setting}" for setting in config.getoption("override_ini") or ()]
    quiet = ["--noconftest", "--assert=plain", "-s", *overrides, str(start)]
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


def _names_shipped(config: pytest.Config) -> bool:
    # The folder that the flag itself adds came after pytest had looked for its ini file.
    added = set(map(str, flagged(config))) - set(config.invocation_params.args)
    return any(is_shipped(argument) for argument in set(config.getoption("file_or_dir")) - added)


def _default_arguments(config: pytest.Config) -> list[str]:
    invocation = config.invocation_params.dir
    if invocation != config.rootpath:
        return [str(invocation)]
    # As pytest does it, to the letter.
    found = (sorted(glob.glob(pattern, recursive=True)) for pattern in config.getini("testpaths"))  # noqa: PTH207
    return [path for paths in found for path in paths] or [str(invocation)]
