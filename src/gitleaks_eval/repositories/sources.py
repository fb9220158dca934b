"""The real repositories that the user names: paths, URLs and lists of them."""

import hashlib
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gitleaks_eval.core.documents import LARGEST_TEXT, named_path, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.text import printable
from gitleaks_eval.scenarios.scenario import RealRepository

OPTION = "--gitleaks-real-repo"
TRANSPORTS = ("https", "http", "ssh", "git", "file")
URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_REMOTE_HELPER = re.compile(r"[A-Za-z0-9_+.-]+::")
_SCP_LIKE = re.compile(r"(?:[^/:@]+@)?([^/:@]+):.+", re.DOTALL)
_NAMED = re.compile(r"([^/:@=\\.-][^/:@=\\]*)=(.+)", re.DOTALL)
_NAME_LENGTH = 100
# Of one host, at once.
CLONES_AT_ONCE = 4
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
# What folders of repositories are called, whatever is in them.
_SAYS_NOTHING = {"", "bare", "checkout", "clone", "git", "mirror", "repo", "repository"}


@dataclass(frozen=True, slots=True)
class Named:
    """An absolute path or a URL, and the name that the user gave it; empty for none."""

    name: str
    location: str = field(repr=False)


def real_repositories(values: Sequence[str], base: Path, taken: Collection[str]) -> list[RealRepository]:
    """Return the repositories that values of `--gitleaks-real-repo` name, each with a name that is not `taken`.

    Raises:
        InputError: as `read_sources` and `name_repositories`.
    """
    named = read_sources(values, base)
    names = name_repositories(named, taken)
    return [RealRepository(name, shown(one.location), one.location) for name, one in zip(names, named, strict=True)]


def read_sources(values: Sequence[str], base: Path) -> list[Named]:
    """Return the paths and URLs that the values name, in order, each with its name where `NAME=` stands before it.

    `@FILE` names a file with one a line, relative to the file's folder; its blank lines and those that start with `#`
    are skipped.

    Raises:
        InputError: when a file cannot be read or names none, a name is not fit for a file, a path does not exist, or
            a URL has a transport other than https, http, ssh, git and file.
    """
    sources: list[Named] = []
    for value in values:
        if value.startswith("@"):
            sources += _listed(named_path(value[1:], base, f"{OPTION} @"))
        else:
            sources.append(read_source(value, base, OPTION))
    return sources


def name_repositories(sources: Sequence[Named], taken: Collection[str]) -> list[str]:
    """Return a name for each source, the user's or one from its path, that no other has and that is fit for a file.

    Names differ by more than upper and lower case; where one from a path is taken, `-2`, `-3` follow.

    Raises:
        InputError: when a name of the user's is taken.
    """
    used = {name.casefold() for name in taken}
    for name in (source.name for source in sources if source.name):
        if name.casefold() in used:
            raise InputError(f"{OPTION} {name}=…: another repository or scenario has this name; choose another")
        used.add(name.casefold())
    names = []
    for source in sources:
        stem = _stem(source.location)
        name, count = source.name or stem, 1
        while not source.name and name.casefold() in used:
            count += 1
            name = f"{stem}-{count}"
        used.add(name.casefold())
        names.append(name)
    return names


def shown(source: str) -> str:
    """Return a source as it may be shown: without a URL's user, password, query and fragment."""
    if url := URL.fullmatch(source):
        address = re.split(r"[?#]", url[2], maxsplit=1)[0]
        host, slash, path = address.partition("/")
        return f"{url[1]}://{host.rpartition('@')[2]}{slash}{path}"
    return source


def read_source(value: str, base: Path, place: str, *, must_exist: bool = True) -> Named:
    """The path or URL that a text names, and its name where `NAME=` stands before it; `place` says where it stands.

    Raises:
        InputError: as `read_sources`; where it need not exist, not for a path at which there is nothing.
    """
    named = _NAMED.fullmatch(value)
    if named is None or _is_folder(value, base):
        return Named("", _source(value, base, place, must_exist=must_exist))
    name, location = named.groups()
    if _fit_name(name) != name:
        raise InputError(
            f"{place}: the name {printable(name)[:_NAME_LENGTH]!r} of a repository is a file and part of a test's id; "
            f"write letters, digits and . _ + - (or ./ in front of a path that holds a `=`)"
        )
    return Named(name, _source(location, base, place, must_exist=must_exist))


def _is_folder(value: str, base: Path) -> bool:
    try:
        return (base / value).is_dir()
    except (OSError, ValueError):
        return False


