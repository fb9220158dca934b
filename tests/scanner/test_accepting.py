"""A normal team adopts: a short list at first, one command, green from then on, until an entry gets wider."""

import json
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import git, secret
from corpus import shipped_scenarios
from ran import RESULTS, Ran, evaluate, run

from gitleaks_eval.core.schema import schema_problems, schema_violations
from gitleaks_eval.coverage.configuration.probes import VERSION as VERSION_OF_PROBES

ALL = "--gitleaks-only=scenarios,rules,places,entries"
ENTRIES = "--gitleaks-only=rules,places,entries"
VERSION = "--gitleaks-version=8.30.1"
NAME = ".gitleaks-eval.yaml"
STRICT = "[pytest]\ngitleaks_entries = strict\n"
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
        # Those that it misses something of, a clean one, and one more.
        some = shipped_scenarios(folder / "some", "cloud-mixed", "mixed-secrets", "private-keys", "no-secrets")
        self.first = evaluate(folder, VERSION, ALL, some)
        self.before = self.first.json()
        self.accepted = accept(folder, "--gitleaks-yes")
        # What is accepted is no failure where each entry must be, too.
        (folder / "pytest.ini").write_text(STRICT, encoding="utf-8")
        self.second = evaluate(folder, VERSION, ALL, some, "--gitleaks-findings", "-rx")
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
    assert document["accept"][0]["entry"] == PATHS[0]
    assert document["accept"][0]["hides"] == {
        "of_rules": 214,
        "places": 2,
        "rules": 0,
        "path": 1,
        "project": 1,
        "probes": VERSION_OF_PROBES,
        "scanner": "gitleaks 8.30.1",
    }
    assert stat.S_IMODE((team.folder / NAME).stat().st_mode) == 0o644


def test_the_second_run_is_a_pass_and_no_strong_one_and_shows_what_is_accepted(team: Team) -> None:
    assert team.second.status == 0
    line = team.second.line("PASS")
    assert line.startswith("PASS  8 of 11 expected secrets found, 3 accepted, 0 unexpected")
    report, before = team.report, team.before
    assert schema_problems("report", report) == []
    assert {row["status"] for row in report["coverage"]["entries"]} == {"accepted"}
    assert sum(row["status"] == "accepted" for row in report["coverage"]["places"]) == 3
    # The documented score speaks of what is found, and nothing more is.
    assert report["summary"]["score"] == before["summary"]["score"]
    assert "XFAIL" in team.second.text
    assert f" - accepted in {NAME}" in team.second.text
    accepted = [line for line in team.second.text.splitlines() if "test_expected_finding[" in line]
    assert len(accepted) == 3
    assert all(line.startswith("XFAIL") and line.endswith(f"accepted in {NAME}") for line in accepted)


@pytest.fixture(scope="module")
def wider(team: Team, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The team's folder with a path and `disabledRules` made wider, and an acceptance of less than an entry hides."""
    folder = copied(team, tmp_path_factory.mktemp("wider"))
    config = TEAM.replace("(^|/)fixtures/", "(^|/)(fixtures|deploy|config)/")
    config = config.replace('["generic-api-key"]', '["generic-api-key", "slack-bot-token"]')
    (folder / ".gitleaks.toml").write_text(config, encoding="utf-8")
    head, found, rest = (
        (folder / NAME).read_text(encoding="utf-8").partition("'(^|/)__snapshots__/', hides: { places: 1")
    )
    assert found
    accepted = f"# by hand\n{head}{found[:-1]}0{rest}"
    (folder / NAME).write_text(accepted, encoding="utf-8")
    return folder, evaluate(folder, VERSION, ENTRIES)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".gitleaks.toml:26", "hides more than"),
        (".gitleaks.toml:3 [extend]", "hides more than"),
        (".gitleaks.toml:26#2", "1 place where 0 are accepted"),
    ],
)
def test_a_wider_entry_and_one_that_hides_more_than_was_accepted_are_red_by_name(
    wider: tuple[Path, Ran], name: str, why: str
) -> None:
    _, ran = wider
    assert ran.status == 1
    (line,) = (line for line in ran.text.splitlines() if line.startswith(f"FAILED  entry  {name} "))
    assert why in line
    assert f"{NAME}:" in line


