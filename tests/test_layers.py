"""The house: packages on floors, arrows that point down, and a core that knows no pytest."""

import json
import subprocess
import sys

from gitleaks_eval.core.resources import PACKAGE

# Modules of tests, and of hooks, which pytest alone imports.
OF_PYTEST = {"plugin", "checks", "lint", "findings"}


def name_of(path_in_package: str) -> str:
    return ".".join(["gitleaks_eval", *path_in_package.removesuffix(".py").removesuffix("__init__").split("/")]).rstrip(
        "."
    )


MODULES = sorted(name_of(path.relative_to(PACKAGE).as_posix()) for path in PACKAGE.rglob("*.py"))
PURE = [
    name
    for name in SOURCES
    if name == "gitleaks_eval.checks.result"
    or ((name.split(".")[1:2] or [""])[0] not in OF_PYTEST and not name.rpartition(".")[2].startswith("test_"))
]


def test_importing_anything_but_the_plugin_and_the_checks_loads_no_pytest() -> None:
    # One process for all: a module that loads it is found by the first that finds it loaded.
    code = """
import importlib, json, sys
found = []
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
    if any(module.partition(".")[0] in ("pytest", "_pytest") for module in sys.modules):
        found.append(name)
        break
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", code, json.dumps(PURE)], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == []
    assert len(PURE) > 90
