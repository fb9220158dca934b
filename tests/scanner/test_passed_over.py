"""Betterleaks does not count the bytes of files allowed by path: those are excused, to the byte, and no other."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from builders import git, secret
from ran import evaluate

from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.log import added_by_path, readable
from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scanners import skipped_paths as passed_over
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scanners.scan import Scanner, unread
from gitleaks_eval.scanners.skipped_paths import unread_in

RULE = "[[rules]]\nid = 'rule'\nregex = '''zzzqqq'''\n"
ODD = 'docs/with "quotes" and ü.md'
FILES = {
    "a.py": "x = 1\n" * 5,
    "docs/b.md": "hello\n" * 10,
    ODD: "quoted\n" * 7,
    "go.sum": "sums\n" * 3,
    "vendor/c.py": "vendored\n" * 20,
}
# What is added of each, over the history below: a rename adds nothing, a removal neither.
ADDED = {"a.py": 30, "docs/b.md": 65, ODD: 49, "go.sum": 15, "vendor/c.py": 180}
DOCS = {"docs/b.md", ODD}
HIDING = {
    "an allowlist": ("[allowlist]\npaths = ['''docs/''']\n" + RULE, DOCS),
    "one of several": (f"{RULE}[[allowlists]]\npaths = ['''nothing''']\n[[allowlists]]\npaths = ['''docs/''']\n", DOCS),
    "one with other criteria, of which any will do": (
        f"{RULE}[[allowlists]]\npaths = ['''docs/''']\nregexes = ['''hello''']\n",
        DOCS,
    ),
    "an expression": (f"prefilter = '''attributes[\"path\"].startsWith(\"docs/\")'''\n{RULE}", DOCS),
    "the scanner's own": ("[extend]\nuseDefault = true\n", {"go.sum"}),
    "the scanner's own and an allowlist": (
        "[extend]\nuseDefault = true\n[allowlist]\npaths = ['''(?i)DOCS/''']\n",
        {"go.sum", *DOCS},
    ),
    "a file that is extended": (
        "[extend]\npath = 'base.toml'\n[allowlist]\npaths = ['''vendor''']\n",
        {"vendor/c.py", *DOCS},
    ),
}
COUNTED = {
    "no allowlist": RULE,
    "all criteria must hold": f"{RULE}[[allowlists]]\ncondition = 'AND'\npaths = ['''docs/''']\nregexes = ['''x''']\n",
    "for one rule": f"{RULE}[[allowlists]]\ntargetRules = ['rule']\npaths = ['''docs/''']\n",
    "of a rule": f"{RULE}[[rules.allowlists]]\npaths = ['''docs/''']\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> BuiltRepository:
    """A history in which files change, are renamed and go."""
    path = tmp_path_factory.mktemp("repository")
    git(path, "init", "-q")
    for name, content in FILES.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(content, encoding="utf-8")
    git(path, "add", ".")
    git(path, "commit", "-q", "-m", "one")
    (path / "docs" / "b.md").write_text(FILES["docs/b.md"] + "more\n", encoding="utf-8")
    git(path, "commit", "-q", "-a", "-m", "two")
    git(path, "rm", "-q", "vendor/c.py")
    git(path, "mv", "docs", "papers")
    git(path, "commit", "-q", "-m", "three")
    return BuiltRepository(path, readable(path))


@pytest.fixture
def scanner(tmp_path: Path) -> Callable[[str], Scanner]:
    """Betterleaks with a configuration."""
    build = probe(installed_binary("1.4.0", print, SCANNERS["betterleaks"])[0], "a test")

    def configured(content: str) -> Scanner:
        (tmp_path / "config.toml").write_text(
            content.replace("base.toml", str(tmp_path / "base.toml")), encoding="utf-8"
        )
        (tmp_path / "base.toml").write_text(HIDING["an allowlist"][0], encoding="utf-8")
        return Scanner(build, tmp_path / "config.toml", tmp_path, 60, threading.Event())

    return configured


def test_what_is_added_is_known_by_path(repository: BuiltRepository) -> None:
    assert {path.decode(): added for path, added in added_by_path(repository.path).items()} == ADDED
    assert repository.readable.added_bytes == sum(ADDED.values())


@pytest.mark.parametrize("name", HIDING)
def test_what_is_allowed_by_path_need_not_be_read_and_all_else_must(
    name: str, repository: BuiltRepository, scanner: Callable[[str], Scanner]
) -> None:
    content, passed = HIDING[name]
    configured = scanner(content)
    scan = configured.scan(repository.path)
    assert scan.added_bytes == sum(added for path, added in ADDED.items() if path not in passed)
    assert unread(scan, repository.readable) is not None
    assert unread_in(configured, scan, repository) is None
    for fewer in (scan.added_bytes - 1, scan.added_bytes // 2, 0):
        assert unread_in(configured, replace(scan, added_bytes=fewer), repository) is not None


@pytest.mark.parametrize("name", COUNTED)
def test_what_only_keeps_findings_from_being_reported_must_be_read(
    name: str, repository: BuiltRepository, scanner: Callable[[str], Scanner]
) -> None:
    configured = scanner(COUNTED[name])
    scan = configured.scan(repository.path)
    assert scan.added_bytes == sum(ADDED.values())
    fewer = replace(scan, added_bytes=sum(added for path, added in ADDED.items() if path not in DOCS))
    assert unread_in(configured, fewer, repository) is not None


def test_a_scanner_that_passes_over_what_nobody_allows_is_refused(
    repository: BuiltRepository, scanner: Callable[[str], Scanner], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = scanner(HIDING["an allowlist"][0])
    whole = Scanner.scan

    def blind(self: Scanner, path: Path, **more: bool) -> object:
        scan = whole(self, path, **more)
        return replace(
            scan, findings=[one for one in scan.findings if one["File"] != "a.py"], added_bytes=339 - 65 - 49 - 30
        )

    monkeypatch.setattr(Scanner, "scan", blind)
    passed_over._reported.cache_clear()
    try:
        assert unread_in(configured, configured.scan(repository.path), repository) is not None
    finally:
        passed_over._reported.cache_clear()


def test_a_corpus_with_files_that_are_allowed_by_path_is_evaluated(
    tmp_path: Path, scanner: Callable[[str], Scanner]
) -> None:
    scanner(RULE)  # Installed once, outside the run.
    (tmp_path / "source" / "docs").mkdir(parents=True)
    token = secret("github-pat", "allowed")
    (tmp_path / "source" / "a.py").write_text(f"# ruleid: github-pat\nx = '{token}'\n", encoding="utf-8")
    (tmp_path / "source" / "docs" / "b.md").write_text("words\n" * 40, encoding="utf-8")
    own = "[extend]\nuseDefault = true\n[allowlist]\npaths = ['''^docs/''']\n"
    (tmp_path / "own.toml").write_text(own, encoding="utf-8")
    options = ("--gitleaks-version=betterleaks@1.4.0", "--gitleaks-config=own.toml", "--gitleaks-only=corpora")
    ran = evaluate(tmp_path, *options, "--gitleaks-corpus=annotated:source")
    assert (ran.status, ran.json()["incomplete"]) == (0, False), ran.text
