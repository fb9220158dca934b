"""Labels of one's own (`gitleaks-eval review`): true is expected, false is a decoy, all else is left out of account."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import TRUE as EXPECTED
from gitleaks_eval.corpora.labels import Label, expected_of_labels
from gitleaks_eval.corpora.labels_file import (
    FALSE,
    SKIPPED,
    TRUE,
    UNREVIEWED,
    LabelledFinding,
    LabelsFile,
    counts,
    is_ours,
    read_labels,
)
from gitleaks_eval.repositories.sources import place_of, read_source, real_repositories
from gitleaks_eval.scenarios.places import Places, Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected, RealRepository
from gitleaks_eval.scenarios.secrets import MASK

NAME = FOLDER = "labels"


def own_labels(path: Path, repository: RealRepository | None = None) -> tuple[Corpus, Expected]:
    """Read a file of labels: findings of a repository at a commit, which is cloned when it is scanned.

    It is cloned from where `repository` is, else from where the file says.

    Raises:
        InputError: when it cannot be read or is wrong (file and line), or its repository is not there.
    """
    read = read_labels(path)
    if read.labels is None:
        raise InputError(f"{OPTION} {NAME}:{path}: this is no file")
    labels = read.labels
    there = [finding for finding in labels.findings if not finding.stale]
    named = [one for one in there if MASK not in one.path]
    mixed = _of_two_minds(named)
    clear = [one for one in named if one.place not in mixed]
    expected = [one for one in clear if one.label == TRUE]
    secrets = {one.place[1:] for one in expected}
    # A report of a decoy must not stand for a secret that is lost in another commit.
    decoys = [one for one in clear if one.label == FALSE and one.place[1:] not in secrets]
    counted = {id(one) for one in (*expected, *decoys)}
    corpus = Corpus(
        NAME,
        path,
        _how(labels, len(there) - len(named), sum(id(one) not in counted for one in named)),
        Places(frozenset((decoy.path, decoy.line, decoy.rule) for decoy in decoys)),
        has_history=True,
        repository=repository or repository_of(path, labels),
        commit=labels.commit,
        left_out=frozenset(one.place for one in named if id(one) not in counted),
    )
    windows = [Window(one.path, one.line, one.line, one.rule) for one in expected]
    truth = expected_of_labels([Label(window, EXPECTED, "") for window in windows], has_history=True)
    return corpus, replace(truth, is_pinned=True)


def _of_two_minds(findings: Sequence[LabelledFinding]) -> set[tuple[str, str, int, str]]:
    """The lines of a commit on which findings of one rule have several labels: columns differ between versions."""
    labels: defaultdict[tuple[str, str, int, str], set[str]] = defaultdict(set)
    for finding in findings:
        labels[finding.place].add(finding.label if finding.label in {TRUE, FALSE} else UNREVIEWED)
    return {place for place, several in labels.items() if len(several) > 1}


def _how(labels: LabelsFile, masked: int, left_out: int) -> str:
    """Return what a corpus says of itself: what it is, what is left out of account, and what its recall means."""
    waiting = dict(counts(labels.findings))
    parts = [
        f"git repository, cloned at {labels.commit[:12]}",
        f"{left_out} of {len(labels.findings)} labels are left out of account" * bool(left_out),
        *(f"{waiting[name]} {name}" for name in (UNREVIEWED, SKIPPED, "stale") if waiting[name]),
        f"{masked} in paths that hold a secret, and cannot be looked up" * bool(masked),
        f"recall is relative to the pool of all that any candidate reported ({', '.join(labels.pool)})",
    ]
    return "; ".join(filter(None, parts))


def repository_of(path: Path, labels: LabelsFile) -> RealRepository:
    """Return the repository that a file of labels names.

    Raises:
        InputError: when there is no such folder, or it is no URL that can be cloned.
    """
    try:
        (repository,) = real_repositories([labels.repository], path.resolve().parent, ())
    except InputError as error:
        words = str(error).partition(": ")[2]
        raise InputError(f"{path}: repository: {words}") from None
    return repository


def files_about(repository: RealRepository, root: Path) -> list[Path]:
    """Return the files of labels of a project, `labels/*.yaml`, that are about a repository.

    Raises:
        InputError: when one cannot be read or is wrong.
    """
    return files_by_repository(root).get(place_of(repository.location), [])


def files_by_repository(root: Path) -> dict[str, list[Path]]:
    """Return the files of labels of a project, `labels/*.yaml`, by `place_of` their repository.

    Raises:
        InputError: when one cannot be read or is wrong.
    """
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted((root / FOLDER).glob("*.yaml")):
        if labels := read_labels(path).labels if is_ours(path) else None:
            named = read_source(labels.repository, path.resolve().parent, f"{path}: repository", must_exist=False)
            found[place_of(named.location)].append(path)
    return dict(found)


def true_places(repository: RealRepository, root: Path) -> frozenset[tuple[str, str, int, str]]:
    """Commit, path, line and rule of what a project has labelled as secrets of a repository.

    Raises:
        InputError: as `files_about`.
    """
    labelled = _labelled(repository, root).values()
    return frozenset(one.place for findings in labelled for one in findings if one.label == TRUE)


def labelled_places(repository: RealRepository, root: Path) -> dict[Path, list[tuple[str, str, int, str]]]:
    """Return commit, path, line and rule of all that a project has labelled in a repository, by file.

    Raises:
        InputError: as `files_about`.
    """
    return {path: [one.place for one in findings] for path, findings in _labelled(repository, root).items()}


def _labelled(repository: RealRepository, root: Path) -> dict[Path, Sequence[LabelledFinding]]:
    read = {path: read_labels(path).labels for path in files_about(repository, root)}
    return {path: labels.findings for path, labels in read.items() if labels}


KIND = CorpusKind(
    NAME, "FILE.yaml of `gitleaks-eval review`", "what no candidate of its pool has reported, values, times", own_labels
)
