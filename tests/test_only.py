"""What is evaluated: corpora and real repositories without the shipped scenarios, and figures of their own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git, secret
from corpus import report, shipped_scenarios

from gitleaks_eval.kinds import ALL
from gitleaks_eval.schema import schema_problems

pytestmark = pytest.mark.usefixtures("own_environment")

USAGE_ERROR = pytest.ExitCode.USAGE_ERROR
CORPUS = "--gitleaks-corpus=annotated:labelled"


@pytest.fixture
def options(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> list[str]:
    """A scanner, and a corpus of which it finds all that is labelled, and nothing else."""
    folder = pytester.mkdir("labelled")
    token = secret("github-pat", "only")
    (folder / "token.py").write_text(f'# ruleid: github-pat\ntoken = "{token}"\n', encoding="utf-8")
    return ["--gitleaks-eval", f"--gitleaks-binary={gitleaks('8.30.1')}", CORPUS]


@pytest.fixture
def own_rules(pytester: pytest.Pytester) -> str:
    """A configuration with a rule id of its own; the option that names it."""
    rule = {"id": "house-token", "description": "a token", "regex": "gh[p]_[0-9a-zA-Z]{36}"}
    lines = [f"{name} = '{value}'" for name, value in rule.items()]
    (pytester.path / "own.toml").write_text("\n".join(["[[rules]]", *lines, ""]), encoding="utf-8")
    labelled = pytester.path / "labelled/token.py"
    labelled.write_text(labelled.read_text(encoding="utf-8").replace("github-pat", "house-token"), encoding="utf-8")
    return "--gitleaks-config=own.toml"


def repository(folder: Path) -> str:
    """A real repository with a token; the option that names it."""
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text(f'token = "{secret("github-pat", "real")}"\n', encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return f"--gitleaks-real-repo={folder}"


def scorecard(pytester: pytest.Pytester) -> str:
    return (pytester.path / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
def test_a_corpus_alone_has_a_decision_of_its_own_that_says_so(
    pytester: pytest.Pytester, options: list[str], own_rules: str, parallel: list[str]
) -> None:
    result = pytester.runpytest_subprocess(*options, own_rules, "--gitleaks-only=corpora,repos", *parallel)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "gitleaks-eval: * | 1 scenario (annotated:labelled) | only corpora, repos",
            "STRONG_PASS  1 of 1 expected secrets found, 0 unexpected, canary found  (score 5.00)",
            "only corpora, repos: nothing else has a share in the decision",
        ]
    )
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert (document["only"], [one["name"] for one in document["scenarios"]]) == (["corpora", "repos"], ["labelled"])
    assert "| Evaluated | only corpora, repos: nothing else has a share in the decision |" in scorecard(pytester)


def test_beside_the_shipped_scenarios_a_corpus_of_own_rules_cannot_pass(
    pytester: pytest.Pytester, options: list[str], own_rules: str
) -> None:
    result = pytester.runpytest_subprocess(*options, own_rules, shipped_scenarios(pytester.path / "s", "cloud-mixed"))
    assert result.ret == 1
    assert "only" not in report(pytester)


def test_real_repositories_alone_have_no_decision(pytester: pytest.Pytester, options: list[str]) -> None:
    named = repository(pytester.path / "real")
    result = pytester.runpytest_subprocess(*options[:2], named, "--gitleaks-only=repos")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["NO DECISION  nothing that was evaluated has a ground truth", "real  real  1 findings*"]
    )
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert (document["summary"]["decision"], document["summary"]["guarded_decision"]) == (None, None)
    assert "**No decision: nothing that was evaluated has a ground truth**" in scorecard(pytester)


def test_scenarios_alone_leave_out_what_the_ini_file_names(pytester: pytest.Pytester, options: list[str]) -> None:
    repository(pytester.path / "real")
    pytester.makeini(
        "[pytest]\ngitleaks_only = scenarios\ngitleaks_corpus = annotated:labelled\ngitleaks_real_repo = real\n"
    )
    result = pytester.runpytest_subprocess(*options[:2], shipped_scenarios(pytester.path / "s", "private-keys"))
    assert result.ret == 0
    document = report(pytester)
    assert ([one["name"] for one in document["scenarios"]], document["only"]) == (["private-keys"], ["scenarios"])
    assert "real_world" not in document


def test_all_kinds_are_what_is_evaluated_anyway(pytester: pytest.Pytester, options: list[str]) -> None:
    shipped = shipped_scenarios(pytester.path / "s", "private-keys")
    pytester.runpytest_subprocess(*options, shipped, f"--gitleaks-only={','.join(ALL)}")
    document = report(pytester)
    assert [one["name"] for one in document["scenarios"]] == ["labelled", "private-keys"]
    assert "only" not in document


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--gitleaks-only=corpus"], "--gitleaks-only 'corpus': 'corpus' is not one of scenarios, corpora, repos"),
        (["--gitleaks-only="], "--gitleaks-only '': '' is not one of *"),
        (["--gitleaks-only=corpora,"], "--gitleaks-only 'corpora,': '' is not one of *"),
        (["--gitleaks-only=corpora"], "--gitleaks-only 'corpora': there is none; name some with --gitleaks-corpus"),
        (
            ["--gitleaks-only=corpora,repos"],
            "--gitleaks-only 'corpora,repos': there is none; name some with --gitleaks-corpus or --gitleaks-real-repo",
        ),
        (
            ["--gitleaks-only=corpora", "--gitleaks-analysis=.", "-o", f"gitleaks_corpus={CORPUS.partition('=')[2]}"],
            "--gitleaks-only=corpora: nothing of it is evaluated in this run; leave it out",
        ),
        (
            ["--gitleaks-only=scenarios", CORPUS],
            f"{CORPUS.replace('=', ' ')}: is not evaluated beside --gitleaks-only;*",
        ),
        (
            ["--gitleaks-only=corpora", CORPUS, "--gitleaks-scenarios=core"],
            "--gitleaks-scenarios core: is not evaluated beside --gitleaks-only; leave one of the two out",
        ),
    ],
)
def test_what_cannot_be_meant_ends_with_status_4(pytester: pytest.Pytester, arguments: list[str], problem: str) -> None:
    result = pytester.runpytest_subprocess("--gitleaks-eval", *arguments)
    assert result.ret == USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {problem}"])
