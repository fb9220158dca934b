"""What candidates report in a repository at one commit, recorded as findings to be labelled: without any value."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.core.text import printable
from gitleaks_eval.corpora.labels_file import LabelledFinding, LabelsFile, in_order
from gitleaks_eval.engine.session.single_candidate import single_candidate
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.repositories.pinned import history_of, pinned_clone
from gitleaks_eval.scanners.scan import Scanner
from gitleaks_eval.scanners.skipped_paths import unread_in
from gitleaks_eval.scenarios.redaction import masks_of
from gitleaks_eval.scenarios.scenario import RealRepository

# Commit, path, line, rule, first and last column.
Key = tuple[str, str, int, str, int, int]
Left = TypeVar("Left")
Right = TypeVar("Right")
# What of each of two things is compared.
Ways = tuple[Callable[[Left], Any], Callable[[Right], Any]]


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding that somebody reports: where it stands, its value, and which candidates report it.

    `path` is shown without a value, `raw_path` is that of the file.
    """

    key: Key
    raw_path: str = field(repr=False)
    value: str = field(repr=False)
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """What a repository holds at a commit: its clone, its history, and what the candidates of the pool report there."""

    path: Path
    commit: str
    history: frozenset[str]
    pool: tuple[str, ...]
    reported: tuple[Reported, ...]
    descriptions: Mapping[str, str]


@contextmanager
def cloned(repository: RealRepository, commit: str, settings: Settings) -> Iterator[tuple[Path, str]]:
    """Yield a private clone of a repository at a commit (empty: that of HEAD), and the id of the commit.

    Raises:
        EvaluationError: when it cannot be cloned, or does not have the commit.
    """
    with private_folder() as folder:
        clone = pinned_clone(repository, commit, folder, settings.timeout_seconds, settings.clone_bytes)
        yield clone.path, clone.commit


def look(settings: Settings, path: Path, commit: str, progress: Callable[[str], None]) -> Looked:
    """Scan a pinned clone with each candidate.

    Raises:
        EvaluationError: when a scanner is not there, or a scan does not count.
    """
    found: list[Reported] = []
    pool: dict[str, None] = {}
    descriptions: dict[str, str] = {}
    for candidate in settings.candidates:
        with single_candidate(replace(settings, candidates=(candidate,)), progress) as one:
            build = f"{one.scanner.build.name} {one.scanner.build.version}"
            name = build if candidate.name in {"", one.scanner.build.version} else f"{candidate.name}, {build}"
            pool[name] = None
            progress(f"scanning with {one.title}")
            mine: dict[Key, Reported] = {}
            for finding in _scanned(one.scanner, path):
                key, value = _key(finding), str(finding["Secret"])
                descriptions.setdefault(key[3], str(finding.get("Description") or ""))
                if key not in mine or len(mine[key].value) < len(value):
                    mine[key] = Reported(key, key[1], value, (name,))
            found = _joined(found, [mine[key] for key in sorted(mine)])
    masks = masks_of((one.raw_path for one in found), (one.value for one in found))
    shown = [replace(one, key=(one.key[0], masks(one.raw_path), *one.key[2:])) for one in found]
    shown.sort(key=lambda one: one.key)
    return Looked(path, commit, history_of(path), tuple(pool), tuple(shown), descriptions)


def _joined(found: Sequence[Reported], mine: Sequence[Reported]) -> list[Reported]:
    """The findings of several candidates and those of one more, each once: versions differ in columns and values."""
    pairs = _paired(found, mine, [(_exactly, _exactly), (_of_value, _of_value)], (_roughly, _roughly))
    joined = {
        id(one): replace(
            one, value=max(one.value, other.value, key=len), candidates=(*one.candidates, *other.candidates)
        )
        for one, other in pairs
    }
    new = {id(other) for _, other in pairs}
    return [*(joined.get(id(one), one) for one in found), *(one for one in mine if id(one) not in new)]


def _exactly(reported: Reported) -> Key:
    return reported.key


def _of_value(reported: Reported) -> tuple[Any, ...]:
    return (*reported.key[:4], reported.value)


