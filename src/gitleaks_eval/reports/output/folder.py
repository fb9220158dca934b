"""The folder of the reports: a marker file says that it is ours, and links are not followed."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.files import READABLE, staged, write_atomically
from gitleaks_eval.reports.output.report import report_named

MARKER = ".gitleaks-eval-reports"
# Earlier checkouts kept a list of their reports instead.
FORMER_MARKER = ".gitleaks-eval-manifest.json"
MARK = b"This folder holds reports of gitleaks-eval: each run removes the earlier ones.\n"
IGNORE = b"# Made by gitleaks-eval: reports are not for version control.\n*\n"
RESULTS, PARTIAL = "gitleaks-eval-results", "partial"
ELSEWHERE = "name another folder with --gitleaks-output"


def is_partial(name: str) -> bool:
    """Return whether this is a report of a partial run."""
    return PARTIAL in name.split("/")[:-1]


def is_any(_name: str) -> bool:
    """Return True: every report."""
    return True


@dataclass(frozen=True, slots=True)
class ReportFolder:
    """The output folder (absolute, without `..`).

    Below `root` a branch under review may have put links; `reads` are the files and folders that the run reads: it
    neither removes nor replaces them. In a folder of ours all files are ours that have the name of a report.
    """

    path: Path
    root: Path
    reads: tuple[Path, ...] = ()

    def refuse_foreign(self) -> None:
        """Refuse a folder that is or holds a link, lies behind one below the root, or is somebody else's.

        Raises:
            InputError: saying which.
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
        is_ours = any((self.path / name).is_file() for name in (MARKER, FORMER_MARKER))
        if self.path.exists() and not is_ours and (other := self._other()):
            raise InputError(
                f"--gitleaks-output {self.path}: the folder holds {other.name}, and gitleaks-eval did not make it; "
                f"remove it, or {ELSEWHERE}"
            )

    def forget(self, removes: Callable[[str], bool]) -> None:
        """Remove what earlier runs wrote and this one does not read.

        Raises:
            InputError: for a link, or a folder of somebody else's.
            OSError: when the folder cannot be written to.
        """
        self.refuse_foreign()
        if self.path.exists():
            write_atomically(self.path / MARKER, MARK)
            (self.path / FORMER_MARKER).unlink(missing_ok=True)
            self._remove(self._reports(removes))

    def make(self) -> None:
        """Make the folder, with a marker; a new one gets a `.gitignore`.

        Raises:
            InputError: as `forget`.
            OSError: when it cannot be written to.
        """
        self.refuse_foreign()
        if not (self.path / MARKER).exists():
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path / MARKER, MARK)
            write_atomically(self.path / ".gitignore", IGNORE)

    def refuse_read(self, names: Iterable[str]) -> None:
        """Refuse names that the run would write to and reads.

        Raises:
            InputError: naming the first.
        """
        if read := next((name for name in names if self.is_read(self.path / name)), None):
            raise InputError(f"{self.path / read}: this run would write over it; keep a copy elsewhere, or {ELSEWHERE}")

    def publish(self, files: Iterable[tuple[str, Iterable[bytes]]], removes: Callable[[str], bool]) -> None:
        """Write all reports or none, and remove earlier ones that this run did not write anew.

        Args:
            files: each name with the pieces of its content, made when it is written.
            removes: which of the earlier reports.

        Raises:
            InputError: for a link, a folder of somebody else's, or a file that the run reads.
            OSError: when a file cannot be written.
        """
        self.make()
        names: set[str] = set()

        def placed() -> Iterator[tuple[Path, Iterable[bytes]]]:
            for name, pieces in files:
                self.refuse_read([name])
                names.add(name)
                yield self.path / name, pieces

        try:
            with staged(placed(), self._mode_of) as ready:
                self._remove(name for name in self._reports(removes) if name not in names)
                for path, temporary in ready.items():
                    temporary.replace(path)
        finally:
            self._prune(names)

    def is_read(self, path: Path) -> bool:
        """Return whether the run reads this file, by whatever name."""
        if not self.reads:
            return False
        place = path.resolve()
        return any(read in (place, *place.parents) for read in map(Path.resolve, self.reads))

    def _other(self) -> Path | None:
        return next((path for path in sorted(self.path.iterdir()) if not self.is_read(path)), None)

    def _reports(self, removes: Callable[[str], bool]) -> list[str]:
        """Return the names of the reports that are there, but those that the run reads."""
        found = []
        for path in self.path.rglob("*"):
            name = path.relative_to(self.path).as_posix()
            if path.is_file() and report_named(name) and removes(name) and not self.is_read(path):
                found.append(name)
        return found

    def _remove(self, names: Iterable[str]) -> None:
        names = list(names)
        for name in names:
            (self.path / name).unlink(missing_ok=True)
        self._prune(names)

    def _mode_of(self, path: Path) -> int:
        report = report_named(path.relative_to(self.path).as_posix())
        return 0o600 if report and report.private else READABLE

    def _prune(self, names: Iterable[str]) -> None:
        """Remove the folders of these files that are empty."""
        folders = {self.path / folder for name in names for folder in list(Path(name).parents)[:-1]}
        for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()


@contextlib.contextmanager
def naming_output(reports: ReportFolder) -> Iterator[None]:
    """Name the option where the folder of the reports cannot be written.

    Raises:
        InputError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        raise InputError(
            f"--gitleaks-output {reports.path}: cannot be written to: {error.strerror or error}; {ELSEWHERE}"
        ) from None


@contextlib.contextmanager
def streamed(folder: ReportFolder, report: str) -> Iterator[Callable[[bytes], object]]:
    """Open a function that adds a line to `a.jsonl.partial` beside the report `a.jsonl`, which is gone at the end.

    A file that a killed run has left is replaced.

    Raises:
        OSError: when it cannot be written.
    """
    path = folder.path / f"{report}.partial"
    path.unlink(missing_ok=True)
    with path.open("xb", buffering=0) as file:
        try:
            yield file.write
        finally:
            path.unlink(missing_ok=True)


def link_on_the_way(path: Path, root: Path) -> Path | None:
    """Return the first link among a path and the folders above it that are below the root."""
    roots = {root, root.resolve()}
    above = [folder for folder in path.parents if roots.intersection(folder.parents)]
    return next((place for place in (*reversed(above), path) if place.is_symlink()), None)


def _links(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_symlink())
