"""The folder of the reports: what in it is ours, by a manifest of what we wrote, and everything else left alone."""

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.files import READABLE, cache_folder, staged, write_atomically
from gitleaks_eval.core.text import few
from gitleaks_eval.reports.report import report_named

MANIFEST = ".gitleaks-eval-manifest.json"
IGNORE = b"# Made by gitleaks-eval: reports are not for version control.\n*\n"
RESULTS, PARTIAL = "gitleaks-eval-results", "partial"
ELSEWHERE = "name another folder with --gitleaks-output"
# A hundred thousand reports.
_LARGEST_MANIFEST = 1 << 24
_LARGEST_REPORT = 1 << 31
_LOCK_SECONDS = 60
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Names relative to the folder, as POSIX paths, with the SHA-256 of what we wrote there.
Written = dict[str, str]


def is_report(name: str) -> bool:
    """Whether we may have written a file of this name (relative to the folder): a manifest may be anyone's."""
    if {"", ".", ".."}.intersection(name.split("/")) or "\0" in name or (os.sep != "/" and os.sep in name):
        return False
    return report_named(name) is not None


def is_partial(name: str) -> bool:
    """Whether this is a report of a partial run."""
    return PARTIAL in name.split("/")[:-1]


def is_any(_name: str) -> bool:
    """Every report."""
    return True


