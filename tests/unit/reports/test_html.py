"""report.html: what it says, that it asks nobody for anything, and that no text of a repository becomes markup."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from pages import comparison, documents, evaluation

from gitleaks_eval.judges.pairwise.panel import ORDERS, agreed
from gitleaks_eval.judges.pairwise.verdict import Order
from gitleaks_eval.judges.verdict import Verdict
from gitleaks_eval.reports.html.comparison import rule_rows
from gitleaks_eval.reports.html.first_screen import next_action, tiles, verdict, why
from gitleaks_eval.reports.html.groups import Group, command
from gitleaks_eval.reports.html.pages import comparison_page, run_page, trend_page
from gitleaks_eval.reports.html.views import problems, rate, regions

MIB = 1 << 20
# A browser opens ten times as many in three seconds.
ELEMENTS_AT_MOST = 20_000
VOID = {"meta", "link", "br", "input"}


class Read(HTMLParser):
    """A page as a browser reads it: its elements with their attributes, its text, and what is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"style", "script"}:
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())

    def all(self, tag: str) -> Iterator[dict[str, str]]:
        return (attributes for name, attributes in self.elements if name == tag)


def page_of(document: dict[str, Any]) -> str:
    return b"".join(run_page(document)).decode()


def compared_page(compared: dict[str, Any], reports: dict[str, Any]) -> str:
    return b"".join(comparison_page(compared, reports)).decode()


def pages() -> list[str]:
    compared, reports = comparison()
    return [
        page_of(evaluation()),
        compared_page(compared, reports),
        b"".join(trend_page(documents())).decode(),
    ]


@pytest.mark.parametrize("index", range(3))
def test_a_page_asks_nobody_for_anything_and_its_own_policy_forbids_it(index: int) -> None:
    page = pages()[index]
    read = Read(page)
    assert not read.open
    (policy,) = (one["content"] for one in read.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    for _, attributes in read.elements:
        assert not attributes.keys() & {"src", "style", "onclick", "onload", "srcset", "data"}
        assert attributes.get("href", "#").startswith("#")


def test_the_first_screen_has_the_verdict_what_was_tested_and_one_next_action() -> None:
    text = Read(page_of(evaluation())).text
    start = text.index("FAIL")
    first = text[start : text.index("Under test")]
    assert "1 of 2 planted secrets found" in first
    assert "1 of 3 rules fire 1 switched off" in first
    assert "1 of 2 places seen" in first
    assert first.count("Next:") == 1
    assert text.index("Documented score") > text.index("What is wrong")


@pytest.mark.parametrize(
    "hostile",
    [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onmouseover="x',
        "\u202egnp.exe",
        "\x1b[31m",
    ],
)
@pytest.mark.parametrize("where", ["path", "rule", "entry", "place", "scenario", "reason", "repository"])
def test_no_text_of_a_repository_becomes_markup_or_turns_a_line_around(hostile: str, where: str) -> None:
    plain, named = Read(page_of(evaluation())), page_of(evaluation(**{where: hostile}))  # type: ignore[arg-type]  # its texts are named by the parameter
    read = Read(named)
    assert {tag for tag, _ in read.elements} == {tag for tag, _ in plain.elements}
    assert len(list(read.all("script"))) == 1
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]
    assert "\u202e" not in named
    assert "\x1b" not in named


def test_each_problem_is_grouped_by_its_cause_with_the_command_that_asks_again() -> None:
    groups = problems(evaluation())
    title = "Missed: hidden by c.toml allowlists[0]"
    assert Group(title, 1, groups_of(groups, "Missed"), "c.toml:4 ^src/") in groups
    (place,) = groups_of(groups, "Places hidden by c.toml")
    assert place.command == "pytest --gitleaks-eval -k 'test_place[path:src/a.py]'"


def groups_of(groups: list[Group], start: str) -> Any:
    return next(group.items for group in groups if group.title.startswith(start))


def test_a_command_is_quoted_for_a_shell() -> None:
    asked = "pytest --gitleaks-eval -k 'test_x[a and b and rm and -rf and /]'"
    assert command("../site-packages/a.py::test_x[a b'; rm -rf /]") == asked


