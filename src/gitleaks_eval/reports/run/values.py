"""What the reports are about: one run, as values."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matched import MatchedScenario
from gitleaks_eval.analysis.matching import MISSED, MOVED, RELABELLED, UNEXPECTED, Match, Matching
from gitleaks_eval.analysis.metrics import Metrics, make_metrics
from gitleaks_eval.checks.result import FAILED, CheckResult
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.coverage.result import Coverage
from gitleaks_eval.judges.verdict import Combined, Judged
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import Scenario
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.scorecard import Scorecard


@dataclass(frozen=True, slots=True)
class RealEvaluation:
    """A real repository that was evaluated beside the scenarios: it enters no score and no decision.

    `left` has its commit, whether it is shallow, and its suppressions; `by_rule` and `by_severity` count its
    findings. All three are None, and `problem` says why, when it could not be evaluated. `findings` are those of its
    analysis, the most severe first.
    """

    name: str
    source: str
    results: Sequence[CheckResult]
    left: Mapping[str, Any] | None
    by_rule: Mapping[str, int] | None
    by_severity: Mapping[str, int] | None
    problem: str | None
    findings: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)  # no slots: what is computed once has its place in it
class Run:
    """A finished run: its results, what they amount to, and what produced them.

    `scanner` has the keys of the report's `scanner`; `generated_at` is ISO 8601 in UTC; `reasons` say why a
    run is incomplete or partial; `possible_checks` is how many there are, selected or not; `analyses` are the
    files that this run made, None when it evaluated files that were there. `repositories` are the real ones;
    `judged` and `combined` are None unless judges were asked; `judge_log` says whether their calls are logged.
    `hidden` says, by scenario and place, which entry of the configuration hides a missed finding;
    `lint` are the results of the tests of the configuration, outside every score. `only` names what was evaluated
    where other kinds were left out (`--gitleaks-only`): the decision is about that alone.
    `accepted` has by scenario the places of findings that are not as expected for accepted entries alone.
    `surveys` are the results of the tests of rules, places and entries, outside every score too; `coverage` is what
    they are about, None where none was asked for, or it is not known. `seed` named the values that were planted.
    `configuration` has the files under test, which are shown relative to `root`; None where analyses were there.
    `crashed` counts the scans that crashed, also where nothing needed them.
    `judge_context` is what judges are told beside the analyses, for those that run alone later.
    `narrowed` has by id each rule that finds less than with a baseline, and which.
    `other_failures` are the tests of the same session, by node id, that failed and are no checks.
    """

    results: Sequence[CheckResult]
    scenarios: Sequence[Scenario]
    subjects: Mapping[str, MatchedScenario]
    scorecard: Scorecard
    scanner: Mapping[str, Any]
    corpus_sha256: str
    generated_at: str
    possible_checks: int
    incomplete: bool
    partial: bool
    reasons: Sequence[str]
    by_scenario: Mapping[str, Sequence[CheckResult]]
    analyses: Mapping[str, Path] | None
    repositories: Sequence[RealEvaluation] = ()
    judged: Judged | None = None
    combined: Combined | None = None
    judge_log: bool = True
    hidden: dict[tuple[str, Place], str] = field(default_factory=dict)
    lint: Sequence[CheckResult] = ()
    only: Sequence[str] = ()
    surveys: Sequence[CheckResult] = ()
    accepted: Mapping[str, Collection[Place]] = field(default_factory=dict)
    coverage: Coverage | None = None
    seed: str = DEFAULT_SEED
    crashed: str = ""
    configuration: Configuration | None = None
    root: Path = Path()
    judge_context: Mapping[str, Any] | None = None
    other_failures: Sequence[str] = ()
    narrowed: Mapping[str, str] = field(default_factory=dict)

    def no_decision(self) -> str:
        """Return why there is no decision."""
        if self.partial:
            return "only a part of the checks was selected"
        return "nothing that was evaluated has a ground truth"

    def hidden_by(self, scenario: str, match: Match) -> str:
        """Return which entry of the configuration hides this missed finding; empty when that is not known."""
        return self.hidden.get((scenario, (match.file_path, match.line_number, match.rule_id)), "")

    def differences(self) -> Iterator[tuple[str, Match]]:
        """Return each finding that is not as expected and not accepted, with its scenario; the missed ones first."""
        return chain(self._with_status({MISSED}), self._with_status({MOVED, RELABELLED, UNEXPECTED}))

    def untold_failures(self) -> list[CheckResult]:
        """Return the failed checks that no listed finding stands for and nothing excuses."""
        told = {name for name, _ in self.differences()}
        return [
            result
            for result in self.results
            if result.outcome == FAILED and not result.excused and result.scenario not in told
        ]

    def count_differences(self) -> int:
        """Return how many findings are listed as not as expected."""
        card = self.scorecard.findings
        unlisted = sum(
            subject.matching.unlisted_missed + subject.matching.unlisted_unexpected
            for subject in self.subjects.values()
        )
        return card.moved + card.relabelled + card.missed + card.unexpected + card.unlabelled - unlisted

    @cached_property
    def planted_metrics(self) -> Metrics:
        """The metrics of the scenarios whose secrets are planted; those of corpora are never mixed with them."""
        return make_metrics(self._matchings(of_corpora=False))

    def corpora_metrics(self) -> Metrics | None:
        """Return the metrics of the corpora; None without one."""
        matchings = self._matchings(of_corpora=True)
        return make_metrics(matchings) if matchings else None

    @property
    def corpora(self) -> frozenset[str]:
        """The names of the scenarios that are from external corpora."""
        return frozenset(scenario.name for scenario in self.scenarios if scenario.corpus)

    def _matchings(self, *, of_corpora: bool) -> Mapping[str, Matching]:
        corpora = self.corpora
        return {name: one.matching for name, one in self.subjects.items() if (name in corpora) == of_corpora}

    def _with_status(self, statuses: Collection[str]) -> Iterator[tuple[str, Match]]:
        for name, subject in self.subjects.items():
            accepted = self.accepted.get(name, ())
            for match in subject.matching.matches:
                place = match.file_path, match.line_number, match.rule_id
                if match.status in statuses and place not in accepted:
                    yield name, match


def shown_name(name: str, run: Run) -> str:
    """Return the name of a candidate in reports; a single candidate has none and is named by its version."""
    return name or str(run.scanner["version"])
