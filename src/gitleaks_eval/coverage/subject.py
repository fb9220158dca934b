"""What is looked at: a configuration as one build of a scanner reads it, and what asks that scanner."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.tables import Table
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.builtin import builtin_document
from gitleaks_eval.coverage.entries import Entry, entries_of
from gitleaks_eval.coverage.layers import Layers, layers_of, with_rule, write_layers
from gitleaks_eval.coverage.rules import Dialect, Effective, effective
from gitleaks_eval.coverage.sample_repository import SOURCE, build_samples, canary_rule, samples_recipe, sees_canary
from gitleaks_eval.coverage.samples import Sample
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository
from gitleaks_eval.scanners.build import ScannerBuild

Findings = Sequence[Mapping[str, Any]]
# Scans a repository with the configuration of this file, None for the one under test; it judges the scan as well.
Scan = Callable[[BuiltRepository, Path | None], Findings]


@dataclass(frozen=True)
class Subject:
    """A configuration, read: its layers, what is in force, and the scanner's own tables.

    `builtin_problem` says why the scanner's own rules are not known, empty when they are. Without slots, which
    would leave no room for what is found out once.
    """

    configuration: Configuration
    layers: Layers
    effective: Effective
    builtin: Table
    builtin_problem: str
    dialect: Dialect
    seed: str

    @property
    def entries(self) -> Sequence[Entry]:
        """The user's own entries, as `entries_of` has them."""
        return self.entries_read_by(self.dialect)

    def entries_read_by(self, dialect: Dialect) -> Sequence[Entry]:
        """The user's own entries that another version of the scanner reads."""
        if dialect not in self._entries:
            self._entries[dialect] = entries_of(self.layers, self.builtin, dialect)
        return self._entries[dialect]

    @cached_property
    def _entries(self) -> dict[Dialect, Sequence[Entry]]:
        # Each check that fails asks, and reading them takes as long as all else that it does.
        return {}


@lru_cache(maxsize=8)
def subject_of(configuration: Configuration, build: ScannerBuild, seed: str = "0") -> Subject:
    """Read a configuration as a build of a scanner does; `seed` names other samples."""
    problem = ""
    builtin: Table = {}
    try:
        builtin = builtin_document(Path(build.path), build.sha256)
    except EvaluationError as error:
        problem = str(error)
    dialect = Dialect(build.name, build.version)
    layers = layers_of(configuration, builtin)
    return Subject(configuration, layers, effective(layers, builtin, dialect), builtin, problem, dialect, seed)


@dataclass(slots=True)
class Asker:
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
