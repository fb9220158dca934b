"""Values from patterns: the same everywhere, of the pattern's language, and every mistake named with its place."""

import re
import string
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest
from builders import shuffled

from gitleaks_eval.scenarios.pattern import REPEATED_AT_MOST, PatternError, generate, random_stream

SUPPORTED = [
    "",
    "literal",
    "übung 日本語",
    "[abc]",
    "[a-z0-9_]{12}",
    "[-a]{4}[a-]{4}",
    r"[\]\\^-]{8}",
    "[]]?x".replace("[]]", r"[\]]"),
    r"\d{4}-\w{3}",
    r"[\d.]{5}",
    r"\.\*\+\?\(\)\[\]\{\}\|\^\$\\\-",
    r"a\tb\nc",
    "(one|two|three)",
    "(?:ab|cd){2,3}",
    "a|b|",
    "()",
    "x?y{0}z{0,2}",
    "((a|b)(c|d)){3}",
    "a{2}b{1,3}",
    "]}",
    "a-b,c",
    "#@!%&~`'\"/:;<>=",
]


@pytest.mark.parametrize("pattern", SUPPORTED)
def test_a_value_is_one_that_the_pattern_matches(pattern: str) -> None:
    for seed in range(50):
        assert re.fullmatch(pattern, generate(pattern, str(seed)))


@pytest.mark.parametrize(
    ("pattern", "seed", "value"),
    [
        ("[a-z]{8}", "1", "ufprqxzd"),
        ("[a-z]{8}", "2", "clyemxxm"),
        (r"\d{4}-(one|two|three)", "1", "3877-three"),
        ("x{1,9}", "seed", "xxxx"),
        ("(?:ab|cd){2,3}é?", "ü", "cdcdab"),
    ],
)
def test_a_value_is_the_same_now_and_in_ten_years(pattern: str, seed: str, value: str) -> None:
    assert generate(pattern, seed) == value


def test_the_random_stream_is_the_same_now_and_in_ten_years() -> None:
    assert list(islice(random_stream("1"), 3)) == [3997013699, 1051273992, 2439947604]
    assert len(set(islice(random_stream("1"), 1000))) == 1000


def test_a_value_depends_on_no_hash_seed_and_no_process() -> None:
    program = "from gitleaks_eval.scenarios.pattern import generate; print(generate('[a-z]{8}(x|y){3}', 'p'))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("0", "1")
    }
    assert printed == {generate("[a-z]{8}(x|y){3}", "p")}


def test_values_of_other_seeds_and_other_patterns_have_nothing_in_common() -> None:
    values = [generate("[a-z]{20}", str(seed)) for seed in range(200)] + [generate("[a-z]{20}()", "0")]
    assert len(set(values)) == 201


def test_the_order_in_which_values_are_made_does_not_matter() -> None:
    seeds = [str(number) for number in range(20)]
    assert {seed: generate("[a-z]{9}", seed) for seed in seeds} == {
        seed: generate("[a-z]{9}", seed) for seed in shuffled(seeds, 1)
    }


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("[a-c]", {"a", "b", "c"}),
        ("(a|b|)", {"a", "b", ""}),
        ("a{1,3}", {"a", "aa", "aaa"}),
        ("a?", {"", "a"}),
        (r"\d", set(string.digits)),
        (r"[\w]", set(string.ascii_letters + string.digits + "_")),
    ],
)
def test_each_option_is_chosen_about_as_often(pattern: str, options: set[str]) -> None:
    each = 200
    counts = Counter(generate(pattern, str(seed)) for seed in range(each * len(options)))
    assert counts.keys() == options
    assert all(each * 0.6 < count < each * 1.5 for count in counts.values())


def test_a_character_that_a_class_names_twice_is_no_likelier() -> None:
    counts = Counter(generate("[aaaaaaaab]", str(seed)) for seed in range(1000))
    assert 400 < counts["b"] < 600


def test_each_turn_of_a_repeat_is_chosen_anew() -> None:
    assert len(set(generate("([a-z]{8},){20}", "1").split(","))) == 21