@pytest.mark.parametrize("name", ["path:src/@types/a.ts", "a b", "x and y", "rule-1", "é (1)", "$(touch it)", "a=b"])
def test_a_command_of_a_page_runs_the_test_that_it_stands_beside(pytester: pytest.Pytester, name: str) -> None:
    pytester.makepyfile(
        f"import pytest\n@pytest.mark.parametrize('x', [1], ids=[{name!r}])\ndef test_it(x): pass\n"
        "def test_other(): pass\n"
    )
    # Only pytest itself is asked: the option of ours would begin an evaluation.
    line = command(f"elsewhere/test_that.py::test_it[{name}]").replace(
        "pytest --gitleaks-eval", f"{sys.executable} -mpytest"
    )
    ended = subprocess.run(line, shell=True, cwd=pytester.path, capture_output=True, text=True, check=False)  # noqa: S602 - a page has it for a shell
    assert "1 passed, 1 deselected" in ended.stdout, ended.stdout + ended.stderr


def test_of_few_secrets_no_rate_is_said() -> None:
    few = {"tp": 3, "fp": 0, "fn": 1, "recall": 0.75, "precision": 1.0, "intervals": {"recall": [0.3, 0.95]}}
    assert rate(few, "recall", "fn") == "3 of 4"
    assert rate({**few, "tp": 9, "recall": 0.9}, "recall", "fn") == "0.90 (0.30 to 0.95)"
    assert rate(None, "recall", "fn") == ""


@pytest.mark.parametrize("about", [why, next_action])
def test_a_clean_run_says_so_and_what_to_do_next(about: Callable[[dict[str, Any]], str]) -> None:
    clean = evaluation(clean=True)
    assert all(tile.is_whole for tile in tiles(clean))
    assert about(clean) in {
        "All that was planted is found, and nothing that was asked is hidden.",
        "Keep this run as a baseline (--gitleaks-save-baseline), and compare the next upgrade with it.",
    }


def test_a_comparison_says_what_changes_by_cause() -> None:
    compared, reports = comparison()
    text = Read(compared_page(compared, reports)).text
    assert text.index("REGRESSION") < text.index("Candidates")
    assert "1 Lost: hidden by c.toml allowlists[0]" in text
    assert "src/ 1 of 1 0 of 1" in text


def test_a_comparison_shows_each_figure_with_its_difference_and_none_for_too_few_secrets() -> None:
    compared, reports = comparison()
    text = Read(compared_page(compared, reports)).text
    assert "planted secrets found 2 of 2 1 of 2 -1" in text
    assert "recall 1.00 0.90 -0.10" in text
    assert "10 ms (9 to 12) 10 ms (9 to 12) within noise" in text
    compared["candidates"][1] |= {"tp": 3, "fn": 1, "recall": 0.75}
    text = Read(compared_page(compared, reports)).text
    assert "recall 1.00 too few to say (n=4)" in text


def test_what_accepted_entries_alone_cause_is_accepted_and_not_wrong() -> None:
    document = evaluation(clean=True)
    document["summary"]["findings"] |= {"expected": 2, "detected": 1, "accepted": 1}
    document["findings"][0] |= {"status": "missed", "accepted": True}
    document["results"][0] |= {"outcome": "failed", "excused": "accepted: c.toml:4"}
    text = Read(page_of(document)).text
    assert "What is wrong Nothing." in text
    assert "1 of 2 planted secrets not found for accepted entries." in text
    assert "1 accepted: c.toml:4" in text
    assert all(tile.is_whole for tile in tiles(document))


@pytest.mark.parametrize("kind", ["entry", "entries", "test", "acceptance"])
def test_a_failed_test_of_entries_or_of_own_rules_is_wrong_though_all_secrets_are_found(kind: str) -> None:
    document = evaluation(clean=True)
    failed = {"check_id": kind, "name": "c.toml:4", "message": "hides too much", "outcome": "failed", "nodeid": "a::b"}
    document["survey_failures"] = [failed]
    assert [group.items[0].text for group in problems(document)] == ["hides too much"]
    assert "What is wrong Nothing." not in Read(page_of(document)).text


def test_an_entry_is_quoted_with_its_line_and_never_another_one_of_that_line() -> None:
    document = evaluation()
    document["entry_lines"]["c.toml ^src/"] = "c.toml:4"
    quoted = {group.title: group.quoted for group in problems(document)}
    assert quoted["Places hidden by c.toml ^src/"] == "c.toml:4 ^src/"
    (entry,) = document["coverage"]["entries"]
    document["coverage"]["entries"] = [entry, {**entry, "entry": "^other/"}]
    quoted = {group.title: group.quoted for group in problems(document)}
    assert quoted["Places hidden by c.toml ^src/"] == quoted["Missed: hidden by c.toml allowlists[0]"] == "c.toml:4"


