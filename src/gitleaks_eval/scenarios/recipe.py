"""The recipe of a synthetic repository: YAML in, a frozen value out, every mistake named with its place."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import LARGEST_TEXT, DocumentError, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.schema import pointer, schema_problems
from gitleaks_eval.core.yaml_documents import parse_yaml
from gitleaks_eval.scenarios.pattern import MOST_STEPS, PatternError
from gitleaks_eval.scenarios.secrets import Secret, secret_kinds

PLACEHOLDER = re.compile(r"\{\{\s*secret\.([A-Za-z0-9_-]+)\s*\}\}")
_BARE_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z0-9_-]+)\s*\}\}")
# Of all that the commits of a recipe write, and of a generated line.
MOST_BYTES = 1 << 30
LONGEST_LINE = 100
DEFAULT_BRANCH = "main"
# What git itself takes for .git: also the short name of Windows, and with characters that HFS+ ignores.
_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.IGNORECASE)
_IGNORED_BY_HFS = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a file: text with placeholders, bytes, or `lines` lines of generated text; `repeat` times."""

    text: str = ""
    data: bytes = b""
    lines: int = 0
    seed: str = ""
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; paths and symlink targets are bytes, as git stores them.

    An `orphan` begins its branch without parents and without files. No recipe in YAML can say so.
    """

    message: str
    author: str
    date: datetime
    branch: str = DEFAULT_BRANCH
    start: str | None = None
    merge: str | None = None
    tag: str | None = None
    write: Mapping[bytes, tuple[Part, ...]] = field(default_factory=dict)
    symlink: Mapping[bytes, bytes] = field(default_factory=dict)
    rename: Mapping[bytes, bytes] = field(default_factory=dict)
    delete: tuple[bytes, ...] = ()
    orphan: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build a repository: its secrets by name, and its commits in order.

    No recipe in YAML can say the rest: `refs` gives a branch another full name, or none for an empty one, once all
    commits are made; `tag_messages` makes an annotated tag of a tag; `staged` stands in the index, above the files
    of HEAD; `remote` is the URL of a remote that nobody asks.
    """

    secrets: Mapping[str, Secret]
    commits: tuple[Commit, ...]
    refs: Mapping[str, str] = field(default_factory=dict)
    tag_messages: Mapping[str, str] = field(default_factory=dict)
    staged: Mapping[bytes, tuple[Part, ...]] = field(default_factory=dict)
    remote: str = ""

    def of_run(self, seed: str) -> "Recipe":
        """Return the recipe with the secrets of a run with this seed."""
        return replace(self, secrets={name: secret.of_run(seed) for name, secret in self.secrets.items()})


def load_recipe(path: Path) -> Recipe:
    """Load and validate a recipe.

    Raises:
        InputError: when it is missing, cannot be read, is not YAML (line, column), or says something that
            no repository can be built from (JSON pointer).
    """
    try:
        content = read_input(path, LARGEST_TEXT)
    except FileNotFoundError:
        raise InputError(f"recipe {path}: this file is missing; write it, or give --gitleaks-analysis") from None
    except OSError as error:
        raise unreadable("recipe", path, error) from None
    return parse_recipe(content, f"recipe {path}")


def parse_recipe(content: bytes, source: str) -> Recipe:
    """Parse a recipe; `source` names it in errors.

    Raises:
        InputError: as `load_recipe`.
    """
    try:
        document = parse_yaml(content)
    except DocumentError as error:
        raise InputError(f"{source}: not YAML: {error}") from None
    if problems := schema_problems("recipe", document):
        raise InputError(*(f"{source}: {problem}" for problem in problems[:5]))
    reader = _Reader(source)
    secrets = {name: reader.secret(spec, ["secrets", name]) for name, spec in document.get("secrets", {}).items()}
    commits = tuple(
        reader.commit(commit, ["commits", index], secrets) for index, commit in enumerate(document["commits"])
    )
    # Making the values takes time, and most recipes are far from the bound.
    if _amount(commits, dict.fromkeys(secrets, MOST_STEPS)) > MOST_BYTES:
        lengths = {name: len(secret.value) for name, secret in secrets.items()}
        if _amount(commits, lengths) > MOST_BYTES:
            raise InputError(f"{source}: /commits: they write more than {MOST_BYTES >> 20} MiB in all; write less")
    return Recipe(secrets, commits)


