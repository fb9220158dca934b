"""Rules, places and entries as tests of a run: what is red, what the decision says, and that no sample is shown."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpus import TALKATIVE, report, shipped_scenarios

from gitleaks_eval.core.process import Finished
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.engine.run.run import evaluate
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.scanners import scan as scans
from gitleaks_eval.scanners.build import probe

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

BESIDE = "--gitleaks-only=rules,places,entries"
MODULE = (PACKAGE / "surveys/test_coverage.py").as_posix()
KEPT = {"aws-access-token", "generic-api-key", "github-pat", "private-key", "slack-bot-token", "stripe-access-token"}
EXTENDS = "[extend]\nuseDefault = true\n"
TEAM = f"""{EXTENDS}disabledRules = ["generic-api-key"]

[[rules]]
id = "acme"
regex = 'acme_[a-z0-9]{{32}}'
keywords = ["acme_"]

[[rules]]
id = "acme-two"
regex = 'acm2_([a-z0-9]{{20}})'
keywords = ["acm2_"]

[[allowlists]]
paths = ['(^|/)fixtures/', 'node_modules/', '^testdata/keys/', '\\.lock$']
[[allowlists]]
stopwords = ["example"]
regexes = ['(?i)dummy']
"""


@pytest.fixture
def scanner(gitleaks: Callable[[str], Path]) -> list[str]:
    """The options that evaluate with a scanner."""
    return ["--gitleaks-eval", f"--gitleaks-binary={gitleaks('8.30.1')}"]


@pytest.fixture
def evil(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> str:
    """A configuration that nine scenarios do not see through; the option that names it."""
    build = probe(gitleaks("8.30.1"), "a test")
    ids = [rule["id"] for rule in builtin_document(Path(build.path), build.sha256)["rules"]]
    paths = [
        r"(^|/)(src|lib|test|vendor|deploy/k8s|terraform)/",
        r"\.(ya?ml|tf|go|js|ts|java|properties|xml|sh|ipynb)$",
    ]
    off = f"disabledRules = {[one for one in ids if one not in KEPT]}\n"
    (pytester.path / "evil.toml").write_text(
        f"{EXTENDS}{off}[[allowlists]]\npaths = {json.dumps(paths)}\n", encoding="utf-8"
    )
    return "--gitleaks-config=evil.toml"


def section(result: pytest.RunResult) -> list[str]:
    """Our section of the terminal, without its title and pytest's last line."""
    start = next(
        index for index, line in enumerate(result.outlines) if line.startswith("=") and " gitleaks-eval" in line
    )
    return result.outlines[start + 1 : -1]


def configured(pytester: pytest.Pytester, content: str) -> str:
    (pytester.path / "my.toml").write_text(content, encoding="utf-8")
    return "--gitleaks-config=my.toml"


def stable(document: dict[str, Any]) -> object:
    """What is the same in each run."""
    return document["coverage"], document["summary"]


def test_the_scanners_own_configuration_is_whole_in_serial_and_in_parallel(
    pytester: pytest.Pytester, scanner: list[str]
) -> None:
    documents = []
    for parallel in ([], ["-n2"]):
        result = pytester.runpytest_subprocess(*scanner, *parallel)
        assert result.ret == 0
        headline, tested, *_ = section(result)
        assert headline.startswith("STRONG_PASS  17 of 17 expected secrets found")
        assert tested.startswith("tested: 222 of 222 rules, 378 of 378 places (59 more are never scanned by gitleaks")
        documents.append(report(pytester))
    document = documents[0]
    assert schema_problems("report", document) == []
    assert stable(document) == stable(documents[1])
    assert Counter(rule["status"] for rule in document["coverage"]["rules"]) == {"fires": 222}
    assert document["summary"]["total_checks"] == 351
    assert len(document["results"]) == 351