@pytest.mark.parametrize(
    ("pattern", "place", "what"),
    [
        ("ab*", 3, "unbounded repeat"),
        ("ab+", 3, "unbounded repeat"),
        ("*", 1, "unbounded repeat"),
        ("a|+", 3, "unbounded repeat"),
        ("a.c", 2, "any character"),
        ("^a", 1, "an anchor"),
        ("a$", 2, "an anchor"),
        ("{2}", 1, "a repeat of nothing"),
        ("a|{2}", 3, "a repeat of nothing"),
        ("?", 1, "a repeat of nothing"),
        ("(?", 1, "special group"),
        ("a{2}{3}", 5, "a repeat of a repeat"),
        ("a??", 3, "a repeat of a repeat"),
        ("a{2}+", 5, "a repeat of a repeat"),
        ("a{2}?", 5, "a repeat of a repeat"),
        ("a{", 2, "not {n} or {m,n}"),
        ("a{}", 2, "not {n} or {m,n}"),
        ("a{2,}", 2, "not {n} or {m,n}"),
        ("a{,2}", 2, "not {n} or {m,n}"),
        ("a{x}", 2, "not {n} or {m,n}"),
        ("a{ 2}", 2, "not {n} or {m,n}"),
        ("a{-1}", 2, "not {n} or {m,n}"),
        ("a{²}", 2, "not {n} or {m,n}"),
        ("a{1,2,3}", 2, "not {n} or {m,n}"),
        ("a{3,2}", 2, "runs backwards"),
        (f"a{{{REPEATED_AT_MOST + 1}}}", 2, "beyond"),
        ("a{" + "9" * 5000 + "}", 2, "beyond"),
        ("ab(c", 3, "never closed"),
        ("ab)c", 3, "unmatched )"),
        ("(a))", 4, "unmatched )"),
        ("(?=a)", 1, "special group"),
        ("(?!a)", 1, "special group"),
        ("(?<=a)", 1, "special group"),
        ("(?P<n>a)", 1, "special group"),
        ("x(?i)a", 2, "special group"),
        ("a[bc", 2, "never closed"),
        ("a[", 2, "never closed"),
        ("a[]", 2, "an empty class"),
        ("a[^b]", 2, "a negated class"),
        ("[z-a]", 2, "runs backwards"),
        (r"[a-\d]", 2, "runs backwards"),
        ("a\\", 3, "an end in the middle"),
        ("[a\\", 4, "an end in the middle"),
        ("[a-", 4, "an end in the middle"),
        (r"a\b", 2, r"the escape \b"),
        (r"a\1", 2, r"the escape \1"),
        (r"\D", 1, r"the escape \D"),
        (r"\s", 1, r"the escape \s"),
        (r"\x41", 1, r"the escape \x"),
        (r"[a\S]", 3, r"the escape \S"),
        ("(((a{10000}){10000}){10000}){10000}", 13, "repeats of repeats that may take more than 20000 steps"),
        ("((()" + "{10000})" * 3, 13, "repeats of repeats that may take more than 20000 steps"),
        ("a{10000}" * 3, 1, "repeats that may take more than 20000 steps"),
        ("a" * 10_001, 10_001, "a pattern has 10000 characters at most"),
        ("[\x01-\U0010ffff\x01-\U0010ffff]", 5, "ranges of more than 2000000 characters in all"),
    ],
)
def test_what_is_not_supported_is_an_error_with_its_place(pattern: str, place: int, what: str) -> None:
    with pytest.raises(PatternError) as error:
        generate(pattern, "1")
    assert str(error.value).startswith(f"character {place}: ")
    assert what in str(error.value)


def place_of_error(pattern: str) -> str | None:
    """The place that an error names, or None where there is a value; any other exception goes through."""
    try:
        generate(pattern, "1")
    except PatternError as error:
        return str(error).split(":")[0]
    return None


def test_any_text_gives_a_value_or_a_pattern_error() -> None:
    alphabet = [*"abz-019", *"()[]{}|?*+.^$\\,:", "\\d", "\\w", "{2}", "{1,3}", "(?:", "é", "\n"]
    for number in range(3000):
        pattern = "".join(shuffled(alphabet, number)[: number % 12])
        places = {None, *(f"character {at}" for at in range(1, len(pattern) + 2))}
        assert place_of_error(pattern) in places


def test_deep_nesting_gives_a_value_or_a_pattern_error() -> None:
    place = place_of_error("(" * 5000 + "a" + ")" * 5000)
    assert place is None or place.startswith("character ")
