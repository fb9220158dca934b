"""The line of each key and item of a configuration."""

from collections.abc import Iterator
from typing import Any

import pytest

from gitleaks_eval.config.lines import place_lines
from gitleaks_eval.config.tables import Address, place
from gitleaks_eval.core.documents import parse_toml

HARD = r'''# [rules] in a comment
title = "a # b = [c]" # x
extend.path = 'x.toml'

[[rules]]
id = "a]b"
regex = """
[[rules]]
id = "not a rule\""
"""
keywords = [ "one",
  # "two",
  'thr''' + r'''ee', """
four""",
]
[[rules.allowlists]]
regexes = [\'\'\'a'b\'\'\', 'c']
condition = "AND"
[[rules.allowlists]]
paths = ["""a""""]
[[rules]]
"id" = 'b'
entropy = 3.5
required = [{ id = "x", within = 3 }, {id="y"}]
[ "allow list" . x ]
y = { z = [1, [2, 3]] }
[allowlist]
paths = [
]
'''.replace("\\'\\'\\'", "'''")


def addresses(value: Any, above: Address = ()) -> Iterator[Address]:
    """All there is, as the parser of TOML has it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        yield (*above, step)
        yield from addresses(below, (*above, step))


def test_each_place_that_the_parser_knows_has_a_line_on_which_it_stands() -> None:
    lines = place_lines(HARD.encode())
    assert set(lines) == set(map(place, addresses(parse_toml(HARD.encode()))))
    text = HARD.splitlines()
    for where, words in {
        "title": "title",
        "[extend] path": "extend.path",
        "rules[0].id": 'id = "a]b"',
        "rules[0].keywords[0]": '"one"',
        "rules[0].keywords[1]": "ee'",
        "rules[0].allowlists[0].regexes[1]": "'c'",
        "rules[0].allowlists[1].paths[0]": '"""a""""',
        "rules[1].id": "'b'",
        "rules[1].required[1].id": 'id="y"',
        "[allowlist] paths": "paths = [",
    }.items():
        assert words in text[lines[where] - 1], where


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"= = [", b'a = """', b"[[[[", b"{", b"a = [" * 90, b"\xff = 1", b"]"]
)
def test_what_is_no_toml_ends(content: bytes) -> None:
    assert isinstance(place_lines(content), dict)


@pytest.mark.slow
def test_a_large_file_is_read_in_no_time() -> None:
    content = b"".join(b"[[rules]]\nid = '%d'\nkeywords = ['a', 'b']\n" % number for number in range(5_000))
    assert place_lines(content)["rules[4999].id"] == 4999 * 3 + 2
