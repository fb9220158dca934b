"""What a survey amounts to: which rules, places and entries fail, what lowers the decision, and what is said of it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.config.eval_file import read_document
from gitleaks_eval.config.hiding import Entry as HidingEntry
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import Entry, entries_of
from gitleaks_eval.coverage.configuration.layers import layers_of
from gitleaks_eval.coverage.configuration.rules import Dialect, effective
from gitleaks_eval.coverage.configuration.shown import shown_text
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.map import PlacesMap, places_map
from gitleaks_eval.coverage.places.places import usual_places
from gitleaks_eval.coverage.result import Coverage, coverage_from_json
from gitleaks_eval.coverage.rules import standing
from gitleaks_eval.coverage.rules.firing import Firing, OffRule, RuleResult
from gitleaks_eval.coverage.samples.silencing import EntryResult
from gitleaks_eval.coverage.verdict.verdict import coverage_of, entry_names
from gitleaks_eval.reports.run.scorecard import silent_rules
from gitleaks_eval.scoring.scorecard import FindingCounts, guard, make_scorecard
from gitleaks_eval.scoring.surveyed import Moves, moves, surveyed_from

ROOT = Path("/c")
BUILTIN = {"rules": [{"id": f"r{number}", "regex": "x"} for number in range(8)]}
OWN = """
[extend]
useDefault = true
disabledRules = ["r7"]
[[rules]]
id = "mine"
regex = 'mine_[a-z]{9}'
[[rules.allowlists]]
stopwords = ["sample"]
[[allowlists]]
paths = ['^docs/', '^x/']
"""
ASKED = [place for place in usual_places() if not place.is_large and not place.is_dropped][:40]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner of these tests has eight rules, and is no build that was measured."""
    monkeypatch.setattr(standing, "known_build", lambda _: None)


def subject(content: str = OWN) -> EffectiveConfig:
    file = ConfigFile(ROOT / "my.toml", content.encode(), extends_default=True)
    configuration = Configuration((file,), "a test")
    layers = layers_of(configuration, BUILTIN)
    dialect = Dialect("gitleaks", "8.30.1")
    return EffectiveConfig(configuration, layers, effective(layers, BUILTIN, dialect), BUILTIN, "", dialect, "0")


def entry(place: str) -> Entry:
    asked = subject()
    return next(one for one in entries_of(asked.layers, asked.builtin, asked.dialect) if one.place == place)


DOCS, OFF = entry("allowlists[0].paths[0]"), entry("[extend] disabledRules")
SAMPLE = entry("rules[0].allowlists[0].stopwords[0]")


def fires(rule_id: str, *, own: bool = False) -> RuleResult:
    return RuleResult(rule_id, own, 1, 1, "fires")


def firing(*others: RuleResult, off: Sequence[OffRule] = ()) -> Firing:
    return Firing((*(fires(f"r{number}") for number in range(7)), *others), tuple(off))


def places(hidden: int = 0, by: Entry | None = DOCS) -> PlacesMap:
    """So many of forty places are hidden, all by one entry or by nobody knows what."""
    gone = frozenset(ASKED[:hidden])
    reference = dict.fromkeys(ASKED, frozenset({"r0"}))
    sight = {place: rules for place, rules in reference.items() if place not in gone}
    blamed = {HidingEntry(ROOT / "my.toml", by.place, *by.spot): gone} if by and gone else {}
    notes = {} if by else dict.fromkeys(gone, "nobody knows")
    return places_map(ASKED, sight, reference, Hidden(blamed, notes, is_whole=True))


def judged(*entries: EntryResult, rules: Firing | None = None, seen: PlacesMap | None = None) -> Coverage:
    return coverage_of(subject(), rules or firing(fires("mine", own=True)), seen or places(), entries, ROOT)


def outcome(coverage: Coverage, kind: str, name: str) -> str:
    return coverage.verdict(kind, name).outcome


def test_where_all_fires_and_all_is_seen_the_survey_is_whole_and_says_how_much_it_is() -> None:
    coverage = judged()
    assert coverage.whole
    assert {one.outcome for one in coverage.verdicts.values()} == {"passes", "not_applicable"}
    assert coverage.tested.startswith("tested: 8 of 8 rules, 40 of 40 places (")


def test_what_nothing_is_known_of_fails() -> None:
    assert outcome(judged(), "rule", "no-such-rule") == "fails"


