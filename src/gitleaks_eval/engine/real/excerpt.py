"""A small repository with the files that some findings stand in, so that dozens of scans of it cost a second."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.head import contents_of
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.scenarios.recipe import DEFAULT_BRANCH, Commit, Part, Recipe

LARGEST_FILE = 4 << 20
LARGEST = 64 << 20
_WHEN = datetime(2024, 1, 1, tzinfo=timezone.utc)

ANY_LINE = 0
Files = Mapping[str, Sequence[bytes]]


class Known(NamedTuple):
    """What a finding is known by in an excerpt, where commits are others; `value` is a hash."""

    path: str
    rule_id: str
    value: str
    line_number: int = ANY_LINE


def files_of(clone: Path, findings: Iterable[tuple[str, Known]], seconds: float) -> Files:
    """Return the distinct contents, by path, of the files that the findings stand in, as their commits have them.

    `findings` are commits and what is known there. Of those that are known alike one is enough. What is too large is
    left out, and so is a path that is masked.

    Raises:
        EvaluationError: when git cannot read the clone, or not in `seconds`.
    """
    first: dict[Known, str] = {}
    for commit, one in findings:
        first.setdefault(one, commit)
    names = {f"{commit}:{one.path}".encode("utf-8", "surrogateescape"): one for one, commit in first.items()}
    found: defaultdict[str, dict[bytes, None]] = defaultdict(dict)
    total = 0
    for one, content in zip(names.values(), contents_of(clone, names, LARGEST_FILE, seconds), strict=True):
        if content and total + len(content) <= LARGEST and content not in found[one.path]:
            total += len(content)
            found[one.path][content] = None
    return {path: list(contents) for path, contents in found.items() if contents}


def build_excerpt(files: Files, folder: Path, renamed: Callable[[str], str] = lambda path: path) -> BuiltRepository:
    """Write the files into a repository in a new folder: each content of a path in a commit that has no parent.

    Raises:
        InputError: when git can have no such path.
    """
    numbered = [
        (number, renamed(path).encode("utf-8", "surrogateescape"), content)
        for path, contents in files.items()
        for number, content in enumerate(contents)
    ]
    rounds: defaultdict[int, dict[bytes, bytes]] = defaultdict(dict)
    for number, name, content in numbered:
        while name in rounds[number]:
            number += 1  # noqa: PLW2901 - two paths may be renamed to one
        rounds[number][name] = content
    try:
        build(_recipe(list(rounds.values())), folder / "together")
        path = folder / "together"
    except InputError:
        # One is a file and a folder at once.
        path = folder / "apart"
        build(_recipe([{name: content} for _, name, content in numbered]), path)
    return BuiltRepository(path, readable(path))


def _recipe(rounds: Sequence[Mapping[bytes, bytes]]) -> Recipe:
    commits = [
        Commit(
            message="excerpt",
            author="Excerpt <excerpt@example.com>",
            date=_WHEN,
            branch=f"{DEFAULT_BRANCH}-{number}" if number else DEFAULT_BRANCH,
            write={name: (Part(data=content),) for name, content in files.items()},
            orphan=True,
        )
        for number, files in enumerate(rounds)
    ]
    return Recipe({}, tuple(commits))
