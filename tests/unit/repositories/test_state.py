"""The state of a repository: the same before it is cloned and in the clone, another one with every ref that moves."""

from collections.abc import Callable
from pathlib import Path

import pytest
from builders import git

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories import state as module
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.state import state_of, state_of_clone
from gitleaks_eval.scenarios.scenario import RealRepository

SECONDS = 60


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", "one")
    git(path, "tag", "-a", "v1", "-m", "annotated")
    git(path, "branch", "team/topic")
    return path


def named(path: Path) -> RealRepository:
    return RealRepository(path.name, str(path), str(path))


def test_a_clone_has_the_state_that_its_repository_was_asked_for(source: Path, tmp_path: Path) -> None:
    before = state_of(named(source), SECONDS)
    assert state_of_clone(clone(named(source), tmp_path / "clone", SECONDS).path) == before


def test_head_that_names_a_commit_is_no_other_state_of_the_clone(source: Path, tmp_path: Path) -> None:
    git(source, "checkout", "-q", "--detach")
    before = state_of(named(source), SECONDS)
    assert state_of_clone(clone(named(source), tmp_path / "clone", SECONDS).path) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda path: git(path, "commit", "-q", "--allow-empty", "-m", "two"),
        lambda path: git(path, "tag", "light"),
        lambda path: git(path, "branch", "-D", "team/topic"),
        lambda path: git(path, "branch", "other"),
        lambda path: git(path, "update-ref", "refs/stash", "HEAD"),
    ],
    ids=["commit", "tag", "deleted", "branch", "stash"],
)
def test_whatever_would_be_scanned_otherwise_is_another_state(source: Path, change: Callable[[Path], object]) -> None:
    before = state_of(named(source), SECONDS)
    change(source)
    assert state_of(named(source), SECONDS) != before


def test_a_clone_whose_history_is_cut_off_has_the_state_of_no_repository(source: Path, tmp_path: Path) -> None:
    git(source, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    shallow = named(tmp_path / "shallow")
    assert state_of_clone(clone(shallow, tmp_path / "clone", SECONDS).path) != state_of(shallow, SECONDS)


def test_replacements_are_no_part_of_the_state(source: Path) -> None:
    before = state_of(named(source), SECONDS)
    git(source, "commit", "-q", "--allow-empty", "-m", "two")
    git(source, "replace", "HEAD", "HEAD~1")
    git(source, "reset", "-q", "--soft", "team/topic")
    assert state_of(named(source), SECONDS) == before


def test_a_host_says_the_state_of_what_is_cloned_from_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "local_path", lambda _: None)
    monkeypatch.setattr(module, "CLONED_FROM", "file")
    bare = tmp_path / "bare"
    git(source, "clone", "-q", "--bare", str(source), str(bare))
    assert state_of(named(source), SECONDS) == state_of_clone_at(bare)


def state_of_clone_at(bare: Path) -> str:
    # A clone of ours has its git folder inside.
    bare.rename(bare.with_name(".git"))
    return state_of_clone(bare.parent)


@pytest.mark.parametrize("place", [".", "gone"])
def test_what_is_no_repository_has_no_state(tmp_path: Path, place: str) -> None:
    with pytest.raises(EvaluationError, match="does not say"):
        state_of(named(tmp_path / place), SECONDS)