def _amount(commits: tuple[Commit, ...], lengths: Mapping[str, int]) -> int:
    """Return how much the files of all commits hold, or less, with values of these lengths."""
    parts = (part for commit in commits for content in commit.write.values() for part in content)
    return sum(
        part.repeat
        * (
            len(part.text)
            + len(part.data)
            + LONGEST_LINE * part.lines
            + sum(lengths[name] for name in PLACEHOLDER.findall(part.text))
        )
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns parts of the document into values, and knows how to name the place of a mistake."""

    source: str

    def secret(self, spec: Mapping[str, Any], place: list[Any]) -> Secret:
        if ("kind" in spec) == ("pattern" in spec):
            raise self._error(place, "give either `kind` or `pattern`")
        seed = self._encodable(str(spec["seed"]), [*place, "seed"])
        self._encodable(spec.get("pattern", ""), [*place, "pattern"])
        if "kind" in spec:
            kind = secret_kinds().get(spec["kind"])
            if kind is None:
                known = ", ".join(secret_kinds())
                raise self._error([*place, "kind"], f"unknown kind {spec['kind']!r}; known: {known}")
            return Secret(kind.pattern, seed, kind.line)
        secret = Secret(spec["pattern"], seed)
        try:
            value = secret.value
        except PatternError as error:
            problem = str(error)
        else:
            self._encodable(value, [*place, "pattern"])
            if value:
                return secret
            problem = "its value is empty"
        raise self._error([*place, "pattern"], problem)

    def commit(self, spec: Mapping[str, Any], place: list[Any], secrets: Mapping[str, Secret]) -> Commit:
        return Commit(
            message=self._header(spec["message"], [*place, "message"]),
            author=self._header(spec["author"], [*place, "author"]),
            date=self._date(spec["date"], [*place, "date"]),
            branch=self._ref(spec, "branch", place) or DEFAULT_BRANCH,
            start=spec.get("from"),
            merge=spec.get("merge"),
            tag=self._ref(spec, "tag", place),
            write={
                self._path(name, [*place, "write", name]): self._parts(content, [*place, "write", name], secrets)
                for name, content in spec.get("write", {}).items()
            },
            symlink={
                self._path(name, [*place, "symlink", name]): _as_bytes(
                    self._encodable(target, [*place, "symlink", name])
                )
                for name, target in spec.get("symlink", {}).items()
            },
            rename={
                self._path(old, [*place, "rename", old]): self._path(new, [*place, "rename", old])
                for old, new in spec.get("rename", {}).items()
            },
            delete=tuple(
                self._path(name, [*place, "delete", index]) for index, name in enumerate(spec.get("delete", []))
            ),
        )

    def _parts(self, content: Any, place: list[Any], secrets: Mapping[str, Secret]) -> tuple[Part, ...]:
        if isinstance(content, list):
            return tuple(
                part for index, item in enumerate(content) for part in self._parts(item, [*place, index], secrets)
            )
        spec: Mapping[str, Any] = {"text": content} if isinstance(content, str) else content
        if len(spec.keys() & {"text", "bytes", "lines"}) != 1:
            raise self._error(place, "give exactly one of `text`, `bytes` (hex) or `lines`")
        if ("lines" in spec) != ("seed" in spec):
            raise self._error(place, "`lines` and `seed` go together")
        text = spec.get("text", "")
        self._encodable(text, place)
        self._encodable(str(spec.get("seed", "")), place)
        for name in _BARE_PLACEHOLDER.findall(text):
            if name in secrets:
                raise self._error(place, f"write the secret {name!r} as {{{{secret.{name}}}}}")
        for name in PLACEHOLDER.findall(text):
            if name not in secrets:
                raise self._error(place, f"unknown secret {name!r}; `secrets` names {sorted(secrets)}")
        return (
            Part(
                text=text,
                data=bytes.fromhex(spec.get("bytes", "")),
                lines=spec.get("lines", 0),
                seed=str(spec.get("seed", "")),
                repeat=spec.get("repeat", 1),
            ),
        )

    def _path(self, name: str, place: list[Any]) -> bytes:
        path = _as_bytes(self._encodable(name, place))
        parts = path.split(b"/")
        if path.startswith((b"/", b"\\")) or re.match(rb"[A-Za-z]:[\\/]", path):
            raise self._error(place, f"the path {name!r} is absolute; paths are relative to the repository")
        if b".." in parts:
            raise self._error(place, f"the path {name!r} leaves the repository with `..`")
        if any(_DOT_GIT.fullmatch(part.decode("utf-8", "ignore").translate(_IGNORED_BY_HFS)) for part in parts):
            raise self._error(place, f"the path {name!r} goes into .git")
        if b"" in parts or b"." in parts or b"\0" in path:
            raise self._error(place, f"the path {name!r} has an empty part, a `.` or a NUL")
        return path

    def _date(self, text: str, place: list[Any]) -> datetime:
        try:
            # Python 3.10 does not take the Z that everybody writes.
            date = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text))
        except ValueError:
            date = None
        if date is None or not _fits_git(date):
            raise self._error(place, f"{text!r} is no ISO 8601 date from 1970 on, such as 2026-01-01T09:00:00Z")
        return date if date.tzinfo else date.replace(tzinfo=timezone.utc)

    def _header(self, text: str, place: list[Any]) -> str:
        if "\0" in text or (place[-1] == "author" and "\n" in text):
            raise self._error(place, "holds a NUL or a line end, which git would call corrupt")
        return self._encodable(text, place)

    def _ref(self, spec: Mapping[str, Any], key: str, place: list[Any]) -> str | None:
        name: str | None = spec.get(key)
        if name and (name.endswith("\n") or any(part.endswith(".lock") for part in name.split("/"))):
            raise self._error([*place, key], f"{name!r} is no name that git takes")
        return name

    def _encodable(self, text: str, place: list[Any]) -> str:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise self._error(place, "holds a lone surrogate; in a path, write a byte as \\xE9") from None
        return text

    def _error(self, place: list[Any], problem: str) -> InputError:
        return InputError(f"{self.source}: {pointer(place)}: {problem}")


def _fits_git(date: datetime) -> bool:
    # Git counts seconds since 1970 in UTC, and writes an offset in hours and minutes.
    instant = (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp()
    return instant >= 0 and not (date.utcoffset() or timedelta()) % timedelta(minutes=1)


def _as_bytes(path: str) -> bytes:
    r"""Return the bytes that git stores; `\xE9` in a path is that byte, for names that are not UTF-8."""
    return re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), path.encode("utf-8"))
