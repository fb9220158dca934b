"""Findings that builds up to 8.20 credit to a neighbour of their commit: not lost, not new, and what it breaks."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from builders import git as plain_git
from builders import secret
from ran import Ran, evaluate

from gitleaks_eval import command

OLD, NEW = "8.18.4", "8.30.1"
DIFFERENT = ("lost", "new", "moved", "relabelled", "severity_changed")
OWN = f"""\
[tool.gitleaks-eval.candidates.old]
version = "{OLD}"
config = "own"
baseline = true
[tool.gitleaks-eval.candidates.new]
version = "{NEW}"
config = "own"
"""


MINUTES = count()


def git(repository: Path, *arguments: str) -> None:
    # Of commits in one second the log has another order as soon as there is one more.
    plain_git(repository, *arguments, GIT_COMMITTER_DATE=f"{1_767_225_600 + 60 * next(MINUTES)} +0000")


def write(repository: Path, name: str, text: str = "") -> None:
    (repository / name).write_text(text or f"TOKEN={secret('github-pat', name)}\n", encoding="ascii", newline="")
    git(repository, "add", ".")


def make(repository: Path) -> None:
    """Make merges with and without content, an octopus, empty commits, a cherry-pick, a rename, CRLF and a tag."""
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")

    def commit(name: str, text: str = "") -> None:
        write(repository, name, text)
        git(repository, "commit", "-qm", name)
        if name in {"first.env", "crlf.env", "picked.env"}:
            git(repository, "commit", "-qm", f"empty, after {name}", "--allow-empty")

    commit("first.env")
    for branch in ("one", "two", "three"):
        git(repository, "checkout", "-qb", branch, "main")
        commit(f"{branch}.env")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "octopus", "one", "two", "three")
    commit("crlf.env", f"TOKEN={secret('github-pat', 'crlf')}\r\n")
    git(repository, "commit", "-qm", "and another", "--allow-empty")
    git(repository, "checkout", "-qb", "picked", "one")
    commit("picked.env")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "--no-commit", "picked")
    commit("in_merge.env")
    git(repository, "checkout", "-qb", "side", "two")
    git(repository, "cherry-pick", "picked~1")
    git(repository, "tag", "v1")
    git(repository, "checkout", "-q", "main")
    git(repository, "mv", "crlf.env", "renamed.env")
    git(repository, "commit", "-qm", "rename")
    git(repository, "merge", "-q", "--no-ff", "-m", "side", "side")


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history in which 8.30.1 passes over a picture, which stands directly before a merge: it is lost."""
    repository = tmp_path_factory.mktemp("histories") / "merged"
    make(repository)
    git(repository, "checkout", "-qb", "late")
    write(repository, "picture.png", f"TOKEN={secret('github-pat', 'picture')}\n")
    git(repository, "commit", "-qm", "picture")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "late", "late")
    return repository


def bare(program: Path, repository: Path, report: Path) -> list[dict[str, Any]]:
    command = [str(program), "detect", f"--source={repository}", f"--report-path={report}", "--exit-code=0"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ})
    found: list[dict[str, Any]] = json.loads(report.read_bytes())
    return found


