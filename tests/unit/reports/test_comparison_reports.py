"""A comparison as JSON, as Markdown and in the terminal."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from builders import finding

from gitleaks_eval.analysis.matching import Matching, match_findings
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.core.text import markdown
from gitleaks_eval.reports.comparison.compared import LISTED_AT_MOST, Compared, comparison_json, comparison_markdown
from gitleaks_eval.reports.comparison.real_differences import group_text, real_lines
from gitleaks_eval.reports.terminal.comparison import LINES_AT_MOST, comparison_lines
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding
from gitleaks_eval.scoring.comparison import Pair, compare, neighbours
from gitleaks_eval.scoring.evaluated import CheckKey, Evaluated
from gitleaks_eval.scoring.real_differences import LOST, Change, Real, RealComparison, RealFinding, folded

Place = tuple[str, str, int]
WANTED: list[Place] = [(f"{name}.py", "github-pat", 5) for name in "abcdef"]
HOSTILE = "a|b`<b>\x1b[31m\u202e\n# x\udce9.py"


def matched(wanted: Sequence[Place], actual: Sequence[Place], total: int | None = None) -> Matching:
    findings = tuple(ExpectedFinding(path, rule, line) for path, rule, line in wanted)
    expected = Expected(len(findings) if total is None else total, 0, 0, 0, 0, 0, findings=findings)
    return match_findings(expected, [finding(path, line, rule) for path, rule, line in actual])


def evaluated(name: str, matching: Matching, outcome: str = "passed") -> Evaluated:
    scanner = {"name": "gitleaks", "version": name, "sha256": "a" * 64, "config": "strict.toml"}
    outcomes = {CheckKey("SA-1", "one"): outcome}
    return Evaluated(
        name, {"one": matching}, outcomes, scanner, "c" * 64, 0.96, "STRONG_PASS", "FAIL", has_errors=False
    )


def compared(
    wanted: Sequence[Place], before: Sequence[Place], after: Sequence[Place]
) -> tuple[list[Evaluated], list[Pair]]:
    old = replace(evaluated("8.18.4", matched(wanted, before)), scan_ms=200.0, scan_ms_spread=(190.0, 230.0))
    new = replace(evaluated("8.30.1", matched(wanted, after), "failed"), scan_ms=300.0)
    return [old, new], [compare(old, new)]


EVERYTHING = compared(
    [*WANTED, ("s.py", "slack-bot-token", 5)],
    [*WANTED[:4], ("old.py", "jwt", 1), ("s.py", "slack-bot-token", 5)],
    [*WANTED[:2], ("c.py", "github-pat", 6), *WANTED[4:], ("new.py", "jwt", 1), ("s.py", "slack-access-token", 5)],
)


def as_json(candidates: list[Evaluated], pairs: list[Pair]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(comparison_json(Compared(candidates, pairs)))
    assert schema_problems("comparison", document) == []
    return document


def test_the_json_follows_its_schema_and_holds_every_kind_of_difference() -> None:
    document = as_json(*EVERYTHING)
    (pair,) = document["pairs"]
    kinds = {name: len(pair[name]) for name in ("lost", "gained", "new", "gone", "moved", "relabelled")}
    assert kinds == {"lost": 1, "gained": 2, "new": 1, "gone": 1, "moved": 1, "relabelled": 1}
    assert (pair["baseline"], pair["candidate"], pair["verdict"]) == ("8.18.4", "8.30.1", "REGRESSION")
    assert pair["lost"] == [
        {
            "scenario": "one", "file_path": "d.py", "line_number": 5, "rule_id": "github-pat",
            "candidate_line_number": None, "candidate_rule_id": None, "severity": "HIGH", "candidate_severity": None,
            "baseline_line_number": 5, "baseline_rule_id": "github-pat", "hidden_by": None,
        }
    ]  # fmt: skip
    assert pair["checks_worse"] == [
        {"check_id": "SA-1", "scenario": "one", "outcome": "passed", "candidate_outcome": "failed"}
    ]
    assert pair["time_ratio"] == 1.5


def test_a_candidate_is_a_row_of_figures() -> None:
    old, new = as_json(*EVERYTHING)["candidates"]
    assert (old["scanner"], old["version"], old["config"], old["score"]) == ("gitleaks", "8.18.4", "strict.toml", 0.96)
    assert (old["tp"], old["fp"], old["fn"], old["scan_ms"], old["scan_ms_spread"]) == (5, 1, 2, 200.0, [190.0, 230.0])
    assert (new["tp"], new["fp"], new["fn"]) == (4, 3, 3)
    assert (old["precision"], old["recall"]) == (pytest.approx(5 / 6), pytest.approx(5 / 7))


def test_no_difference_is_empty_lists_and_a_reason() -> None:
    (pair,) = as_json(*compared(WANTED, WANTED, WANTED[::-1]))["pairs"]
    assert pair["lost"] == pair["moved"] == []
    assert pair["reasons"]


@pytest.mark.parametrize(
    "hidden", ["hidden by strict.toml [allowlist] paths[0]", "no entry of the configuration hides it"]
)
def test_what_hides_a_lost_finding_is_said_as_it_is(hidden: str) -> None:
    candidates, pairs = EVERYTHING
    why = {("8.30.1", "one", "d.py", 5, "github-pat"): hidden}
    lines = comparison_markdown(Compared(candidates, pairs, why)).decode().splitlines()
    assert markdown(f"d.py:5 (github-pat): {hidden}.") in lines


def test_findings_that_are_only_counted_have_no_place() -> None:
    old, new = (evaluated(name, matched([], WANTED[:count], total=3)) for name, count in (("o", 3), ("n", 2)))
    pairs = [compare(old, new)]
    (lost,) = as_json([old, new], pairs)["pairs"][0]["lost"]
    assert (lost["file_path"], lost["line_number"], lost["rule_id"]) == ("", None, "")
    assert (
        comparison_lines(Compared([old, new], pairs))[-1] == "LOST  one  (by count: its ground truth lists no findings)"
    )


def test_failures_of_the_survey_are_named_where_the_comparison_is_safe_and_only_there() -> None:
    failures = tuple(f"entry  strict.toml:{line}: hides 153 places" for line in range(5))
    for after, named in ((WANTED, True), (WANTED[1:], False)):
        old, new = (
            replace(evaluated(name, matched(WANTED, found)), survey_failures=failures)
            for name, found in (("old", WANTED), ("new", after))
        )
        pair = compare(old, new)
        text = "\n".join(comparison_lines(Compared([old, new], [pair])))
        assert pair.verdict == ("SAFE" if named else "REGRESSION")
        for candidate in ("old", "new"):
            assert (f"FAIL  {candidate}: {', '.join(failures[:3])}, 2 more" in text) == named


def test_the_terminal_shows_a_row_a_candidate_the_verdict_and_each_lost_finding() -> None:
    lines = comparison_lines(Compared(*EVERYTHING))
    assert lines[:3] == [
        "candidate  score  decision  P     R     F1    lost  new  ms",
        "8.18.4     4.80   FAIL      0.83  0.71  0.77  -     -    200",
        "8.30.1     4.80   FAIL      0.57  0.57  0.57  1     1    300",
    ]
    assert lines[3:5] == [
        "FAIL  8.18.4: 2 MISSED, 1 unexpected",
        "FAIL  8.30.1: 1 MISSED, 1 moved, 1 relabelled, 1 unexpected",
    ]
    assert lines[5].startswith("REGRESSION  8.30.1 against 8.18.4: 1 lost in one; ")
    assert lines[6:] == ["LOST  one  d.py:5  github-pat  HIGH"]


def test_the_markdown_shows_each_kind_of_difference_and_the_error_book() -> None:
    lines = comparison_markdown(Compared(*EVERYTHING)).decode().splitlines()
    assert "## REGRESSION: 8.30.1 against 8.18.4" in lines
    for title in ("Lost", "New", "Moved", "Relabelled", "Gained", "Gone", "Checks"):
        assert f"### {title}" in lines
    assert "| one | d.py:5 | github-pat | HIGH | - |" in lines
    assert "| one | c.py:5 | github-pat | HIGH | HIGH, line 6 |" in lines
    assert "| one | s.py:5 | slack-bot-token | HIGH | HIGH, slack-access-token, the same rule, renamed |" in lines
    book = lines[lines.index("### Error book of 8.30.1") :]
    assert "| github-pat | 1 | one: d.py:5 | 0 |  |" in book
    assert "| jwt | 0 |  | 1 | one: new.py:1 |" in book
    assert "- a scan of the canary, a small repository, takes 1.50 times as long" in lines


def test_a_hostile_name_is_shown_and_never_obeyed() -> None:
    candidates, pairs = compared([(HOSTILE, HOSTILE, 5)], [(HOSTILE, HOSTILE, 5)], [(HOSTILE, "x", 1)])
    renamed = [replace(one, name=f"{one.name}{HOSTILE}") for one in candidates]
    pairs = [compare(renamed[0], renamed[1])]
    text = comparison_markdown(Compared(renamed, pairs)).decode()
    for bad in ("<b>", "\x1b", "\u202e", "\n# x", "a|b"):
        assert bad not in text
    columns = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("| one |")}
    assert columns == {6}
    for line in comparison_lines(Compared(renamed, pairs)):
        assert line.isprintable()
    document = as_json(renamed, pairs)
    assert document["pairs"][0]["lost"][0]["file_path"] == HOSTILE.replace("\udce9", "\\udce9")


def test_long_lists_are_cut_for_people_and_not_for_programs() -> None:
    wanted = [(f"{number:03}.py", "jwt", 1) for number in range(LISTED_AT_MOST + 7)]
    candidates, pairs = compared(wanted, wanted, [])
    lines = comparison_lines(Compared(candidates, pairs))
    listed = sum(line.startswith("LOST  one") for line in lines)
    assert len(lines) == LINES_AT_MOST
    assert lines[-1] == f"LOST  and {len(wanted) - listed} more; see comparison.md"
    text = comparison_markdown(Compared(candidates, pairs)).decode()
    assert text.count("\n| one | 0") + text.count("\n| one | 1") == LISTED_AT_MOST
    assert "\n7 more.\n" in text
    assert "and 202 more" in text
    assert len(as_json(candidates, pairs)["pairs"][0]["lost"]) == len(wanted)


def test_unknown_scan_times_and_decisions_are_shown_as_that() -> None:
    candidates = [replace(evaluated("a", matched(WANTED, WANTED)), decision=None, guarded_decision=None)]
    assert comparison_lines(Compared(candidates, []))[1].split() == [
        "a",
        "4.80",
        "-",
        "1.00",
        "1.00",
        "1.00",
        "-",
        "-",
        "-",
    ]
    assert "none: partial" in comparison_markdown(Compared(candidates, [])).decode()
    assert as_json(candidates, [])["candidates"][0]["scan_ms"] is None


def test_a_candidate_that_is_no_better_says_why_and_what_its_baseline_excuses() -> None:
    candidates = [evaluated(name, matched(WANTED, WANTED[1:])) for name in ("8.18.4", "8.30.1")]
    first, second, verdict = comparison_lines(Compared(candidates, [compare(candidates[0], candidates[1])]))[3:]
    assert first == "FAIL  8.18.4: 1 MISSED"
    assert second == "FAIL  8.30.1: 1 MISSED; excused, as in 8.18.4"
    assert verdict.startswith("SAFE  8.30.1 against 8.18.4: ")
    faulty = replace(candidates[0], guarded_decision="WEAK_PASS", lint={"CL-1": frozenset({"x"}), "CL-2": frozenset()})
    assert comparison_lines(Compared([faulty], []))[2:] == ["WEAK_PASS  8.18.4: 1 MISSED, CL-1 fails"]
    good = [replace(one, guarded_decision="STRONG_PASS") for one in candidates]
    assert comparison_lines(Compared(good, []))[3:] == []


# --- many candidates, and corpora


def three() -> Compared:
    """Three candidates, of which the last loses what the one before it gained."""
    found: list[Sequence[Place]] = [WANTED[:4], WANTED, [*WANTED[:4], ("x.py", "jwt", 1)]]
    sides = [evaluated(name, matched(WANTED, places)) for name, places in zip("abc", found, strict=True)]
    pairs = [*(compare(sides[0], side) for side in sides[1:]), *neighbours(sides[1:])]
    return Compared(sides, pairs, folders={"a": "a", "b": "b", "c": "c-folder"})


def test_each_candidate_is_held_against_the_one_before_it_and_that_pair_says_what_it_is() -> None:
    document = json.loads(comparison_json(three()))
    assert schema_problems("comparison", document) == []
    pairs = [(one["candidate"], one["baseline"], one["verdict"], one["neighbour"]) for one in document["pairs"]]
    assert pairs == [("b", "a", "SAFE", False), ("c", "a", "REVIEW", False), ("c", "b", "REGRESSION", True)]
    assert [pair.verdict for pair in three().deciding] == ["SAFE", "REVIEW"]


def test_neighbours_are_shown_below_the_verdicts_and_are_none() -> None:
    lines = comparison_lines(three())
    shown = [line.split()[0] for line in lines if not line.startswith("FAIL ")]
    assert shown == ["candidate", "a", "b", "c", "SAFE", "REVIEW", "neighbours"]
    assert lines[-1].startswith("neighbours  c against b: 2 lost in one; 1 new in one")
    assert lines[3].split()[-3:-1] == ["0", "1"]
    text = comparison_markdown(three()).decode()
    assert "## Neighbours: c against b\n\n- REGRESSION between the two; it has no share in the exit status\n" in text


def test_the_folder_of_each_candidate_is_named() -> None:
    document = json.loads(comparison_json(three()))
    assert [one["folder"] for one in document["candidates"]] == ["a", "b", "c-folder"]
    assert as_json(*EVERYTHING)["candidates"][0]["folder"] is None


def test_rules_and_candidates_are_a_table() -> None:
    lines = comparison_markdown(three()).decode().splitlines()
    table = lines[lines.index("### Rules") + 2 :][:4]
    assert table == [
        "| Rule | a | b | c |",
        "|---|---|---|---|",
        "| github-pat | 4 of 6 | 6 of 6 | 4 of 6 |",
        "| jwt | - | - | 1 wrong |",
    ]
    by_rule = [one["by_rule"] for one in json.loads(comparison_json(three()))["candidates"]]
    assert [(one["github-pat"]["tp"], one["github-pat"]["fn"]) for one in by_rule] == [(4, 2), (6, 0), (4, 2)]


def test_corpora_have_figures_of_their_own_that_are_never_mixed_with_planted_ones() -> None:
    expected = Expected(1, 0, 0, 0, 0, 0, findings=(ExpectedFinding("l.py", "jwt", 5),))
    reported = [finding("l.py", 5, "jwt"), finding("no.py", 1, "jwt"), finding("who.py", 1, "jwt")]
    corpus = match_findings(expected, reported, clean={("no.py", 1, "jwt")})
    sides = [
        replace(evaluated(name, matched(WANTED, WANTED)), matchings={"one": matched(WANTED, WANTED), "ours": corpus})
        for name in "ab"
    ]
    sides = [replace(one, corpora=frozenset({"ours"})) for one in sides]
    compared = Compared(sides, [compare(sides[0], sides[1])], only=("scenarios", "corpora"))
    document = json.loads(comparison_json(compared))
    assert schema_problems("comparison", document) == []
    assert document["only"] == ["scenarios", "corpora"]
    for one in document["candidates"]:
        assert (one["tp"], one["fp"], one["fn"], one["precision"]) == (6, 0, 0, 1)
        ours = one["corpora"]["ours"]
        assert (ours["tp"], ours["fp"], ours["fn"], ours["unlabelled"], ours["precision"]) == (1, 1, 0, 1, 0.5)
    lines = comparison_lines(compared)
    assert lines[1].split()[3:6] == ["1.00", "1.00", "1.00"]
    assert lines[3] == "corpus  ours  a  P n/a (n=2), R n/a (n=1), F1 n/a (n=2); 1 wrong, 1 unlabelled"
    text = comparison_markdown(compared).decode()
    assert "| ours | b | n/a (n=2) | n/a (n=1) | n/a (n=2) | 1 | 0 | 1 | 1 |" in text
    assert "### Rules in corpora\n\n| Rule | a | b |\n|---|---|---|\n| jwt | 1 of 1, 1 wrong, 1 unlabelled |" in text
    assert "Only scenarios, corpora: nothing else was evaluated." in text
    book = text[text.index("### Error book of a") :].splitlines()
    assert "| jwt | 0 |  | 1 | ours: no.py:1 |" in book


@pytest.mark.parametrize(
    ("times", "peaks", "said"),
    [
        (None, None, "0 the same, 1 lost"),
        ((10.0, 20.0), None, "0 the same, 1 lost; scans 10 -> 20 ms"),
        ((10.0, 20.0), (1024, 4096), "0 the same, 1 lost; scans 10 -> 20 ms, 1 -> 4 MiB"),
    ],
)
def test_what_scans_of_real_repositories_take_is_shown_where_it_is_known(
    times: tuple[float, float] | None, peaks: tuple[int | None, int | None] | None, said: str
) -> None:
    finding = RealFinding("c1", "a.env", "a", 3, "github-pat", "v1", "HIGH", in_head=True)
    one = RealComparison("repo", "c1", 0, folded([Change(LOST, finding, None)], {}), times, peaks)
    assert next(real_lines(Real((one,)))) == f"real  repo  {said}"


def test_what_differs_in_many_rules_is_read_in_a_line_a_cause() -> None:
    findings = [
        RealFinding("c1", "a.env", "a", line, f"rule-{line:02}", f"v{line}", "HIGH", True) for line in range(30)
    ]
    lost = [Change(LOST, one, None) for one in findings]
    causes = {**dict.fromkeys(lost[:20], "does not decode"), **dict.fromkeys(lost[20:], "no such rule")}
    real = Real((RealComparison("repo", "c1", 0, folded(lost, causes)),))
    assert list(real_lines(real))[1:] == [
        "  20 lost, 20 in HEAD  20 rules (rule-00, rule-01, rule-02, …)  does not decode  in repo",
        "  10 lost, 10 in HEAD  10 rules (rule-20, rule-21, rule-22, …)  no such rule  in repo",
    ]
    (first, *others) = real.groups()
    approved = list(real_lines(replace(real, approved={first: "as meant"})))
    assert [line for line in approved if line.endswith("(approved)")] == [f"  {group_text(first)} (approved)"]
    assert sum(int(line.split()[0]) for line in approved[1:]) == 1 + len(others)
