"""Regexes in Go's syntax: what is read, what Go refuses, which values are made, what can be foreseen of them."""

import re
import string
import unicodedata

import pytest

from gitleaks_eval.regex.analyse import (
    can_hold,
    entropy,
    entropy_at_most,
    group_node,
    has_fixed_words,
    matcher,
)
from gitleaks_eval.regex.charsets import UNICODE
from gitleaks_eval.regex.generate import in_context, in_context_of, make, planted, replaced
from gitleaks_eval.regex.parse import RegexError, parse_regex

# What both languages take, and mean the same by.
SHARED = [
    "abc",
    "a|bc|",
    "[a-f0-9]{32}",
    "[^a-z]{4}",
    r"[]a-]{3}",
    r"[^]a]{3}",
    r"(x)(?:y|z)+?(?P<name>w{2,4})",
    r"\d\D\w\W\s\S",
    r"\x41\t\n\.\-",
    r"(?i:abc)d",
    r"(?s:.)\bword\b",
    r"[\w.-]{0,50}?(?:acme)[ \t]{0,3}=[\x60'\"\s=]{0,5}([a-z0-9]{32})(?:['\"\s;]|$)",
    r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY-----[\s\S]{64,}?KEY-----",
    "a{,3}",
    "x{2}{",
    "^abc$",
    "(a+)+b",
    "é[à-ü]{3}",
]

GOLDEN = ["acme_galesx4rmwlk-x-CFA", "acme_nu5uwp1hzxru-x-FAB", "acme_25vn9e6001bm-y-FCD"]


@pytest.mark.parametrize("text", SHARED)
@pytest.mark.parametrize("variant", range(6))
def test_a_value_is_matched_by_its_regex(text: str, variant: int) -> None:
    placed = in_context(make(parse_regex(text), "seed", variant))
    assert placed
    made, before, after = placed
    # Python reads `{,3}` and its end of the text otherwise.
    asked = re.compile(text.replace("{,3}", r"\{,3\}").replace("$", r"\Z"), re.ASCII)
    assert asked.search(before + made.text + after)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(?i)acme_[a-z]{4}", r"acme_[a-z]{4}"),
        ("a(?i)b(?-i)c", "abc"),
        ("[[:alnum:]]{8}[[:^digit:]]", r"[A-Za-z0-9]{8}\D"),
        (r"\x{263a}\x{41}\101\a\v", "\u263aAA\a\v"),
        (r"\pN\p{Lu}\PL\p{^Lu}\p{Greek}", r"(?s)\d[A-Z].."),
        (r"\Qa.b*\E{2}c", r"a\.b\*{2}c"),
        (r"(?<one>a)(?P<two>b)", "ab"),
        (r"(?U)a+?", "a+"),
        (r"\Aabc\z", "abc"),
        (r"(?m)^abc$", "abc"),
        ("a{,2}", r"a\{,2\}"),
        (r"\_\/\"", '_/"'),
        ("", ""),
        ("()|x", "()|x"),
    ],
)
def test_what_only_go_writes_is_read(text: str, wanted: str) -> None:
    assert re.match(wanted, make(parse_regex(text), "seed").text)


@pytest.mark.parametrize(
    "text",
    [
        "(?=x)y",
        "(?!x)",
        "(?<=x)y",
        r"(a)\1",
        r"\Z",
        r"\y",
        r"\p{Nonsense}",
        "a**",
        "a{2}{3}",
        "*a",
        "a{1001}",
        "a{3,2}",
        "(a",
        "a)",
        "[a",
        "[b-a]",
        r"[a-\d]",
        "[[:nonsense:]]",
        "(?z)a",
        "(?P<a b>c)",
        "\\",
        r"\x{110000}",
        "(" * 200 + ")" * 200,
        "a" * 20_000,
    ],
)
def test_what_go_refuses_or_has_no_end_is_an_error_that_quotes_nothing_long(text: str) -> None:
    with pytest.raises(RegexError) as raised:
        make(parse_regex(text), "seed")
    assert len(str(raised.value)) < 120


@pytest.mark.parametrize("text", ["(a{1000}){1000}", "((a{1000}){1000}){1000}", "(((|){1000}){1000}){1000}"])
def test_values_without_an_end_are_given_up(text: str) -> None:
    with pytest.raises(RegexError, match="too long to be made"):
        make(parse_regex(text), "seed")


def test_a_value_may_take_many_steps_if_they_end() -> None:
    # 80,023 of 100,000.
    assert make(parse_regex("(?:(?:(?:|b)b{0}){1000}){20}"), "seed").text == "b" * 20_000


def test_a_value_is_the_same_for_the_same_regex_and_seed_on_every_machine() -> None:
    tree = parse_regex(r"acme_[a-z0-9]{12}-(?:x|y|z)-[A-F]{3,9}")
    # Written down: another machine, or another Python, makes the same.
    assert make(tree, "seed").text == GOLDEN[0]
    assert make(tree, "other").text == GOLDEN[1]
    assert make(tree, "seed", 7).text == GOLDEN[2]


