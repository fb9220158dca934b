"""Where a store is: a folder, or what fsspec reaches by a URL."""

from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import LARGEST_JSON, named_path
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.fleet.store import Files, Folder
from gitleaks_eval.repositories.sources import shown


def files_at(named: str | None, base: Path, default: Path) -> Files:
    """Return the files of a store, at a path or URL that the user named, else in the folder `default`.

    Raises:
        InputError: when it cannot be used.
    """
    if not named:
        return Folder(default)
    if "://" in named:
        return UrlFiles(named)
    path = named_path(named, base, "--store")
    if path.exists() and not path.is_dir():
        raise InputError(f"--store {named}: is a file; name a folder")
    return Folder(path)


class UrlFiles:
    """The files below a URL, by fsspec (the extra `store`): S3, GCS, Azure, SFTP, HTTP.

    An entry holds its SHA-256, so a file that was written in part is no entry.

    Raises:
        InputError: when there is no such kind of URL, or what it needs is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            import fsspec  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise InputError("--store: a URL needs fsspec; pip install 'gitleaks-eval[store]'") from None
        self._files: Any
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError, OSError) as error:
            raise InputError(f"--store {printable(shown(url))}: {printable(str(error))}") from None

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None where there is none that can be read."""
        try:
            with self._files.open(f"{self._root}/{name}", "rb") as file:
                content: bytes = file.read(LARGEST_JSON + 1)
        except Exception:  # noqa: BLE001 - each kind of storage has errors of its own; what cannot be read is made anew
            return None
        return content if len(content) <= LARGEST_JSON else None

    def write(self, name: str, content: bytes) -> None:
        """Write a file.

        Raises:
            OSError: when it cannot be written.
        """
        path = f"{self._root}/{name}"
        try:
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, content)
        except Exception as error:  # noqa: BLE001 - each kind of storage has errors of its own
            # Its words may quote the URL, which may hold a password.
            raise OSError(f"{type(error).__name__} at {shown(self._root)}") from None
