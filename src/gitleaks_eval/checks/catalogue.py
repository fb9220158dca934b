"""The catalogue of the shipped checks, read from their sources: `python -m gitleaks_eval.checks` prints it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.core.resources import PACKAGE

CHECKS = PACKAGE / "checks"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A shipped check: its identity, what its mark says, the sentence that says when it passes, and its module."""

    check_id: str
    name: str
    critical: bool
    about: tuple[str, ...]
    passes_when: str
    module: str
    title: str


def catalogue(folder: Path = CHECKS) -> list[CatalogueEntry]:
    """Return every check that a folder ships, module by module; nothing is imported."""
    return [entry for path in sorted(folder.glob("test_*.py")) for entry in _entries(path)]


def as_markdown() -> str:
    """Return the catalogue as `docs/checks.md` holds it."""
    lines = ["# The shipped checks", "", "Made by `python -m gitleaks_eval.checks`; the sources are the truth."]
    lines += [
        "",
        "The failure of a *critical* one means a missed, wrong or unexpected secret. What one is *about* is what a",
        "comparison may explain its failure by: findings that differ, or speed, which decides nothing. The",
        "[Caldera envelope](glossary.md#envelope) is the JSON document that a scan becomes.",
    ]
    title = ""
    for entry in catalogue():
        if entry.title != title:
            title = entry.title
            lines += ["", f"## {title}", "", "| Id | Name | Passes when | Critical | About |", "|---|---|---|---|---|"]
        said = ("critical" if entry.critical else "-", ", ".join(entry.about) or "-")
        lines.append(f"| {' | '.join((entry.check_id, entry.name, entry.passes_when, *said))} |")
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
                    said = {
                        keyword.arg: ast.literal_eval(keyword.value)
                        for keyword in decorator.keywords
                        if keyword.arg in {"critical", "about"}
                    }
                    about = said.get("about") or ()
                    yield CatalogueEntry(
                        check_id=str(check_id),
                        name=str(name),
                        critical=bool(said.get("critical")),
                        about=(about,) if isinstance(about, str) else tuple(about),
                        passes_when=(ast.get_docstring(function) or "").partition("\n")[0],
                        module=path.name,
                        title=title,
                    )