def test_a_configuration_that_switches_off_rules_and_allows_usual_paths_fails_with_the_entries_to_blame(
    pytester: pytest.Pytester, scanner: list[str], evil: str
) -> None:
    result = pytester.runpytest_subprocess(*scanner, evil)
    assert result.ret == 1
    lines = section(result)
    assert len(lines) <= 20
    assert lines[0].startswith("FAIL  17 of 17 expected secrets found")
    assert (
        "6 of 222 rules (216 switched off by evil.toml [extend] disabledRules), 146 of 378 places (232 all" in lines[1]
    )
    text = "\n".join(lines)
    assert "FAILED  entry  evil.toml:3 [extend] disabledRules: switches off 216 of 222 rules" in text
    assert "(^|/)(src|lib|test|vendor|deploy/k8s|terraform)/: hides 143 of 378 places" in text
    assert "all entries together silence 216 of 222 rules and hide 232 of 378 places" in text
    document = report(pytester)
    assert schema_problems("report", document) == []
    summary = document["summary"]
    assert (summary["decision"], summary["guarded_decision"], summary["score"]) == ("STRONG_PASS", "FAIL", 1.0)
    assert len(document["coverage"]["switched_off"]) == 216
    scorecard = (pytester.path / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert "## What this verdict speaks for" in scorecard


def test_scenarios_alone_ask_nothing_else_and_say_so(pytester: pytest.Pytester, scanner: list[str], evil: str) -> None:
    result = pytester.runpytest_subprocess(*scanner, evil, "--gitleaks-only=scenarios")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["only scenarios: nothing else has a share in the decision"])
    result.stdout.no_fnmatch_line("*tested:*")
    assert report(pytester)["coverage"] is None


def test_a_usual_configuration_is_not_red_and_passes(pytester: pytest.Pytester, scanner: list[str]) -> None:
    result = pytester.runpytest_subprocess(*scanner, configured(pytester, TEAM), BESIDE, "-rA")
    assert result.ret == 0
    headline, tested, formats, hides, *_ = section(result)
    assert headline == "PASS  no secret of a scenario was asked for"
    # Who switches off the rule that looks at names means the formats that it alone finds.
    assert " (hidden: " in formats
    assert "tested: 223 of 224 rules (1 switched off by my.toml [extend] disabledRules)" in tested
    assert hides.startswith("next: look at ")
    assert hides.endswith("`gitleaks-eval accept`")
    result.stdout.fnmatch_lines_random(
        ["PASSED *::test_rule?acme?", "PASSED *::test_rule?acme-two?", "PASSED *::test_entry?my.toml:16?"]
    )
    statuses = {entry["entry"]: entry["status"] for entry in report(pytester)["coverage"]["entries"]}
    assert statuses["node_modules/"] == "redundant"
    assert statuses["(^|/)fixtures/"] == "live"


def test_rules_of_ones_own_fail_when_they_never_fire_or_others_hide_them(
    pytester: pytest.Pytester, scanner: list[str]
) -> None:
    content = """
[[rules]]
id = "never"
regex = 'beta_[a-f0-9]{8}'
entropy = 4.5
[[rules]]
id = "hidden"
regex = 'acme_[a-z0-9]{32}'
[[rules]]
id = "found"
regex = 'good_[a-z0-9]{32}'
[allowlist]
regexes = ['^acme_']
"""
    result = pytester.runpytest_subprocess(*scanner, configured(pytester, content), BESIDE)
    assert result.ret == 1
    result.stdout.fnmatch_lines_random(
        [
            "FAILED  rule  never: never fires: *entropy: no value of its regex can be above 4.5*",
            "FAILED  rule  hidden: allowlisted by my.toml [[]allowlist[]] regexes[[]0[]]",
            "FAILED  entry  my.toml:* silences 1 of 3 rules and silences hidden, a rule of your own",
        ]
    )
    # Without rules of the scanner's own, one of the user's is what is planted.
    statuses = Counter(place["status"] for place in report(pytester)["coverage"]["places"])
    assert statuses["seen"] > 200


