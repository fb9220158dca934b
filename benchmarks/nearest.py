"""Which tests are near to a source file: named like it, a few imports away, and with the most rare words of it."""

import ast
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PACKAGE = "gitleaks_eval"


def nearest_tests(files: list[Path]) -> Callable[[Path], list[Path]]:
    """What lists the tests of a source file, the nearest first."""
    imports = {path: _imported(path, files) for path in files}
    tests = [path for path in files if path.name.startswith("test_") and path.parts[0] == "tests"]
    steps = {test: _steps(test, imports) for test in tests}
    words = {path: set(re.findall(r"[a-z]{4,}", _source(path).lower())) for path in files}
    known = Counter(word for test in tests for word in words[test])

    def nearest(source: Path) -> list[Path]:
        names = {source.stem.removeprefix("test_"), source.parent.name} - {PACKAGE, "__init__"}

        def distance(test: Path) -> tuple[int, int, float]:
            unlike = sum(name not in str(test) for name in names)
            kinship = sum(1 / known[word] for word in words[test] & words[source])
            return unlike, steps[test][source], -kinship

        return sorted((test for test in tests if source in steps[test]), key=distance)

    return nearest


def _source(path: Path) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def _imported(path: Path, files: list[Path]) -> set[Path]:
    """The files of the project that a file imports, or names in a text; a package stands for all in it."""
    text = _source(path)
    names = set(re.findall(rf"{PACKAGE}(?:\.\w+)+", text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    # A run under test begins with the plugin, which collects the tests that ship.
    runs = "pytester" in text
    names |= {f"{PACKAGE}.plugin"} if runs else set()
    collected = {file for file in files if runs and file.parts[0] == "src" and file.name.startswith("test_")}
    return collected | {file for file in files if any(_is_called(file, name) for name in names)} - {path}


def _is_called(file: Path, name: str) -> bool:
    dotted = "." + ".".join(file.with_suffix("").parts)
    package = dotted.rpartition(".")[0]
    return dotted.endswith(f".{name}") or (name != PACKAGE and package.endswith(f".{name}"))


def _steps(start: Path, imports: dict[Path, set[Path]]) -> dict[Path, int]:
    steps, edge = {start: 0}, [start]
    while edge:
        edge = sorted({file for path in edge for file in imports[path]} - steps.keys())
        steps |= dict.fromkeys(edge, max(steps.values()) + 1)
    return steps
