"""Real repositories, compared without any truth: real scanners, generated repositories, every difference."""

import base64
import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import git, secret
from histories import history, straight
from ran import Ran, evaluate, run

OLD, NEW = "8.18.4", "8.30.1"
KINDS = ("lost", "new", "moved", "relabelled", "severity_changed", "reattributed")
EXTENDED = "[extend]\nuseDefault = true\n"
OF_ONES_OWN = """\
[[rules]]
id = "parts"
regex = "part_([a-z]{{8}})_([a-z]{{8}})"
secretGroup = {group}
[[rules]]
id = "twice"
regex = "twice_[a-z]{{12}}"
[[rules.allowlists]]
regexTarget = "line"
regexes = ["{hidden}"]
[[rules]]
id = "one-kind"
regex = "{one}_[a-z]{{10}}"
[[rules]]
id = "words"
regex = "word=(slack-bot-tok)"
[[rules]]
id = "other-kind"
regex = "{other}_[a-z]{{10}}"
"""
BASE = EXTENDED + OF_ONES_OWN.format(group=1, hidden="second", one="kind", other="never")
HEAD = """\
[extend]
useDefault = true
disabledRules = ["slack-bot-token"]
[[allowlists]]
paths = ['''node_modules/''', '''^deploy/''']
[[allowlists]]
stopwords = ["{stopword}"]
[[rules]]
id = "generic-api-key"
entropy = 4.9
"""
OWN_OF_HEAD = OF_ONES_OWN.format(group=2, hidden="first", one="never", other="kind")
Findings = Counter[tuple[str, str, int, str, str]]
Rows = Counter[tuple[object, ...]]


