"""Which differences in real repositories people have approved."""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from glob import escape

from gitleaks_eval.config.eval_file import Approval
from gitleaks_eval.scenarios.secrets import MASK
from gitleaks_eval.scoring.real_differences import Group

# What both candidates are in a repository.
Pins = tuple[str | None, str | None]


def approved(found: Iterable[Group], approvals: Sequence[Approval], pins: Callable[[str], Pins]) -> dict[Group, str]:
    """Return the groups that approvals for these two candidates cover, each with the reasons.

    A group is covered when each of its repositories is: approving it in one says nothing of another. `pins` are the
    identities of both candidates in a repository.
    """
    covered = {}
    for group in found:
        about = [approval for approval in approvals if _is_about(approval, group)]
        by_repository = [
            next((one.reason for one in about if _is_in(one, name, pins(name))), None) for name in group.repositories
        ]
        if group.repositories and all(reason is not None for reason in by_repository):
            covered[group] = "; ".join(dict.fromkeys(filter(None, by_repository)))
    return covered


def _is_in(approval: Approval, repository: str, pinned: Pins) -> bool:
    return (approval.baseline, approval.candidate) == pinned and any(
        _fits(repository, text) for text in approval.repositories
    )


def _is_about(approval: Approval, group: Group) -> bool:
    if approval.kind not in {"", group.kind} or MASK in approval.rule or not _fits(group.rule_id, approval.rule):
        return False
    if approval.findings is not None and group.count > approval.findings:
        return False
    cause = group.proven_cause
    if approval.cause is None or cause is None:
        return approval.cause == cause
    return _fits(cause, approval.cause)


def _fits(text: str, pattern: str) -> bool:
    # A text as it is written may have brackets, which a pattern gives a meaning of their own. What was masked stands
    # for itself: read as a pattern, it would fit every other text.
    return text == pattern or fnmatchcase(text, pattern.replace(MASK, escape(MASK)))
