"""A scenario: what must be found (its ground truth) and where its recipe or its analysis stands."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import LARGEST_TEXT, named_path, read_json
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.scenarios.places import ANY_RULE, Places, Window

SUITES = ("core", "edge")
# The bound of what nobody has set a bound for.
UNBOUNDED = math.inf


@dataclass(frozen=True, slots=True)
class ExpectedFinding:
    """A secret that must be found: repository-relative path, rule id, 1-based line, and maybe a severity.

    Labels of others say less: any rule (`ANY_RULE`), the lines up to `last_line`, a file without a line (0), or a
    folder (a path that ends in `/`).
    """

    file_path: str
    rule_id: str
    line_number: int
    expected_severity: str | None = None
    last_line: int | None = None

    @property
    def window(self) -> Window:
        """Where a finding counts as this one."""
        return Window(self.file_path, self.line_number, self.last_line or self.line_number, self.rule_id)

    @property
    def is_loose(self) -> bool:
        """Whether it names less than a rule and a line of a file."""
        return self.rule_id == ANY_RULE or not self.line_number or self.last_line is not None or self.window.is_folder

    @property
    def fingerprint(self) -> str:
        """`file:rule:line`, as in the requirements (SA-10)."""
        return f"{self.file_path}:{self.rule_id}:{self.line_number}"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Bounds of the performance checks (SP-1 to SP-4), with the defaults of the requirements.

    Where one is `UNBOUNDED`, its check is not applicable.
    """

    max_scan_time_ms: float = 10_000
    max_ms_per_commit: float = 1_000
    max_ms_per_finding: float = 500
    max_findings_for_test: float = 100


@dataclass(frozen=True, slots=True)
class Expected:
    """The `expected` section of a ground truth; what the file leaves out is zero, empty or false.

    A count is None where the truth cannot know it (labels say nothing of values, a report nothing of HEAD):
    its check is not applicable. A truth that is `partial` knows some of the secrets: its numbers are the least.
    One that is `pinned` is about one commit of a repository, where no line moves.
    """

    total_secrets: int
    unique_secrets: int | None
    secrets_in_head: int | None
    secrets_in_history: int | None
    files_with_secrets: int | None
    commits_with_secrets: int | None
    rule_ids: tuple[str, ...] = ()
    files_with_secrets_list: tuple[str, ...] = ()
    secrets_by_rule: Mapping[str, int] = field(default_factory=dict)
    secrets_by_severity: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[ExpectedFinding, ...] = ()
    thresholds: Thresholds = Thresholds()
    max_scan_time_ms: float = 60_000
    is_empty_repo: bool = False
    has_large_files: bool = False
    has_binary_files: bool = False
    is_partial: bool = False
    is_pinned: bool = False

    def __repr__(self) -> str:
        """Short, because pytest shows fixtures in tracebacks."""
        return f"<Expected {self.total_secrets} secrets>"

    def paths(self) -> set[str]:
        """Return the paths that are named."""
        return {finding.file_path for finding in self.findings}.union(self.files_with_secrets_list)

    def shown_as(self, shown: Callable[[str], str]) -> "Expected":
        """Return the same with other texts for paths, in the same order."""
        return replace(
            self,
            files_with_secrets_list=tuple(map(shown, self.files_with_secrets_list)),
            findings=tuple(replace(finding, file_path=shown(finding.file_path)) for finding in self.findings),
        )


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a scenario from an external corpus is made of.

    `source` is the folder or git repository to scan, `how` says what becomes of it (`committed to a temporary
    repository`); of a git repository the whole history is scanned where the labels are about it (`has_history`), else
    HEAD. At a place in `clean` the labels say that nothing is to be found; at one in `tolerated` a finding is neither
    expected nor unexpected. `values` are the secrets that the truth knows, and the words of labelled lines that may be
    secrets: the scenario's `expected` names paths without them, `truth` is the same with its paths as they are. Truth
    about one commit of a repository names both, `repository` and `commit`; then `left_out` are its findings (commit,
    file, line, rule) that are neither expected nor unexpected.
    """

    kind: str
    source: Path
    how: str
    clean: Places = field(default_factory=Places)
    tolerated: Places = field(default_factory=Places)
    has_history: bool = False
    truth: Expected | None = field(default=None, repr=False)
    values: frozenset[str] = field(default=frozenset(), repr=False)
    repository: "RealRepository | None" = None
    commit: str = ""
    left_out: frozenset[tuple[str, str, int, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One repository to evaluate; `name` is the stem of its files.

    `recipe` builds its repository and `analysis` is its analysis in analysis mode; each path may name
    a file that is not there, which is an error of this scenario's checks only. Of a scenario with a `corpus`
    both files are the corpus itself.
    """

    name: str
    description: str
    expected: Expected
    ground_truth: Path
    recipe: Path
    analysis: Path | None = None
    corpus: Corpus | None = None

    def __repr__(self) -> str:
        """Short, because pytest shows fixtures in tracebacks."""
        return f"<Scenario {self.name}>"

    @property
    def truth(self) -> Expected:
        """What is expected, with paths as they are: to look things up by, never to be shown."""
        return self.corpus.truth if self.corpus and self.corpus.truth else self.expected

    def shown_as(self, shown: Callable[[str], str]) -> "Scenario":
        """Return the same with the paths of its truth, and of what it calls clean, shown so."""
        corpus = self.corpus
        if corpus:
            corpus = replace(corpus, clean=corpus.clean.shown_as(shown))
        return replace(self, expected=self.truth.shown_as(shown), corpus=corpus)


