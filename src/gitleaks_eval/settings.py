"""The options of the command line and their ini twins, read into one frozen value."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gitleaks_eval.candidates import Candidate, read_candidates
from gitleaks_eval.errors import InputError
from gitleaks_eval.gitleaks import ScannerChoice
from gitleaks_eval.input_file import read_json
from gitleaks_eval.root import Given, Root, given, refuse_beside
from gitleaks_eval.severity import SHIPPED_POLICY, load_policy

if TYPE_CHECKING:
    from gitleaks_eval.comparison import Evaluated

RESULTS = "gitleaks-eval-results"
ANALYSES = "analysis"
DEFAULT_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is about; every path is absolute and every input file has been looked at.

    The first of the `candidates` is the baseline, unless a saved report is. `accepts_review` says that what is
    to review does not fail a comparison.
    """

    root: Path
    candidates: tuple[Candidate, ...]
    baseline: "Evaluated | None"
    baseline_path: Path | None
    accepts_review: bool
    scenario_sources: tuple[str, ...]
    scenario_base: Path
    corpora: tuple[str, ...]
    corpus_base: Path
    analyses: Path | None
    output: Path
    timeout_seconds: float
    severity_policy: Path

    @property
    def compares(self) -> bool:
        """Whether there is something to compare with."""
        return len(self.candidates) > 1 or self.baseline is not None


def read_settings(root: Root, *, reads_reports: bool = False) -> Settings:
    """Read the settings from the command line, else from the ini file, else the defaults.

    With `reads_reports` nothing is scanned: unless others are named, the analyses are those that the last
    full run left with its reports, which may be of corpora too.

    Raises:
        InputError: when a value, or a file or folder that it names, is wrong on sight.
    """
    output, corpora = given(root, "output"), given(root, "corpus")
    reports = _output(output.path() if output else root.path / RESULTS)
    analyses = _analyses(given(root, "analysis"))
    if analyses:
        scanning = ("binary", "version", "config", "corpus")
        refuse_beside(root, "--gitleaks-analysis", "nothing is scanned", scanning)
        corpora = None
        if root.getoption("gitleaks_compare"):
            raise InputError(
                "--gitleaks-compare: nothing is scanned beside --gitleaks-analysis; leave one of the two out"
            )
    elif reads_reports:
        analyses = reports / ANALYSES
    scenarios = given(root, "scenarios")
    policy = given(root, "severity_policy", ini_only=True)
    if policy:
        load_policy(policy.path())
    candidates = (Candidate("", ScannerChoice(), None),) if analyses else read_candidates(root)
    saved = given(root, "baseline")
    baseline = _baseline(saved)
    if root.getoption("gitleaks_compare") and baseline is None and len(candidates) == 1:
        raise InputError(
            "--gitleaks-compare: one candidate alone is compared with nothing; "
            "write a second table, or name a saved report with --gitleaks-baseline"
        )
    if saved and len(candidates) > 1:
        _refuse_overwriting(saved, [reports / candidate.name for candidate in candidates])
    return Settings(
        root=root.path,
        candidates=candidates,
        baseline=baseline,
        baseline_path=saved.path() if saved else None,
        accepts_review=_accepts_review(given(root, "fail_on")),
        scenario_sources=tuple(scenarios.value) if scenarios else ("core",),
        scenario_base=scenarios.base if scenarios else root.path,
        corpora=tuple(corpora.value) if corpora else (),
        corpus_base=corpora.base if corpora else root.path,
        analyses=analyses,
        output=reports,
        timeout_seconds=_timeout(given(root, "scan_timeout")),
        severity_policy=policy.path() if policy else SHIPPED_POLICY,
    )


def _analyses(value: Given | None) -> Path | None:
    if value is None:
        return None
    folder = value.path()
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{value.named_by} {folder}: {wrong}; name a folder of <scenario>.json files")
    return folder


def _baseline(value: Given | None) -> "Evaluated | None":
    if value is None:
        return None
    from gitleaks_eval.comparison import evaluated_from_report  # noqa: PLC0415 - only where something is compared

    return evaluated_from_report(read_json(value.path(), f"{value.named_by}:"), str(value.value))


def _refuse_overwriting(saved: Given, folders: Iterable[Path]) -> None:
    # Else the next run would compare with this one, and a loss would be gone.
    path = saved.path().resolve()
    if path.parent in [folder.resolve() for folder in folders]:
        raise InputError(f"{saved.named_by} {saved.value}: this run would write over it; keep a copy elsewhere")


def _accepts_review(value: Given | None) -> bool:
    if value is None:
        return False
    if value.value not in {"review", "regression"}:
        raise InputError(f"{value.named_by} {value.value!r}: there are review and regression")
    return bool(value.value == "regression")


def _timeout(value: Given | None) -> float:
    if value is None:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        seconds = float(value.value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{value.named_by} {value.value!r}: not a number of seconds above zero")
    return seconds


def _output(folder: Path) -> Path:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"--gitleaks-output {folder}: {existing} is a file; name a folder")
    return folder
