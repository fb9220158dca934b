"""The options of the command line and their ini twins, read into one frozen value."""

import math
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.severity import SHIPPED_POLICY, load_policy
from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Given, Root, given, refuse_beside
from gitleaks_eval.engine.settings.candidates import Candidate, read_candidates
from gitleaks_eval.engine.settings.selection import CORPORA, DEFAULT, REPOS, SCENARIOS, SURVEYS, read_kinds
from gitleaks_eval.reports.output.folder import (
    RESULTS,
    ReportFolder,
    is_any,
    is_partial,
    link_on_the_way,
    naming_output,
)
from gitleaks_eval.reports.output.report import ANALYSES, REPORT
from gitleaks_eval.scanners.build import ScannerChoice
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.baseline import evaluated_from_baseline, is_baseline, refuse_other_file
from gitleaks_eval.scoring.evaluated import Evaluated
from gitleaks_eval.scoring.saved import evaluated_from_report

DEFAULT_TIMEOUT_SECONDS = 300.0
DEFAULT_CLONE_GIB = 1.0
LARGEST_RANDOM_SEED = 10**9
REPEATED = {"version", "config", "args", "scenarios", "corpus", "real_repo"}
OPTIONS = {*REPEATED, "binary", "only", "seed", "analysis", "output", "scan_timeout", "real_repo_disk"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is about; every path is absolute and every input file has been looked at.

    The first of the `candidates` is the baseline, unless a saved report is. `accepts_review` says that what is
    to review does not fail a comparison; `strict`, that an entry that nobody accepted fails; `allows_unreadable`,
    that rules of the scanner that cannot be read do not fail the run. `kinds` names what is
    evaluated (see `selection.py`), `seed` the values that are planted.
    """

    root: Path
    candidates: tuple[Candidate, ...]
    baseline: Evaluated | None
    baseline_path: Path | None
    save_baseline: Path | None
    accepts_review: bool
    kinds: tuple[str, ...]
    seed: str
    strict: bool
    allows_unreadable: bool
    scenario_sources: tuple[str, ...]
    scenario_base: Path
    corpora: tuple[str, ...]
    corpus_base: Path
    real_repositories: Given | None
    analyses: Path | None
    reports: ReportFolder
    timeout_seconds: float
    clone_bytes: int
    severity_policy: Path

    @classmethod
    def of(cls, folder: Path | None = None, **options: Any) -> "Settings":
        """Build settings from options as the command line has them: `Settings.of(version="8.30.1", config="x.toml")`.

        Paths, and the configuration where none is named, are looked for from `folder` (the current one).

        Raises:
            InputError: when there is no such option, or a value, or a file that it names, is wrong on sight.
        """
        if unknown := sorted(options.keys() - OPTIONS):
            raise InputError(f"Settings.of: there is no option {unknown[0]!r}; there are {', '.join(sorted(OPTIONS))}")
        root = (folder or Path.cwd()).resolve()
        texts = {name: os.fspath(value) if isinstance(value, Path) else value for name, value in options.items()}
        values = {
            f"gitleaks_{name}": [value] if name in REPEATED and isinstance(value, str) else value
            for name, value in texts.items()
        }
        return read_settings(Root.of_options(values, root))

    def candidate(self, name: str) -> Candidate:
        """Return the candidate of this name."""
        return next(candidate for candidate in self.candidates if candidate.name == name)

    @property
    def output(self) -> Path:
        """Where the reports go."""
        return self.reports.path

    @property
    def compares(self) -> bool:
        """Whether there is something to compare with."""
        return len(self.candidates) > 1 or self.baseline is not None

    @property
    def only(self) -> tuple[str, ...]:
        """The kinds that are evaluated where some are left out that are evaluated by default; else empty."""
        return () if set(DEFAULT) <= set(self.kinds) else self.kinds

    @property
    def surveys(self) -> tuple[str, ...]:
        """What is asked of each scanner and its configuration: of `rules`, `places`, `entries`; a scan is needed."""
        return () if self.analyses is not None else tuple(kind for kind in self.kinds if kind in SURVEYS)


def read_settings(root: Root, *, reads_reports: bool = False) -> Settings:
    """Read the settings from the command line, else from the ini file, else the defaults.

    With `reads_reports` nothing is scanned: unless others are named, the analyses are those that the last
    full run left with its reports, which may be of corpora too.

    Raises:
        InputError: when a value, or a file or folder that it names, is wrong on sight.
    """
    kinds = read_kinds(root)
    reports, corpora = report_folder(root), given(root, "corpus") if CORPORA in kinds else None
    analyses = _analyses(given(root, "analysis"))
    if analyses:
        scanning = ("binary", "version", "config", "args", "corpus", "seed")
        refuse_beside(root, "--gitleaks-analysis", "nothing is scanned", scanning)
        corpora = None
        if root.getoption("gitleaks_compare"):
            raise InputError(
                "--gitleaks-compare: nothing is scanned beside --gitleaks-analysis; leave one of the two out"
            )
    elif reads_reports:
        others = ("binary", "version", "config", "args", "seed", "baseline", "save_baseline")
        refuse_beside(root, "--gitleaks-judges", "judges alone look at the last full run", others)
        analyses = reports.path / ANALYSES
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
    save = _save_baseline(root, candidates)
    if saved:
        _refuse_overwriting(
            saved, [reports.path / candidate.folder / REPORT for candidate in candidates if candidate.folder]
        )
    return Settings(
        root=root.path,
        candidates=candidates,
        baseline=baseline,
        baseline_path=saved.path() if saved else None,
        save_baseline=save,
        accepts_review=accepts_review(root),
        kinds=kinds,
        seed=_seed(given(root, "seed")),
        strict=_is_strict(given(root, "entries", ini_only=True)),
        allows_unreadable=bool(root.getoption("gitleaks_allow_unreadable_rules")),
        scenario_sources=_sources(scenarios) if SCENARIOS in kinds else (),
        scenario_base=scenarios.base if scenarios else root.path,
        corpora=tuple(corpora.value) if corpora else (),
        corpus_base=corpora.base if corpora else root.path,
        real_repositories=given(root, "real_repo") if REPOS in kinds else None,
        analyses=analyses,
        reports=reports,
        timeout_seconds=_above_zero(given(root, "scan_timeout"), DEFAULT_TIMEOUT_SECONDS, "seconds"),
        clone_bytes=int(_above_zero(given(root, "real_repo_disk"), DEFAULT_CLONE_GIB, "GiB") * (1 << 30)),
        severity_policy=policy.path() if policy else SHIPPED_POLICY,
    )


def report_folder(root: Root) -> ReportFolder:
    """Return where the reports go, and what the run reads that may be in there.

    Raises:
        InputError: when it is no folder.
    """
    output = given(root, "output")
    if output and not output.value:
        raise InputError(f"{output.named_by}: is empty; name a folder for the reports")
    folder = _absolute(output) if output else root.path / RESULTS
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"--gitleaks-output {folder}: {existing} is a file; name a folder")
    read = [value.path() for name in ("analysis", "baseline") if (value := given(root, name))]
    return ReportFolder(folder, root.path, tuple(read))


def begin_reports(root: Root, *, narrowed: bool) -> None:
    """Remove what earlier runs wrote; one that selects checks removes what earlier ones of its kind wrote.

    Raises:
        InputError: when the folder of the reports cannot be used.
    """
    is_full = root.getoption("gitleaks_eval")
    if not (is_full or root.getoption("gitleaks_judges")):
        return
    reports = report_folder(root)
    with naming_output(reports):
        if is_full:
            reports.forget(is_partial if narrowed else is_any)
        else:
            reports.refuse_foreign()


def _absolute(value: Given) -> Path:
    # As text, so that `..` behind a link leads where it seems to.
    return Path(os.path.abspath(value.path()))  # noqa: PTH100 - as said


def _sources(value: Given | None) -> tuple[str, ...]:
    return tuple(value.value) if value else ("core",)


def _analyses(value: Given | None) -> Path | None:
    if value is None:
        return None
    folder = value.path()
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"{value.named_by} {folder}: {wrong}; name a folder of <scenario>.json files")
    return folder


def _baseline(value: Given | None) -> Evaluated | None:
    if value is None:
        return None
    document = read_json(value.path(), f"{value.named_by}:")
    read = evaluated_from_baseline if is_baseline(document) else evaluated_from_report
    return read(document, str(value.value))


def _save_baseline(root: Root, candidates: Sequence[Candidate]) -> Path | None:
    value, compared = given(root, "save_baseline"), given(root, "baseline")
    if value is None:
        return None
    if not value.value:
        raise InputError(f"{value.named_by}: is empty; name a file for the baseline")
    path = _absolute(value)
    named = f"{value.named_by} {value.value}"
    if len(candidates) > 1:
        raise InputError(f"{named}: a baseline is of one candidate; name one version and configuration")
    if compared and compared.path().resolve() == path.resolve():
        raise InputError(f"{named}: this run reads it; save to another file, and replace it by hand")
    if link := link_on_the_way(path, root.path):
        raise InputError(f"{named}: {link} is a link, and nothing is written behind one; name another file")
    refuse_other_file(path, value.named_by)
    return path


def _refuse_overwriting(saved: Given, reports: Iterable[Path]) -> None:
    # Else the next run would compare with this one, and a loss would be gone.
    if saved.path().resolve() in [report.resolve() for report in reports]:
        raise InputError(f"{saved.named_by} {saved.value}: this run would write over it; keep a copy elsewhere")


def accepts_review(root: Root) -> bool:
    """Return whether what is to review does not fail a comparison.

    Raises:
        InputError: when the option has another value.
    """
    value = given(root, "fail_on")
    if value is None:
        return True
    if value.value not in {"review", "regression"}:
        raise InputError(f"{value.named_by} {value.value!r}: there are review and regression")
    return bool(value.value == "regression")


def _seed(value: Given | None) -> str:
    """Return a number without a sign, as text; `random` is one that nobody knows before."""
    if value is None:
        return DEFAULT_SEED
    named = str(value.value)
    if named == "random":
        return str(1 + secrets.randbelow(LARGEST_RANDOM_SEED))
    if not re.fullmatch("[0-9]{1,18}", named):
        raise InputError(f"{value.named_by} {named!r}: is neither random nor a number of at most 18 digits, such as 7")
    return str(int(named))


def _is_strict(value: Given | None) -> bool:
    if value is not None and value.value != "strict":
        raise InputError(f"{value.named_by} {value.value!r}: there is strict; leave it out for what is usual")
    return value is not None


def _above_zero(value: Given | None, default: float, unit: str) -> float:
    if value is None:
        return default
    try:
        number = float(value.value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(f"{value.named_by} {value.value!r}: not a number of {unit} above zero")
    return number