def token(name: str) -> str:
    return secret("github-pat", f"compared {name}")


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`mixed`, in which everything differs that can, and `long`, of 1,100 commits, in which nothing does."""
    folder = tmp_path_factory.mktemp("compared")
    mixed = folder / "mixed"
    mixed.mkdir()
    git(mixed, "init", "-q", "-b", "main")
    encoded = base64.b64encode(f"token={token('encoded')} ".encode()).decode()
    files = {
        "same.env": f"TOKEN={token('same')}\n",
        "deploy/prod.env": f"TOKEN={token('deploy')}\n",
        "slack.env": f"SLACK={secret('slack-bot-token', 'compared')}\n",
        "encoded.txt": f"data: {encoded}\n",
        "picture.png": f"TOKEN={token('picture')}\n",
        "old/picture.png": f"TOKEN={token('picture')}\n",
        "stopped.env": f"TOKEN={token('stopped')}\n",
        "allowed.env": f"TOKEN={token('allowed')} # gitleaks:allow\n",
        "parts.txt": "part_abcdefgh_ijklmnop\n",
        "twice.txt": "first twice_abcdefghijkl\n\nsecond twice_abcdefghijkl\n",
        "kind.txt": "kind_abcdefghij\n",
        # The id of the rule for slack.env holds this secret, and is shown all the same.
        "words.txt": "word=slack-bot-tok\n",
        "settings.py": "api_key = '" + "".join(map(chr, [*range(97, 109), *range(50, 58), *range(97, 109)])) + "'\n",
    }
    for name, text in files.items():
        (mixed / name).parent.mkdir(exist_ok=True)
        (mixed / name).write_text(text, encoding="ascii")
    git(mixed, "add", ".")
    git(mixed, "commit", "-q", "-m", "one")
    for name in ("picture.png", "old/picture.png"):
        (mixed / name).write_text(f"AGAIN={token('picture')}\n", encoding="ascii")
    git(mixed, "commit", "-qam", "two")
    git(mixed, "rm", "-q", "picture.png", "old/picture.png")
    git(mixed, "commit", "-qm", "three")
    history(folder / "long", straight)
    return folder


@pytest.fixture(scope="module")
def upgraded(repositories: Path, gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    for version in (OLD, NEW):
        gitleaks(version)
    return evaluate(
        tmp_path_factory.mktemp("upgraded"),
        *(f"--gitleaks-version={version}" for version in (OLD, NEW)),
        *("--gitleaks-config=builtin", "--gitleaks-only=repos", "-rx"),
        *(f"--gitleaks-real-repo={repositories / name}" for name in ("mixed", "long")),
    )


@pytest.fixture(scope="module")
def reconfigured(repositories: Path, gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("reconfigured")
    (folder / "base.toml").write_text(BASE, encoding="ascii")
    head = HEAD.format(stopword=token("stopped")[20:30]) + OWN_OF_HEAD
    (folder / "head.toml").write_text(head, encoding="ascii")
    return evaluate(
        folder,
        f"--gitleaks-binary={gitleaks(NEW)}",
        *("--gitleaks-config=base.toml", "--gitleaks-config=head.toml", "--gitleaks-only=repos"),
        f"--gitleaks-real-repo={repositories / 'mixed'}",
    )


def bare(program: Path, repository: Path, folder: Path, *options: str) -> Findings:
    """What a scanner reports that is run by hand: commit, file, line, rule and value of each finding."""
    report = folder / "bare.json"
    command = [str(program), "detect", f"--source={repository}", f"--report-path={report}", "--exit-code=0", *options]
    subprocess.run([*command, "--ignore-gitleaks-allow"], check=True, capture_output=True, env={**os.environ})
    found = json.loads(report.read_bytes())
    return Counter((one["Commit"], one["File"], one["StartLine"], one["RuleID"], one["Secret"]) for one in found)


def differences_by_hand(before: Findings, after: Findings) -> tuple[int, Rows]:
    """How many findings are the same, and each that differs by what docs/real-repositories.md calls it."""
    same = before & after
    left, right = sorted((before - same).elements()), (after - same).elements()
    waiting, found = sorted(right), Counter[tuple[object, ...]]()
    for kind, parts in (("relabelled", (0, 1, 2, 4)), ("moved", (0, 1, 3, 4)), ("moved", (0, 1, 2, 3))):
        for old in tuple(left):
            if new := next((one for one in waiting if all(one[part] == old[part] for part in parts)), None):
                found[(kind, *old[:4], new[3])] += 1
                left.remove(old)
                waiting.remove(new)
    found.update(("lost", *one[:4], None) for one in left)
    found.update(("new", *one[:4], one[3]) for one in waiting)
    return same.total(), found


def rows(pair: Mapping[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    (repository,) = (one for one in pair["real"] if one["repository"] == name)
    return ((kind, row) for kind in KINDS for row in repository[kind])


def rows_told(pair: Mapping[str, Any], name: str) -> tuple[int, Rows]:
    """The same, as `comparison.json` has it."""
    (one,) = (one for one in pair["real"] if one["repository"] == name)
    found: Rows = Counter()
    for kind, row in rows(pair, name):
        places = [row, *row.get("others", ())]
        assert len(places) == row["count"]
        ids = row["rule_id"], row["candidate_rule_id"]
        found.update((kind, at["commit"], at["file_path"], at["line_number"], *ids) for at in places)
    return one["same"], found


@pytest.mark.parametrize("name", ["mixed", "long"])
def test_bare_runs_of_both_scanners_give_the_same_differences(
    upgraded: Ran, repositories: Path, gitleaks: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    before, after = (bare(gitleaks(version), repositories / name, tmp_path) for version in (OLD, NEW))
    assert rows_told(upgraded.pairs[NEW], name) == differences_by_hand(before, after)


def test_bare_runs_with_both_configurations_give_the_same_differences(
    reconfigured: Ran, repositories: Path, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    before, after = (
        bare(gitleaks(NEW), repositories / "mixed", tmp_path, f"--config={reconfigured.folder / name}")
        for name in ("base.toml", "head.toml")
    )
    same, told = rows_told(reconfigured.pairs["head.toml"], "mixed")
    by_hand = differences_by_hand(before, after)
    assert {kind for kind, *_ in told} == {"lost", "moved", "relabelled"}
    assert (same, told) == by_hand


def test_what_differs_is_never_safe_and_a_test_of_each_repository_says_it(upgraded: Ran) -> None:
    assert upgraded.verdicts == {NEW: "REVIEW"}
    # To review is no failure unless that is asked for.
    assert upgraded.status == 0
    (told,) = (line for line in upgraded.text.splitlines() if line.startswith("XFAIL "))
    assert f"test_differences[{NEW}-mixed]" in told
    assert upgraded.line("REVIEW").endswith("1 new in mixed (real, labels aside)")


def test_each_difference_between_versions_has_its_cause(upgraded: Ran) -> None:
    causes = {(kind, row["file_path"]): row["cause"] for kind, row in rows(upgraded.pairs[NEW], "mixed")}
    assert causes[("new", "encoded.txt")] == f"{OLD} does not decode"
    assert causes[("lost", "old/picture.png")].startswith(f"hidden by {NEW}'s own [allowlist] paths[1] (")
    assert all(causes.values()), causes


def test_a_search_that_its_budget_of_scans_ends_says_so_each_time_and_pins_no_acceptance(
    repositories: Path, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    """With three scans: one of each side, and one with the decode depth of the other or without all entries."""
    (tmp_path / "conftest.py").write_text(
        "from gitleaks_eval.engine.real import causes\ncauses.SCANS_IN_ALL = 3\n", encoding="ascii"
    )
    (tmp_path / "base.toml").write_text(BASE, encoding="ascii")
    (tmp_path / "head.toml").write_text(HEAD.format(stopword=token("stopped")[20:30]) + OWN_OF_HEAD, encoding="ascii")
    options = (
        f"--gitleaks-binary={gitleaks(NEW)}",
        *("--gitleaks-config=base.toml", "--gitleaks-config=head.toml", "--gitleaks-only=repos"),
        f"--gitleaks-real-repo={repositories / 'mixed'}",
    )
    found = []
    for _ in range(2):
        ran = evaluate(tmp_path, *options)
        (pair,) = ran.pairs.values()
        found.append({(kind, row["file_path"]): row["cause"] for kind, row in rows(pair, "mixed")})
    assert found[0] == found[1]
    assert found[0]["lost", "slack.env"] == "rule switched off by head.toml"
    assert found[0]["lost", "deploy/prod.env"] == "not searched: budget of 3 scans"
    assert "not searched: budget of 3 scans" in ran.text
    run(tmp_path, "--gitleaks-accept", "--gitleaks-yes", *options, CI="")
    written = (tmp_path / ".gitleaks-eval.yaml").read_text(encoding="utf-8")
    assert "not searched" not in written
    assert "cause: null" in written


def test_one_secret_in_several_files_and_commits_is_one_difference_with_their_number(upgraded: Ran) -> None:
    (row,) = (row for kind, row in rows(upgraded.pairs[NEW], "mixed") if kind == "lost")
    assert (row["count"], row["in_head"], len(row["others"])) == (4, False, 3)


def test_each_difference_between_configurations_has_its_cause(reconfigured: Ran) -> None:
    (pair,) = reconfigured.pairs.values()
    causes = {row["file_path"]: row["cause"] for kind, row in rows(pair, "mixed") if kind == "lost"}
    assert causes == {
        "deploy/prod.env": "hidden by head.toml allowlists[0].paths[1]",
        "slack.env": "rule switched off by head.toml",
        "stopped.env": "hidden by head.toml allowlists[1].stopwords[0]",
        "settings.py": "another entropy of the rule",
    }


def test_what_is_moved_or_has_another_rule_has_its_cause(reconfigured: Ran) -> None:
    (pair,) = reconfigured.pairs.values()
    causes = {
        (kind, row["file_path"]): row["cause"] for kind, row in rows(pair, "mixed") if kind not in {"lost", "new"}
    }
    assert causes == {
        ("moved", "parts.txt"): "another secretGroup of the rule",
        ("moved", "twice.txt"): "hidden by head.toml rules[2].allowlists[0].regexes[0]",
        ("relabelled", "kind.txt"): "one-kind with head.toml: another regex of the rule",
    }


def test_the_report_for_people_names_repositories_groups_and_secrets(upgraded: Ran) -> None:
    for title in ("### Real repositories", "### Differences by rule and cause", "### Secrets that differ"):
        assert title in upgraded.markdown


def test_no_value_is_in_any_report_nor_what_was_made_of_one(upgraded: Ran) -> None:
    files = [path.read_bytes() for path in upgraded.folder.rglob("*") if path.is_file()]
    everything = b"\n".join([upgraded.text.encode(), *files])
    values = [token(name) for name in ("same", "deploy", "encoded", "picture", "stopped", "allowed")]
    grams = {value[start : start + 8].encode() for value in values for start in range(4, len(value) - 7)}
    assert [gram for gram in grams if gram in everything] == []
    assert b"path_key" not in everything


# --- As in production


OWN = """\
[tool.gitleaks-eval.candidates.old]
version = "8.18.4"
config = "own"
own_baseline = "ci/known.json"
baseline = true
[tool.gitleaks-eval.candidates.new]
version = "8.30.1"
config = "own"
[tool.gitleaks-eval.candidates.fixed]
version = "8.30.1"
config = "builtin"
"""
OF_ONE_BUILD = """\
[tool.gitleaks-eval.candidates.fixed]
version = "8.30.1"
config = "builtin"
baseline = true
[tool.gitleaks-eval.candidates.own]
version = "8.30.1"
config = "own"
"""
SKIPPED = f"{EXTENDED}[allowlist]\npaths = ['''^skipped/''']\n"


@pytest.fixture(scope="module")
def governed(gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`own` has a configuration, an ignore list, comments and a baseline; the configuration of `broken` leads out."""
    folder = tmp_path_factory.mktemp("governed")
    own = folder / "own"
    (own / "ci").mkdir(parents=True)
    git(own, "init", "-q", "-b", "main")
    for name in ("plain", "listed", "known"):
        (own / f"{name}.env").write_text(f"TOKEN={token(name)}\n", encoding="ascii")
    (own / "commented.env").write_text(f"TOKEN={token('commented')} # gitleaks:allow\n", encoding="ascii")
    (own / "skipped").mkdir()
    (own / "skipped" / "a.env").write_text(f"TOKEN={token('skipped')}\n", encoding="ascii")
    (own / ".gitleaks.toml").write_text("[extend]\npath = 'ci/base.toml'\n", encoding="ascii")
    (own / "ci" / "base.toml").write_text(SKIPPED, encoding="ascii")
    (own / ".gitleaksignore").write_text("listed.env:github-pat:1\n", encoding="ascii")
    git(own, "add", ".")
    git(own, "commit", "-q", "-m", "one")
    report = folder / "known.json"
    command = [str(gitleaks(OLD)), "detect", f"--source={own}", f"--report-path={report}", "--exit-code=0"]
    subprocess.run(command, check=True, capture_output=True, cwd=own)
    known = [one for one in json.loads(report.read_bytes()) if one["File"] == "known.env"]
    (own / "ci" / "known.json").write_text(json.dumps(known), encoding="ascii")
    git(own, "add", ".")
    git(own, "commit", "-q", "-m", "two")
    broken = folder / "broken"
    broken.mkdir()
    git(broken, "init", "-q", "-b", "main")
    (broken / ".gitleaks.toml").write_text("[extend]\npath = '../../own/.gitleaks.toml'\n", encoding="ascii")
    git(broken, "add", ".")
    git(broken, "commit", "-q", "-m", "one")
    return folder


