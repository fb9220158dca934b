"""What a candidate changes in thousands of repositories: their rows, counted one by one. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gitleaks_eval.config.eval_file import Approval
from gitleaks_eval.core.text import numbered
from gitleaks_eval.scoring.approvals import approved
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, REVIEW, SAFE
from gitleaks_eval.scoring.real_differences import (
    KINDS,
    LOST,
    MEND_LINES,
    MOVED,
    NEW,
    REATTRIBUTED,
    RELABELLED,
    SEVERITY_CHANGED,
    Group,
    RealComparison,
    RealDifference,
    group_order,
)

CAUSES_AT_MOST = 5


class PairRow(NamedTuple):
    """What a pair differs in on one repository; `real` is None where it could not be compared, for this `problem`.

    `truth_lost` counts what is labelled as a secret, found by the baseline, and lost; `truth_better` the decoys that
    are no longer reported, and the secrets that are newly found. Without labels both are None.
    """

    baseline: str
    candidate: str
    real: RealComparison | None
    problem: str = ""
    truth_lost: int | None = None
    truth_better: int | None = None


class RepositoryRow(NamedTuple):
    """A repository of the list: its number there (from 0), its name, where it is, and what each pair differs in."""

    number: int
    repository: str
    source: str
    pairs: tuple[PairRow, ...]

    @property
    def problems(self) -> list[str]:
        """Why it is not compared whole, each reason once; empty where it is."""
        return list(dict.fromkeys(pair.problem for pair in self.pairs if pair.real is None))

    @property
    def differs(self) -> bool:
        """Whether anything differs for any pair."""
        return any(pair.real is not None and pair.real.differs for pair in self.pairs)


class Cause(NamedTuple):
    """Differences of one kind with one cause: the rules, and how many findings and repositories there are."""

    kind: str
    cause: str | None
    rules: tuple[str, ...]
    findings: int
    in_head: int
    repositories: int


@dataclass(slots=True)
class _Group:
    """A group while it grows; names by the number of the repository."""

    count: int = 0
    in_head: int = 0
    elsewhere: int = 0
    names: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Groups:
    """Groups by kind, rule, the candidate's rule, and cause."""

    found: dict[tuple[str, str, str | None, str | None], _Group] = field(default_factory=dict)

    def add(self, number: int, name: str, differences: Iterable[RealDifference]) -> None:
        """Count the differences of a repository."""
        for difference in differences:
            group = self.found.setdefault(
                (difference.kind, difference.rule_id, difference.candidate_rule_id, difference.cause), _Group()
            )
            group.count += difference.count
            group.in_head += difference.count * difference.in_head
            group.elsewhere += difference.count * difference.elsewhere
            group.names[number] = name

    def groups(self) -> list[Group]:
        """Return all of them: HEAD before history, the largest first."""
        made = [
            Group(*key, tuple(one.names[number] for number in sorted(one.names)), one.count, one.in_head, one.elsewhere)
            for key, one in self.found.items()
        ]
        return sorted(made, key=group_order)


