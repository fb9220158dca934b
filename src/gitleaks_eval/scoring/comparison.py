"""What changes from one evaluated candidate to another, finding by finding, and whether it is safe. Pure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from operator import not_
from typing import Any, NamedTuple

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.config.eval_file import Upgrade
from gitleaks_eval.core.text import few
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scoring.differences import CheckChange, Difference, Differences, find_differences
from gitleaks_eval.scoring.evaluated import BADNESS, CheckKey, Evaluated
from gitleaks_eval.scoring.expected_failures import SPEED, explains, fails_by_loss
from gitleaks_eval.scoring.real_differences import Real
from gitleaks_eval.scoring.surveyed import Moves, moves

SAFE, REVIEW, REGRESSION, INCOMPLETE = "SAFE", "REVIEW", "REGRESSION", "INCOMPLETE"
NO_REAL = Real()
_KIND_TEXTS = {"severity_changed": "of another severity", "restored": "exact again"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A candidate against the baseline: what differs, exactly one verdict, and why it is that one.

    `time_ratio` is the candidate's scan time over the baseline's, None where one is unknown. A pair that is
    `neighbour` is of two candidates in a row, of which none is the baseline: it decides nothing.
    `moves` are rules, places and entries, where both were asked for them; `real` is what differs in real repositories.
    """

    baseline: str
    candidate: str
    verdict: str
    reasons: tuple[str, ...]
    differences: Differences
    checks_worse: tuple[CheckChange, ...]
    checks_better: tuple[CheckChange, ...]
    time_ratio: float | None = None
    neighbour: bool = False
    moves: Moves = field(default_factory=Moves)
    real: Real = field(default_factory=Real)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the scanners were asked beside, to hold a candidate against the baseline.

    `silent` are the baseline's rules whose samples the candidate no longer finds (None: not asked). `obeyed` says in a
    line what one of two versions obeys and the other ignores, and `lost_by_it` by scenario which planted secrets are
    lost for that alone. `accepted` are by scenario those that accepted entries alone hide, and `accepted_rules` the
    rules that are silent for these alone; `upgrades` are what people have accepted of the two. `problem` is why not
    all could be asked; then nothing is safe.
    """

    silent: Collection[str] | None = None
    obeyed: str = ""
    lost_by_it: Mapping[str, Collection[Place]] = field(default_factory=dict)
    problem: str = ""
    accepted: Mapping[str, Collection[Place]] = field(default_factory=dict)
    accepted_rules: Collection[str] = ()
    upgrades: tuple[Upgrade, ...] = ()


def compare(
    baseline: Evaluated,
    candidate: Evaluated,
    notes: Sequence[str] = (),
    asked: Asked = Asked(),
    real: Real = NO_REAL,
) -> Pair:
    """Compare two candidates in what both have; `notes` (see `comparability`) go to the reasons.

    A comparison with nothing in common is incomplete, never safe.
    """
    differences = find_differences(baseline.matchings, candidate.matchings).excusing(asked.lost_by_it, asked.accepted)
    worse, better = _changed_checks(baseline.outcomes, candidate.outcomes)
    both = baseline.surveyed and candidate.surveyed
    moved = (
        moves(baseline.surveyed, candidate.surveyed, asked.silent, asked.accepted_rules)  # type: ignore[arg-type]
        if both
        else Moves()
    )
    if not are_one_build(baseline, candidate):
        moved = replace(moved, upgrades=asked.upgrades)
    verdict, reasons = _judge(baseline, candidate, _Changed(differences, moved, real, asked.problem))
    reasons = [*[asked.obeyed] * bool(asked.obeyed), *reasons]
    return Pair(
        baseline=baseline.name,
        candidate=candidate.name,
        verdict=verdict,
        reasons=(*reasons, *notes, *real.notes, *differences.left_out, *_unshared(baseline, candidate)),
        differences=differences,
        checks_worse=worse,
        checks_better=better,
        time_ratio=candidate.scan_ms / baseline.scan_ms if candidate.scan_ms and baseline.scan_ms else None,
        moves=moved,
        real=real,
    )


def neighbours(
    candidates: Iterable[Evaluated], real: Callable[[str, str], Real] = lambda _before, _after: NO_REAL
) -> list[Pair]:
    """Return each candidate against the one before it: between which two of many something changed."""
    return [
        replace(compare(before, after, real=real(before.name, after.name)), neighbour=True)
        for before, after in pairwise(candidates)
    ]


class _Changed(NamedTuple):
    """What changes between two candidates: planted secrets, rules and places, real repositories; and what failed."""

    differences: Differences
    moved: Moves
    real: Real
    problem: str


def _judge(baseline: Evaluated, candidate: Evaluated, changed: _Changed) -> tuple[str, list[str]]:
    differences, moved, real, problem = changed
    unfinished = [f"{one.name} has errors" for one in (baseline, candidate) if one.has_errors]
    unfinished += [problem] * bool(problem and not unfinished)
    has_surveys = bool(baseline.surveyed and candidate.surveyed)
    unfinished += real.problems
    if not has_surveys and not real.compared and not baseline.matchings.keys() & candidate.matchings.keys():
        unfinished.append(f"{baseline.name} and {candidate.name} have no evaluated scenario in common")
    unfinished += [
        f"{name}: {candidate.name} misses what only its own ground truth lists"
        for name in sorted(differences.uncompared)
    ]
    failed = [key for key, outcome in candidate.outcomes.items() if outcome == "failed"]
    worse = {
        key: candidate.about.get(key, ())
        for key in failed
        if key in baseline.outcomes and BADNESS[baseline.outcomes[key]] < BADNESS["failed"]
    }
    slower = [key for key, about in worse.items() if SPEED in about]
    failing = [key for key, about in worse.items() if not explains(differences, about, key.scenario)]
    not_by_loss = [key for key in failing if not fails_by_loss(differences, worse[key], key.scenario)]
    # Not for times: they differ between two runs of one build.
    to_review = any((differences.new, differences.moved, differences.relabelled, differences.severity_changed))
    to_review = to_review or bool(differences.by_obeying)
    one_build = are_one_build(baseline, candidate)
    unknown = [_check(key) for key in failed if key not in baseline.outcomes]
    unknown += [name for name, faults in candidate.lint.items() if faults and name not in baseline.lint]
    unknown += [f"rule {name}" for name in _new_silent_rules(baseline, candidate)]
    lint = list(_worse_lint(baseline, candidate, differences))
    reasons = [
        *unfinished,
        *_number_lost(differences),
        *(f"{_check(key)} fails, and passes with {baseline.name}" for key in not_by_loss),
        *lint,
        *(moved.reasons() if one_build else moved.grouped(candidate.name)),
        *[f"{len(unknown)} checks fail that {baseline.name} does not have ({few(unknown)})"] * bool(unknown),
        *_numbers(differences),
        *real.reasons(),
        *[f"slower: {few(list(map(_check, slower)))}"] * bool(slower),
    ]
    if unfinished:
        return INCOMPLETE, reasons
    # What another version or scanner does not look for is to be seen by people.
    if differences.regressing() or failing or lint or (moved.loses and one_build):
        return REGRESSION, reasons
    if unknown:
        return INCOMPLETE, reasons
    # What was named and could not be compared is for people to look at.
    to_review = to_review or bool(moved.to_review().loses or real.to_review() or real.broken or real.notes)
    return (REVIEW if to_review else SAFE), reasons or ["nothing differs"]


def are_one_build(baseline: Evaluated, candidate: Evaluated) -> bool:
    """Return whether both are the same version of the same scanner: then nothing but the user's own wishes differs."""
    return are_one_scanner(baseline.scanner, candidate.scanner)


