"""A recipe becomes a git repository with the same commit ids and contents on every machine.

The objects are written with GitPython's object database, in one pack, and git itself is never run, so no user's git
configuration, hook, template or environment has a say.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import groupby
from pathlib import Path

from gitdb import OStream
from gitdb.pack import PackEntity

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.scenarios.pattern import random_stream
from gitleaks_eval.scenarios.recipe import DEFAULT_BRANCH, PLACEHOLDER, Commit, Part, Recipe

FILE, SYMLINK, DIRECTORY = 0o100644, 0o120000, 0o040000
WORDS = (
    "account amount batch buffer cache client column commit config count cursor customer delivery device "
    "document engine event export field filter format gateway handler index invoice item journal label layer "
    "ledger limit list locale message metric model module network number order packet page parser payment plan "
    "policy queue record region report request response result route row sample schema session signal source "
    "state stream table task template thread timer trace unit update value vector version view window worker"
).split()

Tree = dict[bytes, tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Tip:
    """A commit that was written: its id (20 bytes), its files, the ids of all that it descends from, and by whom."""

    commit_id: bytes
    tree: Tree
    ancestors: frozenset[bytes]
    identity: str


@dataclass(slots=True)
class _History:
    objects: dict[bytes, OStream] = field(default_factory=dict)
    commits: dict[bytes, Tip] = field(default_factory=dict)
    branches: dict[str, Tip] = field(default_factory=dict)
    tags: dict[str, Tip] = field(default_factory=dict)

    def find(self, name: str, place: str) -> Tip:
        tip = self.branches.get(name) or self.tags.get(name)
        if tip is None:
            raise InputError(f"{place}: no branch or tag {name!r} before this commit")
        return tip

    def store(self, kind: bytes, content: bytes) -> bytes:
        object_id = hashlib.sha1(b"%s %d\0%s" % (kind, len(content), content), usedforsecurity=False).digest()
        if object_id not in self.objects:
            self.objects[object_id] = OStream(object_id, kind, len(content), BytesIO(content))
        return object_id


def build(recipe: Recipe, path: Path, source: str = "recipe") -> None:
    """Build the repository of a recipe in the new folder `path`; it has no checked-out files.

    Raises:
        InputError: when the recipe contradicts itself (a rename of a file that is not there, a branch that
            does not exist yet, a file where a folder is); `source` names it.
    """
    head = recipe.commits[0].branch if recipe.commits else DEFAULT_BRANCH
    git_dir = empty_repository(path, head)
    if recipe.remote:
        with (git_dir / "config").open("a", encoding="utf-8") as config:
            config.write(f'[remote "origin"]\n\turl = {recipe.remote}\n')
    history = _History()
    for index, commit in enumerate(recipe.commits):
        _add_commit(history, recipe, commit, f"{source}: /commits/{index}")
    for name, object_id in _refs(history, recipe).items():
        ref = git_dir / name
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(object_id.hex() + "\n", encoding="ascii")
    if recipe.staged:
        tree = dict(history.branches[head].tree) if recipe.commits else {}
        _write_files(history, recipe, recipe.staged, tree)
        (git_dir / "index").write_bytes(index_content(tree))
    if history.objects:
        _write_pack(history.objects, git_dir / "objects/pack")


def _write_pack(objects: Mapping[bytes, OStream], folder: Path) -> None:
    # Not loose: each of them would be a file, most in a folder of its own, to be hashed and removed one by one.
    pack, index = BytesIO(), BytesIO()
    pack_id, _ = PackEntity.write_pack(list(objects.values()), pack.write, index.write)
    (folder / f"pack-{pack_id.hex()}.pack").write_bytes(pack.getvalue())
    (folder / f"pack-{pack_id.hex()}.idx").write_bytes(index.getvalue())


def empty_repository(path: Path, head: str = DEFAULT_BRANCH) -> Path:
    """Make a repository without commits, on the branch `head`, in the new folder `path`, and return its `.git`."""
    git_dir = path / ".git"
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (git_dir / folder).mkdir(parents=True)
    (git_dir / "HEAD").write_text(f"ref: refs/heads/{head}\n", encoding="ascii")
    (git_dir / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n", encoding="ascii"
    )
    return git_dir


def index_content(tree: Tree) -> bytes:
    """Return the bytes of git's index (version 2) with these files; it says nothing of files in a work tree."""
    content = struct.pack(">4sII", b"DIRC", 2, len(tree))
    for path, (mode, object_id) in sorted(tree.items()):
        entry = struct.pack(">24xI12x20sH", mode, object_id, min(len(path), 0xFFF)) + path
        # Padded with one to eight NULs to a multiple of eight.
        content += entry + b"\0" * (8 - len(entry) % 8)
    # What git ends its files with; nothing is kept secret by it.
    return content + hashlib.sha1(content, usedforsecurity=False).digest()


