"""Rows of thousands of repositories, counted one by one: groups, causes, and a verdict that nothing slips through."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fleets import CAUSE, PAIR, comparison, difference, row

from gitleaks_eval.config.eval_file import Approval
from gitleaks_eval.scoring.fleet import PairRow, RepositoryRow, Tally
from gitleaks_eval.scoring.real_differences import LOST, MOVED, NEW, groups

IDENTITIES = ("gitleaks 1 sha256:a", "gitleaks 2 sha256:b")
APPROVAL = Approval("github-pat", CAUSE, ("repo*",), "seen", *IDENTITIES)


def counted(rows: Sequence[RepositoryRow]) -> Tally:
    tally = Tally(*PAIR)
    for one in rows:
        tally.add(one, one.pairs[0])
    return tally


def verdict(*rows: RepositoryRow, approvals: Sequence[Approval] = ()) -> str:
    return counted(rows).judged(approvals, IDENTITIES).verdict


def test_groups_that_were_counted_are_those_of_all_comparisons_in_whatever_order_rows_come() -> None:
    rows = [
        row(
            number,
            *(difference(in_head=bool(number % 2)) for _ in range(number % 3)),
            *(difference(NEW, "aws", None, count=number) for _ in range(number > 4)),
        )
        for number in range(9)
    ]
    expected = groups(one.pairs[0].real for one in rows if one.pairs[0].real)
    shuffled = random.Random(7).sample(rows, len(rows))  # noqa: S311 - an order
    assert counted(shuffled).groups() == expected
    assert len(expected) == 2


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(0), row(1)], "SAFE"),
        ([row(0), row(1, difference())], "REVIEW"),
        ([row(0), row(1, difference(MOVED))], "REVIEW"),
        ([row(0), row(1, truth_lost=0)], "SAFE"),
        ([row(0), row(1, difference(), truth_lost=1)], "REGRESSION"),
        ([row(0), row(1, problem="is gone")], "INCOMPLETE"),
        ([row(0, difference(), truth_lost=1), row(1, problem="is gone")], "INCOMPLETE"),
        ([], "INCOMPLETE"),
    ],
)
def test_a_verdict_is_safe_only_where_all_were_compared_and_nothing_differs(
    rows: list[RepositoryRow], expected: str
) -> None:
    assert verdict(*rows) == expected


def test_what_differs_in_production_alone_is_to_review() -> None:
    inner = comparison("repo0", difference())
    outer = comparison("repo0")
    only = RepositoryRow(0, "repo0", "/repo0", (PairRow(*PAIR, replace(outer, production=inner)),))
    assert verdict(only) == "REVIEW"


def test_approved_groups_are_no_longer_to_review_and_those_of_another_pair_are() -> None:
    rows = [row(0, difference()), row(1, difference())]
    assert verdict(*rows, approvals=[APPROVAL]) == "SAFE"
    assert verdict(*rows, row(2, difference(NEW)), approvals=[APPROVAL]) == "SAFE"
    assert verdict(*rows, row(2, difference(rule="aws")), approvals=[APPROVAL]) == "REVIEW"
    other = Approval("github-pat", CAUSE, ("repo*",), "seen", IDENTITIES[0], "gitleaks 3 sha256:c")
    assert verdict(*rows, approvals=[other]) == "REVIEW"
    one = Approval("github-pat", CAUSE, ("repo0",), "seen", *IDENTITIES)
    assert verdict(*rows, approvals=[one]) == "REVIEW"


def test_repositories_are_counted_by_new_alerts_and_by_losses_head_before_history() -> None:
    rows = [
        row(0, difference(NEW), difference(NEW, in_head=False)),
        row(1, difference(NEW, in_head=False, count=3)),
        row(2, difference(LOST)),
        row(3, problem="is gone"),
        row(4),
    ]
    tally = counted(rows)
    assert (tally.compared, tally.total, tally.same) == (4, 5, 8)
    assert list(tally.judged((), IDENTITIES).reasons()) == [
        "1 of 5 repositories could not be compared",
        "new alerts in 2 repositories (1 in HEAD, 1 in history alone)",
        "lost findings in 1 repository (1 in HEAD)",
    ]


def test_the_five_largest_causes_come_head_first_and_without_what_is_approved() -> None:
    rows = [
        row(0, *(difference(LOST, f"rule-{number}", f"cause {number}", count=number + 1) for number in range(7))),
        row(1, difference(LOST, "rule-a", "cause 6"), difference(NEW, "rule-b", None, in_head=False, count=99)),
        row(2, difference()),
    ]
    found = counted(rows).judged([APPROVAL], IDENTITIES).causes()
    assert [(one.cause, one.findings, one.repositories) for one in found] == [
        (f"cause {number}", number + 1 + (number == 6), 1 + (number == 6)) for number in (6, 5, 4, 3, 2)
    ]
    assert found[0].rules == ("rule-6", "rule-a")


def test_that_nothing_differs_is_said_of_what_was_compared() -> None:
    assert counted([row(0), row(1)]).judged((), IDENTITIES).reasons() == ["nothing differs in 2 repositories"]
