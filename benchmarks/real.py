"""Repositories as users have them, with a history: what a run takes over the bare scans."""

import random
import string
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gitleaks_eval.scanners.install import installed_binary

VERSIONS = ("8.18.4", "8.26.0", "8.30.1")
# Each scan takes so long that the start of a run is a small part, and all of them end within three minutes.
COMMITS_OF_ONE, COMMITS_OF_TEN = 12_000, 3000
Cpu = Callable[[Sequence[str | Path], Path], float]
# As many at once as a run scans.
AT_ONCE = 2


def history(folder: Path, commits: int, seed: int) -> Path:
    """A repository of so many commits, each of which changes a file of its own history; some plant a token."""
    rng = random.Random(seed)  # noqa: S311 - a repeatable repository, no secret of anybody
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)  # noqa: S607 - git is on PATH
    stream = []
    for number in range(commits):
        lines = [f"{rng.randrange(10**9)} of {number} in a line of text" for _ in range(40)]
        if number % 100 == 0:
            lines[7] = "TOKEN=ghp_" + "".join(rng.choices(string.ascii_letters + string.digits, k=36))
        text = "\n".join([*lines, ""])
        stream.append(
            f"commit refs/heads/main\ncommitter A <a@example.com> {1_700_000_000 + number} +0000\ndata 1\nc\n"
            f"M 644 inline src/{rng.randrange(300)}.py\ndata {len(text)}\n{text}\n"
        )
    subprocess.run(
        ["git", "-C", folder, "fast-import", "--quiet"],  # noqa: S607 - the same
        input="".join(stream).encode(),
        check=True,
    )
    return folder


def real(folder: Path, cpu: Cpu) -> None:
    """One repository by one candidate: 1.2 x the bare scan and 1 s; ten by three: 1.3 x, two at a time."""
    binaries = [str(installed_binary(version, print)[0]) for version in VERSIONS]
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--gitleaks-eval", "--rootdir", folder]
    pytest += ["--gitleaks-config=builtin", "--gitleaks-only=repos"]

    def bare(binary: str, path: Path) -> float:
        report = folder / f"{Path(binary).name}-{path.name}.json"
        return cpu([binary, "detect", f"--source={path}", "--exit-code=0", "-r", report], folder)

    def ours(versions: Sequence[str], paths: Sequence[Path]) -> float:
        named = [f"--gitleaks-version={version}" for version in versions]
        return cpu([*pytest, *named, *(f"--gitleaks-real-repo={path}" for path in paths)], folder)

    one = history(folder / "one", COMMITS_OF_ONE, 0)
    start = cpu([*pytest, "--co", f"--gitleaks-version={VERSIONS[-1]}", f"--gitleaks-real-repo={one}"], folder)
    scan, scan_clock = timed(lambda: bare(binaries[-1], one))
    run, run_clock = timed(lambda: ours(VERSIONS[-1:], [one]))
    print(
        f"real: {COMMITS_OF_ONE} commits {run_clock:.1f} s, bare {scan_clock:.1f}; "
        f"ratio {run_clock / (1.2 * scan_clock + 1):.2f} of 1.2 x bare + 1 s (promised: <= 1); "
        f"of CPU {run:.1f} s ({start:.1f} of them to start), bare {scan:.1f}, ratio {run / (1.2 * scan + 1):.2f}"
    )
    ten = [history(folder / f"ten-{number}", COMMITS_OF_TEN, number) for number in range(10)]
    scans = [(binary, path) for binary in binaries for path in ten]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        _, scan_clock = timed(lambda: sum(threads.map(lambda scan: bare(*scan), scans)))
    _, run_clock = timed(lambda: ours(VERSIONS, ten))
    print(
        f"real: ten x three {run_clock:.1f} s, bare {scan_clock:.1f}; ratio {run_clock / scan_clock:.2f} "
        "(promised: <= 1.3)"
    )


def timed(measure: Callable[[], float]) -> tuple[float, float]:
    """The CPU time of a measure, and how long it took, in seconds."""
    started = time.perf_counter()
    return measure(), time.perf_counter() - started
