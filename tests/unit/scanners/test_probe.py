"""A binary is asked what it is and can do; which scanner is found; the run keeps a copy of its own."""

import errno
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import USAGE, is_gone, pid_in, script, sha256, stating

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.scanners import GITLEAKS, Adapter, install
from gitleaks_eval.scanners import build as scanner
from gitleaks_eval.scanners.build import PINNED_VERSION, ScannerBuild, ScannerChoice, find_scanner, probe

VERSION = "8.18.4"
UNPINNED = "8.21.0"
NOWHERE = "http://127.0.0.1:9"
SCRIPT = b"#!/bin/sh\necho a gitleaks\n"
RELEASE, ON_PATH, PACKAGE = "release archive", "built with the Go on PATH", f"built with {install.GO_TOOLCHAIN}"
UNSTAMPED = "version is set by build process"


# What a binary is and can do.


@pytest.mark.parametrize(
    ("version", "command", "decode_depth", "ignores_allow"),
    [
        ("8.16.0", "detect", None, False),
        ("8.18.4", "detect", None, True),
        ("8.26.0", "git", 0, True),
        ("8.30.1", "git", 5, True),
    ],
)
def test_a_release_tells_its_command_its_decode_depth_and_whether_it_ignores_allow_comments(
    gitleaks: Callable[[str], Path], version: str, command: str, decode_depth: int | None, *, ignores_allow: bool
) -> None:
    path = gitleaks(version)
    digest = sha256(path.read_bytes())
    build = probe(path, "PATH")
    assert build == ScannerBuild(str(path), "gitleaks", version, "PATH", digest, command, decode_depth, ignores_allow)
    assert build.title == f"gitleaks {version} (PATH, sha256 {digest[:8]})"


