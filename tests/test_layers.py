"""The house: packages on floors, arrows that point down, and a core that knows no pytest."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from gitleaks_eval.core.resources import PACKAGE

ROOT = Path(__file__).parents[1]
LONGEST = 350
# Imports in functions, each with its measured reason beside it. Where another is added, one goes.
LATE_AT_MOST = 10
# What pytest alone imports: hooks, and modules of tests.
OF_PYTEST = ("plugin", "checks", "lint", "findings")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


SOURCES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def is_pure(name: str) -> bool:
    _, package, *_ = [*name.split("."), ""]
    is_test = name.rpartition(".")[2].startswith("test_")
    return name == "gitleaks_eval.checks.result" or (package not in OF_PYTEST and not is_test)


PURE = list(filter(is_pure, SOURCES))


def late_imports(tree: ast.Module) -> Iterator[ast.stmt]:
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found = [node for function in functions for node in ast.walk(function)]
    return (node for node in dict.fromkeys(found) if isinstance(node, (ast.Import, ast.ImportFrom)))


def test_packages_import_only_what_lies_on_lower_floors(capsys: pytest.CaptureFixture[str]) -> None:
    broken = lint_imports(str(ROOT / "pyproject.toml"), no_cache=True)
    assert not broken, capsys.readouterr().out


def test_modules_import_each_other_in_no_circle() -> None:
    graph = grimp.build_graph("gitleaks_eval", cache_dir=None)
    # The face imports nothing until a name is asked for.
    others = graph.modules - {"gitleaks_eval"}
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in others}).prepare()


@pytest.mark.parametrize("path", SOURCES.values(), ids=SOURCES)
def test_no_module_is_longer_than_a_reader_can_hold(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_few_imports_stand_in_functions_and_each_says_what_it_saves() -> None:
    late = []
    for name, path in SOURCES.items():
        text = path.read_text(encoding="utf-8")
        for node in late_imports(ast.parse(text)):
            line = text.splitlines()[node.lineno - 1]
            assert "# noqa: PLC0415 - " in line, f"{name}:{node.lineno}"
            late.append(f"{name}:{node.lineno}: {line.strip()}")
    assert len(late) <= LATE_AT_MOST, "\n".join(late)


def test_importing_anything_but_the_plugin_and_the_checks_loads_no_pytest() -> None:
    # One process for all: the first that loads it is found.
    code = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
    if {"pytest", "_pytest"} & set(sys.modules):
        sys.exit(name)
"""
    done = subprocess.run([sys.executable, "-c", code, json.dumps(PURE)], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", SOURCES)
def test_no_module_uses_pytests_private_ones(name: str) -> None:
    tree = ast.parse(SOURCES[name].read_text(encoding="utf-8"))
    modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not {module for module in modules if module.split(".")[0] == "_pytest"}
