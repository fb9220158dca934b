"""Pieces of secrets: which could identify one, and how they are cut out of a text."""

import pytest
from builders import secret

from gitleaks_eval.scenarios.secrets import MASK
from gitleaks_eval.scenarios.traces import Traces, identifying_traces_of, traces_of

KEY = b"key of this test"
# What a scanner of real repositories takes for secrets: lines of code, words, names.
WORDS = (
    "the default values are strings",
    "other secret strings that are configured",
    "authentication_required",
    "documentation",
    "aaaaaaaaaaaaaaaa",
)
PROSE = (
    "The scanner found all expected values: the strings that are configured, the authentication required by other "
    "secret strings, and what the documentation says. No gap, no relabelled findings; the default severities are right."
)


def test_english_prose_shares_nothing_with_words_that_were_reported() -> None:
    assert traces_of(WORDS, KEY).found_in(PROSE)
    assert not identifying_traces_of(WORDS, KEY).found_in(PROSE)
    assert identifying_traces_of(WORDS, KEY).cut_out_of(PROSE) == PROSE


@pytest.mark.parametrize("kind", ["github-pat", "stripe-access-token", "generic-api-key"])
def test_each_piece_of_a_real_token_is_still_cut_out(kind: str) -> None:
    token = secret(kind, "traces")
    traces = identifying_traces_of([token], KEY)
    for start in range(len(token) - 16, len(token) - 8):
        text = f"before {token[start : start + 8]} after"
        assert traces.cut_out_of(text) == f"before {MASK} after", start


def test_a_whole_secret_is_one_mask_and_what_surrounds_it_stays() -> None:
    token = secret("github-pat", "traces")
    traces = traces_of([token], KEY)
    tail = token[10:]
    assert traces.cut_out_of(f"{tail}") == MASK
    assert traces.cut_out_of(f"a {tail} b {tail[:8]}") == f"a {MASK} b {MASK}"
    assert traces.cut_out_of("short") == "short"
    assert Traces(KEY, frozenset()).cut_out_of(tail) == tail


def test_nothing_that_is_left_after_cutting_is_a_piece() -> None:
    token = secret("github-pat", "traces")
    traces = traces_of([token], KEY)
    for text in (token, token[5:20] + token[7:30], f"{token}{token}", token[::-1] + token):
        assert not traces.found_in(traces.cut_out_of(text))
