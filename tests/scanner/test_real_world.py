"""Real repositories beside the scenarios, through the whole plugin: what is reported, what stays as it is."""

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from builders import git, secret
from corpus import shipped_scenarios
from histories import fast_import, growing, history, inline, make_hostile, merging, straight
from messages_server import Behaviour, Handler, MessagesServer, Recorded, good, serving
from ran import run_as

from gitleaks_eval.analysis.severity import LEVELS
from gitleaks_eval.reports.run.evaluation_report import _repository
from gitleaks_eval.reports.run.values import RealEvaluation

CACHE_HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
WITHOUT_A_TRUTH = {
    *(f"SC-{number}" for number in range(1, 9)),
    *(f"RV-{number}" for number in range(1, 5)),
    *("SD-5", "SD-6", "OQ-1", "IF-1", "EC-2"),
}
KEYS = {
    *("name", "commit", "shallow", "findings_by_rule", "findings_by_severity", "suppressions", "results"),
    *("source", "suppressions_total", "problem", "findings"),
}
OWN_CHECKS = """
from gitleaks_eval import check, check_at_most

@check("ACME-1", "At most two findings a file", category="House Rules")
def test_ACME_1_findings_a_file(analysis, evidence):
    busiest = max((file["secret_count"] for file in analysis.mapping("files").values()), default=0)
    check_at_most(evidence, 2, busiest, what="findings in one file")

@check("ACME-2", "As many as expected", category="House Rules")
def test_ACME_2_total(analysis, expected, evidence):
    check_at_most(evidence, expected.total_secrets, analysis.count("total_secrets"), what="findings")
"""
# A path that wants to be a colour, a table, a link, a placeholder, and to be read from right to left.
EVIL_PATH = "\x1b[31m\u202e|[x](y)`<b>{{ evidence }}.env"
# What changes from run to run.
VOLATILE = {"generated_at", "duration_ms", "nodeid", "scan_attempts", "trace_id"}


