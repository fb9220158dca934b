"""What a repository brings along to hide findings: reported, and obeyed only where a build cannot do otherwise."""

import dataclasses
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import git, secret

from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.sources import real_repositories
from gitleaks_eval.scanners import suppressions as module
from gitleaks_eval.scanners.build import ScannerBuild, probe
from gitleaks_eval.scanners.scan import Scanner
from gitleaks_eval.scanners.suppressions import Suppression, Suppressions, Told, suppressions

SECONDS = 60
VERSIONS = ("8.16.0", "8.18.4", "8.30.1")
ALLOW_ALL = '[allowlist]\npaths = [".*"]\n'
ALLOW = "gitleaks:" + "allow"
BETTER_ALLOW = "betterleaks:" + "allow"
BUILD = ScannerBuild("/gitleaks", "gitleaks", "8.30.1", "a test", "0" * 64, "git", 5, ignores_allow=True)
BETTERLEAKS = dataclasses.replace(BUILD, name="betterleaks", version="1.4.0")
OLD = dataclasses.replace(BUILD, version="8.16.0", command="detect", decode_depth=None, ignores_allow=False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    return path


def commit(repository: Path, files: Mapping[str, str | bytes]) -> str:
    for name, content in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    git(repository, "add", "--all")
    git(repository, "commit", "-q", "-m", "a message")
    return git(repository, "rev-parse", "HEAD").decode().strip()


def found(commit_id: str, path: str, line: int, end: int = 0, rule: str = "github-pat") -> dict[str, Any]:
    return {"Commit": commit_id, "File": path, "StartLine": line, "EndLine": end or line, "RuleID": rule}


def listed(repository: Path, *findings: dict[str, Any], build: ScannerBuild = BUILD) -> list[tuple[object, ...]]:
    found = suppressions(repository, findings, build, SECONDS)
    assert found.total == len(found.listed)
    return [dataclasses.astuple(one)[:5] for one in found.listed]


def token(seed: str) -> str:
    return f"TOKEN={secret('github-pat', seed)}"


# --- As the scanners do


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_repository_suppresses_is_reported_with_what_it_would_have_hidden(
    source: Path, tmp_path: Path, gitleaks: Callable[[str], Path], version: str
) -> None:
    config = tmp_path / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    build = probe(gitleaks(version), "a test")
    scanner = Scanner(build, config, tmp_path, SECONDS, threading.Event())
    first = commit(
        source,
        {
            "a.env": f"# a\n{token('a')}\n",
            "b.env": f"{token('b')}\n",
            "c.env": f"{token('c')} # {ALLOW}\n{token('d')}\n",
        },
    )
    ignored = f"# ours\n\na.env:github-pat:2\n{first}:b.env:github-pat:1\na.env:github-pat:3\n"
    commit(source, {".gitleaksignore": ignored, ".gitleaks.toml": ALLOW_ALL})
    (repository,) = real_repositories([str(source)], tmp_path, ())
    made = clone(repository, tmp_path / "folder", SECONDS)
    scan = scanner.scan(made.path, obey_allow=False)
    places = sorted((finding["File"], finding["StartLine"]) for finding in scan.findings)
    old = version == "8.16.0"
    assert places == [("a.env", 2), ("b.env", 1), *([] if old else [("c.env", 1)]), ("c.env", 2)]
    assert listed(made.path, *scan.findings, build=build) == [
        ("config", ".gitleaks.toml", None, False, None),
        ("ignore-entry", ".gitleaksignore", 3, False, 0 if old else 1),
        ("ignore-entry", ".gitleaksignore", 4, False, 1),
        ("ignore-entry", ".gitleaksignore", 5, False, 0),
        ("allow-comment", "c.env", 1, old, None if old else 1),
    ]
    obeying = scanner.scan(made.path)
    assert ("c.env", 1) not in {(finding["File"], finding["StartLine"]) for finding in obeying.findings}
    # Checked out, the ignore file hides exactly what we say that it would.
    git(made.path, "read-tree", "HEAD")
    git(made.path, "checkout", "HEAD", "--", ".gitleaksignore")
    left = scanner.scan(made.path, obey_allow=False).findings
    assert len(scan.findings) - len(left) == (1 if old else 2)


# --- Entries of a baseline


@pytest.mark.parametrize("version", ["8.18.4", "8.30.1"])
def test_an_entry_of_a_baseline_hides_what_the_scanner_leaves_out(
    source: Path, tmp_path: Path, gitleaks: Callable[[str], Path], version: str
) -> None:
    config = tmp_path / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    build = probe(gitleaks(version), "a test")
    scanner = Scanner(build, config, tmp_path, SECONDS, threading.Event())
    commit(source, {f"{name}.env": f"{token(name)}\n" for name in "abcdef"})
    findings = {one["File"]: one for one in scanner.scan(source).findings}
    entries = [
        findings["a.env"],
        {**findings["b.env"], "Secret": "another"},
        {**findings["c.env"], "Description": "as another version says it"},
        {**findings["d.env"], "Commit": "0" * 40},
        {**findings["e.env"], "Secret": "REDACTED", "Match": "REDACTED"},
        {**findings["a.env"], "File": ["no", "path"]},
    ]
    commit(source, {"known.json": json.dumps(entries, indent=1)})
    known = source / "known.json"
    scan = scanner.scan(source)
    told = suppressions(source, scan.findings, build, SECONDS, Told(baselines=["known.json"]))
    lines = [number for number, line in enumerate(known.read_text("utf-8").splitlines(), 1) if line == " {"]
    assert [dataclasses.astuple(one)[:7] for one in told.listed] == [
        ("baseline-entry", "known.json", lines[0], False, 1, "", False),
        ("baseline-entry", "known.json", lines[1], False, 0, "dead", False),
        ("baseline-entry", "known.json", lines[2], False, 0, "dead", False),
        ("baseline-entry", "known.json", lines[3], False, 0, "stale", False),
        ("baseline-entry", "known.json", lines[4], False, 1, "", True),
        ("baseline-entry", "known.json", lines[5], False, 0, "dead", False),
    ]
    # The scanner takes no report in which a path is a list.
    (tmp_path / "known.json").write_text(json.dumps(entries[:5]), encoding="ascii")
    obeying = dataclasses.replace(scanner, args=("--baseline-path", str(tmp_path / "known.json")))
    redacting = dataclasses.replace(obeying, args=(*obeying.args, "--redact"))
    everything = {one["File"] for one in scan.findings}
    hidden = [everything - {one["File"] for one in each.scan(source).findings} for each in (obeying, redacting)]
    assert hidden == [{"a.env"}, {"a.env", "b.env", "e.env"} if version == "8.30.1" else {"e.env"}]


def test_an_entry_for_a_labelled_secret_is_wide(source: Path) -> None:
    first = commit(source, {"a": "token"})
    finding = {**found(first, "a", 1), "Secret": "x", "Match": "x"}
    commit(source, {"known.json": json.dumps([finding])})
    for true, note in ((set(), ""), ({(first, "a", 1, "github-pat")}, "wide")):
        (one,) = suppressions(source, [finding], BUILD, SECONDS, Told(true, ["known.json"])).listed
        assert (one.hides, one.note, one.line_number) == (1, note, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "is no report of findings: write a list"),
        ("[1]", "is no report of findings: write a list"),
        ("[\n{,", "is no report of findings: line 2, column 2"),
        (None, "is no file of HEAD"),
    ],
)
def test_what_is_no_baseline_is_refused_by_its_name(source: Path, content: str | None, said: str) -> None:
    commit(source, {"a": "b", **({} if content is None else {"known.json": content})})
    with pytest.raises(EvaluationError, match=rf"^baseline known\.json: {said}"):
        suppressions(source, [], BUILD, SECONDS, Told(baselines=["known.json"]))


