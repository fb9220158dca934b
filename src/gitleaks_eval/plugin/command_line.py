"""The command line as pytest's own parser reads it: what it selects and adds, and what of it is refused."""

import os
import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import pytest

from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.settings.options import FLAG, JUDGES_FLAG, OPTIONS, WITH_VALUE
from gitleaks_eval.plugin.folders import CHECKS, FINDINGS, JUDGES, LINT, REAL, SURVEYS, is_shipped

PARSER: pytest.StashKey[pytest.Parser] = pytest.StashKey()
TYPED: pytest.StashKey[Namespace] = pytest.StashKey()
# Options with which pytest runs no test, by their names in its namespace.
SHOWING = {
    "collectonly": "--collect-only",
    "showfixtures": "--fixtures",
    "show_fixtures_per_test": "--fixtures-per-test",
    "setuponly": "--setup-only",
    "setupplan": "--setup-plan",
    "cacheshow": "--cache-show",
    "markers": "--markers",
    "help": "--help",
    "version": "--version",
}
# What selects tests; `maxfail` only ends a run early.
NARROWING = ("lf", "deselect", "stepwise")
MATCHING = ("keyword", "markexpr")


def typed(config: pytest.Config) -> Namespace:
    """Return what the command line alone says, without addopts."""
    return config.stash.get(TYPED, None) or parsed(config, config.invocation_params.args)


def parsed(config: pytest.Config, arguments: Sequence[str | os.PathLike[str]]) -> Namespace:
    """Return what these arguments say to pytest."""
    parser = config.stash.get(PARSER, None)
    # Where a conftest.py loads this plugin, it came too late for the parser.
    return parser.parse_known_args(arguments) if parser else config.option


def is_typed(config: pytest.Config) -> bool:
    """Return whether the evaluation was asked for on the command line, not by addopts."""
    return bool(flagged(typed(config)))


def selects(config: pytest.Config) -> bool:
    """Return whether the command line itself selects tests: by path, by `-k`, by `-m` or by `--lf`."""
    return has_any(typed(config), ("file_or_dir", *MATCHING, "lf"))


def is_narrowed(config: pytest.Config) -> bool:
    """Return whether the command line selects a part of the checks, so that the run will be partial.

    What addopts select is what runs there always have, such as `-m "not slow"`: most often that leaves out no check.
    """
    narrows = has_any(config.option, NARROWING) or has_any(typed(config), MATCHING)
    return narrows or {str(CHECKS), str(JUDGES)}.isdisjoint(config.args)


def selects_checks(config: pytest.Config) -> bool:
    """Return whether any option of pytest, in addopts too, leaves out checks."""
    return is_narrowed(config) or has_any(config.option, (*MATCHING, "ignore", "ignore_glob"))


def only_shows(config: pytest.Config) -> bool:
    """Return whether pytest runs no test."""
    return has_any(config.option, SHOWING)


def has_any(options: Namespace, names: Iterable[str]) -> bool:
    """Return whether any of these options of pytest is given; one of a plugin that is switched off is not."""
    return any(getattr(options, name, None) for name in names)


def flagged(options: Namespace) -> list[str]:
    """Return the folders that the flags ask for."""
    findings = FINDINGS if options.gitleaks_findings else REAL
    checks = [CHECKS, LINT, SURVEYS, findings] if options.gitleaks_eval else []
    return list(map(str, [*checks, *([JUDGES] if options.gitleaks_judges else [])]))


def adds_folders(config: pytest.Config, named: Sequence[str]) -> bool:
    """Return whether the flags add their folders to the arguments that are named, in addopts too.

    They do not where a test or one of our modules is named, and a flag in addopts adds nothing to what the command
    line names.
    """
    if any("::" in argument or is_shipped(argument) for argument in named):
        return False
    line = typed(config)
    return bool(flagged(line)) or not line.file_or_dir


def refuse_without_flag(config: pytest.Config) -> None:
    """Refuse options of ours in a run that evaluates nothing: it would end well without a word.

    Raises:
        pytest.UsageError: when one stands on the command line; in addopts or the ini file they stay silent.
    """
    line = typed(config)
    names = [option.option for option in OPTIONS if getattr(line, option.setting, None) not in (None, False)]
    if names:
        flag = JUDGES_FLAG if all(name.startswith(JUDGES_FLAG.removesuffix("s")) for name in names) else FLAG
        raise pytest.UsageError(f"{', '.join(names)}: nothing is evaluated without {flag}; add {flag}")


