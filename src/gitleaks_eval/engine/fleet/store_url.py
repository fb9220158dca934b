"""A store at a URL, by fsspec, whatever it reaches: S3, GCS, Azure, SFTP, HTTP. It needs the extra `store`."""

from typing import Any

import fsspec

from gitleaks_eval.core.documents import LARGEST_JSON
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.sources import shown


class UrlFiles:
    """The files below a URL. What is half-written is no entry: each says the SHA-256 of what it holds.

    Raises:
        InputError: when there is no such kind of URL, or what it needs is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            self._files: Any
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
