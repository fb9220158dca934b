"""Loose labels: any rule, a range of lines, a file, a folder, one finding for one label, as many as can be."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gitleaks_eval.analysis.loose import pair_loose
from gitleaks_eval.analysis.matching import EXACT, MISSED, MOVED, UNEXPECTED, match_findings
from gitleaks_eval.scenarios.places import ANY_RULE, Window, places_of
from gitleaks_eval.scenarios.scenario import UNBOUNDED, Expected, ExpectedFinding, Thresholds


def expecting(*findings: ExpectedFinding) -> Expected:
    return Expected(
        len(findings), None, None, None, None, None, findings=findings,
        thresholds=Thresholds(*[UNBOUNDED] * 4), is_partial=True,
    )  # fmt: skip


def found(path: str, line: int, rule: str = "a") -> dict[str, object]:
    return {"file_path": path, "line_number": line, "rule_id": rule, "severity": "HIGH"}


@pytest.mark.parametrize(
    ("label", "finding", "status"),
    [
        (ExpectedFinding("f", ANY_RULE, 4), found("f", 4), EXACT),
        (ExpectedFinding("f", ANY_RULE, 4), found("f", 6), MOVED),
        (ExpectedFinding("f", ANY_RULE, 4), found("f", 8), MISSED),
        (ExpectedFinding("f", ANY_RULE, 4), found("g", 4), MISSED),
        (ExpectedFinding("f", "a", 4, last_line=9), found("f", 9), EXACT),
        (ExpectedFinding("f", "a", 4, last_line=9), found("f", 9, "b"), MISSED),
        (ExpectedFinding("f", ANY_RULE, 0), found("f", 99), EXACT),
        (ExpectedFinding("f", "a", 0), found("f", 99, "b"), MISSED),
        (ExpectedFinding("d/", ANY_RULE, 0), found("d/e/f", 1), EXACT),
        (ExpectedFinding("d/", ANY_RULE, 0), found("df", 1), MISSED),
    ],
)
def test_a_label_takes_what_it_is_about_and_nothing_else(
    label: ExpectedFinding, finding: dict[str, object], status: str
) -> None:
    assert match_findings(expecting(label), [finding]).matches[0].status == status


def test_one_finding_is_never_two_secrets() -> None:
    two = expecting(ExpectedFinding("f", ANY_RULE, 0), ExpectedFinding("f", ANY_RULE, 0))
    counts = match_findings(two, [found("f", 3)]).counts()
    assert (counts[EXACT], counts[MISSED]) == (1, 1)


def test_an_exact_label_goes_before_a_loose_one_and_a_file_before_its_folder() -> None:
    labels = [ExpectedFinding("", ANY_RULE, 0), ExpectedFinding("d/f", ANY_RULE, 0), ExpectedFinding("d/f", "a", 2)]
    counts = match_findings(expecting(*labels), [found("d/f", 1), found("d/f", 2), found("g", 3)]).counts()
    assert counts == {EXACT: 3}


def test_what_stands_where_nothing_is_to_be_found_is_wrong_and_no_labels() -> None:
    clean = places_of([Window("f", 3, 3)])
    matching = match_findings(expecting(ExpectedFinding("f", ANY_RULE, 0)), [found("f", 3)], clean=clean)
    assert {(one.status, one.labelled) for one in matching.matches} == {(MISSED, True), (UNEXPECTED, True)}


def test_what_no_label_speaks_of_is_unlabelled() -> None:
    matching = match_findings(expecting(), [found("f", 3)], clean=places_of([Window("g")]))
    assert matching.unlabelled == 1


LINES = some.integers(1, 12)
WINDOWS = some.lists(some.tuples(LINES, some.integers(0, 4)), max_size=5)


@pytest.mark.slow
@given(WINDOWS, some.lists(LINES, max_size=5))
@settings(max_examples=60, deadline=None)
def test_no_other_way_pairs_more(windows: list[tuple[int, int]], lines: list[int]) -> None:
    wanted = [Window("f", first, first + length) for first, length in windows]
    taken = pair_loose(wanted, {"f": [(line, "a", "") for line in lines]}, 0)
    most = max(
        sum(window.holds(line, "a") for window, line in zip(wanted, order, strict=False))
        for order in permutations([*lines, *[-1] * len(wanted)], len(wanted))
    )
    assert sum(pair is not None for pair in taken) == most
