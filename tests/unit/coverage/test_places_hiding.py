"""Which entries hide usual places: with a look that obeys like Gitleaks, and counts how often it is asked."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import ConfigFile, Configuration, parsed
from gitleaks_eval.config.hiding import NOTHING_HIDES, Entry
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.places import hiding as places_hiding
from gitleaks_eval.coverage.places.hiding import SCANS_AT_MOST, Hidden, hidden_by
from gitleaks_eval.coverage.places.map import accepted, as_rows, lost_places, no_longer_seen, places_map
from gitleaks_eval.coverage.places.places import Place, usual_places
from gitleaks_eval.coverage.places.scan import Sight
from gitleaks_eval.regex.analyse import matcher

RULE = frozenset({"github-pat"})
PATHS = {place: RULE for place in usual_places() if place.family == "path"}
DEFAULT = "[extend]\nuseDefault = true\n"


def configured(*contents: str) -> Configuration:
    """A chain of files, named a.toml, b.toml and so on; the last extends the default."""
    files = [
        ConfigFile(Path(f"/c/{name}.toml"), content.encode(), "useDefault" in content)
        for name, content in zip("abc", contents, strict=False)
    ]
    return Configuration(tuple(files), "a test")


def allowing(paths: Iterable[str]) -> Configuration:
    listed = ", ".join(f"'{path}'" for path in paths)
    return configured(f"{DEFAULT}[[allowlists]]\npaths = [{listed}]\n")


# More than the module of regular expressions itself remembers.
compiled = cache(re.compile)


@dataclass
class FakeLook:
    """Sees each path that no allowlist matches, while its rule is in force; counts its calls."""

    calls: int = 0
    fails_at: int = 0

    def __call__(self, configuration: Configuration) -> Sight:
        self.calls += 1
        if self.calls == self.fails_at:
            raise EvaluationError("it did not end in time")
        documents = [parsed(file) for file in configuration.chain]
        return {place: RULE for place in PATHS if not any(hides(document, place) for document in documents)}


def hides(document: dict[str, Any], place: Place) -> bool:
    lists = list(document.get("allowlists", []))
    for rule in document.get("rules", []):
        if rule["id"] == "github-pat":
            lists += rule.get("allowlists", [])
            if not re.search(rule.get("path", ""), place.file):
                return True
    if "github-pat" in document.get("extend", {}).get("disabledRules", []):
        return True
    return any(compiled(path).search(place.file) for one in lists for path in one.get("paths", []))


def named(configuration: Configuration, look: FakeLook | None = None, limit: int = SCANS_AT_MOST) -> Hidden:
    lost = lost_places(FakeLook()(configuration), PATHS)
    return hidden_by(configuration, lost, look or FakeLook(), limit)


def counts(hidden: Hidden) -> dict[str, int]:
    return {entry.place: len(places) for entry, places in hidden.by.items()}


def matching(path: str) -> int:
    return sum(re.search(path, place.file) is not None for place in PATHS)


def test_each_of_few_entries_is_asked_alone_and_named_for_all_that_it_hides() -> None:
    paths = ("^src/", r"\.py$", "^no/such/folder/", "^tests?/")
    look = FakeLook()
    hidden = named(allowing(paths), look)
    assert counts(hidden) == {
        f"allowlists[0].paths[{index}]": matching(path) for index, path in enumerate(paths) if matching(path)
    }
    assert hidden.is_whole
    assert look.calls == 1 + len(counts(hidden))


def test_entries_of_paths_where_nothing_is_hidden_are_not_asked() -> None:
    look = FakeLook()
    hidden = named(allowing([*(f"^nowhere{number}/" for number in range(994)), "^src/", "^docs/"]), look)
    assert counts(hidden) == {
        "allowlists[0].paths[994]": matching("^src/"),
        "allowlists[0].paths[995]": matching("^docs/"),
    }
    assert (look.calls, hidden.is_whole) == (3, True)


def test_a_path_that_cannot_be_foreseen_is_asked_as_is_one_beside_an_archive() -> None:
    hard = "(nowhere+){1,30}+(x+x+)+y"
    assert matcher(hard) is None
    zipped = next(place for place in usual_places() if place.generator == "zip")
    document = {"allowlists": [{"paths": [hard, "^nowhere/"]}]}
    entries = [Entry(Path("my.toml"), "", 0, ("allowlists", 0, "paths", number)) for number in (0, 1)]
    assert [places_hiding._is_elsewhere(document, one, PATHS) for one in entries] == [False, True]
    assert [places_hiding._is_elsewhere(document, one, [zipped]) for one in entries] == [False, False]


@pytest.fixture
def unforeseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is foreseen: each entry may be about each place."""
    monkeypatch.setattr(places_hiding, "matcher", lambda _: None)