def compare_own(folder: Path, *repositories: Path) -> Ran:
    (folder / "pyproject.toml").write_text(OWN, encoding="ascii")
    named = (f"--gitleaks-real-repo={one}" for one in repositories)
    return evaluate(folder, "--gitleaks-compare", "--gitleaks-only=repos", *named)


def test_each_repository_is_compared_as_production_scans_it_and_raw(governed: Path, tmp_path: Path) -> None:
    ran = compare_own(tmp_path, governed / "own")
    (mine,) = ran.pairs["new"]["real"]
    files = {kind: {row["file_path"]: row["cause"] for row in mine[kind]} for kind in KINDS}
    production = {row["file_path"]: row["cause"] for row in mine["production"]["new"]}
    assert (files["lost"], files["new"]) == ({}, {})
    assert production == {"known.env": "the repository's own suppressions hide it with old"}
    assert ran.verdicts == {"new": "REVIEW", "fixed": "REVIEW"}
    (fixed,) = ran.pairs["fixed"]["real"]
    hidden = "hidden by ci/base.toml [allowlist] paths[0]"
    assert {row["file_path"]: row["cause"] for row in fixed["new"]} == {"skipped/a.env": hidden}
    assert {row["file_path"] for row in fixed["production"]["new"]} >= {"known.env", "skipped/a.env"}
    assert "in production: " in ran.text
    report = json.loads((ran.folder / "gitleaks-eval-results/old/evaluation_report.json").read_bytes())
    (repository,) = report["real_world"]["repositories"]
    entries = [one for one in repository["suppressions"] if one["kind"] == "baseline-entry"]
    assert [(one["file_path"], one["hides"], one["note"]) for one in entries] == [("ci/known.json", 1, "")]


