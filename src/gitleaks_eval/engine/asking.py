"""What asks the scanner of a candidate about samples, with the configuration under test or with another."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.speed import cores_beside_others
from gitleaks_eval.coverage.subject import Asker, Findings
from gitleaks_eval.engine.session import Session
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.head import head_files
from gitleaks_eval.repositories.log import Readable
from gitleaks_eval.scanners.scan import Scan, Scanner, unread

LARGEST_SAMPLE = 1 << 20


def asker_of(session: Session, candidate: str, seed: str) -> Asker:
    """What asks the scanner of a candidate; its repositories stand in the private folder of the run.

    Raises:
        EvaluationError: when there is no scanner.
    """
    workbench = session.workbench(candidate)
    folder = workbench.folder / "samples"
    folder.mkdir(exist_ok=True)
    return Asker(scanning(workbench.scanner), folder, seed)


def scanning(scanner: Scanner) -> Callable[[BuiltRepository, Path | None], Findings]:
    """A scan of samples that is judged as any other."""

    def scan(repository: BuiltRepository, config: Path | None) -> Findings:
        there = scanner.to_read(repository)
        scanner_with = replace(scanner, config=config or scanner.config)
        done = scanner_with.scan(repository.path, cores=cores_beside_others(there.added_bytes))
        if problem := unread(done, _counted(done, there, repository)):
            raise EvaluationError(f"a scan of samples does not count: {problem}")
        return done.findings

    return scan


def _counted(scan: Scan, there: Readable, repository: BuiltRepository) -> Readable:
    """What a scan has to have counted: a scanner that tells no commits leaves out files that are allowed by path."""
    if scan.commits is not None or scan.files is not None:
        return there
    seen = {str(finding["File"]).replace("\\", "/") for finding in scan.findings}
    passed = sum(
        len(file.content)
        for file in head_files(repository.path, LARGEST_SAMPLE)
        if file.path.decode("utf-8", "replace") not in seen
    )
    return replace(
        there,
        added_bytes=max(1, there.added_bytes - passed),
        added_bytes_up_to_8_26=max(1, there.added_bytes_up_to_8_26 - passed),
    )
