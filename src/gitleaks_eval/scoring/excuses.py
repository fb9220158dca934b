"""Which failures of a candidate the comparison already explains."""

from collections.abc import Mapping

from gitleaks_eval.scoring.differences import Differences
from gitleaks_eval.scoring.evaluated import CheckKey

# Checks that see which findings there are; SP-3 and SP-4 are about time and size by finding.
FINDING_CHECKS = frozenset(
    [
        *(f"SA-{number}" for number in range(1, 12)),
        *(f"SD-{number}" for number in range(1, 5)),
        *("SP-3", "SP-4", "EC-1", "EC-4"),
    ]
)
SPEED_CHECKS = frozenset(["SP-1", "SP-2", "SP-3"])
AS_IN_BASELINE = "as in baseline"
TO_REVIEW = "to review: findings differ from the baseline"


def explains(differences: Differences, check_id: str, scenario: str | None) -> bool:
    """Whether a failure of a check that the baseline passes is a matter of review, and no regression.

    What is new, moved, relabelled or of another severity explains the checks that look at findings, in its
    scenario, unless something is lost there as well; a failure of SP-1 to SP-3 means slower, which is told and no more.
    """
    if check_id in SPEED_CHECKS:
        return True
    return check_id in FINDING_CHECKS and scenario in differences.to_review()


def excuse(differences: Differences, baseline: Mapping[CheckKey, str], key: CheckKey, *, review: bool) -> str | None:
    """Why a failure of a check in a comparison is not one of this candidate (its xfail reason), else None.

    `review` is whether what is to review is accepted (`--gitleaks-fail-on=regression`). Where the candidate
    loses something, a check that looks at findings fails for more than it does with the baseline.
    """
    if fails_by_loss(differences, key.check_id, key.scenario):
        return None
    if key.check_id in FINDING_CHECKS and key.scenario in differences.uncompared:
        return None
    if baseline.get(key) == "failed":
        return AS_IN_BASELINE
    if key.check_id in SPEED_CHECKS:
        return SLOWER if key in baseline else None
    return TO_REVIEW if review and explains(differences, key.check_id, key.scenario) else None


def fails_by_loss(differences: Differences, check_id: str, scenario: str | None) -> bool:
    """Whether a check looks at findings, in a scenario that loses one."""
    return check_id in FINDING_CHECKS and scenario in differences.losing()


SLOWER = "slower than the baseline"
