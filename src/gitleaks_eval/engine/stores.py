"""Where a store is: a folder, or what fsspec reaches by a URL."""

from pathlib import Path

from gitleaks_eval.core.documents import named_path
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.engine.store import Files, Folder


def files_at(named: str | None, base: Path, default: Path) -> Files:
    """The files of a store, at a path or URL that the user named, else in the folder `default`.

    Raises:
        InputError: when it cannot be used.
    """
    if not named:
        return Folder(default)
    if "://" in named:
        raise InputError("--store: is no folder")
    path = named_path(named, base, "--store")
    if path.exists() and not path.is_dir():
        raise InputError(f"--store {named}: is a file; name a folder")
    return Folder(path)
