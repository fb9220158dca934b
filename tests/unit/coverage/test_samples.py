"""Samples of rules, where they stand, and how few scans say which entry hides what."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.coverage.configuration.rules import Allowlist, Rule
from gitleaks_eval.coverage.samples.group_testing import by_number, hidden_alone
from gitleaks_eval.coverage.samples.hidden_values import Found, foreseen
from gitleaks_eval.coverage.samples.paths import is_path, neutral_path, paths_matching, word
from gitleaks_eval.coverage.samples.repository import CANARY_RULE, EARLIER, build_samples, found_by_sample
from gitleaks_eval.coverage.samples.samples import (
    NotSampledError,
    Sample,
    bench,
    reason_for_silence,
    samples_of,
    samples_or_reason,
    too_plain,
)
from gitleaks_eval.regex.analyse import entropy

NOTHING = Allowlist(0, (), (), (), (), (), "secret", all_must_hold=False)


def a_rule(**others: Any) -> Rule:
    rule = Rule("acme", r"\bacme_([a-z0-9]{32})\b", "", ("acme_",), 3.0, 0, (), own=True, layer=0, file=None)
    return replace(rule, **others)


def sampled(rule: Rule, how_many: int = 3, allowlists: Sequence[Allowlist] = ()) -> list[Sample]:
    return samples_of(rule, bench([rule], allowlists, "0"), [word(number) for number in range(how_many)])


def test_a_sample_has_what_its_rule_asks_for() -> None:
    for sample in sampled(a_rule()):
        found = re.search(r"\bacme_([a-z0-9]{32})\b", sample.text)
        assert found
        assert found[1] == sample.value


def test_samples_are_the_same_each_time_and_differ_from_each_other_and_by_seed() -> None:
    assert sampled(a_rule()) == sampled(a_rule())
    assert len({sample.value for sample in sampled(a_rule())}) == 3
    other = samples_of(a_rule(), bench([], [], "1"), ["name"])
    assert other[0].value not in {sample.value for sample in sampled(a_rule())}


def test_no_value_shows_when_a_sample_is_printed() -> None:
    [sample] = sampled(a_rule(), 1)
    assert sample.value not in f"{sample!r}{sample.found!r}{[sample]}"


def test_a_keyword_is_written_into_a_value_that_does_not_force_it() -> None:
    [sample] = sampled(a_rule(regex=r"[\w.-]{0,50}?=\s?([a-z0-9]{32})", keywords=("acme",)), 1)
    assert "acme" in sample.text


def test_a_keyword_without_room_stands_before_a_value_without_words_of_its_own() -> None:
    [sample] = sampled(a_rule(regex=r"\b[0-9]{20}\b", keywords=("acme",)), 1)
    assert sample.text.startswith("acme=")
    [other] = sampled(a_rule(keywords=("akme_",)), 1)
    assert "akme_" not in other.text


def test_a_sample_is_clear_of_allowlists_and_stop_words_and_above_the_entropy() -> None:
    rule = a_rule(allowlists=(replace(NOTHING, regexes=("^[a-m]", "^[A-Z]")),), entropy=4.2)
    for sample in sampled(rule, 5, [replace(NOTHING, stopwords=("Q",))]):
        assert not re.search("^[a-m]|q", sample.value)
        assert entropy(sample.value) > 4.2


@pytest.mark.parametrize("group", [r"[^\s\"]+?", r"\S{1,255}", ".+", r"\S{3,}", "[a-z]*?"])
def test_a_secret_of_any_characters_is_made_long_enough_for_its_entropy(group: str) -> None:
    rule = a_rule(regex=f'(?i)(?:token|secret)\\s*?=\\s*?"({group})"', keywords=("token", "secret"), entropy=3.35)
    for sample in sampled(rule, 5):
        assert entropy(sample.value) > 3.35


def test_samples_that_are_all_too_plain_for_a_rule_say_nothing_of_it() -> None:
    # By its letters it could be above that; what is made of it is not.
    plain = a_rule(regex="acme_" + "(?:aaaa|bbbb)" * 40 + "[a-z]", entropy=1.3)
    assert too_plain(sampled(plain), plain) == "no value of its regex was made whose entropy is above 1.3"
    assert not reason_for_silence(plain)
    assert not too_plain(sampled(a_rule()), a_rule())
    assert not too_plain(sampled(a_rule(entropy=0)), a_rule(entropy=0))


def test_a_sample_stands_where_the_rule_asks_for_and_no_entry_is_about_it() -> None:
    [sample] = sampled(a_rule(path=r"(?i)(^|/)deploy/[^/]+\.ya?ml$"), 1)
    assert re.search(r"(^|/)deploy/[^/]+\.ya?ml$", sample.path)
    taken = replace(NOTHING, paths=("^ledger/", r"\.conf$"))
    [sample] = sampled(a_rule(), 1, [taken])
    assert sample.path.startswith("quartz/")


def test_a_rule_of_paths_has_a_sample_without_a_value() -> None:
    [sample] = sampled(a_rule(regex="", path=r"\.kdbx$"), 1)
    assert sample.path.endswith(".kdbx")
    assert sample.value == ""


def test_values_of_rules_that_are_required_stand_near() -> None:
    other = a_rule(id="other", regex="other_[a-z]{9}", keywords=())
    rule = a_rule(required=("other", "missing"))
    [sample] = samples_of(rule, bench([rule, other], [], "0"), ["name"])
    assert re.search("other_[a-z]{9}", sample.text)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"regex": ""}, "neither regex nor path"),
        ({"skip_report": True}, "part of other rules"),
        ({"regex": "(?=x)"}, "its regex: Go does not look"),
        ({"regex": "(a{1000}){1000}"}, "its regex: its shortest values are too long"),
        ({"regex": r"abc\bdef"}, "no text can be made"),
        ({"path": "^/etc/"}, "no path can be made"),
        ({"path": "("}, "its `path`: the regex has a `\\(`"),
    ],
)
def test_a_rule_without_samples_says_why(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotSampledError, match=reason):
        sampled(a_rule(**changes))
    assert isinstance(samples_or_reason(a_rule(**changes), bench([], [], "0"), ["name"]), str)


def test_why_a_rule_can_never_fire_is_shown_from_its_regex() -> None:
    assert reason_for_silence(a_rule()) == ""
    assert "can hold `akme_`" in reason_for_silence(a_rule(keywords=("akme_",)))
    assert "above 4.5 (at most 3.00)" in reason_for_silence(a_rule(regex="[a-f0-9]{8}", keywords=(), entropy=4.5))
    assert reason_for_silence(a_rule(regex="(", entropy=9)) == ""


@pytest.mark.parametrize(
    ("regex", "path"),
    [
        (r"(^|/)tests?/", "name/test/x.txt"),
        (r"\.png$", "name/x.png"),
        ("^docs/", "docs/x.txt"),
        ("/x/", "name/x/x.txt"),
        ("node_modules", "name/node_modules"),
    ],
)
def test_paths_are_made_as_people_name_them(regex: str, path: str) -> None:
    assert next(paths_matching(regex, "name")) == path


@pytest.mark.parametrize("path", ["", "/a", "a//b", "a/../b", ".git/config", "a/.GIT", "a\nb", "a\\b", "x" * 300])
def test_a_path_that_no_system_can_hold_is_none(path: str) -> None:
    assert not is_path(path)


def test_names_of_samples_are_letters_and_all_different() -> None:
    names = [word(number) for number in range(20_000)]
    assert len(set(names)) == 20_000
    assert all(name.isalpha() for name in names)


def test_where_every_path_is_taken_the_first_neutral_one_is_used() -> None:
    assert neutral_path("name", lambda _: False) == "ledger/quartz/settings/live/name.txt"


def test_all_criteria_of_an_allowlist_must_hold_where_it_says_so() -> None:
    both = replace(NOTHING, paths=("^docs/",), stopwords=("Sample",), all_must_hold=True)
    [ready] = foreseen([both])
    assert ready.hides(Found("docs/a", "a SAMPLE", "", ""))
    assert not ready.hides(Found("src/a", "a sample", "", ""))
    assert not ready.hides(Found("docs/a", "secret", "", ""))


def test_the_regexes_of_an_allowlist_look_at_what_it_says() -> None:
    found = Found("a", "secret", "key=secret", "x key=secret # nosec")
    for target, regex in (("secret", "^secret$"), ("match", "^key"), ("line", "nosec$")):
        [ready] = foreseen([replace(NOTHING, target=target, regexes=(regex,))])
        assert ready.hides(found)


def test_findings_are_given_to_their_samples_also_where_two_stand_in_one_file(tmp_path: Path) -> None:
    one, two = (replace(sample, path="same.txt") for sample in sampled(a_rule(), 2))
    repository = build_samples(tmp_path / "built", [one, two], "0")
    assert repository.readable.commits_with_text == EARLIER + 1
    finding = {"RuleID": "acme", "File": "same.txt", "Secret": two.value, "Match": two.match, "StartLine": 1}
    assert found_by_sample([one, two], [finding]) == [set(), {"acme"}]
    assert found_by_sample([one], [{**finding, "RuleID": CANARY_RULE, "File": "other"}]) == [set()]


def test_a_file_with_the_name_of_a_folder_stands_in_the_history(tmp_path: Path) -> None:
    [one, two] = sampled(a_rule(), 2)
    samples = [replace(one, path="src"), replace(two, path="src/a.txt")]
    repository = build_samples(tmp_path / "built", samples, "0")
    assert repository.readable.commits_with_text == EARLIER + 2


def answers(truth: dict[str, set[str]], asked: list[list[str]]) -> Any:
    """What is hidden with these entries in force: what one of them hides."""

    def ask(kept: Sequence[str]) -> set[str]:
        asked.append(list(kept))
        return {item for item, hiders in truth.items() if hiders & set(kept)}

    return ask


def test_entries_that_are_about_different_things_share_a_scan() -> None:
    asked: list[list[str]] = []
    truth = {"one": {"a"}, "two": {"b", "c"}, "three": set()}
    about = {"one": ["a"], "two": ["b", "c"], "three": ["d"]}
    assert hidden_alone(list("abcde"), about, answers(truth, asked)) == {
        "one": ["a"],
        "two": ["b", "c"],
        "three": [],
    }
    assert asked == [["a", "b", "d"], ["c"]]


def test_a_thousand_entries_about_the_same_take_twenty_scans() -> None:
    entries = [f"entry {number}" for number in range(1000)]
    asked: list[list[str]] = []
    truth = {"one": {"entry 7"}, "two": {"entry 999"}, "three": set()}
    found = hidden_alone(entries, dict.fromkeys(truth, entries), answers(truth, asked))
    assert found == {"one": ["entry 7"], "two": ["entry 999"], "three": []}
    assert len(asked) == 20


@pytest.mark.parametrize("how_many", [1, 2, 3, 17, 64])
def test_any_two_entries_are_apart_in_one_scan(how_many: int) -> None:
    entries = list(range(how_many))
    groups = by_number(entries)
    for one in entries:
        for other in entries[one + 1 :]:
            assert any(one in group and other not in group for group in groups)
            assert any(other in group and one not in group for group in groups)


def test_without_entries_nothing_is_asked() -> None:
    assert hidden_alone([], {"one": []}, lambda _: pytest.fail("asked")) == {"one": []}


@pytest.mark.parametrize(
    ("regex", "group", "least"),
    [
        (r"(?i)(password|secret|token)\s*:\s*([^\s'\"]+)", 2, 5.0),
        (r"(?i)(password|secret|token)\s*:\s*([^\s'\"]*)", 2, 4.8),
        (r"account: (.*)", 0, 5.0),
        (r"k=([a-z0-9]{8,})", 0, 5.0),
        (r"k=([a-z0-9]{8,400})", 0, 5.0),
        (r"path: ((?:[a-z0-9]{2}/)+)", 0, 3.5),
        (r"key: [^\s'\"]+", 0, 5.0),
    ],
)
def test_values_are_as_long_as_the_entropy_asks_that_a_rule_wants(regex: str, group: int, least: float) -> None:
    rule = replace(a_rule(), regex=regex, keywords=(), secret_group=group, entropy=least)
    assert all(entropy(one.value) > least for one in sampled(rule, 5))
