"""The face of the package: what check authors and users of the library import, and what that loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gitleaks_eval
from gitleaks_eval.core.resources import PACKAGE

SHIPPED = sorted((PACKAGE / "checks").glob("test_*.py"))


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("name", gitleaks_eval.__all__)
def test_each_name_of_the_face_is_there(name: str) -> None:
    assert getattr(gitleaks_eval, name) is not None
    assert name in dir(gitleaks_eval)


def test_a_name_that_is_not_there_is_an_attribute_error_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'gitleaks_eval' has no attribute 'chekc'"):
        getattr(gitleaks_eval, "chekc")  # noqa: B009 - a type checker knows that it is not there


def test_the_face_loads_nothing_until_a_name_is_asked_for() -> None:
    assert {name for name in loaded_by("import gitleaks_eval") if name.startswith("gitleaks_eval")} == {"gitleaks_eval"}
    loaded = loaded_by("from gitleaks_eval import InputError")
    assert "gitleaks_eval.core.errors" in loaded
    assert "pytest" not in loaded


def test_a_star_import_has_all_names() -> None:
    names: dict[str, object] = {}
    exec("from gitleaks_eval import *", names)  # noqa: S102 - a star stands at the top of a module only
    assert set(gitleaks_eval.__all__) <= set(names)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_check_imports_from_the_face_only_as_a_users_own_does(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in modules if name.startswith("gitleaks_eval")} == {"gitleaks_eval"}
