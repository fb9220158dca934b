"""A real repository as production scans it: with the configuration and the suppressions that it brings along.

All of it is read from the pinned commit as data, and written into a private folder; nothing of it is run.
"""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any

from gitleaks_eval.config.chain import DEEPEST, Configuration, chain_of, copy_configuration
from gitleaks_eval.config.tables import tables, value_of
from gitleaks_eval.core.documents import LARGEST_JSON, DocumentError, parse_toml
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.scan.shared import Bench
from gitleaks_eval.repositories.clone import Clone
from gitleaks_eval.repositories.head import contents_of
from gitleaks_eval.scanners.known_findings import known_findings
from gitleaks_eval.scanners.scan import Scanner

WHY = "the repository's own"


@dataclass(frozen=True, slots=True)
class Own:
    """The configuration of a repository, and the folder that holds its files."""

    configuration: Configuration
    folder: Path


def own_configuration(cloned: Clone, scanner: Scanner, seconds: float) -> Own:
    """Return the configuration that a scanner would find at the root of the commit, with what it extends there.

    Without one it is the scanner's own.

    Raises:
        EvaluationError: when it is no configuration, or extends what is no file of the commit.
    """
    folder = Path(mkdtemp(prefix="own-", dir=scanner.scratch))
    for name in scanner.build.adapter.sources.files:
        if not _written(cloned, name, folder, seconds):
            continue
        try:
            _write_extended(cloned, name, folder, seconds)
            return Own(Configuration(chain_of(folder / name, WHY, folder), WHY), folder)
        except InputError as error:
            # It names the private folder that the file was written to.
            raise EvaluationError(str(error).replace(f"{folder}{os.sep}", "")) from None
    return Own(Configuration((), WHY), folder)


def own_scanner(scanner: Scanner, cloned: Clone, seconds: float) -> tuple[Own, Scanner]:
    """Return the configuration that a repository brings along, and the scanner with it.

    Raises:
        EvaluationError: as `own_configuration`.
    """
    own = own_configuration(cloned, scanner, seconds)
    return own, replace(scanner, config=copy_configuration(own.configuration, own.folder))


def as_in_production(cloned: Clone, scanner: Scanner, bench: Bench) -> tuple[Path, Scanner]:
    """What to scan, and with what, so that the repository's list of ignored findings and its baseline are obeyed.

    Raises:
        EvaluationError: when the baseline that the candidate names is no report of the commit.
    """
    # Where files are scanned, the list is one of them.
    is_dir = scanner.mode == "dir"
    folder = cloned.path if is_dir else _with_ignore_list(cloned, scanner, bench.timeout_seconds)
    arguments: tuple[str, ...] = ()
    if bench.candidate.own_baseline:
        path = Path(mkdtemp(prefix="baseline-", dir=scanner.scratch)) / "baseline.json"
        path.write_bytes(_baseline(cloned, bench))
        arguments = ("--baseline-path", str(path))
    return folder, replace(scanner, args=(*scanner.args, *arguments))


def _with_ignore_list(cloned: Clone, scanner: Scanner, seconds: float) -> Path:
    folder = Path(mkdtemp(prefix="production-", dir=scanner.scratch))
    (folder / ".git").write_bytes(b"gitdir: " + os.fsencode(cloned.path / ".git") + b"\n")
    for name in scanner.build.adapter.ignore_files:
        # The scanner reads the first that is there, and only that one.
        if _written(cloned, name, folder, seconds):
            break
    return folder


def _write_extended(cloned: Clone, name: str, folder: Path, seconds: float) -> None:
    """Write what a configuration extends, as far as a scanner looks at it; only files of the commit."""
    for _ in range(DEEPEST):
        extended = _extended(folder / name)
        if not extended:
            return
        path = PurePosixPath(extended)
        # From the root, where a scan in production begins; beside the file is what people mean.
        beside = PurePosixPath(name).parent / path
        for one in (path, beside):
            if one.is_absolute() or ".." in one.parts or ".git" in one.parts:
                raise EvaluationError(
                    f"{printable(name)}: [extend] path {printable(extended)!r} leads out of the commit"
                )
            if _written(cloned, str(one), folder, seconds):
                name = str(one)
                break
        else:
            raise EvaluationError(f"{printable(name)}: [extend] path {printable(extended)!r} is no file of the commit")


def _extended(file: Path) -> str:
    try:
        document: Any = parse_toml(file.read_bytes())
    except DocumentError as error:
        raise EvaluationError(f"{printable(file.name)} is not TOML: {error}") from None
    found = (value_of(table, "path") for _, table in tables(document, "extend"))
    return next((one for one in found if isinstance(one, str)), "")


def _baseline(cloned: Clone, bench: Bench) -> bytes:
    name = bench.candidate.own_baseline
    content = _content(cloned, name, bench.timeout_seconds)
    if content is None:
        raise EvaluationError(f"own_baseline {printable(name)}: is no file of the commit {cloned.commit[:12]}")
    try:
        return json.dumps([dict(finding.entry) for finding in known_findings(content)]).encode()
    except EvaluationError as error:
        raise EvaluationError(f"own_baseline {printable(name)}: {error}") from None


def _written(cloned: Clone, name: str, folder: Path, seconds: float) -> bool:
    content = _content(cloned, name, seconds)
    if content is None:
        return False
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def _content(cloned: Clone, name: str, seconds: float) -> bytes | None:
    if not cloned.commit:
        return None
    asked = f"{cloned.commit}:{name}".encode("utf-8", "surrogateescape")
    (content,) = contents_of(cloned.path, [asked], LARGEST_JSON, seconds)
    return content