def test_what_got_wider_is_accepted_in_its_line_and_comments_stay(wider: tuple[Path, Ran]) -> None:
    folder, _ = wider
    assert accept(folder, "--gitleaks-yes", "--gitleaks-why=it's known").status == 0
    text = (folder / NAME).read_text(encoding="utf-8")
    assert text.startswith("# by hand\n")
    assert re.search(r"'\(\^\|/\)__snapshots__/', hides: \{ places: 1, rules: 0, .* \}, why: 'it''s known'", text)
    # Two entries are others now, and were added.
    assert text.count("- {") == 23


def test_strict_fails_what_nobody_accepted_and_what_may_be_deleted(team: Team, tmp_path: Path) -> None:
    folder = copied(team, tmp_path)
    (folder / "pytest.ini").write_text(STRICT, encoding="utf-8")
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
    theirs, ours = "(^|/)fixtures/", "(^|/)snapshots/"
    item = "accept:\n  - {{ entry: '{}', hides: {{ places: 9, rules: 9 }}, why: x, since: 2026-01-01 }}\n"
    for folder, config, accepted in (
        ("central", f"{EXTENDS}[[allowlists]]\npaths = ['{theirs}', '{ours}']\n", theirs),
        ("own", "[extend]\npath = '../central/.gitleaks.toml'\n", ours),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ".gitleaks.toml").write_text(config, encoding="utf-8")
        (tmp_path / folder / NAME).write_text(item.format(accepted), encoding="utf-8")
    found = entries(evaluate(tmp_path / "own", VERSION, ENTRIES))
    assert {entry: row["status"] for entry, row in found.items()} == {theirs: "accepted", ours: "live"}


def test_an_accepted_path_of_a_rule_is_not_accepted_as_a_path_of_all_rules(tmp_path: Path) -> None:
    paths = "paths = ['^ops/legacy/']\n"
    of_rule = f"{EXTENDS}[[rules]]\nid = 'github-pat'\n[[rules.allowlists]]\n{paths}"
    of_all = f"{EXTENDS}[[allowlists]]\n{paths}"
    for name, content in (("one", of_rule), ("all", of_all)):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".gitleaks.toml").write_text(content, encoding="utf-8")
    assert accept(tmp_path / "one", "--gitleaks-yes").status == 0
    assert evaluate(tmp_path / "one", VERSION, ENTRIES).status == 0
    shutil.copy(tmp_path / "one" / NAME, tmp_path / "all" / NAME)
    ran = evaluate(tmp_path / "all", VERSION, ENTRIES)
    assert ran.status == 1
    assert "222 rules where 1 is accepted" in ran.line("FAILED  entry")
    both = [f"--gitleaks-config={name}/.gitleaks.toml" for name in ("one", "all")]
    compared = evaluate(tmp_path, VERSION, *both, ENTRIES)
    assert compared.status == 1
    assert "silences 222 rules where it matches" in compared.line("WIDER  ")


def test_with_another_seed_an_entry_is_held_to_what_it_hides_of_the_usual_values(tmp_path: Path) -> None:
    # Of values made by chance these hide another number with each seed.
    (tmp_path / ".gitleaks.toml").write_text(
        f"{EXTENDS}[[allowlists]]\nregexes = ['7[0-9]', '[xyz][qr]']\nstopwords = ['ab', 'k9']\n", encoding="utf-8"
    )
    assert accept(tmp_path, "--gitleaks-yes").status == 0
    text = (tmp_path / NAME).read_text(encoding="utf-8")
    head, found, rest = text.partition("'k9', hides: { places: ")
    count, more = rest.split(",", 1)
    (tmp_path / NAME).write_text(f"{head}{found}{int(count) - 1},{more}", encoding="utf-8")
    ran = evaluate(tmp_path, VERSION, ENTRIES, "--gitleaks-seed=733459047")
    assert ran.status == 1
    # More places are hidden than were accepted, and only the one is red of which less is accepted than it hides.
    hidden = sum(row["status"] in {"accepted", "allowlisted"} for row in ran.json()["coverage"]["places"])
    assert hidden > sum(map(int, re.findall("places: ([0-9]+)", text)))
    assert f"{count} places where {int(count) - 1} are accepted" in ran.line("FAILED  entry")


