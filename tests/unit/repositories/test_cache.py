"""A repository in the user's cache that is not what was built is built anew, whatever stands there."""

import ast
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.repositories import cache
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository
from gitleaks_eval.scenarios.recipe import parse_recipe

RECIPE = b"commits: [{message: m, author: A <a@example.com>, date: 2026-01-01, write: {a: text}}]"


def built() -> BuiltRepository:
    """The repository of the recipe, from the cache if it can be."""
    return built_repository(parse_recipe(RECIPE, "recipe"), "recipe")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the repository stands in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return built().path.parent


def instead(path: Path, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a file or folder."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(path)


def refs(folder: Path) -> Path:
    """The only branch of the repository."""
    return folder / "repository" / ".git" / "refs" / "heads" / "main"


DAMAGES: dict[str, Callable[[Path], object]] = {
    "manifest-empty": lambda folder: (folder / "manifest.json").write_bytes(b""),
    "manifest-cut": lambda folder: os.truncate(folder / "manifest.json", 200),
    "manifest-deep": lambda folder: (folder / "manifest.json").write_bytes(b"[" * 100_000),
    "manifest-binary": lambda folder: (folder / "manifest.json").write_bytes(b"\0\xff" * 100),
    "manifest-of-other-types": lambda folder: (folder / "manifest.json").write_text('{"files": {}, "readable": []}'),
    "manifest-pipe": lambda folder: instead(folder / "manifest.json", os.mkfifo),
    "manifest-folder": lambda folder: instead(folder / "manifest.json", Path.mkdir),
    "branch-pipe": lambda folder: instead(refs(folder), os.mkfifo),
    "more-pipe": lambda folder: os.mkfifo(folder / "repository" / "pipe"),
    "more-link": lambda folder: (folder / "repository" / "link").symlink_to("/"),
    "repository-file": lambda folder: instead(folder / "repository", Path.touch),
    "all-file": lambda folder: instead(folder, Path.touch),
    "all-pipe": lambda folder: instead(folder, os.mkfifo),
    "all-link": lambda folder: instead(folder, lambda path: path.symlink_to("nowhere")),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_does_not_verify_is_built_anew(damage: Callable[[Path], object], folder: Path) -> None:
    branch, manifest = refs(folder).read_bytes(), (folder / "manifest.json").read_bytes()
    there = built().readable
    damage(folder)
    again = built()
    assert again.path.parent == folder
    assert again.readable == there
    assert refs(folder).read_bytes() == branch
    assert (folder / "manifest.json").read_bytes() == manifest
    assert not (folder / "repository" / "pipe").exists()
    assert not (folder / "repository" / "link").is_symlink()


def test_what_verifies_is_not_built_anew(folder: Path) -> None:
    inode = refs(folder).stat().st_ino
    built()
    assert refs(folder).stat().st_ino == inode


def imported(source: str) -> set[str]:
    """The sources of the package, but for those of its core, that a source imports."""
    tree = ast.parse((PACKAGE / source).read_bytes())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        f"{module.removeprefix('gitleaks_eval.').replace('.', '/')}.py"
        for module in modules
        if module.startswith("gitleaks_eval.") and not module.startswith("gitleaks_eval.core.")
    }


def test_the_key_is_made_of_every_source_that_builds_or_counts() -> None:
    sources, new = set(), {"repositories/build.py", "repositories/log.py"}
    while new:
        sources |= new
        new = set().union(*map(imported, new)) - sources
    assert sources == set(cache.SOURCES)


@pytest.mark.parametrize("source", cache.SOURCES)
def test_a_repository_that_another_version_of_a_source_built_or_counted_is_not_reused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    for name in cache.SOURCES:
        copy = tmp_path / "package" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, copy)
    monkeypatch.setattr(cache, "PACKAGE", tmp_path / "package")
    cache._builder.cache_clear()
    assert built().path.parent == folder
    with (tmp_path / "package" / source).open("a") as file:
        file.write("# changed\n")
    cache._builder.cache_clear()
    assert built().path.parent != folder
    cache._builder.cache_clear()
