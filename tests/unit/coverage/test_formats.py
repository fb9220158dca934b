"""The documented formats: what each row of the data says is plausible, and what becomes of a format."""

import re
import zlib
from itertools import count

import pytest

from gitleaks_eval.coverage.families.formats import (
    Format,
    FormatResult,
    documented,
    formats,
    sentence,
    with_check_digit,
)
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.repository import reported_by_sample
from gitleaks_eval.coverage.samples.samples import Sample


def test_each_format_is_said_once_with_a_source_and_a_natural_place() -> None:
    assert len({one.id for one in documented()}) == len(documented()) >= 340
    for one in documented():
        assert one.context.count("{token}") == 1, one.id
        assert one.source, one.id
        assert one.path, one.id
        assert not one.path.startswith("/"), one.id
        assert ".." not in one.path.split("/"), one.id
        assert one.tier in {1, 2}, one.id
        assert one.confidence in {"documented", "observed"}, one.id
        assert one.sensitivity in {"live", "public", "test"}, one.id
        assert re.fullmatch("[a-z0-9-]+", one.id), one.id


def test_keys_that_are_public_are_no_secrets_to_be_found() -> None:
    left_out = {one.id for one in documented()} - {one.id for one in formats()}
    assert left_out >= {"stripe-test", "stripe-publishable", "mapbox-public"}
    assert "github-pat-classic" not in left_out


@pytest.mark.slow
def test_each_value_is_a_whole_token_of_its_format_and_no_two_are_alike() -> None:
    names = map(word, count())
    values = []
    for one in formats():
        for sample in one.samples("0", names):
            assert re.fullmatch(one.pattern, sample.value), one.id
            assert sample.value in sample.text, one.id
            assert sample.path.endswith(f"/{one.path}"), one.id
            values.append(sample.value)
    assert len(set(values)) == len(values) == 3 * len(formats())


def test_the_check_digit_is_the_one_of_the_provider() -> None:
    # The example that Kingfisher's own tests check.
    body, digits = "DQjRBk4hVzGJfGM7XgUbH2JgiWK8QC", "4Cuv1K"
    assert with_check_digit(f"ghp_{body}000000", "crc32-base62-6") == f"ghp_{body}{digits}"
    assert with_check_digit(f"ghp_{body}000000", "none") == f"ghp_{body}000000"
    # Padded with zeros: found by trying.
    body = next(text for text in map(str, count()) if zlib.crc32(text.encode()) < 62**4)
    assert with_check_digit(f"npm_{body}xxxxxx", "crc32-base62-6")[len(f"npm_{body}") :].startswith("00")


def test_a_part_of_a_token_counts_as_its_finding_where_it_is_long() -> None:
    value = "prefix-of-sixteen-" + "x" * 20
    sample = Sample("acme", "aaaa/.env", f"A={value}\n", value, value)

    def ids(secret: str) -> set[str]:
        (found,) = reported_by_sample(
            [sample], [{"File": "aaaa/.env", "RuleID": "r", "Secret": secret, "Match": secret}]
        )
        return found

    assert ids(value) == ids(f"A={value}") == ids("prefix-of-sixteen") == {"r"}
    assert ids("prefix") == ids("something-else-that-is-long") == set()


def test_the_sentence_counts_by_tier_and_names_what_is_hidden_before_what_is_not_found() -> None:
    def result(name: str, tier: int, status: str) -> FormatResult:
        return FormatResult(Format(*[name, *["x"] * 10], tier=tier, path="a"), status)  # type: ignore[arg-type, misc]

    rows = [
        result("b", 2, "not_found"),
        result("a", 1, "own_rule"),
        result("c", 1, "some_values"),
        result("d", 1, "hidden"),
    ]
    assert sentence(rows) == "formats: 2 of 3 of tier 1, 2 of 4 in all (hidden: d; not found: b)"
    assert sentence([rows[1]]) == "formats: 1 of 1 of tier 1, 1 of 1 in all"
    assert sentence([]) == ""
