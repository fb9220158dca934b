"""The options of the command line and their ini twins, read into one frozen value."""

import math
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.configuration import Configuration, choose_configuration
from gitleaks_eval.errors import InputError
from gitleaks_eval.gitleaks import ScannerChoice
from gitleaks_eval.install import checked_version
from gitleaks_eval.severity import SHIPPED_POLICY, load_policy

RESULTS = "gitleaks-eval-results"
ANALYSES = "analysis"
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
class Given:
    """The value of one option, the folder it is relative to, and the option or setting that gave it."""

    value: Any
    base: Path
    named_by: str

    def path(self) -> Path:
        """The value as a path, absolute."""
        return self.base / Path(self.value).expanduser()


def read_settings(root: Root, *, reads_reports: bool = False) -> Settings:
    """Read the settings from the command line, else from the ini file, else the defaults.

    With `reads_reports` nothing is scanned: unless others are named, the analyses are those that the last
    full run left with its reports.

    Raises:
        InputError: when a value, or a file or folder that it names, is wrong on sight.
    """
    output = given(root, "output")
    reports = _output(output.path() if output else root.path / RESULTS)
    analyses = _analyses(given(root, "analysis"))
    if analyses:
        _refuse_beside(root, "--gitleaks-analysis", "nothing is scanned", ("binary", "version", "config"))
    elif reads_reports:
        analyses = reports / ANALYSES
    scenarios = given(root, "scenarios")
    policy = given(root, "severity_policy", ini_only=True)
    named = given(root, "config")
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
        output=reports,
        timeout_seconds=_timeout(given(root, "scan_timeout")),
        severity_policy=policy.path() if policy else SHIPPED_POLICY,
    )


def given(root: Root, name: str, *, ini_only: bool = False) -> Given | None:
    """What the user gave for `name`: the option of the command line, else the ini setting, else None."""
    option = None if ini_only else root.getoption(f"gitleaks_{name}")
    if option is not None and option != []:
        return Given(option, root.invocation, f"--gitleaks-{name.replace('_', '-')}")
    try:
        value = root.getini(f"gitleaks_{name}")
    except (TypeError, ValueError) as error:
        raise InputError(f"ini gitleaks_{name}: {error}") from None
    if value in (None, "", []):
        return None
    base = root.ini_path.parent if root.ini_path else root.path
    return Given(value, base, f"ini gitleaks_{name}")


def _refuse_beside(root: Root, option: str, why: str, names: Iterable[str]) -> None:
    """What is named on the command line and would be ignored is an error: nobody must believe it was looked at."""
    for name in names:
        other = given(root, name)
        if other and other.named_by.startswith("--"):
            raise InputError(f"{other.named_by} {other.value}: {why} beside {option}; leave one of the two out")


def _scanner_choice(root: Root) -> ScannerChoice:
    if root.getoption("gitleaks_binary"):
        _refuse_beside(root, "--gitleaks-binary", "the binary has the version it has", ["version"])
    ways = [given(root, name) for name in ("binary", "version")]
    # The command line goes before the ini file, also when the two name different ways.
    for choice in sorted((one for one in ways if one), key=lambda one: one.named_by.startswith("ini")):
        if choice is ways[0]:
            return ScannerChoice(binary=_executable(choice), named_by=choice.named_by)
        return ScannerChoice(version=checked_version(choice.value, choice.named_by), named_by=choice.named_by)
    return ScannerChoice()


def _executable(value: Given) -> Path:
    path = value.path()
    if not path.exists():
        raise InputError(f"{value.named_by} {path}: does not exist; name its path, or leave it out for PATH")
    if not path.is_file():
        raise InputError(f"{value.named_by} {path}: is not a file; name the gitleaks binary itself")
    if shutil.which(path) is None:
        raise InputError(f"{value.named_by} {path}: is not executable; try chmod +x")
    return path


def _analyses(value: Given | None) -> Path | None:
    if value is None:
        return None
    folder = value.path()
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{value.named_by} {folder}: {wrong}; name a folder of <scenario>.json files")
    return folder


def _timeout(value: Given | None) -> float:
    if value is None:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        seconds = float(value.value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{value.named_by} {value.value!r}: not a number of seconds above zero")
    return seconds


def _output(folder: Path) -> Path:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"--gitleaks-output {folder}: {existing} is a file; name a folder")
    return folder
