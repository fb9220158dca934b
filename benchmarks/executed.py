"""A plugin for pytest that notes which test files execute which lines of the source: `pytest -p executed`.

What a module does when it is imported belongs to no test. The lines are written to the file that the environment names.
"""

import json
import os
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

SOURCE, NOTED = "EXECUTED_SOURCE", "EXECUTED_NOTED"
# After so many calls in a test, a function has shown its lines: watching takes time.
ENOUGH = 200

_source = os.environ.get(SOURCE, "") + os.sep
_lines: set[tuple[CodeType, int]] = set()
_calls: Counter[CodeType] = Counter()
_by_file: dict[str, set[tuple[str, int]]] = defaultdict(set)


def _called(frame: FrameType, _event: str, _argument: Any) -> Any:
    code = frame.f_code
    if not code.co_filename.startswith(_source) or code.co_name == "<module>" or _calls[code] > ENOUGH:
        return None
    _calls[code] += 1
    return _ran


def _ran(frame: FrameType, _event: str, _argument: Any) -> Any:
    _lines.add((frame.f_code, frame.f_lineno))
    return _ran


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Watch a test with what sets it up."""
    _lines.clear()
    _calls.clear()
    threading.settrace(_called)
    sys.settrace(_called)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type] - typeshed knows no way to end it
        _by_file[item.location[0]] |= {(code.co_filename, line) for code, line in _lines}


def pytest_sessionfinish() -> None:
    """Write each line with the test files that execute it."""
    noted: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file, lines in _by_file.items():
        for name, line in lines:
            noted[name.removeprefix(_source)][line].append(file)
    Path(os.environ[NOTED]).write_text(json.dumps(noted), encoding="utf-8")