def render(parts: tuple[Part, ...], values: Mapping[str, str]) -> bytes:
    """Return the bytes of a file, with the placeholders of its text replaced by the values of the secrets."""
    return b"".join(_render_part(part, values) * part.repeat for part in parts)


def _render_part(part: Part, values: Mapping[str, str]) -> bytes:
    if part.lines:
        return "".join(_generated_lines(part.lines, part.seed)).encode()
    return part.data + PLACEHOLDER.sub(lambda match: values[match[1]], part.text).encode()


def _generated_lines(count: int, seed: str) -> Iterator[str]:
    stream = random_stream(f"lines\0{seed}")
    for number in range(1, count + 1):
        words = (WORDS[next(stream) % len(WORDS)] for _ in range(4 + next(stream) % 6))
        yield f"{number}: {' '.join(words)}\n"


def _add_commit(history: _History, recipe: Recipe, commit: Commit, place: str) -> None:
    parents = _parents(history, commit, place)
    tree = _merged(history, parents, place) if commit.merge else dict(parents[0].tree if parents else {})
    _apply(history, recipe, commit, tree, place)
    tree_id = _write_tree(history, tree, place)
    content = _commit_object(commit, tree_id, [parent.commit_id for parent in parents])
    commit_id = history.store(b"commit", content)
    ancestors = frozenset((commit_id,)).union(*(parent.ancestors for parent in parents))
    tip = Tip(commit_id, tree, ancestors, _identity(commit))
    history.commits[commit_id] = tip
    _no_conflict(commit.branch, history.branches, f"{place}/branch")
    history.branches[commit.branch] = tip
    if commit.tag:
        if commit.tag in history.tags:
            raise InputError(f"{place}/tag: the tag {commit.tag!r} stands on two commits")
        _no_conflict(commit.tag, history.tags, f"{place}/tag")
        history.tags[commit.tag] = tip


def _refs(history: _History, recipe: Recipe) -> dict[str, bytes]:
    """Return the full name of each ref, and the object that it names."""
    refs = {recipe.refs.get(name, f"refs/heads/{name}"): tip.commit_id for name, tip in history.branches.items()}
    for name, tip in history.tags.items():
        message = recipe.tag_messages.get(name)
        refs[f"refs/tags/{name}"] = _annotated(history, name, tip, message) if message else tip.commit_id
    refs.pop("", None)
    return refs


def _annotated(history: _History, name: str, tip: Tip, message: str) -> bytes:
    lines = [f"object {tip.commit_id.hex()}", "type commit", f"tag {name}", f"tagger {tip.identity}", "", message, ""]
    return history.store(b"tag", "\n".join(lines).encode())


def _no_conflict(name: str, names: Mapping[str, Tip], place: str) -> None:
    for other in names:
        if other.startswith(f"{name}/") or name.startswith(f"{other}/"):
            raise InputError(f"{place}: git cannot keep {name!r} beside {other!r}")


