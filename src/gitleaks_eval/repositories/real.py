"""Repositories that nobody here has made: named by the user, cloned first, never scanned in place.

A repository on this machine may be hostile, and git reads the configuration of the one that it is run in. So git
is never run in it: its refs are read as text, and it is cloned from a folder of ours that names its objects.
"""

import os
import re
import shutil
import stat
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gitleaks_eval.core.documents import LARGEST_TEXT, named_path, read_input
from gitleaks_eval.core.errors import EvaluationError, InputError, unreadable
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.git import git_environment, head_branch, head_commit

OPTION = "--gitleaks-real-repo"
TRANSPORTS = ("https", "http", "ssh", "git", "file")
# How the user's machine reaches the network; no git configuration of theirs is read.
_NETWORK = (
    *("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "SSH_AUTH_SOCK"),
)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_REMOTE_HELPER = re.compile(r"[A-Za-z0-9_+.-]+::")
_SCP_LIKE = re.compile(r"(?:[^/:@]+@)?([^/:@]+):.+", re.DOTALL)
_USER = re.compile(r"(\w://)[^/\s'\"]*@")
_OBJECT_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# What git takes for the name of a ref (git check-ref-format); a file of another name stands for nothing.
_REF_NAME = re.compile(rb"refs(?:/(?!\.)(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/])+(?<!\.lock))+(?<!\.)")
_REASON = re.compile(r"^(?:remote: )?(?:fatal|error): (.*)$", re.MULTILINE)
_SMALL = 1 << 16
_LARGEST_LIST = 256 << 20
_NAME_LENGTH = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
_NAMED = re.compile(r"([^/:@=\\.-][^/:@=\\]*)=(.+)", re.DOTALL)
# What folders of repositories are called, whatever is in them.
_SAYS_NOTHING = {"", "bare", "checkout", "clone", "git", "mirror", "repo", "repository"}

# Nothing may be fetched or run when the clone is looked at.
_CLONE_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\thooksPath = /dev/null
\tfsmonitor = false
[protocol]
\tallow = never
[gc]
\tauto = 0
"""
# The objects of a repository that is not trusted, seen through a folder of ours: no index that it brings along.
_VIEW_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = true
\tcommitGraph = false
\tmultiPackIndex = false
[pack]
\tuseBitmaps = false
"""
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


@dataclass(frozen=True, slots=True)
class RealRepository:
    """A repository that the user named: its name in reports, what is shown of where it is, and where it really is.

    `location` may hold credentials; it goes to git and nowhere else.
    """

    name: str
    source: str
    location: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Named:
    """An absolute path or a URL, and the name that the user gave the repository there; empty for none."""

    name: str
    location: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone without checked-out files: what HEAD names, and whether history is cut off.

    `branch` is `HEAD` where HEAD names a commit, `commit` is empty before the first one.
    """

    path: Path
    branch: str
    commit: str
    shallow: bool


def real_repositories(values: Sequence[str], base: Path, taken: Collection[str]) -> list[RealRepository]:
    """The repositories that values of `--gitleaks-real-repo` name, each with a name that is not `taken`.

    Raises:
        InputError: as `read_sources`.
    """
    named = read_sources(values, base)
    names = name_repositories(named, taken)
    return [RealRepository(name, shown(one.location), one.location) for name, one in zip(names, named, strict=True)]


def read_sources(values: Sequence[str], base: Path) -> list[Named]:
    """What the values name, in order; `@FILE` names a file with one a line, relative to the file's folder.

    `NAME=` in front of a path or URL names the repository. Blank lines and those that start with `#` are skipped in a
    file.

    Raises:
        InputError: when a file cannot be read or names none, a name is not fit for a file, a path does not exist, or
            a URL has a transport other than https, http, ssh, git and file.
    """
    sources: list[Named] = []
    for value in values:
        if value.startswith("@"):
            sources += _listed(named_path(value[1:], base, f"{OPTION} @"))
        else:
            sources.append(_named(value, base, OPTION))
    return sources


def _named(value: str, base: Path, place: str) -> Named:
    named = _NAMED.fullmatch(value)
    if named is None or _is_folder(value, base):
        return Named("", _source(value, base, place))
    name, location = named.groups()
    if _fit_name(name) != name:
        raise InputError(
            f"{place}: the name {printable(name)[:_NAME_LENGTH]!r} of a repository is a file and part of a test's id; "
            f"write letters, digits and . _ + - (or ./ in front of a path that holds a `=`)"
        )
    return Named(name, _source(location, base, place))


def _is_folder(value: str, base: Path) -> bool:
    try:
        return (base / value).is_dir()
    except (OSError, ValueError):
        return False


def _listed(path: Path) -> list[Named]:
    place = f"{OPTION} @{path}"
    try:
        lines = read_input(path, LARGEST_TEXT).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable(f"{OPTION}: the list", path, error) from None
    except ValueError:
        raise InputError(f"{place}: is no UTF-8 text; write one path or URL a line") from None
    entries = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    sources = [
        _named(text, path.parent, f"{place}, line {number}")
        for number, text in entries
        if text and not text.startswith("#")
    ]
    if not sources:
        raise InputError(f"{place}: names no repository; write one path or URL a line")
    return sources


def _source(value: str, base: Path, place: str) -> str:
    if not value.strip() or "\0" in value:
        raise InputError(f"{place}: names no repository; give a path or a URL")
    if value.startswith("-"):
        raise InputError(f"{place}: {printable(shown(value))} looks like an option; write ./{printable(shown(value))}")
    if url := _URL.fullmatch(value):
        return _believable_url(value, url[1], place)
    try:
        path = base / Path(value).expanduser()
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{place}: {printable(shown(value))[:200]} cannot be looked at: {error}") from None
    if is_folder:
        return str(Path(os.path.abspath(path)))  # noqa: PTH100 - resolve() would follow links
    if _REMOTE_HELPER.match(value):
        raise InputError(f"{place}: {printable(shown(value))} names a command; give a path or one of {_allowed()}")
    if (remote := _SCP_LIKE.fullmatch(value)) and not exists:
        if remote[1].startswith("-"):
            raise InputError(f"{place}: {printable(shown(value))} names no host")
        return value
    problem = "is not a folder" if exists else "does not exist"
    raise InputError(f"{place}: {printable(str(path))} {problem}; give the folder of a git repository, or a URL")


def _believable_url(value: str, transport: str, place: str) -> str:
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


def name_repositories(sources: Sequence[Named], taken: Collection[str]) -> list[str]:
    """A name for each source, the user's or one from its path, that no other has and that is fit for a file.

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


def _stem(location: str) -> str:
    """The last part of a path or URL; of a path the last that says something, as in `acme/repo.git` or `acme/.git`."""
    parts = re.split(r"[/:\\]", shown(location).rstrip("/\\"))
    stems = [_fit_name(part.removesuffix(".git")) for part in reversed(parts)]
    telling = (stem for stem in stems if stem.casefold() not in _SAYS_NOTHING)
    return (next(telling, "") if Path(location).is_absolute() else stems[0]) or "repository"


def _fit_name(text: str) -> str:
    return _UNSAFE.sub("-", text)[:_NAME_LENGTH].strip(".-")


def shown(source: str) -> str:
    """A source as it may be shown: without a URL's user, password, query and fragment."""
    if url := _URL.fullmatch(source):
        address = re.split(r"[?#]", url[2], maxsplit=1)[0]
        host, slash, path = address.partition("/")
        return f"{url[1]}://{host.rpartition('@')[2]}{slash}{path}"
    return source


def clone(repository: RealRepository, folder: Path, seconds: float, stop: threading.Event | None = None) -> Clone:
    """Clone a repository into `folder`, which is private to it, with its whole history and no checked-out file.

    From a repository of this machine all refs are taken but replacements (`refs/replace`), so that the log has what
    it has there, remote-tracking branches and the stash included; from a URL all branches and tags. No command,
    hook, filter or submodule of the repository is run or fetched, and nothing of its configuration is taken over.

    Raises:
        EvaluationError: when it is no repository, is broken or lacks objects, cannot be reached, takes longer than
            `seconds`, is larger than 1 GiB, or `stop` is set.
    """
    path = folder / "repository"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return _clone(repository, folder, seconds, stop)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        finally:
            # What git said may quote the URL.
            for name in ("stdout", "stderr"):
                (folder / name).unlink(missing_ok=True)
            shutil.rmtree(folder / "source", ignore_errors=True)
    except OSError as error:
        problem = error.strerror or str(error)
    except EvaluationError as error:
        problem = _without_credentials(str(error), repository)
    raise EvaluationError(f"{printable(repository.source)}: cannot be cloned: {printable(problem)}")


def _clone(repository: RealRepository, folder: Path, seconds: float, stop: threading.Event | None) -> Clone:
    local = _local_path(repository.location)
    refs = _make_view(local, folder / "source") if local else set()
    git_folder = folder / "repository" / ".git"
    git_folder.parent.mkdir()
    options = {"core.hooksPath": "/dev/null", "core.fsmonitor": "false", "submodule.recurse": "false", "gc.auto": "0"}
    done = run_limited(
        [
            *("git", *(part for name, value in options.items() for part in ("-c", f"{name}={value}"))),
            # Neither kind is checked out; a mirror has every ref of what it mirrors.
            *("clone", "--quiet", "--no-local", "--no-checkout", "--no-recurse-submodules", "--template="),
            *("--mirror" if local else "--bare", "--", "source" if local else repository.location),
            "repository/.git",
        ],
        folder,
        _environment("file" if local else "https:http:ssh:git"),
        seconds,
        stop,
    )
    if done.status:
        raise EvaluationError(_reason(done.stderr))
    # git may pass over a ref that it cannot resolve, with a warning at most.
    if lost := refs - _refs(git_folder).keys():
        raise EvaluationError(f"its {os.fsdecode(min(lost))} names no commit")
    _make_ours(git_folder)
    path = git_folder.parent
    shallow = git_folder / "shallow"
    return Clone(path, head_branch(path), head_commit(path), shallow.is_file() and shallow.stat().st_size > 0)


def _environment(transports: str) -> Mapping[str, str]:
    return {
        **{name: os.environ[name] for name in _NETWORK if name in os.environ},
        **git_environment(),
        "GIT_ALLOW_PROTOCOL": transports,
        "GIT_NO_LAZY_FETCH": "1",
        # Empty, and not unset: then git does not ask with another program.
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        # HEAD is read as a file.
        "GIT_DEFAULT_REF_FORMAT": "files",
    }


def _make_ours(git_folder: Path) -> None:
    """Replace what `git clone` wrote beside objects and refs: its configuration holds the URL."""
    sha256 = b"sha256" in (git_folder / "config").read_bytes().lower()
    config = _CLONE_CONFIG.format(version=int(sha256)) + (_SHA256 if sha256 else "")
    (git_folder / "config").write_text(config, encoding="ascii")
    for name in ("hooks", "info"):
        shutil.rmtree(git_folder / name, ignore_errors=True)


def _reason(stderr: str) -> str:
    reason = _REASON.search(stderr)
    lines = stderr.strip().splitlines()
    return (reason[1] if reason else lines[-1] if lines else "git gives no reason").strip()


def _without_credentials(text: str, repository: RealRepository) -> str:
    """Git's own words quote the URL, as it is or in parts."""
    text = text.replace(repository.location, repository.source)
    for part in _credentials(repository.location):
        text = text.replace(part, "…")
    return _USER.sub(r"\1", text)


def _credentials(location: str) -> list[str]:
    if not (url := _URL.fullmatch(location)):
        return []
    address, *query = re.split(r"[?#]", url[2], maxsplit=1)
    user = address.partition("/")[0].rpartition("@")[0]
    name, _, password = user.partition(":")
    # A lone user name may be a token; a short one (git) is none, and stands in many words.
    parts = {user, password, name if len(name) > 8 else "", *query}
    return sorted({form for part in parts if part for form in (part, unquote(part))}, key=len, reverse=True)


# A repository of this machine, looked at without git.


def _local_path(location: str) -> Path | None:
    url = _URL.fullmatch(location)
    if url and url[1] == "file":
        return Path(unquote(urlsplit(location).path))
    return None if url or not os.path.isabs(location) else Path(location)  # noqa: PTH117 - it is no path yet


def _make_view(repository: Path, view: Path) -> set[bytes]:
    """A bare repository of ours in the folder `view` that has the refs of another one and names its objects."""
    git_folder = _git_folder(repository)
    common = git_folder
    if (git_folder / "commondir").is_file():
        # One of several work trees.
        common = git_folder / os.fsdecode(_small_file(git_folder / "commondir").strip())
    objects = common / "objects"
    if not objects.is_dir():
        raise EvaluationError("it is no git repository: it has no objects")
    if (common / "reftable").exists():
        raise EvaluationError("its refs are kept as reftables, which are not read here; name a clone that has files")
    head = _small_file(git_folder / "HEAD").strip()
    refs = _refs(common)
    shallow = [line for line in _lines(common / "shallow") if _OBJECT_ID.fullmatch(line)]
    if not _OBJECT_ID.fullmatch(head) and not _REF_NAME.fullmatch(head.removeprefix(b"ref: ")):
        raise EvaluationError("it is no git repository: its HEAD names nothing")
    sha256 = any(len(object_id) == 64 for object_id in (*refs.values(), head) if b"/" not in object_id)
    for name in ("refs", "objects/info"):
        (view / name).mkdir(parents=True)
    config = _VIEW_CONFIG.format(version=int(sha256)) + (_SHA256 if sha256 else "")
    (view / "config").write_text(config, encoding="ascii")
    (view / "HEAD").write_bytes(head + b"\n")
    (view / "packed-refs").write_bytes(b"".join(b"%s %s\n" % (refs[name], name) for name in sorted(refs)))
    if shallow:
        (view / "shallow").write_bytes(b"".join(line + b"\n" for line in shallow))
    (view / "objects" / "info" / "alternates").write_bytes(_quoted(os.fsencode(objects.absolute())) + b"\n")
    return set(refs)


def _git_folder(repository: Path) -> Path:
    inner = repository / ".git"
    if inner.is_file():
        # A work tree or a submodule: the file says where.
        inner = repository / os.fsdecode(_small_file(inner).strip().removeprefix(b"gitdir: "))
    for folder in (inner, repository):
        if (folder / "HEAD").is_file():
            return folder
    raise EvaluationError("it is no git repository: it has no HEAD")


def _refs(common: Path) -> dict[bytes, bytes]:
    """The id that each ref names, but replacements: they would show another history than the one that is there."""
    found = {}
    for line in _lines(common / "packed-refs"):
        object_id, _, name = line.partition(b" ")
        if _OBJECT_ID.fullmatch(object_id):
            found[name] = object_id
    found.update(_loose_refs(common))
    return {
        name: object_id
        for name, object_id in found.items()
        if _REF_NAME.fullmatch(name) and not name.startswith(b"refs/replace/")
    }


def _loose_refs(common: Path) -> Iterator[tuple[bytes, bytes]]:
    root = os.fsencode(common)
    for folder, folders, names in os.walk(os.path.join(root, b"refs"), onerror=_raise):  # noqa: PTH118 - names may be any bytes
        for name in folders:
            if os.path.islink(os.path.join(folder, name)):  # noqa: PTH114, PTH118 - the same
                raise EvaluationError("a folder of its refs is a link")
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118 - the same
            ref = os.path.relpath(path, root)
            if not _REF_NAME.fullmatch(ref):
                continue
            content = _small_file(Path(os.fsdecode(path))).strip()
            if _OBJECT_ID.fullmatch(content):
                yield ref, content
            elif not content.startswith(b"ref: "):
                raise EvaluationError(f"its {os.fsdecode(ref)} names no commit")


def _raise(error: OSError) -> None:
    raise error


def _lines(path: Path) -> list[bytes]:
    if not path.exists():
        return []
    if not path.is_file():
        raise EvaluationError(f"its {path.name} is no file")
    if path.stat().st_size > _LARGEST_LIST:
        raise EvaluationError(f"its {path.name} is larger than {_LARGEST_LIST >> 20} MiB")
    return path.read_bytes().splitlines()


def _small_file(path: Path) -> bytes:
    # A pipe would keep us waiting, and a device would never end.
    if not stat.S_ISREG(path.stat().st_mode):
        raise EvaluationError(f"its {path.name} is no file")
    with path.open("rb") as file:
        return file.read(_SMALL)


def _quoted(path: bytes) -> bytes:
    """A path as git reads it in a list of paths, whatever characters it has."""
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