# --- Comments


def test_a_comment_hides_what_stands_on_its_line_in_the_commit_that_was_scanned(source: Path) -> None:
    first = commit(source, {"a": f"one\ntoken # {ALLOW}\nthree\n"})
    assert listed(source, found(first, "a", 2)) == [("allow-comment", "a", 2, False, 1)]
    assert listed(source, found(first, "a", 1), found(first, "a", 3)) == [("allow-comment", "a", 2, False, 0)]
    assert listed(source, found(first, "a", 1, end=3)) == [("allow-comment", "a", 2, False, 1)]


def test_a_comment_that_has_moved_since_still_hides_it(source: Path) -> None:
    first = commit(source, {"a": f"token # {ALLOW}\n"})
    commit(source, {"a": f"new\nnew\ntoken # {ALLOW}\n"})
    assert listed(source, found(first, "a", 1)) == [("allow-comment", "a", 3, False, 1)]


def test_a_comment_that_came_after_the_finding_hides_nothing(source: Path) -> None:
    first = commit(source, {"a": "token\n"})
    commit(source, {"a": f"token # {ALLOW}\n"})
    assert listed(source, found(first, "a", 1)) == [("allow-comment", "a", 1, False, 0)]


def test_of_two_equal_lines_the_nearest_hides_it(source: Path) -> None:
    first = commit(source, {"a": f"token # {ALLOW}\n" + "\n" * 8 + f"token # {ALLOW}\n"})
    assert listed(source, found(first, "a", 10), found(first, "a", 10, rule="generic-api-key")) == [
        ("allow-comment", "a", 1, False, 0),
        ("allow-comment", "a", 10, False, 2),
    ]


def test_a_comment_is_obeyed_where_the_build_cannot_ignore_it(source: Path) -> None:
    commit(source, {"a": f"token # {ALLOW}\ntoken # {BETTER_ALLOW}\n"})
    assert listed(source, build=OLD) == [("allow-comment", "a", 1, True, None), ("allow-comment", "a", 2, False, 0)]


def test_betterleaks_knows_both_comments_and_gitleaks_one(source: Path) -> None:
    first = commit(source, {"a": f"token # {ALLOW}\ntoken # {BETTER_ALLOW}\n"})
    findings = (found(first, "a", 1), found(first, "a", 2))
    assert [line[4] for line in listed(source, *findings)] == [1, 0]
    assert [line[4] for line in listed(source, *findings, build=BETTERLEAKS)] == [1, 1]


