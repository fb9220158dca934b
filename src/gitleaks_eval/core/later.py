"""Modules that are loaded when they are asked for (PEP 562): a scan waits only for what it needs."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from types import FrameType, ModuleType

from gitleaks_eval.core.speed import loading


def loaded_later(*modules: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a module whose attributes are these modules, each by the last part of its name.

    What it makes raises AttributeError for any other name.
    """
    of_name = {module.rpartition(".")[2]: module for module in modules}

    def load(name: str) -> ModuleType:
        if name not in of_name:
            raise AttributeError(f"none of the modules that are loaded later is {name!r}")
        with _interrupted_afterwards(), loading():
            return import_module(of_name[name])

    return load


@contextlib.contextmanager
def _interrupted_afterwards() -> Iterator[None]:
    """Let Ctrl-C wait: what passes through `exec`, as in the making of a dataclass, ends Python whoever catches it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    stopping = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in stopping}
    ours = [number for number in stopping if callable(before[number])]
    for number in ours:
        signal.signal(number, remember)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
    if came:
        signal.raise_signal(came[0])
