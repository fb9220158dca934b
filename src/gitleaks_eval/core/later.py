"""Modules that are loaded when they are asked for (PEP 562): a scan waits only for what it needs."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from gitleaks_eval.core.speed import collector_paused


def loaded_later(*modules: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a module whose attributes are these modules, each by the last part of its name.

    What it makes raises AttributeError for any other name.
    """
    of_name = {module.rpartition(".")[2]: module for module in modules}

    def load(name: str) -> ModuleType:
        if name not in of_name:
            raise AttributeError(f"none of the modules that are loaded later is {name!r}")
        with collector_paused():
            return import_module(of_name[name])

    return load
