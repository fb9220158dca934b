"""Two scanners, each with an adapter; what Betterleaks does otherwise; and scans of files instead of the history."""

import base64
import dataclasses
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from builders import git, secret

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.repositories.head import read_head
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.scanners import GITLEAKS, SCANNERS, known_scanner, scanner_and_version
from gitleaks_eval.scanners.build import ScannerBuild, ScannerChoice, configuration_sources, probe
from gitleaks_eval.scanners.canary import build_canary, canary_secrets, check_canary
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.decoded import encoded_texts
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scanners.scan import Scan, Scanner, unread
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe, load_recipe

BETTER = "betterleaks 1.4.0"
BUILDS = ("gitleaks 8.16.0", "gitleaks 8.18.4", "gitleaks 8.26.0", "gitleaks 8.30.1", BETTER)
TELL_BYTES = {"gitleaks 8.26.0", "gitleaks 8.30.1", BETTER}
LONE_KEY_IDS = {(".aws/credentials", 2), (".aws/credentials", 6)}


@pytest.fixture(scope="session")
def builds() -> Callable[[str], ScannerBuild]:
    """What a name such as `gitleaks 8.30.1` is, installed into the user's cache if needed."""
    known: dict[str, ScannerBuild] = {}

    def get(name: str) -> ScannerBuild:
        if name not in known:
            scanner, version = name.split()
            known[name] = probe(installed_binary(version, print, SCANNERS[scanner])[0], "a test")
        return known[name]

    return get


@pytest.fixture
def scanner_of(builds: Callable[[str], ScannerBuild], tmp_path: Path) -> Callable[[str], Scanner]:
    config, scratch = tmp_path / "builtin.toml", tmp_path / "scratch"
    config.write_bytes(BUILTIN_CONTENT)
    scratch.mkdir()
    return lambda name: Scanner(builds(name), config, scratch, 60, threading.Event())


@pytest.fixture
def better(scanner_of: Callable[[str], Scanner]) -> Scanner:
    return scanner_of(BETTER)


@pytest.fixture
def shipped(tmp_path: Path) -> Callable[[str], Path]:
    def built(name: str) -> Path:
        build(load_recipe(shipped_data("synthetic_repos") / f"{name}.yaml"), tmp_path / name)
        return tmp_path / name

    return built


def _built(folder: Path, files: dict[bytes, str]) -> Path:
    write = {path: (Part(text=text),) for path, text in files.items()}
    day = datetime(2026, 1, 1, tzinfo=timezone.utc)
    build(Recipe({}, (Commit("Test", "Test <test@example.com>", day, write=write),)), folder)
    return folder


def _places(scan: Scan) -> set[tuple[str, int]]:
    return {(finding["File"], finding["StartLine"]) for finding in scan.findings}


# Names.


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("8.30.1", ("gitleaks", "8.30.1")),
        ("gitleaks@v8.30.1", ("gitleaks", "8.30.1")),
        ("betterleaks@1.4.0", ("betterleaks", "1.4.0")),
    ],
)
def test_a_version_names_its_scanner_and_gitleaks_where_it_names_none(text: str, named: tuple[str, str]) -> None:
    adapter, version = scanner_and_version(text, "--gitleaks-version")
    assert (adapter.name, version) == named


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("foo@1.2", "'foo@1.2': 'foo' is no scanner that is known; write one of gitleaks, betterleaks"),
        ("@8.30.1", "'@8.30.1': '' is no scanner that is known; write one of gitleaks, betterleaks"),
        ("Betterleaks@1.4.0", "'Betterleaks@1.4.0': 'Betterleaks' is no scanner that is known; write one of .*"),
        ("1.4.0", "'1.4.0': not a version of Gitleaks; write it as 8.30.1"),
        ("betterleaks@8.30.1", "'8.30.1': not a version of Betterleaks; write it as 1.4.0"),
        ("betterleaks@", "'': not a version of Betterleaks; write it as 1.4.0"),
    ],
)
def test_a_scanner_or_version_that_is_not_known_is_refused_by_the_name_of_its_option(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=rf"^--gitleaks-version:? {problem}$"):
        scanner_and_version(text, "--gitleaks-version")


