"""The files of a corpus, and the repository that is made of them."""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError, unreadable
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.head import contents_of, head_files
from gitleaks_eval.repositories.log import LARGEST_TEXT, readable
from gitleaks_eval.repositories.pinned import pinned_clone
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario

CLONE_SECONDS = 300
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def corpus_repository(scenario: Scenario, folder: Path) -> BuiltRepository:
    """Make the repository to scan, `folder / "repository"`: a clone, or one commit with the files of the corpus.

    Nothing is checked out, so that no `.gitleaks.toml`, `.gitleaksignore` or `.gitattributes` of the corpus is
    obeyed, and nothing of its git configuration comes along.

    Raises:
        EvaluationError: when the corpus cannot be read or the repository not be written.
    """
    corpus = scenario.corpus
    if corpus is None:
        raise EvaluationError(f"scenario {scenario.name} is from no corpus")
    if corpus.repository:
        try:
            pinned = pinned_clone(corpus.repository, corpus.commit, folder, CLONE_SECONDS).path
        except EvaluationError as error:
            raise EvaluationError(f"{OPTION} {corpus.kind}:{corpus.source}: {error}") from None
        return BuiltRepository(pinned, readable(pinned, CLONE_SECONDS))
    if corpus.has_history:
        repository = clone_of(corpus.source, folder)
        return BuiltRepository(repository, readable(repository, CLONE_SECONDS))
    commit = Commit(
        message="The files of a corpus",
        author="Corpus <corpus@example.com>",
        date=datetime(2026, 1, 1, tzinfo=timezone.utc),
        write={path: (Part(data=content),) for path, content in text_files(corpus.source)},
    )
    return build_into(folder, Recipe({}, (commit,)), f"{OPTION} {corpus.kind}:{scenario.ground_truth}")


def is_repository(folder: Path) -> bool:
    """Return whether a folder is a git repository, bare or not."""
    return (folder / ".git").exists() or all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def text_files(source: Path) -> Iterator[tuple[bytes, bytes]]:
    """Path and content of each file; of a git repository those of HEAD, read from a clone of it.

    Raises:
        EvaluationError: when a file or the repository cannot be read.
    """
    if is_repository(source):
        with private_folder() as scratch:
            files = head_files(clone_of(source, scratch / "clone"), LARGEST_TEXT, CLONE_SECONDS)
            yield from ((file.path, file.content) for file in files if not file.is_symlink)
        return
    for name in paths_below(source):
        path = source / os.fsdecode(name)
        try:
            content = read_input(path, LARGEST_TEXT)
        except OSError as error:
            raise unreadable(OPTION, path, error) from None
        yield name, content


def committed(source: Path, wanted: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """Yield the content of each file (commit, path) of a git repository, of HEAD where no commit is named in full.

    Empty where it is not there, or is larger than what a scanner reads.

    Raises:
        EvaluationError: when the repository cannot be read.
    """
    names = (
        f"{commit if _COMMIT.fullmatch(commit) else 'HEAD'}:{path}".encode("utf-8", "replace")
        for commit, path in wanted
    )
    with private_folder() as scratch:
        for content in contents_of(clone_of(source, scratch / "clone"), names, LARGEST_TEXT, CLONE_SECONDS):
            yield content or b""


def paths_below(folder: Path) -> list[bytes]:
    """Return the regular files below a folder, but for those below a `.git`; no link is followed.

    Raises:
        InputError: when a folder cannot be read.
    """
    paths = []
    root = os.fsencode(folder)
    for parent, folders, names in os.walk(root, onerror=_raise):
        folders[:] = [name for name in folders if name.lower() != b".git"]
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - bytes, as git stores them; pathlib has only text
            if name.lower() != b".git" and not os.path.islink(path) and os.path.isfile(path):  # noqa: PTH113, PTH114 - the same
                paths.append(path[len(root) + 1 :])
    return sorted(paths)


def shown_name(path: bytes) -> str:
    """Return a path in a repository as the scanner reports it."""
    return path.decode("utf-8", "replace")


def clone_of(source: Path, folder: Path) -> Path:
    """Clone a git repository of this machine as real repositories are cloned: it may be as hostile.

    Raises:
        EvaluationError: when it cannot be cloned.
    """
    try:
        return clone(RealRepository(source.name, str(source), str(source)), folder, CLONE_SECONDS).path
    except EvaluationError as error:
        raise EvaluationError(f"{OPTION}: {error}") from None


def _raise(error: OSError) -> None:
    raise unreadable(OPTION, Path(os.fsdecode(error.filename or b"")), error)