@pytest.fixture(scope="module")
def overlapping(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """More entries than are asked alone by every run, of which some hide what others hide, accepted as they are."""
    folder = tmp_path_factory.mktemp("overlapping")
    (folder / ".gitleaks.toml").write_text(OVERLAPPING.format(first="'^s', "), encoding="utf-8")
    return folder, accept(folder, "--gitleaks-yes")


OVERLAPPING = f"""{EXTENDS}[[allowlists]]
paths = [{{first}}'^src/', '^test', '^tests/', '^docs/', '^examples/', '^config/', '^build/']
[[allowlists]]
regexes = ['EXAMPLE']
"""


def test_what_was_said_of_an_entry_is_what_is_written(overlapping: tuple[Path, Ran]) -> None:
    folder, accepted = overlapping
    (said,) = (line for line in accepted.text.splitlines() if "regexes[0]" in line)
    found = re.search(r"EXAMPLE: silences ([0-9]+) of [0-9]+ rules", said)
    assert found
    assert int(found[1]) > 100
    (line,) = (line for line in (folder / NAME).read_text(encoding="utf-8").splitlines() if "EXAMPLE" in line)
    assert f"hides: {{ places: 0, rules: {found[1]}, " in line


def test_deleting_an_accepted_entry_makes_no_other_one_fail(overlapping: tuple[Path, Ran], tmp_path: Path) -> None:
    shutil.copy(overlapping[0] / NAME, tmp_path / NAME)
    (tmp_path / ".gitleaks.toml").write_text(OVERLAPPING.format(first=""), encoding="utf-8")
    ran = evaluate(tmp_path, VERSION, ENTRIES)
    assert [line for line in ran.text.splitlines() if line.startswith("FAILED")] == []
    assert ran.status == 0
    assert {row["status"] for row in ran.json()["coverage"]["entries"]} == {"accepted"}


def test_probes_that_an_acceptance_does_not_know_are_not_yet_measured_and_accept_measures_them(
    overlapping: tuple[Path, Ran], tmp_path: Path
) -> None:
    for name in (".gitleaks.toml", NAME):
        shutil.copy(overlapping[0] / name, tmp_path / name)
    text = (tmp_path / NAME).read_text(encoding="utf-8")
    # As measured with a scanner that did not have all of these rules.
    (tmp_path / NAME).write_text(text.replace("gitleaks 8.30.1", "gitleaks 8.16.0"), encoding="utf-8")
    ran = evaluate(tmp_path, VERSION, ENTRIES)
    assert ran.status == 0
    scorecard = (tmp_path / RESULTS / "scorecard.md").read_text(encoding="utf-8")
    assert scorecard.count("not yet measured for this acceptance") == 1
    assert "accepted 1 in" in accept(tmp_path, "--gitleaks-yes").text
    now = (tmp_path / NAME).read_text(encoding="utf-8")
    assert "gitleaks 8.30.1" in next(line for line in now.splitlines() if "EXAMPLE" in line)


VERSIONS = ("--gitleaks-version=8.18.4", VERSION)
SHOP = "--gitleaks-real-repo=shop=shop"
COMPARED = (*VERSIONS, SHOP, f"{ALL},repos")


class Upgrade:
    """The team's next version: compared, accepted, and compared again, with a repository of theirs beside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shop = folder / "shop"
        (shop / "img").mkdir(parents=True)
        git(shop, "init", "-q", "-b", "main")
        self.token = secret("github-pat", "upgraded")
        for name in ("img/a.png", "b.env"):
            (shop / name).write_text(f"TOKEN={self.token}\n", encoding="ascii")
        git(shop, "add", ".")
        git(shop, "commit", "-q", "-m", "one")
        one = shipped_scenarios(folder / "scenarios", "mixed-secrets")
        self.before = evaluate(folder, *COMPARED, one, "-rx")
        self.pair = self.before.pairs["8.30.1"]
        self.told = (folder / RESULTS / "comparison.md").read_text(encoding="utf-8")
        self.accepted = run(folder, "--gitleaks-accept", "--gitleaks-yes", *VERSIONS, SHOP, CI="")
        self.text = (folder / NAME).read_text(encoding="utf-8")
        self.after = evaluate(folder, *COMPARED, one, "-rx")


@pytest.fixture(scope="module")
def upgrade(team: Team, tmp_path_factory: pytest.TempPathFactory) -> Upgrade:
    """The team after it looked at its next version."""
    return Upgrade(copied(team, tmp_path_factory.mktemp("upgrade")))


def test_an_upgrade_that_starts_to_obey_entries_says_so_and_is_no_regression(upgrade: Upgrade) -> None:
    ran = upgrade.before
    assert (ran.status, upgrade.pair["verdict"]) == (0, "REVIEW")
    reasons = upgrade.pair["reasons"]
    assert reasons[0] == "8.30.1 starts to obey disabledRules and 3 [[allowlists]], which 8.18.4 ignores"
    # What the accepted entries alone hide is no news: a planted secret, a rule, a place.
    assert "1 lost in mixed-secrets, accepted" in reasons
    assert "1 rule (generic-api-key)" in " ".join(reasons)
    assert ran.line("LOST  ").endswith("hidden by .gitleaks.toml [extend] disabledRules[0], accepted")
    assert "generic-api-key" not in upgrade.pair["rules_lost"]
    assert upgrade.pair["entries_wider"] == []


def test_what_is_to_review_is_accepted_in_a_line_each_pinned_to_both_candidates(upgrade: Upgrade) -> None:
    assert upgrade.accepted.status == 0
    assert upgrade.accepted.line("accepted 2 in .gitleaks-eval.yaml")
    document = yaml.safe_load(upgrade.text.replace("since: ", "since: !!str "))
    assert schema_violations("eval_file", document) == []
    # What was there stays as it was, before it.
    assert len(document["accept"]) == 21
    (lost,), (differs,) = document["upgrades"], document["differences"]
    assert (lost["rules"], lost["places"]) == (upgrade.pair["rules_lost"], upgrade.pair["places_lost"])
    # Whoever says yes has seen all of it.
    for name in (*lost["rules"], *(place.partition(":")[2] for place in lost["places"])):
        assert name in upgrade.accepted.text
    assert len(lost["rules"]) > 3
    assert f"Rules lost: {', '.join(lost['rules'])}." in upgrade.told
    assert (differs["kind"], differs["rule"], differs["repositories"]) == ("lost", "github-pat", ["shop"])
    assert differs["cause"].replace("[[]", "[").startswith("hidden by 8.30.1's own [allowlist] paths")
    for line in (lost, differs):
        assert line["baseline"].startswith("gitleaks 8.18.4 sha256:")
        assert line["candidate"].startswith("gitleaks 8.30.1 sha256:")
    assert upgrade.token not in upgrade.text


def test_what_is_accepted_of_an_upgrade_is_counted_and_the_upgrade_is_safe(upgrade: Upgrade) -> None:
    ran = upgrade.after
    assert (ran.status, ran.verdicts) == (0, {"8.30.1": "SAFE"})
    reasons = ran.pairs["8.30.1"]["reasons"]
    assert any(reason.endswith("places less, accepted: existing at adoption") for reason in reasons)
    assert "1 of them approved" in reasons
    assert "(approved)" in ran.text
    # The lists still say what is lost.
    assert ran.pairs["8.30.1"]["places_lost"] == upgrade.pair["places_lost"]
    assert "test_differences[8.30.1-shop]" in upgrade.before.text
    assert "test_differences[8.30.1-shop]" not in ran.text


def test_an_accepted_loss_of_a_rule_whose_id_a_reported_value_holds_accepts_no_other_rule(
    gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    gitleaks("8.30.1")
    notes = f"{EXTENDS}[[rules]]\nid = 'sidekiq-notes'\nregex = 'note=([a-z-]+)'\n"
    for name, more in (("base", ""), ("head", "[[allowlists]]\npaths = ['^deploy/']\n")):
        (tmp_path / f"{name}.toml").write_text(notes + more, encoding="ascii")
    deploy = tmp_path / "shop/deploy"
    deploy.mkdir(parents=True)
    git(tmp_path / "shop", "init", "-q", "-b", "main")

    def commit(name: str, text: str) -> None:
        (deploy / name).write_text(text, encoding="ascii")
        git(tmp_path / "shop", "add", ".")
        git(tmp_path / "shop", "commit", "-q", "-m", "more")

    # All of the rule's id is in this value: it was masked, and what was accepted of it was a pattern that fits all.
    commit("a.txt", "note=sidekiq-notes-first\n")
    compared = (VERSION, "--gitleaks-config=base.toml", "--gitleaks-config=head.toml", "--gitleaks-real-repo=shop=shop")
    assert run(tmp_path, "--gitleaks-accept", "--gitleaks-yes", *compared, "--gitleaks-only=repos", CI="").status == 0
    first = evaluate(tmp_path, *compared, "--gitleaks-only=repos")
    assert first.verdicts == {"head.toml": "SAFE"}
    commit("b.env", f"TOKEN={secret('github-pat', 'not accepted')}\n")
    second = evaluate(tmp_path, *compared, "--gitleaks-only=repos")
    assert second.verdicts == {"head.toml": "REVIEW"}
    groups = [line for line in second.markdown.splitlines() if line.startswith("| 1 | 1 | lost |")]
    # The last column is why a group is approved.
    assert [(line.split(" | ")[3], line.endswith("|  |")) for line in groups] == [
        ("github-pat", True),
        ("sidekiq-notes", False),
    ]