@dataclass(frozen=True, slots=True)
class ReportFolder:
    """The output folder (absolute, without `..`).

    Below `root` a branch under review may have put links; `reads` are the files and folders that the run reads.
    A file is ours while it has the content that the manifest says we wrote; no other is removed or replaced.
    """

    path: Path
    root: Path
    reads: tuple[Path, ...] = ()

    def refuse_links(self) -> None:
        """Refuse a folder that is a link, or lies behind one below the root, or holds one.

        Raises:
            InputError: when there is one.
            OSError: when a folder cannot be looked into.
        """
        link = link_on_the_way(self.path, self.root)
        if link is None and self.path.is_dir():
            link = next(_links(self.path), None)
        if link:
            raise InputError(
                f"--gitleaks-output {self.path}: {link} is a link, and nothing is written or removed behind one; "
                f"remove it, or {ELSEWHERE}"
            )

    def forget(self, removes: Callable[[str], bool]) -> None:
        """Remove what earlier runs wrote and this one does not read.

        Raises:
            InputError: for a link, or a manifest that is none of ours.
            OSError: when the folder cannot be written to.
        """
        self.refuse_links()
        if not self.path.exists():
            return
        with self._alone():
            intact = self._intact()
            self._settle(intact, {name for name in intact if removes(name)})

    def make(self) -> None:
        """Make the folder; a new or empty one gets a `.gitignore`, in another nothing must be ignored because of us.

        Raises:
            OSError: when it cannot be written to.
        """
        is_new = not self.path.exists() or not any(self.path.iterdir())
        self.path.mkdir(parents=True, exist_ok=True)
        if is_new:
            write_atomically(self.path / ".gitignore", IGNORE)

    def refuse_foreign(self, names: Iterable[str]) -> None:
        """Refuse names that the run would write to and that are somebody else's.

        Raises:
            InputError: naming them.
        """
        intact = self._intact()
        if foreign := [name for name in names if self._is_foreign(name, intact)]:
            raise InputError(self._foreign(foreign))

    def publish(self, files: Iterable[tuple[str, Iterable[bytes]]], removes: Callable[[str], bool]) -> None:
        """Write all reports or none, and remove earlier ones that this run did not write anew.

        Args:
            files: each name with the pieces of its content, made when it is written.
            removes: which of the earlier reports.

        Raises:
            InputError: for a link, or a file of such a name that is somebody else's.
            OSError: when a file cannot be written.
        """
        self.refuse_links()
        self.make()
        with self._alone():
            intact = self._intact()
            digests: dict[str, hashlib._Hash] = {}

            def placed() -> Iterator[tuple[Path, Iterable[bytes]]]:
                for name, pieces in files:
                    if not is_report(name):
                        raise ValueError(f"{name!r} is no name of a report: see is_report")
                    digests[name] = hashlib.sha256()
                    if self._is_foreign(name, intact):
                        raise InputError(self._foreign([name]))
                    yield self.path / name, _hashed(pieces, digests[name])

            try:
                with staged(placed(), self._mode_of) as ready:
                    # In this order a run that is killed in between leaves nothing that the next one takes for foreign.
                    written = {name: digest.hexdigest() for name, digest in digests.items()}
                    gone = {name for name in intact if name in written or removes(name)}
                    self._settle(intact, gone, written)
                    for path, temporary in ready.items():
                        temporary.replace(path)
            finally:
                self._prune(digests)

    def rewrite(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write one file anew; where a run has listed its reports here, as one of them.

        Raises:
            InputError: when that list is none of ours.
            OSError: when it cannot be written.
        """
        with self._alone():
            intact = self._intact()
            digest = hashlib.sha256()
            with staged([(self.path / name, _hashed(pieces, digest))]) as ready:
                if intact and is_report(name):
                    self._settle(intact, {name}.intersection(intact), {name: digest.hexdigest()})
                for path, temporary in ready.items():
                    temporary.replace(path)

    def is_read(self, path: Path) -> bool:
        """Whether the run reads this file, by whatever name."""
        if not self.reads:
            return False
        place = path.resolve()
        return any(read in (place, *place.parents) for read in map(Path.resolve, self.reads))

    def _settle(self, intact: Written, gone: Collection[str], written: Mapping[str, str] | None = None) -> None:
        """Remove these files of ours, but none that is read, and write the manifest of what there is then."""
        gone = {name for name in gone if not self.is_read(self.path / name)}
        for name in gone:
            (self.path / name).unlink(missing_ok=True)
        self._prune(gone)
        files = {**{name: digest for name, digest in intact.items() if name not in gone}, **(written or {})}
        text = json.dumps({"tool": "gitleaks-eval", "files": files}, indent=0, sort_keys=True) + "\n"
        write_atomically(self.path / MANIFEST, text.encode("ascii"))
        if not files:
            # It has shown that the folder can be written to.
            (self.path / MANIFEST).unlink()

    def _mode_of(self, path: Path) -> int:
        report = report_named(path.relative_to(self.path).as_posix())
        return 0o600 if report and report.private else READABLE

    def _intact(self) -> Written:
        """What we wrote, as far as it is still as we wrote it."""
        return {name: digest for name, digest in self._manifest().items() if _sha256(self.path / name) == digest}

    def _manifest(self) -> Written:
        path = self.path / MANIFEST
        try:
            files = json.loads(_bounded(path))["files"]
            listed = {name: digest for name, digest in files.items() if is_report(name) and _SHA256.fullmatch(digest)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise InputError(
                f"{path}: is no list of the files that gitleaks-eval wrote; "
                f"move what you want to keep out of that folder and remove it, or {ELSEWHERE}"
            ) from None
        return listed

    def _is_foreign(self, name: str, intact: Written) -> bool:
        path = self.path / name
        if any(os.path.lexists(folder) and not folder.is_dir() for folder in self._above(name)):
            return True
        return os.path.lexists(path) and (name not in intact or self.is_read(path))

    def _foreign(self, names: list[str]) -> str:
        read = [name for name in names if self.is_read(self.path / name)]
        if read:
            return f"{self.path / read[0]}: this run would write over it; keep a copy elsewhere, or {ELSEWHERE}"
        others = f" (and {few(names[1:])})" if len(names) > 1 else ""
        return (
            f"{self.path / names[0]}{others}: is in the way of a report, and is not, or no more, as gitleaks-eval "
            f"wrote it; move it away, or {ELSEWHERE}"
        )

    def _above(self, name: str) -> list[Path]:
        """The folders between ours and a file in it, the innermost first."""
        return [self.path / folder for folder in Path(name).parents][:-1]

    def _prune(self, names: Iterable[str]) -> None:
        """Remove the folders of these files that are empty."""
        folders = {folder for name in names for folder in self._above(name)}
        for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time changes the folder; without a cache of ours there is nowhere to agree on that."""
        try:
            locks = cache_folder() / "locks"
            locks.mkdir(exist_ok=True)
        except (OSError, EvaluationError):
            yield
            return
        with FileLock(locks / hashlib.sha256(os.fsencode(self.path)).hexdigest(), timeout=_LOCK_SECONDS):
            yield


def link_on_the_way(path: Path, root: Path) -> Path | None:
    """The first link among a path and the folders above it that are below the root."""
    roots = {root, root.resolve()}
    above = [folder for folder in path.parents if roots.intersection(folder.parents)]
    return next((place for place in (*reversed(above), path) if place.is_symlink()), None)


def _links(folder: Path) -> Iterator[Path]:
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)


def _bounded(path: Path) -> bytes:
    if path.lstat().st_size > _LARGEST_MANIFEST:
        raise ValueError(f"{path} is larger than any manifest")
    return read_input(path)


def _hashed(pieces: Iterable[bytes], digest: "hashlib._Hash") -> Iterator[bytes]:
    for piece in pieces:
        digest.update(piece)
        yield piece


def _sha256(path: Path) -> str | None:
    """The hash of a regular file, None where there is none, or it is larger than any report."""
    digest = hashlib.sha256()
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_REPORT:
                return None
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()
