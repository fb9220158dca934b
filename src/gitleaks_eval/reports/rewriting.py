"""A page that is written over another of ours, and over nothing else."""

from collections.abc import Iterable
from pathlib import Path

from gitleaks_eval.core.documents import checked_path, opened
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.reports.folder import MANIFEST, ReportFolder, link_on_the_way
from gitleaks_eval.reports.html import GENERATOR

# The mark stands in the head of a page, before any text of others.
_HEAD = 2048
_DEEPEST = 3


def write_page(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a page whole or not at all; what is there stays, unless it is a page of ours.

    Where a run has left a list of its reports beside it, the list names the page as it is then: the next run takes it
    for ours.

    Raises:
        InputError: when something else is there, a link is on the way, or it cannot be written.
    """
    checked_path(path, "--output")
    place = path.absolute()
    if link := link_on_the_way(place, Path.cwd()):
        raise InputError(f"{path}: {link} is a link, and nothing is written behind one; name another with --output")
    if place.exists() and not _is_ours(place):
        raise InputError(f"{path}: is there, and is no page of gitleaks-eval; name another with --output")
    try:
        folder = _listed_in(place)
        ReportFolder(folder, Path.cwd()).rewrite(place.relative_to(folder).as_posix(), pieces)
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"{path}: cannot be written: {problem}; name another with --output") from None


def _listed_in(place: Path) -> Path:
    """The folder whose run has listed its reports: those of a candidate, and of a part of one, stand below it."""
    return next((folder for folder in place.parents[:_DEEPEST] if (folder / MANIFEST).exists()), place.parent)


def _is_ours(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        with opened(path) as file:
            return GENERATOR.encode() in file.read(_HEAD)
    except OSError as error:
        raise unreadable("the page", path, error) from None
