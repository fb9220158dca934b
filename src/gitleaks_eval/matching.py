"""Expected against reported findings, one to one: exact, moved, relabelled, missed, unexpected."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gitleaks_eval.scenario import Expected, ExpectedFinding

MOVED_AT_MOST = 3
NO_LINE = -1_000_000
EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED = "exact", "moved", "relabelled", "missed", "unexpected"


class Match(NamedTuple):
    """One expected or unexpected finding and what became of it.

    `file_path`, `rule_id`, `line_number` and `severity` are the expected finding's where there is one, else
    the reported one's; `reported_*` is what the scanner said where it differs or there was nothing expected.
    """

    status: str
    file_path: str
    line_number: int
    rule_id: str
    severity: str | None
    reported_rule_id: str | None
    reported_line_number: int | None


@dataclass(frozen=True, slots=True)
class Matching:
    """The matches of one scenario, and counts for a ground truth that has a total but no list of findings."""

    matches: tuple[Match, ...]
    expected: int
    unlisted_detected: int = 0
    unlisted_missed: int = 0
    unlisted_unexpected: int = 0

    def count(self, status: str) -> int:
        """How many findings have this status, listed or not."""
        return self.counts()[status]

    def counts(self) -> Counter[str]:
        """How many findings have each status, listed or not."""
        unlisted = {
            EXACT: self.unlisted_detected,
            MISSED: self.unlisted_missed,
            UNEXPECTED: self.unlisted_unexpected,
        }
        return Counter(match.status for match in self.matches) + Counter(unlisted)

    def as_json(self) -> dict[str, Any]:
        """This value as JSON; `matching_from_json` is the inverse."""
        return {name: getattr(self, name) for name in self.__slots__}


class _Reported(NamedTuple):
    file_path: str
    line_number: int
    rule_id: str
    severity: str


def match_findings(expected: Expected, reported: Sequence[Mapping[str, Any]]) -> Matching:
    """Match in three passes: all exact ones, then moved (nearest line, at most 3 away), then relabelled."""
    actual = sorted(map(_as_reported, reported))
    wanted = sorted(expected.findings, key=lambda finding: (finding.file_path, finding.line_number, finding.rule_id))
    paths = {finding.file_path for finding in wanted}
    pairing = _Pairing(wanted, actual, {index for index, found in enumerate(actual) if found.file_path in paths})
    _pair_on(pairing, EXACT, lambda finding: (finding.file_path, finding.rule_id, finding.line_number))
    _pair_moved(pairing)
    _pair_on(pairing, RELABELLED, lambda finding: (finding.file_path, finding.line_number))
    matches = [_matched(finding, *pairing.taken.get(index, (MISSED, None))) for index, finding in enumerate(wanted)]
    left = [_unexpected(found) for index, found in enumerate(actual) if index not in pairing.used]
    unlisted = expected.total_secrets - len(wanted)
    if unlisted <= 0:
        return Matching(tuple(matches + left), len(wanted))
    # The list is shorter than the total: which of the rest are expected is not known, how many is.
    detected = min(unlisted, len(left))
    return Matching(tuple(matches), expected.total_secrets, detected, unlisted - detected, len(left) - detected)


def matching_from_json(document: Mapping[str, Any]) -> Matching:
    """A matching that was written as JSON."""
    return Matching(**{**document, "matches": tuple(map(Match._make, document["matches"]))})


Key = Callable[[_Reported | ExpectedFinding], Hashable]


@dataclass(slots=True)
class _Pairing:
    """Expected and reported findings, by index, and which of them belong together so far.

    `free` are the reported ones that may still be taken: those in a file with an expected one.
    """

    wanted: list[ExpectedFinding]
    actual: list[_Reported]
    free: set[int]
    taken: dict[int, tuple[str, _Reported]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def take(self, wanted: int, status: str, actual: int) -> None:
        self.taken[wanted] = (status, self.actual[actual])
        self.free.discard(actual)
        self.used.add(actual)

    def open(self) -> Iterator[tuple[int, ExpectedFinding]]:
        return ((index, finding) for index, finding in enumerate(self.wanted) if index not in self.taken)

    def candidates(self, key: Key) -> dict[Hashable, list[int]]:
        """The free reported findings that share a key with an open expected one, by that key, in order."""
        grouped: dict[Hashable, list[int]] = {key(finding): [] for _, finding in self.open()}
        for index in sorted(self.free) if grouped else ():
            same = grouped.get(key(self.actual[index]))
            if same is not None:
                same.append(index)
        return grouped


def _pair_on(pairing: _Pairing, status: str, key: Key) -> None:
    candidates = {place: iter(indices) for place, indices in pairing.candidates(key).items()}
    for index, finding in pairing.open():
        other = next(candidates[key(finding)], None)
        if other is not None:
            pairing.take(index, status, other)


def _pair_moved(pairing: _Pairing) -> None:
    by_rule = pairing.candidates(lambda finding: (finding.file_path, finding.rule_id))
    # The nearest pairs first, over all findings: a far one must not take what another is nearer to.
    near = []
    for index, finding in pairing.open():
        candidates = by_rule[finding.file_path, finding.rule_id]
        start = bisect_left(
            candidates,
            finding.line_number - MOVED_AT_MOST,
            key=lambda other: pairing.actual[other].line_number,
        )
        for other in candidates[start:]:
            distance = pairing.actual[other].line_number - finding.line_number
            if distance > MOVED_AT_MOST:
                break
            near.append((abs(distance), index, other))
    for _, index, other in sorted(near):
        if index not in pairing.taken and other in pairing.free:
            pairing.take(index, MOVED, other)


def _matched(finding: ExpectedFinding, status: str, found: _Reported | None) -> Match:
    return Match(
        status,
        finding.file_path,
        finding.line_number,
        finding.rule_id,
        finding.expected_severity or (found.severity or None if found else None),
        found.rule_id if found else None,
        found.line_number if found else None,
    )


def _unexpected(found: _Reported) -> Match:
    return Match(
        UNEXPECTED,
        found.file_path,
        found.line_number,
        found.rule_id,
        found.severity or None,
        found.rule_id,
        found.line_number,
    )


def _as_reported(finding: Mapping[str, Any]) -> _Reported:
    line = finding.get("line_number")
    severity = finding.get("severity")
    return _Reported(
        str(finding.get("file_path", "")),
        line if isinstance(line, int) and not isinstance(line, bool) else NO_LINE,
        str(finding.get("rule_id", "")),
        severity if isinstance(severity, str) else "",
    )