def test_binary_large_and_linked_files_and_other_branches_have_no_comments(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_FILE", 1000)
    (source / "link").symlink_to(f"to {ALLOW}")
    commit(source, {"binary": b"\0" + ALLOW.encode(), "large": "x" * 1000 + ALLOW, "text": ALLOW})
    git(source, "checkout", "-q", "-b", "side")
    commit(source, {"side": ALLOW})
    git(source, "checkout", "-q", "main")
    assert listed(source) == [("allow-comment", "text", 1, False, 0)]


def test_odd_paths_of_files_and_findings_are_read(source: Path) -> None:
    first = commit(source, {"a b:c\t'\"ü": ALLOW, "new\nline": ALLOW, "\udcff": ALLOW})
    paths = ["a b:c\t'\"ü", "new\nline", "\ufffd"]
    findings = [found(first, path, 1) for path in (*paths, "missing", "../a", "")]
    assert [(line[1], line[4]) for line in listed(source, *findings)] == [(paths[0], 1), (paths[1], 0), (paths[2], 0)]


@pytest.mark.parametrize("commit_id", ["", "HEAD", "--help", "0" * 40])
def test_a_finding_of_no_commit_is_no_trouble(source: Path, commit_id: str) -> None:
    commit(source, {"a": ALLOW})
    assert listed(source, found(commit_id, "a", 1)) == [("allow-comment", "a", 1, False, 0)]


# --- Files


def test_only_files_at_the_root_count(source: Path) -> None:
    commit(source, {"below/.gitleaks.toml": ALLOW_ALL, "below/.gitleaksignore": "a:b:1\n", ".gitleaksignore/x": "y"})
    assert listed(source) == []


def test_of_two_ignore_files_betterleaks_reads_its_own_and_gitleaks_its_own(source: Path) -> None:
    files = {".gitleaksignore": "a:github-pat:1", ".betterleaksignore": "a:github-pat:1", "a": "token"}
    first = commit(source, {**files, ".gitleaks.toml": ALLOW_ALL, ".betterleaks.toml": ALLOW_ALL})
    hides = [(line[1], line[4]) for line in listed(source, found(first, "a", 1))]
    assert hides == [
        (".betterleaks.toml", None),
        (".gitleaks.toml", None),
        (".betterleaksignore", 0),
        (".gitleaksignore", 1),
    ]
    better = [(line[1], line[4]) for line in listed(source, found(first, "a", 1), build=BETTERLEAKS)]
    assert better[2:] == [(".betterleaksignore", 1), (".gitleaksignore", 0)]


def test_entries_are_read_as_the_scanner_reads_them(source: Path) -> None:
    entries = " d\\a:github-pat:1 \r\nd/a:github-pat:1\nd/a:github-pat:01\nd/a\n#d/a:github-pat:1\n\n"
    first = commit(source, {".gitleaksignore": entries, "d/a": "token"})
    again = commit(source, {"d/a": "token\nmore"})
    findings = (found(first, "d/a", 1), found(again, "d/a", 1))
    assert [(line[2], line[4]) for line in listed(source, *findings)] == [(1, 2), (2, 2), (3, 0), (4, 0)]


def test_an_ignore_file_that_is_a_link_is_told_and_not_followed(source: Path) -> None:
    (source / ".gitleaksignore").symlink_to("/etc/passwd")
    (source / ".gitleaks.toml").symlink_to("elsewhere")
    commit(source, {"a": "token"})
    assert listed(source) == [
        ("config", ".gitleaks.toml", None, False, None),
        ("ignore-entry", ".gitleaksignore", None, False, None),
    ]


# --- Bounds


def test_of_many_those_that_hide_something_are_listed(source: Path) -> None:
    comments = f"x # {ALLOW}\n" * 3000
    first = commit(
        source, {"a": comments, "z": f"token # {ALLOW}\n", ".gitleaks.toml": "", ".gitleaksignore": "z:github-pat:1\n"}
    )
    told = suppressions(source, [found(first, "z", 1)], BUILD, SECONDS)
    assert (told.total, len(told.listed)) == (3003, 1000)
    assert Suppression("allow-comment", "z", 1, obeyed=False, hides=1) in told.listed
    assert [one.kind for one in told.listed[:3]] == ["config", "ignore-entry", "allow-comment"]


def test_a_repository_without_commits_suppresses_nothing(source: Path) -> None:
    assert suppressions(source, [], BUILD, SECONDS) == Suppressions(0, ())


def test_what_cannot_be_read_or_takes_too_long_is_an_error(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(source, {"a": ALLOW})
    (tmp_path / "none").mkdir()
    with pytest.raises(EvaluationError):
        suppressions(tmp_path / "none", [], BUILD, SECONDS)
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n", encoding="ascii")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with pytest.raises(EvaluationError, match=r"took longer than 0.1 s"):
        suppressions(source, [], BUILD, 0.1)
