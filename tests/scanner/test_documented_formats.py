"""Documented formats of tokens, asked of real scanners: what is hidden fails by name, what is never found does not."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ran import Ran, evaluate, run

from gitleaks_eval import command

EXTENDS = "[extend]\nuseDefault = true\n"
# Found by no other rule than the one that is replaced.
NARROW = f'{EXTENDS}[[rules]]\nid = "slack-webhook-url"\nregex = "https://hooks.slack.com/never/[0-9]{{40}}"\n'
HIDES_NPM = f"{EXTENDS}[[allowlists]]\npaths = ['''\\.npmrc$''']\n"
HIDES_MOST = f"{EXTENDS}[[allowlists]]\npaths = ['''(^|/)\\.env$''']\n"
STATUSES = {"own_rule", "generic_rule", "some_values", "not_found", "hidden"}


@pytest.fixture
def evaluated(gitleaks: Callable[[str], Path], tmp_path: Path) -> Callable[..., Ran]:
    def evaluated(*configurations: str, version: str = "8.30.1") -> Ran:
        options = []
        for number, content in enumerate(configurations):
            (tmp_path / f"c{number}.toml").write_text(content, encoding="utf-8")
            options.append(f"--gitleaks-config=c{number}.toml")
        gitleaks(version)
        return evaluate(tmp_path, f"--gitleaks-version={version}", "--gitleaks-only=formats,entries", *options)

    return evaluated


def rows(ran: Ran) -> Mapping[str, dict[str, Any]]:
    found = ran.json()["coverage"]["formats"]
    return {row["id"]: row for row in found}


@pytest.mark.parametrize("version", ["8.16.0", "8.30.1"])
def test_what_the_scanner_itself_never_finds_is_counted_and_fails_nothing(
    evaluated: Callable[..., Ran], version: str
) -> None:
    ran = evaluated(version=version)
    found = rows(ran)
    counts = Counter(row["status"] for row in found.values())
    assert ran.status == 0
    assert counts.keys() <= STATUSES - {"hidden"}
    assert counts["not_found"] > 20
    assert counts["own_rule"] > 60
    assert found["github-pat-classic"] == {
        "id": "github-pat-classic",
        "provider": "GitHub",
        "kind": "personal access token (classic)",
        "tier": 1,
        "status": "own_rule",
        "rule_id": "github-pat",
        "hidden_by": None,
    }
    line = ran.line("formats: ")
    assert line.startswith("formats: ")
    assert f"{340 - counts['not_found']} of 340 in all (not found: " in line


def test_an_entry_that_hides_formats_is_named_and_its_acceptance_holds(
    evaluated: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = evaluated(HIDES_NPM)
    npm = rows(ran)["npm"]
    assert (npm["status"], npm["rule_id"]) == ("hidden", "npm-access-token")
    assert npm["hidden_by"] == "c0.toml allowlists[0].paths[0]"
    assert ran.status == 0
    assert "and hides 3 documented formats" in ran.line("HIDES  c0.toml:4")
    assert "hidden: npm" in ran.line("formats: ")
    options = ("--gitleaks-version=8.30.1", "--gitleaks-config=c0.toml")
    assert run(tmp_path, "--gitleaks-accept", "--gitleaks-yes", *options, CI="").status == 0
    assert "format: 3" in (tmp_path / ".gitleaks-eval.yaml").read_text(encoding="utf-8")
    accepted = evaluated(HIDES_NPM)
    assert rows(accepted)["npm"]["accepted"] is True
    # The same entry hides one format more than was accepted.
    text = (tmp_path / ".gitleaks-eval.yaml").read_text(encoding="utf-8")
    (tmp_path / ".gitleaks-eval.yaml").write_text(text.replace("format: 3", "format: 2"), encoding="utf-8")
    grown = evaluated(HIDES_NPM)
    assert grown.status == 1
    assert "3 documented formats where 2 are accepted" in grown.text


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (NARROW, "slack-webhook", "c0.toml:4 rules[0] slack-webhook-url: no longer finds slack-webhook"),
        (HIDES_MOST, "github-pat-classic", "documented formats"),
    ],
)
def test_a_rule_that_replaces_one_that_found_a_format_and_an_entry_that_hides_most_fail(
    evaluated: Callable[..., Ran], content: str, name: str, said: str
) -> None:
    ran = evaluated(content)
    assert ran.status == 1
    assert rows(ran)[name]["status"] == "hidden"
    assert f"test_format[{name}]" in ran.text
    section = [line for line in ran.text.splitlines() if line.startswith("FAILED  ")]
    assert any(said in line for line in section if line.startswith("FAILED  entry"))
    (counted,) = (line for line in section if line.startswith(("FAILED  2 documented", "FAILED  19")))
    assert "hidden by c0.toml" in counted
    assert len(section) <= 4


def test_a_lost_format_is_a_regression_of_one_build_and_one_that_is_gained_is_named(
    evaluated: Callable[..., Ran],
) -> None:
    lost = evaluated(EXTENDS, HIDES_NPM)
    assert lost.verdicts == {"c1.toml": "REGRESSION"}
    assert "format:npm" in lost.pairs["c1.toml"]["places_lost"]
    gained = evaluated(HIDES_NPM, EXTENDS)
    assert gained.verdicts == {"c1.toml": "SAFE"}
    assert "format:npm" in gained.pairs["c1.toml"]["places_gained"]


def test_the_command_lists_what_finds_each_format_and_only_gaps_where_these_are_asked_for(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(HIDES_NPM, encoding="utf-8")
    options = [f"--binary={gitleaks('8.30.1')}", "--config=c.toml"]
    assert command.main(["formats", "npm", "github", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("own rule") and "GitHub: personal access token (classic)" in line for line in lines)
    assert command.main(["formats", "npm", "github", "--missing", *options]) == 0
    gaps = capsys.readouterr().out.splitlines()
    (npm,) = (line for line in gaps if " npm " in line)
    assert npm.startswith("hidden")
    assert npm.endswith("hidden by c.toml allowlists[0].paths[0]")
    assert not any(line.startswith("own rule") for line in gaps)
    assert command.main(["formats", "githup", *options]) == 4
    assert "did you mean GitHub" in capsys.readouterr().err
