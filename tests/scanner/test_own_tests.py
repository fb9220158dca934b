"""Tests that users write of their rules: nodes with the lines of the YAML, all in one scan, and no secret kept."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gitleaks_eval.config.eval_file import RuleTest
from gitleaks_eval.coverage.configuration.layers import Layers
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.rules.own_tests import Planted, planted_by
from gitleaks_eval.coverage.samples.samples import Bench
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.engine.survey import own_tests
from gitleaks_eval.repositories.cache import BuiltRepository

pytestmark = pytest.mark.usefixtures("own_environment")

DOCS = (Path(__file__).parents[2] / "docs/rules-and-acceptances.md").read_text(encoding="utf-8")
NAME = ".gitleaks-eval.yaml"


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def binary(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> str:
    """The option that names the scanner, in a folder with the example of the docs."""
    (pytester.path / ".gitleaks.toml").write_text(block("toml"), encoding="utf-8")
    (pytester.path / NAME).write_text(block("yaml"), encoding="utf-8")
    return f"--gitleaks-binary={gitleaks('8.30.1')}"


def written(pytester: pytest.Pytester, *lines: str) -> None:
    text = "rules:\n  acme-token:\n" + "".join(f"    {line}\n" for line in lines)
    (pytester.path / NAME).write_text(text, encoding="utf-8")


def test_the_example_of_the_docs_works_in_one_scan_and_its_nodes_have_the_lines(
    pytester: pytest.Pytester, binary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = []
    changed = SampleScanner.changed

    def counting(self: SampleScanner, repository: BuiltRepository, layers: Layers) -> Findings:
        scans.append(1)
        return changed(self, repository, layers)

    monkeypatch.setattr(SampleScanner, "changed", counting)
    result = pytester.runpytest_inprocess(NAME, binary, "-v", "--junitxml=junit.xml", "-ojunit_family=xunit1")
    assert result.ret == 0
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines([f"{NAME}::acme-token?finds-1? PASSED*"])
    lines = block("yaml").splitlines()
    cases = list(ET.parse(pytester.path / "junit.xml").iter("testcase"))  # noqa: S314 - what pytest has just written
    assert {case.get("file") for case in cases} == {NAME}
    assert [lines[int(case.get("line", 0))].strip()[:4] for case in cases] == [
        "- { ",
        "- { ",
        "- { ",
        "- ne",
        "- { ",
        "- { ",
    ]
    assert len(scans) == 1


def test_what_a_line_asks_and_is_not_so_fails_and_the_decision_is_fail(pytester: pytest.Pytester, binary: str) -> None:
    written(
        pytester,
        "finds:",
        "  - { pattern: 'acme_[a-z]{8}' }",
        "ignores:",
        "  - { text: 'see acme_docs' }",
        "  - { text: " + "acme_" + "0a1b2c3d4e5f6g7h" * 2 + ", by: any }",
        "todo:",
        "  - { pattern: 'acme_[a-z0-9]{32}', in: [json] }",
    )
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-only=rules", binary)
    assert result.ret == 1
    result.stdout.fnmatch_lines_random(
        [
            "FAIL *",
            f"FAILED  test  {NAME}:4 acme-token?finds-1?: not found in env*",
            f"FAILED  test  {NAME}:7 acme-token?ignores-2?: the line itself holds what acme-token finds*",
            f"FAILED  test  {NAME}:9 acme-token?todo-1?: it is found now*",
        ]
    )
    assert sum(line.startswith("FAILED  test") for line in result.outlines) == 3
    again = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-only=rules", binary, "--lf")
    again.assert_outcomes(failed=3)
    named = pytester.runpytest_subprocess(f"{NAME}::acme-token[finds-1]", binary)
    named.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["find:", "  - { pattern: a }"], ":3:5: the key 'find' is not known; there are finds, ignores, todo"),
        (["finds:", "  - { pattern: 'a[b' }"], ":4:9: `pattern`: "),
        (["finds:", "  - { pattern: 'ab', in: [yamll] }"], ":4:9: `in`: 'yamll' is no form; there are "),
        (["finds:", "  - { pattern: 'ab', text: 'no place' }"], ":4:9: the text has no {{secret}}"),
        (["finds:", "  - { pattern: '[[:nosuch:]]' }"], ":4:9: `pattern`: "),
        (["ignores:", "  - { why: nothing }"], ":4:9: write either `text` or `near-miss: true`"),
        (["finds:", "  - { pattern: a, pattern: b }"], "line 4, column 23: the key 'pattern' stands here twice"),
    ],
)
def test_what_is_wrong_on_sight_is_said_with_its_place(
    pytester: pytest.Pytester, binary: str, lines: list[str], said: str
) -> None:
    written(pytester, *lines)
    result = pytester.runpytest_subprocess(NAME, binary)
    assert result.ret == 4
    text = "\n".join(result.errlines)
    assert NAME in text
    assert said in text


def test_a_rule_that_is_not_there_and_a_file_beside_no_configuration_are_refused(
    pytester: pytest.Pytester, binary: str
) -> None:
    text = block("yaml").replace("acme-token:", "acme-tokn:")
    (pytester.path / NAME).write_text(text, encoding="utf-8")
    result = pytester.runpytest_subprocess(NAME, binary)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{NAME}:4:9: no rule of the configuration has the id 'acme-tokn'"])
    (pytester.mkdir("sub") / NAME).write_text(block("yaml"), encoding="utf-8")
    (pytester.path / NAME).unlink()
    result = pytester.runpytest_subprocess(f"sub/{NAME}", binary)
    assert result.ret != 0
    assert "stands beside no configuration under test" in "\n".join([*result.outlines, *result.errlines])


def test_no_value_that_was_made_for_a_test_is_in_any_output(
    pytester: pytest.Pytester, binary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: set[str] = set()
    plant = planted_by

    def recording(tests: Sequence[RuleTest], rules: Mapping[str, Rule], on: Bench) -> list[Planted]:
        planted = plant(tests, rules, on)
        values.update(sample.value for one in planted for _, sample in one.samples)
        return planted

    monkeypatch.setattr(own_tests, "planted_by", recording)
    written(
        pytester,
        "finds:",
        "  - { pattern: 'acme_[a-z0-9]{32}', in: [env, base64, hex] }",
        "  - { pattern: 'acme_[a-z0-9]{16}', text: 'a = \"{{secret}}\"' }",
        "ignores: [near-miss]",
        "todo:",
        "  - { pattern: 'acme_[a-z0-9]{32}' }",
    )
    options = ("-vv", "-rA", "--junitxml=junit.xml", "--showlocals", "--gitleaks-eval", "--gitleaks-only=rules")
    result = pytester.runpytest_inprocess(binary, *options)
    assert result.ret == 1
    assert len(values) > 4
    said = "\n".join([*result.outlines, *result.errlines])
    files = [path for path in pytester.path.rglob("*") if path.is_file() and path.suffix not in {".pyc", ".toml"}]
    assert any(path.name == "evaluation_report.json" for path in files)
    texts = [said, *(path.read_text(encoding="utf-8", errors="replace") for path in files)]
    for value in values:
        pieces = {value[at : at + 8] for at in range(5, len(value) - 7)} - {"aaaaaaaa"}
        assert [piece for piece in pieces for text in texts if piece in text] == []


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("[allowlist]\npaths = ['^deploy/']\n", "allowlist entry: .gitleaks.toml [allowlist] paths[0] ^deploy/"),
        (
            "[allowlist]\nregexTarget = 'line'\nregexes = ['token']\n",
            "allowlist entry: .gitleaks.toml [allowlist] regexes[0] token",
        ),
    ],
    ids=["path", "line"],
)
def test_a_test_that_fails_names_what_hides_it(pytester: pytest.Pytester, binary: str, config: str, said: str) -> None:
    rule = "[[rules]]\nid = 'acme-token'\nregex = 'acme_[a-z0-9]{32}'\nkeywords = ['acme_']\n"
    (pytester.path / ".gitleaks.toml").write_text(f"[extend]\nuseDefault = true\n{config}{rule}", encoding="utf-8")
    written(pytester, "finds:", "  - { text: 'token = {{secret}}', pattern: 'acme_[a-z0-9]{32}', at: deploy/a.yaml }")
    result = pytester.runpytest_subprocess(NAME, binary)
    assert result.ret == 1
    assert said in result.stdout.str()


def test_a_planted_secret_is_found_where_what_is_reported_holds_it(pytester: pytest.Pytester, binary: str) -> None:
    rule = "[[rules]]\nid = 'acme-token'\nregex = '(acme_key)=([a-z0-9]{32})'\nsecretGroup = 1\n"
    (pytester.path / ".gitleaks.toml").write_text(f"[extend]\nuseDefault = true\n{rule}", encoding="utf-8")
    written(
        pytester,
        "finds:",
        "  - { text: 'acme_key={{secret}}', pattern: '[a-z0-9]{32}' }",
        "ignores:",
        "  - { text: 'see acme_key=" + "0a1b2c3d4e5f6g7h" * 2 + " there' }",
    )
    result = pytester.runpytest_subprocess(NAME, binary)
    assert result.ret == 1
    result.assert_outcomes(failed=2)
    assert "not found in the text; reports acme_key, not its value" in result.stdout.str()


def test_a_test_of_a_rule_that_is_switched_off_names_the_entry(pytester: pytest.Pytester, binary: str) -> None:
    off = "[extend]\nuseDefault = true\ndisabledRules = ['github-pat']\n"
    (pytester.path / ".gitleaks.toml").write_text(off, encoding="utf-8")
    (pytester.path / NAME).write_text(
        "rules:\n  github-pat:\n    finds:\n      - { pattern: 'ghp_[a-z0-9]{36}', in: [yaml] }\n", encoding="utf-8"
    )
    result = pytester.runpytest_subprocess(NAME, binary)
    assert "it is switched off: .gitleaks.toml [extend] disabledRules" in result.stdout.str()
