"""The folder of the reports: ours, or one that others keep things in."""

from pathlib import Path

from gitleaks_eval.settings import RESULTS
from gitleaks_eval.sharing import write_atomically

IGNORE = b"# Made by gitleaks-eval: reports are not for version control.\n*\n"


def prepare_folder(folder: Path) -> None:
    """Make the folder of the reports, with a `.gitignore` of its own unless others keep something there.

    Raises:
        OSError: when it cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not is_ours(folder) and any(folder.iterdir()):
        # Somebody else's folder: all in it must not be ignored because of us.
        probe = folder / ".gitleaks-eval-writes-here"
        write_atomically(probe, b"")
        probe.unlink()
        return
    write_atomically(folder / ".gitignore", IGNORE)


def is_ours(folder: Path) -> bool:
    """Whether all in a folder is from us."""
    if folder.name == RESULTS:
        return True
    ignore = folder / ".gitignore"
    return ignore.is_file() and ignore.read_bytes() == IGNORE
