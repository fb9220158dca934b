"""A saved baseline: small, the same bytes for the same result, and as good as the run itself."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import KEY, OWN_CHECK, analysed_corpus, report, shipped_scenarios
from evaluations import HASH, MATCHINGS, A, evaluated, matched, searched
from hypothesis import given

from gitleaks_eval.analysis.matching import Matching
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.scoring.baseline import baseline_json, evaluated_from_baseline, is_baseline
from gitleaks_eval.scoring.comparison import compare
from gitleaks_eval.scoring.evaluated import CheckKey, Evaluated

OUTCOMES = {
    ("SA-1", "one"): "passed",
    ("SA-2", "one"): "not_applicable",
    ("SA-2", "clean"): "failed",
    ("ACME-1", None): "failed",
}


def saved(one: Evaluated) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(baseline_json(one))
    return document


@searched
@given(MATCHINGS)
def test_a_baseline_is_as_good_as_the_run_it_is_of(matchings: tuple[Matching, Matching]) -> None:
    old, new = matchings
    live = evaluated("old.json", {"one": old, "clean": matched([], [])}, OUTCOMES)
    again = CheckKey("ACME-1", None, 1)
    live = replace(
        live,
        outcomes={**live.outcomes, again: "passed"},
        lint={"CL-2": frozenset({"a", "b"})},
        scanner={**live.scanner, "config_sha256": None},
    )
    read = evaluated_from_baseline(saved(live), "old.json")
    candidate = evaluated("new", {"one": new}, {("SA-1", "one"): "failed"})
    assert compare(read, candidate) == compare(live, candidate)
    assert (read.outcomes, read.lint, read.score) == (live.outcomes, live.lint, live.score)
    assert baseline_json(read) == baseline_json(live)


def test_the_order_of_findings_and_checks_makes_no_difference() -> None:
    places = [A, ("z.py", "jwt", 10), ("z.py", "jwt", 9)]
    one = evaluated("x", {"one": matched(places, places), "two": matched([], [])}, OUTCOMES)
    two = evaluated(
        "y", {"two": matched([], []), "one": matched(places[::-1], places[::-1])}, dict(reversed(OUTCOMES.items()))
    )
    assert baseline_json(one) == baseline_json(two)


def test_nothing_of_the_machine_is_in_it() -> None:
    one = evaluated("x", {"one": matched([A], [A])}, OUTCOMES)
    scanner = {**one.scanner, "source": "/opt/scanner", "config": "/home/me/strict.toml > builtin", "sha256": "f" * 64}
    text = baseline_json(replace(one, scanner=scanner, scan_ms=12.5)).decode()
    assert json.loads(text)["scanner"]["config"] == "strict.toml > builtin"
    for part in ("/opt", "/home", "12.5", "f" * 64):
        assert part not in text


def damaged(**changed: Any) -> dict[str, Any]:
    return {**saved(evaluated("x", {"one": matched([A], [A])}, OUTCOMES)), **changed}


@pytest.mark.parametrize(
    "changed",
    [
        {"schema_version": "9.0"},
        {"schema_version": None},
        {"scanner": []},
        {"corpus_sha256": "short"},
        {"score": 7},
        {"scenarios": [{"name": "one"}]},
        {"scenarios": []},
        {"checks": [{"scenario": "one", "passed": [["SA-1"]]}]},
        {"checks": [{"scenario": "one", "fine": ["SA-1"]}]},
        {"findings": None},
        {"findings": [1]},
        {"findings": [{}]},
        {"config_lint": {"CL-1": "x"}},
        {"other": 1},
    ],
)
def test_a_baseline_that_was_changed_by_hand_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^--gitleaks-baseline old\.json: "):
        evaluated_from_baseline(damaged(**changed), "old.json")


@pytest.mark.parametrize(
    "changed",
    [{"status": "fine"}, {"status": []}, {"line_number": "1"}, {"line_number": True}, {"scenario": "x"}, {"a": 1}],
)
def test_a_finding_that_is_none_is_refused_with_its_place(changed: dict[str, Any]) -> None:
    document = damaged()
    document["findings"][0].update(changed)
    with pytest.raises(InputError, match="/findings/0: is no finding of a scenario"):
        evaluated_from_baseline(document, "old.json")


def test_other_documents_are_no_baselines() -> None:
    others: list[object] = [None, [], {}, {"kind": 1}, {"schema_version": "1.0", "corpus_sha256": HASH}]
    for document in others:
        assert not is_baseline(document)


# --- whole runs

SAVE = "--gitleaks-save-baseline=base.json"


@pytest.fixture
def options(pytester: pytest.Pytester, own_environment: None) -> list[str]:  # noqa: ARG001 - only set up
    """A run in which the key is missed."""
    return ["--gitleaks-eval", *analysed_corpus(pytester.path / "corpus", missing=[KEY])]


def test_a_saved_baseline_accepts_what_it_knows_and_nothing_more(pytester: pytest.Pytester, options: list[str]) -> None:
    result = pytester.runpytest_subprocess(*options, SAVE)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["report: gitleaks-eval-results/scorecard.md | baseline: base.json"])
    assert pytester.runpytest_subprocess(*options, "--gitleaks-baseline=base.json").ret == 0
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"
    analysed_corpus(pytester.path / "corpus", missing=[KEY, ("config/token.env", "github-pat", 4)])
    assert pytester.runpytest_subprocess(*options, "--gitleaks-baseline=base.json").ret == 1


def test_two_runs_with_a_real_scanner_save_the_same_bytes(
    pytester: pytest.Pytester,
    own_environment: None,  # noqa: ARG001 - only set up
) -> None:
    scenarios = shipped_scenarios(pytester.path / "scenarios", "cloud-mixed", "private-keys")
    pytester.makefile(".toml", **{".gitleaks": "[extend]\nuseDefault = true\n[allowlist]\npaths = ['''id_rsa''']\n"})
    pytester.makepyfile(test_own=OWN_CHECK)
    contents = []
    for parallel in ("-n0", "-n2"):
        pytester.runpytest_subprocess(
            "--gitleaks-eval", "--gitleaks-version=8.30.1", scenarios, SAVE, parallel, "test_own.py"
        )
        contents.append((pytester.path / "base.json").read_bytes())
    assert contents[0] == contents[1]
    document = json.loads(contents[0])
    assert [one["status"] for one in document["findings"]].count("missed") == 1
    assert document["config_lint"]["CL-2"]
    assert len(contents[0]) < 8_000
    assert str(pytester.path).encode() not in contents[0]


def test_a_run_that_is_not_complete_saves_nothing(pytester: pytest.Pytester, options: list[str]) -> None:
    for more, status in (("-k=SA_6", 4), ("-x", 1)):
        result = pytester.runpytest_subprocess(*options, SAVE, more)
        assert result.ret == status
        result.stdout.fnmatch_lines(
            ["ERROR --gitleaks-save-baseline base.json: is not written: a baseline is of a complete*"]
        )
        assert not (pytester.path / "base.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gitleaks-save-baseline="], "is empty; name a file"),
        (["--gitleaks-save-baseline=notes.json"], "notes.json: is there and is no baseline that was saved so"),
        (["--gitleaks-save-baseline=docs"], "docs: is there and is no baseline that was saved so"),
        (["--gitleaks-save-baseline=link.json"], "link.json is a link"),
        (["--gitleaks-save-baseline=linked/base.json"], "linked is a link"),
        (["--gitleaks-save-baseline=old.json", "--gitleaks-baseline=./old.json"], "this run reads it"),
        ([SAVE, "--gitleaks-config=builtin", "--gitleaks-config=x.toml"], "a baseline is of one candidate"),
    ],
)
def test_where_a_baseline_cannot_be_saved_is_said_before_any_test(
    pytester: pytest.Pytester, options: list[str], arguments: list[str], message: str
) -> None:
    pytester.runpytest_subprocess(*options, "--gitleaks-save-baseline=old.json")
    folder = pytester.path
    (folder / "notes.json").write_text("{}", encoding="utf-8")
    (folder / "x.toml").write_text("[extend]\nuseDefault = true\n", encoding="utf-8")
    (folder / "docs").mkdir()
    (folder / "link.json").symlink_to("old.json")
    (folder / "linked").symlink_to("docs")
    before = {path: path.read_bytes() for path in folder.glob("*.json")}
    scanned = [one for one in options if "--gitleaks-config=x.toml" not in arguments or "analysis" not in one]
    result = pytester.runpytest_subprocess(*scanned, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --gitleaks-save-baseline*{message}*"])
    assert {path: path.read_bytes() for path in folder.glob("*.json")} == before
    assert list((folder / "docs").iterdir()) == []


def test_a_report_of_a_full_run_is_still_read(pytester: pytest.Pytester, options: list[str]) -> None:
    pytester.runpytest_subprocess(*options)
    Path(pytester.path / "gitleaks-eval-results/evaluation_report.json").rename(pytester.path / "old.json")
    assert pytester.runpytest_subprocess(*options, "--gitleaks-baseline=old.json").ret == 0