@pytest.mark.slow
@pytest.mark.usefixtures("unforeseen")
def test_of_a_thousand_entries_those_that_hide_are_named_with_twenty_scans() -> None:
    live = ("^src/", "^docs/", "^k8s/", "LICENSE", "Makefile", r"\.lock$")
    paths = [*(f"^nowhere{number}/" for number in range(994)), *live]
    look = FakeLook()
    hidden = named(allowing(paths), look)
    assert look.calls <= SCANS_AT_MOST
    assert not hidden.notes
    assert not hidden.is_whole
    assert {entry.place: places for entry, places in hidden.by.items()} == {
        f"allowlists[0].paths[{994 + index}]": frozenset(place for place in PATHS if re.search(path, place.file))
        for index, path in enumerate(live)
    }


@pytest.mark.usefixtures("unforeseen")
def test_a_place_that_several_of_many_entries_hide_is_put_down_to_one_of_them() -> None:
    paths = [*(f"^nowhere{number}/" for number in range(50)), "^src/", r"\.py$", r"^src/main\.py$", "."]
    hidden = named(allowing(paths))
    everywhere = dict(zip(("50", "51", "52", "53"), paths[50:], strict=True))
    for entry, places in hidden.by.items():
        index = entry.place.removeprefix("allowlists[0].paths[").rstrip("]")
        assert all(re.search(everywhere[index], place.file) for place in places)
    assert all(hidden.entries_of(place) for place in PATHS)


def test_asked_alone_an_entry_hides_as_much_whatever_others_are_there() -> None:
    """Deleting another entry is a pure improvement, and must not look like this one had grown."""
    folders = ["^src/", "^s", "^docs/", "^test/", "^a", "^b", "^c", "^d"]

    def hidden(paths: list[str]) -> dict[str, int]:
        configuration, look = allowing(paths), FakeLook()
        found = hidden_by(configuration, lost_places(look(configuration), PATHS), look, 1_000, alone_at_most=500)
        return {paths[int(name.split("[")[-1][:-1])]: number for name, number in counts(found).items()}

    every = hidden(folders)
    for gone in folders:
        left = hidden([path for path in folders if path != gone])
        assert left == {path: number for path, number in every.items() if path != gone}


def test_who_may_hide_what_has_no_name_is_asked_before_who_hides_more_that_has_one() -> None:
    configuration = allowing(["^src/", r"\.py$", "^docs/"])
    known, beside, likeliest = [Entry(Path("my.toml"), "", 0, ("allowlists", 0, "paths", index)) for index in range(3)]
    first, second, third = list(PATHS)[:3]
    search = places_hiding._Search(configuration, FakeLook(), 9, by={known: {first, second}})
    possible = {first: [known, beside], second: [known, beside], third: [likeliest]}
    assert search.likeliest(possible, set()) == likeliest
    assert search.likeliest(possible, {likeliest}) == known
    assert search.likeliest(possible, {likeliest, known}) is None


@pytest.mark.usefixtures("unforeseen")
@pytest.mark.parametrize("limit", [1, 3, 9])
def test_no_more_scans_are_made_than_are_allowed_and_what_is_not_known_says_so(limit: int) -> None:
    look = FakeLook()
    hidden = named(allowing(["^src/", "^docs/", *(f"^nowhere{number}/" for number in range(60))]), look, limit)
    assert look.calls <= limit
    lost = {place for place in PATHS if re.search("^src/|^docs/", place.file)}
    assert all(hidden.entries_of(place) or place in hidden.notes for place in lost)


def test_a_scan_that_fails_leaves_a_note_at_what_it_did_not_name() -> None:
    hidden = named(allowing(["^src/", "^docs/"]), FakeLook(fails_at=3))
    assert counts(hidden) == {"allowlists[0].paths[0]": matching("^src/")}
    assert set(hidden.notes.values()) == {"not known in full what hides it: it did not end in time"}
    assert {place.file for place in hidden.notes} == {"docs/x.md"}