def test_the_page_says_the_same_next_step_as_the_terminal_and_why_it_is_no_better() -> None:
    document = evaluation(clean=True)
    document["summary"]["guarded_decision"] = "PASS"
    document["coverage"]["entries"][0]["status"] = "live"
    document["next"] = ["look at 1 entry that may hide secrets (c.toml:4): `gitleaks-eval accept`"]
    assert why(document) == "1 entry hides what nobody has accepted (c.toml:4)."
    assert next_action(document).startswith("Look at 1 entry")


def test_a_place_that_is_never_scanned_is_not_shown_as_seen() -> None:
    document = evaluation(clean=True)
    row = {"family": "path", "case": "venv/a.py", "status": "not_scanned", "hidden_by": None}
    document["coverage"]["places"].append(row)
    (region,) = (one for one in regions(document) if one.name == "venv/")
    assert (region.heat, region.said) == ("none", "never scanned")


def test_a_run_without_a_ground_truth_has_no_decision_and_is_not_called_incomplete() -> None:
    document = evaluation(clean=True)
    document["summary"]["guarded_decision"] = None
    assert verdict(document) == "NO DECISION"
    assert verdict({**document, "incomplete": True}) == "INCOMPLETE"


def test_runs_are_shown_by_date() -> None:
    text = Read(b"".join(trend_page(list(reversed(documents())))).decode()).text
    assert text.startswith("STRONG_PASS: the latest of 3 runs, 2026-03-01")
    rows = text[text.index("Under test") :]
    assert rows.index("2026-03-01") < rows.index("2026-02-01") < rows.index("2026-01-01")
    assert "score (0 to 5) 5 4.9 2026-01-01 2026-03-01" in text


@pytest.mark.slow
def test_a_hundred_thousand_findings_and_39_000_checks_stay_below_15_megabytes_and_the_rest_is_counted() -> None:
    document = evaluation(findings=100_000, scenarios=1_100)
    page = page_of(document)
    assert len(page) < 15 * MIB
    text = Read(page).text
    assert "99800 more are in evaluation_report.json" in text
    assert "more scenarios are in evaluation_report.json, none of them with a failure" in text
    # What a browser has to lay out is what people wait for.
    assert page.count("<") < ELEMENTS_AT_MOST


@pytest.mark.slow
def test_each_of_very_many_causes_is_counted_and_the_page_stays_small() -> None:
    document = evaluation(findings=20_000)
    for number, row in enumerate(document["findings"]):
        row |= {"hidden_by": None, "rule_id": f"rule-{number % 1_000}"}
    page = page_of(document)
    assert page.count("<") < ELEMENTS_AT_MOST
    groups = problems(document)
    assert sum(group.count for group in groups) == len(groups_everywhere(document))
    # Beside them one rule, one place and one check fail.
    assert [group.title for group in groups if not group.items] == [f"of {1_003 - (len(groups) - 1)} more causes"]


def groups_everywhere(document: dict[str, Any]) -> list[Any]:
    rules = [row for row in document["coverage"]["rules"] if row["status"] == "never_fires"]
    places = [row for row in document["coverage"]["places"] if row["status"] == "allowlisted"]
    return [*document["findings"], *rules, *places, *(row for row in document["results"] if row["outcome"] == "failed")]


# --- judges


def order(name: str, **changes: Any) -> Order:
    said = {"confidence": 0.5, "reasoning": "A <b>key</b> is missed.", "sub_scores": {"secrets": 1}, **changes}
    return Order(name, 1, evidence_cited=("deploy/id_rsa",), unfounded_citations=("deploy/id_rsa",), **said)


def test_a_comparison_shows_what_the_judge_of_pairs_said_in_both_orders_and_that_it_decides_nothing() -> None:
    compared, reports = comparison()
    verdict = replace(
        agreed([order(name) for name in ORDERS]), mode="llm", model_requested="m", uncalibrated=True, heuristic_score=1
    )
    compared["pairs"][0]["judge"] = json.loads(json.dumps(verdict.as_json()))
    text = Read(compared_page(compared, reports)).text
    assert "What changed, and does it matter? (a judge, advisory)" in text
    assert (
        "the baseline is clearly better (m, confidence 0.50 (low: review it), heuristic 1 of 5, uncalibrated) "
        "The baseline shown first: 1. A <b>key</b> is missed. sub-scores: secrets 1 "
        "cites: deploy/id_rsa (NOT in the evidence) The candidate shown first: 1."
    ) in text


