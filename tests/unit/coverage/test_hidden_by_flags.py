"""What flags hide, from what scans with some of them see."""

from collections.abc import Collection

from gitleaks_eval.coverage.places.flags import flag_results, hidden_by_flags
from gitleaks_eval.coverage.places.places import Place, usual_places
from gitleaks_eval.coverage.places.scan import Sight
from gitleaks_eval.scanners.limits import Limit

ONE, TWO, THREE, *_ = usual_places()
SEEN: Sight = dict.fromkeys((ONE, TWO, THREE), frozenset({"github-pat"}))
ARGS = ("--enable-rule=a", "--max-decode-depth=0")


def seen_without(*hidden: Place) -> Sight:
    return {place: rules for place, rules in SEEN.items() if place not in hidden}


def test_what_each_flag_hides_by_itself_is_its_own() -> None:
    def look(kept: Collection[Limit]) -> Sight:
        hides = {"--enable-rule=a": ONE, "--max-decode-depth=0": TWO}
        return seen_without(*(hides[limit.text] for limit in kept))

    hidden = hidden_by_flags(ARGS, SEEN, look)
    assert {one.place: places for one, places in hidden.by.items()} == {ARGS[0]: {ONE}, ARGS[1]: {TWO}}
    assert [result.status for result in flag_results(ARGS, hidden)] == ["live", "live"]


def test_what_two_flags_hide_together_is_blamed_on_both() -> None:
    hidden = hidden_by_flags(ARGS, SEEN, lambda kept: seen_without(ONE) if len(kept) == 2 else SEEN)
    assert not hidden.by
    assert {one.place: places for one, places in hidden.together.items()} == {ARGS[0]: {ONE}, ARGS[1]: {ONE}}
    assert [result.status for result in flag_results(ARGS, hidden)] == ["live", "live"]


def test_what_one_flag_shows_again_is_hidden_by_none() -> None:
    def look(kept: Collection[Limit]) -> Sight:
        return seen_without(ONE, TWO) if len(kept) == 1 else seen_without(TWO)

    hidden = hidden_by_flags(ARGS, SEEN, look)
    assert {place for places in hidden.by.values() for place in places} == {TWO}


def test_nothing_is_scanned_for_a_flag_that_nothing_planted_can_show() -> None:
    def look(_kept: Collection[Limit]) -> Sight:
        raise AssertionError

    hidden = hidden_by_flags(["-i=ignored"], SEEN, look)
    assert [(result.status, bool(result.why)) for result in flag_results(["-i=ignored"], hidden)] == [
        ("no_witness", True)
    ]