@pytest.mark.parametrize(
    ("information", "version"),
    [
        ("mod\tgithub.com/zricethezav/gitleaks/v8\tv8.18.4\th1:mWOfVG=", "8.18.4"),
        ("mod\tgithub.com/gitleaks/gitleaks/v8\tv8.31.0\t", "8.31.0"),
        ("dep\tgithub.com/zricethezav/gitleaks/v8\tv8.26.0\th1:mWOfVG=", "8.26.0"),
        ("mod\tgithub.com/zricethezav/gitleaks/v8\tv8.30.2-0.20260101000000-0a1b2c3d4e5f+dirty\t", None),
        ("mod\tgithub.com/zricethezav/gitleaks/v8\t(devel)\t", "unknown"),
        ("mod\tgithub.com/betterleaks/betterleaks\tv1.4.0\th1:mWOfVG=", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_version_stands_in_gos_build_information_or_is_unknown(
    tmp_path: Path, information: str, version: str | None
) -> None:
    path = stating(tmp_path / "gitleaks", UNSTAMPED, after=f"path\tx\n{information}\nbuild\t-compiler=gc\n")
    expected = {
        None: "8.30.2-0.20260101000000-0a1b2c3d4e5f+dirty",
        "unknown": f"unknown (sha256 {sha256(path.read_bytes())[:12]})",
    }.get(version, version)
    assert probe(path, "PATH").version == expected


@pytest.mark.parametrize(
    ("stated", "version"), [("1.4.0", "1.4.0"), ("dev", "1.1.2")], ids=["stamped", "by Go's build information"]
)
def test_a_betterleaks_is_told_from_a_gitleaks_by_its_help(tmp_path: Path, stated: str, version: str) -> None:
    information = "path\tx\nmod\tgithub.com/betterleaks/betterleaks\tv1.1.2\th1:mWOfVG=\nbuild\t-compiler=gc\n"
    usage = USAGE.replace("  gitleaks [", "  betterleaks [")
    build = probe(stating(tmp_path / "gitleaks", stated, usage, after=information), "PATH")
    assert (build.name, build.version, build.validates) == ("betterleaks", version, False)
    usage += "      --validation                    enable validation of findings against live APIs\n"
    assert probe(stating(tmp_path / "gitleaks", stated, usage), "PATH").validates


@pytest.mark.parametrize(
    ("stated", "version"),
    [("8.30.1", "8.30.1"), ("v8.30.1", "8.30.1"), ("8.30.1-rc.1", "8.30.1-rc.1"), ("", None), ("dev", None)],
)
def test_a_version_that_is_stated_is_believed(tmp_path: Path, stated: str, version: str | None) -> None:
    path = stating(tmp_path / "gitleaks", stated)
    assert probe(path, "PATH").version == (version or f"unknown (sha256 {sha256(path.read_bytes())[:12]})")


@pytest.mark.parametrize(
    ("line", "depth"),
    [
        ("allow recursive decoding up to this depth (default 5)", 5),
        ("allow recursive decoding up to this depth (default 12)", 12),
        ('allow recursive decoding up to this depth (default "0", no decoding is done)', 0),
        ("allow recursive decoding up to this depth", 0),
    ],
)
def test_the_decode_depth_is_the_default_that_the_help_names(tmp_path: Path, line: str, depth: int) -> None:
    usage = USAGE.replace("allow recursive decoding up to this depth (default 5)", line)
    assert probe(stating(tmp_path / "gitleaks", usage=usage), "PATH").decode_depth == depth


OTHERS = {
    "silent": "",
    "another program": "usage: other [-h] [--version]\n",
    "no command": USAGE.replace("  git  ", "  got  "),
    "no report": USAGE.replace("--report-path", "--report"),
    "no exit code": USAGE.replace("--exit-code", "--exit"),
    "binary": "\N{SNOWMAN}\x1b[31m\x07" * 100 + "\n",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_not_gitleaks_is_refused_by_its_path_and_where_it_came_from(tmp_path: Path, kind: str) -> None:
    path = stating(tmp_path / "other", usage=OTHERS[kind])
    with pytest.raises(
        EvaluationError, match=rf"^{re.escape(str(path))} \(PATH\) is not Gitleaks or Betterleaks: .*--gitleaks-binary$"
    ):
        probe(path, "PATH")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("#!/bin/sh\nexit 126\n", "answered `--help` with exit code 126"),
        ("#!/bin/sh\nkill -9 $$\n", "answered `--help` with .*9"),
        ("#!/does/not/exist\n", "cannot be run: No such file or directory"),
        ("no program", "cannot be run: Exec format error"),
        (None, "cannot be read: No such file or directory"),
    ],
    ids=["fails", "is killed", "no interpreter", "no program", "missing"],
)
def test_a_binary_that_cannot_answer_is_an_error_that_says_why(tmp_path: Path, text: str | None, problem: str) -> None:
    path = tmp_path / "gitleaks"
    if text is not None:
        script(path, text)
    with pytest.raises(EvaluationError, match=rf"^{re.escape(str(path))} \(PATH\) {problem}"):
        probe(path, "PATH")


@pytest.mark.parametrize("question", ["--help", "version"])
def test_a_binary_that_hangs_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    monkeypatch.setattr(scanner, "PROBE_SECONDS", 1)
    hang = f"[ $1 = {question} ] && {{ sleep 300 & echo $! >'{tmp_path}/child.pid'; wait; }}"
    path = stating(tmp_path / "gitleaks", before=hang)
    started = time.monotonic()
    with pytest.raises(EvaluationError, match=rf"{question}.* 1 s"):
        probe(path, "PATH")
    assert time.monotonic() - started < 10
    assert is_gone(pid_in(tmp_path / "child.pid"))


@pytest.mark.parametrize("question", ["--help", "version"])
def test_a_child_that_keeps_the_output_open_is_killed_and_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    monkeypatch.setattr(scanner, "PROBE_SECONDS", 6)
    leave = f"[ $1 = {question} ] && {{ sleep 300 & echo $! >'{tmp_path}/child.pid'; }}"
    path = stating(tmp_path / "gitleaks", before=leave)
    started = time.monotonic()
    try:
        assert probe(path, "PATH").version == "8.30.1"
    finally:
        took = time.monotonic() - started
        assert is_gone(pid_in(tmp_path / "child.pid"))
        assert took < 5


@pytest.mark.slow
def test_a_binary_that_answers_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = script(tmp_path / "gitleaks", "#!/bin/sh\nexec yes 'scan git repositories for secrets'\n")
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from gitleaks_eval.core import process\n"
        "from gitleaks_eval.scanners import build\n"
        "from gitleaks_eval.core.errors import EvaluationError\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "build.PROBE_SECONDS, process.OUTPUT_LIMIT = 5, 1 << 26\n"
        "try:\n"
        "    build.probe(Path(sys.argv[1]), 'PATH')\n"
        "except EvaluationError as error:\n"
        "    print('refused', error)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code, path], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout[:8]) == (0, "refused "), done.stderr[-500:]


# Which scanner is found.


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gitleaks that the user's shell would run."""
    path = stating(tmp_path / "bin" / "gitleaks", "8.20.0")
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    return path


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The versions that were asked for; each is there."""
    asked: list[str] = []

    def installed(version: str, _: install.Progress, __: Adapter) -> tuple[Path, str]:
        asked.append(version)
        return stating(tmp_path / f"gitleaks-{version}", version), RELEASE

    monkeypatch.setattr(scanner, "installed_binary", installed)
    return asked


def test_a_binary_that_is_named_comes_first(tmp_path: Path, on_path: Path, installs: list[str]) -> None:
    named = stating(tmp_path / "named", "8.21.0")
    found = find_scanner(ScannerChoice(named, "8.22.0", "--gitleaks-binary"), print)
    assert (found.path, found.version, found.source) == (str(named), "8.21.0", "--gitleaks-binary")
    assert (on_path.exists(), installs) == (True, [])


def test_a_version_that_is_named_comes_before_what_is_on_path(on_path: Path, installs: list[str]) -> None:
    found = find_scanner(ScannerChoice(None, "8.22.0", "--gitleaks-version"), print)
    assert (found.version, found.source) == ("8.22.0", f"--gitleaks-version, {RELEASE}")
    assert (on_path.exists(), installs) == (True, ["8.22.0"])


@pytest.mark.usefixtures("on_path")
def test_a_version_of_another_scanner_is_installed_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def installed(version: str, _: install.Progress, adapter: Adapter) -> tuple[Path, str]:
        asked.append((adapter.name, version))
        return stating(tmp_path / "installed", version, USAGE.replace("  gitleaks [", "  betterleaks [")), RELEASE

    monkeypatch.setattr(scanner, "installed_binary", installed)
    find_scanner(ScannerChoice(None, "1.4.0", "--gitleaks-version", "betterleaks"), print)
    assert asked == [("betterleaks", "1.4.0")]


def test_without_a_name_the_one_on_path_is_taken(on_path: Path, installs: list[str]) -> None:
    found = find_scanner(ScannerChoice(), print)
    assert (found.path, found.version, found.source) == (str(on_path), "8.20.0", "PATH")
    assert installs == []


def test_without_one_on_path_the_pinned_version_is_installed(
    tmp_path: Path, installs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = find_scanner(ScannerChoice(), print)
    assert (found.version, found.source, installs) == (PINNED_VERSION, f"pinned, {RELEASE}", [PINNED_VERSION])


@pytest.mark.parametrize("named", ["binary", "version", "path"])
@pytest.mark.usefixtures("on_path")
def test_a_source_that_fails_is_never_replaced_by_the_next(
    tmp_path: Path, on_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    def installed(version: str, _: install.Progress, __: Adapter) -> tuple[Path, str]:
        if version == "8.22.0":
            raise EvaluationError("gitleaks 8.22.0 could not be installed")
        return stating(tmp_path / "pinned", version), RELEASE

    monkeypatch.setattr(scanner, "installed_binary", installed)
    choice = {
        "binary": ScannerChoice(tmp_path / "missing", None, "--gitleaks-binary"),
        "version": ScannerChoice(None, "8.22.0", "--gitleaks-version"),
        "path": ScannerChoice(),
    }[named]
    if named == "path":
        script(on_path, "#!/bin/sh\nexit 1\n")
    with pytest.raises(EvaluationError):
        find_scanner(choice, print)


@pytest.mark.parametrize("choice", [ScannerChoice(None, "8.22.0", "--gitleaks-version"), ScannerChoice()])
def test_a_binary_in_the_place_of_the_version_that_was_asked_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: ScannerChoice
) -> None:
    other = stating(tmp_path / "installed", "8.18.4")
    monkeypatch.setattr(scanner, "binary_on_path", lambda *_: None)
    monkeypatch.setattr(scanner, "installed_binary", lambda *_: (other, RELEASE))
    wanted = choice.version or PINNED_VERSION
    with pytest.raises(
        EvaluationError, match=rf"^{other} \(.*{RELEASE}\) is gitleaks 8\.18\.4, not gitleaks {wanted}; "
    ):
        find_scanner(choice, print)


# The named version on PATH.


def _on_path(monkeypatch: pytest.MonkeyPatch, binary: Path, folder: Path) -> Path:
    folder.mkdir()
    copy = Path(shutil.copy(binary, folder / "gitleaks"))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return copy


def test_the_named_version_is_the_one_on_path_where_that_proves_it_and_nothing_is_installed_even_offline(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _on_path(monkeypatch, gitleaks(VERSION), tmp_path / "bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("GITLEAKS_EVAL_OFFLINE", "1")
    found = find_scanner(ScannerChoice(None, VERSION, "--gitleaks-version"), print)
    assert (found.path, found.version, found.source) == (str(path), VERSION, "--gitleaks-version, PATH")
    with pytest.raises(EvaluationError, match=r"8\.30\.1 is not installed and GITLEAKS_EVAL_OFFLINE forbids"):
        find_scanner(ScannerChoice(None, "8.30.1", "--gitleaks-version"), print)


INFORMATION = "mod\tgithub.com/zricethezav/gitleaks/v8\tv{}\th1:mWOfVG=\n"


@pytest.mark.parametrize(
    ("stated", "built", "proves"),
    [
        ("8.22.0", None, True),
        ("8.22.0", "8.22.0", True),
        ("8.22.0", "8.22.0+dirty", True),
        (UNSTAMPED, "8.22.0", True),
        (UNSTAMPED, "8.22.0+dirty", False),
        (UNSTAMPED, None, False),
        ("8.22.0", "8.21.0", False),
        ("8.21.0", "8.22.0", False),
        ("8.22.0-rc1", None, False),
    ],
)
def test_a_version_is_proven_by_what_a_program_states_or_by_gos_build_information_and_never_against_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: str, built: str | None, *, proves: bool
) -> None:
    information = INFORMATION.format(built) if built else ""
    path = stating(tmp_path / "gitleaks", stated, after=information)
    monkeypatch.setattr(scanner, "_is_script", lambda _: False)
    assert scanner._proves(path, "8.22.0", GITLEAKS) is proves


def test_a_script_on_path_proves_no_version_and_one_that_fails_neither(tmp_path: Path) -> None:
    assert not scanner._proves(stating(tmp_path / "shim", "8.22.0"), "8.22.0", GITLEAKS)
    (tmp_path / "broken").write_bytes(b"no program")
    (tmp_path / "broken").chmod(0o755)
    assert not scanner._proves(tmp_path / "broken", "8.22.0", GITLEAKS)


# The run's own copy.


def test_a_binary_that_is_swapped_after_the_probe_is_never_run(gitleaks: Callable[[str], Path], tmp_path: Path) -> None:
    binary = Path(shutil.copy(gitleaks("8.30.1"), tmp_path / "gitleaks"))
    build = probe(binary, "a test", tmp_path)
    assert (build.path, Path(build.program).name, Path(build.program).stat().st_mode & 0o777) == (
        str(binary),
        "gitleaks",
        0o500,
    )
    # In place and by a rename: a hard link would follow the first.
    for swap in (lambda: shutil.copyfile(gitleaks(VERSION), binary), binary.unlink):
        swap()
        assert (
            subprocess.run([build.program, "version"], capture_output=True, text=True, check=True).stdout == "8.30.1\n"
        )
        assert sha256(Path(build.program).read_bytes()) == build.sha256
        assert build.changed() is None


def test_a_script_runs_where_it_is_because_it_may_look_for_its_program_beside_itself(tmp_path: Path) -> None:
    stating(tmp_path / "bin" / "program")
    path = script(tmp_path / "bin" / "gitleaks", '#!/bin/sh\nexec "$(dirname "$0")/program" "$@"\n')
    build = probe(path, "a test", tmp_path)
    assert (build.version, build.program, build.changed()) == ("8.30.1", str(path), None)
    path.write_text("#!/bin/sh\n", encoding="ascii")
    assert build.changed() == (
        f"the scanner {path} was changed during the run (its SHA-256 is no longer {build.sha256}); run again"
    )
    path.unlink()
    assert "(it cannot be read: No such file or directory)" in str(build.changed())


def test_where_no_program_may_be_run_from_the_private_folder_the_binary_itself_is_run(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As access(2) answers on a file system that is mounted with noexec.
    monkeypatch.setattr(os, "access", lambda path, _: tmp_path not in Path(path).parents)
    build = probe(gitleaks(VERSION), "a test", tmp_path)
    assert build.program == build.path == str(gitleaks(VERSION))


def test_a_copy_that_cannot_be_made_is_an_error_that_says_what_to_do(
    gitleaks: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(EvaluationError, match=r" cannot be copied to .*: No space left .*; set TMPDIR to a"):
        probe(gitleaks(VERSION), "a test", tmp_path)
