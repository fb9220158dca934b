"""Rollup validation (RV-1 to RV-4): the directory counts add up."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gitleaks_eval import Analysis, Evidence, check_equal, conclude, first, not_applicable
from gitleaks_eval import check as check_of

COUNTS = ("direct_secret_count", "recursive_secret_count", "direct_file_count", "recursive_file_count")

Directories = Mapping[str, Mapping[str, float]]

check = partial(check_of, category="Rollup Validation")


@check("RV-1", "Recursive >= Direct (secrets)")
def test_RV_1_recursive_secrets(analysis: Analysis, evidence: Evidence) -> None:
    """No directory has fewer secrets with its subdirectories than without."""
    _none(
        evidence,
        _directories(analysis),
        lambda counts: counts["recursive_secret_count"] < counts["direct_secret_count"],
        "recursive below direct secret count",
    )


@check("RV-2", "Recursive >= Direct (files)")
def test_RV_2_recursive_files(analysis: Analysis, evidence: Evidence) -> None:
    """No directory has fewer files with its subdirectories than without."""
    _none(
        evidence,
        _directories(analysis),
        lambda counts: counts["recursive_file_count"] < counts["direct_file_count"],
        "recursive below direct file count",
    )


@check("RV-3", "All counts non-negative")
def test_RV_3_no_negative_counts(analysis: Analysis, evidence: Evidence) -> None:
    """No count of a directory is negative."""
    _none(evidence, _directories(analysis), lambda counts: min(counts.values()) < 0, "negative count")


@check("RV-4", "Root recursive equals total")
def test_RV_4_root_total(analysis: Analysis, evidence: Evidence) -> None:
    """The root directory, with all below it, has all the secrets."""
    directories = _directories(analysis)
    # The root is "."; without it, the shortest path stands in.
    root = "." if "." in directories else min(directories, key=len)
    total = analysis.count("total_secrets")
    actual = directories[root]["recursive_secret_count"]
    check_equal(evidence, total, actual, what=f"recursive secret count of {root}")


def _directories(analysis: Analysis) -> Directories:
    directories = analysis.directory_counts(*COUNTS)
    if not directories:
        not_applicable("N/A - no directory metrics present")
    return directories


def _none(
    evidence: Evidence, directories: Directories, violates: Callable[[Mapping[str, float]], Any], what: str
) -> None:
    violating = [{"path": path, **counts} for path, counts in directories.items() if violates(counts)]
    message = f"{len(violating)} directories with {what}" if violating else f"directories: none with {what}"
    conclude(evidence, not violating, message, f"no directory with {what}", first(violating))