def _listed(path: Path) -> list[Named]:
    place = f"{OPTION} @{path}"
    return [read_source(text, path.parent, f"{place}, line {number}") for number, text in list_lines(path)]


def list_lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a list that name a repository, each with its number.

    Raises:
        InputError: when the file cannot be read, or names none.
    """
    place = f"{OPTION} @{path}"
    try:
        lines = read_input(path, LARGEST_TEXT).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable(f"{OPTION}: the list", path, error) from None
    except ValueError:
        raise InputError(f"{place}: is no UTF-8 text; write one path or URL a line") from None
    entries = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    if not (named := [(number, text) for number, text in entries if text and not text.startswith("#")]):
        raise InputError(f"{place}: names no repository; write one path or URL a line")
    return named


def _source(value: str, base: Path, place: str, *, must_exist: bool) -> str:
    if not value.strip() or "\0" in value:
        raise InputError(f"{place}: names no repository; give a path or a URL")
    if value.startswith("-"):
        raise InputError(f"{place}: {printable(shown(value))} looks like an option; write ./{printable(shown(value))}")
    if url := URL.fullmatch(value):
        return _checked_url(value, url[1], place)
    try:
        path = base / Path(value).expanduser()
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{place}: {printable(shown(value))[:200]} cannot be looked at: {error}") from None
    absolute = str(Path(os.path.abspath(path)))  # noqa: PTH100 - resolve() would follow links
    if is_folder:
        return absolute
    if _REMOTE_HELPER.match(value):
        raise InputError(f"{place}: {printable(shown(value))} names a command; give a path or one of {_allowed()}")
    if (remote := _SCP_LIKE.fullmatch(value)) and not exists:
        if remote[1].startswith("-"):
            raise InputError(f"{place}: {printable(shown(value))} names no host")
        return value
    if not must_exist:
        return absolute
    problem = "is not a folder" if exists else "does not exist"
    raise InputError(f"{place}: {printable(str(path))} {problem}; give the folder of a git repository, or a URL")


def _checked_url(value: str, transport: str, place: str) -> str:
    if transport not in TRANSPORTS:
        raise InputError(f"{place}: the transport of {printable(shown(value))} is not one of {_allowed()}")
    try:
        host = urlsplit(value).hostname or ""
    except ValueError:
        raise InputError(f"{place}: a URL that cannot be read; give one of {_allowed()}") from None
    if transport == "file":
        if host or not urlsplit(value).path.startswith("/"):
            raise InputError(f"{place}: {printable(shown(value))} is on no folder of this machine; write file:///path")
    elif not host or host.startswith("-"):
        raise InputError(f"{place}: {printable(shown(value))} names no host")
    return value


def _allowed() -> str:
    return ", ".join(f"{name}://" for name in TRANSPORTS)


def _stem(location: str) -> str:
    """The last part of a path or URL; of a path the last that says something, as in `acme/repo.git` or `acme/.git`."""
    parts = re.split(r"[/:\\]", shown(location).rstrip("/\\"))
    stems = [_fit_name(part.removesuffix(".git")) for part in reversed(parts)]
    telling = (stem for stem in stems if stem.casefold() not in _SAYS_NOTHING)
    return (next(telling, "") if Path(location).is_absolute() else stems[0]) or "repository"


def _fit_name(text: str) -> str:
    return _UNSAFE.sub("-", text)[:_NAME_LENGTH].strip(".-")


def local_path(location: str) -> Path | None:
    """Return the folder of this machine that a location names, None for a URL of another kind."""
    url = URL.fullmatch(location)
    if url and url[1] == "file":
        return Path(unquote(urlsplit(location).path))
    return None if url or not os.path.isabs(location) else Path(location)  # noqa: PTH117 - it is no path yet


def place_of(location: str) -> str:
    """Return one text for one repository, however it is written: links are followed, credentials left out."""
    local = local_path(location)
    if local is None:
        return shown(location).rstrip("/").removesuffix(".git")
    return os.path.realpath(local).removesuffix(f"{os.sep}.git")


def host_of(location: str) -> str:
    """Return a hash of the host of a repository, fit for a file; empty for this machine."""
    if local_path(location) is not None:
        return ""
    if URL.fullmatch(location):
        host = urlsplit(location).hostname or ""
    else:
        scp = _SCP_LIKE.fullmatch(location)
        host = scp[1] if scp else ""
    return hashlib.sha256(host.lower().encode()).hexdigest()[:16]
