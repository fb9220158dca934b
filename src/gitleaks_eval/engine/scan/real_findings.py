"""What a candidate found in a real repository, left for the comparison: hashes stand for secrets and raw paths."""

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.analyse import report_order
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.engine.scan.raw_findings import Reported
from gitleaks_eval.engine.scan.shared import Bench
from gitleaks_eval.scoring.real_differences import RealFinding


@dataclass(frozen=True, slots=True)
class FoundInReal:
    """The findings of a candidate in a repository at a commit, in the order of its analysis, and what the scan took.

    `production` are those that are left when all is obeyed that hides findings; None where that was not looked at.
    `own` is the hash of the repository's own configuration, empty where it was scanned with another.
    """

    commit: str
    findings: list[RealFinding]
    scan_ms: float
    peak_kib: int | None
    production: list[RealFinding] | None = None
    own: str = ""


def leave_findings(bench: Bench, name: str, found: Reported, document: Mapping[str, Any]) -> None:
    """Leave what a candidate reported, and what its analysis shows of it; nothing where nothing is compared.

    Raises:
        EvaluationError: when a scan in production reports what the other scan does not.
    """
    if not bench.value_key:
        return
    keyed = Keyed(bytes.fromhex(bench.value_key))
    shown = document["data"]["findings"]
    ordered = sorted(found.findings, key=report_order)
    rows = [keyed.finding(raw, entry) for raw, entry in zip(ordered, shown, strict=True)]
    left = {
        "commit": document["metadata"]["commit"],
        "scan_ms": document["data"]["scan_time_ms"],
        "peak_kib": found.peak_kib,
        "own": found.own,
        "findings": rows,
        "production": None if found.production is None else _among(ordered, rows, found.production),
    }
    write_atomically(_path(bench, name), json.dumps(left).encode(), 0o600)


def read_findings(bench: Bench, name: str) -> FoundInReal | None:
    """Return what a candidate left; None where its scan failed."""
    path = _path(bench, name)
    if not path.exists():
        return None
    left = json.loads(path.read_bytes())
    kept = left["production"]
    production = None if kept is None else [RealFinding(*row) for row in kept]
    findings = [RealFinding(*row) for row in left["findings"]]
    return FoundInReal(left["commit"], findings, left["scan_ms"], left["peak_kib"], production, left["own"])


def _among(
    ordered: Sequence[Mapping[str, Any]], rows: Sequence[RealFinding], kept: Sequence[Mapping[str, Any]]
) -> list[RealFinding]:
    waiting: defaultdict[tuple[Any, ...], list[RealFinding]] = defaultdict(list)
    for raw, row in zip(ordered, rows, strict=True):
        waiting[report_order(raw)].append(row)
    try:
        return [waiting[report_order(raw)].pop() for raw in sorted(kept, key=report_order)]
    except IndexError:
        raise EvaluationError("in production the scanner reports what it does not report otherwise") from None


class Keyed:
    """Hashes texts with the key of the run; each text once."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """The keyed hash of a text."""
        if text not in self._known:
            digest = hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
            self._known[text] = digest[:16].hex()
        return self._known[text]

    def finding(self, raw: Mapping[str, Any], shown: Mapping[str, Any]) -> RealFinding:
        """Return a finding of a report, as its analysis shows it."""
        return RealFinding(
            commit=shown["commit_hash"],
            file_path=shown["file_path"],
            path_key=self(raw["File"]),
            line_number=shown["line_number"],
            rule_id=shown["rule_id"],
            value=self(raw["Secret"]),
            severity=shown["severity"],
            in_head=shown["in_current_head"],
            decoded=any(str(tag).startswith("decoded:") for tag in raw.get("Tags") or ()),
        )


def _path(bench: Bench, name: str) -> Path:
    return Path(bench.folder) / "real" / f"{name}.json"