def test_a_repository_that_fails_for_one_candidate_makes_its_pair_incomplete(governed: Path, tmp_path: Path) -> None:
    ran = compare_own(tmp_path, governed / "broken")
    assert ran.verdicts == {"new": "INCOMPLETE", "fixed": "INCOMPLETE"}
    assert ran.status == 1
    assert "[extend] path '../../own/.gitleaks.toml' leads out of the commit" in ran.line("INCOMPLETE  fixed")
    assert str(governed.parent) not in ran.line("INCOMPLETE  fixed")


def test_what_a_repository_of_ones_own_hides_is_approved_until_its_configuration_changes(
    gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    """An entry that was looked at says nothing of what stands in its place later."""
    gitleaks(NEW)
    shop = tmp_path / "shop"
    shop.mkdir()
    git(shop, "init", "-q", "-b", "main")
    for name in ("a", "b"):
        (shop / f"{name}.env").write_text(f"TOKEN={token(name)}\n", encoding="ascii")
    verdicts: list[dict[str, str]] = []
    (tmp_path / "pyproject.toml").write_text(OF_ONE_BUILD, encoding="ascii")
    options = ("--gitleaks-compare", "--gitleaks-only=repos", f"--gitleaks-real-repo={shop}")
    for hidden in ("^a", "^[ab]"):
        (shop / ".gitleaks.toml").write_text(f"{EXTENDED}[allowlist]\npaths = ['{hidden}']\n", encoding="ascii")
        git(shop, "add", ".")
        git(shop, "commit", "-q", "-m", hidden)
        if not verdicts:
            accepted = run(tmp_path, "--gitleaks-accept", "--gitleaks-yes", *options, CI="")
            assert "accepted 1 in .gitleaks-eval.yaml" in accepted.text
        ran = evaluate(tmp_path, *options)
        verdicts.append(ran.verdicts)
        assert "hidden by .gitleaks.toml [allowlist] paths[0]" in ran.text
    assert verdicts == [{"own": "SAFE"}, {"own": "REVIEW"}]
