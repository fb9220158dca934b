"""What a real repository brings along to hide findings, asked of one scanner without a run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError, InputError, unreadable
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.core.text import printable
from gitleaks_eval.corpora.kinds.labels import true_places
from gitleaks_eval.engine.session.single_candidate import SingleCandidate
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.repositories.sources import local_path
from gitleaks_eval.scanners.skipped_paths import unread_in
from gitleaks_eval.scanners.suppressions import LARGEST_FILE, Suppression, Suppressions, Told, suppressions
from gitleaks_eval.scenarios.redaction import masks_of
from gitleaks_eval.scenarios.scenario import RealRepository


def suppressed_in(
    single_candidate: SingleCandidate, repository: RealRepository, baselines: Sequence[str] = ()
) -> Suppressions:
    """Return what HEAD of a repository suppresses, with what it hides of what the scanner finds; paths are masked.

    `baselines` are files of known findings in it.

    Raises:
        EvaluationError: when it cannot be cloned, the scan does not count, or a baseline is none.
    """
    seconds = single_candidate.scanner.timeout_seconds
    with private_folder() as folder:
        path = clone(repository, folder, seconds, at_most=single_candidate.clone_bytes).path
        built = BuiltRepository(path, readable(path, seconds))
        scan = single_candidate.scanner.scan(path, obey_allow=False)
        if problem := unread_in(single_candidate.scanner, scan, built):
            raise EvaluationError(f"the scan does not count: {printable(problem)}")
        told = Told(true_places(repository, single_candidate.root), baselines)
        there = suppressions(path, scan.findings, single_candidate.scanner.build, seconds, told)
    masks = masks_of({found.file_path for found in there.listed}, {str(found["Secret"]) for found in scan.findings})
    return replace(there, listed=tuple(replace(found, file_path=masks(found.file_path)) for found in there.listed))


def mended_ignore_list(repository: RealRepository, renamed: Sequence[Suppression]) -> tuple[Path, int]:
    """Add to the ignore list of a local repository the replacements of renamed entries; each entry stays, for others.

    Returns:
        The file, and how many lines were added; lines that it has already are not.

    Raises:
        InputError: when the repository is none of this machine, or its ignore list cannot be read or written.
    """
    folder = local_path(repository.location)
    if folder is None:
        raise InputError(f"--fix: {repository.source} is no folder of this machine; clone it, and name the clone")
    path = folder / renamed[0].file_path
    try:
        lines = read_input(path, LARGEST_FILE).decode("utf-8", "surrogateescape").split("\n")
    except OSError as error:
        raise unreadable("--fix", path, error) from None
    while lines and not lines[-1]:
        lines.pop()
    there = {line.strip() for line in lines}
    added = [one.replacement for one in renamed if one.replacement not in there]
    content = "\n".join([*lines, *added, ""]).encode("utf-8", "surrogateescape")
    try:
        write_atomically(path, content, path.stat().st_mode & 0o777)
    except OSError as error:
        raise InputError(f"--fix: {path}: cannot be written: {error.strerror or error}") from None
    return path, len(added)