def _roughly(reported: Reported) -> tuple[Any, ...]:
    return reported.key[:4]


def _scanned(scanner: Scanner, path: Path) -> Sequence[Mapping[str, Any]]:
    there = BuiltRepository(path, readable(path, scanner.timeout_seconds))
    scan = scanner.scan(path)
    if problem := unread_in(scanner, scan, there):
        raise EvaluationError(f"the scan does not count: {printable(problem)}")
    return scan.findings


def _key(finding: Mapping[str, Any]) -> Key:
    columns = (finding.get("StartColumn"), finding.get("EndColumn"))
    first, last = (column if type(column) is int and column >= 0 else 0 for column in columns)
    place = (str(finding["Commit"]), str(finding["File"]), max(0, int(finding["StartLine"])), str(finding["RuleID"]))
    return (*place, first, last)


@dataclass(frozen=True, slots=True)
class Merged:
    """Labels after a record, with what it reported of each finding by its id, and how many are new or not reported."""

    labels: LabelsFile
    reported: Mapping[int, Reported]
    new: int
    unreported: int


def merged(known: LabelsFile, looked: Looked) -> Merged:
    """Labels with what a record has found: what is new is added, and every label is kept.

    A finding is stale when its commit is no longer in the history. One that no candidate reports any more stays what
    it is: whether it is lost is what labels are for.
    """
    pairs = _paired(
        known.findings,
        looked.reported,
        [(lambda one: (*one.place, *one.columns), lambda found: found.key)],
        (lambda one: one.place, lambda found: found.key[:4]),
    )
    paired = {one.id: found for one, found in pairs}
    kept = [replace(finding, stale=finding.commit not in looked.history) for finding in known.findings]
    numbers = _Numbers(kept, paired)
    next_id = max((one.id for one in kept), default=0) + 1
    taken = {id(one) for one in paired.values()}
    added: list[LabelledFinding] = []
    for one in looked.reported:
        if id(one) not in taken:
            commit, path, line, rule, *columns = one.key
            added.append(
                LabelledFinding(
                    *(next_id, path, line, (columns[0], columns[1]), rule, commit, numbers.of(one.value)),
                )
            )
            paired[next_id] = one
            next_id += 1
    pool = tuple(dict.fromkeys((*known.pool, *looked.pool)))
    labels = LabelsFile(known.repository, looked.commit, pool, in_order([*kept, *added]))
    unreported = sum(one.id not in paired and not one.stale for one in kept)
    return Merged(labels, paired, len(added), unreported)


class _Numbers:
    """A running number a secret: one that is known keeps its number."""

    def __init__(self, kept: Iterable[LabelledFinding], paired: Mapping[int, Reported]) -> None:
        self._last = 0
        self._known: dict[str, int] = {}
        for one in kept:
            self._last = max(self._last, one.secret)
            if one.id in paired:
                self._known.setdefault(paired[one.id].value, one.secret)

    def of(self, value: str) -> int:
        if value not in self._known:
            self._last += 1
            self._known[value] = self._last
        return self._known[value]


def _paired(
    lefts: Sequence[Left], rights: Sequence[Right], ways: Sequence[Ways[Left, Right]], alone_at: Ways[Left, Right]
) -> list[tuple[Left, Right]]:
    """Pair what has the same key in the first of several ways, and last what is alone on both sides at one place."""
    pairs: list[tuple[Left, Right]] = []
    for (key, other_key), may_be_several in [*((way, True) for way in ways), (alone_at, False)]:
        waiting: defaultdict[Any, list[Right]] = defaultdict(list)
        for right in reversed(rights):
            waiting[other_key(right)].append(right)
        often = Counter(map(key, lefts))
        met = []
        for left in lefts:
            others = waiting[key(left)]
            if others and (may_be_several or len(others) == often[key(left)] == 1):
                met.append((left, others.pop()))
        pairs += met
        done = {id(one) for pair in met for one in pair}
        lefts = [one for one in lefts if id(one) not in done]
        rights = [one for one in rights if id(one) not in done]
    return pairs
