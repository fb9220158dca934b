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
        lambda path: (path / ".git/shallow").write_bytes(git(path, "rev-parse", "HEAD")),
    ],
    ids=["commit", "tag", "deleted", "branch", "stash", "shallow"],
)
def test_whatever_would_be_scanned_otherwise_is_another_state(source: Path, change: Callable[[Path], object]) -> None:
    before = state_of(named(source), SECONDS)
    change(source)
    assert state_of(named(source), SECONDS) != before


def test_a_host_says_the_state_of_what_is_cloned_from_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLONED_FROM", "file")
    bare = tmp_path / "bare"
    git(source, "clone", "-q", "--bare", str(source), str(bare))
    assert module._of_url(f"file://{source}", SECONDS) == state_of(named(bare), SECONDS)


def test_what_is_no_repository_has_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EvaluationError):
        state_of(named(tmp_path), SECONDS)
    with pytest.raises(EvaluationError):
        state_of(named(tmp_path / "gone"), SECONDS)
    monkeypatch.setattr(module, "CLONED_FROM", "file")
    with pytest.raises(EvaluationError, match="does not say"):
        module._of_url(f"file://{tmp_path}", SECONDS)
