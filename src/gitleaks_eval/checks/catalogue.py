"""The catalogue of the shipped checks, read from their sources: `python -m gitleaks_eval.catalogue` prints it."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.core.resources import PACKAGE

CHECKS = PACKAGE / "checks"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A shipped check: its identity, the sentence that says when it passes, and its module."""

    check_id: str
    name: str
    passes_when: str
    module: str
    title: str


def catalogue() -> list[CatalogueEntry]:
    """Every shipped check, module by module; nothing is imported."""
    return [entry for path in sorted(CHECKS.glob("test_*.py")) for entry in _entries(path)]


def as_markdown() -> str:
    """The catalogue as `docs/checks.md` holds it."""
    lines = ["# The shipped checks", "", "Made by `python -m gitleaks_eval.catalogue`; the sources are the truth."]
    title = ""
    for entry in catalogue():
        if entry.title != title:
            title = entry.title
            lines += ["", f"## {title}", "", "| Id | Name | Passes when |", "|---|---|---|"]
        lines.append(f"| {entry.check_id} | {entry.name} | {entry.passes_when} |")
    return "\n".join(lines) + "\n"


def _entries(path: Path) -> Iterator[CatalogueEntry]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    title = (ast.get_docstring(module) or "").partition(":")[0]
    for function in module.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(func=ast.Name(id="check"), args=[ast.Constant(value=check_id), ast.Constant(value=name)]):
                    text = (ast.get_docstring(function) or "").partition("\n")[0]
                    yield CatalogueEntry(str(check_id), str(name), text, path.name, title)


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
