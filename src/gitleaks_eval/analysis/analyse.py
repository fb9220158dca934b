"""A scan becomes an analysis: the Caldera envelope, with counts, files, directories, severity and masks.

The raw secrets end here: nothing that this module returns holds one.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from gitleaks_eval.analysis.decoded import Spot, spot_of
from gitleaks_eval.analysis.envelope import SCHEMA_VERSION, TOOL
from gitleaks_eval.analysis.severity import SeverityPolicy
from gitleaks_eval.scenarios.redaction import Masks, masks_of
from gitleaks_eval.scenarios.secrets import preview

_REPOSITORIES = uuid.UUID("6d5e3c9b-1e0c-4b58-9d69-7c4a8e2b7f11")


@dataclass(frozen=True, slots=True)
class Provenance:
    """What produced an analysis: repository, scanner, run; `timestamp` is ISO 8601 in UTC, the time is in ms.

    `scanner` is the name of the scanner itself; the format calls each one's `tool` Gitleaks.
    """

    repository: str
    branch: str
    commit: str
    scanner_version: str
    run_id: str
    timestamp: str
    scan_time_ms: float
    scan_attempts: int
    scanner: str = TOOL
    scan_spread_ms: tuple[float, float] | None = None


def analyse(
    findings: Sequence[Mapping[str, Any]],
    head: Iterable[bytes],
    policy: SeverityPolicy,
    provenance: Provenance,
    encoded: Mapping[Spot, bytes] | None = None,
) -> dict[str, Any]:
    """Turn the findings of one Gitleaks report into a Caldera envelope: `envelope_of` what is `in_head`, masked."""
    values = (finding["Secret"] for finding in findings)
    masks = masks_of([provenance.branch, *texts_of(findings)], values)
    return envelope_of(findings, in_head(findings, head, encoded), policy, provenance, masks)


def in_head(
    findings: Sequence[Mapping[str, Any]], head: Iterable[bytes], encoded: Mapping[Spot, bytes] | None = None
) -> list[bool]:
    """Return whether the secret of each finding stands in HEAD.

    `head` is the content of each file of the HEAD tree: a secret is in HEAD if its value stands in one of
    them, whatever commit introduced it, also after a rename. It is read no further than need be, and not at
    all without findings. What the scanner decoded is there if `encoded`, by its spot the text that it was decoded
    from, is.
    """
    sought = [_sought(finding, encoded or {}) for finding in findings]
    there = _within({text for texts in sought for text in texts}, head)
    return [not there.isdisjoint(texts) for texts in sought]


def texts_of(findings: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return what a report says besides the secrets and may hold a secret: paths, authors, dates."""
    return {str(finding.get(name, "")) for finding in findings for name in ("File", "Author", "Date")}


def envelope_of(
    findings: Sequence[Mapping[str, Any]],
    standing: Sequence[bool],
    policy: SeverityPolicy,
    provenance: Provenance,
    shown: Masks,
) -> dict[str, Any]:
    """Turn the findings of a Gitleaks report into a Caldera envelope, sorted and deterministic.

    `standing` says of each whether it is in HEAD; `shown` masks every text of the report but rule ids. Findings
    are never dropped or merged. A finding of a scan of files names no commit: it stands in HEAD's.
    """
    entries = [
        _finding(finding, policy, finding["Commit"] or provenance.commit, shown, in_head=is_there)
        for finding, is_there in sorted(zip(findings, standing, strict=True), key=lambda pair: report_order(pair[0]))
    ]
    current = sum(entry["in_current_head"] for entry in entries)
    files = _files(entries)
    return {
        "metadata": {
            "tool_name": TOOL,
            "tool_version": provenance.scanner_version,
            "scanner": provenance.scanner,
            "run_id": provenance.run_id,
            "repo_id": str(uuid.uuid5(_REPOSITORIES, f"{provenance.repository}:{provenance.commit}")),
            "branch": shown(provenance.branch),
            "commit": provenance.commit,
            "timestamp": provenance.timestamp,
            "schema_version": SCHEMA_VERSION,
        },
        "data": {
            "tool": TOOL,
            "tool_version": provenance.scanner_version,
            "total_secrets": len(entries),
            "unique_secrets": len({finding["Secret"] for finding in findings}),
            "secrets_in_head": current,
            "secrets_in_history": len(entries) - current,
            "files_with_secrets": len(files),
            "commits_with_secrets": len({entry["commit_hash"] for entry in entries}),
            "secrets_by_rule": _counted(entry["rule_id"] for entry in entries),
            "secrets_by_severity": _counted(entry["severity"] for entry in entries),
            "findings": entries,
            "files": files,
            "directories": _directories(entries),
            "scan_time_ms": round(provenance.scan_time_ms, 3),
            "scan_attempts": provenance.scan_attempts,
            **_spread(provenance),
        },
    }