def test_node_ids_work_pasted_and_are_a_part(pytester: pytest.Pytester, scanner: list[str]) -> None:
    ids = [f"{MODULE}::test_rule[github-pat]", f"{MODULE}::test_place[path:src/a.png]"]
    result = pytester.runpytest_subprocess(*ids, scanner[1], "-v")
    result.stdout.fnmatch_lines(["*::test_rule?github-pat? PASSED*", "*::test_place?path:src/a.png? N/A*", "PARTIAL *"])
    assert result.ret == 0


def test_of_several_candidates_each_has_its_tests_and_what_fails_for_the_baseline_too_is_excused(
    pytester: pytest.Pytester, scanner: list[str]
) -> None:
    mine = configured(pytester, "[[rules]]\nid = 'never'\nregex = 'beta_[a-f0-9]{8}'\nentropy = 4.5\n")
    (pytester.path / "other.toml").write_bytes((pytester.path / "my.toml").read_bytes())
    result = pytester.runpytest_subprocess(
        *scanner, mine, "--gitleaks-config=other.toml", "--gitleaks-only=rules", "-rx", "-v"
    )
    result.stdout.fnmatch_lines(["*::test_rule?my.toml-never? XFAIL*", "*::test_rule?other.toml-never? XFAIL*"])


def test_an_evaluation_without_a_session_is_asked_the_same(
    tmp_path: Path, gitleaks: Callable[[str], Path], evil: str, pytester: pytest.Pytester
) -> None:
    only = BESIDE.partition("=")[2]
    config = str(pytester.path / evil.partition("=")[2])
    run = evaluate(Settings.of(tmp_path, binary=str(gitleaks("8.30.1")), config=config, only=only))
    assert run.scorecard.guarded_decision == "FAIL"
    assert run.coverage
    assert run.coverage.tested.startswith("tested: 6 of 222 rules")
    assert Counter(result.outcome for result in run.surveys)["failed"] == 236
    assert not run.partial


def test_judges_lift_no_decision_above_what_the_survey_leaves(
    pytester: pytest.Pytester, scanner: list[str], evil: str
) -> None:
    judges = ["--gitleaks-judges", "--gitleaks-judge-mode=heuristic"]
    pytester.runpytest_subprocess(*scanner, evil, shipped_scenarios(pytester.path / "one", "api-keys"), *judges)
    assert report(pytester)["combined"]["guarded_decision"] == "FAIL"
    pytester.runpytest_subprocess(*judges)
    assert report(pytester)["combined"]["guarded_decision"] == "FAIL"


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("regex = '(?<=a)b'", "the regex does not compile: invalid named capture (?<=a)b"),
        ("description = 'x'", "rules[0]: the scanner refuses it: odd: both |regex| and |path| are empty"),
        ("regex = '(a{1000}){1000}'", "the regex does not compile: invalid repeat count {1000}"),
    ],
    ids=["regex", "nothing", "repeats"],
)
def test_a_rule_that_the_scanner_refuses_is_named_and_nothing_is_believed(
    pytester: pytest.Pytester, scanner: list[str], rule: str, problem: str
) -> None:
    content = f"{EXTENDS}[[rules]]\nid = 'odd'\n{rule}\n"
    result = pytester.runpytest_subprocess(*scanner, configured(pytester, content), "--gitleaks-only=rules")
    assert result.ret == 1
    headline, *others = section(result)
    assert headline.startswith("FAIL  ")
    assert any(line.startswith("FAILED  CL-1  my.toml ") and problem in line for line in others)


def test_a_configuration_of_megabytes_is_refused_on_sight(pytester: pytest.Pytester, scanner: list[str]) -> None:
    option = configured(pytester, EXTENDS + "# a comment of fifty characters, again and again\n" * 170_000)
    result = pytester.runpytest_subprocess(*scanner, option)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --gitleaks-config: the configuration *my.toml: * more than 1 MiB*"])


