"""Expected against reported findings, one to one: exact, moved, relabelled, missed, unexpected."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, compress, repeat
from operator import attrgetter, not_
from typing import Any, NamedTuple

from gitleaks_eval.analysis.loose import Reported, pair_loose
from gitleaks_eval.core.resources import data
from gitleaks_eval.scenarios.places import Place as TruthPlace
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding

MOVED_AT_MOST = 3
NO_LINE = -1_000_000
EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED = "exact", "moved", "relabelled", "missed", "unexpected"
UNLABELLED = "unlabelled"
_ALIASES = data("rule_aliases.json")


class Match(NamedTuple):
    """One expected or unexpected finding and what became of it.

    `file_path`, `rule_id`, `line_number` and `severity` are the expected finding's where there is one (and
    it has a severity), else the reported one's; that of a missed one is the policy's. `reported_*` is what the
    scanner said, None if it said nothing. `labelled` is false for an unexpected finding of which the truth does
    not say that it is wrong.
    """

    status: str
    file_path: str
    line_number: int
    rule_id: str
    severity: str | None
    reported_rule_id: str | None
    reported_line_number: int | None
    reported_severity: str | None = None
    labelled: bool = True

    @property
    def place(self) -> str:
        """`file:line` for people; the file alone where the truth knows no line."""
        return f"{self.file_path}:{self.line_number}" if self.line_number else self.file_path

    @property
    def fate(self) -> str:
        """The status for people: an unexpected finding of which the truth says nothing is `unlabelled`."""
        return self.status if self.labelled else UNLABELLED


@dataclass(frozen=True, slots=True)
class Matching:
    """The matches of one scenario, and counts for a ground truth that has a total but no list of findings.

    `severities_compared` is how many of the exact and moved findings have a severity that is expected.
    """

    matches: tuple[Match, ...]
    expected: int
    unlisted_detected: int = 0
    unlisted_missed: int = 0
    unlisted_unexpected: int = 0
    severities_compared: int = 0

    def count(self, status: str) -> int:
        """Return how many findings have this status, listed or not."""
        return self.counts()[status]

    def counts(self) -> Counter[str]:
        """Return how many findings have each status, listed or not."""
        unlisted = {
            EXACT: self.unlisted_detected,
            MISSED: self.unlisted_missed,
            UNEXPECTED: self.unlisted_unexpected,
        }
        return Counter(map(attrgetter("status"), self.matches)) + Counter(unlisted)

    def truth_paths(self) -> frozenset[str]:
        """Return the paths of what is expected."""
        return frozenset(match.file_path for match in self.matches if match.status != UNEXPECTED)

    @property
    def unlabelled(self) -> int:
        """How many of the unexpected findings the truth says nothing of."""
        return sum(not match.labelled for match in self.matches)


# A reported finding as what an expected one was found; and where one may stand: rule id and line.
_Taken = tuple[str, Reported]
_Place = tuple[str, int]
_Places = Callable[[ExpectedFinding], Iterable[_Place]]


def match_findings(
    expected: Expected,
    reported: Iterable[Mapping[str, Any]],
    severity_of: Callable[[str, str], str] | None = None,
    clean: Container[TruthPlace] | None = None,
) -> Matching:
    """Match in passes: all exact ones, moved (nearest line, at most 3 away), relabelled (aliases first), loose ones.

    `severity_of` gives the severity of a missed finding by rule id and path, as the policy has it. `clean` are the
    places where the truth says that nothing is to be found; of any other it says nothing then. Of a truth that is
    pinned to a commit nothing is moved.
    """
    found = _by_file(reported)
    wanted: defaultdict[str, list[ExpectedFinding]] = defaultdict(list)
    loose: list[ExpectedFinding] = []
    for finding in sorted(expected.findings, key=attrgetter("file_path", "line_number", "rule_id")):
        (loose if finding.is_loose else wanted[finding.file_path]).append(finding)
    matches: list[Match] = []
    compared = 0
    # Where no line moves, a decoy beside a secret that is lost must not stand for it.
    wrong = _wrong(found, clean) if expected.is_pinned else {}
    moved_at_most = 0 if expected.is_pinned else MOVED_AT_MOST
    # No finding changes its file, so that each file is matched by itself, and most of a report is in no such file.
    for path, findings in wanted.items():
        taken, found[path] = _pair(findings, found.get(path, ()), moved_at_most)
        matches += map(_matched, findings, taken, repeat(severity_of))
        compared += sum(map(_compares_severity, findings, taken))
    wrong = wrong or _wrong(found, clean)
    if loose:
        matches += map(_matched, loose, _taken_loosely(loose, found), repeat(severity_of))
    left = [
        Match(*(UNEXPECTED, path, line, rule, severity or None, rule, line, severity or None), labelled=labelled)
        for path in sorted(found.keys() | wrong.keys())
        for (line, rule, severity), labelled in sorted(
            [*((one, clean is None) for one in found.get(path, ())), *((one, True) for one in wrong.get(path, ()))]
        )
    ]
    listed = len(matches)
    unlisted = expected.total_secrets - listed
    if unlisted <= 0:
        return Matching(tuple(matches + left), listed, severities_compared=compared)
    # The list is shorter than the total: which of the rest are expected is not known, how many is.
    detected = min(unlisted, len(left))
    missed, unexpected = unlisted - detected, len(left) - detected
    return Matching(tuple(matches), expected.total_secrets, detected, missed, unexpected, compared)


def missed_places(expected: Expected, reported: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the places (`file:line`, or the file) of what is expected and not reported, one to one."""
    return [match.place for match in match_findings(expected, reported).matches if match.status == MISSED]


