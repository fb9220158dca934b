"""Flags of the scanner that make it look at less: what a run says of them, and what it decides."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ran import RESULTS, Ran, run

PLACES = "--gitleaks-only=places,entries"
VERSION = "--gitleaks-version=8.30.1"


@pytest.fixture(scope="module")
def flagged(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ran]:
    """A run with these flags, about places and entries."""
    made: dict[str, Ran] = {}

    def ask(flags: str) -> Ran:
        if flags not in made:
            folder = tmp_path_factory.mktemp("flagged")
            made[flags] = run(folder, "--gitleaks-eval", "-q", PLACES, VERSION, f"--gitleaks-args={flags}")
        return made[flags]

    return ask


def rows(ran: Ran) -> dict[str, Any]:
    return {row["entry"]: row for row in ran.json()["coverage"]["entries"]}


def first_word(ran: Ran) -> str:
    lines = ran.text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("=") and " gitleaks-eval " in line)
    return lines[start + 1].partition("  ")[0]


@pytest.mark.parametrize(
    ("flags", "named", "decision"),
    [
        # Without --all they do not look at other branches: more than a quarter of what stands in git alone.
        ("--log-opts=--no-merges", "--log-opts=--no-merges", "FAIL"),
        ("--log-opts=--first-parent", "--log-opts=--first-parent", "FAIL"),
        ("--log-opts=--max-count=200", "--log-opts=--max-count=200", "FAIL"),
        ("--log-opts=--since=2026-06-01", "--log-opts=--since=2026-06-01", "FAIL"),
        ("'--log-opts=--all --author=example'", "--log-opts=--author=example", "PASS"),
        ("--max-decode-depth=0", "--max-decode-depth=0", "PASS"),
    ],
)
def test_a_flag_that_hides_places_is_named_with_its_own_words_and_its_count(
    flags: str, named: str, decision: str, flagged: Callable[[str], Ran]
) -> None:
    ran = flagged(flags)
    row = rows(ran)[named]
    assert (row["kind"], row["file"], row["status"]) == ("flag", "--args", "live")
    assert row["hides_places"] > 0
    assert first_word(ran) == decision
    assert f"({row['hides_places']} hidden by {named}" in ran.text
    if decision == "PASS":
        assert f"look at 1 entry that may hide secrets ({named})" in ran.text
    else:
        (line,) = (line for line in ran.text.splitlines() if line.startswith(f"FAILED  entry  {named} hides "))
        assert line.endswith(" git places")


def test_a_flag_that_hides_more_than_a_quarter_of_the_places_fails(flagged: Callable[[str], Ran]) -> None:
    ran = flagged("'--log-opts=--all -- . :(exclude)src'")
    assert ran.status == 1
    assert first_word(ran) == "FAIL"
    hides = rows(ran)["--log-opts=-- . :(exclude)src"]["hides_places"]
    assert rows(ran)["--log-opts=--all"]["hides_places"] == 0
    assert "FAILED  entry  --log-opts=-- . :(exclude)src hides " in ran.text
    assert hides > 50


def test_of_several_flags_each_is_named_with_what_it_hides(flagged: Callable[[str], Ran]) -> None:
    ran = flagged("--max-decode-depth=0 --log-opts=--first-parent")
    alone = {name: rows(flagged(name))[name]["hides_places"] for name in rows(ran)}
    assert {name: row["hides_places"] for name, row in rows(ran).items()} == alone
    assert len(alone) == 2


@pytest.mark.parametrize("flags", ["-i=ignored", "--max-target-megabytes=1"])
def test_what_nothing_planted_can_show_is_said_and_is_no_strong_pass(flags: str, flagged: Callable[[str], Ran]) -> None:
    ran = flagged(flags)
    [row] = [row for row in rows(ran).values() if row["status"] == "no_witness"]
    assert row["why"]
    assert first_word(ran) == "PASS"
    assert f"look at 1 entry that may hide secrets ({row['entry']})" in ran.text
    assert f"HIDES  {row['entry']} not measured: {row['why']}" in ran.text


def test_a_time_limit_of_the_scanner_is_named_and_a_weak_pass_at_best(flagged: Callable[[str], Ran]) -> None:
    ran = flagged("--timeout=1000")
    assert first_word(ran) == "WEAK_PASS"
    assert "--timeout=1000 ends a scan early, and what it cuts off is not measured" in ran.text


def test_flags_that_hide_nothing_leave_a_strong_pass(flagged: Callable[[str], Ran]) -> None:
    ran = flagged("'--log-opts=--all --full-history' --no-color")
    assert first_word(ran) == "STRONG_PASS"


def test_a_flag_that_hides_all_that_is_planted_is_named_where_the_canary_is_not_found(tmp_path: Path) -> None:
    ran = run(tmp_path, "--gitleaks-eval", "-q", VERSION, "--gitleaks-args=--log-opts=-Sfoo")
    assert ran.status != 0
    assert "planted secrets with --log-opts=-Sfoo; leave out the flag that hides them" in ran.text


def test_no_rule_is_silent_for_paths_that_a_flag_leaves_out(tmp_path: Path) -> None:
    flags = "--gitleaks-args='--log-opts=--all -- :(exclude)*.yml :(exclude)*.yaml'"
    ran = run(tmp_path, "--gitleaks-eval", "-q", "--gitleaks-only=rules,places,entries", VERSION, flags)
    assert "tested: 222 of 222 rules" in ran.text
    assert "hidden by --log-opts=-- :(exclude)*.yml :(exclude)*.yaml" in ran.text
    assert first_word(ran) == "PASS"


def test_a_flag_is_accepted_like_any_other_entry(tmp_path: Path) -> None:
    flags = "--gitleaks-args=--log-opts=--first-parent"
    assert run(tmp_path, "--gitleaks-accept", "--gitleaks-yes", VERSION, flags, CI="").status == 0
    written = (tmp_path / ".gitleaks-eval.yaml").read_text(encoding="utf-8")
    assert "entry: '--log-opts=--first-parent'" in written
    ran = run(tmp_path, "--gitleaks-eval", "-q", PLACES, VERSION, flags)
    assert [row["status"] for row in rows(ran).values()] == ["accepted"]
    assert "accepted, hidden by --log-opts=--first-parent" in ran.text


def test_beside_a_configuration_flags_and_entries_are_told_apart_in_all_reports(tmp_path: Path) -> None:
    text = "[extend]\nuseDefault = true\n[allowlist]\npaths = ['^places/b']\n"
    (tmp_path / ".gitleaks.toml").write_text(text, encoding="utf-8")
    flags = "--gitleaks-args=--max-decode-depth=0"
    ran = run(tmp_path, "--gitleaks-eval", "-q", PLACES, VERSION, flags)
    assert ran.status == 0, ran.text
    assert {row["entry"]: row["status"] for row in rows(ran).values()} == {
        "^places/b": "live",
        "--max-decode-depth=0": "live",
    }
    assert "look at 2 entries that may hide secrets (.gitleaks.toml:4, --max-decode-depth=0)" in ran.text
    assert "--max-decode-depth=0 hides" in (ran.folder / RESULTS / "configuration.sarif").read_text("utf-8")


def test_a_flag_is_measured_in_the_mode_of_its_candidate(tmp_path: Path) -> None:
    table = '[tool.gitleaks-eval.candidates.{}]\nversion = "8.30.1"\nmode = "dir"\n'
    tables = table.format("base") + table.format("flagged") + "args = '--max-decode-depth=0'\n"
    (tmp_path / "pyproject.toml").write_text(tables, encoding="utf-8")
    ran = run(tmp_path, "--gitleaks-eval", "-q", PLACES, "--gitleaks-compare")
    [row] = ran.json("flagged/evaluation_report.json")["coverage"]["entries"]
    assert (row["entry"], row["status"]) == ("--max-decode-depth=0", "live")
    assert row["hides_places"] > 0
    assert ran.json("base/evaluation_report.json")["coverage"]["entries"] == []
