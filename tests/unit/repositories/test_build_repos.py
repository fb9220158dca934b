"""The shipped repositories, built for people to look at."""

import sys
from pathlib import Path

import pytest
from builders import git

from gitleaks_eval.repositories import __main__ as build_repos
from gitleaks_eval.scenarios.scenario import SUITES, load_scenarios


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "argv", ["build_repos", str(tmp_path / "built")])
    return tmp_path / "built"


def test_all_are_built_and_a_second_time_each_is_there_already(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = sorted(scenario.name for scenario in load_scenarios(SUITES, folder))
    assert build_repos.main() == 0
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "api-keys" / ".env").is_file()
    capsys.readouterr()
    marker = folder / "api-keys" / "mine.txt"
    marker.write_text("mine", encoding="ascii")
    assert build_repos.main() == 0
    assert sorted(capsys.readouterr().out.splitlines()) == [f"{folder / name}: is there already" for name in names]
    assert marker.is_file()


def test_what_is_there_and_is_not_what_is_built_is_an_error_and_stays(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = folder / "api-keys"
    other.mkdir(parents=True)
    git(other, "init", "-q")
    assert build_repos.main() == 1
    assert f"ERROR: {other} is not what recipe " in capsys.readouterr().err
    assert (other / ".git").is_dir()


def test_a_folder_that_holds_something_else_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.mkdir()
    (folder / "mine.txt").write_text("mine", encoding="ascii")
    assert build_repos.main() == 1
    assert capsys.readouterr().err == f"ERROR: {folder} holds something else (mine.txt); name a new folder\n"
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
