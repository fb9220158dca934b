"""What changes from one evaluated candidate to another, finding by finding, and whether it is safe. Pure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import compress, pairwise, zip_longest
from operator import not_
from typing import Any, NamedTuple

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match, Matching, alias_of
from gitleaks_eval.analysis.metrics import Metrics, make_metrics
from gitleaks_eval.config.chain import BUILTIN
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.schema import report_problems
from gitleaks_eval.core.text import few

SAFE, REVIEW, REGRESSION, INCOMPLETE = "SAFE", "REVIEW", "REGRESSION", "INCOMPLETE"
SUPPORTED_SCHEMA = "1.0"
# Checks that see which findings there are; SP-3 and SP-4 are about time and size by finding.
FINDING_CHECKS = frozenset(
    [
        *(f"SA-{number}" for number in range(1, 12)),
        *(f"SD-{number}" for number in range(1, 5)),
        *("SP-3", "SP-4", "EC-1", "EC-4"),
    ]
)
SPEED_CHECKS = frozenset(["SP-1", "SP-2", "SP-3"])
AS_IN_BASELINE = "as in baseline"
# The tests of a configuration; where it is the scanner's own there are none, and nothing is wrong.
LINT_CHECKS = ("CL-1", "CL-2")
TO_REVIEW = "to review: findings differ from the baseline"
SLOWER = "slower than the baseline"
_STATUSES = (EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED)
_BADNESS = {"passed": 0, "not_applicable": 0, "failed": 1, "error": 2}


class CheckKey(NamedTuple):
    """A check of a scenario, whatever the candidate and its node id: the `number`-th of those with this id."""

    check_id: str
    scenario: str | None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluated candidate, from this run or from a saved report.

    `matchings` are by scenario, of which the `corpora` are external; `scanner` has the keys of the report's
    `scanner`, `score` is 0 to 1, `lint` has the faults of its configuration by check id, where they are known,
    `scan_ms` the median time of one scan, repeated, in milliseconds and `scan_ms_spread` its least and most.
    """

    name: str
    matchings: Mapping[str, Matching]
    outcomes: Mapping[CheckKey, str]
    scanner: Mapping[str, Any]
    corpus_sha256: str
    score: float
    decision: str | None
    guarded_decision: str | None
    has_errors: bool
    scan_ms: float | None = None
    scan_ms_spread: tuple[float, float] | None = None
    lint: Mapping[str, frozenset[str]] = field(default_factory=dict)
    corpora: frozenset[str] = frozenset()

    def planted(self) -> Metrics:
        """The metrics of the scenarios whose secrets are planted; those of corpora are never mixed with them."""
        return make_metrics({name: one for name, one in self.matchings.items() if name not in self.corpora})

    def of_corpora(self) -> Metrics:
        """The metrics of the corpora."""
        return make_metrics({name: one for name, one in self.matchings.items() if name in self.corpora})


class Difference(NamedTuple):
    """A finding that differs between baseline and candidate.

    Rule and line are the expected finding's where there is one, else the reported one's; they are "" and None
    for an expected finding that is only counted. `candidate_*` is what the candidate reported, None if nothing.
    `severity` is what the baseline gave it, or else the expected one; `baseline_*` is what the baseline reported.
    """

    scenario: str
    file_path: str
    line_number: int | None
    rule_id: str
    candidate_line_number: int | None
    candidate_rule_id: str | None
    severity: str | None
    candidate_severity: str | None
    baseline_line_number: int | None = None
    baseline_rule_id: str | None = None


class CheckChange(NamedTuple):
    """A check whose outcome is another one with the candidate."""

    check_id: str
    scenario: str | None
    outcome: str
    candidate_outcome: str


