"""No planted secret, nor eight consecutive characters of one beyond its public prefix, leaves a run."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from builders import git, secret
from corpus import TALKATIVE, shipped_scenarios
from messages_server import MODEL, MessagesServer, local_service

from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.scanners.canary import canary_secrets
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scenarios.recipe import load_recipe
from gitleaks_eval.scenarios.secrets import MASK

messages_server = pytest.fixture(local_service)
VERSION = "8.30.1"
# As talkative as pytest can be, in all files that it can write.
WHOLE = (
    *TALKATIVE,
    "--junitxml=junit.xml",
    "--json-report",
    "--json-report-file=report.json",
)
PUBLIC_PREFIX = re.compile(r"AKIA|ghp_|xoxb-|sk_live_")
# Tracebacks with all that pytest can show cost a fifth of a second each: where all checks are errors, some will do.
SOME_CHECKS = ("-k", "SA_1_ or SD_6_")
ARMOUR = re.compile(r"-{5}(?:BEGIN|END)[A-Z ]+-{5}")
WORD = re.compile(rb"[!-~]{8,}")
# Durations: sixteen random digits each, in thousands, hold some eight digits of a token by chance.
FRACTION = re.compile(rb"\d+\.\d+(?:e-?\d+)?")

# The scanner is the real one until it scans; `findings` are what it found, with the raw secrets.
STUB = """\
#!{python} -ISB
import json, os, subprocess, sys, time

REAL, HERE, arguments = {real!r}, {here!r}, sys.argv[1:]
if arguments[0] not in ("git", "detect"):
    os.execv(REAL, [REAL, *arguments])
source, report = arguments[1], arguments[arguments.index("--report-path") + 1]
done = subprocess.run([REAL, *arguments], stderr=subprocess.PIPE, text=True)
sys.stderr.write(done.stderr)
findings = json.load(open(report))
is_canary = "/canary/" in source
"""
USERS_CHECK = """\
from gitleaks_eval.checks import mark as marks


@marks.check("OWN-1", "Fails with all fixtures in sight", category="Own")
def test_own_1(scenario, expected, analysis, evidence, request):
    findings = analysis.findings()
    document = analysis.document
    print(analysis, document)
    try:
        # Once is enough: such a traceback costs seconds.
        assert scenario.name != "cloud-mixed" or (expected, analysis, evidence, findings, document) == request
    except AssertionError:
        raise ValueError(str(findings))
"""

Run = Callable[..., int]


@cache
def _planted() -> frozenset[str]:
    """The values that stand in the repositories of all shipped recipes, and in the canary."""
    folders = (shipped_data("synthetic_repos"), shipped_data("synthetic_repos") / "edge")
    recipes = [load_recipe(path) for folder in folders for path in folder.glob("*.yaml")]
    secrets = [secret for recipe in recipes for secret in recipe.secrets.values()]
    return frozenset(secret.value for secret in (*secrets, *canary_secrets(secrets)))


def _grams(values: Iterable[str]) -> frozenset[bytes]:
    """Each eight consecutive characters of the secret parts; no file format shows a line end as it is."""
    grams = set()
    for value in values:
        for part in ARMOUR.split(PUBLIC_PREFIX.sub("", value, count=1)):
            for line in part.splitlines():
                grams |= {line[start : start + 8].encode() for start in range(len(line) - 7)}
    return frozenset(grams)


@cache
def _quarters(grams: frozenset[bytes]) -> frozenset[bytes]:
    return frozenset(gram[start : start + 4] for gram in grams for start in range(5))


def _revealed(content: bytes, grams: frozenset[bytes]) -> set[bytes]:
    # Eight characters hold one of the blocks of four that a word consists of: few words are looked at closely.
    quarters = _quarters(grams)
    words = [
        word
        for word in set(WORD.findall(FRACTION.sub(b" ", content)))
        if not quarters.isdisjoint([word[start : start + 4] for start in range(0, len(word) - 3, 4)])
    ]
    return {word[start : start + 8] for word in words for start in range(len(word) - 7)} & grams


def _leaks(*folders: Path) -> dict[str, int]:
    """The files below the folders that reveal something, and how much; also by their names."""
    grams = _grams(_planted())
    found = {}
    for folder in folders:
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            revealed = _revealed(content + b"\n" + os.fsencode(path), grams)
            if revealed:
                found[str(path)] = len(revealed)
    return found


@pytest.fixture(scope="session")
def real() -> Path:
    """The binary of the pinned version; found before pytester changes HOME."""
    return installed_binary(VERSION, print)[0]


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache with the built repositories: the one place where the secrets may stand."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TMPDIR of the runs under test."""
    return tmp_path_factory.mktemp("tmp")


