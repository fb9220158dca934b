"""The refs of a foreign repository on this machine, read as text: git is never run in it."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.reftable import read_reftables
from gitleaks_eval.repositories.sources import URL, shown

_OBJECT_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# What git takes for the name of a ref (git check-ref-format); a file of another name stands for nothing.
_REF_NAME = re.compile(rb"refs(?:/(?!\.)(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/])+(?<!\.lock))+(?<!\.)")
LARGEST_LIST = 256 << 20
_SMALL = 1 << 16
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
SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


def local_path(location: str) -> Path | None:
    """The folder of this machine that a location names, None for a URL of another kind."""
    url = URL.fullmatch(location)
    if url and url[1] == "file":
        return Path(unquote(urlsplit(location).path))
    return None if url or not os.path.isabs(location) else Path(location)  # noqa: PTH117 - it is no path yet


def place_of(location: str) -> str:
    """One text for one repository, however it is written: links are followed, credentials left out."""
    local = local_path(location)
    if local is None:
        return shown(location).rstrip("/").removesuffix(".git")
    return os.path.realpath(local).removesuffix(f"{os.sep}.git")


def make_view(repository: Path, view: Path) -> set[bytes]:
    """Write a bare repository into `view` with the refs of another one, whose objects it names; return the refs.

    Raises:
        EvaluationError: when the other is no repository, is broken, or is kept in a way that is not read here.
        OSError: when one of the two cannot be read or written.
    """
    objects = objects_of(repository)
    head, refs, shallow = named_in(repository)
    sha256 = any(len(object_id) == 64 for object_id in (*refs.values(), head) if b"/" not in object_id)
    for name in ("refs", "objects/info"):
        (view / name).mkdir(parents=True)
    config = _VIEW_CONFIG.format(version=int(sha256)) + (SHA256 if sha256 else "")
    (view / "config").write_text(config, encoding="ascii")
    (view / "HEAD").write_bytes(head + b"\n")
    (view / "packed-refs").write_bytes(b"".join(b"%s %s\n" % (refs[name], name) for name in sorted(refs)))
    if shallow:
        (view / "shallow").write_bytes(b"".join(line + b"\n" for line in shallow))
    (view / "objects" / "info" / "alternates").write_bytes(_quoted(os.fsencode(objects.absolute())) + b"\n")
    return set(refs)


def named_in(repository: Path) -> tuple[bytes, dict[bytes, bytes], list[bytes]]:
    """What HEAD and the refs of a repository name, and the commits at which its history is cut off.

    Raises:
        EvaluationError: when it is no repository, is broken, or is kept in a way that is not read here.
        OSError: when it cannot be read.
    """
    git_folder = _git_folder(repository)
    common = _common(git_folder)
    if (common / "reftable").exists():
        head = read_reftables(git_folder / "reftable").get(b"HEAD", b"")
        refs = _commits(read_reftables(common / "reftable"))
    else:
        head = _small_file(git_folder / "HEAD").strip()
        refs = refs_of(common)
    if not _OBJECT_ID.fullmatch(head) and not _REF_NAME.fullmatch(head.removeprefix(b"ref: ")):
        raise EvaluationError("it is no git repository: its HEAD names nothing")
    return head, refs, [line for line in _lines(common / "shallow") if _OBJECT_ID.fullmatch(line)]


def objects_of(repository: Path) -> Path:
    """The folder that holds the objects of a repository.

    Raises:
        EvaluationError: when there is none.
    """
    objects = _common(_git_folder(repository)) / "objects"
    if not objects.is_dir():
        raise EvaluationError("it is no git repository: it has no objects")
    return objects


def refs_of(common: Path) -> dict[bytes, bytes]:
    """The id that each ref names, without replacements: they would show another history than the one that is there.

    Raises:
        EvaluationError: when a ref names no commit or is no file.
    """
    found = {}
    for line in _lines(common / "packed-refs"):
        object_id, _, name = line.partition(b" ")
        if _OBJECT_ID.fullmatch(object_id):
            found[name] = object_id
    found.update(_loose_refs(common))
    return _commits(found)


def _commits(found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    return {
        name: object_id
        for name, object_id in found.items()
        if _REF_NAME.fullmatch(name) and _OBJECT_ID.fullmatch(object_id) and not name.startswith(b"refs/replace/")
    }


def _git_folder(repository: Path) -> Path:
    inner = repository / ".git"
    if inner.is_file():
        # A work tree or a submodule: the file says where.
        inner = repository / os.fsdecode(_small_file(inner).strip().removeprefix(b"gitdir: "))
    for folder in (inner, repository):
        if (folder / "HEAD").is_file():
            return folder
    raise EvaluationError("it is no git repository: it has no HEAD")


def _common(git_folder: Path) -> Path:
    if (git_folder / "commondir").is_file():
        # One of several work trees.
        return git_folder / os.fsdecode(_small_file(git_folder / "commondir").strip())
    return git_folder


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
    if path.stat().st_size > LARGEST_LIST:
        raise EvaluationError(f"its {path.name} is larger than {LARGEST_LIST >> 20} MiB")
    return path.read_bytes().splitlines()


def _small_file(path: Path) -> bytes:
    # Reading a pipe would wait for ever, and a device would never end.
    if not stat.S_ISREG(path.stat().st_mode):
        raise EvaluationError(f"its {path.name} is no file")
    with path.open("rb") as file:
        return file.read(_SMALL)


def _quoted(path: bytes) -> bytes:
    """A path as git reads it in a list of paths, whatever characters it has."""
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