@dataclass(slots=True)
class Tally:
    """What a pair differs in on all repositories that were counted so far; it holds no row.

    `alerted` and `losing` count repositories with new and lost findings, by whether there is one in HEAD.
    `unfinished` are those that could not be compared, by number: name and reason.
    """

    baseline: str
    candidate: str
    compared: int = 0
    same: int = 0
    truth_lost: int = 0
    truth_better: int = 0
    broken: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    alerted: Counter[bool] = field(default_factory=Counter)
    losing: Counter[bool] = field(default_factory=Counter)
    unfinished: dict[int, tuple[str, str]] = field(default_factory=dict)
    _raw: _Groups = field(default_factory=_Groups)
    _production: _Groups = field(default_factory=_Groups)

    @property
    def total(self) -> int:
        """How many repositories were counted."""
        return self.compared + len(self.unfinished)

    def add(self, row: RepositoryRow, pair: PairRow) -> None:
        """Count what the pair differs in on one repository."""
        if pair.real is None:
            self.unfinished[row.number] = row.repository, pair.problem
            return
        self.compared += 1
        self.same += pair.real.same
        self.truth_lost += pair.truth_lost or 0
        self.truth_better += pair.truth_better or 0
        self.broken += bool(pair.real.broken)
        for one in pair.real.differences:
            self.counts[one.kind] += one.count
        seen = pair.real.production or pair.real
        for kind, repositories in ((NEW, self.alerted), (LOST, self.losing)):
            if found := seen.of(kind):
                repositories[any(one.in_head for one in found)] += 1
        self._raw.add(row.number, row.repository, pair.real.differences)
        if pair.real.production:
            self._production.add(row.number, row.repository, pair.real.production.differences)

    def groups(self) -> list[Group]:
        """Return all differences by kind, rule and cause; of what differs in production alone, those too."""
        raw, production = self._raw.groups(), self._production.groups()
        return raw + [one for one in production if _key(one) not in self._raw.found]

    def reasons(self, approved: int) -> Iterator[str]:
        """Yield what the verdict says, the most urgent first; `approved` is how many findings are."""
        if self.unfinished:
            yield f"{len(self.unfinished)} of {self.total} repositories could not be compared"
        if self.truth_lost:
            yield f"{numbered(self.truth_lost, 'finding')} labelled as a secret lost"
        yield from _repositories(self.alerted, "new alerts")
        yield from _repositories(self.losing, "lost findings")
        yield from (f"{self.counts[kind]} {text}" for kind, text in _BESIDE.items() if self.counts[kind])
        if self.broken:
            where = numbered(self.broken, "repository", "repositories")
            yield f"suppressions or labels stop matching in {where}: {MEND_LINES}"
        if self.truth_better:
            yield f"{self.truth_better} better by labels"
        if approved:
            yield f"{approved} of them approved"

    def judged(self, approvals: Sequence[Approval], identities: tuple[str, str]) -> "Judged":
        """Return the verdict, where these approvals hold for the two candidates of these identities."""
        groups = self.groups()
        return Judged(self, groups, approved(groups, approvals, lambda _: identities))


_BESIDE = {
    MOVED: "moved",
    RELABELLED: "relabelled",
    SEVERITY_CHANGED: "of another severity",
    REATTRIBUTED: "credited to another commit",
}


def _repositories(found: Counter[bool], what: str) -> Iterator[str]:
    if found:
        places = {True: "in HEAD", False: "in history alone"}
        parts = [f"{found[in_head]} {text}" for in_head, text in places.items() if found[in_head]]
        yield f"{what} in {numbered(found.total(), 'repository', 'repositories')} ({', '.join(parts)})"


def _key(group: Group) -> tuple[str, str, str | None, str | None]:
    return group.kind, group.rule_id, group.candidate_rule_id, group.cause


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair on all repositories: what was counted, its groups, and which of them people have approved."""

    tally: Tally
    groups: Sequence[Group]
    approved: Mapping[Group, str]

    @property
    def verdict(self) -> str:
        """SAFE only where every repository was compared, and nothing differs that nobody has approved."""
        if self.tally.unfinished or not self.tally.compared:
            return INCOMPLETE
        if self.tally.truth_lost:
            return REGRESSION
        return REVIEW if self.to_review or self.tally.broken else SAFE

    @property
    def to_review(self) -> list[Group]:
        """The groups that nobody has approved, but for those in which only the name of a commit differs."""
        return [group for group in self.groups if group not in self.approved and group.kind != REATTRIBUTED]

    def reasons(self) -> list[str]:
        """Return why it is that verdict."""
        found = list(self.tally.reasons(sum(one.count for one in self.approved)))
        same = f"nothing differs in {numbered(self.tally.compared, 'repository', 'repositories')}"
        return found if self.groups or not self.tally.compared else [*found, same]

    def causes(self) -> list[Cause]:
        """Return the largest causes of what nobody has approved, HEAD first."""
        together: dict[tuple[str, str | None], list[Group]] = {}
        for one in self.to_review:
            together.setdefault((one.kind, one.cause), []).append(one)
        found = [
            Cause(
                kind,
                cause,
                tuple(dict.fromkeys(group.rule_id for group in groups)),
                sum(group.count for group in groups),
                sum(group.in_head for group in groups),
                len({name for group in groups for name in group.repositories}),
            )
            for (kind, cause), groups in together.items()
        ]
        return sorted(found, key=_largest)[:CAUSES_AT_MOST]


def _largest(cause: Cause) -> tuple[Any, ...]:
    return -cause.in_head, -cause.findings, KINDS.index(cause.kind), cause.cause or ""
