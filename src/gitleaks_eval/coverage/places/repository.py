"""The usual places become one recipe, and so one repository."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from gitleaks_eval.coverage.places.contents import content_of
from gitleaks_eval.coverage.places.places import (
    GIT,
    STANDARD,
    Maker,
    Place,
    Planted,
    github_pat,
    secret_of,
    usual_places,
)
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe

_NAME = re.compile(r"[A-Za-z0-9_-]{1,200}")
_WHEN = datetime(2026, 1, 1, 9, tzinfo=timezone.utc)
_BEGUN = datetime(2015, 3, 1, 9, tzinfo=timezone.utc)
_AUTHOR = "Places <places@example.com>"
_OTHER_AUTHOR = "Robin Meyer <robin@corp.test>"
# So many small commits lie between the first of all and what is usual, twelve days apart.
_EARLIER = 320
_REMOTE = "https://github.com/example/places.git"
# A note is a file that is named as what it is about: here git's empty tree, which every repository knows.
_NOTED = b"4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_CONFLICT = b"places/merge_conflict"
_RENAMED = b"places/renamed"
_NOTHING = (Part(text="nothing\n"),)


class HiddenBytes(bytes):
    """Bytes that hold something planted: shown, also as part of another value, they are a hash."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The hash alone: it names the content, as the key of a cache must."""
        return f"HiddenBytes(sha256 {hashlib.sha256(self).hexdigest()})"


class HiddenText(str):
    """Text that holds something planted: shown, also as part of another value, it is a hash."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The hash alone, as that of bytes."""
        return f"HiddenText(sha256 {hashlib.sha256(self.encode()).hexdigest()})"


@dataclass(frozen=True, slots=True)
class PlantedPlaces:
    """What is planted: the recipe of the repository, and the secret of each place in it."""

    recipe: Recipe
    secrets: Mapping[Place, Planted] = field(repr=False)


def paths_of(place: Place) -> tuple[str, ...]:
    """Every path at which a scanner may find the secret of a place."""
    if place.family != GIT:
        return (place.file,)
    return f"places/{place.case}", _RENAMED.decode(), _NOTED.decode()


def plant(seed: str, maker: Maker = github_pat, *, large: bool = False) -> PlantedPlaces:
    """Plant a secret in each usual place; the large ones only where asked for.

    Args:
        seed: names the values: another one, other values.
        maker: makes the secret of a place.
        large: whether the forms of a hundred kilobytes and more are planted as well.

    A secret that cannot be a name is planted in no name.
    """
    asked = [place for place in usual_places() if not place.is_dropped and (large or not place.is_large)]
    secrets = {place: secret_of(place, seed, maker) for place in asked}
    # A private key is no name that git or a file system takes.
    secrets = {place: one for place, one in secrets.items() if not place.is_name or _NAME.fullmatch(one.value)}
    files = {place.file.encode(): _hidden(content_of(place, secret)) for place, secret in secrets.items() if place.file}
    corners = _Corners({place.case: secret for place, secret in secrets.items() if place.family == GIT})
    return PlantedPlaces(_recipe(files, corners), secrets)


def _hidden(content: bytes) -> tuple[Part, ...]:
    return (Part(data=HiddenBytes(content)),)


@dataclass(frozen=True, slots=True)
class _Corners:
    """The secrets of git's corners by case, and the files that hold them."""

    secrets: Mapping[str, Planted] = field(repr=False)

    def file(self, case: str) -> dict[bytes, tuple[Part, ...]]:
        """A file that holds the secret of the case, and is named as the case is."""
        secret = self.secrets[case]
        text = STANDARD.replace("{name}", secret.name).replace("{value}", secret.value)
        return {f"places/{case}".encode(): _hidden(text.encode())}

    def text(self, case: str, before: str = "") -> HiddenText:
        """The secret of the case as such."""
        return HiddenText(before + self.secrets[case].value)


def _recipe(files: Mapping[bytes, tuple[Part, ...]], corners: _Corners) -> Recipe:
    return Recipe(
        {},
        (*_early_line(corners), *_main_line(files, corners), *_side_lines(corners)),
        refs={
            "merged": "",
            "only-tagged": "",
            "unreachable": "",
            "stash-index": "",
            "stash": "refs/stash",
            "notes": "refs/notes/commits",
            "remote": "refs/remotes/origin/feature",
            "pull": "refs/pull/1/head",
        },
        tag_messages={"v1.0": corners.text("tag_message", "Release with ")},
        staged=corners.file("staged"),
        remote=_REMOTE,
    )