@pytest.mark.parametrize(
    ("status", "by", "own", "expected"),
    [
        ("never_fires", (), True, "fails"),
        ("never_fires", (), False, "not_applicable"),
        ("not_sampled", (), True, "not_applicable"),
        ("reported_as", (), True, "passes"),
        ("allowlisted", (DOCS,), True, "fails"),
        ("allowlisted", (SAMPLE,), True, "passes"),
        ("allowlisted", (SAMPLE, DOCS), True, "fails"),
        ("allowlisted", (), True, "fails"),
        ("allowlisted", (DOCS,), False, "not_applicable"),
        ("allowlisted", (replace(SAMPLE, file=None),), True, "fails"),
    ],
)
def test_only_a_rule_of_the_users_own_fails_and_not_by_what_it_says_itself(
    status: str,
    by: tuple[Entry, ...],
    own: bool,  # noqa: FBT001 - a parameter of the test
    expected: str,
) -> None:
    rule = RuleResult("mine", own, 5, 0, status, hidden_by=by, reason="a reason")
    assert outcome(judged(rules=firing(rule)), "rule", "mine") == expected


def test_a_rule_that_never_fires_is_told_from_one_that_has_no_sample() -> None:
    def message(status: str) -> str:
        rule = RuleResult("mine", own=True, samples=5, found=0, status=status, reason="a reason")
        return judged(rules=firing(rule)).verdict("rule", "mine").message

    assert message("never_fires") == "mine: never fires: nothing made from its own regex is found (a reason)"
    assert message("not_sampled") == "no sample: a reason"


def test_an_entry_fails_beyond_a_quarter_of_the_rules() -> None:
    two, three = (EntryResult(DOCS, "live", 9, 9, ordinary=tuple(f"r{one}" for one in range(n))) for n in (2, 3))
    assert outcome(judged(two), "entry", "my.toml:11") == "passes"
    coverage = judged(three)
    assert outcome(coverage, "entry", "my.toml:11") == "fails"
    message = "my.toml:11 allowlists[0].paths[0] ^docs/: silences 3 of 8 rules"
    assert coverage.verdict("entry", "my.toml:11").message == message
    assert outcome(coverage, "entries", "all") == "fails"


def test_an_entry_fails_beyond_a_quarter_of_the_places_and_so_do_these_places() -> None:
    result = EntryResult(DOCS, "live", 9, 9)
    narrow, wide = judged(result, seen=places(10)), judged(result, seen=places(11))
    assert [outcome(one, "entry", "my.toml:11") for one in (narrow, wide)] == ["passes", "fails"]
    assert [outcome(one, "place", ASKED[0].title) for one in (narrow, wide)] == ["passes", "fails"]
    message = f"{ASKED[0].title}: allowlisted by my.toml allowlists[0].paths[0]"
    assert narrow.verdict("place", ASKED[0].title).message == message
    assert "11 allowlisted by my.toml:11 ^docs/;" in wide.tested


def test_places_that_nobody_can_be_blamed_for_fail_when_they_are_many() -> None:
    few, many = judged(seen=places(10, None)), judged(seen=places(11, None))
    assert [outcome(one, "place", ASKED[0].title) for one in (few, many)] == ["passes", "fails"]
    assert [one.whole for one in (few, many)] == [False, False]
    assert "in 10 no rule in force finds what the scanner's own find, and no entry hides it" in few.tested
    assert "allowlisted" not in few.tested + few.verdict("place", ASKED[0].title).message


def test_an_entry_that_silences_a_rule_of_the_users_own_fails_but_not_in_that_rule() -> None:
    assert outcome(judged(EntryResult(DOCS, "live", 1, 9, ordinary=("mine",))), "entry", "my.toml:11") == "fails"
    assert outcome(judged(EntryResult(SAMPLE, "live", 1, 1, ordinary=("mine",))), "entry", "my.toml:9") == "passes"


def test_entries_that_pass_by_themselves_may_fail_together() -> None:
    other = entry("allowlists[0].paths[1]")
    coverage = judged(
        EntryResult(DOCS, "live", 9, 9, ordinary=("r0", "r1")), EntryResult(other, "live", 9, 9, ordinary=("r1", "r2"))
    )
    assert [outcome(coverage, "entry", name) for name in ("my.toml:11", "my.toml:11#2")] == ["passes", "passes"]
    assert coverage.verdict("entries", "all").message == "all entries together silence 3 of 8 rules"