def test_a_judge_stands_in_the_page_with_what_is_to_be_known_beside_its_score() -> None:
    document = evaluation()
    verdict = Verdict(
        "detection_accuracy", 0.35, "scored", score=2, raw_score=4, capped=True, cap_checks=("SD-1",), excluded=True,
        low_confidence=True, uncalibrated=True, heuristic_score=3, reasoning="One is missed.",
    )  # fmt: skip
    judges = [json.loads(json.dumps(verdict.as_json()))]
    document["llm"] = {"mode": "llm", "score": 2.0, "raw_score": 4.0, "judges": judges}
    document["combined"] = {"score": 3.76, "decision": "FAIL", "guarded_decision": "FAIL", "capped_from": "PASS"}
    assert (
        "LLM score 2.00 of 5 (llm), before caps 4.00. Combined with the checks 3.76, FAIL (the score alone: PASS)."
    ) in Read(page_of(document)).text
    assert (
        "detection_accuracy 2 4 3 capped from 4 by SD-1, excluded from the composite: low confidence, uncalibrated "
        "One is missed."
    ) in Read(page_of(document)).text
    assert '<tr data-item="bad"><th scope="row">detection_accuracy</th><td class="failed">2</td>' in page_of(document)


def test_a_rule_that_finds_nothing_of_what_was_planted_is_green_nowhere() -> None:
    compared, reports = comparison()
    for report in reports.values():
        report["metrics"]["by_rule"]["github-pat"].update(tp=0, fn=3, recall=0.0, precision=None)
    (row,) = (one for one in rule_rows(compared["candidates"], reports) if one.name == "github-pat")
    assert {(text, colour) for text, colour in row.cells} == {("1 of 1 samples; recall 0 of 3", "heat-0")}
    page = page_of(reports["good"])
    (line,) = (line for line in page.splitlines() if '<th scope="row">github-pat</th>' in line)
    assert line.startswith('<tr data-item="bad">')
    assert '<td class="failed">0 of 3</td>' in line


def test_a_rule_of_which_nothing_is_known_is_not_green() -> None:
    compared, _ = comparison()
    for one in compared["candidates"]:
        one["by_rule"] = {"github-pat": {"tp": 0, "fp": 0, "fn": 0, "recall": None, "precision": None}}
    (row,) = rule_rows(compared["candidates"], {})
    assert set(row.cells) == {("not asked", "heat-none")}


def test_a_time_says_of_what_it_is_and_a_start_is_not_called_slow() -> None:
    compared, reports = comparison()
    for one, (middle, spread) in zip(
        compared["candidates"], ((86.0, [80.0, 90.0]), (206.0, [200.0, 210.0])), strict=True
    ):
        one.update(scan_ms=middle, scan_ms_spread=spread)
    page = compared_page(compared, reports)
    assert "time of a scan of a small planted repository (the canary; median of repeated scans)" in page
    assert '206 ms (200 to 210) <strong class="soft">+120 ms</strong>' in page
    assert "times as long" not in page
    nothing: dict[str, list[object]] = {
        kind: [] for kind in ("lost", "new", "moved", "relabelled", "severity_changed", "reattributed")
    }
    times = {"web": [1000.0, 1300.0], "shop": [2000.0, 3800.0]}
    compared["pairs"][0]["real"] = [
        {"repository": name, "same": 9, "scan_ms": both, **nothing} for name, both in times.items()
    ]
    page = compared_page(compared, reports)
    assert "2.4 times" not in page
    assert '<td>3.0 s</td><td>5.1 s <strong class="worse">1.3 to 1.9 times as long</strong></td>' in page
    compared["pairs"][0]["real"][0]["scan_ms"] = [1000.0, 1000.0]
    page = compared_page(compared, reports)
    assert '<strong class="soft">1.0 to 1.9 times as long</strong>' in page


def test_the_trend_has_the_median_time_of_planted_repositories_alone() -> None:
    (first, *_) = runs = documents()
    times = {"a": 80, "b": 90, "c": 400, "corpus": 90_000}
    first["results"] = [
        {"check_id": "SP-1", "scenario": name, "message": "", "outcome": "passed", "actual": time, "nodeid": ""}
        for name, time in times.items()
    ]
    first["corpora"] = {"by_scenario": {"corpus": {}}}
    text = Read(b"".join(trend_page(runs)).decode()).text
    assert "time of a scan of a planted repository (ms, median of all)" in text
    assert " 90 " in text[: text.index("By date")]
    assert "90570" not in text