def test_the_rules_that_a_file_switches_off_are_one_entry_and_others_are_not_asked_about() -> None:
    off = ", ".join(f'"rule-{number}"' for number in range(216))
    look = FakeLook()
    hidden = named(configured(f'[extend]\nuseDefault = true\ndisabledRules = [{off}, "github-pat"]\n'), look)
    assert counts(hidden) == {"[extend] disabledRules": len(PATHS)}
    assert look.calls == 2
    only_others = configured(f"[extend]\nuseDefault = true\ndisabledRules = [{off}]\n[[allowlists]]\npaths = ['^src/']")
    look = FakeLook()
    assert counts(named(only_others, look)) == {"allowlists[0].paths[0]": matching("^src/")}
    assert look.calls == 2


def test_a_rule_that_takes_anothers_place_is_named_and_its_allowlist_for_the_rest_only() -> None:
    rule = "[[rules]]\nid = 'github-pat'\nregex = 'x'\npath = '^src/'\n[[rules.allowlists]]\npaths = ['^src/main']\n"
    hidden = named(configured(DEFAULT + rule))
    assert counts(hidden) == {
        "rules[0].allowlists[0].paths[0]": matching("^src/main"),
        "rules[0]": len(PATHS) - matching("^src/"),
    }


def test_entries_of_every_file_of_the_chain_are_named() -> None:
    hidden = named(configured("[[allowlists]]\npaths = ['^src/']\n", DEFAULT + "[[allowlists]]\npaths = ['^docs/']\n"))
    assert {entry.title(Path("/c")) for entry in hidden.by} == {
        "a.toml allowlists[0].paths[0]",
        "b.toml allowlists[0].paths[0]",
    }


def test_what_no_entry_hides_says_so() -> None:
    lost = {place: RULE for place in PATHS if place.file == ".env"}
    hidden = hidden_by(allowing(["^src/"]), lost, lambda _: {})
    assert hidden.notes == dict.fromkeys(lost, NOTHING_HIDES)
    assert not hidden.by


def test_nothing_is_asked_where_nothing_is_lost_or_nothing_is_configured() -> None:
    look = FakeLook()
    assert hidden_by(allowing(["^src/"]), {}, look) == Hidden({}, {}, is_whole=True)
    hidden_by(Configuration((), "builtin"), PATHS, look)
    assert look.calls == 0


def test_the_map_says_of_each_place_what_became_of_it() -> None:
    [seen, hidden, blind, unasked] = list(PATHS)[:4]
    reference = dict.fromkeys((seen, hidden, unasked), RULE)
    found = Hidden({}, {hidden: "a note"}, is_whole=True)
    made = places_map((seen, hidden, blind), {seen: RULE}, reference, found)
    assert [one.status for one in made.placed[:4]] == ["seen", "allowlisted", "not_scanned", "not_asked"]
    assert made.placed[1].blame(Path()) == "a note"
    assert len(made.placed) == len(usual_places())
    assert made.titles("not_asked") == tuple(place.title for place in usual_places()[3:])


def test_a_place_is_lost_only_where_both_maps_ask_for_it() -> None:
    [one, other, third] = list(PATHS)[:3]
    nothing = Hidden({}, {}, is_whole=True)
    before = places_map((one, other, third), dict.fromkeys((one, other, third), RULE), {}, nothing)
    after = places_map((one, other), {one: RULE}, {}, nothing)
    assert no_longer_seen(before, after) == (other.title,)
    assert no_longer_seen(after, before) == ()


def test_a_place_is_accepted_once_every_entry_that_hides_it_is() -> None:
    configuration = allowing(["^src/", r"\.py$"])
    look = FakeLook()
    made = places_map(PATHS, look(configuration), PATHS, named(configuration))
    [folder, python] = made.hidden.by
    one = {row["case"]: row for row in as_rows(accepted(made, [folder]), Path("/c"))}
    assert one["src/a.md"]["status"] == one["src/App.vue"]["status"] == "accepted"
    assert one["src/main.py"]["status"] == one["setup.py"]["status"] == "allowlisted"
    assert one["src/main.py"]["hidden_by"] == "a.toml allowlists[0].paths[0] and a.toml allowlists[0].paths[1]"
    assert one[".env"] == {"family": "path", "case": ".env", "status": "seen", "hidden_by": None}
    assert not accepted(made, [folder, python]).titles("allowlisted")
