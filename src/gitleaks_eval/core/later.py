"""Modules that are loaded when they are asked for (PEP 562): a scan waits only for what it needs."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from gitleaks_eval.core.speed import collector_paused


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package (or of a module that stands for it) whose modules are its attributes.

    What it makes raises AttributeError for what is no module of the package.
    """

    def load(name: str) -> ModuleType:
        module = f"{package}.{name}"
        try:
            with collector_paused():
                return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return load
