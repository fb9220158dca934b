"""What only serves speed stands in one place, and leaves things as they were."""

import ast
import gc
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

import pytest

from gitleaks_eval import config
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.core.speed import SMALL_BYTES, collector_paused, cores_beside_others, loading


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_as_it_was_afterwards_also_after_an_error(*, was_on: bool) -> None:
    before = gc.isenabled()
    (gc.enable if was_on else gc.disable)()
    try:
        with suppress(ZeroDivisionError), collector_paused():
            inside = gc.isenabled()
            _ = 1 / 0
        assert not inside
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_a_small_repository_is_scanned_with_one_core_beside_others_and_a_large_one_with_all() -> None:
    assert cores_beside_others(SMALL_BYTES - 1) == 1
    assert cores_beside_others(SMALL_BYTES) is None


@pytest.mark.slow
def test_one_module_alone_touches_the_collector() -> None:
    imports = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Import) and any(alias.name == "gc" for alias in node.names)
    }
    assert imports == {"core/speed.py"}


def test_what_is_loaded_is_found_by_nobody_elses_finder_and_afterwards_all_are_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    class Rewriting:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            asked.append(name)

    monkeypatch.setattr(config, "names", config.names)
    for name in ("gitleaks_eval.config.names", "gitleaks_eval.lint.test_config_lint", "colorsys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Rewriting, *sys.meta_path])
    before = list(sys.meta_path)
    with loading():
        import_module("gitleaks_eval.config.names")
        assert asked == []
        import_module("colorsys")
        with suppress(ZeroDivisionError), loading():
            raise ZeroDivisionError
        find_spec("gitleaks_eval.lint.test_config_lint")
    assert asked == ["colorsys", "gitleaks_eval.lint.test_config_lint"]
    assert sys.meta_path == before
