"""Coverage (SC-1 to SC-8): the analysis has every field, list and map that its readers rely on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from gitleaks_eval import Analysis, Evidence, check_boolean, check_contains, conclude, first
from gitleaks_eval import check as check_of

SUMMARY = (
    "total_secrets",
    "unique_secrets",
    "secrets_in_head",
    "secrets_in_history",
    "files_with_secrets",
    "commits_with_secrets",
)
FINDING = ("file_path", "line_number", "rule_id", "secret_type", "commit_hash", "fingerprint")

check = partial(check_of, category="Coverage")


@check("SC-1", "Schema version present")
def test_SC_1_schema_version(analysis: Analysis, evidence: Evidence) -> None:
    """The schema version is there and not null."""
    actual = analysis.results.get("schema_version")
    shown = _shown(actual)
    conclude(evidence, actual is not None, f"schema version: {shown}", "a schema version", shown)


@check("SC-2", "Tool version present")
def test_SC_2_tool_version(analysis: Analysis, evidence: Evidence) -> None:
    """The tool version is a text that is not empty."""
    actual = analysis.results.get("tool_version")
    shown = _shown(actual)
    passed = isinstance(actual, str) and bool(actual)
    conclude(evidence, passed, f"tool version: {shown}", "a tool version", shown)


@check("SC-3", "Timestamp present")
def test_SC_3_timestamp(analysis: Analysis, evidence: Evidence) -> None:
    """The time of the analysis is there and not null."""
    actual = analysis.results.get("timestamp")
    shown = _shown(actual)
    conclude(evidence, actual is not None, f"timestamp: {shown}", "a timestamp", shown)


@check("SC-4", "Summary metrics present")
def test_SC_4_summary_metrics(analysis: Analysis, evidence: Evidence) -> None:
    """Each of the six counts of the summary is there."""
    present = [name for name in SUMMARY if name in analysis.results]
    check_contains(evidence, SUMMARY, present, what="summary metrics")


@check("SC-5", "Findings list present")
def test_SC_5_findings(analysis: Analysis, evidence: Evidence) -> None:
    """The key `findings` is there."""
    check_boolean(evidence, True, "findings" in analysis.results, what="findings present")


@check("SC-6", "Files summary present")
def test_SC_6_files(analysis: Analysis, evidence: Evidence) -> None:
    """The key `files` is there."""
    check_boolean(evidence, True, "files" in analysis.results, what="files present")


@check("SC-7", "Directory metrics present")
def test_SC_7_directories(analysis: Analysis, evidence: Evidence) -> None:
    """The key `directories` is there."""
    check_boolean(evidence, True, "directories" in analysis.results, what="directories present")


@check("SC-8", "All findings have required fields")
def test_SC_8_finding_fields(analysis: Analysis, evidence: Evidence) -> None:
    """Each finding has the six fields that identify it; null is missing."""
    findings = analysis.findings()
    incomplete = [] if _are_complete(findings) else list(_incomplete(findings))
    message = f"{len(incomplete)} findings lack a field" if incomplete else "finding fields: all present"
    conclude(evidence, not incomplete, message, list(FINDING), first(incomplete))


def _are_complete(findings: Sequence[Mapping[str, Any]]) -> bool:
    # Most analyses are: that is known in half the time that it takes to say what lacks where.
    try:
        return not any(None in values for values in map(itemgetter(*FINDING), findings))
    except KeyError:
        return False


def _incomplete(findings: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    for index, finding in enumerate(findings):
        missing = [name for name in FINDING if finding.get(name) is None]
        if missing:
            yield {"index": index, "missing": missing}


def _shown(value: object) -> object:
    """Return a short value as evidence; a list or an object in its place could hold anything."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return value[:200] if isinstance(value, str) else value
