"""The pytest plugin: options, and the decision whether there is anything to do.

Without the flag, and without a check named by path or node id, nothing heavy is imported.
"""

from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from gitleaks_eval.checks import CHECK_MARK
from gitleaks_eval.engine.settings.options import BY_NAME, FLAG, OPTIONS, grouped
from gitleaks_eval.plugin import hookspecs
from gitleaks_eval.plugin.command_line import (
    PARSER,
    adds_folders,
    flagged,
    is_typed,
    refuse_misread,
    refuse_showing,
    refuse_without_flag,
)
from gitleaks_eval.plugin.folders import FOLDERS, JUDGES, is_shipped, names_a_check

if TYPE_CHECKING:
    from gitleaks_eval.plugin.items import Items

LEFT_ALONE: pytest.StashKey[int] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their ini twins."""
    for group, options in grouped(option for option in OPTIONS if not option.ini_only):
        example = " ".join(f"{BY_NAME[name].option}={value}".rstrip("=") for name, value in group.example)
        added = parser.getgroup(f"gitleaks-eval, {group.title}", f"gitleaks-eval: {group.title}, such as {example}")
        for option in options:
            added.addoption(option.option, **option.keywords)
    for option in OPTIONS:
        if not option.is_flag:
            text = option.text if option.ini_only else f"as {option.option}: {option.text}"
            parser.addini(option.setting, text, type=option.ini, default=option.ini_default)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks that users may implement."""
    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Accept entries of the configuration instead of running tests, where that is asked for."""
    if not config.getoption("gitleaks_accept") or config.getoption("help", default=False):
        return None
    from gitleaks_eval.plugin.activate import accept_entries  # noqa: PLC0415 - as `activate` below

    return accept_entries(config)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Let the flag collect the shipped checks, beside the files and folders that are named."""
    early_config.stash[PARSER] = parser
    known = early_config.known_args_namespace
    if known.gitleaks_eval or known.gitleaks_judges:
        from gitleaks_eval.plugin.root import begin_early  # noqa: PLC0415 - as `activate` below

        adds = adds_folders(early_config, known.file_or_dir)
        begin_early(early_config, is_full=adds)
        refuse_misread(early_config)
        refuse_showing(early_config)
        if adds and (known.file_or_dir or is_typed(early_config)):
            args.extend(flagged(known))
    elif _has_options(early_config):
        refuse_misread(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Take part if the flag or a named check asks for it."""
    config.addinivalue_line(
        "markers", f"{CHECK_MARK}(id, name, category): a check of gitleaks-eval (set by its decorator)"
    )
    config.addinivalue_line("markers", "llm_judge: a judge of gitleaks-eval, one test a dimension")
    if config.getoption("help", default=False):
        return
    named = config.getoption("file_or_dir")
    if not named:
        # The flag stands in addopts, and what pytest collects without arguments is collected, too.
        config.args = [*config.args, *flagged(config.option)]
    checks = config.getoption("gitleaks_eval") or any(map(names_a_check, named))
    judges = config.getoption("gitleaks_judges") or any(is_shipped(argument, JUDGES) for argument in named)
    if checks or judges:
        from gitleaks_eval.plugin.activate import activate  # noqa: PLC0415 - 0.3 s that an inert run must not pay

        activate(config, checks=checks, judges=judges)
    elif _has_options(config):
        refuse_without_flag(config)


def _has_options(config: pytest.Config) -> bool:
    """Return whether any option of ours has been given, on the command line or in addopts."""
    known = vars(config.known_args_namespace)
    return any(value not in (None, False) for name, value in known.items() if name.startswith("gitleaks_"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the shipped checks alone in a run that did not ask for them, also in our own checkout."""
    items = _items(config)
    folder = collection_path if collection_path in FOLDERS else collection_path.parent
    if folder not in FOLDERS:
        return None
    return None if items is not None and items.collects(folder) else True


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Leave a user's own checks alone in a run that did not ask for them."""
    items = _items(collector.config)
    if not isinstance(obj, FunctionType) or (items is not None and items.checks):
        return None
    marked = any(mark.name == CHECK_MARK for mark in getattr(obj, "pytestmark", ()))
    if not marked and collector.get_closest_marker(CHECK_MARK) is None:
        return None
    collector.config.stash[LEFT_ALONE] = collector.config.stash.get(LEFT_ALONE, 0) + 1
    return []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Say why a run that has only checks, and did not ask for them, has no tests."""
    left = config.stash.get(LEFT_ALONE, 0)
    if left and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        terminalreporter.write_line(f"gitleaks-eval: {left} checks were left alone; add {FLAG} to run them")


def _items(config: pytest.Config) -> "Items | None":
    items: Items | None = config.pluginmanager.get_plugin("gitleaks_eval_evaluation")
    return items