def failing_verdicts(*, accepts_review: bool) -> frozenset[str]:
    """Return the verdicts with which a comparison must not end well; with `accepts_review` a REVIEW does."""
    return frozenset({REGRESSION, INCOMPLETE} if accepts_review else {REGRESSION, INCOMPLETE, REVIEW})


def are_one_scanner(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether the `scanner` of two reports is the same version of the same scanner."""
    return all(one[name] == other[name] for name in ("name", "version"))


def _new_silent_rules(baseline: Evaluated, candidate: Evaluated) -> list[str]:
    """Return the rules of the candidate's user that never fire, and did not fail for the baseline."""
    if baseline.surveyed is None or candidate.surveyed is None:
        return []
    silent = {name for name, fires in baseline.surveyed.rules.items() if not fires}
    return sorted(candidate.surveyed.silent_own - silent)


def _worse_lint(baseline: Evaluated, candidate: Evaluated, differences: Differences) -> Iterator[str]:
    # As CL-2 names them.
    excused = {f"{one.scenario} {one.file_path}:{one.line_number} ({one.rule_id})" for one in differences.by_obeying}
    for name in sorted(candidate.lint.keys() & baseline.lint.keys()):
        if not candidate.lint[name] - excused <= baseline.lint[name]:
            how = " for more than" if baseline.lint[name] else ", and passes"
            yield f"{name} fails{how} with {baseline.name}"


def _number_lost(differences: Differences) -> Iterator[str]:
    for lost, why in (
        (differences.regressing(), ""),
        (differences.by_obeying, " by what it obeys"),
        (differences.accepted, ", accepted"),
    ):
        if lost:
            yield f"{len(lost)} lost in {few(sorted({one.scenario for one in lost}))}{why}"


def _numbers(differences: Differences) -> Iterator[str]:
    for kind in ("new", "moved", "relabelled", "severity_changed", "gained", "restored", "gone"):
        found: Sequence[Difference] = getattr(differences, kind)
        if found:
            yield f"{len(found)} {_KIND_TEXTS.get(kind, kind)} in {few(sorted({one.scenario for one in found}))}"
    renamed = {(one.rule_id, one.candidate_rule_id or "") for one in differences.relabelled}
    renamed |= {(one.rule_id, one.baseline_rule_id or "") for one in differences.restored}
    for rule_id, other in sorted(pair for pair in renamed if alias_of(*pair)):
        yield f"{rule_id} and {other} are one rule, renamed"


def _changed_checks(
    baseline: Mapping[CheckKey, str], candidate: Mapping[CheckKey, str]
) -> tuple[tuple[CheckChange, ...], tuple[CheckChange, ...]]:
    changes = [
        CheckChange(key.check_id, key.scenario, baseline[key], outcome)
        for key, outcome in candidate.items()
        if key in baseline and BADNESS[baseline[key]] != BADNESS[outcome]
    ]
    is_worse = [BADNESS[change.candidate_outcome] > BADNESS[change.outcome] for change in changes]
    return tuple(compress(changes, is_worse)), tuple(compress(changes, map(not_, is_worse)))


def _check(key: CheckKey) -> str:
    return f"{key.check_id} of {key.scenario}" if key.scenario else key.check_id


def _unshared(baseline: Evaluated, candidate: Evaluated) -> Iterator[str]:
    for one, other in ((baseline, candidate), (candidate, baseline)):
        if one.surveyed and not other.surveyed:
            yield f"not compared: only {one.name} was asked for rules and places"
        scenarios = sorted(one.matchings.keys() - other.matchings.keys())
        if scenarios:
            yield f"not compared: only {one.name} has {few(scenarios)}"
        checks = {key for key in one.outcomes.keys() - other.outcomes.keys() if key.scenario not in scenarios}
        if checks:
            ids = sorted({key.check_id for key in checks})
            yield f"not compared: only {one.name} has {len(checks)} checks ({few(ids)})"
