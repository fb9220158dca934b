"""Expected against reported findings: one to one, exact first, then moved, relabelled, missed, unexpected."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from builders import Json, finding, shuffled
from hypothesis import given, settings
from hypothesis import strategies as st

from gitleaks_eval.analysis.matching import (
    EXACT,
    MISSED,
    MOVED,
    MOVED_AT_MOST,
    RELABELLED,
    UNEXPECTED,
    Match,
    Matching,
    alias_of,
    match_findings,
)
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding

Place = tuple[str, str, int]
STATUSES = (EXACT, MOVED, RELABELLED, MISSED, UNEXPECTED)


def expecting(*places: Place, total: int | None = None) -> Expected:
    findings = tuple(ExpectedFinding(path, rule, line) for path, rule, line in places)
    return Expected(len(places) if total is None else total, 0, 0, 0, 0, 0, findings=findings)


def reporting(*places: Place) -> list[Json]:
    return [finding(path, line, rule) for path, rule, line in places]


def matched(wanted: Sequence[Place], actual: Sequence[Place]) -> Matching:
    return match_findings(expecting(*wanted), reporting(*actual))


def statuses(matching: Matching) -> list[tuple[str, int, int | None]]:
    """Status, expected line (or that of the unexpected finding) and reported line, of each match."""
    found = [(match.status, match.line_number, match.reported_line_number) for match in matching.matches]
    return sorted(found, key=repr)


def lines(*numbers: int) -> list[Place]:
    return [("a.py", "jwt", number) for number in numbers]


@pytest.mark.parametrize(
    ("wanted", "actual", "status"),
    [
        (("a", "r", 5), ("a", "r", 5), [EXACT]),
        (("a", "r", 5), ("a", "r", 8), [MOVED]),
        (("a", "r", 5), ("a", "r", 2), [MOVED]),
        (("a", "r", 5), ("a", "r", 9), [MISSED, UNEXPECTED]),
        (("a", "r", 5), ("a", "r", 1), [MISSED, UNEXPECTED]),
        (("a", "r", 5), ("a", "s", 5), [RELABELLED]),
        (("a", "r", 5), ("a", "s", 6), [MISSED, UNEXPECTED]),
        (("a", "r", 5), ("b", "r", 5), [MISSED, UNEXPECTED]),
        (("a", "r", 5), ("A", "r", 5), [MISSED, UNEXPECTED]),
    ],
)
def test_one_finding_is_exact_moved_relabelled_or_missed(wanted: Place, actual: Place, status: list[str]) -> None:
    assert [match.status for match in matched([wanted], [actual]).matches] == status


def test_a_finding_moves_three_lines_at_most() -> None:
    assert MOVED_AT_MOST == 3


@pytest.mark.parametrize(
    ("wanted", "actual", "found"),
    [
        # The exact one is taken first, though another is asked for first.
        ([4, 5], [5], [(EXACT, 5, 5), (MISSED, 4, None)]),
        ([5], [4, 5, 6], [(EXACT, 5, 5), (UNEXPECTED, 4, 4), (UNEXPECTED, 6, 6)]),
        # Of several moved ones, the nearest.
        ([10], [8, 11, 13], [(MOVED, 10, 11), (UNEXPECTED, 8, 8), (UNEXPECTED, 13, 13)]),
        ([10, 12], [11, 13], [(MOVED, 10, 11), (MOVED, 12, 13)]),
        ([10, 20], [11, 19], [(MOVED, 10, 11), (MOVED, 20, 19)]),
        # A far one does not take what another is nearer to.
        ([10, 13], [12, 16], [(MISSED, 10, None), (MOVED, 13, 12), (UNEXPECTED, 16, 16)]),
        # One reported finding stands for one expected finding.
        ([5, 5], [5], [(EXACT, 5, 5), (MISSED, 5, None)]),
        ([5], [5, 5], [(EXACT, 5, 5), (UNEXPECTED, 5, 5)]),
        ([5, 5], [5, 5], [(EXACT, 5, 5), (EXACT, 5, 5)]),
        ([5, 5], [5, 6], [(EXACT, 5, 5), (MOVED, 5, 6)]),
        ([], [5], [(UNEXPECTED, 5, 5)]),
        ([5], [], [(MISSED, 5, None)]),
        ([], [], []),
    ],
)
def test_lines_of_one_rule_are_matched_one_to_one(
    wanted: list[int], actual: list[int], found: list[tuple[str, int, int | None]]
) -> None:
    assert statuses(matched(lines(*wanted), lines(*actual))) == sorted(found, key=repr)


def test_all_exact_ones_come_before_any_moved_one() -> None:
    matching = matched([("a", "r", 5), ("a", "r", 6)], [("a", "r", 6), ("a", "r", 7)])
    assert statuses(matching) == [(EXACT, 6, 6), (MOVED, 5, 7)]


def test_moved_ones_come_before_relabelled_ones() -> None:
    matching = matched([("a", "r", 5), ("a", "s", 6)], [("a", "s", 5)])
    assert [(match.status, match.rule_id, match.line_number) for match in matching.matches] == [
        (MISSED, "r", 5),
        (MOVED, "s", 6),
    ]


def test_a_relabelled_finding_names_both_rules() -> None:
    (match,) = matched([("a", "r", 5)], [("a", "s", 5)]).matches
    assert (match.rule_id, match.reported_rule_id, match.reported_line_number) == ("r", "s", 5)


def test_an_unexpected_finding_names_what_was_reported() -> None:
    (match,) = match_findings(expecting(), [finding("a", 5, "s", "LOW")]).matches
    assert (match.status, match.file_path, match.line_number, match.rule_id, match.severity) == (
        UNEXPECTED,
        "a",
        5,
        "s",
        "LOW",
    )
    assert (match.reported_rule_id, match.reported_line_number) == ("s", 5)


def test_the_severity_is_the_expected_one_or_else_the_reported_one() -> None:
    wanted = (
        ExpectedFinding("a", "r", 1, "HIGH"),
        ExpectedFinding("a", "r", 10),
        ExpectedFinding("a", "r", 20, "LOW"),
        ExpectedFinding("a", "r", 30),
    )
    expected = Expected(4, 0, 0, 0, 0, 0, findings=wanted)
    actual = [finding("a", 1, "r", "MEDIUM"), finding("a", 10, "r", "CRITICAL")]
    assert [match.severity for match in match_findings(expected, actual).matches] == ["HIGH", "CRITICAL", "LOW", None]


def test_a_missed_finding_has_the_severity_of_the_policy() -> None:
    wanted = (ExpectedFinding("a", "r", 1), ExpectedFinding("a", "r", 20, "LOW"), ExpectedFinding("b", "s", 1, "LOW"))
    expected = Expected(3, 0, 0, 0, 0, 0, findings=wanted)
    matches = match_findings(expected, [finding("b", 1, "s", "HIGH")], lambda rule, path: f"{rule} in {path}").matches
    assert [match.severity for match in matches] == ["r in a", "r in a", "LOW"]


def test_the_reported_severity_is_what_the_scanner_said() -> None:
    wanted = (ExpectedFinding("a", "r", 1, "HIGH"), ExpectedFinding("a", "r", 30))
    expected = Expected(2, 0, 0, 0, 0, 0, findings=wanted)
    actual = [finding("a", 2, "r", "MEDIUM"), finding("b", 10, "r", "CRITICAL")]
    matches = match_findings(expected, actual).matches
    assert [(match.severity, match.reported_severity) for match in matches] == [
        ("HIGH", "MEDIUM"),
        (None, None),
        ("CRITICAL", "CRITICAL"),
    ]


def test_only_severities_that_are_expected_are_compared_and_not_those_of_another_rule() -> None:
    wanted = (
        ExpectedFinding("a", "r", 1, "HIGH"),
        ExpectedFinding("a", "r", 11, "HIGH"),
        ExpectedFinding("a", "r", 20, "HIGH"),
        ExpectedFinding("a", "r", 30, "HIGH"),
        ExpectedFinding("a", "r", 40),
    )
    actual = [finding("a", line, rule) for line, rule in ((1, "r"), (12, "r"), (20, "s"), (40, "r"))]
    assert match_findings(Expected(5, 0, 0, 0, 0, 0, findings=wanted), actual).severities_compared == 2


# --- renamed rules

OLD, NEW = "slack-access-token", "slack-bot-token"


@pytest.mark.parametrize(
    ("was", "now"),
    [(OLD, NEW), (OLD, "slack-user-token"), ("slack-web-hook", "slack-webhook-url"), ("facebook", "facebook-secret")],
)
def test_a_renamed_rule_is_an_alias_both_ways(was: str, now: str) -> None:
    assert alias_of(was, now)
    assert alias_of(now, was)


@pytest.mark.parametrize("other", [NEW, "slack-user-token", "generic-api-key", ""])
def test_rules_that_one_rule_was_split_into_are_no_aliases_of_each_other(other: str) -> None:
    assert not alias_of(NEW, other)


@pytest.mark.parametrize(("expected", "reported"), [(OLD, NEW), (NEW, OLD)])
def test_a_renamed_rule_is_matched_before_any_other_on_that_line(expected: str, reported: str) -> None:
    # `generic-api-key` comes first by rule id.
    matching = matched([("a", expected, 4)], [("a", "generic-api-key", 4), ("a", reported, 4)])
    assert [(match.status, match.reported_rule_id) for match in matching.matches] == [
        (RELABELLED, reported),
        (UNEXPECTED, "generic-api-key"),
    ]


def test_all_renamed_rules_are_matched_before_any_other() -> None:
    matching = matched([("a", "generic-api-key", 4), ("a", NEW, 4)], [("a", OLD, 4)])
    assert [(match.rule_id, match.status) for match in matching.matches] == [
        ("generic-api-key", MISSED),
        (NEW, RELABELLED),
    ]


def test_a_renamed_rule_does_not_move() -> None:
    assert [match.status for match in matched([("a", NEW, 4)], [("a", OLD, 5)]).matches] == [MISSED, UNEXPECTED]


# --- where only counts are known


@pytest.mark.parametrize(
    ("total", "reported", "detected", "missed", "unexpected"),
    [(3, 3, 3, 0, 0), (3, 1, 1, 2, 0), (3, 5, 3, 0, 2), (3, 0, 0, 3, 0), (0, 0, 0, 0, 0)],
)
def test_counts_stand_in_where_no_findings_are_listed(
    total: int, reported: int, detected: int, missed: int, unexpected: int
) -> None:
    matching = match_findings(expecting(total=total), reporting(*lines(*range(reported))))
    assert (matching.count(EXACT), matching.count(MISSED), matching.count(UNEXPECTED)) == (detected, missed, unexpected)
    assert (matching.expected, matching.count(MOVED), matching.count(RELABELLED)) == (total, 0, 0)


def test_what_is_found_where_nothing_is_expected_is_unexpected_and_named() -> None:
    matching = match_findings(expecting(total=0), reporting(*lines(1, 2)))
    assert [match.line_number for match in matching.matches] == [1, 2]
    assert matching.count(UNEXPECTED) == 2


def test_a_list_that_is_shorter_than_the_total_is_completed_by_count() -> None:
    matching = match_findings(expecting(*lines(1, 2), total=5), reporting(*lines(1, 50, 60)))
    counts = [matching.count(status) for status in (EXACT, MISSED, UNEXPECTED)]
    assert (matching.expected, counts) == (5, [3, 2, 0])


def test_a_list_that_is_longer_than_the_total_counts() -> None:
    matching = match_findings(expecting(*lines(1, 2), total=1), reporting(*lines(1)))
    assert (matching.expected, matching.count(EXACT), matching.count(MISSED)) == (2, 1, 1)


# --- properties, on many random cases


def random_places(generator: random.Random, most: int) -> list[Place]:
    return [
        (generator.choice("ab"), generator.choice("rst"), generator.randint(1, 12))
        for _ in range(generator.randint(0, most))
    ]


def random_case(seed: int) -> tuple[list[Place], list[Place]]:
    generator = random.Random(seed)  # noqa: S311 - cases, not secrets
    return random_places(generator, 9) or [("a", "r", 1)], random_places(generator, 9)


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_each_finding_is_matched_once_and_none_is_lost(start: int) -> None:
    for seed in range(start, start + 100):
        wanted, actual = random_case(seed)
        matching = matched(wanted, actual)
        of_wanted = [match for match in matching.matches if match.status != UNEXPECTED]
        assert Counter((match.file_path, match.rule_id, match.line_number) for match in of_wanted) == Counter(wanted)
        used = Counter(
            (match.file_path, match.reported_rule_id, match.reported_line_number)
            for match in matching.matches
            if match.status != MISSED
        )
        assert used == Counter(actual)
        assert sum(matching.count(status) for status in STATUSES) == len(matching.matches)
        assert matching.expected == len(wanted)


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_each_match_is_what_its_status_says(start: int) -> None:
    for seed in range(start, start + 100):
        for match in matched(*random_case(seed)).matches:
            same_rule = match.rule_id == match.reported_rule_id
            if match.status == EXACT:
                assert same_rule
                assert match.line_number == match.reported_line_number
            elif match.status == MOVED:
                assert same_rule
                assert match.reported_line_number is not None
                assert 1 <= abs(match.line_number - match.reported_line_number) <= 3
            elif match.status == RELABELLED:
                assert not same_rule
                assert match.line_number == match.reported_line_number
            elif match.status == MISSED:
                assert (match.reported_rule_id, match.reported_line_number) == (None, None)


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_as_many_are_exact_as_can_be_and_no_pair_is_left_unmatched(start: int) -> None:
    for seed in range(start, start + 100):
        wanted, actual = random_case(seed)
        matching = matched(wanted, actual)
        assert matching.count(EXACT) == (Counter(wanted) & Counter(actual)).total()
        missed = [match for match in matching.matches if match.status == MISSED]
        unexpected = [match for match in matching.matches if match.status == UNEXPECTED]
        for one in missed:
            for other in unexpected:
                near = abs(one.line_number - other.line_number)
                same_file = one.file_path == other.file_path
                assert not (same_file and one.rule_id == other.rule_id and near <= 3)
                assert not (same_file and near == 0)


@pytest.mark.parametrize("seed", range(60))
def test_the_order_of_both_sides_does_not_matter(seed: int) -> None:
    wanted, actual = random_case(seed)
    usual = matched(wanted, actual)
    for other in range(5):
        assert matched(shuffled(wanted, other), shuffled(actual, other + 100)) == usual


# --- properties, by search

PLACES = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["r", "s", OLD, NEW]), st.integers(1, 9)), min_size=1, max_size=8
)
searched = settings(max_examples=300, deadline=None, database=None, derandomize=True)


def found_again(matching: Matching) -> Counter[tuple[str, str | None, int | None]]:
    used = [match for match in matching.matches if match.status != MISSED]
    return Counter((match.file_path, match.reported_rule_id, match.reported_line_number) for match in used)


def of_expected(matching: Matching) -> list[Match]:
    return [match for match in matching.matches if match.status != UNEXPECTED]


@pytest.mark.slow
@searched
@given(PLACES, PLACES)
def test_matching_is_one_to_one(wanted: list[Place], actual: list[Place]) -> None:
    matching = matched(wanted, actual)
    assert [(match.file_path, match.line_number, match.rule_id) for match in of_expected(matching)] == sorted(
        (path, line, rule) for path, rule, line in wanted
    )
    assert found_again(matching) == Counter(actual)


@pytest.mark.slow
@searched
@given(PLACES, PLACES, st.randoms(use_true_random=False))
def test_matching_knows_no_order(wanted: list[Place], actual: list[Place], mixer: random.Random) -> None:
    usual = matched(wanted, actual)
    mixer.shuffle(wanted)
    mixer.shuffle(actual)
    assert matched(wanted, actual) == usual


@pytest.mark.slow
@searched
@given(PLACES, PLACES, PLACES)
def test_one_more_reported_finding_never_makes_one_more_miss(
    wanted: list[Place], actual: list[Place], more: list[Place]
) -> None:
    for number in range(len(more)):
        fewer, many = (matched(wanted, actual + more[:count]).count(MISSED) for count in (number, number + 1))
        assert fewer - 1 <= many <= fewer


@pytest.mark.slow
@searched
@given(PLACES, PLACES, PLACES)
def test_a_false_positive_elsewhere_hides_no_miss(wanted: list[Place], actual: list[Place], more: list[Place]) -> None:
    elsewhere = [(f"elsewhere/{path}", rule, line) for path, rule, line in more]
    assert of_expected(matched(wanted, actual + elsewhere)) == of_expected(matched(wanted, actual))


@pytest.mark.slow
@searched
@given(PLACES, PLACES)
def test_as_many_are_exact_as_can_be(wanted: list[Place], actual: list[Place]) -> None:
    assert matched(wanted, actual).count(EXACT) == (Counter(wanted) & Counter(actual)).total()


@pytest.mark.slow
@searched
@given(PLACES, PLACES, st.integers(0, 12))
def test_the_counts_add_up(wanted: list[Place], actual: list[Place], more: int) -> None:
    matching = match_findings(expecting(*wanted, total=len(wanted) + more), reporting(*actual))
    counts = matching.counts()
    found = counts[EXACT] + counts[MOVED] + counts[RELABELLED]
    assert found + counts[MISSED] == matching.expected == len(wanted) + more
    assert found + counts[UNEXPECTED] == len(actual)


# --- malformed findings


@pytest.mark.parametrize("line", [None, "5", 5.0, [], {}, float("nan")])
def test_a_finding_without_a_line_is_unexpected_and_stands_for_no_other(line: object) -> None:
    malformed = {**finding("a", 5, "r"), "line_number": line}
    for wanted_line in (1, 2, 5):
        matching = match_findings(expecting(("a", "r", wanted_line)), [malformed])
        assert (matching.count(MISSED), matching.count(UNEXPECTED)) == (1, 1)


@pytest.mark.parametrize("place", ["file_path", "rule_id", "line_number", "severity"])
@pytest.mark.parametrize("value", [None, True, 1.5, "", "\udce9", [1], {"a": 1}, 10**30, -7])
def test_malformed_findings_are_matched_without_a_crash(place: str, value: object) -> None:
    reported = [finding("a", 5, "r"), {**finding("a", 6, "r"), place: value}, {}]
    matching = match_findings(expecting(("a", "r", 5), ("a", "r", 6)), reported)
    assert sum(matching.count(status) for status in (EXACT, MOVED, RELABELLED, UNEXPECTED)) == 3


@pytest.mark.parametrize("value", [None, True, 1.5, [1], {"a": 1}, -7])
def test_a_severity_that_is_no_text_does_no_harm_beside_a_good_finding_at_the_same_place(value: object) -> None:
    reported = [finding("a", 5, "r", "HIGH"), {**finding("a", 5, "r"), "severity": value}]
    matching = match_findings(expecting(("a", "r", 5)), reported)
    assert (matching.count(EXACT), matching.count(UNEXPECTED)) == (1, 1)
    assert {match.reported_severity for match in matching.matches} == {"HIGH", None}


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "line", "status"), [("r", 6, MOVED), ("s", 5, RELABELLED), ("s", 6, MISSED)])
def test_many_findings_in_one_place_are_matched_one_by_one(rule: str, line: int, status: str) -> None:
    # All pairs of them would be 400 million.
    matching = matched([("a", "r", 5)] * 20_000, [("a", rule, line)] * 20_000)
    assert matching.count(status) == 20_000


def test_many_findings_are_matched_in_little_time() -> None:
    wanted = [("a.py", "jwt", line) for line in range(1, 5001)]
    actual = [("a.py", "jwt", line + 1) for line in range(1, 5001)]
    matching = matched(wanted, actual)
    assert (matching.count(EXACT), matching.count(MISSED) + matching.count(MOVED)) == (4999, 1)
