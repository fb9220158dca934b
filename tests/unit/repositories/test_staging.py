"""What a hook sees before a commit, made of any repository: nothing committed, all files staged."""

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from builders import git

from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.cache import built_repository
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.repositories.staging import stage, staged_diff
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.scan import Scanner, unread
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe, load_recipe

VERSIONS = ("8.16.0", "8.18.4", "8.26.0", "8.30.1")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that git made, with a folder, a link, a program and a file that is gone from HEAD."""
    made = tmp_path / "made"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    (made / "deploy").mkdir()
    (made / "deploy" / 'ünï "q".txt').write_text("one\ntwo\n", encoding="utf-8")
    (made / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (made / "run.sh").chmod(0o755)
    (made / "link").symlink_to("run.sh")
    (made / "gone").write_text("gone\n", encoding="utf-8")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "one")
    git(made, "rm", "-q", "gone")
    git(made, "commit", "-qm", "two")
    return made


def staged(repository: Path, folder: Path) -> bytes:
    stage(repository, folder)
    assert git(folder, "for-each-ref") == b""
    return git(folder, "ls-files", "--stage", "-z")


def test_the_index_is_staged_as_it_is(repository: Path, tmp_path: Path) -> None:
    (repository / "new").write_text("in the index alone\n", encoding="utf-8")
    git(repository, "add", "new")
    assert staged(repository, tmp_path / "staged") == git(repository, "ls-files", "--stage", "-z")
    assert b"in the index alone" in git(tmp_path / "staged", "diff", "--cached")


def test_without_an_index_the_files_of_head_are_staged(repository: Path, tmp_path: Path) -> None:
    index = git(repository, "ls-files", "--stage", "-z")
    (repository / ".git" / "index").unlink()
    assert staged(repository, tmp_path / "staged") == index
    assert b"gone" not in index


def test_what_is_staged_is_what_git_is_asked_about(repository: Path, tmp_path: Path) -> None:
    for name in ("with-index", "without"):
        there = readable(repository, command=staged_diff(repository))
        stage(repository, tmp_path / name)
        assert there == readable(tmp_path / name, command=("diff", "-U0", "--cached"))
        assert there.added_bytes == len("one\ntwo\n#!/bin/sh\nrun.sh")
        (repository / ".git" / "index").unlink(missing_ok=True)


def test_of_a_repository_before_its_first_commit_nothing_is_staged(tmp_path: Path) -> None:
    (tmp_path / "unborn").mkdir()
    git(tmp_path / "unborn", "init", "-q")
    assert staged(tmp_path / "unborn", tmp_path / "staged") == b""
    assert readable(tmp_path / "unborn", command=staged_diff(tmp_path / "unborn")).added_bytes == 0


def test_submodules_and_undecided_merges_are_left_out(repository: Path, tmp_path: Path) -> None:
    blob = git(repository, "rev-parse", "HEAD:run.sh").decode().strip()
    commit = git(repository, "rev-parse", "HEAD").decode().strip()
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    before = staged(repository, tmp_path / "one")
    assert b"module" not in before
    git(repository, "switch", "-qc", "theirs", "HEAD")
    (repository / "run.sh").write_text("theirs\n", encoding="utf-8")
    git(repository, "commit", "-qam", "theirs")
    git(repository, "switch", "-q", "main")
    (repository / "run.sh").write_text("ours\n", encoding="utf-8")
    git(repository, "commit", "-qam", "ours")
    with pytest.raises(AssertionError):
        git(repository, "merge", "theirs")
    assert b"run.sh" not in staged(repository, tmp_path / "two").replace(b"link", b"")
    assert blob.encode() in before


def test_a_path_of_any_length_is_staged(tmp_path: Path) -> None:
    paths = [(b"d" * 511 + b"/") * 7 + b"f" * length for length in (1, 509, 510, 511, 512, 1000)]
    write = {path: (Part(text=f"{len(path)}\n"),) for path in paths}
    day = datetime(2026, 1, 1, tzinfo=timezone.utc)
    build(Recipe({}, (Commit("Test", "Test <test@example.com>", day, write=write),)), tmp_path / "long")
    index = staged(tmp_path / "long", tmp_path / "staged")
    assert sorted(entry.partition(b"\t")[2] for entry in index.split(b"\0") if entry) == sorted(paths)


def test_the_configuration_and_hooks_of_the_other_are_not_taken_over(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "diff.x.textconv", "false")
    (repository / ".git" / "info" / "attributes").write_text("* -diff\n", encoding="utf-8")
    stage(repository, tmp_path / "staged")
    assert "textconv" not in (tmp_path / "staged" / ".git" / "config").read_text(encoding="utf-8")
    assert b"+two" in git(tmp_path / "staged", "diff", "--cached")


def test_sha256_ids_are_refused(tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    git(tmp_path / "long", "init", "-q", "--object-format=sha256")
    (tmp_path / "long" / "a").write_text("a\n", encoding="utf-8")
    git(tmp_path / "long", "add", "a")
    with pytest.raises(EvaluationError, match=r"SHA-256 ids, which cannot be staged; scan its history \(mode git\)"):
        stage(tmp_path / "long", tmp_path / "staged")


def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(EvaluationError, match=f"cannot be staged: {os.strerror(20)}"):
        stage(repository, tmp_path / "file" / "below")


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_a_scan_of_what_is_staged_finds_what_head_holds_and_is_proven_to_have_read_it(
    version: str, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    config = tmp_path / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    scanner = Scanner(probe(gitleaks(version), "a test"), config, tmp_path, 60, threading.Event())
    deleted, there = (
        built_repository(load_recipe(shipped_data("synthetic_repos") / f"{name}.yaml"), "a test").path
        for name in ("historical-secrets", "api-keys")
    )
    in_staging = replace(scanner, mode="staged")
    assert scanner.scan(deleted).findings
    assert not in_staging.scan(deleted).findings
    scan = in_staging.scan(there)
    places = {(finding["File"], finding["StartLine"]) for finding in scan.findings}
    assert places == {(finding["File"], finding["StartLine"]) for finding in scanner.scan(there).findings}
    readable_there = readable(there, command=staged_diff(there))
    assert unread(scan, readable_there) is None
    nothing = replace(scan, commits=9, added_bytes=scan.added_bytes and 1)
    assert unread(nothing, readable_there) is not None