def test_forms_are_a_table_and_large_places_are_asked_then(pytester: pytest.Pytester, scanner: list[str]) -> None:
    content = "[[rules]]\nid = 'acme'\nregex = 'acme_[a-z0-9]{32}'\n[[rules]]\nid = 'keys'\npath = '\\.key$'\n"
    result = pytester.runpytest_subprocess(*scanner, configured(pytester, content), "--gitleaks-only=forms")
    result.stdout.fnmatch_lines(["tested: 2 of 2 rules, 0 of 222 as *", "only rules, places, forms: nothing else *"])
    document = report(pytester)
    assert schema_problems("report", document) == []
    acme, keys = document["coverage"]["forms"]
    assert (acme["rule_id"], keys["rule_id"]) == ("acme", "keys")
    assert {"raw", "json", "xml", "markdown"} <= set(acme["fires"])
    assert "base64-value" in acme["fires"]
    large = [one for one in document["coverage"]["places"] if one["case"] in {"big_1mb", "many_lines", "long_line"}]
    assert {one["status"] for one in large} == {"seen"}
    scorecard = (pytester.path / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert "## Rules by forms" in scorecard


@pytest.mark.parametrize("kind", ["rules", "places", "entries"])
def test_a_kind_alone_is_asked_alone(pytester: pytest.Pytester, scanner: list[str], kind: str) -> None:
    result = pytester.runpytest_subprocess(
        *scanner, configured(pytester, TEAM), f"--gitleaks-only={kind}", "--collect-only", "-q"
    )
    found = {line.split("::")[1].split("[")[0] for line in result.outlines if "/surveys/" in line}
    expected = {"rules": {"test_rule"}, "places": {"test_place"}, "entries": {"test_entry", "test_entries_together"}}
    assert found == expected[kind]
    assert not any("/checks/" in line for line in result.outlines)


BLIND = """\
#!{python} -ISB
import os, sys
arguments = sys.argv[1:]
if "--config" in arguments:
    arguments[arguments.index("--config") + 1] = {config!r}
os.execv({real!r}, [{real!r}, *arguments])
"""


def test_a_scanner_that_finds_nothing_passes_nothing(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    (pytester.path / "none.toml").write_text("[[rules]]\nid = 'none'\nregex = 'qqq{40}'\n", encoding="utf-8")
    stub = pytester.path / "stub"
    config, real = str(pytester.path / "none.toml"), str(gitleaks("8.30.1"))
    stub.write_text(BLIND.format(python=sys.executable, config=config, real=real), encoding="utf-8")
    stub.chmod(0o755)
    result = pytester.runpytest_subprocess(
        "--gitleaks-eval", f"--gitleaks-binary={stub}", configured(pytester, TEAM), BESIDE
    )
    assert result.ret == 1
    outcomes = result.parseoutcomes()
    assert outcomes.keys() <= {"errors", "failed", "passed"}
    # The lint of the configuration asks for no find.
    assert outcomes.get("passed", 0) <= 2
    assert section(result)[0].startswith("FAIL  ")


def test_nothing_that_is_planted_or_made_is_in_any_output(
    pytester: pytest.Pytester, scanner: list[str], evil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: set[str] = set()
    read = scans._read_report

    def recording(path: Path, done: Finished) -> list[dict[str, Any]]:
        findings = read(path, done)
        values.update(line for one in findings for line in str(one["Secret"]).splitlines() if len(line) >= 12)
        return findings

    monkeypatch.setattr(scans, "_read_report", recording)
    for content in (None, TEAM):
        option = configured(pytester, content) if content else evil
        files = ["--junitxml=junit.xml", "--json-report", "--json-report-file=report.json"]
        result = pytester.runpytest_inprocess(*scanner, option, BESIDE, *TALKATIVE, *files)
        text = "\n".join((*result.outlines, *result.errlines))
        assert len(values) > 200
        assert [value for value in values if value in text] == []
        for path in pytester.path.rglob("*"):
            content_of = path.read_bytes() if path.is_file() else b""
            assert [value for value in values if value.encode() in content_of] == [], path
            assert [value for value in values if json.dumps(value)[1:-1].encode() in content_of] == [], path