def test_a_scanner_is_known_by_its_name() -> None:
    assert [known_scanner(name, "an option") for name in ("gitleaks", "betterleaks")] == [
        GITLEAKS,
        SCANNERS["betterleaks"],
    ]


@pytest.mark.parametrize("name", BUILDS)
def test_a_binary_tells_which_scanner_it_is_and_what_it_can_do(
    builds: Callable[[str], ScannerBuild], name: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "renamed"
    elsewhere.symlink_to(builds(name).path)
    build_ = probe(elsewhere, "a test")
    assert f"{build_.name} {build_.version}" == name
    assert build_.validates == (name == BETTER)


# Betterleaks.


def test_betterleaks_loses_the_aws_key_ids_that_stand_alone_and_finds_the_rest(
    better: Scanner, scanner_of: Callable[[str], Scanner], shipped: Callable[[str], Path]
) -> None:
    repository = shipped("cloud-mixed")
    scan = better.scan(repository)
    assert _places(scanner_of("gitleaks 8.30.1").scan(repository)) - _places(scan) == LONE_KEY_IDS
    there = readable(repository)
    assert (scan.commits, scan.added_bytes) == (None, there.added_bytes)
    assert unread(scan, there) is None


def test_betterleaks_finds_an_aws_key_id_beside_its_secret_key(better: Scanner, tmp_path: Path) -> None:
    value = secret("generic-api-key", "beside a key id")
    lines = f"aws_access_key_id = {secret('aws-access-token', 'one')}\naws_secret_access_key = {(value * 2)[:40]}\n"
    scan = better.scan(_built(tmp_path / "pair", {b"credentials": lines}))
    assert ("credentials", 1) in _places(scan)


def test_betterleaks_without_a_finding_writes_null_and_that_counts_as_none(
    better: Scanner, shipped: Callable[[str], Path], tmp_path: Path
) -> None:
    repository = shipped("no-secrets")
    command = [better.build.path, "git", str(repository), "--report-path", str(tmp_path / "raw.json"), "--no-banner"]
    subprocess.run(command, check=True, capture_output=True, env=git_environment())
    assert json.loads((tmp_path / "raw.json").read_bytes()) is None
    assert better.scan(repository).findings == []


def test_a_broken_repository_never_counts_as_scanned_by_betterleaks(
    better: Scanner, shipped: Callable[[str], Path]
) -> None:
    repository = shipped("api-keys")
    for path in (repository / ".git/objects/pack").iterdir():
        path.unlink()
    with pytest.raises(EvaluationError):
        better.scan(repository)


@pytest.fixture
def service() -> Iterator[tuple[str, list[str]]]:
    """A service of our own that a secret might be for: its address, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_no_secret_leaves_the_machine_though_a_rule_says_whom_to_ask(
    better: Scanner, service: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = service
    config = tmp_path / "asks.toml"
    config.write_text(
        "[[rules]]\nid = 'acme'\ndescription = 'acme'\nregex = '''acme_[a-z]{8}'''\nkeywords = ['acme_']\n"
        f"""validate = '''http.get("{address}/" + finding["secret"], {{}}).status == 200 ? """
        """{"result": "valid"} : {"result": "invalid"}'''\n""",
        encoding="ascii",
    )
    repository = _built(tmp_path / "repository", {b"a.txt": "token = acme_" + "abcdefgh\n"})
    asking = dataclasses.replace(better, config=config)
    assert len(asking.scan(repository).findings) == 1
    assert asked == []
    # The rule does ask when it may.
    command = [better.build.path, "git", str(repository), "--config", str(config), "--validation", "--exit-code=0"]
    subprocess.run(command, check=True, capture_output=True, env=git_environment())
    assert len(asked) == 1


def test_live_validation_is_switched_off_in_every_build_that_has_it(
    better: Scanner, scanner_of: Callable[[str], Scanner], tmp_path: Path
) -> None:
    assert "--validation=false" in better._command(tmp_path, tmp_path)
    older = dataclasses.replace(better, build=dataclasses.replace(better.build, validates=False))
    for scanner in (older, scanner_of("gitleaks 8.30.1")):
        assert not [part for part in scanner._command(tmp_path, tmp_path) if part.startswith("--validation")]


# Scans of files.


@pytest.mark.parametrize("name", BUILDS)
def test_a_scan_of_files_reports_them_as_a_scan_of_the_history_does(
    scanner_of: Callable[[str], Scanner], shipped: Callable[[str], Path], name: str
) -> None:
    scanner, repository = scanner_of(name), shipped("cloud-mixed")
    scan = dataclasses.replace(scanner, mode="dir").scan(repository)
    assert _places(scan) == _places(scanner.scan(repository))
    assert {finding["Commit"] for finding in scan.findings} == {""}
    size = sum(map(len, read_head(repository).contents))
    assert (scan.commits, scan.added_bytes, scan.files) == (None, size if name in TELL_BYTES else None, 4)
    assert unread(scan, readable(repository)) is None
    # It counts the scans that were started: how many of them crashed is said of that.
    assert [path.name for path in scanner.scratch.iterdir()] == ["scans-started"]


@pytest.mark.parametrize("name", BUILDS)
def test_a_scan_of_files_finds_the_canary(scanner_of: Callable[[str], Scanner], tmp_path: Path, name: str) -> None:
    secrets = canary_secrets([])
    canary = build_canary(tmp_path / "canary", secrets)
    assert check_canary(dataclasses.replace(scanner_of(name), mode="dir"), canary, secrets).findings


def test_a_scan_of_files_does_not_see_the_history(
    scanner_of: Callable[[str], Scanner], shipped: Callable[[str], Path]
) -> None:
    scanner, repository = scanner_of("gitleaks 8.30.1"), shipped("historical-secrets")
    assert _places(scanner.scan(repository)) == {("config/secrets.py", 2)}
    assert _places(dataclasses.replace(scanner, mode="dir").scan(repository)) == set()


@pytest.mark.parametrize("name", ["gitleaks 8.18.4", "gitleaks 8.30.1", BETTER])
def test_no_file_of_the_repository_says_what_a_scan_of_files_passes_by(
    scanner_of: Callable[[str], Scanner], tmp_path: Path, name: str
) -> None:
    nothing = "[allowlist]\npaths = ['.*']\n"
    hidden = "a.env:github-pat:1\n"
    files = {
        b"a.env": f"TOKEN={secret('github-pat', 'hidden')}\n",
        b".gitleaksignore": hidden,
        b".betterleaksignore": hidden,
        b".gitleaks.toml": nothing,
        b".betterleaks.toml": nothing,
    }
    repository = _built(tmp_path / "repository", files)
    assert _places(dataclasses.replace(scanner_of(name), mode="dir").scan(repository)) == {("a.env", 1)}


def test_a_configuration_allows_a_path_of_a_scan_of_files_as_one_of_the_history(
    scanner_of: Callable[[str], Scanner], tmp_path: Path
) -> None:
    config = tmp_path / "allows.toml"
    config.write_text("[extend]\nuseDefault = true\n[[allowlists]]\npaths = ['^tests/']\n", encoding="ascii")
    line = f"TOKEN={secret('github-pat', 'allowed')}\n"
    repository = _built(tmp_path / "repository", {b"tests/a.env": line, b"src/tests/a.env": line})
    for mode in ("git", "dir"):
        scanner = dataclasses.replace(scanner_of("gitleaks 8.30.1"), config=config, mode=mode)
        assert _places(scanner.scan(repository)) == {("src/tests/a.env", 1)}


def test_a_finding_of_a_scan_of_files_is_analysed_as_one_of_heads_commit(
    scanner_of: Callable[[str], Scanner], shipped: Callable[[str], Path]
) -> None:
    repository = shipped("api-keys")
    scan = dataclasses.replace(scanner_of("gitleaks 8.30.1"), mode="dir").scan(repository)
    head = read_head(repository)
    made = Provenance("api-keys", head.branch, head.commit, "8.30.1", "run", "2026-01-01T00:00:00Z", 1.0, 1)
    data = analyse(scan.findings, head.contents, load_policy(), made)["data"]
    assert (data["commits_with_secrets"], data["secrets_in_head"]) == (1, 2)
    assert {finding["commit_hash"] for finding in data["findings"]} == {head.commit}


@pytest.mark.parametrize(
    ("files", "added", "problem"),
    [
        (3, 0, "it reports 0 bytes scanned, and there are 3 files to scan"),
        (3, 1, None),
        (3, None, None),
        (0, 0, None),
    ],
)
def test_a_scan_of_files_that_says_it_read_nothing_does_not_count(
    shipped: Callable[[str], Path], files: int, added: int | None, problem: str | None
) -> None:
    assert unread(Scan([], 1.0, None, added, files), readable(shipped("api-keys"))) == problem


@pytest.mark.parametrize(
    "line",
    [
        "1:00PM ERR error scanning source error=x",
        "1:00PM WRN skipping file: permission denied path=a",
        "1:00PM WRN partial scan completed in 1ms",
    ],
)
def test_a_scan_of_files_that_goes_on_after_an_error_does_not_count(
    scanner_of: Callable[[str], Scanner], shipped: Callable[[str], Path], tmp_path: Path, line: str
) -> None:
    scanner = dataclasses.replace(scanner_of("gitleaks 8.30.1"), mode="dir")
    stub = tmp_path / "stub"
    stub.write_text(f"#!/bin/sh\necho '{line}' >&2\nexec '{scanner.build.path}' \"$@\"\n", encoding="ascii")
    stub.chmod(0o755)
    failing = dataclasses.replace(scanner, build=dataclasses.replace(scanner.build, path=str(stub)))
    with pytest.raises(EvaluationError, match="its log says that reading the repository failed"):
        failing.scan(shipped("api-keys"))


# Decoding.


def test_a_decode_depth_that_is_named_goes_before_the_default(
    scanner_of: Callable[[str], Scanner], tmp_path: Path
) -> None:
    encoded = base64.b64encode(f"TOKEN={secret('github-pat', 'encoded')}".encode()).decode("ascii")
    repository = _built(tmp_path / "encoded", {b"a.txt": f"data: {encoded}\n"})
    scanner = scanner_of("gitleaks 8.26.0")
    found = {
        depth: len(dataclasses.replace(scanner, decode_depth=depth).scan(repository).findings) for depth in (None, 0, 2)
    }
    assert found == {None: 0, 0: 0, 2: 1}


def test_a_decode_depth_for_a_build_that_cannot_decode_is_an_error(
    scanner_of: Callable[[str], Scanner], shipped: Callable[[str], Path]
) -> None:
    scanner = dataclasses.replace(scanner_of("gitleaks 8.18.4"), decode_depth=2)
    with pytest.raises(EvaluationError, match=r"^gitleaks 8\.18\.4 cannot decode, so it has no decode depth 2; leave"):
        scanner.scan(shipped("api-keys"))


def test_a_repository_without_commits_has_no_files_to_scan(
    scanner_of: Callable[[str], Scanner], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    scan = dataclasses.replace(scanner_of("gitleaks 8.30.1"), mode="dir").scan(tmp_path / "empty")
    assert (scan.findings, scan.files) == ([], 0)


# Where a scanner looks for its configuration.


@pytest.mark.parametrize("name", BUILDS)
def test_what_no_option_names_is_taken_in_the_order_of_the_scanner(
    builds: Callable[[str], ScannerBuild], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    build_ = builds(name)
    repository = _built(tmp_path / "repository", {b"a.txt": "own_abcdefgh\n"})
    variables = {f"{maker}_CONFIG{end}" for maker in ("GITLEAKS", "BETTERLEAKS") for end in ("", "_TOML")}
    left = [".gitleaks.toml", ".betterleaks.toml", *variables]
    for source in variables:
        monkeypatch.delenv(source, raising=False)
    for source in left:
        content = f"[[rules]]\nid = '{source}'\ndescription = 'own'\nregex = 'own_[a-z]{{8}}'\n"
        if source.endswith("_TOML"):
            monkeypatch.setenv(source, content)
            continue
        path = tmp_path / f"{source}.toml" if source in variables else repository / source
        path.write_text(content, encoding="ascii")
        if source in variables:
            monkeypatch.setenv(source, str(path))
    choice = ScannerChoice(version=build_.version, scanner=build_.name)
    named_by_help = configuration_sources(ScannerChoice(binary=Path(build_.path)))
    assert configuration_sources(choice) == named_by_help
    taken = []
    while True:
        configuration = choose_configuration(None, repository, tmp_path, lambda: named_by_help)
        found = _rules_found(build_, repository, tmp_path / "raw.json")
        if not configuration.chain:
            assert found == set()
            break
        (source,) = found
        assert configuration.chain[0].content.startswith(f"[[rules]]\nid = '{source}'\n".encode())
        taken.append(source)
        monkeypatch.delenv(source, raising=False)
        (repository / source).unlink(missing_ok=True)
    assert len(taken) == sum(map(len, (named_by_help.paths, named_by_help.contents, named_by_help.files)))


def _rules_found(build_: ScannerBuild, repository: Path, report: Path) -> set[str]:
    """The rules that find something when no option names a configuration."""
    source = ["git", str(repository)] if build_.command == "git" else ["detect", "--source", str(repository)]
    command = [build_.path, *source, "--report-path", str(report), "--no-banner", "--exit-code", "0"]
    subprocess.run(command, check=True, capture_output=True)
    return {finding["RuleID"] for finding in json.loads(report.read_bytes()) or ()}


ENCODERS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64-twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "base64-in-lines": lambda text: base64.encodebytes(text.encode()).decode().strip(),
    "hex": lambda text: text.encode().hex(),
    "percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
}


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("name", ["gitleaks 8.30.1", BETTER])
def test_a_secret_that_was_decoded_is_in_head_while_its_encoded_text_is(
    scanner_of: Callable[[str], Scanner], tmp_path: Path, name: str, encoder: str
) -> None:
    value = secret("private-key", "decoded") if encoder == "base64-in-lines" else secret("github-pat", "decoded")
    encoded = ENCODERS[encoder](f"TOKEN={value}")
    author, folder = "Test <test@example.com>", tmp_path / "decoded"

    def commit(day: int, text: str) -> Commit:
        return Commit(f"{day}", author, datetime(2026, 1, day, tzinfo=timezone.utc), write={b"a.txt": (Part(text),)})

    def in_head(*texts: str) -> list[bool]:
        build(Recipe({}, tuple(commit(day, text) for day, text in enumerate(texts, start=1))), folder / str(len(texts)))
        repository = folder / str(len(texts))
        scan = dataclasses.replace(scanner_of(name), decode_depth=2).scan(repository)
        head = read_head(repository)
        encoded = encoded_texts(repository, scan.findings, head.commit, 60)
        made = Provenance("decoded", head.branch, head.commit, "8.30.1", "run", "2026-01-01T00:00:00Z", 1.0, 1)
        data = analyse(scan.findings, head.contents, load_policy(), made, encoded=encoded)["data"]
        return [finding["in_current_head"] for finding in data["findings"]]

    first = f"one\ndata: {encoded}\n"
    assert in_head(first) == [True]
    assert in_head(first, "gone\n") == [False]
    # The line is another, and the secret still stands there; the scanner reports it once more.
    assert set(in_head(first, "two\n" * 3, f"one\nmore\nkey = '{encoded}'\n")) == {True}