def _early_line(corners: _Corners) -> tuple[Commit, ...]:
    """A history of years: a secret in the first commit, in an early one and in the middle."""
    held = {0: "old_commit", 10: "early_commit", _EARLIER // 2: "middle_commit"}
    return tuple(
        replace(
            _commit(
                f"Work {number}",
                write={
                    b"places/log": (Part(text=f"{number} done\n"),),
                    **(corners.file(held[number]) if number in held else {}),
                },
            ),
            date=_BEGUN + timedelta(days=12 * number),
        )
        for number in range(_EARLIER)
    )


def _main_line(files: Mapping[bytes, tuple[Part, ...]], corners: _Corners) -> tuple[Commit, ...]:
    renamed = _only(corners.file("rename_only"))
    deleted = _only(corners.file("deleted"))
    return (
        _commit(
            "Add what is usual",
            write={
                **files,
                **corners.file("rename_only"),
                **corners.file("deleted"),
                **_named(corners),
                _CONFLICT: (Part(text="as it was\n"),),
            },
            symlink=_symlink(corners),
        ),
        _commit(
            corners.text("commit_message", "Tidy up "),
            tag="v1.0",
            delete=(deleted,),
            rename={renamed: _RENAMED},
        ),
        _commit("Add what comes later", write=corners.file("later_commit")),
        replace(_commit("Add what another wrote", write=corners.file("other_author")), author=_OTHER_AUTHOR),
        _commit("Work on a branch", branch="merged", start="main", write=corners.file("merged_branch")),
        _commit("Work beside it", write={b"places/log": (Part(text="beside\n"),)}),
        _commit("Merge a branch", merge="merged"),
        _commit("Change it there", branch="conflict", start="main", write={_CONFLICT: (Part(text="theirs\n"),)}),
        _commit("Change it here", write={_CONFLICT: (Part(text="ours\n"),)}),
        _commit("Merge what both changed", merge="conflict", write=corners.file("merge_conflict")),
        _commit("Add a file", branch="evil", start="main", write={b"places/beside": _NOTHING}),
        _commit("Merge, and add what neither has", merge="evil", write=corners.file("evil_merge")),
    )


def _side_lines(corners: _Corners) -> tuple[Commit, ...]:
    def beside(branch: str, case: str, **more: Any) -> Commit:
        return _commit(f"Work on {branch}", branch=branch, start="main", write=corners.file(case), **more)

    return (
        beside("side", "side_branch"),
        beside("only-tagged", "tag_only", tag="v0.9"),
        beside("unreachable", "detached_unreachable"),
        beside("remote", "remote_ref"),
        beside("pull", "pull_ref"),
        # What git makes of a file that was added and then stashed.
        beside("stash-index", "stash"),
        _commit("WIP on main", branch="stash", start="main", merge="stash-index"),
        _commit("Begin again", branch="orphan", orphan=True, write=corners.file("orphan")),
        _commit(
            "Notes", branch="notes", orphan=True, write=dict(zip([_NOTED], corners.file("note").values(), strict=True))
        ),
        *_branch_named(corners),
    )


def _commit(message: str, **what: Any) -> Commit:
    return Commit(message, _AUTHOR, _WHEN, **what)


def _named(corners: _Corners) -> dict[bytes, tuple[Part, ...]]:
    if "file_name" not in corners.secrets:
        return {}
    return {HiddenBytes(b"places/" + corners.text("file_name").encode()): _NOTHING}


def _branch_named(corners: _Corners) -> tuple[Commit, ...]:
    if "branch_name" not in corners.secrets:
        return ()
    return (_commit("Name a branch", branch=corners.text("branch_name", "feature/"), start="main"),)


def _symlink(corners: _Corners) -> dict[bytes, bytes]:
    return {b"places/symlink_target": HiddenBytes(corners.text("symlink_target").encode())}


def _only(files: Mapping[bytes, tuple[Part, ...]]) -> bytes:
    return next(iter(files))
