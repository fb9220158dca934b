"""Detection (SD-1 to SD-6): nothing missed, nothing unexpected, entropy sane, secrets masked."""

from functools import partial

from gitleaks_eval import (
    Analysis,
    Evidence,
    Expected,
    check_at_least,
    check_equal,
    check_not_contains,
    conclude,
    first,
    not_applicable,
)
from gitleaks_eval import check as check_of

MAX_ENTROPY_BITS = 8
SHORT_PREVIEW = 8

check = partial(check_of, category="Detection")


@check("SD-1", "No false negatives", critical=True, about="findings", caps="detection_accuracy")
def test_SD_1_no_false_negatives(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """At least as many secrets are found as are expected."""
    actual = analysis.count("total_secrets")
    check_at_least(evidence, expected.total_secrets, actual, what="total secrets")


@check("SD-2", "No unexpected rule IDs", critical=True, about="findings")
def test_SD_2_no_unexpected_rules(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """No rule found something that is not expected to."""
    if not expected.rule_ids or expected.is_partial:
        not_applicable("The truth does not know all rules" if expected.is_partial else "No rules expected")
    actual = analysis.mapping("secrets_by_rule")
    forbidden = actual.keys() - set(expected.rule_ids)
    check_not_contains(evidence, forbidden, actual, what="rule ids", allowed=expected.rule_ids)


@check("SD-3", "Historical secrets detected", critical=True, about="findings")
def test_SD_3_historical_secrets(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """What only history holds is found, and nothing else is taken for it."""
    actual = analysis.count("secrets_in_history")
    if expected.secrets_in_history is None:
        not_applicable("The truth does not know the secrets in history")
    check_equal(evidence, expected.secrets_in_history, actual, what="secrets in history")


@check("SD-4", "Clean repos have zero secrets", critical=True, about="findings", caps="false_positive")
def test_SD_4_clean_repository(expected: Expected, analysis: Analysis, evidence: Evidence) -> None:
    """Nothing is found where nothing is planted."""
    if expected.total_secrets > 0:
        not_applicable("N/A - repo expected to have secrets")
    check_equal(evidence, 0, analysis.count("total_secrets"), what="secrets in a clean repository")


@check("SD-5", "Entropy values reasonable")
def test_SD_5_entropy(analysis: Analysis, evidence: Evidence) -> None:
    """The entropy of each finding is a number of bits between 0 and 8; a missing one is 0."""
    invalid = [
        {"file_path": finding.get("file_path"), "entropy": finding.get("entropy")}
        for finding in analysis.findings()
        if not _is_entropy(finding.get("entropy", 0))
    ]
    message = (
        f"{len(invalid)} finding{'s' * (len(invalid) != 1)} with an entropy outside 0 to 8"
        if invalid
        else "entropies: all within 0 to 8"
    )
    conclude(evidence, not invalid, message, {"minimum": 0, "maximum": MAX_ENTROPY_BITS}, first(invalid))


@check("SD-6", "All secrets have masked preview", critical=True)
def test_SD_6_masked_previews(analysis: Analysis, evidence: Evidence) -> None:
    """The preview of each finding holds a `*` or has 8 characters at most; a missing one is empty."""
    # The evidence names files only: an unmasked preview is what must not travel further.
    unmasked = [
        finding.get("file_path") for finding in analysis.findings() if not _is_masked(finding.get("secret_preview", ""))
    ]
    message = f"{len(unmasked)} findings show their secret" if unmasked else "previews: all masked"
    conclude(evidence, not unmasked, message, "masked, or 8 characters at most", first(unmasked))


def _is_entropy(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= MAX_ENTROPY_BITS


def _is_masked(preview: object) -> bool:
    return isinstance(preview, str) and ("*" in preview or len(preview) <= SHORT_PREVIEW)
