import ast
import signal
import sys
from importlib import import_module
from pathlib import Path

import pytest

from gitleaks_eval.core.later import loaded_later
from gitleaks_eval.core.resources import PACKAGE

HUBS = sorted(path for path in PACKAGE.glob("*/later.py") if path.parent.name != "core")


@pytest.mark.parametrize("path", HUBS, ids=lambda path: path.parent.name)
def test_what_is_loaded_later_is_what_type_checkers_see(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (branch,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        f"{node.module}.{alias.name}"
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    constants = (node.value for node in ast.walk(branch.orelse[0]) if isinstance(node, ast.Constant))
    loaded = {value for value in constants if isinstance(value, str)}
    assert loaded == seen
    hub = import_module(f"gitleaks_eval.{path.parent.name}.later")
    for name in loaded:
        assert getattr(hub, name.rpartition(".")[2]) is import_module(name)


def test_ctrl_c_waits_until_a_module_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nsum(range(10_000))\nwhole = True\n"
    (tmp_path / "interrupted.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        loaded_later("interrupted")("interrupted")
    assert sys.modules.pop("interrupted").whole
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_any_other_name_is_no_attribute() -> None:
    load = loaded_later("gitleaks_eval.core.text", "gitleaks_eval.core.gone")
    with pytest.raises(AttributeError, match="'files'"):
        load("files")
    with pytest.raises(ModuleNotFoundError):
        load("gone")