@pytest.fixture
def environment(repositories: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the runs under test: nothing of the developer's, and temporary files where we look."""
    for name in list(os.environ):
        if name.startswith(("GITLEAKS_", "BETTERLEAKS_", "PYTEST_ADDOPTS", "PYTEST_XDIST")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(repositories))
    monkeypatch.setenv("TMPDIR", str(scratch))


@pytest.fixture
def run(pytester: pytest.Pytester, environment: None) -> Run:  # noqa: ARG001 - set up
    """Run the evaluation, as talkative as it can be, and leave its output in a file beside the others."""

    def evaluate(binary: Path, *arguments: str) -> int:
        command = ["--gitleaks-eval", f"--gitleaks-binary={binary}", "--gitleaks-output=results"]
        done = pytester.runpytest_subprocess(*command, *WHOLE, *arguments, timeout=120)
        (pytester.path / "output.txt").write_text("\n".join((*done.outlines, *done.errlines)), encoding="utf-8")
        scorecard = "results/partial/scorecard.md" if "-k" in arguments else "results/scorecard.md"
        assert _files(pytester.path) >= {"junit.xml", "report.json", scorecard}
        return int(done.ret)

    return evaluate


@pytest.fixture
def make_stub(pytester: pytest.Pytester, real: Path) -> Callable[[str], Path]:
    """Write a scanner that does, with the findings of the real one, what the text says."""

    def make(body: str) -> Path:
        stub = pytester.path / "stub"
        stub.write_text(STUB.format(python=sys.executable, real=str(real), here=str(pytester.path)) + body)
        stub.chmod(0o755)
        return stub

    return make


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _output(pytester: pytest.Pytester) -> str:
    return (pytester.path / "output.txt").read_text(encoding="utf-8")


# The search that all else here rests on.


def _secret_parts() -> Iterator[tuple[str, str]]:
    for value in sorted(_planted()):
        prefix = PUBLIC_PREFIX.match(value) or ARMOUR.match(value)
        yield value, value[prefix.end() if prefix else 0 :].strip("\n")


def test_the_search_knows_secrets_of_every_scenario_that_has_some() -> None:
    assert len(_planted()) >= 17 + 6
    assert all(_grams([value]) for value in _planted())


def test_the_search_finds_each_planted_value_whole_and_eight_characters_of_it(tmp_path: Path) -> None:
    for index, (value, part) in enumerate(_secret_parts()):
        (tmp_path / f"whole-{index}").write_text(f'<a b="{value}">', encoding="utf-8")
        (tmp_path / f"escaped-{index}").write_text(json.dumps({"secret": value}), encoding="utf-8")
        (tmp_path / f"eight-{index}").write_text(f"x{part[5:13]}x", encoding="utf-8")
        (tmp_path / f"first-{index}").write_text(f"({part[:8]})", encoding="utf-8")
    assert set(_leaks(tmp_path)) == {str(path) for path in tmp_path.iterdir()}


def test_the_search_finds_a_value_in_the_name_of_a_file(tmp_path: Path) -> None:
    value = next(value for value in _planted() if value.startswith("ghp_"))
    (tmp_path / value).mkdir()
    assert list(_leaks(tmp_path)) == [str(tmp_path / value)]


def test_the_search_leaves_public_prefixes_and_seven_characters_alone(tmp_path: Path) -> None:
    for index, (value, part) in enumerate(_secret_parts()):
        prefix = value.removesuffix(part).strip()
        (tmp_path / str(index)).write_text(f"{prefix}********\n {part[:7]} \n{part[8:15]}", encoding="utf-8")
    assert _leaks(tmp_path) == {}


def test_the_search_finds_what_the_scanner_reports(tmp_path: Path, repositories: Path, real: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(repositories))
        from gitleaks_eval.repositories.cache import built_repository  # noqa: PLC0415 - beside what it is for

        built = built_repository(load_recipe(shipped_data("synthetic_repos") / "cloud-mixed.yaml"), "cloud-mixed")
    report = tmp_path / "report.json"
    subprocess.run([real, "git", built.path, "--report-path", report, "--exit-code=0"], check=True, capture_output=True)
    assert _leaks(tmp_path)[str(report)] > 500


# Runs of all nine scenarios.


def test_a_good_run_reveals_nothing(run: Run, pytester: pytest.Pytester, scratch: Path, real: Path) -> None:
    assert run(real, "--debug=trace.log", "--setup-show") == 0
    assert "17 of 17 expected secrets found" in _output(pytester)
    assert len(list((pytester.path / "results" / "analysis").glob("*.json"))) == 9
    assert _leaks(pytester.path, scratch) == {}
    assert list(scratch.glob("gitleaks-eval-*")) == []


def test_a_run_whose_configuration_lost_a_rule_reveals_nothing_nor_do_failing_checks_of_users(
    run: Run, pytester: pytest.Pytester, scratch: Path, real: Path
) -> None:
    pytester.makefile(".toml", own="[extend]\nuseDefault = true\ndisabledRules = ['private-key']\n")
    pytester.makepyfile(test_own=USERS_CHECK)
    assert run(real, "--gitleaks-config=own.toml", "test_own.py") == 1
    assert re.search(r"^FAIL  1\d of 17 expected secrets found, \d MISSED", _output(pytester), re.MULTILINE)
    assert _output(pytester).count("ValueError") >= 2
    assert _leaks(pytester.path, scratch) == {}


NOISY = """\
[extend]
useDefault = true

[[rules]]
id = "every-line"
description = "Every line is a finding"
regex = '''.+'''
"""


def test_a_parallel_run_with_a_noisy_configuration_reveals_nothing(
    run: Run, pytester: pytest.Pytester, scratch: Path, real: Path
) -> None:
    pytester.makefile(".toml", own=NOISY)
    assert run(real, "--gitleaks-config=own.toml", "-n2") == 1
    report = json.loads((pytester.path / "results" / "evaluation_report.json").read_bytes())
    assert report["summary"]["findings"]["unexpected"] > 100
    assert report["incomplete"] is False
    assert _leaks(pytester.path, scratch) == {}


# What a dead scanner says of what it scanned; it fails for the canary, or for what comes after it.

WORDS = {
    "an-error-line": 'for one in findings: print("9:00AM ERR no hash", one["Secret"], file=sys.stderr)\nsys.exit(1)',
    "a-fatal-line": 'print("9:00AM FTL", repr(findings[0]["Match"]), file=sys.stderr)\nsys.exit(2)',
    "a-panic": 'print("panic:", repr([one["Secret"] for one in findings]), file=sys.stderr)\nsys.exit(2)',
    "eight-characters": 'print("9:00AM ERR", findings[0]["Secret"][8:16], file=sys.stderr)\nsys.exit(1)',
    "its-report": 'open(report, "w").write("leaks: " + repr(findings))\nsys.exit(42)',
    "its-log": 'for one in findings: print("WRN partial scan", one["Secret"], flush=True)\nsys.exit(42)',
}
AT_ONCE, LATER = "findings", "findings and not is_canary"


@pytest.mark.parametrize(
    ("words", "when"),
    [
        *(pytest.param(text, LATER, id=name) for name, text in WORDS.items()),
        *(pytest.param(WORDS[name], AT_ONCE, id=f"{name}-at-once") for name in ("an-error-line", "eight-characters")),
    ],
)
def test_a_scanner_that_quotes_secrets_and_fails_reveals_nothing(
    run: Run,
    pytester: pytest.Pytester,
    scratch: Path,
    make_stub: Callable[[str], Path],
    two_scenarios: Path,
    *,
    words: str,
    when: str,
) -> None:
    body = "".join(f"    {line}\n" for line in words.splitlines())
    stub = make_stub(f"if {when}:\n{body}sys.exit(done.returncode)\n")
    assert run(stub, f"--gitleaks-scenarios={two_scenarios}", *SOME_CHECKS) == 1
    assert " error" in _output(pytester)
    assert _leaks(pytester.path, scratch) == {}


@pytest.fixture(scope="session")
def two_scenarios(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two scenarios: one with secrets and one without."""
    folder = tmp_path_factory.mktemp("scenarios")
    for kind, suffix in (("ground_truth", "json"), ("synthetic_repos", "yaml")):
        (folder / kind).mkdir()
        for name in ("api-keys", "no-secrets"):
            shutil.copy(shipped_data(kind) / f"{name}.{suffix}", folder / kind)
    return folder


def test_a_short_secret_that_nobody_planted_is_not_quoted_from_an_error_line(
    run: Run, pytester: pytest.Pytester, make_stub: Callable[[str], Path], two_scenarios: Path
) -> None:
    short = "hunter2-a1b2c"
    stub = make_stub(
        "if not is_canary:\n"
        f'    print("9:00AM FTL permission denied: {short}", file=sys.stderr)\n'
        "    sys.exit(1)\n"
        "sys.exit(done.returncode)\n"
    )
    run(stub, f"--gitleaks-scenarios={two_scenarios}", *SOME_CHECKS)
    assert "ended with exit code 1: permission denied" in _output(pytester)
    shown = [path for path in pytester.path.rglob("*") if path.is_file() and path != stub]
    assert not [path.name for path in shown if short.encode() in path.read_bytes()]


def test_a_parallel_run_of_all_nine_with_a_scanner_that_quotes_secrets_and_fails_reveals_nothing(
    run: Run, pytester: pytest.Pytester, scratch: Path, make_stub: Callable[[str], Path]
) -> None:
    stub = make_stub(
        "if findings and not is_canary:\n"
        '    print("9:00AM ERR cannot hash", findings[-1]["Secret"], file=sys.stderr)\n'
        "    sys.exit(1)\n"
        "sys.exit(done.returncode)\n"
    )
    assert run(stub, "-n2", *SOME_CHECKS) == 1
    report = json.loads((pytester.path / "results" / "partial" / "evaluation_report.json").read_bytes())
    assert len({result["scenario"] for result in report["results"] if result["outcome"] == "error"}) == 7
    assert _leaks(pytester.path, scratch) == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.usefixtures("environment")
def test_a_run_that_is_stopped_reveals_nothing(
    pytester: pytest.Pytester,
    make_stub: Callable[[str], Path],
    scratch: Path,
    number: signal.Signals,
) -> None:
    # When it is stopped, private folders hold reports of the real scanner, with the raw secrets.
    stub = make_stub(
        "if done.returncode == 42 and not is_canary:\n"
        '    open(os.path.join(HERE, "ready"), "w").close()\n'
        "    time.sleep(300)\n"
        "sys.exit(done.returncode)\n"
    )
    output = pytester.path / "output.txt"
    with output.open("wb") as file:
        stopped = subprocess.Popen(
            [sys.executable, "-m", "pytest", "--gitleaks-eval", f"--gitleaks-binary={stub}", *WHOLE],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 60
        while not (pytester.path / "ready").exists():
            assert stopped.poll() is None, _output(pytester)
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert _leaks(scratch)
        stopped.send_signal(number)
        assert stopped.wait(30) == pytest.ExitCode.INTERRUPTED
    finally:
        stopped.kill()
        stopped.wait()
    assert "KeyboardInterrupt" in _output(pytester)
    assert _leaks(pytester.path, scratch) == {}


# Who may read what there is while a run lasts, and after it.


def test_nobody_else_can_read_what_a_run_keeps_while_it_lasts(
    run: Run, pytester: pytest.Pytester, repositories: Path, make_stub: Callable[[str], Path], two_scenarios: Path
) -> None:
    stub = make_stub(
        "folder = os.path.dirname(report)\n"
        "modes = {path: oct(os.stat(path).st_mode & 0o777) for path in (os.path.dirname(folder), folder)}\n"
        'with open(os.path.join(HERE, "modes"), "a") as file: file.write(json.dumps(modes) + "\\n")\n'
        "sys.exit(done.returncode)\n"
    )
    umask = os.umask(0)
    try:
        assert run(stub, f"--gitleaks-scenarios={two_scenarios}") == 0
    finally:
        os.umask(umask)
    scans = [json.loads(line) for line in (pytester.path / "modes").read_text(encoding="utf-8").splitlines()]
    assert len(scans) == 4
    for modes in scans:
        assert [Path(path).name.partition("-")[0] for path in modes] == ["gitleaks", "scan"]
        assert set(modes.values()) == {"0o700"}
    for folder in (repositories / "gitleaks-eval", repositories / "gitleaks-eval" / "repositories"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_cache_that_others_could_read_is_closed_to_them(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, real: Path, two_scenarios: Path
) -> None:
    folder = pytester.path / "open-cache" / "gitleaks-eval"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent))
    assert run(real, f"--gitleaks-scenarios={two_scenarios}") == 0
    assert (folder / "repositories").is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700


# Secrets that stand in names.


@pytest.fixture
def token() -> str:
    """A token that no recipe plants."""
    return secret("github-pat", "stands in names")


def _tokens_in(folder: Path, token: str) -> list[str]:
    grams = {token[start : start + 8].encode() for start in range(4, len(token) - 7)}
    files = [path for path in folder.rglob("*") if path.is_file() and "source" not in path.parts]
    return [str(path) for path in files if _revealed(path.read_bytes() + b"\n" + os.fsencode(path), frozenset(grams))]


@pytest.mark.parametrize("config", ["builtin", "nothing.toml"], ids=["found", "missed"])
def test_a_token_in_the_path_of_a_labelled_file_reveals_nothing(
    run: Run, pytester: pytest.Pytester, real: Path, token: str, two_scenarios: Path, *, config: str
) -> None:
    source = pytester.path / "source" / token
    source.mkdir(parents=True)
    (source / f"{token}.py").write_text(f"# ruleid: github-pat\nx = '{token}'\n", encoding="utf-8")
    (source / "plain.py").write_text(f"# ruleid: github-pat\nx = '{token}'\n", encoding="utf-8")
    pytester.makefile(".toml", nothing="[extend]\nuseDefault = true\ndisabledRules = ['github-pat']\n")
    options = (f"--gitleaks-scenarios={two_scenarios}", f"--gitleaks-config={config}", "--gitleaks-findings")
    run(real, *options, "--gitleaks-corpus=annotated:source", "--gitleaks-judges", "--gitleaks-judge-mode=heuristic")
    report = json.loads((pytester.path / "results" / "evaluation_report.json").read_bytes())
    statuses = {finding["status"] for finding in report["findings"] if finding["scenario"] == "source"}
    assert statuses == ({"exact"} if config == "builtin" else {"missed"})
    assert MASK in _output(pytester)
    assert _tokens_in(pytester.path, token) == []


def test_a_token_in_names_of_a_real_repository_reveals_nothing(
    run: Run, pytester: pytest.Pytester, real: Path, token: str, two_scenarios: Path
) -> None:
    source = pytester.path / "source"
    (source / token).mkdir(parents=True)
    git(source, "init", "-q", "-b", f"fix/{token}")
    (source / token / "a.py").write_text(f"x = '{token}'  # gitleaks:allow\n", encoding="utf-8")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", token, GIT_AUTHOR_NAME=token)
    run(real, f"--gitleaks-scenarios={two_scenarios}", f"--gitleaks-real-repo={source}")
    analysis = pytester.path / "results" / "analysis" / "source.json"
    document = json.loads(analysis.read_bytes())
    assert document["data"]["findings"][0]["file_path"] == f"ghp_{MASK}/a.py"
    assert document["metadata"]["branch"] == f"fix/ghp_{MASK}"
    assert _tokens_in(pytester.path, token) == []


# What is asked of a model.


def _asked(server: MessagesServer) -> bytes:
    """All requests as they came, and what they say once more where JSON writes a character as an escape."""
    bodies = [json.dumps([one.path, one.headers, one.body]) for one in server.requests]
    escaped = re.compile(r"\\+u([0-9a-f]{4})")
    return "\n".join([*bodies, *(escaped.sub(lambda code: chr(int(code[1], 16)), one) for one in bodies)]).encode()


def test_no_request_of_any_judge_holds_a_piece_of_a_secret(
    run: Run, pytester: pytest.Pytester, real: Path, token: str, messages_server: MessagesServer
) -> None:
    source = pytester.path / "source"
    (source / token).mkdir(parents=True)
    git(source, "init", "-q")
    (source / token / f"{token}.py").write_text(f"x = '{token}'\n", encoding="utf-8")
    git(source, "add", ".")
    git(source, "commit", "-q", "-m", token)
    pytester.makefile(
        ".toml", less="[extend]\nuseDefault = true\ndisabledRules = ['private-key', 'stripe-access-token']\n"
    )
    pytester.makefile(".toml", noisy=NOISY)
    scenarios = shipped_scenarios(pytester.path / "scenarios", "cloud-mixed", "api-keys", "no-secrets")
    options = (
        scenarios,
        f"--gitleaks-real-repo={source}",
        "--gitleaks-judges",
        f"--gitleaks-judge-model={MODEL}",
        "-ogitleaks_judge_real_paths=true",
    )
    run(real, *options, "--gitleaks-config=less.toml")
    assert len(messages_server.posts) == 8
    asked = _asked(messages_server)
    assert b"masked_line" in asked
    assert f"ghp_{MASK}".encode() in asked
    pytester.runpytest_subprocess(
        *("--gitleaks-eval", f"--gitleaks-binary={real}", *options),
        *("--gitleaks-config=less.toml", "--gitleaks-config=noisy.toml"),
        timeout=120,
    )
    assert len(messages_server.posts) == 10
    assert b"unexpected finding, of one alone" in _asked(messages_server)
    # The search finds a piece where there is one.
    grams = _grams([*_planted(), token])
    piece = min(grams)
    assert _revealed(_asked(messages_server) + b" " + piece, grams) == {piece}
    assert _revealed(_asked(messages_server), grams) == set()
    assert _leaks(pytester.path / "results", pytester.path / "gitleaks-eval-results") == {}


def test_analyses_are_for_their_owner_alone(
    run: Run, pytester: pytest.Pytester, real: Path, two_scenarios: Path
) -> None:
    assert run(real, f"--gitleaks-scenarios={two_scenarios}") == 0
    results = pytester.path / "results"
    assert {path.stat().st_mode & 0o777 for path in (results / "analysis").iterdir()} == {0o600}
    assert (results / "scorecard.md").stat().st_mode & 0o777 == 0o644
