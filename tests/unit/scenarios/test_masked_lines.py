"""The masked lines in which a recipe plants its secrets: numbered as in the file, and without a piece of a secret."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.scenarios.masked_lines import LONGEST, masked_lines
from gitleaks_eval.scenarios.recipe import Recipe, load_recipe, parse_recipe
from gitleaks_eval.scenarios.scenario import load_scenarios
from gitleaks_eval.scenarios.secrets import MASK

COMMIT = {"message": "m", "author": "A <a@example.com>", "date": "2026-01-01T00:00:00Z"}
SECRETS = {"key": {"kind": "private-key", "seed": "k"}, "token": {"kind": "github-pat", "seed": "t"}}


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
    assert len(lines(f"{'x' * 500} {{{{secret.token}}}}\n").get(("a.env", 1), "")) <= LONGEST
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