def test_where_entries_fail_together_a_place_fails_if_what_hides_it_was_not_asked() -> None:
    narrow = EntryResult(DOCS, "live", 9, 9, ordinary=("r0", "r1"))
    other = EntryResult(entry("allowlists[0].paths[1]"), "live", 9, 9, ordinary=("r1", "r2"))
    asked, not_asked = judged(narrow, other, seen=places(1)), judged(narrow, other, seen=places(1, OFF))
    assert [outcome(one, "entries", "all") for one in (asked, not_asked)] == ["fails", "fails"]
    assert [outcome(one, "place", ASKED[0].title) for one in (asked, not_asked)] == ["passes", "fails"]


def test_rules_that_are_switched_off_count_and_the_entry_is_named() -> None:
    coverage = judged(
        EntryResult(OFF, "live", 1, 1, ("r7",), ("r7",)),
        rules=firing(fires("mine", own=True), off=[OffRule("r7", OFF)]),
    )
    assert coverage.tested.startswith("tested: 8 of 9 rules (1 switched off by my.toml [extend] disabledRules), 40 of")
    assert coverage.switched_off == ["r7"]
    assert outcome(coverage, "entry", "my.toml:4") == "passes"
    assert not coverage.whole


def test_rules_of_the_scanners_own_that_nothing_extends_are_counted_and_the_survey_is_not_whole() -> None:
    coverage = judged(rules=firing(off=[OffRule("r7", None)]))
    assert coverage.tested.startswith("tested: 7 of 7 rules (1 more of gitleaks's own are not in force), 40 of 40")
    assert not coverage.whole


@pytest.mark.parametrize(
    ("status", "said"), [("live", "hides"), ("no_witness", "hides"), ("dead", "whole"), ("redundant", "whole")]
)
def test_a_survey_is_whole_only_while_no_entry_may_hide_anything(status: str, said: str) -> None:
    assert judged(EntryResult(DOCS, status, 9, 9)).whole == (said == "whole")


def test_the_first_screen_names_what_hides_places_then_five_others_and_counts_the_rest() -> None:
    others = [
        EntryResult(replace(SAMPLE, text=f"w{number}", address=("x", number)), "live", 1, 8) for number in range(7)
    ]
    coverage = judged(*others, EntryResult(DOCS, "live", 8, 8), seen=places(3))
    lines = list(coverage.hides_places)
    assert lines[0] == "my.toml:11 allowlists[0].paths[0] ^docs/: hides 3 of 40 places"
    assert len(lines) == 7
    assert all(line.endswith("silences 1 of 8 rules of those that can hold it") for line in lines[1:6])
    assert lines[6] == "2 more entries that hide no usual place; scorecard.md has them"
    # The sentence of numbers names what is switched off.
    assert list(judged(EntryResult(OFF, "live", 1, 8)).hides_places) == []


def test_where_a_rule_never_fires_and_no_entry_is_to_blame_the_survey_is_not_whole() -> None:
    silent = RuleResult("s0", own=False, samples=5, found=0, status="never_fires")
    assert not judged(rules=firing(silent)).whole
    unsampled = [RuleResult(f"s{number}", own=False, samples=0, found=0, status="not_sampled") for number in range(3)]
    assert judged(rules=firing(*unsampled[:2])).whole
    assert not judged(rules=firing(*unsampled)).whole


def test_the_rows_are_those_of_the_report() -> None:
    rows = judged(EntryResult(DOCS, "live", 9, 9), seen=places(3)).rows()
    assert list(rows) == ["seed", "rules", "switched_off", "places", "entries"]
    assert rows["entries"] == [
        {
            "entry": "^docs/",
            "kind": "path",
            "file": "my.toml",
            "line": 11,
            "silences_rules": 9,
            "hides_places": 3,
            "status": "live",
            "why": None,
        }
    ]
    assert rows["rules"][-1] == {
        "rule_id": "mine",
        "own": True,
        "samples": 1,
        "found": 1,
        "status": "fires",
        "reported_as": None,
        "hidden_by": None,
        "reason": None,
    }


def test_the_scorecard_lists_the_rules_that_do_not_fire_and_no_other() -> None:
    never = RuleResult("mine", own=True, samples=5, found=0, status="never_fires", reason="a reason")
    other = RuleResult("other", own=True, samples=5, found=0, status="reported_as", reported_as="r0")
    assert list(silent_rules(judged(rules=firing(never, other)))) == ["mine: never fires (a reason)"]


def test_another_process_reads_what_one_has_left() -> None:
    coverage = judged(EntryResult(DOCS, "live", 9, 9), seen=places(11))
    assert coverage_from_json(json.loads(json.dumps(coverage.as_json()))) == coverage


