"""What the processes of one run share: benches, and where each leaves its products."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.core.once import product_of
from gitleaks_eval.engine.scan.under_test import UnderTest
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.repositories.clone import LARGEST_COPY
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED


@dataclass(frozen=True, slots=True)
class Bench:
    """A candidate as all processes of a run evaluate it.

    `folder` is private to the candidate, and `turns`, where scans of all candidates take turns, to the run. `config` is
    the copy of its configuration in there; it is empty where analyses are evaluated that exist.

    `title` names scanner and configuration. With the `value_key` (hex, empty where nothing is compared) what is
    found in real repositories is hashed, so that candidates are compared by it. `production` says that they are scanned
    a second time, and all is obeyed that they hide findings with, a file of known ones included.

    `seed` names the values that are planted, `project` the folder that has labels;
    `clone_bytes` is what a clone may take. Without `lists_suppressions` nobody is told what a repository hides. Who
    """

    under_test: UnderTest
    folder: str
    run_id: str
    config: str
    timeout_seconds: float
    severity_policy: str
    title: str
    turns: str
    seed: str = DEFAULT_SEED
    value_key: str = ""
    production: bool = False
    project: str = "."
    clone_bytes: int = LARGEST_COPY
    lists_suppressions: bool = True

    @property
    def candidate(self) -> Candidate:
        """What is evaluated."""
        return self.under_test.candidate

    @property
    def build(self) -> ScannerBuild | None:
        """Its scanner, or None when there is none."""
        return self.under_test.build

    @property
    def own(self) -> bool:
        """Whether real repositories are scanned with the configuration that they bring along."""
        return self.candidate.configuration is not None and self.candidate.configuration.own

    @property
    def root(self) -> Path:
        """The private folder of the run, which all candidates share."""
        return Path(self.turns).parent

    @property
    def kept_in(self) -> Path | None:
        """Where built repositories are kept that only this run asks for; None for the cache of the user."""
        return None if self.seed == DEFAULT_SEED else self.root / "repositories"


@dataclass(frozen=True, slots=True)
class Shared:
    """What the processes of a run share: its private folder, the bench of each candidate by name, and the seed."""

    folder: str
    benches: Mapping[str, Bench]
    seed: str = DEFAULT_SEED


def repository_path(folder: Path, name: str) -> Path:
    """Return where the workers of a run leave what is known of a real repository beside its analysis."""
    return folder / "repositories" / f"{name}.json"


def analysis_path(folder: Path, name: str) -> Path:
    """Return where the workers of a run leave the analysis of a scenario that they scanned."""
    return product_of(analysis_place(folder, name))


def analysis_place(folder: Path, name: str) -> Path:
    """Return the place for which that is made."""
    return folder / "analyses" / name


def reported_place(folder: Path, name: str) -> Path:
    """Return where the workers of a run keep what a candidate reported of a subject, raw."""
    return folder / "reported" / name


def masks_place(bench: Bench, name: str) -> Path:
    """Return where the workers of a run keep the masks of a subject, which all its candidates share."""
    return Path(bench.turns).parent / "masks" / name
