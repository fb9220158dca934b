"""What the processes of one run share: benches, and where each leaves its products."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.core.sharing import product_of
from gitleaks_eval.repositories.clone import LARGEST_COPY
from gitleaks_eval.scanners.scan import Mode
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED


@dataclass(frozen=True, slots=True)
class Bench:
    """What all workers of a run share, in values that travel as JSON.

    `title` names scanner and configuration. With the `value_key` (hex, empty where nothing is compared) what is
    found in real repositories is hashed, so that candidates are compared by it. With `own` they are scanned with
    the configuration that they bring along; `production` says that they are scanned a second time, and all is obeyed
    that they hide findings with, a file of known ones (`own_baseline`) included.

    `folder` is private to the run, and `turns`, where scans of all candidates take turns. `scanner` is a
    `ScannerBuild`, or None when there is none: then `scanner_error` says why. Both are None when analyses are
    evaluated that exist. `seed` names the values that are planted, `project` the folder that has labels;
    `clone_bytes` is what a clone may take. Without `lists_suppressions` nobody is told what a repository hides. Who
    `owes_canary` counts its clean scans of repositories in `folder`, and has the canary found later. `config_files` are
    the files of the configuration as they are shown, whose copies stand beside `config`.
    """

    folder: str
    run_id: str
    scanner: dict[str, Any] | None
    scanner_error: str | None
    config: str
    timeout_seconds: float
    severity_policy: str
    title: str
    turns: str
    decode_depth: int | None = None
    mode: Mode = "git"
    seed: str = DEFAULT_SEED
    args: Sequence[str] = ()
    value_key: str = ""
    own: bool = False
    production: bool = False
    own_baseline: str = ""
    project: str = "."
    clone_bytes: int = LARGEST_COPY
    lists_suppressions: bool = True
    owes_canary: bool = False
    config_files: Sequence[str] = ()

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

    def as_json(self) -> str:
        """This value as JSON, for a parallel worker."""
        benches = {name: asdict(one) for name, one in self.benches.items()}
        return json.dumps({"folder": self.folder, "benches": benches, "seed": self.seed})

    @classmethod
    def from_json(cls, text: str) -> "Shared":
        """What the process that reports has shared."""
        document = json.loads(text)
        benches = {name: Bench(**bench) for name, bench in document["benches"].items()}
        return cls(document["folder"], benches, document["seed"])


def repository_path(folder: Path, name: str) -> Path:
    """Where the workers of a run leave what is known of a real repository beside its analysis."""
    return folder / "repositories" / f"{name}.json"


def analysis_path(folder: Path, name: str) -> Path:
    """Where the workers of a run leave the analysis of a scenario that they scanned."""
    return product_of(analysis_place(folder, name))


def analysis_place(folder: Path, name: str) -> Path:
    """The place for which that is made."""
    return folder / "analyses" / name


def reported_place(folder: Path, name: str) -> Path:
    """Where the workers of a run keep what a candidate reported of a subject, raw."""
    return folder / "reported" / name


def masks_place(bench: Bench, name: str) -> Path:
    """Where the workers of a run keep the masks of a subject, which all its candidates share."""
    return Path(bench.turns).parent / "masks" / name
