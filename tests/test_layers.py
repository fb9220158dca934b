"""The house: packages on floors, arrows that point down, and a core that knows no pytest.

`nox -s layers` shows the figures that these tests print.
"""

# ruff: noqa: T201 - as above

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from gitleaks_eval.core.documents import parse_toml
from gitleaks_eval.core.resources import PACKAGE

ROOT = Path(__file__).parents[1]
FLOORS_AT_MOST = 8
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


def test_packages_import_only_what_lies_on_lower_floors(capsys: pytest.CaptureFixture[str]) -> None:
    broken = lint_imports(str(ROOT / "pyproject.toml"), no_cache=True)
    shown = capsys.readouterr().out
    assert not broken, shown
    contract, *_ = parse_toml((ROOT / "pyproject.toml").read_bytes())["tool"]["importlinter"]["contracts"]
    print(f"{len(contract['layers'])} floors of packages (at most {FLOORS_AT_MOST})")
    assert len(contract["layers"]) <= FLOORS_AT_MOST


def test_modules_import_each_other_in_no_circle() -> None:
    graph = grimp.build_graph("gitleaks_eval", cache_dir=None)
    # The face imports nothing until a name is asked for.
    others = graph.modules - {"gitleaks_eval"}
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in others}).prepare()
    print(f"no circle among {len(others)} modules")


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
    print(f"{len(PURE)} of {len(SOURCES)} modules load no pytest")


def imported(tree: ast.Module) -> set[str]:
    modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return modules | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


def test_no_module_uses_pytests_private_ones() -> None:
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}
    used = {
        name: [module for module in imported(tree) if module.split(".")[0] == "_pytest"] for name, tree in trees.items()
    }
    assert {name: modules for name, modules in used.items() if modules} == {}
