"""What Gitleaks really does, measured on each version: the facts that lines of ours stand on."""

import base64
import dataclasses
import json
import os
import re
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.repositories.head import read_head
from gitleaks_eval.repositories.log import Readable, readable
from gitleaks_eval.scanners.build import ScannerBuild, probe
from gitleaks_eval.scanners.canary import build_canary, canary_secrets, check_canary
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.scan import LEAKS_FOUND, Scan, Scanner, unread
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe, load_recipe
from gitleaks_eval.scenarios.scenario import SUITES, load_scenarios
from gitleaks_eval.scenarios.secrets import Secret, secret_kinds

VERSIONS = ("8.16.0", "8.18.4", "8.26.0", "8.30.1")
# Those for which the shipped ground truth holds.
FITTING = ("8.18.4", "8.26.0", "8.30.1")
COUNT_ADDING_COMMITS_ONLY = {"8.30.1"}
TELL_BYTES = {"8.26.0", "8.30.1"}
CALL_A_BROKEN_REPOSITORY_CLEAN = {"8.18.4", "8.30.1"}
RECIPES = {scenario.name: scenario.recipe for scenario in load_scenarios(SUITES, Path())}

# File, line, rule: the table of shared/scanner-facts.md.
NINE: dict[str, set[tuple[str, int, str]]] = {
    "api-keys": {(".env", 3, "github-pat"), ("config/api.py", 5, "stripe-access-token")},
    "aws-credentials": {(".aws/credentials", 2, "aws-access-token"), ("config/aws.py", 4, "aws-access-token")},
    "historical-secrets": {("config/secrets.py", 2, "aws-access-token")},
    "mixed-secrets": {(".env.production", 4, "generic-api-key"), ("config/stripe.py", 2, "stripe-access-token")},
    "private-keys": {("config/server_key.pem", 1, "private-key"), ("deploy/id_rsa", 1, "private-key")},
    "database-creds": {("config/ssl_cert.pem", 1, "private-key")},
    "cloud-mixed": {
        (".aws/credentials", 2, "aws-access-token"),
        (".aws/credentials", 6, "aws-access-token"),
        (".env.production", 4, "slack-bot-token"),
        (".env.production", 7, "github-pat"),
        (".env.production", 10, "generic-api-key"),
        ("config/gcp_key.json", 4, "generic-api-key"),
        ("config/gcp_key.json", 5, "private-key"),
    },
    "no-secrets": set(),
    "synthetic": set(),
}
SLACK = (".env.production", 4)

Finding = dict[str, Any]
Git = Callable[..., bytes]


@dataclass(frozen=True)
class Ran:
    """A scanner that was run as a user would, not as we do."""

    status: int
    report: bytes | None
    log: str


@pytest.fixture(scope="session")
def builds(gitleaks: Callable[[str], Path]) -> dict[str, ScannerBuild]:
    return {version: probe(gitleaks(version), "a test") for version in VERSIONS}


@pytest.fixture(scope="session")
def builtin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration that says: the scanner's own rules."""
    path = tmp_path_factory.mktemp("config") / "builtin.toml"
    path.write_bytes(BUILTIN_CONTENT)
    return path


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    given: str = request.param
    return given


