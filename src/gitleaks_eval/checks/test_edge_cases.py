"""Edge cases (EC-1 to EC-4): empty repositories, unicode paths, large files, binary files."""

from functools import partial

from gitleaks_eval import Analysis, Evidence, Expected, conclude, first, not_applicable
from gitleaks_eval import check as check_of

BINARY_EXTENSIONS = (
    ".exe", ".dll", ".so", ".dylib", ".bin", ".png", ".jpg", ".gif", ".pdf", ".zip", ".tar", ".gz",
)  # fmt: skip

check = partial(check_of, category="Edge Cases")


@check("EC-1", "Empty repo handling", about="findings")
def test_EC_1_empty_repository(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """An empty repository has an analysis with a total of 0 and a list of findings; both must be there."""
    if not expected.is_empty_repo:
        not_applicable("N/A - repo is not expected to be empty")
    total, findings = analysis.results.get("total_secrets"), analysis.results.get("findings")
    actual = {"total_secrets": total, "has_findings_list": isinstance(findings, list)}
    passed = isinstance(findings, list) and analysis.count("total_secrets") == 0 and total is not None
    message = f"empty repository: total_secrets {total}, findings {'a' if isinstance(findings, list) else 'no'} list"
    conclude(evidence, passed, message, {"total_secrets": 0, "has_findings_list": True}, actual)


@check("EC-2", "Unicode file paths")
def test_EC_2_unicode_paths(analysis: Analysis, evidence: Evidence) -> None:
    """Each path is a text that UTF-8 can write."""
    wrong = [
        {"index": index, "file_path": repr(path)[:100]}
        for index, finding in enumerate(analysis.findings())
        if not _is_utf8(path := finding.get("file_path", ""))
    ]
    message = f"{len(wrong)} paths are not valid UTF-8" if wrong else "paths: all valid UTF-8"
    conclude(evidence, not wrong, message, "valid UTF-8", first(wrong))


@check("EC-3", "Large file handling")
def test_EC_3_large_files(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """A repository with large files is scanned in time, and in some time at all."""
    if not expected.has_large_files:
        not_applicable("N/A - repo is not expected to have large files")
    actual, maximum = analysis.count("scan_time_ms"), expected.max_scan_time_ms
    message = f"scan time in ms: above 0 and below {maximum}, found {actual}"
    conclude(evidence, 0 < actual < maximum, message, {"above": 0, "below": maximum}, actual)


@check("EC-4", "Binary file handling", about="findings")
def test_EC_4_binary_files(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Nothing is found in a file whose name ends like a binary file's, in any case."""
    if not expected.has_binary_files:
        not_applicable("N/A - repo is not expected to have binary files")
    found = [path for path in analysis.paths() if path.lower().endswith(BINARY_EXTENSIONS)]
    message = f"{len(found)} finding{'s' * (len(found) != 1)} in binary files" if found else "binary files: no findings"
    conclude(evidence, not found, message, "no findings in binary files", first(found))


def _is_utf8(path: object) -> bool:
    if not isinstance(path, str):
        return False
    if path.isascii():
        return True
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
