"""What asks the scanner of a candidate about samples, with the configuration under test or with another."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scanners.limits import limits, with_limits
from gitleaks_eval.scanners.scan import Scanner, cores_beside_others
from gitleaks_eval.scanners.skipped_paths import unread_in


def sample_scanner_of(session: Session, candidate: str, seed: str, *, kept: bool = False) -> SampleScanner:
    """Return what asks the scanner of a candidate; its repositories stand in the private folder of the run.

    Those that are `kept` stand in the cache of the user.

    Raises:
        EvaluationError: when there is no scanner.
    """
    workbench = session.workbench(candidate)
    folder = workbench.folder / "samples"
    folder.mkdir(exist_ok=True)
    return SampleScanner(scanning(workbench.scanner), folder, seed, kept)


def scanning(scanner: Scanner) -> Callable[[BuiltRepository, Path | None], Findings]:
    """Return a scan of samples that is judged as any other.

    What options of git log leave out is measured on places: a rule is not silent for them.
    """
    of_rules = [limit for limit in limits(scanner.args) if not limit.of_log]
    scanner = replace(scanner, args=with_limits(scanner.args, of_rules))

    def scan(repository: BuiltRepository, config: Path | None) -> Findings:
        there = scanner.to_read(repository)
        scanner_with = replace(scanner, config=config or scanner.config)
        done = scanner_with.scan(repository.path, cores=cores_beside_others(there.added_bytes))
        if problem := unread_in(scanner_with, done, repository, there):
            raise EvaluationError(f"a scan of samples does not count: {problem}")
        return done.findings

    return scan
