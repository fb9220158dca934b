"""Rules, places and entries of one candidate against another."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from evaluations import A, evaluated, matched

from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.terminal.comparison import LINES_AT_MOST, comparison_lines
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, REVIEW, SAFE, Asked, Pair, compare
from gitleaks_eval.scoring.differences import find_differences
from gitleaks_eval.scoring.evaluated import CheckKey, Evaluated
from gitleaks_eval.scoring.expected_failures import TO_REVIEW, excuse
from gitleaks_eval.scoring.surveyed import (
    Hiding,
    Surveyed,
    moves,
    surveyed_from,
)

PLACES = {f"path:{name}": True for name in "abcdef"}
FORMS = {"form:hex": True, "git:note": True}
WHOLE = Surveyed({"jwt": True, "acme": True}, PLACES | FORMS)


def hiding(text: str, *, places: int = 0, rules: int = 0, kind: str = "path", status: str = "live") -> Hiding:
    return Hiding(kind, text, f"x.toml:{len(text)}", rules, places, status)


def side(surveyed: Surveyed, name: str = "new", version: str = "8.30.1") -> Evaluated:
    one = evaluated(name, {"one": matched([A], [A])})
    return replace(one, surveyed=surveyed, scanner={**one.scanner, "version": version})


NOTHING = Asked()


def pair(after: Surveyed, asked: Asked = NOTHING, *, version: str = "8.30.1", before: Surveyed = WHOLE) -> Pair:
    return compare(side(before, "old"), side(after, version=version), (), asked)


LOST = [
    (replace(WHOLE, places={**PLACES, **FORMS, "path:a": False}), Asked()),
    (replace(WHOLE, rules={"jwt": False, "acme": True}), Asked()),
    (WHOLE, Asked(silent=["jwt"])),
    (replace(WHOLE, entries=[hiding("^a$", places=1)]), Asked()),
    (replace(WHOLE, entries=[hiding("0123abcd", kind="commit", status="no_witness")]), Asked()),
]


@pytest.mark.parametrize(("after", "asked"), LOST)
def test_what_one_build_loses_or_may_lose_is_a_regression_and_of_two_builds_to_review(
    after: Surveyed, asked: Asked
) -> None:
    assert pair(after, asked).verdict == REGRESSION
    assert pair(after, asked, version="8.18.4").verdict == REVIEW
    assert pair(WHOLE, asked=replace(asked, silent=None)).verdict == SAFE


@pytest.mark.parametrize(
    "after",
    [
        replace(WHOLE, entries=[hiding("^a$", places=1, status="accepted"), hiding("x", status="dead")]),
        replace(WHOLE, entries=[hiding("y", places=2, status="redundant")]),
        replace(WHOLE, rules={**WHOLE.rules, "more": True}),
        replace(WHOLE, places={key: value for key, value in WHOLE.places.items() if key != "path:a"}),
    ],
    ids=["accepted-or-dead", "redundant", "one-more-rule", "a-place-not-asked"],
)
def test_what_loses_nothing_is_safe(after: Surveyed) -> None:
    assert pair(after).verdict == SAFE


def test_the_samples_of_the_baseline_decide_and_not_those_of_a_narrowed_rule() -> None:
    assert moves(WHOLE, WHOLE).rules_lost == ()
    assert moves(WHOLE, WHOLE, ["acme"]).rules_lost == ("acme",)
    # What is reported under another id is found, though its own rule is gone.
    assert moves(WHOLE, replace(WHOLE, rules={"jwt": True}), []).rules_lost == ()


@pytest.mark.parametrize(
    ("before", "after", "more_rules", "is_wider"),
    [
        (hiding("a", places=1), hiding("a", places=1), 0, False),
        (hiding("a", places=1), hiding("a", places=2), 0, True),
        (hiding("a", places=2), hiding("a", places=1), 0, False),
        (hiding("a", places=1), hiding("b", places=1), 0, True),
        (hiding("a", rules=222), hiding("a", rules=223), 1, False),
        (hiding("a", rules=166), hiding("a", rules=222), 0, False),
        (hiding("a", rules=1), hiding("a", rules=222), 0, True),
        (hiding("a", rules=222), hiding("a", rules=1), 0, False),
        (hiding("a", rules=9, kind="stopword"), hiding("a", rules=10, kind="stopword"), 1, False),
        (hiding("a", rules=9, kind="stopword"), hiding("a", rules=10, kind="stopword"), 0, True),
        (hiding("a", rules=9, kind="stopword"), hiding("a", rules=9, kind="regex"), 0, True),
    ],
)
def test_an_entry_is_wider_by_what_it_hides_and_not_by_rules_that_are_new(
    before: Hiding, after: Hiding, more_rules: int, *, is_wider: bool
) -> None:
    rules = {**WHOLE.rules, **{f"more-{number}": True for number in range(more_rules)}}
    moved = moves(replace(WHOLE, entries=[before]), replace(WHOLE, rules=rules, entries=[after]))
    assert moved.entries_wider == ((after.where,) if is_wider else ())


@pytest.mark.parametrize(
    ("before", "after", "is_wider"),
    [
        (["npm"], ["npm"], False),
        (["npm", "jwt"], ["npm"], False),
        (["npm"], ["npm", "jwt"], True),
        (["npm", "jwt"], ["npm", "slack"], True),
        (["npm", "jwt"], [], True),
        ([], ["npm", "jwt"], False),
    ],
)
@pytest.mark.parametrize("kind", ["path", "regex"])
def test_an_allowlist_is_wider_where_it_is_for_a_rule_more(
    before: Sequence[str], after: Sequence[str], kind: str, *, is_wider: bool
) -> None:
    was, now = (replace(hiding("a", rules=3, kind=kind), for_rules=frozenset(rules)) for rules in (before, after))
    moved = moves(replace(WHOLE, entries=[was]), replace(WHOLE, entries=[now]))
    assert bool(moved.entries_wider) == is_wider


def rows(entries: Sequence[dict[str, Any]], switched_off: Sequence[str] = ()) -> Surveyed:
    named = [{"file": "x.toml", "line": 1, "silences_rules": 1, "hides_places": 0, **one} for one in entries]
    read = surveyed_from({"rules": [], "places": [], "entries": named, "switched_off": switched_off})
    assert read
    return read


def test_what_an_accepted_entry_switches_off_or_replaces_is_not_lost() -> None:
    disabled = {"kind": "disabled", "entry": "disabledRules", "status": "accepted"}
    replaced = {"kind": "override", "entry": "jwt", "status": "accepted"}
    after = rows([disabled, replaced], ["acme"])
    assert moves(WHOLE, after, ["acme", "jwt", "other"]).rules_lost == ("other",)
    again = rows([{**disabled, "status": "live"}, replaced], ["acme"])
    assert moves(WHOLE, again, ["acme", "jwt", "other"]).rules_lost == ("acme", "other")


def test_between_two_builds_places_are_grouped_and_what_one_starts_to_obey_comes_first() -> None:
    gone = replace(WHOLE, places=dict.fromkeys(WHOLE.places, False))
    reasons = pair(gone, Asked(obeyed="new starts to obey disabledRules, which old ignores"), version="8.18.4").reasons
    assert reasons == (
        "new starts to obey disabledRules, which old ignores",
        "6 paths that new skips: a, b, c, …",
        "1 form of text that new does not read: hex",
        "1 corner of git that new does not see: note",
    )


def test_a_planted_secret_that_is_lost_by_what_a_version_starts_to_obey_is_to_review() -> None:
    old = evaluated("old", {"one": matched([A], [A])}, {("SA-10", "one"): "passed"})
    new = evaluated("new", {"one": matched([A], [])}, {("SA-10", "one"): "failed"})
    place = {"one": [(A[0], A[2], A[1])]}
    assert compare(old, new).verdict == REGRESSION
    judged = compare(old, new, (), Asked(lost_by_it=place))
    assert (judged.verdict, judged.reasons) == (REVIEW, ("1 lost in one by what it obeys",))
    assert len(judged.differences.lost) == 1
    differences = find_differences(old.matchings, new.matchings).excusing(place, {})
    key = CheckKey("SA-10", "one")
    assert excuse(differences, old.outcomes, key, ("findings",), review=True) == TO_REVIEW
    assert excuse(differences, old.outcomes, key, ("findings",), review=False) is None


def test_what_is_lost_to_accepted_entries_alone_is_counted_and_is_safe() -> None:
    old = evaluated("old", {"one": matched([A], [A])}, {("SA-10", "one"): "passed"})
    new = evaluated("new", {"one": matched([A], [])}, {("SA-10", "one"): "failed"})
    place = {"one": [(A[0], A[2], A[1])]}
    judged = compare(old, new, (), Asked(accepted=place, lost_by_it=place))
    assert (judged.verdict, judged.reasons) == (SAFE, ("1 lost in one, accepted",))
    # A place that is accepted in another scenario forgives nothing here, and neither does a part of what is lost.
    assert compare(old, new, (), Asked(accepted={"two": place["one"]})).verdict == REGRESSION
    more = (*A[:1], "other-rule", *A[2:])
    both = evaluated("old", {"one": matched([A, more], [A, more])}, {("SA-10", "one"): "passed"})
    none = evaluated("new", {"one": matched([A, more], [])}, {("SA-10", "one"): "failed"})
    judged = compare(both, none, (), Asked(accepted=place))
    assert judged.verdict == REGRESSION
    assert judged.reasons[:2] == ("1 lost in one", "1 lost in one, accepted")


def test_a_rule_or_a_place_that_is_lost_to_accepted_entries_alone_is_no_regression() -> None:
    name = next(iter(WHOLE.rules))
    place = next(iter(WHOLE.places))
    after = replace(WHOLE, accepted_places=frozenset({place}))
    judged = pair(after, Asked(silent=(), accepted_rules=(name,)))
    assert (judged.verdict, judged.moves.rules_lost) == (SAFE, ())
    assert judged.reasons == (f"1 rule ({name}) and 1 place ({place}) lost to accepted entries alone",)
    assert pair(WHOLE, Asked(silent=(name,))).verdict == REGRESSION
    # Without samples of the baseline the candidate's own survey says so.
    silent = replace(WHOLE, rules={**WHOLE.rules, name: False})
    assert pair(silent).verdict == REGRESSION
    assert pair(replace(silent, accepted_rules=frozenset({name}))).verdict == SAFE


def test_what_could_not_be_asked_is_never_safe() -> None:
    judged = pair(WHOLE, Asked(problem="the scan failed"))
    assert (judged.verdict, judged.reasons) == (INCOMPLETE, ("the scan failed",))


def test_a_rule_of_ones_own_that_never_fires_and_the_baseline_does_not_have_is_incomplete() -> None:
    after = replace(WHOLE, rules={**WHOLE.rules, "mine": False}, silent_own=frozenset({"mine"}))
    assert pair(after).reasons == ("1 checks fail that old does not have (rule mine)",)
    assert pair(after, before=replace(WHOLE, rules={**WHOLE.rules, "mine": False})).verdict == SAFE


def test_no_comparison_has_more_lines_than_a_screen_shows() -> None:
    wide = replace(WHOLE, entries=[hiding("x" * number, places=number) for number in range(1, 40)])
    baseline = replace(evaluated("old", {"one": matched([A] * 30, [A] * 30)}), surveyed=WHOLE)
    candidates = [replace(evaluated(name, {"one": matched([A] * 30, [])}), surveyed=wide) for name in ("new", "newer")]
    pairs = [compare(baseline, one) for one in candidates]
    lines = comparison_lines(Compared([baseline, *candidates], pairs))
    assert len(lines) <= LINES_AT_MOST
    assert sum(line.startswith("REGRESSION") for line in lines) == 2
    assert {line.split()[0] for line in lines} >= {"LOST", "WIDER"}
    assert any(line.startswith("WIDER  and ") for line in lines)


def survey(**places: str) -> Surveyed:
    rows = [{"family": "path", "case": case, "status": status} for case, status in places.items()]
    found = surveyed_from({"rules": [], "places": rows})
    assert found
    return found


@pytest.mark.parametrize(
    ("before", "after", "lost", "gained", "accepted"),
    [
        ("not_scanned", "accepted", 0, 0, 0),
        ("allowlisted", "accepted", 0, 0, 0),
        ("accepted", "not_scanned", 0, 0, 0),
        ("accepted", "seen", 0, 1, 0),
        ("seen", "accepted", 0, 0, 1),
        ("seen", "allowlisted", 1, 0, 0),
    ],
)
def test_a_place_that_accepted_entries_hide_is_not_seen_and_so_no_gain(
    before: str, after: str, lost: int, gained: int, accepted: int
) -> None:
    """What 8.18.4 skips and an accepted entry hides from 8.30.1 was said to be scanned by 8.30.1 alone."""
    found = moves(survey(a=before), survey(a=after))
    assert (len(found.places_lost), len(found.places_gained), len(found.places_accepted)) == (lost, gained, accepted)


def test_a_rule_that_accepted_entries_silence_is_known_as_that_in_a_saved_report() -> None:
    before, after = (
        surveyed_from({"rules": [{"rule_id": "jwt", "status": status}], "places": []})
        for status in ("fires", "accepted")
    )
    assert before
    assert after
    assert (moves(before, after).rules_lost, moves(before, after).rules_accepted) == ((), ("jwt",))
    assert moves(after, after) == moves(before, before)
