"""What only serves speed stands in one place, and leaves things as they were."""

import ast
import gc
from contextlib import suppress

import pytest

from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.core.speed import SMALL_BYTES, collector_paused, cores_beside_others


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


def test_one_module_alone_touches_the_collector() -> None:
    imports = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Import) and any(alias.name == "gc" for alias in node.names)
    }
    assert imports == {"core/speed.py"}
