"""What a reviewer of a changed configuration is shown, by the services that host code, of a real comparison."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpus import shipped_scenarios
from jsonschema import Draft4Validator
from ran import RESULTS, Ran, evaluate

from gitleaks_eval.reports.pull_request.comment import BYTES_AT_MOST, MARK

# As OASIS publishes it (docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas).
SARIF = json.loads((Path(__file__).parents[1] / "support/sarif-schema-2.1.0.json").read_bytes())
VERSION = "8.30.1"
BASE = """[extend]
useDefault = true
[[allowlists]]
paths = ['(^|/)fixtures/']
[[allowlists]]
paths = ['(^|/)generated/']
[[rules]]
id = "shrunk"
regex = '''shrunk_[a-z0-9]{20}'''
"""
HEAD = """titel = "x"
[extend]
useDefault = true
disabledRules = ["github-pat", "no-such"]

[[rules]]
id = "acme"
regex = '''acme_[a-z0-9]{32}'''
entropy = 7.9

[[allowlists]]
paths = ['(^|/)fixtures/']
[[allowlists]]
paths = [
  '''^config/''',
  '(^|/)src/',
]
[[allowlists]]
paths = ['^deploy/']
[[rules]]
id = "shrunk"
regex = '''shrunk_[a-z]{20}'''
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory, gitleaks: Callable[[str], Path]) -> Ran:
    """The change of a configuration in a workflow of GitHub."""
    gitleaks(VERSION)
    folder = tmp_path_factory.mktemp("pull request")
    (folder / ".git").mkdir()
    for name, content in (("base/.gitleaks.toml", BASE), ("project/team conf/.gitleaks.toml", HEAD)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content, encoding="utf-8")
    configs = ("../base/.gitleaks.toml", "team conf/.gitleaks.toml")
    return evaluate(
        folder / "project",
        f"--gitleaks-version={VERSION}",
        *(f"--gitleaks-config={name}" for name in configs),
        shipped_scenarios(folder / "corpus", "private-keys", "aws-credentials"),
        "--gitleaks-only=scenarios,rules,places,entries",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
    )


def commands(ran: Ran) -> list[tuple[str, str, str, str]]:
    """Level, file, line and text of each annotation, as the runner of a workflow reads them."""
    found = re.findall(r"^::(\w+) file=([^,]*),line=(\d+),title=[^,:]*::(.*)$", ran.text, re.MULTILINE)
    assert len(found) == sum(line.startswith("::") for line in ran.text.splitlines())
    return found


FILE = "project/team conf/.gitleaks.toml"
# What is asked, and the line, of each error.
ERRORS = [
    *(("CL-1", 1), ("CL-1", 4), ("CL-2", 15), ("CL-2", 19), ("entries", 1), ("entry", 4), ("entry", 16)),
    *(("rule", 6), ("rule", 20)),
]


def test_annotations_are_few_errors_first_and_stand_at_their_lines(compared: Ran) -> None:
    found = commands(compared)
    assert compared.status == 1
    assert 0 < len(found) <= 10
    levels = [level for level, *_ in found]
    assert levels == sorted(levels)
    assert {file for _, file, _, _ in found} == {FILE}
    errors = [int(line) for level, _, line, _ in found if level == "error"]
    assert sorted(errors) == sorted(line for _, line in ERRORS)


def test_the_sarif_of_the_configuration_is_valid_and_has_each_line(compared: Ran) -> None:
    document: dict[str, Any] = compared.json("configuration.sarif")
    validator = Draft4Validator(SARIF, format_checker=Draft4Validator.FORMAT_CHECKER)
    assert list(validator.iter_errors(document)) == []
    assert list(validator.iter_errors({**document, "runs": [{**document["runs"][0], "tool": {}}]})) != []
    (run,) = document["runs"]
    assert run["invocations"][0]["executionSuccessful"]
    rules = run["tool"]["driver"]["rules"]
    found = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        ((_, where),) = result["locations"][0].items()
        assert where["artifactLocation"]["uri"] == "project/team%20conf/.gitleaks.toml"
        if result["level"] == "error":
            found.append((result["ruleId"], where["region"]["startLine"]))
    assert sorted(found) == sorted(ERRORS)
    assert len({json.dumps(one["partialFingerprints"]) for one in run["results"]}) == len(run["results"])


def test_the_code_quality_report_says_the_same(compared: Ran) -> None:
    rows = compared.json("code-quality.json")
    found = [(one["check_name"], one["location"]["lines"]["begin"]) for one in rows if one["severity"] == "major"]
    assert sorted(found) == sorted(ERRORS)
    assert {one["location"]["path"] for one in rows} == {FILE}
    assert len({one["fingerprint"] for one in rows}) == len(rows)


NARROWED = "shrunk: does not find all that it finds with base/.gitleaks.toml"


def test_a_rule_that_was_narrowed_stands_at_its_line_wherever_problems_stand(compared: Ran) -> None:
    assert ("error", FILE, "20", NARROWED) in commands(compared)
    (run,) = compared.json("configuration.sarif")["runs"]
    assert NARROWED in [one["message"]["text"] for one in run["results"]]
    assert NARROWED in [one["description"] for one in compared.json("code-quality.json")]
    assert "- the rule itself finds less: 1 rule (shrunk)" in comment(compared)


def test_an_entry_that_hides_a_secret_is_not_said_to_hide_nothing(compared: Ran) -> None:
    everything = "\n".join([compared.text, *comment(compared)])
    assert "team conf/.gitleaks.toml:19 path ^deploy/: hides " in compared.text
    assert "^deploy/: hides no usual place" not in everything


def comment(ran: Ran, name: str = "comment.md") -> list[str]:
    return (ran.folder / RESULTS / name).read_text(encoding="utf-8").splitlines()


def test_the_comment_has_the_verdict_first_and_then_what_changed_alone(compared: Ran) -> None:
    lines = comment(compared)
    assert lines[0] == MARK
    assert lines[1].startswith("## REGRESSION: ")
    assert [line for line in lines if line.startswith("#")][1:] == ["### Changed entries", "### Newly hidden or lost"]
    text = "\n".join(lines)
    hidden = next(line for line in lines if "paths\\[1\\]: " in line and line.startswith("- hidden by"))
    assert re.search(r": \d+ places \(path:src/", hidden)
    assert "2 expected secrets (aws-credentials config/aws.py:4 (aws-access-token), private-keys config/" in text
    assert "1 new rule (acme)" in text
    assert "1 rule (github-pat)" in text
    assert "gone: " in text
    # The entry that both have is a number.
    assert "fixtures" not in text
    assert re.search(r"^As before: 1 entry, 222 rules and \d+ places\.$", text, re.MULTILINE)


def test_the_summary_of_the_job_begins_with_the_verdict(compared: Ran) -> None:
    summary = (compared.folder.parent / "summary.md").read_text(encoding="utf-8")
    assert summary.splitlines()[1].startswith("## REGRESSION: ")
    assert "# gitleaks-eval comparison" in summary


def test_each_candidate_has_a_comment_of_its_own(compared: Ran) -> None:
    folders = [one["folder"] for one in compared.comparison["candidates"]]
    first = comment(compared, f"{folders[1]}/comment.md")
    assert first[1].startswith("## FAIL: gitleaks 8.30.1 with ")
    assert any(line.startswith("- project/team conf/.gitleaks.toml:6 acme: never fires") for line in first)
    assert len("\n".join(first).encode()) < BYTES_AT_MOST
