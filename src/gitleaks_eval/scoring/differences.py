"""What differs between the findings of two candidates, scenario by scenario."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from typing import Any, NamedTuple

from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, RELABELLED, UNEXPECTED, Match, Matching
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scoring.evaluated import STATUSES

# The fields of a difference that is only counted, but for its scenario.
_COUNTED = ("", None, "", None, None, None, None)


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
    `restored` are exact with the candidate, and moved or relabelled with the baseline. Of what is lost, `by_obeying` is
    what an entry hides that one of two versions obeys and the other ignores, and `accepted` what accepted entries alone
    hide.
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
    by_obeying: frozenset[Difference] = frozenset()
    accepted: frozenset[Difference] = frozenset()

    def excusing(
        self, obeyed: Mapping[str, Collection[Place]], accepted: Mapping[str, Collection[Place]]
    ) -> "Differences":
        """Return the same, where what is lost at these places of a scenario is a matter of review, or accepted."""
        forgiven = self._lost_at(accepted)
        return replace(self, by_obeying=self._lost_at(obeyed) - forgiven, accepted=forgiven)

    def _lost_at(self, places: Mapping[str, Collection[Place]]) -> frozenset[Difference]:
        return frozenset(
            one
            for one in self.lost
            if (one.file_path, one.line_number or 0, one.rule_id) in places.get(one.scenario, ())
        )

    def regressing(self) -> tuple[Difference, ...]:
        """Return what is lost, not accepted and no matter of review."""
        return tuple(one for one in self.lost if one not in self.by_obeying and one not in self.accepted)

    def losing(self) -> frozenset[str]:
        """Return the scenarios in which something of that is lost."""
        return frozenset(one.scenario for one in self.regressing())

    def forgiven(self) -> frozenset[str]:
        """Return the scenarios in which only what is accepted is lost."""
        return frozenset(one.scenario for one in self.accepted) - self.losing()

    def to_review(self) -> frozenset[str]:
        """The scenarios in which something is new, moved, relabelled or of another severity, and nothing lost."""
        concerned = (*self.new, *self.moved, *self.relabelled, *self.severity_changed, *self.by_obeying)
        return frozenset(one.scenario for one in concerned) - self.losing()


_NO_KINDS = {"left_out", "uncompared", "by_obeying", "accepted"}
DIFFERENCES = tuple(field.name for field in fields(Differences) if field.name not in _NO_KINDS)


def find_differences(baseline: Mapping[str, Matching], candidate: Mapping[str, Matching]) -> Differences:
    """Return the findings that differ in the scenarios that both have, by name of scenario."""
    found: defaultdict[str, list[Difference]] = defaultdict(list)
    left_out: list[str] = []
    uncompared: set[str] = set()
    for name in sorted(baseline.keys() & candidate.keys()):
        truths = _truth(baseline[name]), _truth(candidate[name])
        unshared = truths[0].keys() ^ truths[1].keys()
        if any(
            match.status not in {EXACT, UNEXPECTED} and _place(match) in unshared for match in candidate[name].matches
        ):
            uncompared.add(name)
        for kind, difference in _different_findings(name, baseline[name], candidate[name], unshared):
            found[kind].append(difference)
        for kind, difference in _different_counts(name, baseline[name], candidate[name]):
            found[kind].append(difference)
        left_out += _left_out(name, *truths)
        if _unlisted(baseline[name]) != _unlisted(candidate[name]):
            left_out.append(f"{name}: the ground truths count different numbers that they do not list: not compared")
    kinds: dict[str, Any] = {kind: tuple(found[kind]) for kind in DIFFERENCES}
    return Differences(left_out=tuple(left_out), uncompared=frozenset(uncompared), **kinds)


def _different_findings(
    scenario: str, baseline: Matching, candidate: Matching, unshared: Collection[Place]
) -> Iterator[tuple[str, Difference]]:
    """Yield each finding that differs, with what that means; a finding may be two kinds of difference.

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


def _truth(matching: Matching) -> Counter[Place]:
    return Counter(_place(match) for match in matching.matches if match.status != UNEXPECTED)


def _left_out(scenario: str, baseline: Counter[Place], candidate: Counter[Place]) -> Iterator[str]:
    number = ((baseline - candidate) + (candidate - baseline)).total()
    if number:
        yield f"{scenario}: {number} findings that only one of the two ground truths lists are not compared"


def _by_place(matches: Counter[Match]) -> dict[tuple[Place, bool], list[Match]]:
    """Matches by place and whether one is expected there; found ones first, so that they stand for found ones."""
    places: defaultdict[tuple[Place, bool], list[Match]] = defaultdict(list)
    for match in sorted(matches.elements(), key=lambda match: (STATUSES.index(match.status), repr(match))):
        places[_place(match), match.status != UNEXPECTED].append(match)
    return dict(places)


def _place(match: Match) -> Place:
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
    """Return how many secrets a ground truth only counts: it expects them without saying where."""
    return matching.unlisted_detected + matching.unlisted_missed