def load_scenarios(sources: Iterable[str], base: Path, analyses: Path | None = None) -> list[Scenario]:
    """Load the scenarios of each source: `core`, `edge`, or a folder (relative to `base`), sorted by name.

    A folder holds `ground_truth/<scenario>.json` and `synthetic_repos/<scenario>.yaml`, or both side by side.

    Raises:
        InputError: when a folder or a ground truth is missing, unreadable or invalid, when two scenarios
            have one name, or when there is no scenario at all.
    """
    scenarios: dict[str, Scenario] = {}
    problems: list[str] = []
    for source in dict.fromkeys(sources):
        truths, recipes = scenario_folders(source, base)
        for path in _ground_truths(truths, source):
            try:
                scenario = load_scenario(path, recipes, analyses)
            except InputError as error:
                problems += error.args
                continue
            if other := scenarios.get(scenario.name):
                problems.append(
                    f"two scenarios are named {scenario.name!r}: {other.ground_truth} and {path}; rename one"
                )
            scenarios[scenario.name] = scenario
    if problems:
        raise InputError(*problems[:20])
    if not scenarios:
        raise InputError("--gitleaks-scenarios: no scenario given; name `core`, `edge` or a folder")
    return [scenarios[name] for name in sorted(scenarios)]


def scenario_folders(source: str, base: Path) -> tuple[Path, Path]:
    """Return the folders of ground truths and of recipes that a source names.

    Raises:
        InputError: when it is neither a suite nor a folder.
    """
    if source in SUITES:
        within = "" if source == "core" else source
        return shipped_data("ground_truth") / within, shipped_data("synthetic_repos") / within
    folder = named_path(source, base, "--gitleaks-scenarios")
    if not folder.is_dir():
        wrong = "is not a folder" if folder.exists() else "does not exist"
        raise InputError(f"--gitleaks-scenarios {folder}: {wrong}; name `core`, `edge` or a folder of scenarios")
    truths = folder / "ground_truth"
    return (truths, folder / "synthetic_repos") if truths.is_dir() else (folder, folder)


def load_scenario(path: Path, recipes: Path, analyses: Path | None = None) -> Scenario:
    """Load one ground truth.

    Raises:
        InputError: when it cannot be read or does not follow the schema (with line and column, or JSON pointer).
    """
    name = path.stem
    if not name.isprintable() or set(name) & set("[]/\\"):
        raise InputError(f"ground truth {str(path)!r}: rename it: brackets and controls break test ids")
    document = read_json(path, "ground truth", LARGEST_TEXT)
    if problems := schema_problems("ground_truth", document):
        raise InputError(*(f"ground truth {path}: {problem}" for problem in problems[:5]))
    return Scenario(
        name=name,
        description=document.get("description", ""),
        expected=_expected(document),
        ground_truth=path,
        recipe=recipes / f"{name}.yaml",
        analysis=analyses / f"{name}.json" if analyses else None,
    )


def _ground_truths(folder: Path, source: str) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError as error:
        raise unreadable("--gitleaks-scenarios", folder, error) from None
    if not paths:
        raise InputError(f"--gitleaks-scenarios {source}: no ground truth (<scenario>.json) in {folder}")
    return paths


def _expected(document: Mapping[str, Any]) -> Expected:
    given = {name: value for name, value in document["expected"].items() if value is not None}
    known = {name: given[name] for name in Expected.__slots__ if name in given}
    known["rule_ids"] = tuple(given.get("rule_ids", ()))
    known["files_with_secrets_list"] = tuple(given.get("files_with_secrets_list", ()))
    known["findings"] = tuple(
        ExpectedFinding(
            finding["file_path"],
            finding["rule_id"],
            finding["line_number"],
            finding.get("expected_severity"),
        )
        for finding in given.get("findings", ())
    )
    known["thresholds"] = _thresholds(document.get("thresholds", {}), given.get("thresholds", {}))
    return Expected(**known)


def _thresholds(top_level: Mapping[str, float], expected: Mapping[str, float]) -> Thresholds:
    # Key by key: expected.thresholds, then the top-level ones of older files, then the default.
    merged = {**top_level, **expected}
    return Thresholds(**{name: merged[name] for name in Thresholds.__slots__ if name in merged})


@dataclass(frozen=True, slots=True)
class RealRepository:
    """A repository that the user named: its name in reports, what is shown of where it is, and where it really is.

    `location` may hold credentials; it goes to git and nowhere else.
    """

    name: str
    source: str
    location: str = field(repr=False)


def pool_notes(scenarios: Iterable[Scenario]) -> list[str]:
    """Return what is to be said of each truth that people have made of what candidates reported."""
    return [
        f"corpus  {scenario.name}  {scenario.corpus.how}"
        for scenario in scenarios
        if scenario.corpus and scenario.corpus.commit
    ]


def corpus_sha256(scenarios: Sequence[Scenario]) -> str:
    """Return one hash of all ground truths and recipes: reports with the same one are about the same truth."""
    digest = hashlib.sha256()
    for scenario in scenarios:
        for content in _truth(scenario):
            digest.update(hashlib.sha256(scenario.name.encode() + b"\0" + content).digest())
    return digest.hexdigest()


def _truth(scenario: Scenario) -> list[bytes]:
    if scenario.corpus:
        return [repr((scenario.expected.findings, scenario.corpus.kind)).encode("utf-8", "backslashreplace")]
    return [path.read_bytes() if path.is_file() else b"" for path in (scenario.ground_truth, scenario.recipe)]
