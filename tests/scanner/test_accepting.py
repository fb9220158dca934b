"""A normal team adopts: a short list at first, one command, green from then on, until an entry gets wider."""

import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from ran import Ran, evaluate, run

from gitleaks_eval.core.schema import schema_problems, schema_violations

ALL = "--gitleaks-only=scenarios,rules,places,entries"
ENTRIES = "--gitleaks-only=rules,places,entries"
VERSION = "--gitleaks-version=8.30.1"
NAME = ".gitleaks-eval.yaml"
EXTENDS = "[extend]\nuseDefault = true\n"
REDUNDANT = ["node_modules/", r"\.svg$", r"go\.sum$", r"package-lock\.json$", "(^|/)vendor/bundle/"]
PATHS = ["(^|/)fixtures/", "(^|/)__snapshots__/", "^docs/examples/", "^testdata/keys/", "(^|/)tests?/data/",
         r"\.golden$", "^third_party/licenses/"]  # fmt: skip
OWN = "".join(
    f"[[rules]]\nid = 'acme-{name}'\nregex = '''{name}_[a-z0-9]{{32}}'''\nkeywords = ['{name}_']\n"
    for name in ("acmp", "acmd", "acmm", "acmb", "acms")
)
# Twelve paths, of which five are redundant, four regexes, two stop words, two commits, and a rule that is off.
TEAM = f"""{EXTENDS}disabledRules = ["generic-api-key"]
{OWN}
[[allowlists]]
paths = {json.dumps([*PATHS, *REDUNDANT])}
[[allowlists]]
regexes = ['(?i)dummy', '^changeme', 'REDACTED', 'not-?a-?real']
stopwords = ["exampleco", "sandboxed"]
[[allowlists]]
commits = {json.dumps(["a1b2c3d4e5" * 4, "0123456789" * 4])}
"""


def accept(folder: Path, *options: str, **environment: str) -> Ran:
    return run(folder, "--gitleaks-accept", VERSION, *options, **{"CI": "", **environment})


def entries(ran: Ran) -> dict[str, dict[str, Any]]:
    return {row["entry"]: row for row in ran.json()["coverage"]["entries"]}


def copied(team: "Team", folder: Path) -> Path:
    for name in (".gitleaks.toml", NAME):
        shutil.copy(team.folder / name, folder / name)
    return folder


