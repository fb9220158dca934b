"""Where a store is: a folder, or what fsspec reaches by a URL."""

from importlib import import_module
from pathlib import Path

from gitleaks_eval.core.documents import named_path
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.engine.fleet.store import Files, Folder


def files_at(named: str | None, base: Path, default: Path) -> Files:
    """Return the files of a store, at a path or URL that the user named, else in the folder `default`.

    Raises:
        InputError: when it cannot be used.
    """
    if not named:
        return Folder(default)
    if "://" in named:
        return _files_by_fsspec(named)
    path = named_path(named, base, "--store")
    if path.exists() and not path.is_dir():
        raise InputError(f"--store {named}: is a file; name a folder")
    return Folder(path)


def _files_by_fsspec(url: str) -> Files:
    try:
        # An extra: imported where it is asked for.
        module = import_module("gitleaks_eval.engine.fleet.store_url")
    except ModuleNotFoundError as error:
        if error.name != "fsspec":
            raise
        raise InputError("--store: a URL needs fsspec; pip install 'gitleaks-eval[store]'") from None
    files: Files = module.UrlFiles(url)
    return files