@dataclass(frozen=True, slots=True)
class Differences:
    """The findings that differ, by what that means, in a stable order; `left_out` says what was not compared.

    In the scenarios `uncompared` the candidate does not find something exactly that only its own truth lists.
    `restored` are exact with the candidate, and moved or relabelled with the baseline.
    """

    lost: tuple[Difference, ...] = ()
    gained: tuple[Difference, ...] = ()
    new: tuple[Difference, ...] = ()
    gone: tuple[Difference, ...] = ()
    moved: tuple[Difference, ...] = ()
    relabelled: tuple[Difference, ...] = ()
    restored: tuple[Difference, ...] = ()
    severity_changed: tuple[Difference, ...] = ()
    left_out: tuple[str, ...] = ()
    uncompared: frozenset[str] = frozenset()

    def losing(self) -> frozenset[str]:
        """The scenarios in which something is lost."""
        return frozenset(one.scenario for one in self.lost)

    def to_review(self) -> frozenset[str]:
        """The scenarios in which something is new, moved, relabelled or of another severity, and nothing lost."""
        concerned = (*self.new, *self.moved, *self.relabelled, *self.severity_changed)
        return frozenset(one.scenario for one in concerned) - self.losing()


DIFFERENCES = tuple(one.name for one in fields(Differences) if one.name not in {"left_out", "uncompared"})


