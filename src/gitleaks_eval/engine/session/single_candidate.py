"""One candidate without a run: its scanner and configuration found, to be asked a question or two."""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gitleaks_eval.config.chain import Configuration, copy_configuration
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig, effective_config_of
from gitleaks_eval.coverage.samples.scanner import SampleScanner
from gitleaks_eval.engine.scan.under_test import find_under_test
from gitleaks_eval.engine.session.sample_scanner import scanning
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.scanners.scan import Scanner
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED


@dataclass(frozen=True)
class SingleCandidate:
    """A scanner with the configuration under test, what asks it, and what both are called in a header."""

    configuration: Configuration
    scanner: Scanner
    sample_scanner: SampleScanner
    title: str
    root: Path
    clone_bytes: int

    @cached_property
    def subject(self) -> EffectiveConfig:
        """The configuration under test as the scanner reads it; its own rules are looked for when this is asked."""
        return effective_config_of(self.configuration, self.scanner.build, DEFAULT_SEED)


@contextmanager
def single_candidate(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> Iterator[SingleCandidate]:
    """Yield the one candidate of these settings; what it needs stands in a private folder, which is removed.

    Raises:
        InputError: when there are several candidates.
        EvaluationError: when there is no scanner.
    """
    if len(settings.candidates) > 1:
        raise InputError("there are several candidates; name one version and one configuration")
    (candidate,) = settings.candidates
    check_room()
    sweep()
    with private_folder() as folder:
        under_test = find_under_test(candidate, progress, folder)
        if under_test.build is None or candidate.configuration is None:
            raise EvaluationError(under_test.error or "there is no scanner")
        scratch = Path(tempfile.mkdtemp(prefix="alone-", dir=folder))
        try:
            scanner = Scanner(
                under_test.build,
                copy_configuration(candidate.configuration, folder),
                scratch,
                settings.timeout_seconds,
                threading.Event(),
                candidate.decode_depth,
                candidate.mode,
                candidate.args,
            )
            sample_scanner = SampleScanner(scanning(scanner), scratch, DEFAULT_SEED)
            title, root = under_test.title(settings.root), settings.root
            yield SingleCandidate(candidate.configuration, scanner, sample_scanner, title, root, settings.clone_bytes)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