def places(row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for place in (row, *row.get("others", ())):
        yield place["file_path"], place["commit"], place["candidate_commit"]


@pytest.fixture(scope="module")
def upgraded(merged: Path, gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    for version in (OLD, NEW):
        gitleaks(version)
    return evaluate(
        tmp_path_factory.mktemp("upgraded"),
        *(f"--gitleaks-version={version}" for version in (OLD, NEW)),
        *("--gitleaks-config=builtin", "--gitleaks-only=repos", f"--gitleaks-real-repo={merged}"),
    )


def test_no_finding_that_is_only_credited_to_another_commit_is_lost_or_new(
    upgraded: Ran, merged: Path, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    """Held against bare scans, in which most commits have another name."""
    before, after = (bare(gitleaks(version), merged, tmp_path / "report.json") for version in (OLD, NEW))
    (real,) = upgraded.pairs[NEW]["real"]
    told = {(path, old): new for row in real["reattributed"] for path, old, new in places(row)}
    assert len(told) >= 4
    renamed = Counter((one["File"], told.get((one["File"], one["Commit"]), one["Commit"])) for one in before)
    there = Counter((one["File"], one["Commit"]) for one in after)
    assert Counter({place: count for place, count in renamed.items() if place[0] != "picture.png"}) == there
    assert [row["file_path"] for kind in DIFFERENT for row in real[kind]] == ["picture.png"]
    assert [row["file_path"] for row in real["lost"]] == ["picture.png"]
    assert real["same"] + sum(row["count"] for row in real["reattributed"]) == len(after)
    assert upgraded.verdicts == {NEW: "REVIEW"}
    assert "credited to another commit in merged" in upgraded.line("REVIEW")


def compare_own(folder: Path, repository: Path) -> Ran:
    (folder / "pyproject.toml").write_text(OWN, encoding="ascii")
    return evaluate(folder, "--gitleaks-compare", "--gitleaks-only=repos", f"--gitleaks-real-repo={repository}")


def test_lines_that_an_upgrade_breaks_are_counted_to_review_and_mended(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ignore list that was written with the old version: SAFE only after its lines for the new version are there."""
    repository = tmp_path / "merged"
    make(repository)
    found = {one["File"]: one for one in bare(gitleaks(OLD), repository, tmp_path / "report.json")}
    after = {one["File"]: one for one in bare(gitleaks(NEW), repository, tmp_path / "report.json")}
    renamed, kept = (
        next(
            name
            for name in sorted(found.keys() - {"picked.env"})
            if (found[name]["Commit"] == after[name]["Commit"]) is is_same
        )
        for is_same in (False, True)
    )
    lines = [found[name]["Fingerprint"] for name in (renamed, kept)]
    write(repository, ".gitleaksignore", "# known\n" + "\n".join(lines))
    git(repository, "commit", "-qm", "list")

    ran = compare_own(tmp_path, repository)
    assert ran.verdicts == {"new": "REVIEW"}
    (real,) = ran.pairs["new"]["real"]
    assert real["broken_lines"] == {".gitleaksignore": 1}
    assert {kind: len(real[kind]) for kind in DIFFERENT} == dict.fromkeys(DIFFERENT, 0)
    assert [row["file_path"] for row in real["production"]["new"]] == [renamed]
    assert "1 of the lines of .gitleaksignore in merged stop matching" in ran.line("REVIEW")

    monkeypatch.chdir(tmp_path)
    lint = ["lint", f"--binary={gitleaks(NEW)}", f"--repo={repository}"]
    assert command.main(lint) == 0
    said = capsys.readouterr().out
    assert (
        "renamed  ignore-entry  .gitleaksignore:2  hides 0 findings: it names the commit as other versions do" in said
    )
    assert command.main([*lint, "--fix", "--strict"]) == 0
    assert "1 line added to " in capsys.readouterr().out
    text = (repository / ".gitleaksignore").read_text(encoding="ascii")
    assert text == "\n".join(["# known", *lines, after[renamed]["Fingerprint"], ""])
    git(repository, "commit", "-qam", "mend")
    assert command.main([*lint, "--fix", "--strict"]) == 0
    assert "0 dead, stale, wide or renamed" in capsys.readouterr().out

    ran = compare_own(tmp_path, repository)
    assert ran.verdicts == {"new": "SAFE"}
    assert "credited to another commit" in ran.line("SAFE")


def test_labels_and_a_file_of_known_findings_that_an_upgrade_breaks_are_counted(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    repository = tmp_path / "merged"
    make(repository)
    found = bare(gitleaks(OLD), repository, repository / "known.json")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "known")
    config = OWN.replace('config = "own"', 'config = "own"\nown_baseline = "known.json"')
    (tmp_path / "pyproject.toml").write_text(config, encoding="ascii")
    labels = [f"--repo={repository}", f"--binary={gitleaks(OLD)}"]
    assert command.main(["review", str(tmp_path / "labels/merged.yaml"), *labels]) == 0
    ran = evaluate(tmp_path, "--gitleaks-compare", "--gitleaks-only=repos", f"--gitleaks-real-repo={repository}")
    (real,) = ran.pairs["new"]["real"]
    renamed = sum(row["count"] for row in real["reattributed"])
    assert renamed >= 4
    assert len(found) > renamed
    assert real["broken_lines"] == {"known.json": renamed, "labels/merged.yaml": renamed}
    assert ran.verdicts == {"new": "REVIEW"}


def test_two_versions_that_name_commits_alike_reattribute_nothing(
    merged: Path, gitleaks: Callable[[str], Path], tmp_path: Path
) -> None:
    for versions in (("8.16.0", OLD), ("8.26.0", NEW)):
        for version in versions:
            gitleaks(version)
        ran = evaluate(
            tmp_path,
            *(f"--gitleaks-version={version}" for version in versions),
            *("--gitleaks-config=builtin", "--gitleaks-only=repos", f"--gitleaks-real-repo={merged}"),
        )
        (pair,) = ran.pairs.values()
        assert not pair["real"][0]["reattributed"]
