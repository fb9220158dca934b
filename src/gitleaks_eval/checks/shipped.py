"""The shipped checks as functions, in the order of their modules, for those who run them without a test session."""

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import gitleaks_eval.checks
from gitleaks_eval.checks import CHECK_MARK
from gitleaks_eval.checks.marked import checked


class ShippedCheck(NamedTuple):
    """A shipped check: what its mark says, where it stands (`test_accuracy.py::test_SA_1_…`), and its function."""

    check_id: str
    name: str
    category: str
    critical: bool
    about: tuple[str, ...]
    caps: tuple[str, ...]
    place: str
    function: Callable[..., None]


@cache
def shipped_checks() -> tuple[ShippedCheck, ...]:
    """Return every shipped check."""
    package = gitleaks_eval.checks
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.name.startswith("test_"))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    return tuple(
        ShippedCheck(*checked(*mark.args, **mark.kwargs), f"{name}.py::{function.__name__}", function)
        for name, module in zip(names, modules, strict=True)
        for function in vars(module).values()
        for mark in getattr(function, "pytestmark", ())
        if mark.name == CHECK_MARK
    )