@dataclass(frozen=True)
class Ended:
    """A run of pytest that has ended, in a folder of its own."""

    folder: Path
    status: int
    output: str

    def report(self, name: str = "evaluation_report.json") -> dict[str, Any]:
        text = (self.folder / "gitleaks-eval-results" / name).read_text(encoding="utf-8")
        document: dict[str, Any] = json.loads(text)
        return document

    def repositories(self) -> dict[str, dict[str, Any]]:
        return {one["name"]: one for one in self.report()["real_world"]["repositories"]}

    def everything(self) -> bytes:
        """All that the run printed and left."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return b"\n".join([self.output.encode(), *(os.fsencode(path) + path.read_bytes() for path in files)])


def run(folder: Path, *arguments: str | Path, **environment: str) -> Ended:
    """Run pytest as a user does, on two of the shipped scenarios."""
    folder.mkdir()
    (folder / "test_house_rules.py").write_text(OWN_CHECKS, encoding="utf-8")
    scenarios = shipped_scenarios(folder.parent / "corpus", "api-keys", "historical-secrets")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITLEAKS_", "PYTEST", "ANTHROPIC_", "GIT_"))
    }
    command = ("--gitleaks-eval", "-W", "error", "--gitleaks-config=builtin", scenarios, *map(str, arguments))
    own = {"XDG_CACHE_HOME": str(CACHE_HOME), "TMPDIR": str(_temporary(folder)), **environment}
    ran = run_as(folder, command, {**kept, **own})
    # xdist has its own folder there.
    assert [path for path in _temporary(folder).iterdir() if not path.name.startswith("pytest-of-")] == []
    return Ended(folder, ran.status, ran.text)


def _temporary(folder: Path) -> Path:
    path = folder.parent / f"{folder.name}-tmp"
    path.mkdir(exist_ok=True)
    return path


def steady(value: Any) -> Any:
    """A report without what changes from run to run."""
    if isinstance(value, dict):
        is_timed = str(value.get("check_id")).startswith(("SP-", "EC-3", "SC-3"))
        changing = VOLATILE | ({"expected", "actual", "message"} if is_timed else set())
        return {name: steady(item) for name, item in value.items() if name not in changing}
    return [steady(item) for item in value] if isinstance(value, list) else value


def without_real(document: Mapping[str, Any]) -> Any:
    return steady({name: value for name, value in document.items() if name != "real_world"})


@dataclass(frozen=True)
class Repositories:
    """Three long histories, a hostile one, and the secrets in them."""

    folder: Path
    marks: Path
    secrets: list[str]


def make_suppressing(source: Path) -> list[str]:
    """Findings, and all that a repository can bring along to hide them; what is there to be found."""
    tokens = [secret("github-pat", f"hostile {number}") for number in range(4)]
    (source / "b.env").write_text(f"TOKEN={tokens[0]}\n", encoding="ascii")
    (source / "allowed.env").write_text(f"TOKEN={tokens[1]} # gitleaks:allow\n", encoding="ascii")
    (source / EVIL_PATH).write_text(f"TOKEN={tokens[2]}\n", encoding="ascii")
    (source / ".gitleaksignore").write_text("b.env:github-pat:1\n", encoding="ascii")
    (source / ".betterleaks.toml").write_text("[allowlist]\npaths = ['.*']\n", encoding="ascii")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", "findings")
    # A commit whose time zone no scanner can read has no id in a report.
    git(source, "checkout", "-q", "--orphan", "imported")
    (source / "old.env").write_text(f"TOKEN={tokens[3]}\n", encoding="ascii")
    git(source, "rm", "-rqf", "--cached", ".")
    git(source, "add", "old.env")
    tree = git(source, "write-tree").decode().strip()
    git(source, "checkout", "-qf", "main")
    who = "A <a@example.com> 1313584730"
    raw = f"tree {tree}\nauthor {who} +051800\ncommitter {who} +0000\n\nimported\n"
    (source.parent / "raw").write_text(raw, encoding="ascii")
    made = git(source, "hash-object", "-t", "commit", "-w", "--literally", str(source.parent / "raw"))
    git(source, "update-ref", "refs/heads/imported", made.decode().strip())
    return tokens


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Repositories:
    folder = tmp_path_factory.mktemp("repositories")
    values = [
        *history(folder / "api-keys", growing),
        *history(folder / "straight", straight),
        *history(folder / "merging", merging),
    ]
    hostile = folder / "hostile [x](y) {{ evidence }}"
    hostile.mkdir()
    git(hostile, "init", "-q", "-b", "main")
    values += make_suppressing(hostile)
    make_hostile(hostile, folder / "marks")
    for mark in (folder / "marks").iterdir():
        mark.unlink()
    (folder / "repos.txt").write_text(f"# ours\nstraight\nfile://{folder}/merging\n", encoding="ascii")
    return Repositories(folder, folder / "marks", values)


@pytest.fixture(scope="module")
def options(gitleaks: Callable[[str], Path], repositories: Repositories) -> list[str]:
    folder = repositories.folder
    return [
        f"--gitleaks-binary={gitleaks('8.30.1')}",
        f"--gitleaks-real-repo={folder / 'api-keys'}",
        f"--gitleaks-real-repo=@{folder / 'repos.txt'}",
        f"--gitleaks-real-repo={folder}/hostile [x](y) {{{{ evidence }}}}",
    ]


@pytest.fixture(scope="module")
def evaluated(options: list[str], tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run with the four repositories, own checks and heuristic judges, as talkative as pytest can be."""
    talkative = ("-vv", "-l", "--full-trace", "-rA", "--json-report", "--json-report-file=report.json")
    judges = ("--gitleaks-judges", "--gitleaks-judge-mode=heuristic")
    return run(tmp_path_factory.mktemp("evaluated") / "run", *options, *judges, *talkative, "test_house_rules.py")