def _spread(provenance: Provenance) -> dict[str, Any]:
    if provenance.scan_spread_ms is None or provenance.scan_attempts == 1:
        return {}
    return {"scan_time_spread_ms": [round(time, 3) for time in provenance.scan_spread_ms]}


def report_order(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what the findings of an analysis are sorted by."""
    # The order of a report differs from run to run (scanner-measured); the secret only breaks ties.
    return (
        finding["File"],
        finding["StartLine"],
        finding["RuleID"],
        finding["Commit"],
        finding.get("StartColumn", 0),
        finding["Secret"],
    )


def _finding(
    finding: Mapping[str, Any], policy: SeverityPolicy, commit: str, shown: Masks, *, in_head: bool
) -> dict[str, Any]:
    path, rule, line = shown(finding["File"]), finding["RuleID"], finding["StartLine"]
    return {
        "file_path": path,
        "line_number": line,
        "rule_id": rule,
        "secret_type": rule,
        "description": f"{rule} found",
        "secret_preview": preview(finding["Secret"]),
        "entropy": round(float(finding.get("Entropy") or 0), 4),
        "commit_hash": commit,
        "commit_author": shown(str(finding.get("Author", ""))),
        "commit_date": shown(str(finding.get("Date", ""))),
        "fingerprint": f"{commit}:{path}:{rule}:{line}",
        "in_current_head": in_head,
        "severity": policy.severity(finding["RuleID"], finding["File"], in_head=in_head),
    }


def _sought(finding: Mapping[str, Any], encoded: Mapping[Spot, bytes]) -> set[bytes]:
    """Return what shows that a secret stands in HEAD: its value, or the text that it was decoded from."""
    value = finding["Secret"].encode("utf-8", "surrogateescape")
    return {value, encoded.get(spot_of(finding), value)}


def _within(texts: set[bytes], contents: Iterable[bytes]) -> set[bytes]:
    missing = set(texts)
    for content in contents if missing else ():
        missing -= {text for text in missing if text in content}
        if not missing:
            break
    return texts - missing


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _files(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    by_path: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in entries:
        by_path[entry["file_path"]].append(entry)
    return {path: _file(path, found) for path, found in sorted(by_path.items())}


def _file(path: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    commits = sorted((entry["commit_date"], entry["commit_hash"]) for entry in found)
    return {
        "file_path": path,
        "secret_count": len(found),
        "rule_ids": sorted({entry["rule_id"] for entry in found}),
        "earliest_commit": commits[0][1],
        "latest_commit": commits[-1][1],
    }


def _directories(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return each folder that holds a finding, directly or below, and always the root `.`."""
    direct: Counter[str] = Counter()
    recursive: Counter[str] = Counter()
    direct_files: dict[str, set[str]] = defaultdict(set)
    recursive_files: dict[str, set[str]] = defaultdict(set)
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        path = entry["file_path"]
        folders = [str(parent) for parent in PurePosixPath(path).parents] or ["."]
        direct[folders[0]] += 1
        direct_files[folders[0]].add(path)
        for folder in folders:
            recursive[folder] += 1
            recursive_files[folder].add(path)
            rules[folder][entry["rule_id"]] += 1
    return {
        folder: {
            "direct_secret_count": direct[folder],
            "recursive_secret_count": recursive[folder],
            "rule_id_counts": dict(sorted(rules[folder].items())),
            "direct_file_count": len(direct_files[folder]),
            "recursive_file_count": len(recursive_files[folder]),
        }
        for folder in sorted({".", *recursive})
    }