def brought_showing(config: pytest.Config) -> list[str]:
    """Return the options of addopts that show instead of running, where the command line asks for the evaluation."""
    line, known = typed(config), config.known_args_namespace
    brought = (SHOWING[name] for name in SHOWING if has_any(known, [name]) and not has_any(line, [name]))
    return list(brought) if flagged(line) else []


def refuse_showing(config: pytest.Config) -> None:
    """Refuse a run that evaluates nothing because of addopts, although the command line asks for the evaluation.

    Raises:
        pytest.UsageError: naming what pytest was told there.
    """
    if brought := brought_showing(config):
        raise pytest.UsageError(
            f"addopts: {brought[0]}: nothing would be evaluated, and the run would end well; "
            "remove it there, or add -o addopts="
        )


def refuse_misread(config: pytest.Config) -> None:
    """Refuse values of ours that pytest took for its own: it looks for options before it knows ours.

    A list `@file` behind a space it takes for a file of arguments, and around a path behind a space it looks
    for rootdir and ini file, which name plugins to load and tests to leave out.

    Raises:
        pytest.UsageError: before any conftest.py is loaded; it shows the command line that says what was meant.
    """
    given, added = _arguments(config)
    pairs = [*_pairs(added), *_pairs(given)]
    if any(value.startswith("@") for _, value in pairs):
        why = "pytest reads a value with @ behind a space as a file of arguments"
    else:
        why = _misled(config)
    if why:
        shown = ", ".join(" ".join(pair) for pair in pairs)
        command = f"pytest {shlex.join(_corrected(given))}"
        if list(_pairs(added)):
            command = f"PYTEST_ADDOPTS={shlex.quote(shlex.join(_corrected(added)))} {command}"
        raise pytest.UsageError(f"{printable(shown)}: {printable(why)}; write\n  {printable(command)}")


def as_meant(config: pytest.Config) -> pytest.Config:
    """Return what pytest would have found without the values behind a space, where it may have looked at them."""
    known, folder = config.known_args_namespace, config.invocation_params.dir
    values = [value for arguments in _arguments(config) for _, value in _pairs(arguments)]
    is_list = any(value.startswith("@") for value in values)
    if known.inifilename or not (is_list or any((folder / value).exists() for value in values)):
        return config
    rootdir = [f"--rootdir={known.rootdir}"] if known.rootdir else []
    # The lines of a list are among the arguments.
    return found_around(*rootdir, *([] if is_list else map(str, known.file_or_dir)))


def found_around(*arguments: str) -> pytest.Config:
    """Return a second configuration that only finds and parses: it captures, rewrites and imports nothing."""
    return pytest.Config.fromdictargs({}, ["--noconftest", "--assert=plain", "-s", *arguments])


def _misled(config: pytest.Config) -> str:
    """Return the rootdir and ini file that pytest has for values behind a space alone; empty if there are none."""
    meant = as_meant(config)
    if (meant.rootpath, meant.inipath) == (config.rootpath, config.inipath):
        return ""
    ini = f"its ini file {config.inipath}" if config.inipath else "no ini file"
    return f"pytest looks around a path behind a space: it found rootdir {config.rootpath} and {ini}"


def _arguments(config: pytest.Config) -> tuple[list[str], list[str]]:
    """Return the arguments of the command line and those of the environment: no parser knows of the spaces in them."""
    return list(map(str, config.invocation_params.args)), shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield our options and their values, where a space stands between the two."""
    return ((option, value) for option, value in pairwise(arguments) if _is_pair(option, value))


def _is_pair(option: str, value: str) -> bool:
    return option in WITH_VALUE and not value.startswith("-")


def _corrected(arguments: Sequence[str]) -> list[str]:
    corrected: list[str] = []
    for argument in arguments:
        if corrected and _is_pair(corrected[-1], argument):
            corrected[-1] += f"={argument}"
        else:
            corrected.append(argument)
    return corrected
