"""A secret in a path that any candidate reports is masked for all of them, and what is lost there is named."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git
from corpus import TALKATIVE
from ran import Ran, evaluate

from gitleaks_eval.engine.run.run import evaluate as evaluated
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.scenarios.secrets import MASK

# Neither a kind that is known, nor a word that looks like a token.
PHRASE = "correct-horse-battery-staple"
PIECES = {PHRASE[start : start + 8] for start in range(1, len(PHRASE) - 7)}
RULES = """
[[rules]]
id = "phrase"
regex = '''correct-[a-z]+-[a-z]+-[a-z]+'''

[[rules]]
id = "github-pat"
regex = '''ghp_[0-9a-zA-Z]{36}'''
"""
HIDES = f"{RULES}\n[[allowlists]]\npaths = ['''deploy/.*/run''']\n"
BLIND = RULES.replace("correct-", "wrong-")
MASKED = f"deploy/{MASK}/run.sh"
WHOLE = (
    *TALKATIVE,
    "--gitleaks-version=8.30.1",
    "--gitleaks-only=corpora",
    "--junitxml=junit.xml",
    "--json-report",
    "--json-report-file=report.json",
)
COMPARED = ("--gitleaks-config=base/.gitleaks.toml", "--gitleaks-config=head/.gitleaks.toml")
CORPUS = "--gitleaks-corpus=report:source"


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory, gitleaks: Callable[[str], Path]) -> Callable[..., Path]:
    """A folder with a corpus whose truth is a report, by default one that keeps the values to itself.

    By default only a rule tells where the value begins.
    """
    gitleaks("8.30.1")

    def folder(secret: str = "REDACTED", head: str = HIDES, login: str = "--with-") -> Path:  # noqa: S107 - what a report says of one
        path = tmp_path_factory.mktemp("masked")
        source = path / "source" / "repository"
        (source / "deploy" / PHRASE).mkdir(parents=True)
        (source / "deploy" / PHRASE / "run.sh").write_text(f"#\nlogin {login}{PHRASE}\n", encoding="utf-8")
        git(source, "init", "-q")
        git(source, "add", ".")
        git(source, "commit", "-q", "-m", "m")
        finding = {"RuleID": "phrase", "File": f"deploy/{PHRASE}/run.sh", "StartLine": 2, "Secret": secret}
        (path / "source" / "report.json").write_text(json.dumps([finding]), encoding="utf-8")
        for name, content in (("base", RULES), ("head", head)):
            (path / name).mkdir()
            (path / name / ".gitleaks.toml").write_text(content, encoding="utf-8")
        return path

    return folder


@pytest.fixture(scope="module", params=[(), ("-n2",)], ids=["serial", "parallel"])
def ran(request: pytest.FixtureRequest, make: Callable[..., Path]) -> Ran:
    """Two configurations, of which the second hides by path what the first finds."""
    folder = make()
    return evaluate(folder, *WHOLE, *COMPARED, CORPUS, *request.param, GITHUB_STEP_SUMMARY=str(folder / "summary.md"))


def leaks(ran: Ran) -> dict[str, set[str]]:
    """What shows pieces of the phrase: the terminal, and each file that the run wrote, by its content or its name."""
    given = ("source", "base", "head")
    files = [path for path in ran.folder.rglob("*") if path.relative_to(ran.folder).parts[0] not in given]
    texts = {str(path): path.read_text(encoding="utf-8") for path in files if path.is_file()} | {"terminal": ran.text}
    assert {path.name for path in files} >= {"junit.xml", "report.json"}
    return {name: found for name, text in texts.items() if (found := {one for one in PIECES if one in name + text})}


def test_what_one_candidate_reports_is_masked_in_all_that_a_run_writes(ran: Ran) -> None:
    assert leaks(ran) == {}
    assert MASKED in ran.text


def test_a_secret_in_a_path_that_one_configuration_hides_is_a_regression_and_lost_at_its_place(ran: Ran) -> None:
    (pair,) = ran.pairs.values()
    assert pair["verdict"] == "REGRESSION"
    (lost,) = pair["lost"]
    assert (lost["file_path"], lost["line_number"], lost["rule_id"]) == (MASKED, 2, "phrase")
    assert any(MASKED in line for line in ran.text.splitlines() if "LOST" in line), ran.text


def test_the_entry_that_hides_it_is_named_and_fails_the_configuration(ran: Ran) -> None:
    linted = {one["check_id"]: one for one in ran.json("head-gitleaks.toml/evaluation_report.json")["config_lint"]}
    assert linted["CL-2"]["outcome"] == "failed"
    assert (
        f"source {MASKED}:2 (phrase): hidden by head/.gitleaks.toml allowlists[0].paths[0]" in linted["CL-2"]["message"]
    )


@pytest.mark.parametrize(("secret", "login"), [(PHRASE, "--with-"), ("REDACTED", "--with ")], ids=["value", "line"])
def test_what_nobody_reports_is_masked_where_the_truth_knows_it_or_its_line(
    make: Callable[..., Path], secret: str, login: str
) -> None:
    folder = make(secret, BLIND, login)
    ran = evaluate(folder, *WHOLE, "--gitleaks-findings", "--gitleaks-config=head/.gitleaks.toml", CORPUS)
    assert ran.status == 1
    assert f"{MASKED}:2" in ran.line("MISSED")
    assert leaks(ran) == {}


def test_what_only_a_hidden_finding_tells_is_masked_without_pytest_too(make: Callable[..., Path]) -> None:
    folder = make()
    options = {"version": "8.30.1", "config": "head/.gitleaks.toml", "corpus": "report:source", "only": "corpora"}
    run = evaluated(Settings.of(folder, **options))
    (match,) = run.subjects["source"].matching.matches
    assert (match.status, match.file_path) == ("missed", MASKED)
    assert [one.outcome for one in run.lint if one.check_id == "CL-2"] == ["failed"]
    assert not {piece for piece in PIECES if piece in repr((run.results, run.lint, run.hidden, run.subjects))}


def test_a_saved_baseline_that_shows_it_masked_is_compared_with_a_candidate_that_cannot_know_it(
    make: Callable[..., Path],
) -> None:
    folder = make(head=BLIND)
    saved = evaluate(
        folder, *WHOLE, "--gitleaks-config=base/.gitleaks.toml", CORPUS, "--gitleaks-save-baseline=kept.json"
    )
    assert MASKED in (folder / "kept.json").read_text(encoding="utf-8"), saved.text
    ran = evaluate(folder, *WHOLE, "--gitleaks-config=head/.gitleaks.toml", CORPUS, "--gitleaks-baseline=kept.json")
    assert list(ran.verdicts.values()) == ["REGRESSION"]
    assert ran.comparison["pairs"][0]["lost"][0]["file_path"] == MASKED
    assert leaks(ran) == {}
