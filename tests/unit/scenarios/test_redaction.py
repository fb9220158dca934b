"""A text holds no secret when it is shown; texts that differ stay different."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from builders import secret

from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.scenarios.recipe import Recipe, load_recipe, parse_recipe
from gitleaks_eval.scenarios.redaction import LONGEST_LINE, Masks, Values, masked_lines, masks_of, values_of
from gitleaks_eval.scenarios.scenario import load_scenarios
from gitleaks_eval.scenarios.secrets import MASK

TOKEN, OTHER = secret("github-pat", "masks"), secret("github-pat", "masks too")
COMMIT = {"message": "m", "author": "A <a@example.com>", "date": "2026-01-01T00:00:00Z"}
SECRETS = {"key": {"kind": "private-key", "seed": "k"}, "token": {"kind": "github-pat", "seed": "t"}}


def test_a_secret_is_masked_whole_and_keeps_its_public_prefix() -> None:
    path = f"keys/{TOKEN}/a.py"
    assert masks_of([path], [TOKEN, TOKEN[:-4]])(path) == f"keys/ghp_{MASK}/a.py"


@pytest.mark.parametrize("text", [f"a/{TOKEN[4:30]}.py", "a/pass123/b", "a/correct-house/b"])
def test_pieces_of_a_secret_and_short_ones_are_shown(text: str) -> None:
    assert masks_of([text], [TOKEN, "pass123", "correct-horse"])(text) == text


def test_texts_that_differ_stay_different_and_their_order_does_not_matter() -> None:
    texts = [f"a/{TOKEN}.py", f"a/ghp_{MASK}.py", f"a/{OTHER}.py", f"a/ghp_{MASK}~2.py", "plain"]
    masks = masks_of(texts, [TOKEN, OTHER])
    assert len({masks(text) for text in texts}) == len(texts)
    assert [masks.undone(masks(text)) for text in texts] == texts
    assert masks == masks_of(reversed(texts), [OTHER, TOKEN])


def test_no_value_shows_what_it_hides() -> None:
    assert TOKEN[4:] not in repr(masks_of([TOKEN], [TOKEN])) + repr(values_of([TOKEN]))
    assert Masks()("as it is") == Values().cut_out_of("as it is") == "as it is"


def test_values_are_cut_out_of_a_text_and_what_surrounds_them_stays() -> None:
    values = values_of([TOKEN, OTHER, "password1234", "password"])
    text = f"a {TOKEN[4:]} b {OTHER}{OTHER} password1234 password12"
    assert values.found_in(text)
    assert values.cut_out_of(text) == f"a {MASK} b ghp_{MASK}ghp_{MASK} {MASK} {MASK}12"


@pytest.mark.parametrize(
    ("texts", "before", "shown"),
    [
        (["a/horse/b.py"], [f"a/{MASK}/b.py"], [f"a/{MASK}/b.py"]),
        (["a/horse/b.py", "a/horse/c.py"], [f"a/{MASK}~2/c.py"], ["a/horse/b.py", f"a/{MASK}~2/c.py"]),
        # Either of two could be meant.
        (["a/horse/b.py", "a/mule/b.py"], [f"a/{MASK}/b.py"], ["a/horse/b.py", "a/mule/b.py"]),
        (["a/horse/b.py"], [f"a/{MASK}/b.py", f"{MASK}/b.py"], ["a/horse/b.py"]),
        # It was shown as it is, so the masked text was another.
        (["a/horse/b.py"], ["a/horse/b.py", f"a/{MASK}/b.py"], ["a/horse/b.py"]),
        (["a/horse/b.py"], ["x/horse/b.py"], ["a/horse/b.py"]),
        # Masked now as well: shown as the saved baseline shows it.
        ([f"a/{TOKEN}/b.py"], [f"a/{MASK}~3/b.py"], [f"a/{MASK}~3/b.py"]),
    ],
)
def test_what_was_shown_masked_is_shown_so_again_where_only_one_text_fits(
    texts: list[str], before: list[str], shown: list[str]
) -> None:
    masks = masks_of(texts, [TOKEN], before)
    assert [masks(text) for text in texts] == shown


def recipe(*contents: Any) -> Recipe:
    commits = [{**COMMIT, "write": {"a.env": content}} for content in contents]
    return parse_recipe(json.dumps({"secrets": SECRETS, "commits": commits}).encode(), "recipe")


def lines(*contents: Any) -> Mapping[tuple[str, int], str]:
    return masked_lines(recipe(*contents))


def test_a_key_of_several_lines_is_a_mask_a_line_and_what_follows_keeps_its_number() -> None:
    text = "first = 1\nKEY='{{secret.key}}'\nplain = 2\n  token = {{secret.token}}  # here\n"
    one = recipe(text)
    key, token = one.secrets["key"].value, one.secrets["token"].value
    written = text.replace("{{secret.key}}", key).replace("{{secret.token}}", token).split("\n")
    found = masked_lines(one)
    last = 1 + len(key.split("\n"))
    assert last > 5
    assert [number for _, number in found] == [*range(2, last + 1), last + 2]
    assert found["a.env", 2] == f"KEY='{MASK}"
    assert set(list(found.values())[1 : last - 2]) == {MASK}
    assert found["a.env", last] == f"{MASK}'"
    assert token in written[last + 1]
    assert found["a.env", last + 2] == f"token = {MASK}  # here"
    pieces = [part[start : start + 8] for part in (token[4:], *key.split("\n")) for start in range(len(part) - 7)]
    assert not [piece for piece in pieces if any(piece in line for line in found.values())]


def test_of_a_file_that_changes_the_last_line_with_a_secret_at_a_place_is_shown() -> None:
    found = lines("old = {{secret.token}}\n", "new = {{secret.token}}\n", "nothing = 1\n")
    assert found == {("a.env", 1): f"new = {MASK}"}


def test_a_long_line_is_cut_and_what_is_not_all_text_is_left_out() -> None:
    assert len(lines(f"{'x' * 500} {{{{secret.token}}}}\n").get(("a.env", 1), "")) <= LONGEST_LINE
    assert lines({"repeat": 2, "text": "{{secret.token}}\n"}) == {}


@pytest.mark.parametrize("suite", ["core", "edge"])
def test_every_planted_secret_of_the_shipped_scenarios_has_a_masked_line_at_its_place(suite: str) -> None:
    folder = shipped_data("synthetic_repos") / ("edge" if suite == "edge" else "")
    for scenario in load_scenarios([suite], folder):
        found = masked_lines(load_recipe(folder / f"{scenario.name}.yaml"))
        for one in scenario.expected.findings:
            shown = found.get((one.file_path, one.line_number))
            assert shown is None or MASK in shown
            if suite == "core":
                assert shown, f"{scenario.name} {one.file_path}:{one.line_number}"
