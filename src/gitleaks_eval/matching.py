"""Expected against reported findings, one to one: exact, moved, relabelled, missed, unexpected."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitleaks_eval.scenario import Expected, ExpectedFinding

MOVED_AT_MOST = 3
NO_LINE = -1_000_000
EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED = "exact", "moved", "relabelled", "missed", "unexpected"


@dataclass(frozen=True, slots=True)
class Match:
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
        unlisted = {
            EXACT: self.unlisted_detected,
            MISSED: self.unlisted_missed,
            UNEXPECTED: self.unlisted_unexpected,
        }
        return sum(match.status == status for match in self.matches) + unlisted.get(status, 0)


@dataclass(frozen=True, slots=True)
class _Reported:
    file_path: str
    rule_id: str
    line_number: int
    severity: str | None


def match_findings(expected: Expected, reported: Sequence[Mapping[str, Any]]) -> Matching:
    """Match in three passes: all exact ones, then moved (nearest line, at most 3 away), then relabelled."""
    actual = sorted(map(_as_reported, reported), key=_order)
    wanted = sorted(expected.findings, key=_order)
    if not wanted:
        return _by_count(expected, actual)
    pairing = _Pairing(wanted, actual, set(range(len(actual))))
    _pair_on(pairing, EXACT, lambda finding: (finding.file_path, finding.rule_id, finding.line_number))
    _pair_moved(pairing)
    _pair_on(pairing, RELABELLED, lambda finding: (finding.file_path, finding.line_number))
    matches = [_matched(finding, *pairing.taken.get(index, (MISSED, None))) for index, finding in enumerate(wanted)]
    matches += [_unexpected(actual[index]) for index in sorted(pairing.free)]
    return Matching(tuple(matches), len(wanted))


def matching_from_json(document: Mapping[str, Any]) -> Matching:
    """A matching that was written as JSON (`dataclasses.asdict`)."""
    return Matching(**{**document, "matches": tuple(Match(**match) for match in document["matches"])})


def _by_count(expected: Expected, actual: list[_Reported]) -> Matching:
    total = expected.total_secrets
    if total == 0:
        return Matching(tuple(map(_unexpected, actual)), 0)
    detected = min(total, len(actual))
    return Matching((), total, detected, total - detected, len(actual) - detected)


@dataclass(slots=True)
class _Pairing:
    """Expected and reported findings, by index, and which of them belong together so far."""

    wanted: list[ExpectedFinding]
    actual: list[_Reported]
    free: set[int]
    taken: dict[int, tuple[str, _Reported]] = field(default_factory=dict)

    def take(self, wanted: int, status: str, actual: int) -> None:
        self.taken[wanted] = (status, self.actual[actual])
        self.free.discard(actual)

    def open(self) -> Iterator[tuple[int, ExpectedFinding]]:
        return ((index, finding) for index, finding in enumerate(self.wanted) if index not in self.taken)

    def free_by(self, key: Callable[[_Reported], Hashable]) -> dict[Hashable, list[int]]:
        grouped: dict[Hashable, list[int]] = defaultdict(list)
        for index in sorted(self.free):
            grouped[key(self.actual[index])].append(index)
        return grouped


def _pair_on(pairing: _Pairing, status: str, key: Callable[[_Reported | ExpectedFinding], Hashable]) -> None:
    candidates = {place: iter(indices) for place, indices in pairing.free_by(key).items()}
    for index, finding in pairing.open():
        other = next(candidates.get(key(finding), iter(())), None)
        if other is not None:
            pairing.take(index, status, other)


def _pair_moved(pairing: _Pairing) -> None:
    by_rule = pairing.free_by(lambda found: (found.file_path, found.rule_id))
    # The nearest pairs first, over all findings: a far one must not take what another is nearer to.
    near = []
    for index, finding in pairing.open():
        candidates = by_rule.get((finding.file_path, finding.rule_id), [])
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
        finding.expected_severity or (found.severity if found else None),
        found.rule_id if found else None,
        found.line_number if found else None,
    )


def _unexpected(found: _Reported) -> Match:
    return Match(
        UNEXPECTED,
        found.file_path,
        found.line_number,
        found.rule_id,
        found.severity,
        found.rule_id,
        found.line_number,
    )


def _as_reported(finding: Mapping[str, Any]) -> _Reported:
    line = finding.get("line_number")
    severity = finding.get("severity")
    return _Reported(
        str(finding.get("file_path", "")),
        str(finding.get("rule_id", "")),
        line if isinstance(line, int) and not isinstance(line, bool) else NO_LINE,
        severity if isinstance(severity, str) else None,
    )


def _order(finding: _Reported | ExpectedFinding) -> tuple[str, int, str]:
    return finding.file_path, finding.line_number, finding.rule_id