def alias_of(rule_id: str, other: str) -> bool:
    """Return whether one of two rule ids was renamed to the other, between versions or scanners."""
    return other in _aliases().get(rule_id, ())


@cache
def _aliases() -> Mapping[str, Sequence[str]]:
    """Return the other ids of each rule that was renamed, in order."""
    aliases: defaultdict[str, list[str]] = defaultdict(list)
    for rename in json.loads(_ALIASES.read_text(encoding="utf-8")):
        for rule_id in rename["now"]:
            aliases[rename["was"]].append(rule_id)
            aliases[rule_id].append(rename["was"])
    return {rule_id: sorted(others) for rule_id, others in aliases.items()}


def _wrong(
    found: MutableMapping[str, list[Reported]], clean: Container[TruthPlace] | None
) -> dict[str, list[Reported]]:
    """Return what stands where the truth says that nothing is to be found; it leaves `found`."""
    wrong = {}
    for path, findings in found.items() if clean else ():
        held = [(path, line, rule) in (clean or ()) for line, rule, _ in findings]
        if any(held):
            wrong[path] = list(compress(findings, held))
            found[path] = list(compress(findings, map(not_, held)))
    return wrong


def _taken_loosely(
    loose: Sequence[ExpectedFinding], found: MutableMapping[str, list[Reported]]
) -> Iterator[_Taken | None]:
    for pair in pair_loose([finding.window for finding in loose], found, MOVED_AT_MOST):
        yield (MOVED if pair.moved else EXACT, pair.finding) if pair else None


def _by_file(reported: Iterable[Mapping[str, Any]]) -> dict[str, list[Reported]]:
    found: defaultdict[str, list[Reported]] = defaultdict(list)
    for finding in reported:
        line, severity = finding.get("line_number"), finding.get("severity")
        found[str(finding.get("file_path", ""))].append(
            (
                line if type(line) is int else NO_LINE,  # a boolean is an int, too, and no line
                str(finding.get("rule_id", "")),
                severity if isinstance(severity, str) else "",
            )
        )
    return dict(found)


def _pair(
    wanted: Sequence[ExpectedFinding], reported: Iterable[Reported], moved_at_most: int
) -> tuple[list[_Taken | None], list[Reported]]:
    """Return what became of each expected finding of a file, and the reported ones that are left."""
    taken: list[_Taken | None] = [None] * len(wanted)
    # Reversed, so that pop() takes the first.
    in_order = sorted(reported, reverse=True)

    def take(status: str, free: Mapping[_Place, list[Reported]], places: _Places) -> None:
        for index, finding in enumerate(wanted):
            if taken[index] is None:
                for place in places(finding):
                    if free_here := free.get(place):
                        taken[index] = (status, free_here.pop())
                        break

    by_rule = _grouped(in_order, lambda found: (found[1], found[0]))
    # The nearest first, over all findings: a far one must not take what another is nearer to.
    for distance in range(moved_at_most + 1):
        take(MOVED if distance else EXACT, by_rule, partial(_lines_at, distance))
    take(RELABELLED, by_rule, _renamed)
    by_line = _grouped(sorted(chain.from_iterable(by_rule.values()), reverse=True), lambda found: ("", found[0]))
    take(RELABELLED, by_line, lambda finding: [("", finding.line_number)])
    return taken, list(chain.from_iterable(by_line.values()))


def _grouped(found: Iterable[Reported], place: Callable[[Reported], _Place]) -> dict[_Place, list[Reported]]:
    groups: defaultdict[_Place, list[Reported]] = defaultdict(list)
    for one in found:
        groups[place(one)].append(one)
    return dict(groups)


def _lines_at(distance: int, finding: ExpectedFinding) -> Sequence[_Place]:
    return (finding.rule_id, finding.line_number - distance), (finding.rule_id, finding.line_number + distance)


def _renamed(finding: ExpectedFinding) -> Sequence[_Place]:
    return [(rule_id, finding.line_number) for rule_id in _aliases().get(finding.rule_id, ())]


def _compares_severity(finding: ExpectedFinding, taken: _Taken | None) -> bool:
    return finding.expected_severity is not None and taken is not None and taken[0] != RELABELLED


def _matched(finding: ExpectedFinding, taken: _Taken | None, severity_of: Callable[[str, str], str] | None) -> Match:
    if taken is None and severity_of:
        level = severity_of(finding.rule_id, finding.file_path)
        return Match(MISSED, finding.file_path, finding.line_number, finding.rule_id, level, None, None)
    status, (line, rule_id, severity) = taken or (MISSED, (None, None, None))
    return Match(
        status,
        finding.file_path,
        finding.line_number,
        finding.rule_id,
        finding.expected_severity or severity or None,
        rule_id,
        line,
        severity or None,
    )
