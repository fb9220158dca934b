"""Each thing that can be added is added in one place, and then works: here one of each is."""

import json
from pathlib import Path

import pytest
from corpus import KEY, TOKEN, analysed_corpus, write_analysis

pytestmark = pytest.mark.usefixtures("own_environment")

CHECK = """
from gitleaks_eval import check, check_at_most

@check("ACME-1", "At most two findings", category="House Rules", {more})
def test_ACME_1_findings(analysis, evidence):
    check_at_most(evidence, 2, len(analysis.findings()), what="findings")
"""


@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
@pytest.mark.parametrize(
    ("about", "failures", "verdict"),
    [('"findings"', 0, "REVIEW"), ('["speed"]', 0, "REVIEW"), ("None", 1, "REGRESSION")],
)
def test_what_the_mark_of_a_check_says_is_all_that_a_comparison_and_a_scorecard_ask(
    pytester: pytest.Pytester, about: str, failures: int, verdict: str, parallel: list[str]
) -> None:
    (pytester.path / "test_house.py").write_text(CHECK.format(more=f"critical=True, about={about}"), encoding="utf-8")
    options = ["--gitleaks-eval", "test_house.py", *analysed_corpus(pytester.path / "corpus"), *parallel]
    assert pytester.runpytest_subprocess(*options, "--gitleaks-save-baseline=base.json").ret == 0
    write_analysis(pytester.path / "corpus/analyses", "leaky", [KEY, TOKEN, ("new.env", "github-pat", 1)])
    compared = ["--gitleaks-baseline=base.json", "--gitleaks-fail-on=regression"]
    result = pytester.runpytest_subprocess(*options, *compared)
    assert (result.ret, result.parseoutcomes().get("failed", 0)) == (failures, failures)
    result.stdout.fnmatch_lines([f"{verdict}  *"])
    card = json.loads((pytester.path / "gitleaks-eval-results/scorecard.json").read_text(encoding="utf-8"))
    assert "ACME-1" in {one["check_id"] for one in card["critical_failures"]}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("critical=1", "`critical` of a check is True or False, not 1"),
        ('about="size"', "`about` of a check is one of findings, speed, or both, not 'size'"),
        ("about=1", "`about` of a check is a text or several, not 1"),
    ],
)
def test_a_mark_that_says_what_nobody_knows_is_refused(pytester: pytest.Pytester, said: str, message: str) -> None:
    check = CHECK.format(more=said).replace("@check(", "@pytest.mark.gitleaks_check(")
    (pytester.path / "test_house.py").write_text(f"import pytest\n{check}", encoding="utf-8")
    result = pytester.runpytest_subprocess("--gitleaks-eval", "test_house.py", *analysed_corpus(Path("corpus")))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}; write @check(id, name, category=...)*".replace("[", "[[]")])
