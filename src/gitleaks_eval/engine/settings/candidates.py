"""What is under test: one scanner with one configuration, or several of them to compare on the same truth."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, product
from pathlib import Path, PurePath
from typing import Any, cast, get_args

from gitleaks_eval.config.chain import BUILTIN, OWN, Configuration
from gitleaks_eval.core.documents import LARGEST_TOML, DocumentError, named_path, parse_toml, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.options import Given, Root, given, refuse_beside
from gitleaks_eval.reports.output.folder import PARTIAL
from gitleaks_eval.reports.output.report import RESERVED
from gitleaks_eval.scanners import GITLEAKS, known_scanner, scanner_and_version
from gitleaks_eval.scanners import checked_version as version_of
from gitleaks_eval.scanners.arguments import DECODE_DEPTH, read_arguments
from gitleaks_eval.scanners.arguments import decode_depth as depth_in
from gitleaks_eval.scanners.build import ScannerChoice, configuration_sources, named_binary
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.scan import Mode
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario

TABLE = "tool.gitleaks-eval.candidates"
DEEPEST_DECODING = 100
# File systems take 255 bytes, and a letter may have four.
FOLDER_AT_MOST = 60
NAME_AT_MOST = 40
# What the output has beside the candidates' folders.
_RESERVED = {*RESERVED, PARTIAL, "judge-store", ".gitignore"}


# The text of a configuration, the folder that it is relative to, and what gave it.
Named = tuple[str, Path, str] | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A scanner with a configuration and its options.

    `name` is empty when it is the only one, and so is `folder`, where its reports stand in the output.
    `own_baseline` is the file of known findings in each real repository, where those are scanned as in production;
    empty for none.
    """

    name: str
    scanner: ScannerChoice
    configuration: Configuration | None
    decode_depth: int | None = None
    mode: Mode = "git"
    args: tuple[str, ...] = ()
    folder: str = ""
    own_baseline: str = ""

    @property
    def options(self) -> list[str]:
        """What it has beside scanner and configuration, as people read it."""
        depth = [f"decode depth {self.decode_depth}"] * (self.decode_depth is not None)
        mode = [f"mode {self.mode}"] * (self.mode != "git")
        return [*depth, *mode, *[f"args {shlex.join(self.args)}"] * bool(self.args)]


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate on a scenario or a real repository: what a check looks at."""

    candidate: str
    subject: Scenario | RealRepository

    @property
    def name(self) -> str:
        """What stands in a node id: the scenario, with the candidate in front where there are several."""
        return f"{self.candidate}-{self.subject.name}" if self.candidate else self.subject.name


def read_candidates(root: Root) -> tuple[Candidate, ...]:
    """Return the candidates that options, ini file or pyproject.toml name; the first is the baseline of a comparison.

    Raises:
        InputError: when a value, or a file that it names, is wrong on sight, or two have one name.
    """
    if root.getoption("gitleaks_compare"):
        refuse_beside(
            root, "--gitleaks-compare", "the candidates say what is compared", ("binary", "version", "config", "args")
        )
        return _from_tables(root)
    choices = _scanner_choices(root)
    configurations, flags = _configurations(root), _flags(root)
    candidates = []
    for (version, choice), (config, named), (title, args) in product(choices, configurations, flags):
        configuration = _configuration(named, root, choice)
        parts = [version] * (len(choices) > 1) + [config] * (len(configurations) > 1) + [title] * (len(flags) > 1)
        candidates.append(Candidate("-".join(parts), choice, configuration, args=args))
    return _checked(candidates, "two candidates are the same: {}; name each version and each configuration once")


def _scanner_choices(root: Root) -> list[tuple[str, ScannerChoice]]:
    if root.getoption("gitleaks_binary"):
        refuse_beside(root, "--gitleaks-binary", "the binary has the version it has", ["version"])
    ways = [given(root, name) for name in ("binary", "version")]
    # The command line goes before the ini file, also when the two name different ways.
    for way in sorted((way for way in ways if way), key=lambda way: way.named_by.startswith("ini")):
        if way is ways[0]:
            return [("", ScannerChoice(binary=named_binary(way.path(), way.named_by), named_by=way.named_by))]
        return [_version(text, way.named_by) for text in _texts(way)]
    return [("", ScannerChoice())]


def _flags(root: Root) -> list[tuple[str, tuple[str, ...]]]:
    """Return the flags of each candidate with a name for them: what they are, as part of a node id and of a folder."""
    named = given(root, "args")
    read = [read_arguments(text, named.named_by) for text in _texts(named)] if named else [()]
    return [(re.sub(r"[^\w.@+=]+", "-", " ".join(args)).strip("-.")[:NAME_AT_MOST] or "no-args", args) for args in read]


def _version(text: str, named_by: str) -> tuple[str, ScannerChoice]:
    adapter, version = scanner_and_version(text, named_by)
    name = version if adapter is GITLEAKS else f"{adapter.name}@{version}"
    return name, ScannerChoice(version=version, named_by=named_by, scanner=adapter.name)


def _configurations(root: Root) -> list[tuple[str, Named]]:
    named = given(root, "config")
    if named is None:
        return [("", None)]
    texts = _texts(named)
    return [
        (name, (text, named.base, named.named_by))
        for name, text in zip(_shortest_suffixes(texts, named.base, named.named_by), texts, strict=True)
    ]


def _configuration(named: Named, root: Root, choice: ScannerChoice) -> Configuration:
    return choose_configuration(named, root.path, root.invocation, lambda: configuration_sources(choice))


def _texts(value: Given) -> list[str]:
    return [value.value] if isinstance(value.value, str) else list(value.value)


def _shortest_suffixes(texts: Sequence[str], base: Path, named_by: str) -> list[str]:
    """Return for each path its shortest ending that no other has: `base/.gitleaks.toml` and `head/.gitleaks.toml`."""
    paths = [PurePath(text) if text in {BUILTIN, OWN} else named_path(text, base, named_by).resolve() for text in texts]
    names = []
    for path in paths:
        others = [other for other in paths if other != path]
        lengths = range(1, len(path.parts) + 1)
        ends = (path.parts[-length:] for length in lengths)
        unique = next((end for end in ends if not any(other.parts[-len(end) :] == end for other in others)), path.parts)
        names.append("/".join(unique).lstrip("/"))
    return names


def _from_tables(root: Root) -> tuple[Candidate, ...]:
    path = root.path / "pyproject.toml"
    tables = _tables(path)
    candidates, baselines = [], []
    for name, table in tables.items():
        place = f"{path} [{TABLE}.{name}]"
        if not isinstance(table, dict):
            raise InputError(f"{place}: is no table")
        candidates.append(_from_table(name, table, place, root))
        if _typed(table, "baseline", bool, place):
            baselines.append(name)
    if len(baselines) > 1:
        raise InputError(f"{path} [{TABLE}]: {' and '.join(baselines)} are both the baseline; mark one")
    candidates.sort(key=lambda candidate: candidate.name not in baselines)
    return _checked(candidates, f"{path} [{TABLE}]: two candidates have one name: {{}}; rename one")


def _tables(path: Path) -> Mapping[str, Any]:
    try:
        document: Any = parse_toml(read_input(path, LARGEST_TOML))
    except FileNotFoundError:
        raise InputError(f"--gitleaks-compare: there is no {path} with [{TABLE}.<name>] tables") from None
    except OSError as error:
        raise unreadable("--gitleaks-compare:", path, error) from None
    except DocumentError as error:
        raise InputError(f"--gitleaks-compare: {path} is not TOML: {error}") from None
    for key in TABLE.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    if not isinstance(document, dict) or not document:
        raise InputError(f"--gitleaks-compare: {path} has no [{TABLE}.<name>] table; write one for each candidate")
    return document


def _from_table(name: str, table: Mapping[str, Any], place: str, root: Root) -> Candidate:
    known = {"scanner", "version", "binary", "config", "decode_depth", "mode", "args", "baseline", "own_baseline"}
    if unknown := sorted(table.keys() - known):
        raise InputError(f"{place}: unknown key {unknown[0]!r}; there are {', '.join(sorted(known))}")
    scanner = known_scanner(_typed(table, "scanner", str, place) or GITLEAKS.name, f"{place} scanner")
    version, binary = _typed(table, "version", str, place), _typed(table, "binary", str, place)
    if version and binary:
        raise InputError(f"{place}: version beside binary: the binary has the version it has; keep one")
    choice = ScannerChoice(scanner=scanner.name, named_by=place)
    if binary:
        choice = replace(
            choice, binary=named_binary(named_path(binary, root.path, f"{place} binary"), f"{place} binary")
        )
    elif version:
        choice = replace(choice, version=version_of(version, f"{place} version", scanner))
    elif scanner is not GITLEAKS:
        raise InputError(f"{place}: name the version of {scanner.name}, or a binary")
    config = _typed(table, "config", str, place)
    named = (config, root.path, f"{place} config") if config else None
    depth, mode = _depth(table, place), _typed(table, "mode", str, place) or "git"
    own_baseline = _typed(table, "own_baseline", str, place) or ""
    if own_baseline and config != OWN:
        raise InputError(
            f'{place}: own_baseline beside another configuration than the repositories\' own; write config = "own"'
        )
    if mode not in get_args(Mode):
        raise InputError(f"{place}: mode {mode!r}: there are {', '.join(get_args(Mode))}")
    args = read_arguments(_typed(table, "args", str, place) or "", f"{place} args", mode)
    if depth is not None and depth_in(args) is not None:
        raise InputError(f"{place}: decode_depth beside {DECODE_DEPTH} in args; keep one")
    return Candidate(
        name,
        choice,
        _configuration(named, root, choice),
        depth,
        cast("Mode", mode),
        args,
        own_baseline=own_baseline,
    )


def _depth(table: Mapping[str, Any], place: str) -> int | None:
    depth: int | None = _typed(table, "decode_depth", int, place)
    if depth is not None and depth < 0:
        raise InputError(f"{place}: decode_depth {depth} is below zero")
    if depth is not None and depth > DEEPEST_DECODING:
        raise InputError(f"{place}: decode_depth is above {DEEPEST_DECODING}")
    return depth


def _typed(table: Mapping[str, Any], key: str, kind: type, place: str) -> Any:
    value = table.get(key)
    if value is not None and type(value) is not kind:
        raise InputError(f"{place}: {key} = {value!r} is not a {kind.__name__}")
    return value


def _checked(candidates: Iterable[Candidate], same: str) -> tuple[Candidate, ...]:
    """Return the candidates with their folders; a name is part of node ids, and a candidate alone may have none."""
    checked = tuple(candidates)
    seen: dict[str, str] = {}
    for candidate in checked:
        name = candidate.name
        if other := seen.get(name.casefold()):
            raise InputError(same.format(other))
        seen[name.casefold()] = name
        if name or len(checked) > 1:
            _check_name(name)
    folders = _folders([candidate.name for candidate in checked])
    return tuple(replace(candidate, folder=folder) for candidate, folder in zip(checked, folders, strict=True))


def folder_name(name: str) -> str:
    """Return a name as a visible folder that every file system takes: `base/.gitleaks.toml` is `base-gitleaks.toml`."""
    parts = (part.strip(".-") for part in re.split(r"[^\w.@+-]+", name))
    return "-".join(filter(None, parts))[:FOLDER_AT_MOST].rstrip(".-") or "candidate"


def _folders(names: Iterable[str]) -> list[str]:
    """Return a folder for each name (empty for an empty one) that no other candidate and no report has."""
    used, folders = set(_RESERVED), []
    for name in names:
        stem = folder_name(name) if name else ""
        numbered = chain([stem], (f"{stem}-{number}" for number in count(2)))
        folder = next(name for name in numbered if not name or name.casefold() not in used)
        used.add(folder.casefold())
        folders.append(folder)
    return folders


def _check_name(name: str) -> None:
    parts = name.split("/")
    if not name.isprintable() or set(name) & set("[]\\:") or {"", ".", ".."} & set(parts):
        raise InputError(f"the candidate {name!r}: its name is a folder and part of a test's id; rename it")
    if name.casefold() in _RESERVED:
        raise InputError(f"the candidate {name!r}: the output folder has something of that name already; rename it")
