"""The line of a comparison of many repositories: which shard it is, and what would not be looked at."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from fleets import row
from ran import RESULTS

from gitleaks_eval import command
from gitleaks_eval.command.compare_list import shard_of
from gitleaks_eval.command.line import names_many, read_line
from gitleaks_eval.command.list_run import progress_line
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.engine.fleet.fleet import Progress
from gitleaks_eval.reports.fleet.repository_rows import row_line
from gitleaks_eval.reports.fleet.shards import Question, shard_pieces

pytestmark = pytest.mark.usefixtures("own_environment")
CANDIDATES = ["--config", "base.toml", "--config", "head.toml"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("base", "head"):
        (tmp_path / f"{name}.toml").write_text(f"# {name}\n[extend]\nuseDefault = true\n", encoding="ascii")
    (tmp_path / "list.txt").write_text("gone\n", encoding="ascii")
    (tmp_path / "shop/.git").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["--repo", "@list.txt"], True),
        (["--repo", "shop", "--repo", "@list.txt"], True),
        (["--repo", "."], True),
        (["--repo", "shop"], False),
        (["--repo", "name=shop"], False),
        (["--repo", "https://example.com/shop.git"], False),
        (["--repo", "shop", "--shard", "1/2"], True),
        ([], False),
    ],
)
def test_a_list_or_a_folder_of_clones_is_many_repositories_and_one_is_a_test_session(
    line: list[str], *, expected: bool
) -> None:
    assert names_many(read_line(["compare", *CANDIDATES, *line]).options) == expected


@pytest.mark.parametrize(
    ("text", "variables", "expected"),
    [
        ("2/3", {}, (2, 3)),
        ("1/1", {"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "3"}, (1, 1)),
        ("", {"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "3"}, (2, 3)),
        ("", {"CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "4"}, (1, 4)),
        ("", {"BUILDKITE_PARALLEL_JOB": "3", "BUILDKITE_PARALLEL_JOB_COUNT": "4"}, (4, 4)),
        ("", {"JOB_COMPLETION_INDEX": "0", "JOB_COMPLETIONS": "10"}, (1, 10)),
    ],
)
def test_a_shard_is_the_one_that_is_named_or_that_of_the_job(
    text: str, variables: Mapping[str, str], expected: tuple[int, int]
) -> None:
    assert shard_of(text, variables) == expected


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("0/3", {}),
        ("4/3", {}),
        ("1", {}),
        ("a/b", {}),
        ("1/2/3", {}),
        ("-1/3", {}),
        ("", {}),
        ("", {"JOB_COMPLETION_INDEX": "0"}),
        ("", {"CI_NODE_INDEX": "4", "CI_NODE_TOTAL": "3"}),
        ("", {"CIRCLE_NODE_INDEX": "3", "CIRCLE_NODE_TOTAL": "3"}),
        ("", {"CI_NODE_INDEX": "", "CI_NODE_TOTAL": "3"}),
    ],
)
def test_a_shard_that_there_is_not_is_refused(text: str, variables: Mapping[str, str]) -> None:
    with pytest.raises(InputError, match="--shard"):
        shard_of(text, variables)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["-k", "x"], "-k: many repositories are compared without a test session"),
        (["--scenarios", "core"], "--scenarios: many repositories"),
        (["--only", "rules"], "--only: many repositories"),
        (["--baseline", "saved.json"], "--baseline: many repositories"),
        (["--judges"], "--judges: many repositories"),
        (["--clones-per-host", "0"], "--clones-per-host 0: write a number"),
        (["--shard", "3/2"], "--shard 3/2: write K/N"),
        (["--store", "list.txt"], "--store list.txt: is a file"),
        (["--fail-on", "x"], "there are review and regression"),
    ],
)
def test_what_would_not_be_looked_at_is_refused(
    capsys: pytest.CaptureFixture[str], more: list[str], problem: str
) -> None:
    assert command.main(["compare", *CANDIDATES, "--repo", "@list.txt", *more]) == 4
    assert problem in capsys.readouterr().err


def test_what_is_for_many_repositories_is_refused_without_any(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["compare", *CANDIDATES, "--store", "x"]) == 4
    assert "--store: is for many repositories; name them with --repo @FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [["--repo", "@wrong.txt"], ["--repo", "@list.txt", "-x"], ["--repo", "@list.txt", "--config", "gone.toml"]],
)
def test_a_run_that_cannot_begin_leaves_no_verdict_of_yesterday(folder: Path, line: list[str]) -> None:
    question = Question(1, "", "", (("base", "", ""), ("head", "", "")))
    (folder / "shard.jsonl").write_bytes(b"".join(shard_pieces(question, (1, 1), [row_line(row(0))], {})))
    assert command.main(["merge", "shard.jsonl"]) == 0
    yesterday = folder / RESULTS / "repositories.json"
    assert json.loads(yesterday.read_bytes())["pairs"][0]["verdict"] == "SAFE"
    (folder / "wrong.txt").write_text("ftp://example.com/a\n", encoding="ascii")
    assert command.main(["compare", *CANDIDATES, *line]) == 4
    assert not yesterday.exists()


@pytest.mark.parametrize(
    ("done", "seconds", "expected"),
    [
        (37, 60.0, "37 of 10000 repositories, 37 a minute, about 4 h 29 min left; 3 new"),
        (9990, 60.0, "9990 of 10000 repositories, 9990 a minute, less than a minute left; 3 new"),
        (0, 60.0, "0 of 10000 repositories, 0 a minute; 3 new"),
    ],
)
def test_progress_says_how_fast_it_is_and_how_long_it_will_take(done: int, seconds: float, expected: str) -> None:
    assert progress_line(Progress(done), 10_000, seconds, "3 new") == expected
