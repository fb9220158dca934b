"""What is looked at: a configuration as one build of a scanner reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.tables import Table
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.coverage.configuration.entries import Entry, entries_of
from gitleaks_eval.coverage.configuration.layers import Layers, layers_of
from gitleaks_eval.coverage.configuration.rules import Dialect, Effective, effective
from gitleaks_eval.scanners.build import ScannerBuild


@dataclass(frozen=True)
class EffectiveConfig:
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
def effective_config_of(configuration: Configuration, build: ScannerBuild, seed: str = "0") -> EffectiveConfig:
    """Read a configuration as a build of a scanner does; `seed` names other samples."""
    problem = ""
    builtin: Table = {}
    try:
        builtin = builtin_document(Path(build.path), build.sha256)
    except EvaluationError as error:
        problem = str(error)
    dialect = Dialect(build.name, build.version)
    layers = layers_of(configuration, builtin)
    return EffectiveConfig(configuration, layers, effective(layers, builtin, dialect), builtin, problem, dialect, seed)