class Team:
    """A team's folder, its first run, what `accept` said, and the second run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".gitleaks.toml").write_text(TEAM, encoding="utf-8")
        self.first = evaluate(folder, VERSION, ALL)
        self.before = self.first.json()
        self.accepted = accept(folder, "--gitleaks-yes")
        self.second = evaluate(folder, VERSION, ALL, "-rx")
        self.report = self.second.json()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> "Team":
    """The team after its adoption."""
    return Team(tmp_path_factory.mktemp("team"))


def test_the_first_run_is_at_most_ten_red_tests(team: Team) -> None:
    assert team.first.status == 1
    red = [line for line in team.first.text.splitlines() if line.startswith("FAILED ") and "::" in line]
    assert 0 < len(red) <= 10
    statuses = [row["status"] for row in team.before["coverage"]["entries"]]
    assert (len(statuses), statuses.count("redundant")) == (21, 5)


def test_accept_lists_every_entry_once_and_writes_it(team: Team) -> None:
    assert team.accepted.status == 0
    lines = [line for line in team.accepted.text.splitlines() if line.startswith(".gitleaks.toml:")]
    assert len(lines) == 21
    text = (team.folder / NAME).read_text(encoding="utf-8")
    document = yaml.safe_load(text.replace("since: ", "since: !!str "))
    assert schema_violations("eval_file", document) == []
    assert len(document["accept"]) == 21
    assert {one["why"] for one in document["accept"]} == {"existing at adoption"}
    assert document["accept"][0] == {**document["accept"][0], "entry": PATHS[0], "hides": {"places": 1, "rules": 0}}
    assert stat.S_IMODE((team.folder / NAME).stat().st_mode) == 0o644


def test_the_second_run_is_a_strong_pass_and_shows_what_is_accepted(team: Team) -> None:
    assert team.second.status == 0
    line = team.second.line("STRONG_PASS")
    assert line.startswith("STRONG_PASS  14 of 17 expected secrets found, 3 accepted, 0 unexpected")
    report, before = team.report, team.before
    assert schema_problems("report", report) == []
    assert {row["status"] for row in report["coverage"]["entries"]} == {"accepted"}
    assert sum(row["status"] == "accepted" for row in report["coverage"]["places"]) == 2
    # The documented score speaks of what is found, and nothing more is.
    assert report["summary"]["score"] == before["summary"]["score"]
    assert "XFAIL" in team.second.text
    assert f" - accepted in {NAME}" in team.second.text


@pytest.mark.parametrize(
    ("old", "new", "name", "why"),
    [
        ("(^|/)fixtures/", "(^|/)(fixtures|deploy|config)/", ".gitleaks.toml:", "matches more than"),
        ('["generic-api-key"]', '["generic-api-key", "github-pat"]', ".gitleaks.toml:3 [extend]", "hides more than"),
    ],
)
def test_a_wider_entry_is_red_by_name(  # noqa: PLR0917 - parameters of the test
    team: Team, tmp_path: Path, old: str, new: str, name: str, why: str
) -> None:
    folder = copied(team, tmp_path)
    (folder / ".gitleaks.toml").write_text(TEAM.replace(old, new), encoding="utf-8")
    ran = evaluate(folder, VERSION, ENTRIES)
    assert ran.status == 1
    line = ran.line("FAILED  entry")
    assert f"FAILED  entry  {name}" in line
    assert f"{why} {NAME}:" in line


def test_an_entry_that_hides_more_than_was_accepted_is_no_longer_accepted(team: Team, tmp_path: Path) -> None:
    folder = copied(team, tmp_path)
    accepted = (folder / NAME).read_text(encoding="utf-8").replace("places: 1", "places: 0", 1)
    (folder / NAME).write_text(f"# by hand\n{accepted}", encoding="utf-8")
    ran = evaluate(folder, VERSION, ENTRIES)
    assert "1 places where 0 are accepted" in ran.line("FAILED  entry")
    again = accept(folder, "--gitleaks-yes", "--gitleaks-why=it's known")
    assert again.status == 0
    text = (folder / NAME).read_text(encoding="utf-8")
    assert text.startswith("# by hand\n")
    assert text.count("- {") == 21
    assert "nothing to accept: of 21 entries" in accept(folder, "--gitleaks-yes").text
    assert "hides: { places: 1, rules: 0 }, why: 'it''s known'" in text


def test_strict_fails_what_nobody_accepted_and_what_may_be_deleted(team: Team, tmp_path: Path) -> None:
    folder = copied(team, tmp_path)
    (folder / "pytest.ini").write_text("[pytest]\ngitleaks_entries = strict\n", encoding="utf-8")
    assert evaluate(folder, VERSION, ENTRIES).status == 0
    (folder / ".gitleaks.toml").write_text(
        TEAM.replace('"exampleco"', '"another-word"').replace('"sandboxed"', '"sandboxed", "of-mine"'), encoding="utf-8"
    )
    with (folder / NAME).open("a", encoding="utf-8") as file:
        file.write("  - { entry: qqqqqqq, hides: { places: 0, rules: 0 }, why: gone, since: 2026-01-01 }\n")
    ran = evaluate(folder, VERSION, ENTRIES)
    assert ran.status == 1
    red = [line for line in ran.text.splitlines() if line.startswith("FAILED  ")]
    assert any("entry" in line and "is not accepted" in line for line in red)
    assert any("acceptance" in line and "no longer there; delete the line" in line for line in red)
    (folder / "pytest.ini").write_text("", encoding="utf-8")
    usual = evaluate(folder, VERSION, ENTRIES)
    assert usual.status == 0
    assert usual.line("PASS")
    assert "delete the line" in (folder / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")


def test_in_ci_and_where_nobody_can_be_asked_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / ".gitleaks.toml").write_text(TEAM, encoding="utf-8")
    for ran, said in ((accept(tmp_path, "--gitleaks-yes", CI="true"), "CI is set"), (accept(tmp_path), "no terminal")):
        assert ran.status == 4
        assert said in ran.text
    assert not (tmp_path / NAME).exists()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / ".gitleaks.toml").write_text(f"{EXTENDS}[[allowlists]]\npaths = ['^x/']\n", encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text("accept: []\n", encoding="utf-8")
    (tmp_path / NAME).symlink_to(other)
    ran = accept(tmp_path, "--gitleaks-yes")
    assert ran.status == 4
    assert "is a link" in ran.text
    assert other.read_text(encoding="utf-8") == "accept: []\n"


def test_a_repository_accepts_only_its_own_entries(tmp_path: Path) -> None:
    central, own = tmp_path / "central", tmp_path / "own"
    central.mkdir()
    own.mkdir()
    (central / ".gitleaks.toml").write_text(f"{EXTENDS}[[allowlists]]\npaths = ['(^|/)fixtures/']\n", encoding="utf-8")
    (own / ".gitleaks.toml").write_text("[extend]\npath = '../central/.gitleaks.toml'\n", encoding="utf-8")
    item = "accept:\n  - { entry: '(^|/)fixtures/', hides: { places: 9, rules: 9 }, why: x, since: 2026-01-01 }\n"
    (own / NAME).write_text(item, encoding="utf-8")
    assert entries(evaluate(own, VERSION, ENTRIES))["(^|/)fixtures/"]["status"] == "live"
    (own / NAME).replace(central / NAME)
    ran = evaluate(own, VERSION, ENTRIES)
    assert entries(ran)["(^|/)fixtures/"]["status"] == "accepted"
    assert ran.line("STRONG_PASS")


@pytest.mark.xfail(reason="comparisons do not say yet what an upgrade starts to obey", strict=False)
def test_an_upgrade_that_starts_to_obey_entries_says_so_and_is_no_regression(team: Team, tmp_path: Path) -> None:
    folder = copied(team, tmp_path)
    ran = evaluate(folder, "--gitleaks-version=8.18.4", VERSION, ALL)
    assert "8.30.1 starts to obey disabledRules and 3 [[allowlists]], which 8.18.4 ignores" in ran.text
    assert ran.verdicts == {"8.30.1": "REVIEW"}
