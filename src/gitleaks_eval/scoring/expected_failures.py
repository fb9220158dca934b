"""Which failures of a candidate the comparison already explains."""

from collections.abc import Collection, Mapping

from gitleaks_eval.scoring.differences import Differences
from gitleaks_eval.scoring.evaluated import CheckKey

# What a check may say that it is about (`about=` of its mark).
FINDINGS, SPEED = "findings", "speed"
AS_IN_BASELINE = "as in baseline"
# How a reason begins where somebody has accepted the cause.
ACCEPTED = "accepted"
SLOWER = "slower than the baseline"
TO_REVIEW = "to review: findings differ from the baseline"


def explains(differences: Differences, about: Collection[str], scenario: str | None) -> bool:
    """Return whether a failure of a check that the baseline passes is a matter of review, and no regression.

    What is new, moved, relabelled or of another severity explains the checks about findings, in its
    scenario, and so does what accepted entries alone hide, unless something else is lost there as well; one about
    speed fails for what is slower, which decides nothing.
    """
    if SPEED in about:
        return True
    return FINDINGS in about and scenario in differences.to_review() | differences.forgiven()


def excuse(
    differences: Differences,
    baseline: Mapping[CheckKey, str],
    key: CheckKey,
    about: Collection[str],
    *,
    review: bool,
) -> str | None:
    """Return why a failure of a check in a comparison is not one of this candidate (its xfail reason), else None.

    `about` is what its mark says; `review` is whether what is to review is accepted
    (`--gitleaks-fail-on=regression`). Where the candidate loses something, a check about findings fails for more
    than it does with the baseline.
    """
    if fails_by_loss(differences, about, key.scenario):
        return None
    if FINDINGS in about and key.scenario in differences.uncompared:
        return None
    if baseline.get(key) == "failed":
        return AS_IN_BASELINE
    if SPEED in about:
        return SLOWER if key in baseline else None
    return TO_REVIEW if review and FINDINGS in about and key.scenario in differences.to_review() else None


def fails_by_loss(differences: Differences, about: Collection[str], scenario: str | None) -> bool:
    """Return whether a check is about findings, in a scenario that loses one."""
    return FINDINGS in about and scenario in differences.losing()
