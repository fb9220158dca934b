"""A comparison while tests run: which failures are as in the baseline, found from what all processes share."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitleaks_eval.analysis.matching import MISSED, Match, Matching
from gitleaks_eval.checks.outcome import Check, check_outcome
from gitleaks_eval.checks.result import Identity
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.engine.settings.candidates import Trial
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario
from gitleaks_eval.scoring.differences import Difference, Differences, find_differences
from gitleaks_eval.scoring.evaluated import CheckKey, Evaluated
from gitleaks_eval.scoring.expected_failures import AS_IN_BASELINE, TO_REVIEW, excuse


@dataclass(slots=True)
class Comparing:
    """The baseline, a candidate of this run (`name`) or a saved report, and what differs from it."""

    name: str
    saved: Evaluated | None
    accepts_review: bool
    workbenches: Mapping[str, Workbench]
    lost_by_obeying: Callable[[str, Scenario | RealRepository], Collection[Place]]
    _differences: dict[tuple[str, str], Differences] = field(default_factory=dict)

    def excuse(
        self,
        trial: Trial,
        identity: Identity,
        check: Check,
        parameters: Mapping[str, Any],
        *,
        accepted: Collection[Place] = (),
    ) -> str | None:
        """Return why a failed check, with parameters of its own, does not fail the comparison, else None.

        What is lost at the places that are `accepted` is no loss.
        """
        if self.is_baseline(trial):
            return AS_IN_BASELINE
        key = CheckKey(identity.check_id, trial.subject.name)
        try:
            outcomes = self._baseline_outcomes(trial, key, check, parameters)
            return excuse(self._different(trial, accepted), outcomes, key, identity.about, review=self.accepts_review)
        except EvaluationError:
            # There is nothing to compare with: it fails by itself.
            return None

    def excuse_finding(self, trial: Trial, match: Match | None, accepted: Collection[Place] = ()) -> str | None:
        """Return why the test of an expected finding, or of unexpected ones (None), does not fail the comparison."""
        if self.is_baseline(trial):
            return AS_IN_BASELINE
        try:
            theirs, ours = self._matching(self.name, trial), self._matching(trial.candidate, trial)
        except EvaluationError:
            return None
        different = self._different(trial, accepted)
        if match is not None:
            same = any(_is_alike(other, match) for other in theirs.matches)
        else:
            same = not different.new and not ours.unlisted_unexpected > theirs.unlisted_unexpected
        if same:
            return AS_IN_BASELINE
        regressing = different.regressing()
        is_lost = match is not None and match.status == MISSED and any(_is_at(one, match) for one in regressing)
        excused = self.accepts_review and not is_lost and trial.subject.name in different.to_review()
        return TO_REVIEW if excused else None

    def is_baseline(self, trial: Trial) -> bool:
        """Return whether the trial is of the baseline itself."""
        return self.saved is None and trial.candidate == self.name

    def _baseline_outcomes(
        self, trial: Trial, key: CheckKey, check: Check, parameters: Mapping[str, Any]
    ) -> Mapping[CheckKey, str]:
        if self.saved:
            # Of several with one id it is not known here which is which.
            return {} if key._replace(number=1) in self.saved.outcomes else self.saved.outcomes
        subject = trial.subject
        workbench = self.workbenches[self.name]
        expected = workbench.expected(subject) if isinstance(subject, Scenario) else None
        outcome = check_outcome(check, workbench.analysis(subject), expected, subject, parameters)
        return {key: outcome} if outcome else {}

    def _different(self, trial: Trial, accepted: Collection[Place]) -> Differences:
        name = trial.subject.name
        if (trial.candidate, name) not in self._differences:
            self._differences[trial.candidate, name] = (
                find_differences(
                    {name: self._matching(self.name, trial)}, {name: self._matching(trial.candidate, trial)}
                ).excusing({name: self.lost_by_obeying(trial.candidate, trial.subject)}, {name: accepted})
                if isinstance(trial.subject, Scenario)
                else Differences()
            )
        return self._differences[trial.candidate, name]

    def _matching(self, candidate: str, trial: Trial) -> Matching:
        if self.saved and candidate == self.name:
            matching = self.saved.matchings.get(trial.subject.name)
            if matching is None:
                raise EvaluationError(f"the baseline has no scenario {trial.subject.name}")
            return matching
        workbench = self.workbenches[candidate]
        workbench.analysis(trial.subject)
        return workbench.subjects[trial.subject.name].matching


def _is_at(difference: Difference, match: Match) -> bool:
    return (difference.file_path, difference.line_number, difference.rule_id) == (
        match.file_path,
        match.line_number,
        match.rule_id,
    )


def _is_alike(match: Match, other: Match) -> bool:
    same = ("status", "file_path", "line_number", "rule_id", "reported_rule_id", "reported_line_number")
    return all(getattr(match, name) == getattr(other, name) for name in same)
