"""Built repositories, kept in the user's cache and reused while they are what was built."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from filelock import FileLock

from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.files import cache_folder
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.log import Readable, readable
from gitleaks_eval.scenarios.recipe import Recipe

MANIFEST = "manifest.json"
# In front of a manifest: the hash of the rest, in hex, and a line end.
DIGEST_BYTES = 65
# All that decides, beside the recipe, what a repository looks like and what is counted in it.
SOURCES = (
    "repositories/build.py",
    "repositories/git.py",
    "repositories/log.py",
    "scenarios/pattern.py",
    "scenarios/recipe.py",
    "scenarios/secrets.py",
)


@dataclass(frozen=True, slots=True)
class BuiltRepository:
    """A repository that stands on disk, and what git says is there to read in it."""

    path: Path
    readable: Readable


def built_repository(recipe: Recipe, source: str, kept_in: Path | None = None) -> BuiltRepository:
    """Return the repository of a recipe, from the cache if nothing in it has changed since it was built.

    With `kept_in` that folder is the cache: what no other run will ask for goes with the run.

    Raises:
        InputError: when the recipe contradicts itself; `source` names it.
        EvaluationError: when the cache cannot be written or git cannot read what was built.
    """
    folder = (kept_in or cache_folder() / "repositories") / _key(recipe)
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Nobody builds what another run is reading: it is looked at again inside the lock.
        with FileLock(folder.with_suffix(".lock")):
            return _unchanged(folder) or build_into(folder, recipe, source)
    except OSError as error:
        raise EvaluationError(
            f"{source}: the cache {folder.parent} cannot be used: {error.strerror or error}"
        ) from None


def build_into(folder: Path, recipe: Recipe, source: str) -> BuiltRepository:
    """Build a repository and its manifest beside `folder`, then rename: it is there whole or not at all.

    Raises:
        InputError: when the recipe contradicts itself.
        EvaluationError: when the folder cannot be written.
    """
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="build-", dir=folder.parent))
        try:
            build(recipe, scratch / "repository", source)
            there = readable(scratch / "repository")
            manifest = json.dumps({"files": _hashes(scratch / "repository"), "readable": asdict(there)}).encode()
            (scratch / MANIFEST).write_bytes(_digest(manifest) + manifest)
            _remove(folder)
            scratch.rename(folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise EvaluationError(
            f"{source}: its repository cannot be built in {folder.parent}: {error.strerror or error}"
        ) from None
    return BuiltRepository(folder / "repository", there)


def _unchanged(folder: Path) -> BuiltRepository | None:
    try:
        content = read_input(folder / MANIFEST)
        digest, document = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        # Only what we wrote is looked into: anything else may be broken in any way.
        if digest != _digest(document):
            return None
        manifest = json.loads(document)
        if manifest["files"] == _hashes(folder / "repository"):
            return BuiltRepository(folder / "repository", Readable(**manifest["readable"]))
    except OSError:
        pass
    return None


def _hashes(folder: Path) -> dict[str, str]:
    """Return the hash of each file.

    Raises:
        OSError: when one cannot be read, or is a link, a pipe or anything but a file.
    """
    hashes = {}
    folders = [""]
    while folders:
        above = folders.pop()
        with os.scandir(folder / above) as entries:
            for entry in entries:
                name = f"{above}/{entry.name}" if above else entry.name
                if entry.is_symlink():
                    raise OSError(errno.EINVAL, "it is a link", entry.path)
                if entry.is_dir():
                    folders.append(name)
                else:
                    hashes[name] = hashlib.sha256(read_input(Path(entry.path))).hexdigest()
    return hashes


def _remove(path: Path) -> None:
    """Remove what stands where a repository belongs: a folder, a file, a pipe or a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _digest(manifest: bytes) -> bytes:
    return hashlib.sha256(manifest).hexdigest().encode() + b"\n"


def _key(recipe: Recipe) -> str:
    return hashlib.sha256(_builder() + repr(recipe).encode("utf-8", "backslashreplace")).hexdigest()[:32]


@cache
def _builder() -> bytes:
    """Return the hash of each source that builds or counts, so that no repository of another version is reused."""
    return b"".join(hashlib.sha256((PACKAGE / name).read_bytes()).digest() for name in SOURCES)
