"""A dead scanner of any kind never yields a passing scenario, and never a guarded decision other than FAIL."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from builders import SHIPPED

from gitleaks_eval.core import process
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.repositories.build import build
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scenarios.recipe import load_recipe

VERSION = "8.30.1"
RECIPES = shipped_data("synthetic_repos")
LEAKY, CLEAN = "api-keys", "no-secrets"
SECONDS = 60

# A stub is the real binary until it is asked to scan: its --help and its version are true.
PRELUDE = """\
#!{python} -ISB
import os, sys

REAL, HERE, arguments = {real!r}, {here!r}, sys.argv[1:]
if arguments[0] not in ("git", "detect"):
    os.execv(REAL, [REAL, *arguments])
import fcntl, json, signal, subprocess, time
source, report = arguments[1], arguments[arguments.index("--report-path") + 1]

def honest():
    os.execv(REAL, [REAL, *arguments])

def scan(log=True):
    done = subprocess.run([REAL, *arguments], stderr=subprocess.PIPE, text=True)
    sys.stderr.write("".join(line for line in done.stderr.splitlines(True) if log and "leaks found" not in line))
    return done.returncode

def findings():
    scan()
    with open(report) as file:
        return json.load(file)

def answer(text, status):
    with open(report, "w") as file:
        file.write(text)
    sys.exit(status)

def subject():
    log = subprocess.run(["git", "-C", source, "log", "--reverse", "--format=%s"], stdout=subprocess.PIPE, text=True)
    return log.stdout.splitlines()[0]