@dataclass(frozen=True, slots=True)
class Pair:
    """A candidate against the baseline: what differs, exactly one verdict, and why it is that one.

    `time_ratio` is the candidate's scan time over the baseline's, None where one is unknown. A pair that is
    `neighbour` is of two candidates in a row, of which none is the baseline: it decides nothing.
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


def compare(baseline: Evaluated, candidate: Evaluated, notes: Sequence[str] = ()) -> Pair:
    """Compare two candidates in what both have; `notes` (see `comparability`) go to the reasons.

    A comparison with nothing in common is incomplete, never safe.
    """
    differences = find_differences(baseline.matchings, candidate.matchings)
    worse, better = _changed_checks(baseline.outcomes, candidate.outcomes)
    verdict, reasons = _judge(baseline, candidate, differences, worse)
    return Pair(
        baseline=baseline.name,
        candidate=candidate.name,
        verdict=verdict,
        reasons=(*reasons, *notes, *differences.left_out, *_unshared(baseline, candidate)),
        differences=differences,
        checks_worse=worse,
        checks_better=better,
        time_ratio=candidate.scan_ms / baseline.scan_ms if candidate.scan_ms and baseline.scan_ms else None,
    )


def neighbours(candidates: Iterable[Evaluated]) -> list[Pair]:
    """Each candidate against the one before it: between which two of many something changed."""
    return [replace(compare(before, after), neighbour=True) for before, after in pairwise(candidates)]


def find_differences(baseline: Mapping[str, Matching], candidate: Mapping[str, Matching]) -> Differences:
    """The findings that differ in the scenarios that both have."""
    found: defaultdict[str, list[Difference]] = defaultdict(list)
    left_out: list[str] = []
    uncompared: set[str] = set()
    for name in sorted(baseline.keys() & candidate.keys()):
        truths = _truth(baseline[name]), _truth(candidate[name])
        unshared = truths[0].keys() ^ truths[1].keys()
        if any(one.status not in {EXACT, UNEXPECTED} and _place(one) in unshared for one in candidate[name].matches):
            uncompared.add(name)
        for kind, difference in _different_findings(name, baseline[name], candidate[name], unshared):
            found[kind].append(difference)
        for kind, difference in _different_counts(name, baseline[name], candidate[name]):
            found[kind].append(difference)
        left_out += _left_out(name, *truths)
        if _unlisted(baseline[name]) != _unlisted(candidate[name]):
            left_out.append(f"{name}: the ground truths count different numbers that they do not list: not compared")
    kinds = {kind: tuple(found[kind]) for kind in DIFFERENCES}
    return Differences(left_out=tuple(left_out), uncompared=frozenset(uncompared), **kinds)


def explains(differences: Differences, check_id: str, scenario: str | None) -> bool:
    """Whether a failure of a check that the baseline passes is a matter of review, and no regression.

    What is new, moved, relabelled or of another severity explains the checks that look at findings, in its
    scenario, unless something is lost there as well; a failure of SP-1 to SP-3 means slower, which is told and no more.
    """
    if check_id in SPEED_CHECKS:
        return True
    return check_id in FINDING_CHECKS and scenario in differences.to_review()


def excuse(differences: Differences, baseline: Mapping[CheckKey, str], key: CheckKey, *, review: bool) -> str | None:
    """Why a failure of a check in a comparison is not one of this candidate (its xfail reason), else None.

    `review` is whether what is to review is accepted (`--gitleaks-fail-on=regression`). Where the candidate
    loses something, a check that looks at findings fails for more than it does with the baseline.
    """
    if _fails_by_loss(differences, key.check_id, key.scenario):
        return None
    if key.check_id in FINDING_CHECKS and key.scenario in differences.uncompared:
        return None
    if baseline.get(key) == "failed":
        return AS_IN_BASELINE
    if key.check_id in SPEED_CHECKS:
        return SLOWER if key in baseline else None
    return TO_REVIEW if review and explains(differences, key.check_id, key.scenario) else None


def explained(pair: Pair) -> frozenset[tuple[str, str | None]]:
    """The checks that only the candidate fails and that what is to review explains."""
    return frozenset(
        (change.check_id, change.scenario)
        for change in pair.checks_worse
        if explains(pair.differences, change.check_id, change.scenario)
    )


def check_outcomes(results: Iterable[tuple[str, str | None, str]]) -> dict[CheckKey, str]:
    """Outcomes by key, from (check id, scenario, outcome) in the order of collection."""
    seen: Counter[tuple[str, str | None]] = Counter()
    outcomes = {}
    for check_id, scenario, outcome in results:
        outcomes[CheckKey(check_id, scenario, seen[check_id, scenario])] = outcome
        seen[check_id, scenario] += 1
    return outcomes


def lint_faults(config: str | None, found: Iterable[tuple[str, Any]]) -> dict[str, frozenset[str]]:
    """The faults of a configuration (its name as in the reports) by check id, from what its tests left as actual."""
    own: dict[str, frozenset[str]] = dict.fromkeys(LINT_CHECKS, frozenset()) if config == BUILTIN else {}
    return {**own, **{check_id: frozenset(map(str, faults)) for check_id, faults in found if isinstance(faults, list)}}


def comparability(baseline: Evaluated, corpus_sha256: str) -> list[str]:
    """What makes a saved baseline only partly comparable with a run on the corpus with this hash."""
    if baseline.corpus_sha256 == corpus_sha256:
        return []
    hashes = f"sha256 {baseline.corpus_sha256[:12]} of {baseline.name}, now {corpus_sha256[:12]}"
    return [f"the corpus differs ({hashes}): what both have is compared"]


def evaluated_from_report(document: Any, source: str) -> Evaluated:
    """A saved evaluation report as a baseline; `source` is its path, and how it is named.

    Raises:
        InputError: when it is of another schema version, or no evaluation report at all.
    """
    option = f"--gitleaks-baseline {source}"
    if not isinstance(document, dict):
        raise InputError(f"{option}: is no evaluation_report.json of gitleaks-eval")
    version = document.get("schema_version")
    if version != SUPPORTED_SCHEMA:
        raise InputError(
            f"{option}: has schema version {str(version)[:40]!r}, and only {SUPPORTED_SCHEMA!r} can be compared; "
            "make the report anew with this version of gitleaks-eval"
        )
    if problems := report_problems(document):
        raise InputError(*(f"{option}: {problem}" for problem in problems[:5]))
    results = list(_rows(document, "results", _RESULT_FIELDS, option))
    if unknown := {outcome for _, _, outcome in results} - _BADNESS.keys():
        raise InputError(f"{option}: results have the outcome {min(unknown)[:40]!r}, which is not known")
    if document["partial"]:
        raise InputError(f"{option}: is of a partial run; make a full one: nobody knows what it would have missed")
    summary, linted = document["summary"], document.get("config_lint", ())
    return Evaluated(
        name=source,
        matchings=_saved_matchings(document, option),
        outcomes=check_outcomes((check_id, scenario, outcome) for check_id, scenario, outcome in results),
        lint=lint_faults(document["scanner"]["config"], ((one["check_id"], one["actual"]) for one in linted)),
        scanner=document["scanner"],
        corpus_sha256=document["corpus_sha256"],
        score=summary["score"],
        decision=summary["decision"],
        guarded_decision=summary["guarded_decision"],
        has_errors=document["incomplete"],
        corpora=frozenset(document.get("corpora", {}).get("by_scenario", ())),
    )


# --- the findings of one scenario

# File, line and rule.
_Place = tuple[str, int, str]
_COUNTED = ("", None, "", None, None, None, None)


def _different_findings(
    scenario: str, baseline: Matching, candidate: Matching, unshared: Collection[_Place]
) -> Iterator[tuple[str, Difference]]:
    """Each finding that differs, with what that means; a finding may be two kinds of difference.

    `unshared` are the places where only one of the two truths expects a finding: nothing there is compared.
    """
    before, after = Counter(baseline.matches), Counter(candidate.matches)
    left, right = _by_place(before - after), _by_place(after - before)
    for place, is_expected in sorted(left.keys() | right.keys()):
        if place in unshared:
            continue
        kinds = _kinds_of_expected if is_expected else _kinds_of_unexpected
        for old, new in zip_longest(left.get((place, is_expected), ()), right.get((place, is_expected), ())):
            for kind in kinds(old, new):
                yield kind, _difference(scenario, old, new)


def _different_counts(scenario: str, baseline: Matching, candidate: Matching) -> Iterator[tuple[str, Difference]]:
    """Differences of the findings that a truth only counts: what one lacks of a total, the other has."""
    if _unlisted(baseline) == _unlisted(candidate):
        for more, less, number in (
            ("lost", "gained", candidate.unlisted_missed - baseline.unlisted_missed),
            ("new", "gone", candidate.unlisted_unexpected - baseline.unlisted_unexpected),
        ):
            yield from [(more if number > 0 else less, Difference(scenario, *_COUNTED))] * abs(number)


def _truth(matching: Matching) -> Counter[_Place]:
    return Counter(_place(match) for match in matching.matches if match.status != UNEXPECTED)


def _left_out(scenario: str, baseline: Counter[_Place], candidate: Counter[_Place]) -> Iterator[str]:
    number = ((baseline - candidate) + (candidate - baseline)).total()
    if number:
        yield f"{scenario}: {number} findings that only one of the two ground truths lists are not compared"


def _by_place(matches: Counter[Match]) -> dict[tuple[_Place, bool], list[Match]]:
    """Matches by place and whether one is expected there; found ones first, so that they stand for found ones."""
    places: defaultdict[tuple[_Place, bool], list[Match]] = defaultdict(list)
    for match in sorted(matches.elements(), key=lambda match: (_STATUSES.index(match.status), repr(match))):
        places[_place(match), match.status != UNEXPECTED].append(match)
    return dict(places)


def _place(match: Match) -> _Place:
    return match.file_path, match.line_number, match.rule_id


def _kinds_of_expected(old: Match | None, new: Match | None) -> Iterator[str]:
    if old is None or new is None:
        return
    if MISSED in {old.status, new.status}:
        if old.status != new.status:
            yield "lost" if new.status == MISSED else "gained"
    elif _severity_changed(old, new):
        yield "severity_changed"
    as_reported = ("status", "reported_rule_id", "reported_line_number")
    if new.status in {MOVED, RELABELLED} and any(getattr(old, name) != getattr(new, name) for name in as_reported):
        yield new.status
    if new.status == EXACT and old.status in {MOVED, RELABELLED}:
        yield "restored"


def _kinds_of_unexpected(old: Match | None, new: Match | None) -> Iterator[str]:
    if old is None:
        yield "new"
    elif new is None:
        yield "gone"
    elif _severity_changed(old, new):
        yield "severity_changed"


def _severity_changed(old: Match, new: Match) -> bool:
    # A severity that is not known (an older report does not have it) is no other one.
    return None not in {old.reported_severity, new.reported_severity} and old.reported_severity != new.reported_severity


def _difference(scenario: str, old: Match | None, new: Match | None) -> Difference:
    one = new or old
    assert one is not None  # noqa: S101 - for the type checker: a place has a match on one side at least
    return Difference(
        scenario,
        one.file_path,
        one.line_number,
        one.rule_id,
        new.reported_line_number if new else None,
        new.reported_rule_id if new else None,
        _severity(old, new),
        new.reported_severity if new else None,
        old.reported_line_number if old else None,
        old.reported_rule_id if old else None,
    )


def _severity(old: Match | None, new: Match | None) -> str | None:
    if new and new.status == MISSED and new.severity:
        # As the section of the run says it of the same finding.
        return new.severity
    return (old.reported_severity or old.severity) if old else None


def _unlisted(matching: Matching) -> int:
    return matching.unlisted_detected + matching.unlisted_missed


# --- verdict


def _judge(
    baseline: Evaluated, candidate: Evaluated, differences: Differences, worse: Sequence[CheckChange]
) -> tuple[str, list[str]]:
    unfinished = [f"{one.name} has errors" for one in (baseline, candidate) if one.has_errors]
    if not baseline.matchings.keys() & candidate.matchings.keys():
        unfinished.append(f"{baseline.name} and {candidate.name} have no evaluated scenario in common")
    unfinished += [
        f"{name}: {candidate.name} misses what only its own ground truth lists"
        for name in sorted(differences.uncompared)
    ]
    worse = [change for change in worse if change.candidate_outcome == "failed"]
    slower = [change for change in worse if change.check_id in SPEED_CHECKS]
    failing = [change for change in worse if not explains(differences, change.check_id, change.scenario)]
    not_by_loss = [change for change in failing if not _fails_by_loss(differences, change.check_id, change.scenario)]
    # Not for times: they differ between two runs of one build.
    to_review = any((differences.new, differences.moved, differences.relabelled, differences.severity_changed))
    unknown = [
        _check(key)
        for key, outcome in candidate.outcomes.items()
        if outcome == "failed" and key not in baseline.outcomes
    ]
    unknown += [name for name, faults in candidate.lint.items() if faults and name not in baseline.lint]
    lint = list(_worse_lint(baseline, candidate))
    reasons = [
        *unfinished,
        *_number_lost(differences),
        *(f"{_check(change)} fails, and passes with {baseline.name}" for change in not_by_loss),
        *lint,
        *[f"{len(unknown)} checks fail that {baseline.name} does not have ({few(unknown)})"] * bool(unknown),
        *_numbers(differences),
        *[f"slower: {few(list(map(_check, slower)))}"] * bool(slower),
    ]
    if unfinished:
        return INCOMPLETE, reasons
    if differences.lost or failing or lint:
        return REGRESSION, reasons
    if unknown:
        return INCOMPLETE, reasons
    return (REVIEW if to_review else SAFE), reasons or ["nothing differs"]


def _worse_lint(baseline: Evaluated, candidate: Evaluated) -> Iterator[str]:
    for name in sorted(candidate.lint.keys() & baseline.lint.keys()):
        if not candidate.lint[name] <= baseline.lint[name]:
            how = " for more than" if baseline.lint[name] else ", and passes"
            yield f"{name} fails{how} with {baseline.name}"


def _fails_by_loss(differences: Differences, check_id: str, scenario: str | None) -> bool:
    return check_id in FINDING_CHECKS and scenario in differences.losing()


def _number_lost(differences: Differences) -> Iterator[str]:
    if differences.lost:
        yield f"{len(differences.lost)} lost in {few(sorted(differences.losing()))}"


def _numbers(differences: Differences) -> Iterator[str]:
    for kind in ("new", "moved", "relabelled", "severity_changed", "gained", "restored", "gone"):
        found: Sequence[Difference] = getattr(differences, kind)
        if found:
            yield f"{len(found)} {_KIND_TEXTS.get(kind, kind)} in {few(sorted({one.scenario for one in found}))}"
    renamed = {(one.rule_id, one.candidate_rule_id or "") for one in differences.relabelled}
    renamed |= {(one.rule_id, one.baseline_rule_id or "") for one in differences.restored}
    for rule_id, other in sorted(pair for pair in renamed if alias_of(*pair)):
        yield f"{rule_id} and {other} are one rule, renamed"


_KIND_TEXTS = {"severity_changed": "of another severity", "restored": "exact again"}


def _changed_checks(
    baseline: Mapping[CheckKey, str], candidate: Mapping[CheckKey, str]
) -> tuple[tuple[CheckChange, ...], tuple[CheckChange, ...]]:
    changes = [
        CheckChange(key.check_id, key.scenario, baseline[key], outcome)
        for key, outcome in candidate.items()
        if key in baseline and _BADNESS[baseline[key]] != _BADNESS[outcome]
    ]
    is_worse = [_BADNESS[one.candidate_outcome] > _BADNESS[one.outcome] for one in changes]
    return tuple(compress(changes, is_worse)), tuple(compress(changes, map(not_, is_worse)))


def _check(change: CheckChange | CheckKey) -> str:
    return f"{change.check_id} of {change.scenario}" if change.scenario else change.check_id


def _unshared(baseline: Evaluated, candidate: Evaluated) -> Iterator[str]:
    for one, other in ((baseline, candidate), (candidate, baseline)):
        scenarios = sorted(one.matchings.keys() - other.matchings.keys())
        if scenarios:
            yield f"not compared: only {one.name} has {few(scenarios)}"
        checks = {key for key in one.outcomes.keys() - other.outcomes.keys() if key.scenario not in scenarios}
        if checks:
            ids = sorted({key.check_id for key in checks})
            yield f"not compared: only {one.name} has {len(checks)} checks ({few(ids)})"


# --- saved reports

_Kinds = Mapping[str, Collection[type]]
_TEXT: Collection[type] = {str}
_MAYBE_TEXT: Collection[type] = {str, type(None)}
_RESULT_FIELDS: _Kinds = {"check_id": _TEXT, "scenario": _MAYBE_TEXT, "outcome": _TEXT}
_FINDING_FIELDS: _Kinds = {
    "scenario": _TEXT,
    "status": _TEXT,
    "file_path": _TEXT,
    "line_number": {int},
    "rule_id": _TEXT,
    "severity": _MAYBE_TEXT,
    "reported_rule_id": _MAYBE_TEXT,
    "reported_line_number": {int, type(None)},
    "reported_severity": _MAYBE_TEXT,
}


def _saved_matchings(document: Mapping[str, Any], option: str) -> dict[str, Matching]:
    matches: defaultdict[str, list[Match]] = defaultdict(list)
    rows = _rows(document, "findings", _FINDING_FIELDS, option)
    for (scenario, *values), entry in zip(rows, document["findings"], strict=True):
        match = Match._make((*values, entry.get("labelled", True)))
        if match.status not in _STATUSES:
            raise InputError(f"{option}: findings have the status {match.status[:40]!r}, which is not known")
        if match.status == UNEXPECTED:
            match = match._replace(reported_severity=match.severity)
        matches[scenario].append(match)
    names = [one["name"] for one in document["scenarios"]]
    if unknown := sorted(matches.keys() - set(names)):
        raise InputError(f"{option}: findings are of the scenario {unknown[0][:40]!r}, which `scenarios` does not list")
    counted = None
    if "metrics" in document:
        counted = {**document["metrics"]["by_scenario"], **document.get("corpora", {}).get("by_scenario", {})}
    # One that is listed and not counted had an error: it has no findings, which is not that there are none.
    known = [name for name in names if counted is None or name in counted or name in matches]
    return {name: _saved_matching(tuple(matches[name]), (counted or {}).get(name)) for name in known}


def _saved_matching(matches: tuple[Match, ...], counted: Mapping[str, int] | None) -> Matching:
    """A matching with its counts of what is not listed: the difference between the metrics and the list."""
    listed = Matching(matches, sum(match.status != UNEXPECTED for match in matches))
    if counted is None:
        return listed
    counts = make_metrics({"": listed}).total
    detected, missed, unexpected = counted["tp"] - counts.tp, counted["fn"] - counts.fn, counted["fp"] - counts.fp
    return Matching(matches, listed.expected + detected + missed, detected, missed, unexpected)


def _rows(document: Mapping[str, Any], name: str, kinds: _Kinds, option: str) -> Iterator[list[Any]]:
    for index, entry in enumerate(document[name]):
        if not isinstance(entry, dict):
            raise InputError(f"{option}: /{name}/{index}: is not an object")
        for key, types in kinds.items():
            if type(entry.get(key)) not in types:
                raise InputError(f"{option}: /{name}/{index}/{key}: is missing, or of the wrong type")
        yield [entry.get(key) for key in kinds]
