"""What an acceptance speaks of: the probes that it was measured on, by family, and no later ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from gitleaks_eval.config.eval_file import Acceptance
from gitleaks_eval.coverage.configuration import probes
from gitleaks_eval.coverage.configuration.probes import Hides, hold_against
from gitleaks_eval.coverage.places.places import usual_places

OLD_PLACES = ("path:.env", "path:.npmrc", "form:plain")
NEW_PLACES = ("path:brought/by/a/later/version", "project:services/api/.env")
OLD, NEW = ("jwt", "github-pat"), "brought-by-a-later-version"


def acceptance(probes: int = 2, scanner: str = "gitleaks 8.30.1", **hides: int) -> Acceptance:
    return Acceptance("x", tuple(hides.items()), probes, scanner, "", "", Path("x.yaml"), 1, 0, (0,))


def hides(*titles: str, rules: tuple[str, ...] = (), usual: tuple[str, ...] = (), of_rules: int = 0) -> Hides:
    families: dict[str, list[str]] = {}
    for title in titles:
        families.setdefault(title.partition(":")[0], []).append(title)
    return Hides(families, rules, usual, of_rules)


def grown(accepted: Acceptance, now: Hides, *own: str) -> dict[str, tuple[int, int]]:
    return {one.family: (one.now, one.accepted) for one in hold_against(accepted, now, own).grown}


def test_as_much_as_was_accepted_is_accepted_and_more_is_growth_of_its_family() -> None:
    accepted = acceptance(places=2, rules=1, of_rules=5, path=2)
    assert hides(*OLD_PLACES[:2], rules=OLD[:1], of_rules=5).counts() == dict(accepted.hides)
    assert grown(accepted, hides(*OLD_PLACES[:2], rules=OLD[:1], of_rules=5)) == {}
    assert grown(accepted, hides(*OLD_PLACES[:2], rules=OLD, of_rules=5)) == {"rules": (2, 1)}
    assert grown(accepted, hides(*OLD_PLACES)) == {"places": (3, 2), "form": (1, 0)}
    # As many in all, and another family.
    assert grown(accepted, hides(OLD_PLACES[0], OLD_PLACES[2])) == {"form": (1, 0)}


def test_an_entry_of_paths_that_was_accepted_for_a_rule_is_not_accepted_for_all_rules() -> None:
    for_all = replace(hides(of_rules=5), for_all=True)
    assert grown(acceptance(places=0, rules=1, of_rules=5), for_all) == {"rules": (5, 1)}
    assert grown(acceptance(places=0, rules=0, of_rules=5), for_all) == {}
    # Written by hand, in the first form, for no more than so many.
    assert grown(acceptance(1, places=9, rules=9), for_all) == {}


@pytest.mark.parametrize("form", [acceptance(1, "", places=1, rules=0), acceptance(1, places=1, rules=0, path=1)])
def test_probes_that_are_new_since_are_not_measured_and_are_no_growth(form: Acceptance) -> None:
    found = hold_against(form, hides(OLD_PLACES[0], *NEW_PLACES), ())
    assert (found.grown, found.unmeasured) == ((), len(NEW_PLACES))
    assert grown(form, hides(*OLD_PLACES, *NEW_PLACES)) == {"places": (3, 1)}


def test_an_acceptance_of_the_old_form_holds_for_all_places_that_there_were_and_for_usual_values() -> None:
    old = acceptance(1, "", places=2, rules=1)
    assert grown(old, hides(OLD_PLACES[0], OLD_PLACES[2], rules=OLD, usual=OLD[:1])) == {}
    assert grown(old, hides(rules=OLD, usual=OLD)) == {"rules": (2, 1)}


def test_a_rule_that_the_scanner_did_not_have_is_not_measured_and_one_of_the_users_own_is() -> None:
    accepted = acceptance(places=0, rules=1, of_rules=9)
    found = hold_against(accepted, hides(rules=("jwt", NEW), of_rules=9), ())
    assert (found.grown, found.unmeasured) == ((), 1)
    assert grown(accepted, hides(rules=("jwt", NEW), of_rules=9), NEW) == {"rules": (2, 1)}
    assert grown(acceptance(scanner="gitleaks 99.0.0", places=0, rules=1), hides(rules=("jwt", NEW))) == {
        "rules": (2, 1)
    }


def test_where_more_rules_are_asked_as_many_more_may_be_silent() -> None:
    accepted = acceptance(places=0, rules=1, of_rules=1)
    assert grown(accepted, hides(rules=OLD, of_rules=2)) == {}
    assert grown(accepted, hides(rules=OLD, of_rules=1)) == {"rules": (2, 1)}


def test_each_place_of_an_earlier_version_that_is_listed_is_one() -> None:
    assert set(probes._first_versions()) <= {place.title for place in usual_places()}
