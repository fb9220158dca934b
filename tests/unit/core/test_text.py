"""Text of repositories, escaped for terminals, Markdown and JSON."""

import json
import math
from typing import Any

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.text import json_value, markdown, printable, without_surrogates

PLAIN = ["", "plain text", "übung 日本語", "a/b c-d_e.f", "back\\slash", "🔑"]


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_controls_is_left_alone(text: str) -> None:
    assert printable(text) == without_surrogates(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("a\r\nb", r"a\r\nb"),
        ("a\tb", r"a\tb"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("\x00\x7f", r"\x00\x7f"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("line\u2028end", r"line\u2028end"),
        ("\ufeffbom", r"\ufeffbom"),
        ("byte\udce9", r"byte\udce9"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_controls_line_ends_and_invisible_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_every_character_becomes_one_printable_line_that_utf_8_can_write() -> None:
    everything = "".join(map(chr, range(0x11000)))
    shown = printable(everything)
    assert shown.isprintable()
    assert len(shown.splitlines()) == 1
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error title=x::y", r"\x3a:error title=x::y"),
        ("  ::add-mask::y", r"  \x3a:add-mask::y"),
        ("\n::error::y", r"\n::error::y"),
        ("a.py::test", "a.py::test"),
        ("see ##[error]y", r"see \x23#[error]y"),
        ("##vso[task.complete result=Succeeded;]", r"\x23#vso[task.complete result=Succeeded;]"),
        ("####[group]", r"##\x23#[group]"),
        ("## heading", "## heading"),
    ],
)
def test_nothing_is_a_command_to_the_service_that_runs_ci(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\udce9", r"\udce9"), ("\ud800x", r"\ud800x"), ("ü\udc80", r"ü\udc80"), ("a\nb\x1b", "a\nb\x1b")],
)
def test_only_lone_surrogates_are_shown_where_controls_may_stay(text: str, shown: str) -> None:
    assert without_surrogates(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("*a*_b_`c`", r"\*a\*\_b\_\`c\`"),
        ("[a](b)", r"\[a\](b)"),
        ("<b>&amp;", r"\<b\>\&amp;"),
        ("~~a~~", r"\~\~a\~\~"),
        ("a\\b", r"a\\b"),
        ("a\nb", r"a\\nb"),
        ("plain.py:3", "plain.py:3"),
    ],
)
def test_markdown_is_shown_and_not_interpreted(text: str, shown: str) -> None:
    assert markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://evil.example/x_y now *", r"see `https://evil.example/x_y` now \*"),
        ("WWW.evil.example", "`WWW.evil.example`"),
        ("src/@scope/a.js:3", "`src/@scope/a.js:3`"),
        ("dev@example.com", "`dev@example.com`"),
        ("fixes #12 and o/r#12, !3, GH-4", "fixes `#12` and `o/r#12,` `!3,` `GH-4`"),
        ("a`@b|c", r"``a`@b\x7cc``"),
        ("`@b``", "``` `@b`` ```"),
    ],
)
def test_nothing_is_linked_or_mentioned_in_markdown(text: str, shown: str) -> None:
    assert markdown(text) == shown


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        ("\udce9", r"\udce9"),
        ([1, (2.5, None)], [1, [2.5, None]]),
        ({"a": {"\ud800": [math.nan]}}, {"a": {r"\ud800": ["nan"]}}),
        ({1: True}, {"1": True}),
        (10**400, 10**400),
    ],
)
def test_a_json_value_is_one_that_every_reader_takes(value: object, copy: object) -> None:
    assert json_value(value) == copy
    json.dumps(json_value(value), allow_nan=False, ensure_ascii=False).encode("utf-8")


def test_a_json_value_is_a_copy() -> None:
    original: dict[str, Any] = {"a": [1]}
    copy: Any = json_value(original)
    copy["a"].append(2)
    assert original == {"a": [1]}


def test_booleans_and_integers_keep_their_types() -> None:
    assert [type(json_value(value)) for value in (True, 1, 1.0, None)] == [bool, int, float, type(None)]


def test_a_line_end_that_an_error_quotes_begins_no_line() -> None:
    error = InputError("a.toml: 'nope\n::error title=x::y' does not exist", "::warning::second line")
    assert str(error).splitlines() == [
        r"a.toml: 'nope\n::error title=x::y' does not exist",
        r"\x3a:warning::second line",
    ]
