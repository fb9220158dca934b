"""The configuration under test: the file and all that it extends, and a copy that the scanner can be given."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from gitleaks_eval.config.tables import as_read, named, value_of
from gitleaks_eval.core.documents import LARGEST_TOML, DocumentError, checked_path, parse_toml, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.text import shown_path

BUILTIN, OWN = "builtin", "own"
DEEPEST = 2
# A repository's own .gitleaks.toml would be obeyed if no configuration were named; this one says "the default".
BUILTIN_CONTENT = b"[extend]\nuseDefault = true\n"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file of the chain: its path, its bytes, and whether it extends the scanner's default.

    A path that is not absolute is the environment variable that holds the content.
    """

    path: Path
    content: bytes
    extends_default: bool


@dataclass(frozen=True, slots=True)
class Configuration:
    """The chain of files under test, empty for the scanner's own rules, and why it was chosen.

    With `own` each real repository is scanned with the one that it brings along; all else with the scanner's.
    """

    chain: tuple[ConfigFile, ...]
    why: str
    own: bool = False

    @property
    def sha256(self) -> str:
        """One hash of all the files, in the order in which they extend each other."""
        digest = hashlib.sha256(OWN.encode() if self.own else b"")
        for content in [file.content for file in self.chain] or [BUILTIN_CONTENT]:
            digest.update(len(content).to_bytes(8, "big") + content)
        return digest.hexdigest()

    def title(self, root: Path) -> str:
        """`.gitleaks.toml > base.toml`, each relative to `root` where it is below it."""
        if self.own:
            return OWN
        names = [shown_path(file.path, root) for file in self.chain]
        if not self.chain or self.chain[-1].extends_default:
            names.append(BUILTIN)
        return " > ".join(names)


def parsed(file: ConfigFile) -> dict[str, Any]:
    """The tables of a file of the chain, which is known to be TOML."""
    return as_read(parse_toml(file.content))


def copy_configuration(configuration: Configuration, folder: Path) -> Path:
    """Write the chain into `folder`, with each `[extend] path` naming the copy, and return the first file."""
    names = [folder / f"config-{index}.toml" for index in range(max(1, len(configuration.chain)))]
    if not configuration.chain:
        names[0].write_bytes(BUILTIN_CONTENT)
    for index, file in enumerate(configuration.chain):
        is_last = index == len(configuration.chain) - 1
        names[index].write_bytes(file.content if is_last else _with_path(file.content, names[index + 1]))
    return names[0]


def chain_of(path: Path, why: str, invocation: Path, given: bytes | None = None) -> tuple[ConfigFile, ...]:
    """The files of a configuration, each extended by the one before.

    `given` is the content of the first where it has no file.

    Raises:
        InputError: when a file is missing, unreadable, no TOML, has no rules, or extends itself.
    """
    files: list[ConfigFile] = []
    seen: set[Path] = set()
    following: Path | None = path
    while following is not None:
        if following.resolve() in seen:
            raise InputError(f"{why}: {path}: [extend] path runs in a circle at {following}")
        seen.add(following.resolve())
        if files or given is None:
            content = _read(following, f"{why}: [extend] path of {files[-1].path}" if files else why)
        else:
            content = given
        extend = _table(_parse(content, following, why), "extend")
        if len(files) == DEEPEST:
            # Gitleaks does not look at what this one extends (upstream config.go, maxExtendDepth).
            extend = {}
        extends_default = bool(value_of(extend, "usedefault"))
        if extends_default and value_of(extend, "path"):
            raise InputError(f"{why}: {following}: Gitleaks refuses [extend] with both useDefault and path; keep one")
        files.append(ConfigFile(following, content, extends_default))
        target = value_of(extend, "path")
        following = _extended(str(target), following, invocation, why) if target else None
    if not files[-1].extends_default and not any(
        value_of(_parse(file.content, file.path, why), "rules") for file in files
    ):
        raise InputError(
            f"{why}: {path} has no rules, so it finds nothing; "
            "add [[rules]], or [extend] with useDefault = true for the rules of Gitleaks"
        )
    return tuple(files)


def _extended(target: str, named_in: Path, invocation: Path, why: str) -> Path:
    # Gitleaks resolves it against the folder it is started in; beside the file is what people mean.
    place = f"{why}: [extend] path of {named_in}"
    from_invocation = checked_path(invocation / target, place)
    return from_invocation if from_invocation.exists() else checked_path(invocation / named_in.parent / target, place)


def _read(path: Path, why: str) -> bytes:
    try:
        return read_input(path, LARGEST_TOML)
    except FileNotFoundError:
        wrong = "is a link to what is not there: mend or remove it" if path.is_symlink() else "does not exist"
        raise InputError(f"{why}: the configuration {path} {wrong}") from None
    except OSError as error:
        raise unreadable(f"{why}: the configuration", path, error) from None


def _parse(content: bytes, path: Path, why: str) -> Mapping[str, Any]:
    try:
        return as_read(parse_toml(content))
    except DocumentError as error:
        raise InputError(f"{why}: the configuration {path} is not TOML: {error}") from None


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = value_of(document, name)
    return table if isinstance(table, dict) else {}


def _with_path(content: bytes, target: Path) -> bytes:
    document = parse_toml(content)
    extend = value_of(document, "extend")
    name, _ = named(extend, "path") or ("path", "")
    extend[name] = str(target)
    return tomli_w.dumps(document).encode()