def test_entries_of_one_line_have_numbers() -> None:
    asked = subject()
    names = entry_names(entries_of(asked.layers, asked.builtin, asked.dialect), asked.configuration, ROOT)
    assert sorted(names.values()) == ["my.toml:11", "my.toml:11#2", "my.toml:4", "my.toml:9"]


def test_a_value_that_is_allowed_is_not_shown_whole() -> None:
    allowed = replace(SAMPLE, text="abcd" * 8)
    assert shown_text(allowed) == "abcd…"
    assert shown_text(replace(DOCS, text="^a/very/long/path/to/fixtures/")) == "^a/very/long/path/to/fixtures/"
    assert len(shown_text(replace(DOCS, text="x" * 1000))) < 100


# --- what it means for the decision


def test_a_failed_survey_decides_and_one_that_is_not_whole_caps_at_pass() -> None:
    def decision(before: str, **why: bool) -> str:
        return guard(before, FindingCounts(), incomplete=False, **why)

    assert decision("STRONG_PASS") == "STRONG_PASS"
    assert decision("STRONG_PASS", uncovered=True) == "FAIL"
    assert decision("STRONG_PASS", narrowed=True) == "PASS"
    assert [decision(one, narrowed=True) for one in ("PASS", "WEAK_PASS", "FAIL")] == ["PASS", "WEAK_PASS", "FAIL"]
    assert [decision(one, weak=True) for one in ("STRONG_PASS", "PASS", "FAIL")] == ["WEAK_PASS", "WEAK_PASS", "FAIL"]


def test_without_checks_there_is_no_documented_decision_and_a_guarded_one() -> None:
    card = make_scorecard({}, FindingCounts(), incomplete=False, partial=False, scored=False)
    assert (card.decision, card.guarded_decision) == (None, "STRONG_PASS")
    card = make_scorecard({}, FindingCounts(), incomplete=True, partial=False, scored=False)
    assert (card.decision, card.guarded_decision) == (None, "FAIL")


# --- one candidate against another


def rows(**statuses: str) -> dict[str, Any]:
    """`coverage` of a report, with rules `r_…` and places `p_…` of these statuses."""
    rules = [{"rule_id": name, "status": status} for name, status in statuses.items() if name.startswith("r_")]
    listed = [
        {"family": "path", "case": name, "status": status} for name, status in statuses.items() if name.startswith("p_")
    ]
    return {"rules": rules, "places": listed}


def test_what_fires_or_is_seen_in_one_and_not_in_the_other_is_lost_or_gained() -> None:
    before = surveyed_from(rows(r_a="fires", r_b="fires", r_c="reported_as", p_a="seen", p_b="seen", p_c="not_scanned"))
    after = surveyed_from(
        rows(r_a="fires", r_b="never_fires", r_d="fires", p_a="allowlisted", p_b="not_asked", p_c="seen")
    )
    assert before
    assert after
    moved = moves(before, after)
    assert moved == Moves(("r_b", "r_c"), ("r_d",), ("path:p_a",), ("path:p_c",))
    assert next(moved.reasons()) == "2 rules no longer fire (r_b, r_c)"
    assert not moves(after, after).loses


def test_where_nothing_was_asked_there_is_nothing_to_compare() -> None:
    assert surveyed_from(None) is None


def test_what_is_accepted_is_called_so_and_is_never_whole() -> None:
    item = {"entry": "^docs/", "hides": {"places": 40, "rules": 8}, "why": "known", "since": "2026-01-01"}
    text = yaml.safe_dump({"accept": [item]})
    beside = read_document({"accept": [item]}, text, ROOT / ".gitleaks-eval.yaml", (0,))
    silent = RuleResult("r7", own=False, samples=1, found=0, status="allowlisted", hidden_by=(DOCS,))
    entries = [EntryResult(DOCS, "live", 9, 9, ordinary=("r7",))]
    coverage = coverage_of(subject(), firing(silent), places(20), entries, ROOT, besides=[beside])
    assert {one.outcome for one in coverage.verdicts.values()} <= {"passes", "not_applicable"}
    assert not coverage.whole
    assert [row["status"] for row in coverage.rules if row["rule_id"] == "r7"] == ["accepted"]
    assert sum(row["status"] == "accepted" for row in coverage.places) == 20
    assert coverage.tested.startswith("tested: 7 of 8 rules (1 accepted, allowlisted by my.toml:11 ^docs/), 20 of 40 ")
    assert guard("STRONG_PASS", FindingCounts(), incomplete=False, narrowed=not coverage.whole) == "PASS"
    assert guard("STRONG_PASS", FindingCounts(expected=2, detected=1, accepted=1), incomplete=False) == "PASS"