def test_values_are_of_usual_length() -> None:
    assert len(make(parse_regex(r"key=([a-z0-9]{10,150})"), "seed").text) > 20
    assert len(make(parse_regex(r"[\w-]{0,50}?tok_([a-z]+)[ ]{0,9}"), "seed").text) < 60
    assert len(make(parse_regex(r"BEGIN[\s\S]*END"), "seed").text) > 64


def test_a_value_says_what_its_groups_hold() -> None:
    made = make(parse_regex("a(b)(c{3})(d)?"), "seed")
    assert [made.text[slice(*made.group(number))] for number in (0, 1, 2)] == ["b", "b", "ccc"]


def test_no_value_shows_when_it_is_printed() -> None:
    made = make(parse_regex("acme_[a-z]{20}"), "seed")
    assert made.text not in repr(made)


def test_words_are_written_where_their_characters_may_stand() -> None:
    made = make(parse_regex("tok_[a-z0-9]{12}!"), "seed")
    changed = planted(made, "EXAMPLE", (0, len(made.text)), 3, fold=True)
    assert changed
    assert "example" in changed.text
    assert re.fullmatch("tok_[a-z0-9]{12}!", changed.text)
    assert planted(made, "EXAMPLE", (0, len(made.text)), 0, fold=False) is None
    assert planted(made, "a-b", (0, len(made.text)), 0, fold=True) is None


def test_a_part_is_replaced_and_the_edges_after_it_move() -> None:
    made = make(parse_regex(r"k=([a-z]{4})\b;"), "seed")
    other = replaced(made, "longerword", made.group(0))
    assert other.text == "k=longerword;"
    assert other.text[slice(*other.group(0))] == "longerword"
    assert in_context_of(other, "", "") == other.text


def test_edges_within_a_value_are_mended() -> None:
    placed = in_context(make(parse_regex(r"abc\b[\w/]x"), "seed"))
    assert placed
    assert placed[0].text[3] == "/"
    assert in_context(make(parse_regex(r"abc\bdef"), "seed")) is None


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        (r"(^|/)tests?/", "tests/a", "latests/a"),
        (r"(?i)\.PNG$", "a.png", "a.png.txt"),
        (r"\bkey\b", "a key b", "monkey"),
        (r"^(?i:a+|b+|c+|d+|e+|f+|g+|h+|i+|j+|k+|l+|m+|n+|o+|p+|q+|r+)$", "AAaa", "ab"),
        (r"a.c", "abc", "a\nc"),
        (r"\w", "a", "é"),
    ],
)
def test_what_an_entry_matches_is_foreseen(text: str, yes: str, no: str) -> None:
    matches = matcher(text)
    assert matches
    assert matches(yes)
    assert not matches(no)


@pytest.mark.parametrize("text", [r"(a+)+$", r"((a|b)*c?)*d", "(?=a)", ".*" * 20, "a" * 3000])
def test_what_would_take_too_long_is_not_foreseen(text: str) -> None:
    assert matcher(text) is None


def test_the_entropy_is_that_of_the_scanner_and_its_bound_holds() -> None:
    assert entropy("aabb") == 1.0
    assert entropy("") == 0.0
    for text in ("[a-f0-9]{8}", "abc[0-9]", "[a-z]{40}", "a{3}|b", "[a-z]*", ""):
        tree = parse_regex(text)
        assert entropy(make(tree, "seed").text) <= entropy_at_most(tree.node) + 1e-9
    assert entropy_at_most(parse_regex("[a-f0-9]{8}").node) == 3.0
    assert entropy_at_most(group_node(parse_regex("key(ab)"), 1)) == 1.0


@pytest.mark.parametrize(
    ("text", "words", "holds"),
    [
        ("acme_[a-z]{4}", "ACME_", True),
        ("acme_[a-z]{4}", "akme_", False),
        ("[0-9a-f]{8}", "cafe", True),
        ("[0-9a-f]{3}", "cafe", False),
        ("(?i)[A-Z]{1000}x", "zebra", True),
        ("(?:gh[us]_|glpat-)[a-z]+", "ghs_", True),
        ("(?:ab){2,}", "abab", True),
        ("(?:ab){1}c", "abab", False),
        (".*", string.ascii_letters, True),
        ("", "a", False),
    ],
)
def test_whether_some_value_holds_a_keyword_is_foreseen(text: str, words: str, *, holds: bool) -> None:
    assert can_hold(parse_regex(text).node, words) is holds


def test_a_regex_with_words_of_its_own_is_told_from_one_without() -> None:
    assert has_fixed_words(parse_regex("acme_[a-z]{4}").node)
    assert has_fixed_words(parse_regex("(?:ghu|ghs)_[a-z]{4}").node)
    assert not has_fixed_words(parse_regex(r"\b[a-f0-9]{8}\b").node)
    assert not has_fixed_words(parse_regex("(?:acme|[a-z])x").node)


@pytest.mark.parametrize("name", [name for name in UNICODE if len(name) <= 2])
def test_a_class_of_unicode_holds_characters_of_that_category_alone(name: str) -> None:
    # Han grows at its end: not each version of Python knows the last ones.
    held = [chr(code) for low, high in UNICODE[name] for code in range(low, min(high, 0x9FFC) + 1)]
    assert held or name == "Co"
    assert [one for one in held if not unicodedata.category(one).startswith(name)] == []
