"""Our folder in the user's cache, and files that are written whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from platformdirs import user_cache_path

from gitleaks_eval.core.errors import EvaluationError


def cache_folder() -> Path:
    """Our folder in the user's cache, readable by the user alone (mode 0700).

    Raises:
        EvaluationError: when it cannot be made.
    """
    folder = user_cache_path("gitleaks-eval", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise EvaluationError(
            f"the cache {folder} cannot be made: {error.strerror}; set XDG_CACHE_HOME to a folder that can"
        ) from None
    return folder


# mkstemp's 0600 would hide reports from the other users of a CI machine.
READABLE = 0o644
ModeOf = Callable[[Path], int]


def write_atomically(path: Path, content: bytes, mode: int = READABLE) -> None:
    """Write a file whole or not at all: under another name first, then renamed."""
    write_together([(path, [content])], lambda _: mode)


def write_together(files: Iterable[tuple[Path, Iterable[bytes]]], mode_of: ModeOf = lambda _: READABLE) -> None:
    """Write all files, each from its pieces, under other names first: when one cannot be written, none is.

    `mode_of` gives the mode of each.

    Raises:
        OSError: when a file cannot be written.
    """
    with staged(files, mode_of) as ready:
        for path, temporary in ready.items():
            temporary.replace(path)


@contextlib.contextmanager
def staged(
    files: Iterable[tuple[Path, Iterable[bytes]]], mode_of: ModeOf = lambda _: READABLE
) -> Iterator[dict[Path, Path]]:
    """Files written under other names, by the paths that they are to have; those not renamed are removed at the end.

    Raises:
        OSError: when a file cannot be written.
    """
    ready: dict[Path, Path] = {}
    try:
        for path, pieces in files:
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder")
            # Renaming would put a file in the place of a device: root's /dev/null was lost so.
            if path.is_char_device() or path.is_block_device():
                raise FileExistsError(f"{path} is a device")
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
            ready[path] = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.writelines(pieces)
            ready[path].chmod(mode_of(path))
        yield ready
    finally:
        for temporary in ready.values():
            with contextlib.suppress(OSError):
                temporary.unlink()
