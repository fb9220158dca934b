"""Findings of two candidates without any truth: how they are matched, folded, grouped and approved."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gitleaks_eval.config.eval_file import Approval
from gitleaks_eval.reports.comparison.real_differences import real_json
from gitleaks_eval.scoring.approvals import approved
from gitleaks_eval.scoring.real_differences import (
    KINDS,
    LOST,
    MEND_LINES,
    MOVED,
    NEW,
    REATTRIBUTED,
    RELABELLED,
    SEVERITY_CHANGED,
    Change,
    Group,
    Real,
    RealComparison,
    RealFinding,
    changes,
    folded,
    groups,
    still_reported,
    suppressed,
)

ONE = RealFinding("c1", "a.env", "a", 3, "github-pat", "v1", "HIGH", in_head=True)
FINDINGS = some.lists(
    some.builds(
        RealFinding,
        commit=some.sampled_from(["c1", "c2"]),
        file_path=some.just("a.env"),
        path_key=some.sampled_from(["a", "b"]),
        line_number=some.integers(1, 3),
        rule_id=some.sampled_from(["r1", "r2"]),
        value=some.sampled_from(["v1", "v2"]),
        severity=some.sampled_from(["HIGH", "LOW"]),
        in_head=some.booleans(),
        compared_commit=some.sampled_from(["", "c1", "c2"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, None),
        ({"severity": "LOW"}, SEVERITY_CHANGED),
        ({"rule_id": "generic-api-key"}, RELABELLED),
        ({"rule_id": "generic-api-key", "severity": "LOW"}, RELABELLED),
        ({"line_number": 4}, MOVED),
        ({"line_number": 4, "severity": "LOW"}, MOVED),
        ({"value": "v2"}, MOVED),
    ],
)
def test_what_is_reported_otherwise_is_exactly_one_kind(change: dict[str, str | int], kind: str | None) -> None:
    same, found = changes([ONE], [ONE._replace(**change)])  # type: ignore[arg-type]
    assert [one.kind for one in found] == ([kind] if kind else [])
    assert len(same) == (kind is None)


@pytest.mark.parametrize("change", [{"commit": "c2"}, {"path_key": "b"}, {"line_number": 4, "value": "v2"}])
def test_what_stands_elsewhere_is_lost_and_new(change: dict[str, str | int]) -> None:
    _, found = changes([ONE], [ONE._replace(**change)])  # type: ignore[arg-type]
    assert Counter(one.kind for one in found) == {LOST: 1, NEW: 1}


def test_of_two_on_one_line_the_one_that_is_there_no_more_is_lost() -> None:
    other = ONE._replace(value="v2")
    same, found = changes([ONE, other], [other])
    assert (len(same), [(one.kind, one.finding) for one in found]) == (1, [(LOST, ONE)])


def test_a_second_rule_that_is_silent_now_is_lost_and_the_other_is_named() -> None:
    generic = ONE._replace(rule_id="generic-api-key")
    _, (lost,) = changes([ONE, generic], [ONE])
    assert still_reported([lost], [ONE, generic], [ONE]) == {lost: "github-pat"}


def test_a_finding_that_only_names_its_commit_otherwise_is_reattributed_and_not_to_review() -> None:
    own_commit = ONE._replace(commit="c2", compared_commit="c1")
    for before, after in ((ONE, own_commit), (own_commit, ONE)):
        same, found = changes([before], [after])
        assert (same, found) == ([], [Change(REATTRIBUTED, before, after)])
        (row,) = folded(found, {})
        assert (row.commit, row.candidate_commit) == (before.commit, after.commit)
        real = Real((RealComparison("repo", "c", 0, (row,)),))
        assert real.groups()
        assert not real.to_review()
        assert not real.broken
        assert list(real.reasons()) == ["1 credited to another commit in repo (real, labels aside)"]


def test_lines_that_stop_matching_are_said_and_are_to_review() -> None:
    real = Real((RealComparison("repo", "c", 5, (), broken={".gitleaksignore": 2}),))
    assert real.broken
    assert list(real.reasons()) == [f"2 of the lines of .gitleaksignore in repo stop matching: {MEND_LINES}"]


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"value": "v2", "line_number": 4}, [LOST, NEW]),
        ({"rule_id": "generic-api-key"}, [RELABELLED]),
        ({"severity": "LOW"}, [SEVERITY_CHANGED]),
        ({"line_number": 4}, [MOVED]),
        ({"compared_commit": ""}, [LOST, NEW]),
        ({"compared_commit": "c3"}, [LOST, NEW]),
    ],
)
def test_another_name_of_a_commit_hides_no_other_difference(change: dict[str, str | int], kinds: list[str]) -> None:
    own_commit = ONE._replace(commit="c2", compared_commit="c1")
    _, found = changes([ONE], [own_commit._replace(**change)])  # type: ignore[arg-type]
    assert [one.kind for one in found] == kinds


def test_a_lost_secret_that_stands_elsewhere_too_comes_below_those_that_are_reported_nowhere() -> None:
    gone = ONE._replace(value="v2", in_head=False)
    other_file = ONE._replace(path_key="b", file_path="b.env")
    sides = [ONE, ONE._replace(line_number=9), gone], [other_file]
    rows = folded(changes(*sides)[1], {}, sides)
    assert [(row.kind, row.elsewhere, row.count) for row in rows] == [(LOST, False, 1), (LOST, True, 2), (NEW, True, 1)]
    assert [group.elsewhere for group in groups([RealComparison("r", "c", 0, rows)])] == [2, 1]


@pytest.mark.slow
@given(FINDINGS, FINDINGS)
def test_each_finding_of_both_sides_stands_in_one_kind(before: list[RealFinding], after: list[RealFinding]) -> None:
    same, found = changes(before, after)
    left = [old for old, _ in same] + [one.baseline for one in found if one.baseline]
    right = [new for _, new in same] + [one.candidate for one in found if one.candidate]
    assert (Counter(left), Counter(right)) == (Counter(before), Counter(after))
    comparison = RealComparison("r", "c", len(same), folded(found, {}))
    both = len(same) + sum(map(comparison.count, (MOVED, RELABELLED, SEVERITY_CHANGED, REATTRIBUTED)))
    assert (both + comparison.count(LOST), both + comparison.count(NEW)) == (len(before), len(after))


@pytest.mark.slow
@given(FINDINGS, FINDINGS)
def test_what_is_lost_one_way_is_new_the_other_way(before: list[RealFinding], after: list[RealFinding]) -> None:
    (same, there), (other, back) = changes(before, after), changes(after, before)
    turned = {LOST: NEW, NEW: LOST}
    assert len(same) == len(other)
    assert Counter(turned.get(one.kind, one.kind) for one in there) == Counter(one.kind for one in back)


def test_the_same_two_are_a_pair_whichever_side_is_the_baseline() -> None:
    first, second = ONE._replace(line_number=7), ONE._replace(line_number=9)
    assert Change(MOVED, ONE, first) in changes([ONE], [first, second])[1]
    assert Change(MOVED, first, ONE) in changes([first, second], [ONE])[1]


def test_one_secret_is_one_difference_that_names_every_place() -> None:
    again = [ONE._replace(commit="c2"), ONE._replace(file_path="b.env", path_key="b", line_number=9)]
    _, found = changes([*again, ONE, ONE._replace(value="v2", line_number=7)], [])
    rows = folded(found, {})
    assert [(row.count, row.file_path, row.line_number) for row in rows] == [(3, "a.env", 3), (1, "a.env", 7)]
    assert [tuple(other[:3]) for other in rows[0].others] == [("c2", "a.env", 3), ("c1", "b.env", 9)]


def test_one_secret_that_differs_for_two_causes_is_two_differences() -> None:
    _, found = changes([ONE, ONE._replace(path_key="b", file_path="b.env")], [])
    assert [row.cause for row in folded(found, {found[0]: "hidden"})] == ["hidden", None]


def test_suppressions_are_the_cause_where_the_other_side_finds_it_when_nothing_is_obeyed() -> None:
    two = ONE._replace(value="v2", path_key="b")
    lost, new = Change(LOST, ONE, None), Change(NEW, None, two)
    said = "the repository's own suppressions hide it with"
    there = suppressed([lost, new], [[two], [ONE]], ("base", "head"))
    assert there == {lost: f"{said} head", new: f"{said} base"}
    assert suppressed([lost, new], [[ONE], [two]], ("base", "head")) == {}


def comparison(name: str, *found: RealFinding, cause: str = "") -> RealComparison:
    _, lost = changes(found, [])
    return RealComparison(name, "c", 0, folded(lost, dict.fromkeys(lost, cause) if cause else {}))


def test_groups_come_by_rule_and_cause_head_first_and_the_largest_first() -> None:
    old = [ONE._replace(rule_id="old", value=str(number), in_head=False) for number in range(5)]
    many = [ONE._replace(rule_id="many", value=str(number)) for number in range(3)]
    found = groups([comparison("one", ONE, *old), comparison("two", *many, ONE)])
    told = [(one.rule_id, one.count, one.in_head, one.repositories) for one in found]
    assert told == [("many", 3, 3, ("two",)), ("github-pat", 2, 2, ("one", "two")), ("old", 5, 0, ("one",))]


def test_what_differs_in_a_repository_is_told_in_json_by_its_kind_and_in_production_once_more() -> None:
    one = comparison("one", ONE, cause="a cause")
    (told,) = real_json(Real((replace(one, production=replace(one, repository="as in production")),)))
    production = told["production"]
    assert (told["repository"], production["repository"], "production" in production) == (
        "one",
        "as in production",
        False,
    )
    for listed in (told, production):
        assert {kind: len(listed[kind]) for kind in KINDS if listed[kind]} == {LOST: 1}
        assert (listed[LOST][0]["file_path"], listed[LOST][0]["cause"]) == ("a.env", "a cause")


APPROVAL = Approval("github-*", "hidden by x [allowlist] paths[0]", ("on?",), "a test", "base", "head")


def approvals(*given: Approval, baseline: str = "base", candidate: str = "head") -> dict[str, str]:
    found = groups([comparison("one", ONE, cause="hidden by x [allowlist] paths[0]")])
    return {group.rule_id: reason for group, reason in approved(found, given, lambda _: (baseline, candidate)).items()}


def test_an_approved_group_is_counted_and_no_longer_to_review() -> None:
    assert approvals(APPROVAL) == {"github-pat": "a test"}
    compared = (comparison("one", ONE, cause="hidden by x [allowlist] paths[0]"),)
    (group,) = groups(compared)
    real = Real(compared, approved={group: "a test"})
    assert real.to_review() == []
    assert list(real.reasons()) == ["1 lost in one (real, labels aside)", "1 of them approved"]


@pytest.mark.parametrize(
    "change",
    [
        {"rule": "slack-*"},
        {"cause": None},
        {"cause": "hidden by y"},
        {"repositories": ("two",)},
        {"repositories": ()},
        {"kind": NEW},
        {"baseline": "another"},
        {"candidate": "another"},
    ],
)
def test_an_approval_of_something_else_approves_nothing(change: dict[str, str]) -> None:
    assert approvals(replace(APPROVAL, **change)) == {}  # type: ignore[arg-type]


def test_a_group_is_approved_in_all_its_repositories_or_not_at_all() -> None:
    group = Group(LOST, "github-pat", None, None, ("one", "two"), 2, 2)
    both = replace(APPROVAL, cause=None)
    assert approved([group], [both], lambda _: ("base", "head")) == {}
    other = replace(both, repositories=("two",), reason="another")
    assert approved([group], [both, other], lambda _: ("base", "head")) == {group: "a test; another"}


def test_an_approval_holds_in_the_repositories_whose_configuration_it_is_pinned_to() -> None:
    group = Group(LOST, "github-pat", None, None, ("one", "two"), 2, 2)
    everywhere = replace(APPROVAL, cause=None, repositories=("*",))
    known = {"one": ("base", "head"), "two": ("base", "head with another configuration of its own")}
    assert approved([group], [everywhere], known.__getitem__) == {}
    both = [everywhere, replace(everywhere, candidate=known["two"][1])]
    assert approved([group], both, known.__getitem__) == {group: "a test"}


def test_more_findings_of_no_known_cause_than_were_approved_are_to_review() -> None:
    approval = replace(APPROVAL, cause=None, repositories=("*",), findings=2)
    for count, covered in ((1, 1), (2, 1), (3, 0)):
        group = Group(LOST, "github-pat", None, None, ("one",), count, count)
        assert len(approved([group], [approval], lambda _: ("base", "head"))) == covered


def test_the_kinds_are_those_of_the_contract() -> None:
    assert KINDS == ("lost", "new", "moved", "relabelled", "severity_changed", "reattributed")
