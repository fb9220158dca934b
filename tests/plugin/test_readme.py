"""The README's words alone are enough to add a scenario, a check and a rule."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from builders import IN_CORE
from corpus import analysed_corpus, outcomes, report

from gitleaks_eval.checks.catalogue import as_markdown, catalogue
from gitleaks_eval.coverage.places import usual_places
from gitleaks_eval.plugin.folders import LINT
from gitleaks_eval.scoring.evaluated import LINT_CHECKS

pytestmark = pytest.mark.usefixtures("own_environment")

ROOT = Path(__file__).parents[2]
# Those of the version that the README shows.
RULES = 222
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def options_of(text: str) -> list[str]:
    return [line.removeprefix("$ pytest ") for line in text.splitlines() if line.startswith("$ pytest ")]


def test_a_scenario_a_rule_and_a_check_of_ones_own_work_as_the_readme_says(pytester: pytest.Pytester) -> None:
    own_check = next(block for block in blocks("python") if "@check" in block)
    (truth,) = blocks("json")
    recipe = next(block for block in blocks("yaml") if "acme_" in block)
    (rule,) = (block for block in blocks("toml") if "acme_" in block)
    for name, content in {
        "checks/test_house_rules.py": own_check,
        "acme/ground_truth/acme-token.json": truth,
        "acme/synthetic_repos/acme-token.yaml": recipe,
        ".gitleaks.toml": rule,
    }.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    commands = [options for block in blocks("console") for options in options_of(block)]
    assert "--gitleaks-eval checks" in commands
    own_scenarios = next(command for command in commands if "acme" in command)
    result = pytester.runpytest_subprocess(*own_scenarios.split(), "checks")
    assert result.ret == 0
    document = report(pytester)
    assert document["summary"]["guarded_decision"] == "STRONG_PASS"
    assert document["summary"]["findings"]["expected"] == 18
    assert document["scanner"]["config"] == ".gitleaks.toml > builtin"
    assert outcomes(document)["ACME-1[acme-token]"] == "passed"
    assert outcomes(document)["ACME-1[no-secrets]"] == "not_applicable"
    assert outcomes(document)["SA-10[acme-token]"] == "passed"


def test_a_judge_of_ones_own_works_as_the_readme_says(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(next(block for block in blocks("python") if "Judge(" in block))
    pytester.makeini("[pytest]\ngitleaks_judge_prompts = prompts\n")
    (pytester.mkdir("prompts") / "report_size.md").write_text("How long is it?\n{{ evidence }}\n", encoding="utf-8")
    options = analysed_corpus(pytester.path / "corpus")
    result = pytester.runpytest_subprocess(
        "--gitleaks-eval", "--gitleaks-judges", "--gitleaks-judge-mode=heuristic", *options
    )
    assert result.ret == 0
    weights = {judge["dimension"]: judge["weight"] for judge in report(pytester)["llm"]["judges"]}
    assert weights == pytest.approx(
        {
            "detection_accuracy": 0.28,
            "false_positive": 0.2,
            "secret_coverage": 0.16,
            "severity_classification": 0.16,
            "report_size": 0.2,
        }
    )


def test_without_the_rule_the_own_secret_is_missed(pytester: pytest.Pytester) -> None:
    recipe = next(block for block in blocks("yaml") if "acme_" in block)
    for name, content in {"acme/acme-token.json": blocks("json")[0], "acme/acme-token.yaml": recipe}.items():
        (pytester.path / "acme").mkdir(exist_ok=True)
        (pytester.path / name).write_text(content, encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-scenarios=acme")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAIL  0 of 1 expected secrets found, 1 MISSED*", "MISSED  acme-token  settings.ini:2*"]
    )


def test_the_catalogue_in_the_docs_is_true() -> None:
    assert (ROOT / "docs/checks.md").read_text(encoding="utf-8") == as_markdown(), (
        "run: python -m gitleaks_eval.checks > docs/checks.md"
    )


def test_each_count_of_checks_in_the_docs_is_that_of_the_catalogue() -> None:
    texts = [README, *((ROOT / name).read_text(encoding="utf-8") for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"))]
    said = [int(count) for text in texts for count in re.findall(r"(\d+) checks\b", text)]
    assert said
    assert set(said) == {len(catalogue())} == {len({entry.check_id for entry in catalogue()})}
    # The core, the two tests of the configuration, rules and places.
    places = sum(not place.is_large and not place.is_dropped for place in usual_places())
    assert f"collected {IN_CORE + len(catalogue(LINT)) + RULES + places} items" in README
    assert f"tested: {RULES} of {RULES} rules" in README


def test_the_tests_of_the_configuration_are_those_that_a_comparison_knows() -> None:
    assert tuple(entry.check_id for entry in catalogue(LINT)) == LINT_CHECKS


def test_the_readme_names_every_option() -> None:
    helps = subprocess.run([sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True)
    for option in {*re.findall(r"--gitleaks-[a-z-]+", helps.stdout), "gitleaks_severity_policy"}:
        assert option in README, option


def test_the_two_lines_are_what_ci_runs() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    lines = [block.removeprefix("$ ").strip() for block in blocks("console")[:2]]
    for line in lines:
        assert line in script, line


def test_the_job_for_ci_shows_what_the_run_itself_says_and_no_file_that_another_may_have_left() -> None:
    (job,) = (block for block in blocks("yaml") if "runs-on" in block)
    assert "gitleaks-eval-results" not in job
    assert "GITHUB_STEP_SUMMARY" in README
