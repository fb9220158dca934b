"""A list of repositories, thousands of them: a file with a path, URL or JSON object a line, or a folder of clones."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import DocumentError, named_path, parse_json, sha256_of
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.sources import (
    OPTION,
    Named,
    list_lines,
    name_repositories,
    place_of,
    read_source,
    shown,
)
from gitleaks_eval.scenarios.scenario import RealRepository

KEYS = ("repo", "name", "labels")


@dataclass(frozen=True, slots=True)
class Listed:
    """A repository of a list, and the files with labels of it; `number` counts from 0."""

    number: int
    repository: RealRepository
    labels: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryList:
    """The repositories of a run, in order; `sha256` is of names, places as they are written, and labels."""

    listed: tuple[Listed, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a line says; `written` is its place as it may be shown, wherever the list lies."""

    named: Named
    written: str
    labels: tuple[Path, ...] = ()


def is_list(value: str, base: Path) -> bool:
    """Return whether a value of `--repo` names many repositories: a file of them, or a folder of clones."""
    if value.startswith("@"):
        return True
    try:
        folder = base / Path(value).expanduser()
        return folder.is_dir() and not is_repository(folder) and next(_clones(folder), None) is not None
    except (OSError, RuntimeError, ValueError):
        return False


def read_list(values: Sequence[str], base: Path, labelled: Mapping[str, Sequence[Path]]) -> RepositoryList:
    """Return the repositories that the values name: files of them (`@FILE`), folders of clones, paths and URLs.

    `labelled` are the files of labels that the project has beside, by `place_of` a repository. A path at which there
    is nothing is none that is wrong on sight: of thousands one may be gone.

    Raises:
        InputError: when a file or folder cannot be read or names none, or a line is wrong; it names the line.
    """
    entries = [entry for value in values for entry in _entries(value, base)]
    names = name_repositories([entry.named for entry in entries], ())
    listed, said = [], []
    for number, (name, entry) in enumerate(zip(names, entries, strict=True)):
        location = entry.named.location
        source = shown(location)
        labels = tuple(dict.fromkeys((*entry.labels, *labelled.get(place_of(location), ()))))
        listed.append(Listed(number, RealRepository(name, source, location), labels))
        said.append([name, entry.written, *map(sha256_of_labels, labels)])
    return RepositoryList(tuple(listed), hashlib.sha256(json.dumps(said).encode()).hexdigest())


def is_repository(folder: Path) -> bool:
    """Return whether a folder is a git repository, bare or not, by its names alone."""
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def _entries(value: str, base: Path) -> Iterator[_Entry]:
    if value.startswith("@"):
        path = named_path(value[1:], base, f"{OPTION} @")
        for number, text in list_lines(path):
            yield _of_line(text, path.parent, f"{OPTION} @{path}, line {number}")
    elif is_list(value, base):
        folder = base / Path(value).expanduser()
        for clone in _clones(folder):
            absolute = os.path.abspath(clone)  # noqa: PTH100 - resolve() would follow links
            yield _Entry(Named("", absolute), clone.relative_to(folder).as_posix())
    else:
        yield _Entry(read_source(value, base, OPTION), shown(value))


def _of_line(text: str, base: Path, place: str) -> _Entry:
    if not text.startswith("{"):
        return _Entry(read_source(text, base, place, must_exist=False), shown(text))
    try:
        document = parse_json(text.encode())
    except DocumentError as error:
        raise InputError(f"{place}: {error}") from None
    said: dict[str, Any] = document if isinstance(document, dict) else {}
    wrong = [key for key, found in said.items() if key not in KEYS or not isinstance(found, str) or not found]
    if wrong or "repo" not in said:
        what = f"{printable(wrong[0])[:40]!r} is wrong" if wrong else "there is no repo"
        raise InputError(f'{place}: {what}; write {{"repo": PATH OR URL, "name": TEXT, "labels": FILE}}')
    location = f"{said['name']}={said['repo']}" if "name" in said else said["repo"]
    named = read_source(location, base, place, must_exist=False)
    if "name" in said and named.name != said["name"]:
        raise InputError(f"{place}: {printable(said['name'])[:40]!r} is no name; write letters, digits and . _ + -")
    labels = named_path(said["labels"], base, f"{place}: labels") if "labels" in said else None
    if labels and not labels.is_file():
        raise InputError(f"{place}: labels {printable(str(labels))}: there is no such file; leave it out, or record it")
    return _Entry(named, shown(said["repo"]), (labels,) if labels else ())


def _clones(folder: Path) -> Iterator[Path]:
    """The repositories below a folder, by their names; none is looked for in another, nor behind a link to a folder."""
    try:
        below = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        raise unreadable(f"{OPTION}: the folder", folder, error) from None
    for path in below:
        if is_repository(path):
            yield path
        elif not path.is_symlink():
            yield from _clones(path)


def sha256_of_labels(path: Path) -> str:
    """Return the SHA-256 of a file of labels.

    Raises:
        InputError: when it cannot be read.
    """
    try:
        return sha256_of(path)
    except OSError as error:
        raise unreadable(f"{OPTION}: labels", path, error) from None