def _parents(history: _History, commit: Commit, place: str) -> list[Tip]:
    current = history.branches.get(commit.branch)
    if commit.orphan:
        return []
    if commit.start:
        if current:
            raise InputError(f"{place}/from: the branch {commit.branch!r} has commits already; leave `from` out")
        current = history.find(commit.start, f"{place}/from")
    elif current is None and history.branches:
        raise InputError(f"{place}/branch: {commit.branch!r} is new; say with `from` where it starts")
    if not commit.merge:
        return [current] if current else []
    other = history.find(commit.merge, f"{place}/merge")
    if current is None or other.commit_id in current.ancestors:
        raise InputError(f"{place}/merge: nothing to merge: {commit.merge!r} is part of {commit.branch!r}")
    return [current, other]


def _merged(history: _History, parents: list[Tip], place: str) -> Tree:
    """Our files with what the other branch changed since the two parted; where both changed, theirs."""
    ours, theirs = parents
    shared = ours.ancestors & theirs.ancestors
    if not shared:
        raise InputError(f"{place}/merge: the two branches have no commit in common")
    # Commits are kept in the order in which they were made: the last shared one is where they parted.
    base = history.commits[next(commit_id for commit_id in reversed(history.commits) if commit_id in shared)]
    tree = dict(ours.tree)
    for path in base.tree.keys() | theirs.tree.keys():
        if theirs.tree.get(path) == base.tree.get(path):
            continue
        if path in theirs.tree:
            tree[path] = theirs.tree[path]
        else:
            tree.pop(path, None)
    return tree


def _apply(history: _History, recipe: Recipe, commit: Commit, tree: Tree, place: str) -> None:
    for old, new in commit.rename.items():
        if old not in tree:
            raise InputError(f"{place}/rename: there is no file {old!r} at this commit")
        tree[new] = tree.pop(old)
    for path in commit.delete:
        if tree.pop(path, None) is None:
            raise InputError(f"{place}/delete: there is no file {path!r} at this commit")
    _write_files(history, recipe, commit.write, tree)
    for path, target in commit.symlink.items():
        tree[path] = (SYMLINK, history.store(b"blob", target))


def _write_files(history: _History, recipe: Recipe, files: Mapping[bytes, tuple[Part, ...]], tree: Tree) -> None:
    values = {name: secret.value for name, secret in recipe.secrets.items()}
    for path, parts in files.items():
        tree[path] = (FILE, history.store(b"blob", render(parts, values)))


def _write_tree(history: _History, tree: Tree, place: str, depth: int = 0) -> bytes:
    entries = []
    for name, group in groupby(sorted(tree, key=lambda path: path.split(b"/")), lambda path: path.split(b"/")[depth]):
        paths = list(group)
        if all(path.count(b"/") == depth for path in paths):
            mode, object_id = tree[paths[0]]
            entries.append((name, name, object_id, mode))
            continue
        if any(path.count(b"/") == depth for path in paths):
            raise InputError(f"{place}: {name!r} is a file and a folder at once")
        subtree = {path: tree[path] for path in paths}
        entries.append((name + b"/", name, _write_tree(history, subtree, place, depth + 1), DIRECTORY))
    # Git sorts a folder as if its name ended with a slash.
    content = b"".join(b"%o %s\0%s" % (mode, name, object_id) for _, name, object_id, mode in sorted(entries))
    return history.store(b"tree", content)


def _commit_object(commit: Commit, tree_id: bytes, parents: list[bytes]) -> bytes:
    identity = _identity(commit)
    lines = [
        f"tree {tree_id.hex()}",
        *(f"parent {parent.hex()}" for parent in parents),
        f"author {identity}",
        f"committer {identity}",
        "",
        commit.message if commit.message.endswith("\n") else commit.message + "\n",
    ]
    return "\n".join(lines).encode()


def _identity(commit: Commit) -> str:
    return f"{commit.author} {int(commit.date.timestamp())} {commit.date.strftime('%z')}"
