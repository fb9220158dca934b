"""The options of the command line and their ini twins, read into one frozen value."""

import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.configuration import Configuration, choose_configuration
from gitleaks_eval.errors import InputError
from gitleaks_eval.gitleaks import ScannerChoice
from gitleaks_eval.scanners import scanner_and_version
from gitleaks_eval.severity import SHIPPED_POLICY, load_policy

RESULTS = "gitleaks-eval-results"
DEFAULT_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Root:
    """Where settings come from: rootdir, the ini file of the full run, what it and the command line say."""

    path: Path
    ini_path: Path | None
    getini: Callable[[str], Any]
    getoption: Callable[[str], Any]
    invocation: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is about; every path is absolute and every input file has been looked at."""

    root: Path
    scanner: ScannerChoice
    configuration: Configuration | None
    scenario_sources: tuple[str, ...]
    scenario_base: Path
    analyses: Path | None
    output: Path
    timeout_seconds: float
    severity_policy: Path


@dataclass(frozen=True, slots=True)
class _Given:
    """The value of one option, the folder it is relative to, and the option or setting that gave it."""

    value: Any
    base: Path
    named_by: str

    def path(self) -> Path:
        return self.base / Path(self.value).expanduser()


def read_settings(root: Root) -> Settings:
    """Read the settings from the command line, else from the ini file, else the defaults.

    Raises:
        InputError: when a value, or a file or folder that it names, is wrong on sight.
    """
    analyses = _analyses(_given(root, "analysis"))
    scenarios = _given(root, "scenarios")
    policy = _given(root, "severity_policy")
    output = _given(root, "output")
    named = _given(root, "config")
    if policy:
        load_policy(policy.path())
    configuration = None
    if analyses is None:
        choice = (named.value, named.base, named.named_by) if named else None
        configuration = choose_configuration(choice, root.path, root.invocation)
    return Settings(
        root=root.path,
        scanner=_scanner_choice(root),
        configuration=configuration,
        scenario_sources=tuple(scenarios.value) if scenarios else ("core",),
        scenario_base=scenarios.base if scenarios else root.path,
        analyses=analyses,
        output=_output(output.path() if output else root.path / RESULTS),
        timeout_seconds=_timeout(_given(root, "scan_timeout")),
        severity_policy=policy.path() if policy else SHIPPED_POLICY,
    )


def _given(root: Root, name: str) -> _Given | None:
    # The severity policy has an ini setting only.
    option = None if name == "severity_policy" else root.getoption(f"gitleaks_{name}")
    if option is not None and option != []:
        return _Given(option, root.invocation, f"--gitleaks-{name.replace('_', '-')}")
    value = root.getini(f"gitleaks_{name}")
    if value in (None, "", []):
        return None
    base = root.ini_path.parent if root.ini_path else root.path
    return _Given(value, base, f"ini gitleaks_{name}")


def _scanner_choice(root: Root) -> ScannerChoice:
    given = [_given(root, name) for name in ("binary", "version")]
    # The command line goes before the ini file, also when the two name different ways.
    for choice in sorted((one for one in given if one), key=lambda one: one.named_by.startswith("ini")):
        if choice is given[0]:
            return ScannerChoice(binary=_executable(choice), named_by=choice.named_by)
        adapter, version = scanner_and_version(choice.value, choice.named_by)
        return ScannerChoice(version=version, named_by=choice.named_by, scanner=adapter.name)
    return ScannerChoice()


def _executable(given: _Given) -> Path:
    path = given.path()
    if not path.exists():
        raise InputError(f"{given.named_by} {path}: does not exist; name its path, or leave it out for PATH")
    if not path.is_file():
        raise InputError(f"{given.named_by} {path}: is not a file; name the gitleaks binary itself")
    if shutil.which(path) is None:
        raise InputError(f"{given.named_by} {path}: is not executable; try chmod +x")
    return path


def _analyses(given: _Given | None) -> Path | None:
    if given is None:
        return None
    folder = given.path()
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{given.named_by} {folder}: {wrong}; name a folder of <scenario>.json files")
    return folder


def _timeout(given: _Given | None) -> float:
    if given is None:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        seconds = float(given.value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{given.named_by} {given.value!r}: not a number of seconds above zero")
    return seconds


def _output(folder: Path) -> Path:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"--gitleaks-output {folder}: {existing} is a file; name a folder")
    return folder
