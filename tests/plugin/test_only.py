"""What is evaluated: corpora and real repositories without the shipped scenarios, and figures of their own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git, secret
from corpus import report, shipped_scenarios

from gitleaks_eval.analysis.metrics import metrics_json
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.engine.settings.selection import DEFAULT
from gitleaks_eval.scoring.saved import evaluated_from_report

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
            "STRONG_PASS  1 of 1 expected secrets found, 0 unexpected, canary found",
            "documented score 5.00 STRONG_PASS",
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
    assert report(pytester)["summary"]["guarded_decision"] == "FAIL"


def test_real_repositories_alone_have_no_decision(pytester: pytest.Pytester, options: list[str]) -> None:
    named = repository(pytester.path / "real")
    result = pytester.runpytest_subprocess(*options[:2], named, "--gitleaks-only=repos")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["NO DECISION  nothing that was evaluated has a ground truth", "real  real  1 finding; *"]
    )
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert (document["summary"]["decision"], document["summary"]["guarded_decision"]) == (None, None)
    assert "**no decision: nothing that was evaluated has a ground truth**" in scorecard(pytester)


def test_judges_of_real_repositories_alone_have_no_baseline_and_look_at_nothing_planted(
    pytester: pytest.Pytester, options: list[str]
) -> None:
    judges = ["--gitleaks-judges", "--gitleaks-judge-mode=heuristic", repository(pytester.path / "real")]
    result = pytester.runpytest_subprocess(*options[:2], *judges, "--gitleaks-only=repos")
    # Their judges are advisory.
    assert result.ret == 0
    result.stdout.no_fnmatch_line("0 categories *")
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert "llm" not in document
    of_real = document["real_world"]["llm"]["judges"]
    assert ("secret_coverage", "no_baseline") in [(one["dimension"], one["unscored_kind"]) for one in of_real]
    mode = "--gitleaks-evaluation-mode=synthetic"
    wrong = pytester.runpytest_subprocess(*options[:2], *judges, "--gitleaks-only=repos", mode)
    assert wrong.ret == USAGE_ERROR
    wrong.stderr.fnmatch_lines(["ERROR: --gitleaks-evaluation-mode synthetic: nothing that has a ground truth is *"])


@pytest.mark.usefixtures("usual_kinds")
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


def test_the_usual_kinds_are_what_is_evaluated_anyway(pytester: pytest.Pytester, options: list[str]) -> None:
    shipped = shipped_scenarios(pytester.path / "s", "private-keys")
    pytester.runpytest_subprocess(*options, shipped, f"--gitleaks-only={','.join(DEFAULT)}")
    document = report(pytester)
    assert [one["name"] for one in document["scenarios"]] == ["labelled", "private-keys"]
    assert "only" not in document


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--gitleaks-only=corpus"], "--gitleaks-only 'corpus': 'corpus' is not one of scenarios, rules, places*"),
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


# --- figures of corpora


LABELLED = {
    "found.py": '# ruleid: github-pat\ntoken = "{0}"\n',
    "wrong.py": '# ok: github-pat\ntoken = "{1}"\n',
    "unlabelled.py": 'token = "{2}"\n',
    "other.py": '# ok: private-key\ntoken = "{3}"\n',
    "missed.py": "# ruleid: github-pat\nnothing = 1\n",
}


@pytest.fixture
def labelled(pytester: pytest.Pytester, options: list[str]) -> list[str]:
    """A corpus with one finding found, one not, one that is wrong, and two of which no label says anything."""
    tokens = [secret("github-pat", f"labelled {number}") for number in range(4)]
    for name, content in LABELLED.items():
        (pytester.path / "labelled" / name).write_text(content.format(*tokens), encoding="utf-8")
    (pytester.path / "labelled/token.py").unlink()
    return options


def test_unlabelled_findings_are_counted_apart_from_wrong_ones_and_corpora_apart_from_what_is_planted(
    pytester: pytest.Pytester, labelled: list[str]
) -> None:
    result = pytester.runpytest_subprocess(*labelled, shipped_scenarios(pytester.path / "s", "private-keys"))
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAIL  * 1 MISSED, 1 unexpected, 2 unlabelled, *",
            "UNLABELLED  labelled  other.py:2  github-pat  *",
            "UNLABELLED  labelled  unlabelled.py:1  github-pat  *",
            "UNEXPECTED  labelled  wrong.py:2  github-pat  *",
            "corpus  labelled  precision n/a (n=2), recall n/a (n=2), F1 n/a (n=3); 1 found, *1 wrong, 2 unlabelled",
        ]
    )
    document = report(pytester)
    assert schema_problems("report", document) == []
    planted, corpora = document["metrics"], document["corpora"]
    assert set(planted["by_scenario"]) == {"private-keys"}
    assert (planted["precision"], planted["recall"], planted["unlabelled"]) == (1, 1, 0)
    assert [corpora["by_scenario"]["labelled"][name] for name in ("tp", "fn", "fp", "unlabelled")] == [1, 1, 1, 2]
    assert (corpora["precision"], corpora["recall"]) == (0.5, 0.5)
    assert corpora["by_rule"]["github-pat"]["unlabelled"] == 2
    assert {name: document["summary"]["findings"][name] for name in ("unexpected", "unlabelled")} == {
        "unexpected": 1,
        "unlabelled": 2,
    }
    unlabelled = [one["file_path"] for one in document["findings"] if not one.get("labelled", True)]
    assert unlabelled == ["other.py", "unlabelled.py"]
    lines = scorecard(pytester).splitlines()
    assert "| labelled | n/a (n=2) | n/a (n=2) | n/a (n=3) | 1 | 1 | 1 | 2 |" in lines
    assert any(line.startswith("| Precision, recall, F1 of what is planted | n/a (n=") for line in lines)
    assert sum(line.startswith("| unlabelled | labelled | ") for line in lines) == 2


def test_a_corpus_with_unlabelled_findings_alone_is_no_strong_pass(
    pytester: pytest.Pytester, labelled: list[str]
) -> None:
    for name in ("wrong.py", "missed.py"):
        (pytester.path / "labelled" / name).unlink()
    result = pytester.runpytest_subprocess(*labelled, "--gitleaks-only=corpora")
    result.stdout.fnmatch_lines(["WEAK_PASS  1 of 1 expected secrets found, 0 unexpected, 2 unlabelled, *"])


def test_a_saved_report_knows_what_is_unlabelled_and_what_is_a_corpus(
    pytester: pytest.Pytester, labelled: list[str]
) -> None:
    pytester.runpytest_subprocess(*labelled, "--gitleaks-only=corpora")
    document = report(pytester)
    saved = evaluated_from_report(document, "saved.json")
    assert saved.corpora == {"labelled"}
    assert metrics_json(saved.of_corpora()) == document["corpora"]
    assert saved.planted().total.tp == 0
