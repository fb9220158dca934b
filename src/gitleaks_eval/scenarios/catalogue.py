"""The shipped scenarios for people: what is planted where. `python -m gitleaks_eval.scenarios.catalogue` prints it."""

import sys
from collections.abc import Iterator
from pathlib import Path

from gitleaks_eval.core.text import markdown, numbered
from gitleaks_eval.scenarios.recipe import Commit, load_recipe
from gitleaks_eval.scenarios.scenario import SUITES, Scenario, load_scenarios
from gitleaks_eval.scenarios.secrets import secret_kinds

_ABOUT = {
    "core": "What each run evaluates. The performance checks (SP-1 to SP-4) have their bounds here.",
    "edge": "What `--gitleaks-scenarios=edge` evaluates.",
}


def as_markdown() -> str:
    """Return the page of docs/, from ground truths and recipes.

    Raises:
        InputError: when a shipped file is not there or invalid.
    """
    lines = [
        "# The shipped scenarios",
        "",
        "Made by `python -m gitleaks_eval.scenarios.catalogue > docs/scenarios.md`, from `ground_truth/` and",
        "`synthetic_repos/`, which are the truth. `python -m gitleaks_eval.repositories FOLDER` builds them all.",
        "",
        f"Values are generated. Recipes name one of {len(secret_kinds())} kinds of secret, or a pattern, and a seed.",
        "A finding counts as *in history* when its value does not stand in a file of HEAD.",
        "Where the severity is `-`, the ground truth expects none in particular.",
    ]
    for suite in SUITES:
        lines += ["", f"## {suite}", "", _ABOUT[suite]]
        for scenario in load_scenarios([suite], Path()):
            lines += ["", f"### {scenario.name}", "", *_scenario(scenario)]
    return "\n".join([*lines, ""])


def _scenario(scenario: Scenario) -> Iterator[str]:
    commits, expected = load_recipe(scenario.recipe).commits, scenario.expected
    yield f"{scenario.description}."
    yield ""
    yield from (f"{number}. {_commit(commit)}" for number, commit in enumerate(commits, 1))
    if commits:
        yield ""
    if not expected.findings:
        yield "Nothing is expected."
        return
    total = numbered(expected.total_secrets, "finding")
    yield f"Expected: {total}, {expected.secrets_in_head} in HEAD, {expected.secrets_in_history} in history."
    yield ""
    yield "| Place | Rule | Severity |"
    yield "|---|---|---|"
    for finding in expected.findings:
        place = markdown(f"{finding.file_path}:{finding.line_number}")
        yield f"| {place} | `{finding.rule_id}` | {finding.expected_severity or '-'} |"


def _commit(commit: Commit) -> str:
    return f"{markdown(commit.message)}: {'; '.join(_changes(commit)) or 'changes no file'}"


def _changes(commit: Commit) -> Iterator[str]:
    start = f" from {commit.start}" if commit.start else ""
    if start or commit.branch != "main":
        yield f"on branch `{commit.branch}`{start}"
    if commit.merge:
        yield f"merges `{commit.merge}`"
    if commit.write:
        yield f"writes {', '.join(map(_path, commit.write))}"
    yield from (f"renames {_path(old)} to {_path(new)}" for old, new in commit.rename.items())
    if commit.delete:
        yield f"deletes {', '.join(map(_path, commit.delete))}"
    yield from (f"links {_path(path)} to {_path(target)}" for path, target in commit.symlink.items())
    if commit.tag:
        yield f"tag `{commit.tag}`"


def _path(path: bytes) -> str:
    return markdown(path.decode("utf-8", "backslashreplace"))


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
