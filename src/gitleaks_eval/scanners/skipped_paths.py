"""Files that a configuration allows by their path: betterleaks does not count their bytes.

Which ones they are is asked of the scanner, on a repository of ours that has one line in a file of each path: it is
reported by a rule of ours alone, and not with the paths that the configuration allows beside it.
"""

import re
import secrets
import tempfile
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import tomli_w

from gitleaks_eval.config.chain import chain_of, parsed
from gitleaks_eval.config.tables import ALLOWLISTS, Table, items, tables, value_of
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.repositories.log import Readable, added_by_path
from gitleaks_eval.scanners.scan import Scan, Scanner, unread
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe

_RULE = {"id": "read", "regex": "zqxmark[0-9]{12}", "keywords": ["zqxmark"]}
_LINE = b"zqxmark%012d\n" % secrets.randbelow(10**12)
# Stands for the path of the configuration that is extended.
_NEXT = b"the-next-one"
# Of a name that nobody allows: where it is not reported, nothing can be concluded.
_CONTROL = f"zqx{secrets.token_hex(8)}".encode()


def unread_in(scanner: Scanner, scan: Scan, repository: BuiltRepository, there: Readable | None = None) -> str | None:
    """Why a scan of a repository cannot have read what is there, but for what is allowed by path; None when it has.

    Only a scanner that tells no commits leaves bytes out. `there` is what git says, where it was asked before.

    Raises:
        EvaluationError: when git cannot be asked, or the scanner not which paths it passes over.
    """
    there = there or scanner.to_read(repository)
    problem = unread(scan, there)
    if problem is None or scan.commits is not None or scan.files is not None or not scan.added_bytes:
        return problem
    added = added_by_path(repository.path, scanner.timeout_seconds, scanner.log_command(repository))
    passed = _passed_over(scanner, frozenset(added))
    return unread(scan, _without(there, sum(added[path] for path in passed)))


def _without(there: Readable, passed: int) -> Readable:
    """Return what is left to read; a scan that says it read nothing is never believed."""
    up_to_8_26 = max(1, there.added_bytes_up_to_8_26 - passed)
    return replace(there, added_bytes=max(1, there.added_bytes - passed), added_bytes_up_to_8_26=up_to_8_26)


def _passed_over(scanner: Scanner, paths: frozenset[bytes]) -> frozenset[bytes]:
    documents = _paths_only(scanner.config)
    if not any(document.keys() - {"extend"} or document.get("extend") for document in documents):
        return frozenset()
    # A file of the history may be a folder later: it is not asked for, and has to be read.
    folders = {path[: end.start()] for path in paths for end in re.finditer(b"/", path)}
    asked = paths - folders
    alone = _reported(_Asking(scanner.build.sha256, (tomli_w.dumps({"rules": [_RULE]}).encode(),), asked, scanner))
    beside = _reported(_Asking(scanner.build.sha256, tuple(_with_rule(documents)), asked, scanner))
    return (
        frozenset(path for path in asked if _shown(path) in alone - beside)
        if _CONTROL.decode() in beside
        else frozenset()
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """A build that scans a file of each path with these configurations, each of which extends the next."""

    build: str
    documents: tuple[bytes, ...]
    paths: frozenset[bytes]
    scanner: Scanner = field(compare=False)


@lru_cache(maxsize=64)
def _reported(asking: _Asking) -> frozenset[str]:
    """Return the paths that are reported."""
    with tempfile.TemporaryDirectory(prefix="paths-", dir=asking.scanner.scratch) as name:
        folder = Path(name)
        for index, document in enumerate(asking.documents):
            following = str(folder / f"paths-{index + 1}.toml").encode()
            (folder / f"paths-{index}.toml").write_bytes(document.replace(_NEXT, following))
        commit = Commit(
            message="A file of each path",
            author="Paths <paths@example.com>",
            date=datetime(2026, 1, 1, tzinfo=timezone.utc),
            write=dict.fromkeys((*asking.paths, _CONTROL), (Part(data=_LINE),)),
        )
        built = build_into(folder / "built", Recipe({}, (commit,)), "the paths that are allowed")
        scanner = replace(asking.scanner, config=folder / "paths-0.toml", mode="git", args=())
        scan = scanner.scan(built.path)
    return frozenset(finding["File"] for finding in scan.findings if finding["RuleID"] == _RULE["id"])


def _paths_only(config: Path) -> list[dict[str, Any]]:
    """Return the documents of a configuration with nothing but what allows a file by its path, whatever is in it."""
    files = chain_of(config, "the configuration", config.parent)
    documents = []
    for index, file in enumerate(files):
        document = parsed(file)
        kept: dict[str, Any] = {}
        if file.extends_default:
            kept["extend"] = {"useDefault": True}
        elif index + 1 < len(files):
            kept["extend"] = {"path": _NEXT.decode()}
        allowed = [_paths(table) for name in ALLOWLISTS for _, table in tables(document, name)]
        if any(allowed):
            kept["allowlists"] = [{"paths": paths} for paths in allowed if paths]
        if isinstance(prefilter := value_of(document, "prefilter"), str):
            kept["prefilter"] = prefilter
        documents.append(kept)
    return documents


def _paths(allowlist: Table) -> list[str]:
    """Return the paths of an allowlist of which each hides a file from all rules."""
    if str(value_of(allowlist, "condition")).upper() in {"AND", "&&"} or value_of(allowlist, "targetrules"):
        return []
    return [path for _, path in items(allowlist, "paths") if isinstance(path, str)]


def _with_rule(documents: list[dict[str, Any]]) -> list[bytes]:
    first, *others = documents
    return [tomli_w.dumps(document).encode() for document in ({**first, "rules": [_RULE]}, *others)]


def _shown(path: bytes) -> str:
    """Return a path as the scanner reports it."""
    return path.decode("utf-8", "replace")
