"""What stands on the command line itself: options of ours, what selects tests, and what pytest misreads."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.settings.options import FLAG, JUDGES_FLAG, PREFIX, WITH_VALUE

# `-k`, also behind options that take no value: `-qk name`.
_SELECTING = re.compile(r"-[hlqsvx]*[km]|--(lf|last-failed)$")


def typed_arguments(config: pytest.Config) -> list[str]:
    """Return the arguments as they were typed, with what an `@file` holds; those of addopts are not among them."""
    return list(_expanded(_raw(config), config.invocation_params.dir))


def refuse_without_flag(config: pytest.Config) -> None:
    """Refuse options of ours in a run that evaluates nothing: it would end well without a word.

    Raises:
        pytest.UsageError: when one stands on the command line; in addopts or the ini file they stay silent.
    """
    names = dict.fromkeys(
        typed_argument.partition("=")[0]
        for typed_argument in typed_arguments(config)
        if typed_argument.startswith(PREFIX)
    )
    if names:
        flag = JUDGES_FLAG if all(name.startswith(JUDGES_FLAG.removesuffix("s")) for name in names) else FLAG
        raise pytest.UsageError(f"{printable(', '.join(names))}: nothing is evaluated without {flag}; add {flag}")


def is_typed(config: pytest.Config) -> bool:
    """Return whether the evaluation was asked for on the command line, not by addopts."""
    return not {FLAG, JUDGES_FLAG}.isdisjoint(typed_arguments(config))


def names_paths(config: pytest.Config, named: Sequence[str]) -> bool:
    """Return whether the command line itself says what to collect; `named` is all that is said, in addopts too."""
    return not set(named).isdisjoint(typed_arguments(config))


def selects(config: pytest.Config) -> bool:
    """Return whether the command line itself selects tests: by path, by `-k`, by `-m` or by `--lf`."""
    return names_paths(config, config.getoption("file_or_dir")) or types_selection(config)


def types_selection(config: pytest.Config) -> bool:
    """Return whether the command line itself selects tests by `-k`, `-m` or `--lf`."""
    return any(map(_SELECTING.match, typed_arguments(config)))


def refuse_misread(config: pytest.Config) -> None:
    """Refuse values of ours that pytest took for its own: it looks for options before it knows ours.

    A list `@file` behind a space it takes for a file of arguments, and around a path behind a space it looks
    for rootdir and ini file, which name plugins to load and tests to leave out.

    Raises:
        pytest.UsageError: before any conftest.py is loaded; it shows the command line that says what was meant.
    """
    given, added = _raw(config), _environments()
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
    values = [value for _, value in (*_pairs(_environments()), *_pairs(_raw(config)))]
    if known.inifilename or not any(value.startswith("@") or (folder / value).exists() for value in values):
        return config
    brought = set(_expanded([value for value in values if value.startswith("@")], folder))
    # A second configuration that only finds: it captures, rewrites and imports nothing.
    quiet = ["--noconftest", "--assert=plain", "-s"]
    rootdir = [f"--rootdir={known.rootdir}"] if known.rootdir else []
    named = [str(one) for one in known.file_or_dir if one not in brought]
    return pytest.Config.fromdictargs({}, [*quiet, *rootdir, *named])


def _misled(config: pytest.Config) -> str:
    """Return the rootdir and ini file that pytest has for values behind a space alone; empty if there are none."""
    meant = as_meant(config)
    if (meant.rootpath, meant.inipath) == (config.rootpath, config.inipath):
        return ""
    ini = f"its ini file {config.inipath}" if config.inipath else "no ini file"
    return f"pytest looks around a path behind a space: it found rootdir {config.rootpath} and {ini}"


def _environments() -> list[str]:
    return shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))


def _raw(config: pytest.Config) -> list[str]:
    return [str(argument) for argument in config.invocation_params.args]


def _expanded(arguments: Sequence[str], folder: Path) -> Iterator[str]:
    for argument in arguments:
        path = folder / argument[1:]
        if argument.startswith("@") and path.is_file():
            # As pytest does it: an argument a line.
            yield from _expanded(path.read_text(encoding="utf-8", errors="replace").splitlines(), folder)
        else:
            yield argument


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Our options and their values, where a space stands between the two."""
    return ((one, value) for one, value in pairwise(arguments) if _is_pair(one, value))


def _is_pair(one: str, value: str) -> bool:
    return one in WITH_VALUE and not value.startswith("-")


def _corrected(arguments: Sequence[str]) -> list[str]:
    corrected: list[str] = []
    for argument in arguments:
        if corrected and _is_pair(corrected[-1], argument):
            corrected[-1] += f"={argument}"
        else:
            corrected.append(argument)
    return corrected
