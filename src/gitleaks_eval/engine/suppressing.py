"""What a real repository brings along to hide findings, asked of one scanner without a run."""

from dataclasses import replace
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.core.text import printable
from gitleaks_eval.corpora.kinds.labels import files_about
from gitleaks_eval.corpora.labels_file import TRUE, read_labels
from gitleaks_eval.engine.alone import Alone
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.scanners.passed_over import unread_in
from gitleaks_eval.scanners.suppressions import Suppressions, suppressions
from gitleaks_eval.scenarios.masking import masks_of
from gitleaks_eval.scenarios.scenario import RealRepository


def suppressed_in(one: Alone, repository: RealRepository) -> Suppressions:
    """What HEAD of a repository suppresses, with what it hides of what the scanner finds; paths are masked.

    Raises:
        EvaluationError: when it cannot be cloned, or the scan does not count.
    """
    seconds = one.scanner.timeout_seconds
    with private_folder() as folder:
        path = clone(repository, folder, seconds).path
        built = BuiltRepository(path, readable(path, seconds))
        scan = one.scanner.scan(path, obey_allow=False)
        if problem := unread_in(one.scanner, scan, built):
            raise EvaluationError(f"the scan does not count: {printable(problem)}")
        there = suppressions(path, scan.findings, one.scanner.build, seconds, _labelled_true(repository, one.root))
    masks = masks_of({found.file_path for found in there.listed}, {str(found["Secret"]) for found in scan.findings})
    return replace(there, listed=tuple(replace(found, file_path=masks(found.file_path)) for found in there.listed))


def _labelled_true(repository: RealRepository, root: Path) -> frozenset[tuple[str, str, int, str]]:
    """The places of a repository that people have labelled as secrets, in files of labels of the project."""
    read = [read_labels(path).labels for path in files_about(repository, root)]
    return frozenset(one.place for labels in read if labels for one in labels.findings if one.label == TRUE)
