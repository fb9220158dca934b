"""What asks a scanner: about samples, with the configuration under test or with another."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.layers import Layers, with_rule, write_layers
from gitleaks_eval.coverage.samples.repository import SOURCE, build_samples, canary_rule, samples_recipe, sees_canary
from gitleaks_eval.coverage.samples.samples import Sample
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository

Findings = Sequence[Mapping[str, Any]]
# Scans a repository with the configuration of this file, None for the one under test; it judges the scan as well.
Scan = Callable[[BuiltRepository, Path | None], Findings]


@dataclass(slots=True)
class SampleScanner:
    """Builds repositories of samples in a private folder, and has them scanned with changed configurations.

    `scans` counts the scans. What is `kept` stands in the cache of the user.
    """

    scan: Scan
    folder: Path
    seed: str
    kept: bool = False
    scans: int = field(default=0, init=False)

    def built(self, samples: Sequence[Sample]) -> BuiltRepository:
        """The repository of these samples."""
        if self.kept:
            return built_repository(samples_recipe(samples, self.seed), SOURCE)
        return build_samples(Path(tempfile.mkdtemp(prefix="samples-", dir=self.folder)) / "built", samples, self.seed)

    def under_test(self, repository: BuiltRepository) -> Findings:
        """What is found with the configuration under test, as it is."""
        self.scans += 1
        return self.scan(repository, None)

    def changed(self, repository: BuiltRepository, layers: Layers, *, canary_may_hide: bool = False) -> Findings:
        """What is found with other layers, and with a rule of ours that vouches for the scan.

        Raises:
            EvaluationError: when the scan fails, or does not find our file and nothing in the layers may hide it.
        """
        with tempfile.TemporaryDirectory(prefix="config-", dir=self.folder) as folder:
            self.scans += 1
            findings = self.scan(repository, write_layers(with_rule(layers, canary_rule()), Path(folder)))
        if not sees_canary(findings) and not canary_may_hide:
            raise EvaluationError("a scan of samples did not find the file that vouches for it")
        return findings
