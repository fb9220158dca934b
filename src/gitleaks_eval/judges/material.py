"""What the judges of a run look at: facts about each scenario or repository, without a word of its authors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match, alias_of

SYNTHETIC, REAL_WORLD = "synthetic", "real_world"
MODES = (SYNTHETIC, REAL_WORLD)


@dataclass(frozen=True, slots=True)
class Facts:
    """One evaluated scenario, or one real repository, in numbers and places.

    `matches` are the findings, expected and reported, matched one to one; a real repository has none, as
    nothing is expected there. `unlisted_*` are counts for a ground truth that has a total and no list.
    `severities` are the findings that were found, exactly or moved, with the severity that is expected of them;
    `severities_expected` is how many are expected to have one.

    `failed_checks` are the critical checks that fail (synthetic), or those of the structural ones
    (real world). `sample` describes some findings, bounded: of a real repository by features, else by path, severity
    and what of the policy gives it. `hidden` says, by (file, line, rule), what hides a missed secret, and `lines`, by
    (file, line), the masked line that holds one; where they are not known they are empty.
    """

    name: str
    reported: int
    reported_rules: Mapping[str, int]
    reported_severities: Mapping[str, int]
    reported_history: int
    failed_checks: tuple[str, ...]
    expected: int = 0
    expected_rules: tuple[str, ...] = ()
    expected_history: int = 0
    matches: tuple[Match, ...] = ()
    severities_expected: int = 0
    severities: tuple[tuple[Match, str], ...] = ()
    unlisted_detected: int = 0
    unlisted_missed: int = 0
    unlisted_unexpected: int = 0
    sample: tuple[Mapping[str, Any], ...] = ()
    noisy: int = 0
    noisy_and_urgent: int = 0
    hidden: Mapping[tuple[str, int, str], str] = field(default_factory=dict)
    lines: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def found(self) -> int:
        """Return how many expected findings were found: exactly, moved or relabelled."""
        return sum(match.status in {EXACT, MOVED, RELABELLED} for match in self.matches) + self.unlisted_detected

    def count(self, status: str) -> int:
        """Return how many findings have this status."""
        unlisted = {
            EXACT: self.unlisted_detected,
            MISSED: self.unlisted_missed,
            UNEXPECTED: self.unlisted_unexpected,
        }
        return sum(match.status == status for match in self.matches) + unlisted.get(status, 0)

    def covered_rules(self) -> set[str]:
        """Return the expected rules that found a secret of theirs, moved or not; an alias of a rule is that rule."""
        return {match.rule_id for match in self.matches if match.status in {EXACT, MOVED} or _is_renamed(match)}

    def misplaced(self) -> list[Match]:
        """Return the unexpected findings on another line than one of their rule, or of an alias, in the same file."""
        wanted: dict[str, set[str]] = {}
        for match in self.matches:
            if match.status != UNEXPECTED:
                wanted.setdefault(match.file_path, set()).add(match.rule_id)
        return [
            match
            for match in self.matches
            if match.status == UNEXPECTED
            and any(match.rule_id == rule or alias_of(match.rule_id, rule) for rule in wanted.get(match.file_path, ()))
        ]

    def false_positives(self) -> list[Match]:
        """Return the unexpected findings that are not merely misplaced; the line of a relabelled one is expected."""
        misplaced = set(map(id, self.misplaced()))
        return [match for match in self.matches if match.status == UNEXPECTED and id(match) not in misplaced]

    def count_false_positives(self) -> int:
        """Return how many false positives there are, listed or not."""
        return len(self.false_positives()) + self.unlisted_unexpected

    def potential_false_positives(self) -> int:
        """Return how many more are reported than expected, or 0 (requirements, "Evidence collection")."""
        return max(0, self.reported - self.expected)


def _is_renamed(match: Match) -> bool:
    return match.status == RELABELLED and alias_of(match.rule_id, match.reported_rule_id or "")


@dataclass(frozen=True, slots=True)
class Material:
    """What a judge looks at in one mode: the facts, and the synthetic result as context.

    `baseline` is None in the synthetic mode, and where the synthetic scenarios could not be evaluated. `descriptions`
    are those of rules, by id, as the configuration has them; `coverage` is what the survey of rules and places says,
    None where none was made. The shipped judges are blind: they never show the `scanner`.
    """

    mode: str
    facts: tuple[Facts, ...]
    scanner: str
    baseline: Mapping[str, Any] | None = None
    descriptions: Mapping[str, str] = field(default_factory=dict)
    coverage: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        """Return a short text, because pytest shows fixtures in tracebacks."""
        return f"<Material of {len(self.facts)} in {self.mode} mode>"

    @property
    def reported(self) -> int:
        """How many findings were reported in all."""
        return sum(facts.reported for facts in self.facts)

    @property
    def expected(self) -> int:
        """How many findings are expected in all."""
        return sum(facts.expected for facts in self.facts)

    @property
    def failed_checks(self) -> list[str]:
        """The ids of the checks that fail somewhere, sorted: SA-7 before SA-10."""
        failed = {check for facts in self.facts for check in facts.failed_checks}
        return sorted(failed, key=lambda check: (check.partition("-")[0], len(check), check))
