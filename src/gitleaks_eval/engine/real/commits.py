"""The commits that two builds name differently, and the lines of a repository that such a name ends."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gitleaks_eval.core.documents import LARGEST_JSON
from gitleaks_eval.corpora.kinds.labels import labelled_places
from gitleaks_eval.engine.scan.clones import shared_clone, shared_readable
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.clone import Clone
from gitleaks_eval.repositories.head import contents_of
from gitleaks_eval.repositories.log import names_up_to_8_20
from gitleaks_eval.scanners.adapter import Adapter
from gitleaks_eval.scanners.known_findings import known_findings
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.real_differences import REATTRIBUTED, Change, RealFinding

ANY_COMMIT = ""


class Place(NamedTuple):
    """A finding as lines of files name it: a fingerprint, an entry of known findings, a label."""

    commit: str
    path: str
    line_number: int
    rule_id: str


def compared_commits(
    session: Session, names: tuple[str, str], repository: RealRepository
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return for each of two candidates the commits that it is compared by under another name, with that name.

    Gitleaks up to 8.20 credits findings to a neighbour of their commit (upstream #1333, #1559). Where the other
    candidate does not, its commits are compared by the neighbour's name.

    Raises:
        EvaluationError: when git cannot read the history, or not in time.
    """
    benches = [session.workbench(name).bench for name in names]
    scanners = [session.workbench(name).scanner for name in names]
    are_exact = [scanner.build.adapter.names_own_commits(scanner.build.version) for scanner in scanners]
    if len(set(are_exact)) == 1 or {scanner.mode for scanner in scanners} != {"git"}:
        return {}, {}
    older = scanners[are_exact.index(False)]
    clone = shared_clone(benches[0], repository)
    history = BuiltRepository(clone.path, shared_readable(benches[0], repository.name, clone.path))
    renamed = names_up_to_8_20(clone.path, session.settings.timeout_seconds, older.log_command(history))
    return ({}, renamed) if are_exact[1] else (renamed, {})


def broken_lines(
    session: Session, name: str, repository: RealRepository, found: Sequence[Change], raw_paths: Mapping[str, str]
) -> dict[str, int]:
    """Count by file the lines that name a reattributed finding as the baseline does, and not as the candidate does.

    Those are lines of the ignore list, of the file of known findings, and of the project's labels. `raw_paths` has
    the paths that the findings show masked.

    Raises:
        EvaluationError: when the file of known findings is no report.
        InputError: when labels cannot be read.
    """
    renamed = {
        _place(change.baseline, raw_paths): _place(change.candidate, raw_paths)
        for change in found
        if change.kind == REATTRIBUTED and change.baseline and change.candidate
    }
    if not renamed:
        return {}
    bench = session.workbench(name).bench
    clone, seconds = shared_clone(bench, repository), session.settings.timeout_seconds
    adapter = session.workbench(name).scanner.build.adapter
    files = {
        **ignored_places(clone, adapter, seconds),
        **_known_places(clone, bench.candidate.own_baseline, seconds),
        **_labelled_places(repository, session.settings.root),
    }
    counts = {file: _broken(places, renamed) for file, places in files.items()}
    return {file: count for file, count in counts.items() if count}


def _broken(places: Sequence[Place], renamed: Mapping[Place, Place]) -> int:
    there = set(places)
    ended = (renamed[place] for place in places if place in renamed)
    return sum(there.isdisjoint((place, place._replace(commit=ANY_COMMIT))) for place in ended)


def _place(finding: RealFinding, raw_paths: Mapping[str, str]) -> Place:
    path = raw_paths.get(finding.file_path, finding.file_path)
    return Place(finding.commit, path, finding.line_number, finding.rule_id)


def ignored_places(clone: Clone, adapter: Adapter, seconds: float) -> dict[str, list[Place]]:
    """Return the entries of the ignore list that a scanner reads at the root of a commit, by the name of the file.

    Raises:
        EvaluationError: when git cannot read it, or not in time.
    """
    for name in adapter.ignore_files:
        if (content := _content(clone, name, seconds)) is not None:
            return {name: list(entries_of(content.decode("utf-8", "replace")))}
    return {}


def entries_of(ignore_list: str) -> Iterator[Place]:
    """Yield the entries of an ignore list, `commit:path:rule:line` or without commit; what is no entry is left out."""
    for line in ignore_list.split("\n"):
        named, _, number = line.strip().replace("\\", "/").rpartition(":")
        before, _, rule_id = named.rpartition(":")
        commit, _, path = before.rpartition(":")
        if number.isdecimal() and not line.startswith("#"):
            yield Place(commit, path, int(number), rule_id)


def _known_places(clone: Clone, name: str, seconds: float) -> dict[str, list[Place]]:
    content = _content(clone, name, seconds) if name else None
    if content is None:
        return {}
    entries = [known.entry for known in known_findings(content)]
    return {name: [Place._make(entry.get(key, "") for key in _KEYS) for entry in entries]}


def _labelled_places(repository: RealRepository, root: Path) -> dict[str, list[Place]]:
    labelled = labelled_places(repository, root)
    return {str(path.relative_to(root)): list(map(Place._make, places)) for path, places in labelled.items()}


_KEYS = ("Commit", "File", "StartLine", "RuleID")


def _content(clone: Clone, name: str, seconds: float) -> bytes | None:
    asked = f"{clone.commit}:{name}".encode("utf-8", "surrogateescape")
    (content,) = contents_of(clone.path, [asked], LARGEST_JSON, seconds)
    return content