def note(name, text):
    with open(os.path.join(HERE, name), "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(text + chr(10))
        file.seek(0)
        return len(file.readlines())

"""
LEAVE_A_CHILD = """\
child = subprocess.Popen(["sleep", "300"])
note("pids", str(child.pid))
"""


@dataclass(frozen=True)
class Outcome:
    """A run that ended: what it printed and what it wrote."""

    status: int
    text: str
    folder: Path

    @property
    def report(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.folder / "evaluation_report.json").read_bytes())
        return loaded

    @property
    def errors(self) -> list[str]:
        """The lines of our section that say why checks could not be run."""
        return [line for line in self.text.splitlines() if line.startswith("ERROR  ")]

    def errors_of(self, scenario: str) -> list[str]:
        """Those that name this scenario, alone or among others."""
        named = re.compile(rf"ERROR  (scenario {scenario}: |in \d+ scenarios \(([^)]+, )?{scenario}[,)])")
        return [line for line in self.errors if named.match(line)]

    def outcomes(self, scenario: str) -> Counter[str]:
        return Counter(result["outcome"] for result in self.report["results"] if result["scenario"] == scenario)


Evaluate = Callable[..., Outcome]
MakeStub = Callable[[str], Path]


@pytest.fixture(scope="session")
def real() -> Path:
    """The binary of the pinned version; found before pytester changes HOME."""
    return installed_binary(VERSION, print)[0]


@pytest.fixture(scope="session")
def older() -> Path:
    """The binary of another version, likewise."""
    return installed_binary("8.18.4", print)[0]


@pytest.fixture(scope="session")
def two_scenarios(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two scenarios: one with secrets and one without."""
    folder = tmp_path_factory.mktemp("scenarios")
    for kind, suffix in (("ground_truth", "json"), ("synthetic_repos", "yaml")):
        (folder / kind).mkdir()
        for name in (LEAKY, CLEAN):
            shutil.copy(shipped_data(kind) / f"{name}.{suffix}", folder / kind)
    return folder


@pytest.fixture
def clean_scenario(two_scenarios: Path, tmp_path: Path) -> Path:
    """A folder of the one without secrets."""
    for kind, suffix in (("ground_truth", "json"), ("synthetic_repos", "yaml")):
        (tmp_path / kind).mkdir()
        shutil.copy(two_scenarios / kind / f"{CLEAN}.{suffix}", tmp_path / kind)
    return tmp_path


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The TMPDIR of the runs under test; however one ends, nothing private stays there."""
    folder = tmp_path_factory.mktemp("tmp")
    yield folder
    assert list(folder.glob("gitleaks-eval-*")) == []


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built repositories that no test harms; not the developer's own."""
    return tmp_path_factory.mktemp("shared-cache")


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for one test, which may do with it what it likes."""
    return tmp_path_factory.mktemp("cache") / "gitleaks-eval"


@pytest.fixture
def environment(
    scratch: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The environment of the runs under test: nothing of the developer's, and temporary files where we look."""
    for name in list(os.environ):
        if name.startswith(("GITLEAKS_", "BETTERLEAKS_", "PYTEST_ADDOPTS", "PYTEST_XDIST")):
            monkeypatch.delenv(name)
    own = request.getfixturevalue("cache").parent if "cache" in request.fixturenames else shared_cache
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    monkeypatch.setenv("TMPDIR", str(scratch))


@pytest.fixture
def evaluate(pytester: pytest.Pytester, two_scenarios: Path, environment: None) -> Evaluate:  # noqa: ARG001 - set up
    """Run the evaluation of the two scenarios in a pytest of its own, as users do."""

    def run(
        *arguments: str, binary: Path | None = None, scenarios: str = str(two_scenarios), seconds: float = SECONDS
    ) -> Outcome:
        named = [f"--gitleaks-binary={binary}"] if binary else []
        command = ["--gitleaks-eval", "--tb=line", "-pno:cacheprovider", f"--gitleaks-scenarios={scenarios}", *named]
        done = pytester.runpytest_subprocess(*command, *arguments, timeout=seconds)
        text = "\n".join((*done.outlines, *done.errlines))
        return Outcome(int(done.ret), text, pytester.path / "gitleaks-eval-results")

    return run


@pytest.fixture
def make_stub(pytester: pytest.Pytester, real: Path) -> MakeStub:
    """Write a scanner that is the real one until it scans; then it does what the text says."""

    def make(body: str) -> Path:
        prelude = PRELUDE.format(python=sys.executable, real=str(real), here=str(pytester.path))
        return _script(pytester.path / "stub", prelude + dedent(body))

    return make


def _script(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(0o755)
    return path


def _first_message(name: str) -> str:
    """The message of the first commit of a shipped scenario, by which a stub knows it."""
    return load_recipe(RECIPES / f"{name}.yaml").commits[0].message


def _is_gone(pid: int) -> bool:
    """Whether a process ended within a few seconds; one that only waits to be reaped has ended."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if " Z " in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8"):
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def _pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text(encoding="utf-8").split()]


def _wait_for_end_of_session(number: int) -> None:
    """Wait for workers that had no scan yet, and so have left no trace: each ends within a second by itself."""
    deadline = time.monotonic() + SECONDS
    while any(_session_of(process) == number for process in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _session_of(process: Path) -> int | None:
    try:
        state, _, _, session = (process / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[:4]
    except OSError:
        return None
    return None if state == "Z" else int(session)


def _assert_all_gone(folder: Path) -> None:
    left = [pid for pid in _pids(folder) if not _is_gone(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def _assert_dead(outcome: Outcome, problem: str, *names: Path | str) -> None:
    """Every check of every scenario is an error, and the terminal says for each scenario what is wrong."""
    assert outcome.status == 1, outcome.text
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.report["incomplete"] is True
    assert outcome.report["partial"] is False
    assert outcome.outcomes(LEAKY) == outcome.outcomes(CLEAN) == {"error": SHIPPED}
    for scenario in (LEAKY, CLEAN):
        line = outcome.errors_of(scenario)[0]
        assert re.search(problem, line), line
        assert all(str(name) in line for name in names), line
    assert "\nFAIL  0 of 2 expected secrets found, 2 NOT EVALUATED" in outcome.text
    assert {path.name for path in outcome.folder.glob("analysis/*")} == set()


# Programs that are swapped.


@pytest.mark.parametrize("selection", [[], ["-kSA_10"], ["-n2"]], ids=["full", "partial", "parallel"])
def test_a_scanner_that_is_changed_while_it_is_evaluated_makes_the_run_incomplete(
    evaluate: Evaluate, make_stub: MakeStub, selection: list[str]
) -> None:
    path = make_stub("""
        if note("scans", "one") == 2:
            with open(__file__, "a") as file:
                file.write("# changed" + chr(10))
        honest()
    """)
    outcome = evaluate(*selection, binary=path)
    assert outcome.status == 1, outcome.text
    assert f"\nINCOMPLETE  the scanner {path} was changed during the run (its SHA-256 is no longer" in outcome.text
    if "-kSA_10" not in selection:
        assert outcome.report["incomplete"] is True
        assert outcome.report["summary"]["guarded_decision"] == "FAIL"
        assert set(outcome.outcomes(LEAKY)) <= {"passed", "not_applicable"}


def test_another_version_in_the_place_of_the_installed_one_is_not_evaluated(
    evaluate: Evaluate, cache: Path, older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    (cache / "bin").mkdir(parents=True)
    other = Path(shutil.copy(older, cache / "bin" / f"gitleaks-{VERSION}"))
    outcome = evaluate(f"--gitleaks-version={VERSION}")
    _assert_dead(outcome, "is not what was installed", other)
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    other.with_name(f"{other.name}.sha256").write_text(digest, encoding="ascii")
    outcome = evaluate(f"--gitleaks-version={VERSION}")
    _assert_dead(outcome, "is gitleaks 8.18.4, not gitleaks 8.30.1", other)


# Programs that are not Gitleaks.

NOT_GITLEAKS: dict[str, tuple[str | bytes, str]] = {
    "true": ("#!/bin/sh\nexit 0\n", "is not Gitleaks"),
    "bytes": ("#!/bin/sh\nhead -c 5000 /dev/urandom\n", "is not Gitleaks"),
    "report-only": ("#!/bin/sh\necho '--report-path --exit-code'\n", "is not Gitleaks"),
    "not-a-program": (b"\x00\x01\x02\x03" * 100, "cannot be run: Exec format error"),
    "empty": ("", "cannot be run: Exec format error"),
    "no-interpreter": ("#!/nowhere/interpreter\n", "cannot be run: No such file or directory"),
}


@pytest.mark.parametrize(
    ("content", "problem"), [pytest.param(*given, id=name) for name, given in NOT_GITLEAKS.items()]
)
def test_a_program_that_is_not_gitleaks_passes_nothing(
    evaluate: Evaluate, pytester: pytest.Pytester, content: str | bytes, problem: str
) -> None:
    binary = _script(pytester.path / "other", content)
    outcome = evaluate(binary=binary)
    _assert_dead(outcome, problem, binary)
    assert "gitleaks-eval: NO SCANNER: " in outcome.text


def test_another_program_with_a_help_of_its_own_is_not_gitleaks(evaluate: Evaluate) -> None:
    git = shutil.which("git")
    assert git
    _assert_dead(evaluate(binary=Path(git)), "is not Gitleaks", git)


@pytest.mark.parametrize("question", ["--help", "version"])
def test_a_scanner_that_hangs_when_asked_what_it_is_passes_nothing_and_is_killed_with_its_children(
    evaluate: Evaluate, pytester: pytest.Pytester, real: Path, question: str
) -> None:
    pytester.makepyfile(
        short_probe="import gitleaks_eval.scanners.build\n\ngitleaks_eval.scanners.build.PROBE_SECONDS = 1\n"
    )
    stub = _script(
        pytester.path / "stub",
        f"#!/bin/sh\ncd '{pytester.path}'\n"
        f"case $1 in {question}) echo $$ >>pids; sleep 300 & echo $! >>pids; wait;; esac\n"
        f"exec '{real}' \"$@\"\n",
    )
    outcome = evaluate("-pshort_probe", binary=stub)
    _assert_all_gone(pytester.path)
    _assert_dead(outcome, rf"`?{question}`?.* (within|longer than) 1 s", stub)


def test_a_child_that_is_left_behind_by_help_is_killed_and_nobody_waits_for_it(
    evaluate: Evaluate, pytester: pytest.Pytester, real: Path
) -> None:
    stub = _script(
        pytester.path / "stub",
        f"#!/bin/sh\n[ $1 = --help ] && {{ sleep 300 & echo $! >>'{pytester.path}/pids'; }}\nexec '{real}' \"$@\"\n",
    )
    started = time.monotonic()
    outcome = evaluate(binary=stub)
    _assert_all_gone(pytester.path)
    assert time.monotonic() - started < 15
    assert outcome.report["summary"]["guarded_decision"] in {"STRONG_PASS", "FAIL"}


def test_help_without_end_passes_nothing(evaluate: Evaluate, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        short_probe="import gitleaks_eval.scanners.build\n\ngitleaks_eval.scanners.build.PROBE_SECONDS = 1\n"
    )
    body = "import sys, time\nwhile True:\n    print('git detect ' * 6000)\n    time.sleep(0.001)\n"
    stub = _script(pytester.path / "stub", f"#!{sys.executable} -ISB\n{body}")
    _assert_dead(evaluate("-pshort_probe", binary=stub), "--help", stub)


# Scanners that are Gitleaks by their help, and fail when they scan.

STOPPED = "took longer than 1 s and was stopped; allow more seconds with --gitleaks-scan-timeout"
NOTHING = "canary: it found none of 6 planted secrets"
SCANS = {
    "hangs-in-a-child": (
        'signal.signal(signal.SIGTERM, signal.SIG_IGN); subprocess.run(["sleep", "300"])',
        STOPPED,
    ),
    "panics": (
        r'sys.stderr.write("panic: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n"); sys.exit(2)',
        "ended with exit code 2: it panicked",
    ),
    "fails": ("sys.exit(1)", "ended with exit code 1"),
    "killed-after-a-good-report": ("scan(); os.kill(os.getpid(), signal.SIGKILL)", "ended with signal 9"),
    "garbage-42": (r'answer("\0 garbage", 42)', "not JSON"),
    "cut-off": ("answer(json.dumps(findings())[:-30], 42)", "not JSON"),
    "deep": ('answer("[" * 100_000, 42)', "not JSON"),
    "not-utf-8": (r'open(report, "wb").write(b"[\xff\xfe\xff]"); sys.exit(42)', "not JSON"),
    "no-report-0": ("sys.exit(0)", "wrote no report"),
    "good-log-no-report": ("scan(); os.remove(report); sys.exit(0)", "wrote no report"),
    "good-log-empty-report": ('scan(); answer("", 0)', "exit code 0 and|report"),
    "report-is-a-folder": ("os.mkdir(report); sys.exit(0)", "report"),
    "nothing": ('answer("[]", 0)', "canary: it says neither how many commits nor how many bytes it read"),
    "nothing-one-commit-scanned": (
        r'sys.stderr.write("9:00AM INF 1 commits scanned.\n"); answer("[]", 0)',
        NOTHING,
    ),
    "nothing-good-log": ('scan(); answer("[]", 0)', NOTHING),
    "nothing-42": ('scan(); answer("[]", 42)', "exit code 42: they contradict"),
    "nothing-null-42": ('scan(); answer("null", 42)', "exit code 42: they contradict"),
    "findings-0": ("scan(); sys.exit(0)", "exit code 0: they contradict"),
    "object": ('answer(json.dumps({"findings": findings()}), 42)', "not a list of findings"),
    "strings": ('answer(json.dumps(["leak", "leak"]), 42)', "entry 0 is no finding"),
    "keys-missing": ('answer(json.dumps([{"RuleID": "github-pat", "File": ".env"}]), 42)', "entry 0 is no finding"),
    "nan": (
        'nan = [{**one, "Entropy": float("nan")} for one in findings()]; answer(json.dumps(nan), 42 if nan else 0)',
        "JSON",
    ),
    "values-withheld": (
        'answer(json.dumps([{**finding, "Secret": "REDACTED", "Match": ""} for finding in findings()]), 42)',
        NOTHING,
    ),
    "partial-scan": (r'sys.stderr.write("9:00AM WRN partial scan completed in 3ms\n"); honest()', "partial scan"),
    "stderr-not-empty": (
        r'sys.stderr.write("9:00AM ERR failed to scan Git repository error=\"stderr is not empty\"\n"); honest()',
        "stderr is not empty",
    ),
    "no-log": (
        "sys.exit(scan(log=False))",
        "canary: it says neither how many commits nor how many bytes it read",
    ),
    "reads-nothing": (
        r'sys.stderr.write("INF 0 commits scanned.\nINF scanned ~0 bytes (0) in 1ms\n"); sys.exit(scan(False))',
        "canary: it reports 0 commits scanned, and git has 1 to scan",
    ),
    "removes-its-folder": ("import shutil; shutil.rmtree(os.getcwd()); sys.exit(0)", "removed the folder"),
}


@pytest.mark.parametrize(("body", "problem"), [pytest.param(*scan, id=name) for name, scan in SCANS.items()])
def test_a_scanner_that_fails_to_scan_passes_nothing(
    evaluate: Evaluate, make_stub: MakeStub, body: str, problem: str
) -> None:
    stub = make_stub(body)
    limit = ["--gitleaks-scan-timeout=1"] if problem == STOPPED else []
    _assert_dead(evaluate(*limit, binary=stub), problem, stub)


@pytest.mark.parametrize(
    "make_report", ["os.mkfifo(report)", 'os.symlink("/dev/zero", report)'], ids=["pipe", "device"]
)
def test_a_report_that_is_no_regular_file_is_not_waited_for(
    evaluate: Evaluate, make_stub: MakeStub, make_report: str
) -> None:
    stub = make_stub(f"scan(); os.remove(report); {make_report}; sys.exit(0)")
    _assert_dead(evaluate("--gitleaks-scan-timeout=2", binary=stub, seconds=20), "report", stub)


@pytest.mark.parametrize(
    ("ending", "parallel"),
    [
        pytest.param('answer("[]", 0)', [], id="answers"),
        pytest.param("time.sleep(300)", ["-n2"], id="hangs-in-parallel"),
    ],
)
def test_a_child_that_a_dead_scanner_leaves_behind_with_its_output_open_is_killed(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester, ending: str, parallel: list[str]
) -> None:
    stub = make_stub(LEAVE_A_CHILD + ending)
    outcome = evaluate("--gitleaks-scan-timeout=1", *parallel, binary=stub)
    _assert_all_gone(pytester.path)
    _assert_dead(outcome, f"canary: it says neither|{STOPPED}", stub)


def test_a_child_that_a_good_scan_leaves_behind_is_killed_and_nobody_waits_for_it(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester
) -> None:
    started = time.monotonic()
    outcome = evaluate(binary=make_stub(f"{LEAVE_A_CHILD}honest()"))
    assert time.monotonic() - started < 30
    _assert_all_gone(pytester.path)
    assert len(_pids(pytester.path)) == 4
    assert outcome.report["summary"]["guarded_decision"] in {"STRONG_PASS", "FAIL"}


# Scanners that die, or lie, later.


@pytest.mark.parametrize(
    ("good", "log", "parallel"),
    [
        pytest.param(1, False, [], id="after-the-canary"),
        pytest.param(1, True, [], id="after-the-canary-with-a-good-log"),
        pytest.param(2, True, [], id="after-one-scenario"),
        pytest.param(1, False, ["-n2"], id="after-the-canary-in-parallel"),
    ],
)
def test_a_scanner_that_dies_after_some_scans_does_not_pass_the_clean_scenario(
    evaluate: Evaluate, make_stub: MakeStub, good: int, parallel: list[str], *, log: bool
) -> None:
    stub = make_stub(f'if note("calls", source) <= {good}: honest()\nscan(log={log}); answer("[]", 0)')
    outcome = evaluate(*parallel, binary=stub)
    assert outcome.status == 1, outcome.text
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.report["incomplete"] is True
    assert outcome.outcomes(CLEAN) == {"error": SHIPPED}
    assert outcome.errors_of(CLEAN)
    if good == 1:
        assert outcome.outcomes(LEAKY) == {"error": SHIPPED}


@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
def test_a_scanner_that_finds_nothing_after_a_clean_scenario_does_not_pass_it(
    evaluate: Evaluate, make_stub: MakeStub, clean_scenario: Path, parallel: list[str]
) -> None:
    # Two good scans are the canary and the scenario: only the third, of the canary again, shows the death.
    stub = make_stub('if note("calls", source) <= 2: honest()\nscan(log=True); answer("[]", 0)')
    outcome = evaluate(*parallel, binary=stub, scenarios=str(clean_scenario))
    assert outcome.status == 1, outcome.text
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.outcomes(CLEAN) == {"error": SHIPPED}
    assert outcome.errors_of(CLEAN)


def test_the_canary_is_scanned_with_all_cores_and_small_repositories_with_one_each(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester
) -> None:
    stub = make_stub('note("cores", str(os.environ.get("GOMAXPROCS")) + " " + subject())\nhonest()')
    outcome = evaluate(binary=stub)
    assert outcome.report["summary"]["guarded_decision"] == "STRONG_PASS", outcome.text
    scans = (pytester.path / "cores").read_text(encoding="utf-8").splitlines()
    canaries = [line.split(" ")[0] for line in scans if line.endswith(" Plant the canary")]
    assert canaries == ["None", "1"]
    assert {line.split(" ")[0] for line in scans if not line.endswith(" Plant the canary")} == {"1"}


def test_a_scan_that_is_too_slow_is_repeated_alone_three_times_and_says_its_spread(
    evaluate: Evaluate, make_stub: MakeStub, two_scenarios: Path, tmp_path: Path, pytester: pytest.Pytester
) -> None:
    folder = tmp_path / "slow"
    shutil.copytree(two_scenarios, folder)
    truth = folder / "ground_truth" / f"{LEAKY}.json"
    document = json.loads(truth.read_bytes())
    document["expected"]["thresholds"] = {"max_scan_time_ms": 1}
    truth.write_text(json.dumps(document), encoding="utf-8")
    outcome = evaluate(binary=make_stub('note("scans", subject())\nhonest()'), scenarios=str(folder))
    scans = (pytester.path / "scans").read_text(encoding="utf-8").splitlines()
    assert scans.count(_first_message(LEAKY)) == 1 + 3
    (failed,) = (one for one in outcome.report["results"] if one["outcome"] == "failed")
    assert failed["check_id"] == "SP-1"
    assert re.match(
        r"scan time in ms \(fastest of repeated scans: \d+ to \d+ ms\): at most 1, found ", failed["message"]
    )


@pytest.mark.parametrize("broken", ['== "1"', '!= "1"'], ids=["with-one-core", "with-all-cores"])
def test_a_scanner_that_finds_nothing_with_one_core_or_with_all_of_them_does_not_pass(
    evaluate: Evaluate, make_stub: MakeStub, broken: str
) -> None:
    stub = make_stub(f'if not str(os.environ.get("GOMAXPROCS")) {broken}: honest()\nscan(log=True); answer("[]", 0)')
    outcome = evaluate(binary=stub)
    assert outcome.status == 1, outcome.text
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.outcomes(CLEAN) == {"error": SHIPPED}
    assert outcome.outcomes(LEAKY).keys() & {"failed", "error"}


def test_the_canary_is_scanned_again_after_each_clean_scan(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester
) -> None:
    # With one core no scan begins before the last one has ended.
    pytester.makeconftest("import os\nos.cpu_count = lambda: 1")
    outcome = evaluate(binary=make_stub('note("scans", subject())\nhonest()'), scenarios="core")
    assert outcome.report["summary"]["guarded_decision"] == "STRONG_PASS", outcome.text
    scans = (pytester.path / "scans").read_text(encoding="utf-8").splitlines()
    canary = "Plant the canary"
    assert (scans[0], scans.count(canary), len(scans)) == (canary, 3, 12)
    for name in ("no-secrets", "synthetic"):
        assert scans[scans.index(_first_message(name)) + 1] == canary


@pytest.mark.parametrize("last", [3, 4, 6])
def test_a_scanner_that_is_dead_for_some_scans_passes_no_scenario_by_one_of_them(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester, last: int
) -> None:
    pytester.makeconftest("import os\nos.cpu_count = lambda: 1")
    body = f"""\
        dead = 2 <= note("calls", source) <= {last}
        note("scans", ("dead " if dead else "good ") + subject())
        if not dead: honest()
        scan(log=True); answer("[]", 0)
    """
    outcome = evaluate(binary=make_stub(body), scenarios="core")
    assert outcome.status == 1, outcome.text
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    lines = (pytester.path / "scans").read_text(encoding="utf-8").splitlines()
    last_state = {message: state for state, _, message in (line.partition(" ") for line in lines)}
    names = {_first_message(path.stem): path.stem for path in RECIPES.glob("*.yaml")}
    by_a_dead_one = {names[message] for message, state in last_state.items() if state == "dead" and message in names}
    assert by_a_dead_one
    for name in by_a_dead_one:
        assert outcome.outcomes(name).keys() & {"failed", "error"}, name


@pytest.mark.parametrize(
    ("good", "log"),
    [
        pytest.param(4, False, id="from-the-fifth-scan"),
        pytest.param(4, True, id="from-the-fifth-scan-with-a-good-log"),
        pytest.param(9, True, id="from-the-tenth-scan"),
    ],
)
def test_a_scanner_that_finds_nothing_from_a_later_scan_on_passes_no_scenario_from_there_on(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester, good: int, *, log: bool
) -> None:
    # The nine take twelve scans: the canary, each scenario, and the canary again after each of the two clean ones.
    body = f"""\
        number = note("calls", source)
        note("good" if number <= {good} else "dead", subject())
        if number <= {good}: honest()
        scan(log={log}); answer("[]", 0)
    """
    outcome = evaluate(binary=make_stub(body), scenarios="core")
    assert outcome.status == 1, outcome.text
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.report["incomplete"] is True
    names = {_first_message(path.stem): path.stem for path in RECIPES.glob("*.yaml")}
    dead = {names.get(line, "") for line in (pytester.path / "dead").read_text(encoding="utf-8").splitlines()}
    assert len(dead - {""}) >= 9 - good
    for name in dead - {""}:
        assert outcome.outcomes(name) == {"error": SHIPPED}, name
        assert outcome.errors_of(name) or len(outcome.errors) > 5
    assert any(result["outcome"] == "error" for result in outcome.report["results"])


def test_a_scanner_that_answers_everything_with_the_report_of_another_repository_passes_nothing(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester, real: Path
) -> None:
    other, constant = pytester.path / "other", pytester.path / "constant.json"
    build(load_recipe(RECIPES / "mixed-secrets.yaml"), other)
    subprocess.run([real, "git", other, "--report-path", constant, "--exit-code=0"], check=True, capture_output=True)
    assert len(json.loads(constant.read_bytes())) == 2
    stub = make_stub(f"scan(); answer(open({str(constant)!r}).read(), 42)")
    _assert_dead(evaluate(binary=stub), NOTHING, stub)


def test_a_scanner_that_answers_everything_with_its_first_report_passes_no_scenario(
    evaluate: Evaluate, make_stub: MakeStub
) -> None:
    body = """\
        scan()
        first = os.path.join(HERE, "first.json")
        if not os.path.exists(first): os.rename(report, first)
        answer(open(first).read(), 42)
    """
    outcome = evaluate(binary=make_stub(body))
    assert outcome.status == 1
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    for scenario in (LEAKY, CLEAN):
        assert outcome.outcomes(scenario)["failed"] + outcome.outcomes(scenario)["error"]
        assert re.search(rf"^(UNEXPECTED|ERROR)  .*{scenario}", outcome.text, re.MULTILINE)


def test_a_scanner_that_finds_the_canary_and_nothing_else_is_a_fail(evaluate: Evaluate, make_stub: MakeStub) -> None:
    stub = make_stub('if subject() == "Plant the canary": honest()\nscan(); answer("[]", 0)')
    outcome = evaluate(binary=stub)
    assert outcome.status == 1
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.report["summary"]["findings"]["missed"] == 2
    assert outcome.outcomes(LEAKY)["failed"] >= 8
    assert f"MISSED  {LEAKY}  .env:3  github-pat" in outcome.text


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        pytest.param("", "it (says neither|does not say)", id="silent"),
        # What 8.18.4 and 8.30.1 say of a repository that git cannot read, with status 0.
        pytest.param("INF 0 commits scanned.\nINF scanned ~0 bytes (0) in 1ms\n", "it reports 0 commits", id="nothing"),
        pytest.param("INF scanned ~9 bytes (9 bytes) in 1ms\n", "it (reports 9 bytes|does not say)", id="little"),
    ],
)
def test_a_scanner_that_reads_the_canary_and_no_other_repository_passes_nothing(
    evaluate: Evaluate, make_stub: MakeStub, log: str, problem: str
) -> None:
    stub = make_stub(
        f'if subject() == "Plant the canary": honest()\nsys.stderr.write({log!r})\nscan(log=False); answer("[]", 0)'
    )
    _assert_dead(evaluate(binary=stub), f"the scan does not count: {problem}")


# Scanners that write without end.

ENDLESS = {
    "stdout": 'while True: sys.stdout.write("x" * 100_000)',
    "stderr": 'while True: sys.stderr.write("x" * 100_000)',
    "file": 'file = open("report.json", "w")\nwhile True: file.write("x" * 100_000)',
    "files": 'os.mkdir("deep")\nfor n in range(10**9): open(f"deep/{n}", "w").write("x" * 100_000)',
    "child": 'subprocess.Popen([sys.executable, "-c", "while True: print(10**99)"])\ntime.sleep(300)',
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in ENDLESS.items()])
def test_a_program_that_writes_without_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1 << 20)
    folder = tmp_path / "private"
    folder.mkdir()
    program = f"import os, subprocess, sys, time\nopen('../pids', 'w').write(str(os.getpid()))\n{body}\n"
    with pytest.raises(EvaluationError, match=r"wrote more than .* and was stopped"):
        run_limited([sys.executable, "-ISBc", program], folder, dict(os.environ), SECONDS)
    _assert_all_gone(tmp_path)


def test_a_program_that_has_written_too_much_when_it_ends_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 1 << 20)
    program = 'open("report.json", "w").truncate(1 << 40)'
    with pytest.raises(EvaluationError, match="wrote more than"):
        run_limited([sys.executable, "-ISBc", program], tmp_path, dict(os.environ), SECONDS)


@pytest.mark.parametrize("target", ["sys.stdout", 'open(report, "w")'], ids=["stdout", "report"])
def test_a_scanner_that_fills_the_disk_passes_nothing(
    evaluate: Evaluate, make_stub: MakeStub, pytester: pytest.Pytester, target: str
) -> None:
    pytester.makepyfile(
        small_disk="import gitleaks_eval.core.process\n\ngitleaks_eval.core.process.OUTPUT_LIMIT = 1 << 20\n"
    )
    stub = make_stub(f'file = {target}\nwhile True:\n    file.write("x" * 100_000)\n    time.sleep(0.001)')
    _assert_dead(evaluate("-psmall_disk", binary=stub), "wrote more than .* and was stopped", stub)


# The real binary, that is told to find nothing or cannot be had.

CONFIGURATIONS = {
    "matches-nothing": (
        "[[rules]]\nid = 'own'\nregex = '''own-[0-9]{80}'''",
        NOTHING + r"; .*is `\[extend\] useDefault = true` missing",
    ),
    "is-not-taken": ("[[rules]]\nid = 'own'\nregex = '''own-('''", "the regex does not compile"),
}


@pytest.mark.parametrize(
    ("content", "problem"), [pytest.param(*given, id=name) for name, given in CONFIGURATIONS.items()]
)
def test_a_configuration_that_finds_nothing_passes_nothing(
    evaluate: Evaluate, pytester: pytest.Pytester, real: Path, content: str, problem: str
) -> None:
    (pytester.path / "own.toml").write_text(content, encoding="utf-8")
    # What the scanner refuses names the file; what it does not find, the scanner.
    named = Path("own.toml") if "compile" in problem else real
    _assert_dead(evaluate("--gitleaks-config=own.toml", binary=real), problem, named)


@pytest.fixture
def path_without_gitleaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that holds git and Python alone."""
    git = shutil.which("git")
    assert git
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(git)
    (folder / "python").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.usefixtures("path_without_gitleaks")
def test_no_scanner_to_be_had_passes_nothing(evaluate: Evaluate, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    outcome = evaluate()
    _assert_dead(outcome, f"gitleaks {VERSION} is not installed and GITLEAKS_EVAL_OFFLINE forbids to install it")
    assert f"NO SCANNER: gitleaks {VERSION} is not installed" in outcome.text
    assert "--gitleaks-binary" in outcome.errors[0]
    assert not (cache / "bin").exists()


def test_a_version_that_cannot_be_had_is_not_replaced_by_the_scanner_on_the_path(
    evaluate: Evaluate, cache: Path, real: Path, path_without_gitleaks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path_without_gitleaks / "gitleaks").symlink_to(real)
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    _assert_dead(evaluate("--gitleaks-version=8.18.4"), "gitleaks 8.18.4 is not installed")
    assert not (cache / "bin").exists()


def test_a_dead_scanner_on_the_path_is_not_replaced_by_an_installed_one(
    evaluate: Evaluate, cache: Path, real: Path, path_without_gitleaks: Path
) -> None:
    (cache / "bin").mkdir(parents=True)
    shutil.copy(real, cache / "bin" / f"gitleaks-{VERSION}")
    on_path = _script(path_without_gitleaks / "gitleaks", "#!/bin/sh\nexit 3\n")
    _assert_dead(evaluate(), r"\(PATH\) answered `--help` with exit code 3", on_path)


@pytest.mark.parametrize(
    ("path", "problem", "by_ini"),
    [
        pytest.param("nowhere/gitleaks", "does not exist", False, id="missing"),
        pytest.param(".", "is not a file", False, id="folder"),
        pytest.param("plain.txt", "is not executable", False, id="not-executable"),
        pytest.param("plain.txt", "is not executable", True, id="not-executable-in-the-ini-file"),
    ],
)
def test_a_named_binary_that_is_wrong_on_sight_ends_the_run_before_any_test(
    evaluate: Evaluate, pytester: pytest.Pytester, path: str, problem: str, *, by_ini: bool
) -> None:
    (pytester.path / "plain.txt").write_text("#!/bin/sh\n", encoding="utf-8")
    if by_ini:
        pytester.makeini(f"[pytest]\ngitleaks_binary = {path}\n")
    outcome = evaluate() if by_ini else evaluate(binary=Path(path))
    assert outcome.status == 4
    named_by = "ini gitleaks_binary" if by_ini else "--gitleaks-binary"
    assert re.search(rf"ERROR: {named_by} .*{re.escape(pytester.path.name)}.*: {problem}", outcome.text)
    assert "collected" not in outcome.text
    assert "Traceback" not in outcome.text
    assert not (outcome.folder / "evaluation_report.json").exists()


# One that fails for one repository only.


@pytest.mark.parametrize(
    ("failing", "working", "parallel"),
    [
        pytest.param(LEAKY, CLEAN, [], id=LEAKY),
        pytest.param(CLEAN, LEAKY, [], id=CLEAN),
        pytest.param(LEAKY, CLEAN, ["-n2"], id="in-parallel"),
    ],
)
def test_one_failing_scenario_does_not_take_the_reports_of_another_away(
    evaluate: Evaluate, make_stub: MakeStub, failing: str, working: str, parallel: list[str]
) -> None:
    message = load_recipe(RECIPES / f"{failing}.yaml").commits[0].message
    stub = make_stub(
        f"if subject() != {message!r}: honest()\n"
        r'sys.stderr.write("9:00AM FTL no space left on device\n"); sys.exit(1)'
    )
    outcome = evaluate(*parallel, binary=stub)
    assert outcome.status == 1
    assert outcome.report["incomplete"] is True
    assert outcome.report["summary"]["guarded_decision"] == "FAIL"
    assert outcome.outcomes(failing) == {"error": SHIPPED}
    good = outcome.outcomes(working)
    assert good["passed"] + good["not_applicable"] == SHIPPED
    problem = f"scenario {failing}: ended with exit code 1: no space left on the device  ({SHIPPED} checks)"
    assert [line.removeprefix("ERROR  ") for line in outcome.errors] == [problem]
    names = {path.relative_to(outcome.folder).as_posix() for path in outcome.folder.rglob("*.*")}
    assert names >= {f"{working}_eval.json", f"analysis/{working}.json", f"{failing}_eval.json", "scorecard.json"}
    assert f"analysis/{failing}.json" not in names
    written = {name: json.loads((outcome.folder / f"{name}_eval.json").read_bytes()) for name in (failing, working)}
    assert (written[working]["passed_checks"], written[working]["failed_checks"]) == (SHIPPED, 0)
    assert (written[failing]["passed_checks"], written[failing]["failed_checks"]) == (0, SHIPPED)


def test_a_dead_scanner_leaves_no_analysis_of_an_earlier_run_behind(
    evaluate: Evaluate, make_stub: MakeStub, real: Path
) -> None:
    good = evaluate(binary=real)
    assert good.status == 0, good.text
    assert good.report["summary"]["guarded_decision"] == "STRONG_PASS"
    assert (good.folder / "analysis" / f"{CLEAN}.json").exists()
    _assert_dead(evaluate(binary=make_stub("sys.exit(1)")), "ended with exit code 1")


# Repositories that were built and then harmed.


def _objects(repository: Path) -> list[Path]:
    objects = (path for path in (repository / ".git" / "objects").rglob("*") if path.is_file())
    return sorted(objects, key=lambda path: path.stat().st_size)


def _cut_an_object(repository: Path) -> None:
    largest = _objects(repository)[-1]
    content = largest.read_bytes()
    largest.unlink()
    largest.write_bytes(content[:-20])


def _remove_the_branch(repository: Path) -> None:
    (repository / ".git" / "refs" / "heads" / "main").unlink()


def _suppress_everything(repository: Path) -> None:
    (repository / ".gitleaks.toml").write_text("[allowlist]\npaths = ['''.*''']\n", encoding="utf-8")


def _forge_the_manifest(repository: Path) -> None:
    (repository.parent / "manifest.json").write_text('{"files": [], "readable": 1}', encoding="utf-8")


def _remove_the_repository(repository: Path) -> None:
    shutil.rmtree(repository)


DAMAGES = (
    _cut_an_object,
    _remove_the_branch,
    _suppress_everything,
    _forge_the_manifest,
    _remove_the_repository,
)


def _contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_repository_in_the_cache_that_was_harmed_is_built_again(
    evaluate: Evaluate, cache: Path, real: Path, subtests: pytest.Subtests
) -> None:
    assert evaluate(binary=real).status == 0
    before = _contents(cache / "repositories")
    for damage in DAMAGES:
        with subtests.test(damage.__name__.strip("_")):
            repositories = [path.parent for path in (cache / "repositories").glob("*/repository/.git")]
            assert len(repositories) == 2
            for repository in repositories:
                damage(repository)
            assert _contents(cache / "repositories") != before
            outcome = evaluate(binary=real)
            assert outcome.status == 0, outcome.errors
            assert outcome.report["summary"]["guarded_decision"] == "STRONG_PASS"
            assert _contents(cache / "repositories") == before


# Runs that are stopped in the middle of a scan.


@pytest.mark.parametrize(
    ("during", "number", "parallel"),
    [
        pytest.param("canary", signal.SIGINT, [], id="SIGINT-canary"),
        pytest.param("scenario", signal.SIGINT, [], id="SIGINT"),
        pytest.param("scenario", signal.SIGINT, ["-n2"], id="SIGINT-in-parallel"),
        pytest.param("canary", signal.SIGTERM, ["-n2"], id="SIGTERM-canary-in-parallel"),
        pytest.param("scenario", signal.SIGTERM, [], id="SIGTERM"),
    ],
)
@pytest.mark.usefixtures("environment")
def test_a_run_that_is_stopped_in_the_middle_of_a_scan_leaves_nothing_behind(
    pytester: pytest.Pytester,
    make_stub: MakeStub,
    two_scenarios: Path,
    scratch: Path,
    *,
    during: str,
    number: signal.Signals,
    parallel: list[str],
) -> None:
    good = 'if subject() == "Plant the canary": honest()\n' if during == "scenario" else ""
    stub = make_stub(f'{good}{LEAVE_A_CHILD}note("pids", str(os.getpid()))\nscan()\nnote("ready", "")\ntime.sleep(300)')
    command = [sys.executable, "-m", "pytest", "--gitleaks-eval", "-pno:cacheprovider", *parallel]
    output = pytester.path / "output"
    with output.open("wb") as file:
        run = subprocess.Popen(
            [*command, f"--gitleaks-scenarios={two_scenarios}", f"--gitleaks-binary={stub}"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + SECONDS
        while not (pytester.path / "ready").exists():
            assert run.poll() is None, output.read_text(encoding="utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert any(path.stat().st_size for path in scratch.glob("gitleaks-eval-*/scan-*/report.json"))
        if number == signal.SIGINT:
            # As Ctrl-C: the terminal sends it to all processes of the run; the scanner has a session of its own.
            os.killpg(run.pid, number)
        else:
            run.send_signal(number)
        assert run.wait(30) == pytest.ExitCode.INTERRUPTED, output.read_text(encoding="utf-8")
    finally:
        run.kill()
        run.wait()
    _assert_all_gone(pytester.path)
    assert list(scratch.glob("gitleaks-eval-*")) == []
    report = pytester.path / "gitleaks-eval-results" / "evaluation_report.json"
    if report.exists():
        assert json.loads(report.read_bytes())["summary"]["guarded_decision"] == "FAIL"


@pytest.mark.parametrize("parallel", [[], ["-n2"]], ids=["serial", "parallel"])
def test_the_run_after_one_that_is_killed_sweeps_up(
    pytester: pytest.Pytester,
    make_stub: MakeStub,
    evaluate: Evaluate,
    scratch: Path,
    *,
    parallel: list[str],
) -> None:
    body = f'{LEAVE_A_CHILD}note("pids", str(os.getpid()))\nnote("pids", str(os.getppid()))\nscan()\nnote("ready", "")'
    stub = make_stub(f"{body}\ntime.sleep(300)")
    command = [sys.executable, "-m", "pytest", "--gitleaks-eval", "-pno:cacheprovider", f"--gitleaks-binary={stub}"]
    run = subprocess.Popen(
        [*command, *parallel], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        deadline = time.monotonic() + SECONDS
        while not (pytester.path / "ready").exists():
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        run.kill()
        run.wait()
    for pid in _pids(pytester.path):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _wait_for_end_of_session(run.pid)
    assert evaluate(binary=make_stub("honest()")).status == 0
    assert list(scratch.glob("gitleaks-eval-*")) == []
