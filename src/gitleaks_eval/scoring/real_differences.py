"""What differs between the findings of two candidates in a repository without any truth. Pure."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

LOST, NEW, MOVED = "lost", "new", "moved"
RELABELLED, SEVERITY_CHANGED = "relabelled", "severity_changed"
# The same finding, credited to another commit: Gitleaks up to 8.20 names a neighbour (upstream #1333, #1559).
REATTRIBUTED = "reattributed"
KINDS = (LOST, NEW, MOVED, RELABELLED, SEVERITY_CHANGED, REATTRIBUTED)
# How a cause begins that was not looked for: nothing is pinned to it.
NOT_SEARCHED = "not searched"
# How a cause begins that no identity of a candidate says anything of.
SUPPRESSED = "the repository's own suppressions hide it with "


class RealFinding(NamedTuple):
    """A finding of a real repository: where it is shown, and what it is compared by.

    `path_key` and `value` are keyed hashes of the raw path and of the secret, which differ from run to run;
    `file_path` and `rule_id` are as the reports show them. `decoded` says that the scanner decoded it.
    `compared_commit` is the commit that it is compared by, empty where that is `commit`.
    """

    commit: str
    file_path: str
    path_key: str
    line_number: int
    rule_id: str
    value: str
    severity: str
    in_head: bool
    decoded: bool = False
    compared_commit: str = ""


class Change(NamedTuple):
    """A finding that differs, and what that is: the baseline's where it has one, and the candidate's."""

    kind: str
    baseline: RealFinding | None
    candidate: RealFinding | None

    @property
    def finding(self) -> RealFinding:
        """The baseline's finding, else the candidate's."""
        found = self.baseline or self.candidate
        assert found is not None  # noqa: S101 - one of the two is always there
        return found


class Other(NamedTuple):
    """Where else a secret stands that differs in the same way."""

    commit: str
    file_path: str
    line_number: int
    candidate_commit: str | None = None


@dataclass(frozen=True, slots=True)
class RealDifference:
    """A secret that differs, with its `count` findings folded into the first of them; `others` has the rest.

    `candidate_rule_id` is None where the candidate reports nothing, `cause` where none is proven.
    `candidate_line_number` is that of what is moved, `candidate_commit` the commit that the candidate names for the
    baseline's. Of a lost or new secret that the other side reports elsewhere in the repository, `elsewhere` is true.
    """

    kind: str
    commit: str
    file_path: str
    line_number: int
    rule_id: str
    candidate_rule_id: str | None
    in_head: bool
    cause: str | None
    count: int
    candidate_line_number: int | None = None
    candidate_commit: str | None = None
    elsewhere: bool = False
    others: tuple[Other, ...] = ()


@dataclass(frozen=True, slots=True)
class RealComparison:
    """A repository at one commit, as two candidates see it: `same` findings, and what differs.

    `same` and the counts of a side's kinds are all its findings. `production`, where a candidate is evaluated with the
    repository's own configuration, has the same for what is left when everything is obeyed that hides findings.
    Times and peaks of memory are of one scan each; a peak is None where it is not known. They decide nothing. `own` are
    the hashes of the repository's own configuration, empty for a candidate that has another. `broken` counts by file
    the lines that name findings by the baseline's commits, and that no longer match with the candidate.
    """

    repository: str
    commit: str
    same: int
    differences: tuple[RealDifference, ...]
    times_ms: tuple[float, float] | None = None
    peaks_kib: tuple[int | None, int | None] | None = None
    production: "RealComparison | None" = None
    own: tuple[str, str] = ("", "")
    broken: Mapping[str, int] = field(default_factory=dict)

    @property
    def differs(self) -> bool:
        """Whether anything differs, in production or without what hides findings."""
        return bool(self.differences or (self.production and self.production.differences))

    def of(self, kind: str) -> list[RealDifference]:
        """Return the differences of a kind."""
        return [difference for difference in self.differences if difference.kind == kind]

    def count(self, kind: str) -> int:
        """Return how many findings differ in this way."""
        return sum(difference.count for difference in self.differences if difference.kind == kind)


@dataclass(frozen=True, slots=True)
class Group:
    """Differences of one kind, rule and cause, in all repositories.

    `count` is how many findings they are, `in_head` how many of them stand in HEAD, and `elsewhere` of how many the
    other side reports the value in another place.
    """

    kind: str
    rule_id: str
    candidate_rule_id: str | None
    cause: str | None
    repositories: tuple[str, ...]
    count: int
    in_head: int
    elsewhere: int = 0

    @property
    def proven_cause(self) -> str | None:
        """The cause; None where none was proven, or none was searched."""
        return None if self.cause and self.cause.startswith(NOT_SEARCHED) else self.cause


@dataclass(frozen=True, slots=True)
class Real:
    """What a pair differs in on real repositories; `problems` say which could not be compared, and why.

    `approved` are the groups that people have approved, each with its reason: they are counted, and not to review.
    """

    compared: tuple[RealComparison, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    approved: Mapping[Group, str] = field(default_factory=dict)

    def groups(self) -> list[Group]:
        """Return all differences by kind, rule and cause; of what differs in production alone, those too."""
        raw = groups(self.compared)
        known = {(one.kind, one.rule_id, one.candidate_rule_id, one.cause) for one in raw}
        production = groups(one.production for one in self.compared if one.production)
        only = [one for one in production if (one.kind, one.rule_id, one.candidate_rule_id, one.cause) not in known]
        return raw + only

    def to_review(self) -> list[Group]:
        """Return the groups that nobody has approved, but for those in which only the name of a commit differs."""
        return [group for group in self.groups() if group not in self.approved and group.kind != REATTRIBUTED]

    @property
    def broken(self) -> bool:
        """Whether lines that suppress or label findings no longer match with the candidate."""
        return any(comparison.broken for comparison in self.compared)

    def reasons(self) -> Iterator[str]:
        """Yield what the verdict says of them."""
        for kind in KINDS:
            found = [group for group in self.groups() if group.kind == kind]
            if found:
                names = sorted({name for one in found for name in one.repositories})
                few = ", ".join([*names[:3], *["…"] * (len(names) > 3)])
                yield f"{sum(one.count for one in found)} {_WORDS[kind]} in {few} (real, labels aside)"
        for comparison in self.compared:
            for file, count in comparison.broken.items():
                yield f"{count} of the lines of {file} in {comparison.repository} stop matching: {MEND_LINES}"
        if self.approved:
            yield f"{sum(one.count for one in self.approved)} of them approved"


_WORDS = {**dict(zip(KINDS, KINDS, strict=True)), SEVERITY_CHANGED: "of another severity"}
_WORDS[REATTRIBUTED] = "credited to another commit"
MEND_LINES = (
    "they name commits as the baseline does; gitleaks-eval lint --repo PATH --fix mends ignore lists, "
    "and baseline files and labels must be recorded anew"
)


def changes(
    baseline: Sequence[RealFinding], candidate: Sequence[RealFinding]
) -> tuple[list[tuple[RealFinding, RealFinding]], list[Change]]:
    """Match the findings of two candidates one to one: the pairs that are the same, and all others by what they are.

    What both report in the same commit, file and line with the same rule and value is the same, and reattributed where
    they name that commit differently; then, of what is left:
    the same value there with another severity, or under another rule; the same rule and value on another line; the
    same rule on the same line with another value (it takes another part of the text). The rest is lost or new.
    """
    same, left, right = _paired(baseline, candidate, lambda one: (*_spot(one), one.rule_id, one.value, one.severity))
    found = [Change(REATTRIBUTED, old, new) for old, new in same if old.commit != new.commit]
    same = [(old, new) for old, new in same if old.commit == new.commit]
    for kind, key in _PASSES:
        pairs, left, right = _paired(left, right, key)
        found += [Change(kind, old, new) for old, new in pairs]
    found += [Change(LOST, one, None) for one in left]
    found += [Change(NEW, None, one) for one in right]
    return same, found


def _commit(real_finding: RealFinding) -> str:
    return real_finding.compared_commit or real_finding.commit


def _spot(real_finding: RealFinding) -> tuple[Any, ...]:
    return _commit(real_finding), real_finding.path_key, real_finding.line_number


Key = Callable[[RealFinding], tuple[Any, ...]]
_PASSES: tuple[tuple[str, Key], ...] = (
    (SEVERITY_CHANGED, lambda one: (*_spot(one), one.rule_id, one.value)),
    (RELABELLED, lambda one: (*_spot(one), one.value)),
    (MOVED, lambda one: (_commit(one), one.path_key, one.rule_id, one.value)),
    (MOVED, lambda one: (*_spot(one), one.rule_id)),
)


def _paired(
    left: Sequence[RealFinding], right: Sequence[RealFinding], key: Key
) -> tuple[list[tuple[RealFinding, RealFinding]], list[RealFinding], list[RealFinding]]:
    """The pairs with equal keys, the first with the first, and what is left of both sides, each in its own order.

    What is left keeps its order, so that the next pass pairs the same two whichever side is called the baseline.
    """
    waiting: defaultdict[tuple[Any, ...], list[RealFinding]] = defaultdict(list)
    for one in reversed(right):
        waiting[key(one)].append(one)
    pairs, rest = [], []
    for one in left:
        if there := waiting.get(key(one)):
            pairs.append((one, there.pop()))
        else:
            rest.append(one)
    taken = Counter(key(new) for _, new in pairs)
    unpaired = []
    for one in right:
        if taken[key(one)]:
            taken[key(one)] -= 1
        else:
            unpaired.append(one)
    return pairs, rest, unpaired


def still_reported(
    found: Iterable[Change], baseline: Iterable[RealFinding], candidate: Iterable[RealFinding]
) -> dict[Change, str]:
    """For what is lost or new, the rule under which the other side reports the same value in the same place."""
    rules: dict[str, dict[tuple[Any, ...], str]] = {LOST: {}, NEW: {}}
    for kind, findings in ((LOST, candidate), (NEW, baseline)):
        for finding in findings:
            rules[kind].setdefault((*_spot(finding), finding.value), finding.rule_id)
    causes = {}
    for change in found:
        if change.kind in rules and (rule := rules[change.kind].get((*_spot(change.finding), change.finding.value))):
            causes[change] = rule
    return causes


def suppressed(
    found: Iterable[Change], raw: Sequence[Iterable[RealFinding]], names: tuple[str, str]
) -> dict[Change, str]:
    """Of what differs in production, what the other side finds as well: its suppressions hide it there.

    `raw` are the findings of both sides when nothing is obeyed that hides some.
    """
    there = [{(*_spot(finding), finding.rule_id, finding.value) for finding in findings} for findings in raw]
    causes = {}
    for change in found:
        one, other = change.finding, int(change.kind == LOST)
        if change.kind in {LOST, NEW} and (*_spot(one), one.rule_id, one.value) in there[other]:
            causes[change] = f"{SUPPRESSED}{names[other]}"
    return causes


def folded(
    found: Iterable[Change], causes: Mapping[Change, str], sides: Sequence[Sequence[RealFinding]] = ((), ())
) -> tuple[RealDifference, ...]:
    """The changes as people read them: one for each secret that differs in one way.

    Those come first whose value is in no finding of the other of the two `sides`, then HEAD, then the largest.
    """
    reported = [{finding.value for finding in findings} for findings in reversed(sides)]
    elsewhere = dict(zip((LOST, NEW), reported, strict=True))
    together: defaultdict[tuple[Any, ...], list[Change]] = defaultdict(list)
    for change in found:
        one, new = change.finding, change.candidate
        rules = (one.rule_id, new.rule_id if new else None)
        together[change.kind, one.value, rules, causes.get(change), one.in_head].append(change)
    rows = [
        replace(_row(group, causes), elsewhere=group[0].finding.value in elsewhere.get(group[0].kind, ()))
        for group in together.values()
    ]
    return tuple(sorted(rows, key=lambda row: (row.elsewhere, not row.in_head, -row.count, *_order(row))))


def _order(real_difference: RealDifference) -> tuple[Any, ...]:
    return (
        real_difference.rule_id,
        real_difference.file_path,
        real_difference.line_number,
        real_difference.commit,
        KINDS.index(real_difference.kind),
    )


def _row(group: Sequence[Change], causes: Mapping[Change, str]) -> RealDifference:
    ordered = sorted(group, key=lambda one: (one.finding.file_path, one.finding.line_number, one.finding.commit))
    first, one = ordered[0], ordered[0].finding
    return RealDifference(
        kind=first.kind,
        commit=one.commit,
        file_path=one.file_path,
        line_number=one.line_number,
        rule_id=one.rule_id,
        candidate_rule_id=first.candidate.rule_id if first.candidate else None,
        in_head=one.in_head,
        cause=causes.get(first),
        count=len(group),
        candidate_line_number=first.candidate.line_number if first.kind == MOVED and first.candidate else None,
        candidate_commit=_other_commit(first),
        others=tuple(
            Other(one.commit, one.file_path, one.line_number, _other_commit(change))
            for change, one in ((change, change.finding) for change in ordered[1:])
        ),
    )


def _other_commit(change: Change) -> str | None:
    old, new = change.baseline, change.candidate
    return new.commit if old and new and old.commit != new.commit else None


def groups(compared: Iterable[RealComparison]) -> list[Group]:
    """Return the differences of all repositories by kind, rule and cause: HEAD before history, the largest first."""
    found: dict[tuple[Any, ...], Group] = {}
    for comparison in compared:
        for difference in comparison.differences:
            key = (difference.kind, difference.rule_id, difference.candidate_rule_id, difference.cause)
            group = found.get(key) or Group(*key, repositories=(), count=0, in_head=0)
            found[key] = replace(
                group,
                repositories=tuple(dict.fromkeys((*group.repositories, comparison.repository))),
                count=group.count + difference.count,
                in_head=group.in_head + difference.count * difference.in_head,
                elsewhere=group.elsewhere + difference.count * difference.elsewhere,
            )
    return sorted(found.values(), key=group_order)


def group_order(group: Group) -> tuple[Any, ...]:
    """Return how groups are sorted: those that people must look at first, then those of HEAD, then the largest."""
    return (
        group.kind == REATTRIBUTED or group.elsewhere == group.count,
        not group.in_head,
        -group.count,
        KINDS.index(group.kind),
        group.rule_id,
        group.candidate_rule_id or "",
        group.cause or "",
    )