@pytest.fixture(scope="module")
def alone(gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The same run without real repositories."""
    judges = ("--gitleaks-judges", "--gitleaks-judge-mode=heuristic")
    folder = tmp_path_factory.mktemp("alone") / "run"
    return run(folder, f"--gitleaks-binary={gitleaks('8.30.1')}", *judges, "test_house_rules.py")


# --- Whole ones


def test_three_long_histories_and_a_hostile_one_are_evaluated(evaluated: Ended) -> None:
    found = evaluated.repositories()
    assert evaluated.status == 0, evaluated.output
    assert list(found) == ["api-keys-2", "straight", "merging", "hostile-x-y-evidence"]
    for name in ("api-keys-2", "straight", "merging"):
        one = found[name]
        assert one["findings_by_rule"] == {"github-pat": 3}
        assert sum(one["findings_by_severity"].values()) == 3
        assert (one["shallow"], one["suppressions"], one["problem"]) == (False, [], None)
        assert re.fullmatch("[0-9a-f]{40}", one["commit"])


def test_both_json_reports_have_the_keys_of_the_contract(evaluated: Ended) -> None:
    for name in ("evaluation_report.json", "scorecard.json"):
        real_world = evaluated.report(name)["real_world"]
        assert real_world.keys() == {"repositories", "llm"}
        for one in real_world["repositories"]:
            assert one.keys() == KEYS
            for suppression in one["suppressions"]:
                assert suppression.keys() == {"kind", "file_path", "line_number", "obeyed", "hides", "note"}


def test_an_analysis_is_kept_of_each_and_one_of_an_equal_name_keeps_its_own(evaluated: Ended) -> None:
    folder = evaluated.folder / "gitleaks-eval-results/analysis"
    names = {"api-keys", "historical-secrets", "api-keys-2", "straight", "merging", "hostile-x-y-evidence"}
    assert {path.stem for path in folder.iterdir()} == names
    document = json.loads((folder / "api-keys-2.json").read_text(encoding="utf-8"))
    assert document["metadata"]["commit"] == evaluated.repositories()["api-keys-2"]["commit"]
    assert document["metadata"]["branch"] == "main"
    assert (document["data"]["secrets_in_head"], document["data"]["secrets_in_history"]) == (2, 1)


def test_the_checks_that_need_no_truth_run_and_no_other(evaluated: Ended) -> None:
    for one in evaluated.repositories().values():
        assert {result["check_id"] for result in one["results"]} == WITHOUT_A_TRUTH | {"ACME-1"}
        assert {result["outcome"] for result in one["results"]} <= {"passed", "not_applicable"}
    assert "::test_ACME_1_findings_a_file[straight] PASSED" in evaluated.output
    assert "::test_ACME_2_total[api-keys] PASSED" in evaluated.output
    assert "::test_ACME_2_total[straight]" not in evaluated.output


def test_nothing_else_in_the_reports_is_different_for_them(evaluated: Ended, alone: Ended) -> None:
    assert alone.status == 0
    for name in ("evaluation_report.json", "scorecard.json", "api-keys_eval.json"):
        assert without_real(evaluated.report(name)) == without_real(alone.report(name))
    assert not (evaluated.folder / "gitleaks-eval-results/straight_eval.json").exists()
    assert "real_world" not in alone.report()


def test_own_suppressions_are_reported_and_not_obeyed(evaluated: Ended) -> None:
    hostile = evaluated.repositories()["hostile-x-y-evidence"]
    assert hostile["findings_by_rule"] == {"github-pat": 4}
    listed = [(one["kind"], one["file_path"], one["obeyed"], one["hides"]) for one in hostile["suppressions"]]
    assert listed == [
        ("config", ".betterleaks.toml", False, None),
        ("config", ".gitleaks.toml", False, None),
        ("ignore-entry", ".gitleaksignore", False, 1),
        ("allow-comment", "allowed.env", False, 1),
    ]
    assert hostile["suppressions_total"] == 4


def test_no_command_of_the_hostile_repository_runs(evaluated: Ended, repositories: Repositories) -> None:
    assert evaluated.repositories()["hostile-x-y-evidence"]["commit"]
    assert list(repositories.marks.iterdir()) == []


def test_hostile_paths_are_escaped_wherever_they_are_shown(evaluated: Ended) -> None:
    results = evaluated.folder / "gitleaks-eval-results"
    document = json.loads((results / "analysis/hostile-x-y-evidence.json").read_text(encoding="utf-8"))
    assert EVIL_PATH in document["data"]["files"]
    everything = evaluated.everything()
    assert b"\x1b[31m" not in everything
    assert "\u202e".encode() not in everything
    card = (results / "scorecard.md").read_text(encoding="utf-8")
    assert "| hostile-x-y-evidence | " in card
    assert "[x](y)" not in card


def test_the_terminal_and_the_scorecard_say_what_was_found(evaluated: Ended) -> None:
    assert "4 real repositories" in evaluated.output
    assert "real  straight  3 findings; github-pat 3; severity HIGH 3" in evaluated.output
    assert re.search(r"real  hostile-x-y-evidence  4 findings; .*4 suppressions of its own, 0 obeyed", evaluated.output)
    card = (evaluated.folder / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert "## Real repositories" in card
    assert re.search(r"\| straight \| [0-9a-f]{12} \| github-pat 3 \|", card)


def test_the_findings_are_listed_in_the_reports_the_most_severe_first(evaluated: Ended) -> None:
    for name in ("evaluation_report.json", "scorecard.json"):
        for one in evaluated.report(name)["real_world"]["repositories"]:
            path = evaluated.folder / "gitleaks-eval-results/analysis" / f"{one['name']}.json"
            analysed = json.loads(path.read_text(encoding="utf-8"))["data"]["findings"]
            listed = one["findings"]
            assert len(listed) == len(analysed) == sum(one["findings_by_rule"].values())
            assert all(any(finding.items() <= other.items() for other in analysed) for finding in listed)
            assert not any({"secret_preview", "commit_author"} & finding.keys() for finding in listed)
            ranks = [LEVELS.index(finding["severity"]) for finding in listed]
            assert ranks == sorted(ranks, reverse=True)
    card = (evaluated.folder / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert (
        len(
            re.findall(
                r"^\| straight \| \S+:\d+ \| github-pat \| HIGH \| [0-9a-f]{12} \| (?:yes|no) \|$", card, re.MULTILINE
            )
        )
        == 3
    )


def test_a_long_list_of_findings_is_bounded_in_the_reports() -> None:
    finding = {"file_path": "a|b", "line_number": 1, "rule_id": "r", "severity": "LOW", "commit_hash": "c" * 40}
    many = [{**finding, "in_current_head": True, "secret_preview": "****"}] * 1001
    one = RealEvaluation("many", "/many", [], None, None, None, None, many)
    assert len(_repository(one)["findings"]) == 1000


def test_a_quiet_run_says_what_was_found_in_a_repository_that_the_user_named(
    gitleaks: Callable[[str], Path], repositories: Repositories, tmp_path: Path
) -> None:
    named = f"--gitleaks-real-repo=ours={repositories.folder / 'straight'}"
    ended = run(tmp_path / "quiet", f"--gitleaks-binary={gitleaks('8.30.1')}", named, "-q")
    assert "real  ours  3 findings; github-pat 3; severity HIGH 3\n" in ended.output
    assert list(ended.repositories()) == ["ours"]


def test_no_secret_of_a_real_repository_is_printed_or_kept(evaluated: Ended, repositories: Repositories) -> None:
    everything = evaluated.everything()
    grams = {token[start : start + 8].encode() for token in repositories.secrets for start in range(4, len(token) - 7)}
    assert [gram for gram in grams if gram in everything] == []


def test_heuristic_judges_look_at_them_in_a_mode_of_their_own(evaluated: Ended, alone: Ended) -> None:
    document = evaluated.report()
    llm = document["real_world"]["llm"]
    assert [verdict["outcome"] for verdict in llm["judges"]] == ["scored"] * 4
    assert not any(verdict["capped"] for verdict in llm["judges"])
    assert re.search(r"::test_judge\[real_world-detection_accuracy\] .*PASSED", evaluated.output)
    assert document["combined"] == alone.report()["combined"]
    # The truths of these two scenarios say nothing of severities.
    assert [verdict["score"] for verdict in document["llm"]["judges"]] == [5, 5, 5, None]


def test_parallel_workers_give_the_same_report(evaluated: Ended, options: list[str], tmp_path: Path) -> None:
    judges = ("--gitleaks-judges", "--gitleaks-judge-mode=heuristic")
    parallel = run(tmp_path / "run", *options, *judges, "-n", "2", "test_house_rules.py")
    assert parallel.status == 0, parallel.output
    for name in ("evaluation_report.json", "scorecard.json"):
        assert steady(parallel.report(name)) == steady(evaluated.report(name))


def test_of_a_check_that_is_selected_on_a_real_repository_alone_nothing_is_scored(
    options: list[str], tmp_path: Path
) -> None:
    ended = run(tmp_path / "run", *options[:2], "-k", "api-keys-2 and SC_1")
    assert ended.status == 0, ended.output
    assert "PARTIAL 0 of 78 checks, no decision" in ended.output
    assert "1 passed" in ended.output


# --- Older versions


@pytest.fixture(scope="module", params=["8.16.0", "8.18.4"])
def older(
    request: pytest.FixtureRequest,
    gitleaks: Callable[[str], Path],
    repositories: Repositories,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Ended]:
    folder = repositories.folder
    (hostile,) = folder.glob("hostile*")
    real = (f"--gitleaks-real-repo={folder / 'merging'}", f"--gitleaks-real-repo={hostile}")
    ended = run(tmp_path_factory.mktemp("older") / "run", f"--gitleaks-binary={gitleaks(request.param)}", *real)
    return request.param, ended


def test_older_versions_evaluate_them_and_say_what_they_must_obey(
    older: tuple[str, Ended], repositories: Repositories
) -> None:
    version, ended = older
    assert ended.status == 0, ended.output
    found = ended.repositories()
    assert found["merging"]["findings_by_rule"] == {"github-pat": 3}
    hostile = found["hostile-x-y-evidence"]
    comment = hostile["suppressions"][-1]
    obeys = version == "8.16.0"
    assert hostile["findings_by_rule"] == {"github-pat": 3 if obeys else 4}
    assert (comment["kind"], comment["obeyed"], comment["hides"]) == ("allow-comment", obeys, None if obeys else 1)
    assert [one["obeyed"] for one in hostile["suppressions"][:-1]] == [False] * 3
    assert list(repositories.marks.iterdir()) == []


# --- Those that fail


@pytest.fixture(scope="module")
def failing(
    gitleaks: Callable[[str], Path], repositories: Repositories, tmp_path_factory: pytest.TempPathFactory
) -> Ended:
    """A run with a whole repository, a shallow one, and five that cannot be evaluated."""
    base = tmp_path_factory.mktemp("failing")
    shutil.copytree(repositories.folder / "straight", base / "broken")
    lost = git(base / "broken", "rev-parse", "HEAD").decode().strip()
    (base / "broken/.git/refs/heads/main").write_text(f"{lost[:-1]}{'0' if lost[-1] != '0' else '1'}\n")
    for name in ("endless", "vanished", "whole"):
        shutil.copytree(repositories.folder / "straight", base / name)
    os.mkfifo(base / "endless/.git/objects/info/alternates")
    (base / "no-repository").mkdir()
    git(base, "clone", "-q", "--depth=1", f"file://{base}/whole", "shallow")
    # What it borrows from another one is not its own, and comes with the clone.
    shutil.copytree(repositories.folder / "straight", base / "large")
    (base / "large/noise").write_bytes(os.urandom(3 << 20))
    git(base / "large", "add", "noise")
    git(base / "large", "commit", "-q", "-m", "noise")
    git(base, "clone", "-q", "--shared", str(base / "large"), "borrowing")
    names = ("borrowing", "broken", "endless", "no-repository", "shallow", "whole")
    real = [f"--gitleaks-real-repo={base / name}" for name in names]
    scanner = f"--gitleaks-binary={gitleaks('8.30.1')}"
    return run(
        base / "run",
        scanner,
        *real,
        *("--gitleaks-scan-timeout=3", "--gitleaks-real-repo-disk=0.002"),
        "test_house_rules.py",
    )


def test_a_repository_that_fails_changes_only_its_own_result(failing: Ended, alone: Ended) -> None:
    assert failing.status == 1
    document, other = failing.report(), alone.report()
    for name in ("summary", "incomplete", "partial", "reasons", "scenarios", "dimensions"):
        assert steady(document[name]) == steady(other[name])
    found = failing.repositories()
    for name, problem in (
        ("borrowing", "wrote more than 2 MiB and was stopped; allow more GiB with --gitleaks-real-repo-disk"),
        ("broken", "cannot be cloned"),
        ("endless", "took longer than 3 s"),
        ("no-repository", "it is no git repository"),
    ):
        one = found[name]
        assert problem in one["problem"]
        assert {result["outcome"] for result in one["results"]} == {"error"}
        assert len(one["results"]) == len(WITHOUT_A_TRUTH) + 1
        assert (one["commit"], one["findings_by_rule"], one["findings_by_severity"]) == (None, None, None)
        assert not (failing.folder / f"gitleaks-eval-results/analysis/{name}.json").exists()
    assert found["whole"]["findings_by_rule"] == {"github-pat": 3}
    assert {result["outcome"] for result in found["whole"]["results"]} <= {"passed", "not_applicable"}


def test_the_decision_stays_and_what_failed_is_said(failing: Ended) -> None:
    assert "STRONG_PASS  3 of 3 expected secrets found" in failing.output
    assert re.search(r"real  no-repository  not evaluated: .*it is no git repository", failing.output)
    card = (failing.folder / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert re.search(r"\| no-repository \| .* it is no git repository", card)


def test_a_shallow_history_is_said_to_be_one(failing: Ended) -> None:
    one = failing.repositories()["shallow"]
    assert one["shallow"] is True
    # Of three secrets one was removed before, and a file that stays is as if it were new.
    assert one["findings_by_rule"] == {"github-pat": 2}
    assert "SHALLOW: history is cut off" in failing.output
    card = (failing.folder / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert "shallow: history is cut off" in card


# --- What is wrong on sight


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--gitleaks-eval", "--gitleaks-real-repo=nowhere"], "--gitleaks-real-repo: .*nowhere does not exist"),
        (["--gitleaks-eval", "--gitleaks-real-repo=@nowhere"], "--gitleaks-real-repo: the list .*cannot be read"),
        (["--gitleaks-eval", "--gitleaks-real-repo=.", "--gitleaks-analysis=."], "--gitleaks-real-repo: .*is scanned"),
        (["--gitleaks-judges", "--gitleaks-real-repo=."], "--gitleaks-real-repo: .*run with --gitleaks-eval"),
        (
            [
                *("--gitleaks-eval", "--gitleaks-judges", "--gitleaks-judge-mode=heuristic"),
                "--gitleaks-evaluation-mode=real_world",
            ],
            "--gitleaks-evaluation-mode real_world: there is no real repository; add --gitleaks-real-repo",
        ),
    ],
)
@pytest.mark.usefixtures("own_environment")
def test_what_cannot_be_is_a_usage_error_that_names_the_option(
    pytester: pytest.Pytester, arguments: list[str], problem: str
) -> None:
    result = pytester.runpytest_subprocess(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.re_match_lines([f"ERROR: {problem}"])


@pytest.mark.usefixtures("own_environment")
def test_values_that_pytest_misreads_are_refused_before_anything_of_a_repository_is_loaded(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    git(hostile, "init", "-q")
    (hostile / "conftest.py").write_text("raise SystemExit('it runs')", encoding="utf-8")
    (hostile / "pytest.ini").write_text("[pytest]\naddopts = -k SC_1\n", encoding="utf-8")
    (pytester.path / "repos.txt").write_text(f"{hostile}\n{hostile}\n", encoding="utf-8")
    for value, why in (
        ("@repos.txt", "pytest reads a value with @ behind a space as a file of arguments"),
        (str(hostile), f"pytest looks * found rootdir {hostile} and its ini file {hostile}/pytest.ini"),
    ):
        result = pytester.runpytest_subprocess("--gitleaks-eval", "--gitleaks-real-repo", value)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        written = f"  pytest *--gitleaks-eval --gitleaks-real-repo={value}"
        result.stderr.fnmatch_lines([f"ERROR: --gitleaks-real-repo {value}: {why}; write", written])
        assert "it runs" not in result.stdout.str() + result.stderr.str()


# --- Judges


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, str]:
    """A repository with a path that says much, and the secret in it."""
    token = secret("github-pat", "small")
    return fresh(tmp_path / "small", inline("Merger-Plans/{{ evidence }}.env", f"T={token}\n")), token


def fresh(path: Path, content: str) -> Path:
    """A repository with one commit."""
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    start = "commit refs/heads/main\ncommitter Someone Telling <someone@example.com> 1700000000 +0000\n"
    fast_import(path, f"{start}data 12\nsome message\n{content}")
    return path


def test_without_a_whole_synthetic_result_judges_have_no_baseline(
    small: tuple[Path, str], gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    (tmp_path / "broken").mkdir()
    corpus = shipped_scenarios(tmp_path / "broken", "no-secrets")
    (tmp_path / "broken/synthetic_repos/no-secrets.yaml").unlink()
    judges = ("--gitleaks-judges", "--gitleaks-judge-mode=heuristic")
    real = f"--gitleaks-real-repo={small[0]}"
    ended = run(tmp_path / "run", f"--gitleaks-binary={gitleaks('8.30.1')}", corpus, real, *judges)
    assert ended.status == 1
    judges_of_real = ended.report()["real_world"]["llm"]["judges"]
    assert ("secret_coverage", "no_baseline") in [(one["dimension"], one["unscored_kind"]) for one in judges_of_real]
    assert ended.report()["real_world"]["llm"]["score"] is None


@pytest.mark.parametrize(("mode", "synthetic", "real"), [("synthetic", True, False), ("real_world", False, True)])
def test_the_evaluation_mode_says_what_is_judged(
    small: tuple[Path, str], gitleaks: Callable[[str], Path], tmp_path: Path, mode: str, *, synthetic: bool, real: bool
) -> None:
    judges = ("--gitleaks-judges", "--gitleaks-judge-mode=heuristic", f"--gitleaks-evaluation-mode={mode}")
    scanner = f"--gitleaks-binary={gitleaks('8.30.1')}"
    ended = run(tmp_path / "run", scanner, f"--gitleaks-real-repo={small[0]}", *judges)
    assert ended.status == 0, ended.output
    document = ended.report()
    assert ("llm" in document, "combined" in document) == (synthetic, synthetic)
    assert (document["real_world"]["llm"] is not None) == real
    assert document["real_world"]["repositories"][0]["findings_by_rule"] == {"github-pat": 1}
    assert document["summary"]["decision"] == "STRONG_PASS"


def echoing(token: str, other: str) -> Behaviour:
    """Good answers, but each quotes a secret of a real repository."""

    def behave(handler: Handler, request: Recorded) -> None:
        is_real = "real_world" in json.dumps(request.body["messages"])
        good(reasoning=f"It holds {(token if is_real else other)}.")(handler, request)

    return behave


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with serving() as api:
        yield api


@pytest.mark.parametrize(("word", "outcome"), [("advisory", "skipped"), ("gate", "failed")])
def test_a_low_verdict_on_real_repositories_fails_a_run_only_where_it_is_asked_to(
    small: tuple[Path, str],
    gitleaks: Callable[[str], Path],
    tmp_path: Path,
    server: MessagesServer,
    *,
    word: str,
    outcome: str,
) -> None:
    def low(handler: Handler, request: Recorded) -> None:
        is_real = "real_world" in json.dumps(request.body["messages"])
        good(score=1 if is_real else 5)(handler, request)

    server.always = low
    ended = run(
        tmp_path / "run",
        *(f"--gitleaks-binary={gitleaks('8.30.1')}", f"--gitleaks-real-repo={small[0]}", "--gitleaks-judges"),
        f"--gitleaks-judge-real-world={word}",
        "-rA",
        **server.environment(tmp_path / "no-profiles"),
    )
    assert ended.status == (0 if word == "advisory" else 1), ended.output
    assert f"4 {outcome}" in ended.output


@pytest.mark.parametrize("shows_paths", [False, True])
def test_prompts_hold_paths_only_where_the_user_wants_it_and_a_secret_that_is_echoed_is_kept_nowhere(
    small: tuple[Path, str],
    gitleaks: Callable[[str], Path],
    tmp_path: Path,
    server: MessagesServer,
    *,
    shows_paths: bool,
) -> None:
    path, token = small
    other = secret("github-pat", "other")
    beside = fresh(tmp_path / "beside", inline("a.env", f"T={other}\n"))
    server.always = echoing(token, other)
    ended = run(
        tmp_path / "run",
        *(f"--gitleaks-binary={gitleaks('8.30.1')}", f"--gitleaks-real-repo={path}", "--gitleaks-judges"),
        f"--gitleaks-real-repo={beside}",
        *(["-o", "gitleaks_judge_real_paths=true"] if shows_paths else []),
        *("-vv", "-l", "--full-trace", "-rA", "--json-report", "--json-report-file=report.json"),
        **server.environment(tmp_path / "no-profiles"),
        ANTHROPIC_LOG="debug",
    )
    prompts = [json.dumps(request.body, ensure_ascii=False) for request in server.posts]
    assert len(prompts) == 7
    about_real = [prompt for prompt in prompts if "real_world" in prompt]
    assert len(about_real) == 4
    assert [("Merger-Plans" in prompt) for prompt in about_real] == [shows_paths] * 4
    # Each sees what its dimension is about.
    assert len({prompt.split("<evidence>")[1].split("</evidence>")[0] for prompt in about_real}) == 4
    for prompt in prompts:
        assert not [word for word in ("Someone", "some message", token[4:12], str(path)) if word in prompt]
    document = ended.report()
    # Cut out of what is shown, and the verdict stands; that on real repositories decides nothing.
    assert {one["reasoning"] for one in document["real_world"]["llm"]["judges"]} == {"It holds ghp_********."}
    assert all(one["advisory"] for one in document["real_world"]["llm"]["judges"])
    assert [one["outcome"] for one in document["llm"]["judges"]] == ["scored"] * 3 + ["not_applicable"]
    # What was reported there is no piece to look for in a verdict on planted secrets: none of these was asked about it.
    assert {one["reasoning"] for one in document["llm"]["judges"][:3]} == {f"It holds {other}."}
    everything = ended.everything()
    assert [start for start in range(4, len(token) - 7) if token[start : start + 8].encode() in everything] == []
    assert server.key.encode() not in everything


def test_nothing_of_a_run_is_left_in_threads() -> None:
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gitleaks-eval")]
