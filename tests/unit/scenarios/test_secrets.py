"""The kinds of secrets: each value has its shape, and nothing that is shown helps to guess it."""

import re

import pytest
from builders import secret

from gitleaks_eval.scenarios.secrets import MASK, Secret, preview, reveals, secret_kinds

KINDS = ["aws-access-token", "generic-api-key", "github-pat", "private-key", "slack-bot-token", "stripe-access-token"]


def test_the_kinds_are_the_six_rule_ids_of_the_requirements() -> None:
    assert sorted(secret_kinds()) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_matches_the_pattern_and_begins_with_the_public_prefix(kind: str) -> None:
    spec = secret_kinds()[kind]
    for seed in range(20):
        value = secret(kind, str(seed))
        assert re.fullmatch(spec.pattern, value)
        assert value.startswith(spec.prefix)


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_of_a_kind_has_one_place_for_the_value(kind: str) -> None:
    assert secret_kinds()[kind].line.count("%s") == 1


def test_one_pattern_and_one_seed_name_one_value() -> None:
    pattern = secret_kinds()["generic-api-key"].pattern
    assert Secret(pattern, "1").value == Secret(pattern, "1", "another line %s").value
    assert Secret(pattern, "1").value != Secret(pattern, "2").value


@pytest.mark.parametrize("kind", KINDS)
def test_a_preview_is_the_public_prefix_and_a_mask_of_fixed_length(kind: str) -> None:
    previews = {preview(secret(kind, str(seed))) for seed in range(20)}
    assert previews == {secret_kinds()[kind].prefix + MASK}


@pytest.mark.parametrize("value", ["", "x", "short", "ghp", "x" * 500, "password123", "xAKIA"])
def test_a_value_of_no_known_kind_is_masked_whole(value: str) -> None:
    assert preview(value) == MASK


@pytest.mark.parametrize("kind", KINDS)
def test_a_preview_reveals_nothing(kind: str) -> None:
    value = secret(kind, "shown")
    assert not reveals(f"a text with {preview(value)} in it", frozenset([value]))


@pytest.mark.parametrize("kind", KINDS)
def test_eight_characters_beyond_the_prefix_reveal_a_secret_and_seven_do_not(kind: str) -> None:
    value = secret(kind, "shown")
    beyond = value.removeprefix(secret_kinds()[kind].prefix)
    for start in (0, len(beyond) // 2, len(beyond) - 8):
        assert reveals(f"<{beyond[start : start + 8]}>", frozenset([value]))
        assert not reveals(f"<{beyond[start : start + 7]}>", frozenset([value]))


def test_a_secret_is_revealed_whichever_of_several_it_is() -> None:
    values = frozenset(secret("generic-api-key", str(seed)) for seed in range(5))
    for value in values:
        assert reveals(f"found {value}", values)
    assert not reveals("found nothing", values)


def test_a_secret_shorter_than_eight_characters_is_revealed_when_it_stands_there_whole() -> None:
    assert reveals("pin 4711", frozenset(["4711"]))
    assert not reveals("pin 471", frozenset(["4711"]))


def test_nothing_is_revealed_where_there_are_no_secrets() -> None:
    assert not reveals("any text", frozenset())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"generic-api-key", "private-key"}])
def test_a_value_that_is_only_a_public_prefix_is_revealed_by_no_other_text(kind: str) -> None:
    assert not reveals("any text", frozenset([secret_kinds()[kind].prefix]))
