"""Clone a foreign repository without running or obeying anything that it brings."""

import contextlib
import os
import re
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.git import git_environment, run_git
from gitleaks_eval.repositories.head import head_branch, head_commit
from gitleaks_eval.repositories.sources import URL, local_path
from gitleaks_eval.scenarios.scenario import RealRepository

# How this machine reaches the network; no git configuration of the user's is read.
_NETWORK = (
    *("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "SSH_AUTH_SOCK"),
)
# The transports of a URL that is not of this machine.
CLONED_FROM = "https:http:ssh:git"
_USER = re.compile(r"(\w://)[^/\s'\"]*@")
_REASON = re.compile(r"^(?:remote: )?(?:fatal|error): (.*)$", re.MULTILINE)
# What a clone may take, in bytes.
LARGEST_COPY = 1 << 30
# From so much on the objects of a repository of this machine are shared: to copy them takes a third of a scan.
SHARED_FROM = 1 << 20
_MORE_DISK = "allow more GiB with --gitleaks-real-repo-disk, or clone it yourself and name the folder"
_MORE_TIME = "allow more seconds with --gitleaks-scan-timeout"
# Nothing may be fetched or run when git reads the clone.
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
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"
# Of shared objects no index is read that the other repository brings along.
_SHARED_CONFIG = """\
[core]
\tcommitGraph = false
\tmultiPackIndex = false
[pack]
\tuseBitmaps = false
"""


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone without checked-out files: what HEAD names, and whether history is cut off.

    `branch` is `HEAD` where HEAD names a commit, `commit` is empty before the first one.
    """

    path: Path
    branch: str
    commit: str
    shallow: bool


def clone(
    repository: RealRepository,
    folder: Path,
    seconds: float,
    stop: threading.Event | None = None,
    at_most: int = LARGEST_COPY,
) -> Clone:
    """Clone a repository into `folder / "repository"`, with its whole history and no checked-out file.

    From a repository of this machine all refs are taken but replacements (`refs/replace`), so that the log has what
    it has there, remote-tracking branches and the stash included; from a URL all branches and tags. No command,
    hook, filter or submodule of the repository is run or fetched, and nothing of its configuration is taken over.
    One of this machine of more than 1 MiB, or `at_most` bytes, is not copied: the clone names its objects, and nothing
    is run in its folder.

    Raises:
        EvaluationError: when it is no repository, is broken or lacks objects, cannot be reached, takes longer than
            `seconds`, is larger than `at_most` and not of this machine, or `stop` is set.
    """
    path = folder / "repository"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return _clone(repository, folder, seconds, stop, at_most)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        finally:
            # What git said may quote the URL.
            for name in ("stdout", "stderr"):
                (folder / name).unlink(missing_ok=True)
    except OSError as error:
        problem = error.strerror or str(error)
    except EvaluationError as error:
        problem = _without_credentials(str(error), repository)
    raise EvaluationError(f"{printable(repository.source)}: cannot be cloned: {printable(problem)}")


def _clone(
    repository: RealRepository, folder: Path, seconds: float, stop: threading.Event | None, at_most: int
) -> Clone:
    local = local_path(repository.location)
    git_folder = folder / "repository" / ".git"
    git_folder.parent.mkdir()
    shares = local is not None and _is_larger(_git_folder(local), min(at_most, SHARED_FROM))
    options = {"core.hooksPath": "/dev/null", "core.fsmonitor": "false", "submodule.recurse": "false", "gc.auto": "0"}
    command = [
        *("git", *(part for name, value in options.items() for part in ("-c", f"{name}={value}"))),
        # Neither kind is checked out; a mirror has every ref of its source.
        *("clone", "--quiet", "--no-checkout", "--no-recurse-submodules", "--template="),
        "--shared" if shares else "--no-local",
        *("--mirror" if local else "--bare", "--", str(local or repository.location)),
        "repository/.git",
    ]
    environment, started = clone_environment("file" if local else CLONED_FROM), time.monotonic()
    try:
        done = run_limited(command, folder, environment, seconds, stop, at_most=at_most)
    except EvaluationError as error:
        if _is_larger(folder, at_most):
            raise EvaluationError(f"{error}; {_MORE_DISK}") from None
        if time.monotonic() - started >= seconds:
            raise EvaluationError(f"{error}; {_MORE_TIME}") from None
        raise
    if done.status:
        # Of a folder that is no repository git says that it does not exist.
        is_none = local is not None and "does not exist" in done.stderr
        raise EvaluationError("it is no git repository" if is_none else _reason(done.stderr))
    _make_ours(git_folder, _SHARED_CONFIG if shares else "")
    _remove_replacements(git_folder)
    path, shallow = git_folder.parent, git_folder / "shallow"
    return Clone(path, head_branch(path), head_commit(path), shallow.is_file() and shallow.stat().st_size > 0)


def _git_folder(repository: Path) -> Path:
    inner = repository / ".git"
    return inner if inner.is_dir() else repository


def _remove_replacements(git_folder: Path) -> None:
    """Remove what replaces commits: it would show another history than the one that is there.

    Raises:
        EvaluationError: when a ref names no commit.
    """
    named = run_git(git_folder, "for-each-ref", "--format=%(objecttype) %(refname)").decode("utf-8", "surrogateescape")
    for line in named.splitlines():
        name = line.partition(" ")[2]
        if name.startswith("refs/replace/"):
            run_git(git_folder, "update-ref", "-d", name)


def _is_larger(folder: Path, at_most: int) -> bool:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(root, name)).st_size  # noqa: PTH118 - names may be any bytes
        if total > at_most:
            return True
    return False


def clone_environment(transports: str) -> Mapping[str, str]:
    """Return what git is run with that reaches other repositories, by these transports (`https:ssh`) alone."""
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


def _make_ours(git_folder: Path, more: str) -> None:
    """Replace what `git clone` wrote besides objects and refs: its configuration holds the URL."""
    sha256 = b"sha256" in (git_folder / "config").read_bytes().lower()
    config = _CLONE_CONFIG.format(version=int(sha256)) + (_SHA256 if sha256 else "") + more
    (git_folder / "config").write_text(config, encoding="ascii")
    for name in ("hooks", "info"):
        shutil.rmtree(git_folder / name, ignore_errors=True)


def _reason(stderr: str) -> str:
    reason = _REASON.search(stderr)
    lines = stderr.strip().splitlines()
    return (reason[1] if reason else lines[-1] if lines else "git gives no reason").strip()


def _without_credentials(text: str, repository: RealRepository) -> str:
    """Return the text without the location and its parts, which git's own words quote."""
    text = text.replace(repository.location, repository.source)
    for part in _credentials(repository.location):
        text = text.replace(part, "…")
    return _USER.sub(r"\1", text)


def _credentials(location: str) -> list[str]:
    if not (url := URL.fullmatch(location)):
        return []
    address, *query = re.split(r"[?#]", url[2], maxsplit=1)
    user = address.partition("/")[0].rpartition("@")[0]
    name, _, password = user.partition(":")
    # A lone user name may be a token; a short one (git) is none, and stands in many words.
    parts = {user, password, name if len(name) > 8 else "", *query}
    return sorted({form for part in parts if part for form in (part, unquote(part))}, key=len, reverse=True)
