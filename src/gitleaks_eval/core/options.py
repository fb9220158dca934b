"""Where settings come from: the command line, and the ini file of the full run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import named_path
from gitleaks_eval.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Root:
    """Where settings come from: rootdir, the ini file of the full run, what it and the command line say."""

    path: Path
    ini_path: Path | None
    getini: Callable[[str], Any]
    getoption: Callable[[str], Any]
    invocation: Path

    @classmethod
    def of_options(cls, options: Mapping[str, Any], folder: Path) -> "Root":
        """Return where settings come from in this folder: options alone, without an ini file."""
        return cls(folder, None, lambda _: None, options.get, folder)


@dataclass(frozen=True, slots=True)
class Given:
    """The value of one option, the folder it is relative to, and the option or setting that gave it."""

    value: Any
    base: Path
    named_by: str

    def path(self) -> Path:
        """Return the value as a path, absolute.

        Raises:
            InputError: when no file or folder can be there.
        """
        return named_path(self.value, self.base, self.named_by)


def given(root: Root, name: str, *, ini_only: bool = False) -> Given | None:
    """Return what the user gave for `name`: the option of the command line, else the ini setting, else None."""
    option = None if ini_only else root.getoption(f"gitleaks_{name}")
    if option is not None and option != []:
        return Given(option, root.invocation, f"--gitleaks-{name.replace('_', '-')}")
    value = root.getini(f"gitleaks_{name}")
    if value in (None, "", []):
        return None
    base = root.ini_path.parent if root.ini_path else root.path
    return Given(value, base, f"ini gitleaks_{name}")


def refuse_beside(root: Root, option: str, why: str, names: Iterable[str]) -> None:
    """What is named on the command line and would be ignored is an error: nobody must believe it was looked at."""
    for name in names:
        other = given(root, name)
        if other and other.named_by.startswith("--"):
            raise InputError(f"{other.named_by} {_shown(other.value)}: {why} beside {option}; leave one of the two out")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(map(str, value))