@pytest.fixture(scope="session")
def configurations(builds: dict[str, ScannerBuild], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each version's own one, with the rules of shipped kinds alone: it starts in a quarter of the time."""
    folder = tmp_path_factory.mktemp("some-rules")
    for version, build_ in builds.items():
        own = builtin_document(Path(build_.path), build_.sha256)
        some = {**own, "rules": [rule for rule in own["rules"] if rule["id"] in secret_kinds()]}
        (folder / f"{version}.toml").write_text(tomli_w.dumps(some), encoding="utf-8")
    return {version: folder / f"{version}.toml" for version in builds}


@pytest.fixture
def scanner(version: str, builds: dict[str, ScannerBuild], configurations: dict[str, Path], tmp_path: Path) -> Scanner:
    return _scanner(builds[version], configurations[version], tmp_path / "scratch")


@pytest.fixture
def with_all_rules(version: str, builds: dict[str, ScannerBuild], builtin: Path, tmp_path: Path) -> Scanner:
    return _scanner(builds[version], builtin, tmp_path / "scratch")


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The repositories of both suites by name; not to be changed."""
    folder = tmp_path_factory.mktemp("shipped")
    for name, recipe in RECIPES.items():
        build(load_recipe(recipe), folder / name)
    return {name: folder / name for name in RECIPES}


@pytest.fixture
def api_keys(tmp_path: Path) -> Path:
    """A repository with two secrets in one commit, for a test to change."""
    build(load_recipe(RECIPES["api-keys"]), tmp_path / "api-keys")
    return tmp_path / "api-keys"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run the real git in a repository of the test's own."""
    return _git(tmp_path / "real")


def _git(repository: Path, *, init: bool = True) -> Git:
    repository.mkdir(parents=True, exist_ok=True)
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Test"), ("EMAIL", "test@example.com"), ("DATE", "2026-01-01T00:00:00Z"))
    }

    def run(*arguments: str | bytes, **environment: str) -> bytes:
        command = ["git", "-C", str(repository), *arguments]
        done = subprocess.run(
            command, env={**git_environment(), **identity, **environment}, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    if init:
        run("init", "--quiet", "--initial-branch=main")
    return run


def _scanner(build_: ScannerBuild, config: Path, scratch: Path, seconds: float = 60) -> Scanner:
    scratch.mkdir(exist_ok=True)
    return Scanner(build_, config, scratch, seconds, threading.Event())


def _secret(kind: str, seed: str) -> Secret:
    shape = secret_kinds()[kind]
    return Secret(shape.pattern, seed, shape.line)


def _line(kind: str, seed: str = "facts") -> str:
    """A line of a file with a secret in it, made now."""
    secret = _secret(kind, seed)
    return secret.line.replace("%s", secret.value, 1) + "\n"


def _commit(files: Mapping[bytes, str], **others: Any) -> Commit:
    write = {path: (Part(text=text),) for path, text in files.items()}
    date = datetime(2026, 1, 1, tzinfo=timezone.utc)
    return Commit(**{"message": "Test", "author": "Test <test@example.com>", "date": date, "write": write, **others})


def _built(folder: Path, *commits: Commit) -> Path:
    build(Recipe({}, commits), folder)
    return folder


def _believed(scanner: Scanner, repository: Path, there: Readable | None = None) -> Scan:
    """A scan that counts, as it does in a run; `there` is what git told when the repository was built."""
    scan = scanner.scan(repository)
    if problem := unread(scan, there or readable(repository)):
        raise EvaluationError(problem)
    return scan


def _places(findings: Iterable[Finding]) -> Counter[tuple[str, int, str]]:
    return Counter((finding["File"], finding["StartLine"], finding["RuleID"]) for finding in findings)


def _values(findings: Iterable[Finding]) -> list[tuple[str, int, str, str, str]]:
    keys = ("File", "StartLine", "RuleID", "Commit", "Secret")
    return sorted(tuple(finding[key] for key in keys) for finding in findings)


def _raw(build_: ScannerBuild, folder: Path, repository: Path, *options: str, **environment: str) -> Ran:
    """Run the scanner as a user would in `folder`, with the options given and no others."""
    report = folder / "raw-report.json"
    report.unlink(missing_ok=True)
    source = [str(repository)] if build_.command == "git" else ["--source", str(repository)]
    command = [build_.path, build_.command, *source, "--report-path", str(report), "--report-format", "json", *options]
    done = subprocess.run(
        command, cwd=folder, env={**git_environment(), **environment}, capture_output=True, check=False, text=True
    )
    return Ran(done.returncode, report.read_bytes() if report.exists() else None, done.stderr + done.stdout)


def _assert_counted(scan: Scan, there: Readable, version: str) -> None:
    """The scanner counts what git says: commits of the kind that this version counts, and bytes exactly."""
    adding_only = version in COUNT_ADDING_COMMITS_ONLY
    assert scan.commits == (there.commits_with_text if adding_only else there.commits_with_changes)
    assert scan.added_bytes == (there.added_bytes if version in TELL_BYTES else None)
    assert unread(scan, there) is None


# Exit codes and reports.


def test_leaks_end_with_the_code_that_was_asked_for_and_with_1_otherwise(
    builds: dict[str, ScannerBuild], shipped: dict[str, Path], tmp_path: Path, version: str
) -> None:
    ask = ("--exit-code", str(LEAKS_FOUND))
    assert _raw(builds[version], tmp_path, shipped["api-keys"], *ask).status == 42
    assert _raw(builds[version], tmp_path, shipped["api-keys"]).status == 1
    clean = _raw(builds[version], tmp_path, shipped["no-secrets"], *ask)
    assert clean.status == 0
    assert (clean.report or b"").strip() == b"[]"


def test_an_error_ends_with_1_and_without_a_report(
    builds: dict[str, ScannerBuild], shipped: dict[str, Path], tmp_path: Path, version: str
) -> None:
    ran = _raw(
        builds[version], tmp_path, shipped["api-keys"], "--exit-code", "42", "--config", str(tmp_path / "none.toml")
    )
    assert (ran.status, ran.report) == (1, None)


@pytest.mark.parametrize(
    ("content", "status"),
    [("[[rules]\n", 1), ('[[rules]]\nid = "one"\ndescription = "one"\nregex = "a(b"\n', 2)],
    ids=["no TOML", "a bad regex"],
)
def test_a_configuration_that_the_scanner_cannot_read_is_never_a_clean_scan(
    scanner: Scanner, shipped: dict[str, Path], tmp_path: Path, content: str, status: int
) -> None:
    config = tmp_path / "broken.toml"
    config.write_text(content, encoding="ascii")
    with pytest.raises(EvaluationError, match=f"^ended with exit code {status}: "):
        dataclasses.replace(scanner, config=config).scan(shipped["no-secrets"])


def test_a_configuration_without_rules_finds_nothing_and_ends_well(
    scanner: Scanner, shipped: dict[str, Path], tmp_path: Path
) -> None:
    config = tmp_path / "empty.toml"
    config.write_bytes(b'title = "no rules"\n')
    assert _believed(dataclasses.replace(scanner, config=config), shipped["api-keys"]).findings == []


def test_the_builtin_configuration_is_what_the_scanner_takes_when_it_is_given_none(
    with_all_rules: Scanner, shipped: dict[str, Path], tmp_path: Path
) -> None:
    for name in ("cloud-mixed", "mixed-secrets"):
        alone = _raw(with_all_rules.build, tmp_path, shipped[name])
        assert _values(json.loads(alone.report or b"")) == _values(with_all_rules.scan(shipped[name]).findings)


def test_a_finding_has_the_keys_that_we_read_and_no_severity(scanner: Scanner, shipped: dict[str, Path]) -> None:
    read = "RuleID Description StartLine Secret Match File Commit Entropy Author Date Message".split()
    for finding in scanner.scan(shipped["cloud-mixed"]).findings:
        assert finding.keys() >= set(read)
        assert not [key for key in finding if "severity" in key.lower()]
        assert re.fullmatch("[0-9a-f]{40}", finding["Commit"])


def test_dates_are_in_utc_whatever_the_commit_says_so_that_their_text_sorts(scanner: Scanner, tmp_path: Path) -> None:
    east = datetime.fromisoformat("2026-01-02T03:00:00+14:00")
    west = datetime.fromisoformat("2026-01-01T20:00:00-09:00")
    commits = (
        _commit({b"east.env": _line("github-pat", "east")}, date=east),
        _commit({b"west.env": _line("github-pat", "west")}, date=west),
    )
    found = {
        finding["File"]: finding["Date"]
        for finding in _believed(scanner, _built(tmp_path / "dates", *commits)).findings
    }
    assert found == {"east.env": "2026-01-01T13:00:00Z", "west.env": "2026-01-02T05:00:00Z"}


# What was read.


@pytest.mark.parametrize("name", RECIPES)
def test_what_the_scanner_counts_is_what_git_says_in_every_shipped_repository(
    scanner: Scanner, shipped: dict[str, Path], version: str, name: str
) -> None:
    _assert_counted(scanner.scan(shipped[name]), readable(shipped[name]), version)


def test_versions_count_different_commits_of_the_same_six(
    scanner: Scanner, version: str, git: Git, tmp_path: Path
) -> None:
    real = tmp_path / "real"
    (real / "kept").write_text("kept\n", encoding="ascii")
    (real / "gone").write_text("gone\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "add")
    git("rm", "-q", "gone")
    git("commit", "-qm", "delete")
    git("commit", "-qm", "empty", "--allow-empty")
    git("update-index", "--chmod=+x", "kept")
    git("commit", "-qm", "mode change")
    (real / "binary").write_bytes(b"\0\1\2" * 100)
    git("add", "binary")
    git("commit", "-qm", "binary")
    (real / "nothing").write_bytes(b"")
    git("add", "nothing")
    git("commit", "-qm", "empty file")
    there = readable(real)
    assert (there.commits_with_changes, there.commits_with_text, there.added_bytes) == (3, 1, 10)
    scan = scanner.scan(real)
    assert scan.commits == {"8.16.0": 3, "8.18.4": 3, "8.26.0": 3, "8.30.1": 1}[version]
    _assert_counted(scan, there, version)


def test_merges_renames_and_branches_are_counted_as_git_says(
    scanner: Scanner, version: str, git: Git, tmp_path: Path
) -> None:
    real = tmp_path / "real"
    (real / "old.txt").write_text("".join(f"{number}\n" for number in range(50)), encoding="ascii")
    (real / "ours.txt").write_text("a\nb\nc\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "start")
    git("checkout", "-qb", "side")
    git("mv", "old.txt", "new.txt")
    git("commit", "-qm", "rename")
    git("mv", "new.txt", "newer.txt")
    with (real / "newer.txt").open("a", encoding="ascii") as file:
        file.write("one more\n")
    git("commit", "-qam", "rename and change")
    (real / "ours.txt").write_text("a\nb side\nc\n", encoding="ascii")
    git("commit", "-qam", "change")
    git("checkout", "-q", "main")
    (real / "main.txt").write_text("main\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "on main")
    git("merge", "-q", "--no-commit", "side")
    # What only the merge itself says is in no diff that is read.
    (real / "ours.txt").write_text("a\nb merged\nc\n", encoding="ascii")
    git("commit", "-qam", "merge")
    git("checkout", "-q", "--orphan", "alone")
    git("rm", "-rqf", ".")
    (real / "alone.txt").write_text("alone\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "another root")
    (real / "alone.txt").unlink()
    git("commit", "-qam", "empty it")
    git("tag", "-m", "a tag", "tagged")
    there = readable(real)
    # start, rename, rename and change, change, on main, another root; the pure rename adds no text.
    assert (there.commits_with_changes, there.commits_with_text) == (6, 5)
    _assert_counted(scanner.scan(real), there, version)


ODD = {
    "no newline at the end": b"a\nb",
    "carriage returns": b"a\r\nb\rc\r\n",
    "a diff": b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file\n",
    "signs": b"-- minus\n++ plus\n\\ backslash\n@@ -0,0 +1,9 @@\n",
    "a log": b"commit 0123456789012345678901234567890123456789\nAuthor: x <x@example.com>\n\n    message\n",
    "controls": b"\x01\x02\x0c\x0b\x1b[31m\n\x01" + b"0" * 40 + b"\n",
    "not UTF-8": b"\xe9\xff\xfe\n",
    "blank lines": b"\n\n\n \n\t\n",
    "one long line": b"x " * 50_000,
    "separators": "one\u2028two\x85three\n".encode(),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_contents_are_counted_to_the_byte(
    scanner: Scanner, version: str, git: Git, tmp_path: Path, kind: str
) -> None:
    real = tmp_path / "real"
    for content in (ODD[kind], b"before\n" + ODD[kind], ODD[kind] + b"\nafter", b"end\n"):
        (real / "odd").write_bytes(content)
        git("add", ".")
        git("commit", "-qm", "Change it\n\ndiff --git a/x b/x\n@@ -1 +1 @@\n+not a line\n")
    _assert_counted(scanner.scan(real), readable(real), version)


def test_a_secret_in_a_merge_commit_itself_is_missed_by_every_version(
    scanner: Scanner, git: Git, tmp_path: Path
) -> None:
    real = tmp_path / "real"
    (real / "a").write_text("a\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "start")
    git("checkout", "-qb", "side")
    (real / "b").write_text("b\n", encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "side")
    git("checkout", "-q", "main")
    git("commit", "-qm", "main", "--allow-empty")
    git("merge", "-q", "--no-commit", "--no-ff", "side")
    (real / "c.env").write_text(_line("github-pat"), encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "merge")
    assert _believed(scanner, real).findings == []


# A repository that cannot be read.


def _no_repository(folder: Path) -> None:
    shutil.rmtree(folder / ".git")


def _missing(folder: Path) -> None:
    shutil.rmtree(folder)


def _empty_git_folder(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").mkdir()


def _unpack(folder: Path) -> None:
    """Make loose objects of a pack: one of those can be damaged alone."""
    for pack in (folder / ".git/objects/pack").glob("*.pack"):
        content = pack.read_bytes()
        pack.with_suffix(".idx").unlink()
        pack.unlink()
        command = ["git", "-C", str(folder), "unpack-objects", "-q"]
        subprocess.run(command, input=content, env=git_environment(), check=True, capture_output=True)


def _cut_pack(folder: Path) -> None:
    for pack in (folder / ".git/objects/pack").glob("*.pack"):
        pack.write_bytes(pack.read_bytes()[: pack.stat().st_size // 2])


def _last_object(folder: Path, kind: str) -> Path:
    """The loose object of a kind that comes last when git reads the history."""
    git = _git(folder, init=False)
    _unpack(folder)
    listed = [line.split(b" ")[0] for line in git("rev-list", "--objects", "--all", "--in-commit-order").splitlines()]
    kinds = dict(line.split()[:2] for line in git("cat-file", "--batch-all-objects", "--batch-check").splitlines())
    name = next(name for name in reversed(listed) if kinds[name] == kind.encode()).decode()
    return folder / ".git" / "objects" / name[:2] / name[2:]


def _damaged(kind: str, *, remove: bool) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = _last_object(folder, kind)
        path.chmod(0o644)
        if remove:
            path.unlink()
        else:
            path.write_bytes(b"\0 not an object")

    return damage


def _branch_to_nowhere(folder: Path) -> None:
    for ref in (folder / ".git" / "refs" / "heads").iterdir():
        ref.write_text("0" * 39 + "1\n", encoding="ascii")


def _unreadable_format(folder: Path) -> None:
    (folder / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 99\n", encoding="ascii")


BROKEN: dict[str, Callable[[Path], None]] = {
    "missing": _missing,
    "no repository": _no_repository,
    "empty .git": _empty_git_folder,
    "unknown format": _unreadable_format,
    "branch to nowhere": _branch_to_nowhere,
    "corrupt commit": _damaged("commit", remove=False),
    "corrupt tree": _damaged("tree", remove=False),
    "corrupt file": _damaged("blob", remove=False),
    "lost commit": _damaged("commit", remove=True),
    "lost file": _damaged("blob", remove=True),
    "cut pack": _cut_pack,
}


BREAKABLE = ("historical-secrets", "no-secrets")


@pytest.mark.parametrize("recipe", BREAKABLE)
def test_what_is_broken_below_counts_as_scanned_before(scanner: Scanner, tmp_path: Path, recipe: str) -> None:
    repository = tmp_path / recipe
    build(load_recipe(RECIPES[recipe]), repository)
    _believed(scanner, repository, readable(repository))


@pytest.mark.parametrize("recipe", BREAKABLE)
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_repository_never_counts_as_scanned(scanner: Scanner, tmp_path: Path, kind: str, recipe: str) -> None:
    repository = tmp_path / recipe
    build(load_recipe(RECIPES[recipe]), repository)
    there = readable(repository)
    BROKEN[kind](repository)
    with pytest.raises(EvaluationError):
        _believed(scanner, repository, there)


@pytest.mark.parametrize("kind", ["no repository", "corrupt file"])
def test_two_versions_call_a_broken_repository_clean(scanner: Scanner, version: str, tmp_path: Path, kind: str) -> None:
    repository = _built(tmp_path / "broken", _commit({b"one.env": _line("github-pat")}))
    BROKEN[kind](repository)
    ran = _raw(scanner.build, tmp_path, repository, "--exit-code", "42")
    assert ran.status == (0 if version in CALL_A_BROKEN_REPOSITORY_CLEAN else 1)
    assert "no leaks found" in ran.log
    assert ("partial scan" in ran.log) == (version not in CALL_A_BROKEN_REPOSITORY_CLEAN)


def test_a_repository_that_breaks_after_secrets_were_found_never_counts_as_scanned(
    scanner: Scanner, tmp_path: Path
) -> None:
    # Git shows the newest commit first; its secrets are found before it comes to the one that is lost.
    commits = [_commit({f"{number:02}.env".encode(): _line("github-pat", str(number))}) for number in range(8)]
    repository = _built(tmp_path / "half", *commits)
    there = readable(repository)
    _damaged("blob", remove=True)(repository)
    with pytest.raises(EvaluationError):
        _believed(scanner, repository, there)


def test_a_commit_that_breaks_between_two_files_never_counts_as_scanned(scanner: Scanner, tmp_path: Path) -> None:
    # The commit is counted with its first file: the number of commits alone would be right.
    files = {f"{number}.env".encode(): _line("github-pat", str(number)) for number in range(5)}
    repository = _built(tmp_path / "half", _commit(files))
    there = readable(repository)
    _damaged("blob", remove=False)(repository)
    with pytest.raises(EvaluationError):
        _believed(scanner, repository, there)


def test_a_repository_of_another_owner_is_read(
    scanner: Scanner, shipped: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _values(scanner.scan(shipped["cloud-mixed"]).findings)
    # Git's own switch for tests: it takes every repository for another user's.
    other = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    bare = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(shipped["cloud-mixed"]), "log", "-1"]
    refused = subprocess.run(command, env={**bare, **other}, capture_output=True, check=False)
    assert b"dubious ownership" in refused.stderr
    monkeypatch.setattr("gitleaks_eval.scanners.scan.git_environment", lambda: {**git_environment(), **other})
    assert _values(_believed(scanner, shipped["cloud-mixed"]).findings) == expected


# What would silently change a result.

ALLOW_ALL = "[extend]\nuseDefault = true\n[allowlist]\nregexes = ['''.*''']\npaths = ['''.*''']\n"


def _report(ran: Ran) -> list[Finding]:
    findings: list[Finding] = json.loads(ran.report or b"[]")
    return findings


def test_a_configuration_in_the_scanned_repository_changes_nothing(scanner: Scanner, git: Git, tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / ".env").write_text(_line("github-pat"), encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "start")
    expected = _values(_believed(scanner, real).findings)
    assert len(expected) == 1
    (real / ".gitleaks.toml").write_text(ALLOW_ALL, encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "allow all")
    assert _report(_raw(scanner.build, tmp_path, real)) == []
    assert _values(_believed(scanner, real).findings) == expected


@pytest.mark.parametrize(("name", "since"), [("GITLEAKS_CONFIG", "8.16.0"), ("GITLEAKS_CONFIG_TOML", "8.26.0")])
def test_a_configuration_in_the_environment_changes_nothing(
    scanner: Scanner, shipped: dict[str, Path], request: pytest.FixtureRequest, name: str, since: str
) -> None:
    expected = _values(_believed(scanner, shipped["cloud-mixed"]).findings)
    folder: Path = request.getfixturevalue("tmp_path")
    config = folder / "allow.toml"
    config.write_text(ALLOW_ALL, encoding="ascii")
    value = str(config) if name == "GITLEAKS_CONFIG" else ALLOW_ALL
    obeyed = _raw(scanner.build, folder, shipped["cloud-mixed"], **{name: value})
    assert (_report(obeyed) == []) == (VERSIONS.index(scanner.build.version) >= VERSIONS.index(since))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, value)
        assert _values(_believed(scanner, shipped["cloud-mixed"]).findings) == expected


def _ignore_all(findings: Iterable[Finding]) -> str:
    lines = [f"{finding['File']}:{finding['RuleID']}:{finding['StartLine']}" for finding in findings]
    return "".join(f"{line}\n" for line in lines + [finding["Fingerprint"] for finding in findings])


def test_a_suppress_file_where_we_are_started_or_in_a_commit_changes_nothing(
    scanner: Scanner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = _commit({b".env": _line("github-pat")})
    found = _believed(scanner, _built(tmp_path / "plain", commit)).findings
    assert len(found) == 1
    ignored = _ignore_all(found)
    # Built repositories have no checked-out files: what stands in a commit is only scanned.
    suppressed = _built(
        tmp_path / "suppressed", commit, _commit({b".gitleaksignore": ignored, b".gitleaks.toml": ALLOW_ALL})
    )
    here = tmp_path / "here"
    here.mkdir()
    (here / ".gitleaksignore").write_text(ignored, encoding="ascii")
    (here / ".gitleaks.toml").write_text(ALLOW_ALL, encoding="ascii")
    monkeypatch.chdir(here)
    assert _values(_believed(scanner, suppressed).findings) == _values(found)


def test_a_suppress_file_that_is_checked_out_in_the_scanned_repository_is_obeyed_from_8_18_on(
    scanner: Scanner, version: str, git: Git, tmp_path: Path
) -> None:
    """Why built repositories are never checked out: no option of the scanner turns this off."""
    real = tmp_path / "real"
    (real / ".env").write_text(_line("github-pat"), encoding="ascii")
    git("add", ".")
    git("commit", "-qm", "start")
    (real / ".gitleaksignore").write_text(".env:github-pat:1\n", encoding="ascii")
    assert len(_believed(scanner, real).findings) == (1 if version == "8.16.0" else 0)


def test_a_built_repository_has_no_checked_out_files(shipped: dict[str, Path]) -> None:
    for folder in shipped.values():
        assert [path.name for path in folder.iterdir()] == [".git"]


GIT_CONFIG = """\
[core]
\tattributesFile = {home}/attributes
\tpager = false
\tquotePath = false
[color]
\tui = always
[diff]
\texternal = {home}/external
\tnoprefix = true
\tmnemonicPrefix = true
\trenames = false
\torderFile = {home}/order
[log]
\tshowSignature = true
\tdiffMerges = separate
\tfollow = true
[format]
\tpretty = oneline
[safe]
\tdirectory = /nowhere
"""


@pytest.fixture
def hostile_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose git hides every file, colours its output, and runs a program for each diff."""
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    for path in (home / "attributes", home / ".config" / "git" / "attributes"):
        path.write_text("* binary\n", encoding="ascii")
    (home / "order").write_text("*.py\n", encoding="ascii")
    external = home / "external"
    external.write_text(f"#!/bin/sh\ntouch '{home}/ran'\n", encoding="ascii")
    external.chmod(0o755)
    (home / ".gitconfig").write_text(GIT_CONFIG.format(home=home), encoding="ascii")
    shutil.copy(home / ".gitconfig", home / ".config" / "git" / "config")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    for name, value in (
        ("GIT_CONFIG_GLOBAL", str(home / ".gitconfig")),
        ("GIT_CONFIG_PARAMETERS", "'color.ui'='always'"),
        ("GIT_EXTERNAL_DIFF", str(external)),
        ("GIT_DIFF_OPTS", "-u9"),
        ("GIT_DIR", str(home)),
        ("GIT_PAGER", "false"),
    ):
        monkeypatch.setenv(name, value)
    return home


def test_the_users_git_configuration_and_attributes_change_nothing(
    scanner: Scanner, shipped: dict[str, Path], version: str, request: pytest.FixtureRequest
) -> None:
    names = ("cloud-mixed", "historical-secrets", "merged-branch")
    expected = {name: (_values(scanner.scan(shipped[name]).findings), readable(shipped[name])) for name in names}
    home: Path = request.getfixturevalue("hostile_home")
    for name in names:
        scan = scanner.scan(shipped[name])
        assert (_values(scan.findings), readable(shipped[name])) == expected[name]
        _assert_counted(scan, expected[name][1], version)
    assert not (home / "ran").exists()


@pytest.mark.parametrize("where", [".config/git/attributes", ".gitconfig"])
def test_a_users_git_attributes_would_hide_everything(
    scanner: Scanner, shipped: dict[str, Path], hostile_home: Path, tmp_path: Path, where: str
) -> None:
    """What the environment of a scan is scrubbed of, in an environment that is not."""
    if where == ".gitconfig":
        (hostile_home / ".gitconfig").write_text(
            f"[core]\n\tattributesFile = {hostile_home}/attributes\n", encoding="ascii"
        )
        shutil.rmtree(hostile_home / ".config")
    open_to_all = {
        "HOME": str(hostile_home),
        "XDG_CONFIG_HOME": str(hostile_home / ".config"),
        "GIT_CONFIG_GLOBAL": str(hostile_home / ".gitconfig") if where == ".gitconfig" else os.devnull,
        "GIT_CONFIG_COUNT": "0",
    }
    assert _report(_raw(scanner.build, tmp_path, shipped["cloud-mixed"], **open_to_all)) == []
    assert len(_report(_raw(scanner.build, tmp_path, shipped["cloud-mixed"]))) >= 7


def test_a_repositorys_own_configuration_runs_nothing_when_git_is_asked_what_is_there(
    api_keys: Path, tmp_path: Path
) -> None:
    before = readable(api_keys)
    command = tmp_path / "command"
    command.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n", encoding="ascii")
    command.chmod(0o755)
    with (api_keys / ".git" / "config").open("a", encoding="ascii") as config:
        config.write(f'[diff "all"]\n\ttextconv = {command}\n\tcommand = {command}\n[diff]\n\texternal = {command}\n')
    (api_keys / ".git" / "info").mkdir(exist_ok=True)
    (api_keys / ".git" / "info" / "attributes").write_text("* diff=all\n", encoding="ascii")
    assert readable(api_keys) == before
    assert not (tmp_path / "ran").exists()


# What is found, and where.


@pytest.mark.parametrize("name", NINE)
def test_the_nine_scenarios_hold_and_the_oldest_version_differs_in_one_place(
    with_all_rules: Scanner, shipped: dict[str, Path], version: str, name: str
) -> None:
    expected = Counter(NINE[name])
    if version not in FITTING and name == "cloud-mixed":
        expected -= Counter([(*SLACK, "slack-bot-token")])
        expected += Counter([(*SLACK, "slack-access-token"), (*SLACK, "generic-api-key")])
    assert _places(_believed(with_all_rules, shipped[name]).findings) == expected


SEEDS = [f"robust {number}" for number in range(100)]


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a secret of every shipped kind from each of many seeds, each in a file of its own."""
    files = {
        f"{kind}/{number}.txt".encode(): _line(kind, seed)
        for kind in secret_kinds()
        for number, seed in enumerate(SEEDS)
    }
    return _built(tmp_path_factory.mktemp("many") / "repository", _commit(files))


@pytest.fixture(scope="session")
def found_in_many(
    builds: dict[str, ScannerBuild], builtin: Path, many: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Sequence[Finding]]:
    """What a version finds in it with all of its rules: one scan for all kinds."""
    scratch = tmp_path_factory.mktemp("many-scratch")
    return cache(lambda version: _believed(_scanner(builds[version], builtin, scratch / version), many).findings)


def _as_reported(version: str, kind: str, value: str) -> str:
    """The value in a report: older rules take in what stands behind it, or leave out its last character."""
    if kind == "private-key" and version in {"8.16.0", "8.18.4"}:
        return value[:-1]
    if kind == "stripe-access-token" and version == "8.18.4":
        return value + '"'
    return value


@pytest.mark.parametrize("version", FITTING)
@pytest.mark.parametrize("kind", secret_kinds())
def test_a_secret_of_a_shipped_kind_is_found_by_value_under_its_rule_whatever_its_seed(
    found_in_many: Callable[[str], Sequence[Finding]], version: str, kind: str
) -> None:
    findings = [finding for finding in found_in_many(version) if finding["File"].startswith(f"{kind}/")]
    found = {(finding["RuleID"], finding["File"], finding["Secret"]) for finding in findings}
    assert len(found) == len(findings)
    planted = {
        (kind, f"{kind}/{number}.txt", _as_reported(version, kind, _secret(kind, seed).value))
        for number, seed in enumerate(SEEDS)
    }
    # The names of the files alone: a failure shows no value.
    assert {path for _, path, _ in planted - found} == set()
    assert {path for _, path, _ in found - planted} == set()


def test_every_secret_of_the_canary_is_found_by_value_by_every_version(
    with_all_rules: Scanner, version: str, tmp_path: Path
) -> None:
    secrets = canary_secrets([])
    assert len(secrets) == len(secret_kinds())
    repository = build_canary(tmp_path / "canary", secrets)
    scan = check_canary(with_all_rules, repository, secrets)
    values = {finding["Secret"] for finding in scan.findings}
    assert {_as_reported(version, kind, _secret(kind, "canary").value) for kind in secret_kinds()} <= values
    _assert_counted(scan, repository.readable, version)


def test_a_rule_that_reports_less_than_the_whole_secret_passes_the_canary(scanner: Scanner, tmp_path: Path) -> None:
    """Up to 8.18 the shipped rule for private keys leaves out the last character, and users copied it."""
    config = tmp_path / "keys.toml"
    rule = {"id": "keys", "description": "keys", "regex": r"-{5}BEGIN[\s\S-]*KEY----"}
    config.write_text("[[rules]]\n" + "".join(f"{key} = '{value}'\n" for key, value in rule.items()), encoding="ascii")
    secrets = canary_secrets([])
    repository = build_canary(tmp_path / "canary", secrets)
    keys = dataclasses.replace(scanner, config=config)
    assert [finding["RuleID"] for finding in keys.scan(repository.path).findings] == ["keys"] * 2
    assert check_canary(keys, repository, secrets).findings


def test_two_analyses_of_one_repository_are_equal_and_sorted_whatever_the_order_of_the_reports(
    scanner: Scanner, many: Path, version: str
) -> None:
    head, policy = read_head(many), load_policy()
    provenance = Provenance("many", head.branch, head.commit, version, "run", "2026-01-01T00:00:00Z", 1.0, 1)
    scans = [_believed(scanner, many) for _ in range(3)]
    analyses = [analyse(scan.findings, head.contents, policy, provenance) for scan in scans]
    assert analyses[0] == analyses[1] == analyses[2]
    entries = [
        (entry["file_path"], entry["line_number"], entry["rule_id"]) for entry in analyses[0]["data"]["findings"]
    ]
    assert entries == sorted(entries)
    assert len(entries) > 500


NAMES = {
    b"caf\xe9.env": "caf\N{REPLACEMENT CHARACTER}.env",
    "\u00fcbung/\u65e5\u672c.env".encode(): "\u00fcbung/\u65e5\u672c.env",
    b"with space.env": "with space.env",
    b'with "quotes".env': 'with "quotes".env',
    b"with\nnewline.env": "with\nnewline.env",
    b"with\ttab\\backslash.env": "with\ttab\\backslash.env",
}


def test_odd_file_names_come_through_and_bytes_that_are_not_utf_8_are_replaced(
    scanner: Scanner, version: str, tmp_path: Path
) -> None:
    files = {path: _line("github-pat", str(index)) for index, path in enumerate(NAMES)}
    repository = _built(tmp_path / "names", _commit(files))
    scan = _believed(scanner, repository)
    assert sorted(finding["File"] for finding in scan.findings) == sorted(NAMES.values())
    _assert_counted(scan, readable(repository), version)


def test_a_secret_in_a_renamed_file_is_reported_once_under_the_old_name(scanner: Scanner, tmp_path: Path) -> None:
    repository = _built(
        tmp_path / "renamed",
        _commit({b"old.env": _line("github-pat")}),
        _commit({}, rename={b"old.env": b"new.env"}),
    )
    assert _places(_believed(scanner, repository).findings) == {("old.env", 1, "github-pat"): 1}


@pytest.mark.parametrize(
    ("ending", "found_by"),
    [("exe", {"8.16.0"}), ("png", {"8.16.0", "8.18.4"}), ("zip", {"8.30.1"}), ("env", set(VERSIONS))],
)
def test_text_in_a_file_with_a_binary_name_is_found_by_some_versions_only(
    with_all_rules: Scanner, version: str, tmp_path: Path, ending: str, found_by: set[str]
) -> None:
    repository = _built(tmp_path / "named", _commit({f"file.{ending}".encode(): _line("github-pat")}))
    assert len(with_all_rules.scan(repository).findings) == (version in found_by)


@pytest.mark.parametrize("content", ["nul", "utf-16"])
def test_a_secret_in_a_file_that_git_calls_binary_is_missed_by_every_version(
    scanner: Scanner, tmp_path: Path, content: str
) -> None:
    line = _line("github-pat").encode()
    data = line + b"\0" if content == "nul" else line.decode().encode("utf-16")
    commit = _commit({b"text.env": "nothing\n"})
    binary = _commit({}, write={b"data.env": (Part(data=data),)})
    assert _believed(scanner, _built(tmp_path / "binary", commit, binary)).findings == []


def test_encoded_secrets_are_found_where_the_builds_own_depth_is_not_0(
    with_all_rules: Scanner, version: str, tmp_path: Path
) -> None:
    encoded = base64.b64encode(_line("github-pat").encode()).decode()
    repository = _built(tmp_path / "encoded", _commit({b"encoded.txt": f"data: {encoded}\n"}))
    found = [finding["RuleID"] for finding in _believed(with_all_rules, repository).findings]
    assert found == (["github-pat"] if version == "8.30.1" else [])
    assert bool(found) == bool(with_all_rules.build.decode_depth)


# The chain of a configuration.

OWN_RULE = "[[rules]]\nid = \"own-rule\"\ndescription = \"own\"\nregex = '''own_[0-9]{8}'''\nkeywords = [\"own_\"]\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A repository with a token of the user's own and one that the builtin rules know."""
    return _built(tmp_path / "own", _commit({b"own.txt": "own_12345678\n", b"token.env": _line("github-pat")}))


def _rules(scanner: Scanner, folder: Path, repository: Path, config: str) -> set[str]:
    (folder / "first.toml").write_text(config, encoding="ascii")
    ran = _raw(scanner.build, folder, repository, "--config", str(folder / "first.toml"))
    assert ran.report is not None, ran.log
    return {finding["RuleID"] for finding in _report(ran)}


def test_a_configuration_extends_a_path_that_is_relative_to_where_the_scanner_is_started(
    scanner: Scanner, own: Path, tmp_path: Path
) -> None:
    config = '[extend]\npath = "base.toml"\n'
    (tmp_path / "base.toml").write_text(OWN_RULE, encoding="ascii")
    assert _rules(scanner, tmp_path, own, config) == {"own-rule"}
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "first.toml").write_text(config, encoding="ascii")
    (beside / "base.toml").write_text(OWN_RULE.replace("own-rule", "beside-rule"), encoding="ascii")
    ran = _raw(scanner.build, tmp_path, own, "--config", str(beside / "first.toml"))
    assert {finding["RuleID"] for finding in _report(ran)} == {"own-rule"}


BOTH = '[extend]\nuseDefault = true\npath = "base.toml"\n' + OWN_RULE


def test_a_configuration_that_extends_the_default_and_a_path_is_refused_by_every_version(
    scanner: Scanner, own: Path, tmp_path: Path
) -> None:
    (tmp_path / "first.toml").write_text(BOTH, encoding="ascii")
    (tmp_path / "base.toml").write_text(OWN_RULE.replace("own-rule", "base-rule"), encoding="ascii")
    ran = _raw(scanner.build, tmp_path, own, "--config", str(tmp_path / "first.toml"))
    assert (ran.status, ran.report) == (1, None)
    assert "extend.path and extend.useDefault being set" in ran.log


def test_a_configuration_that_every_version_refuses_is_wrong_on_sight(tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text(BOTH, encoding="ascii")
    (tmp_path / "base.toml").write_text(OWN_RULE, encoding="ascii")
    with pytest.raises(InputError, match="useDefault"):
        choose_configuration(("first.toml", tmp_path, "--gitleaks-config"), tmp_path, tmp_path)


def _chain_of(folder: Path, count: int, last: str) -> Path:
    """A chain of files, each with a rule of its own, that ends with what the last one extends."""
    for number in range(1, count + 1):
        extend = last if number == count else f"path = '{folder}/{number + 1}.toml'\n"
        rule = OWN_RULE.replace("own-rule", f"rule-{number}")
        (folder / f"{number}.toml").write_text(f"[extend]\n{extend}{rule}", encoding="ascii")
    return folder / "1.toml"


def _title_of(first: Path) -> str:
    return choose_configuration((str(first), first.parent, "--gitleaks-config"), first.parent, first.parent).title(
        first.parent
    )


TOO_LONG = [pytest.param(3, "useDefault = true\n", id="default"), pytest.param(4, "", id="file")]


@pytest.mark.parametrize(("count", "last"), TOO_LONG)
def test_what_the_third_file_of_a_chain_extends_is_looked_at_by_no_version(
    scanner: Scanner, own: Path, tmp_path: Path, count: int, last: str
) -> None:
    ran = _raw(scanner.build, tmp_path, own, "--config", str(_chain_of(tmp_path, count, last)))
    assert {finding["RuleID"] for finding in _report(ran)} == {"rule-1", "rule-2", "rule-3"}


@pytest.mark.parametrize(("count", "last"), TOO_LONG)
def test_what_no_version_looks_at_is_not_named_as_under_test(tmp_path: Path, count: int, last: str) -> None:
    assert _title_of(_chain_of(tmp_path, count, last)) == "1.toml > 2.toml > 3.toml"


def test_the_second_file_of_a_chain_may_extend_the_default(scanner: Scanner, own: Path, tmp_path: Path) -> None:
    first = _chain_of(tmp_path, 2, "useDefault = true\n")
    ran = _raw(scanner.build, tmp_path, own, "--config", str(first))
    assert {finding["RuleID"] for finding in _report(ran)} == {"rule-1", "rule-2", "github-pat"}
    assert _title_of(first) == "1.toml > 2.toml > builtin"


def test_the_keys_of_a_configuration_are_read_without_regard_to_case(
    scanner: Scanner, own: Path, tmp_path: Path
) -> None:
    config = "[EXTEND]\nUSEDEFAULT = true\n" + OWN_RULE.replace("[[rules]]", "[[Rules]]").replace("regex", "Regex")
    assert _rules(scanner, tmp_path, own, config) == {"own-rule", "github-pat"}
