"""What speed is promised, measured as whole processes in turn and printed as ratios: `nox -s bench`."""

import itertools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from real import real

from gitleaks_eval.analysis.matching import match_findings
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.coverage.configuration.effective_config import effective_config_of
from gitleaks_eval.coverage.configuration.layers import Layer, write_layers
from gitleaks_eval.coverage.places.places import usual_places
from gitleaks_eval.coverage.places.scan import ground
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.repository import build_samples
from gitleaks_eval.coverage.samples.samples import bench, samples_or_reason
from gitleaks_eval.scanners.build import PINNED_VERSION, probe
from gitleaks_eval.scanners.canary import build_canary, canary_secrets
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scenarios.pattern import generate
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding, load_scenarios
from gitleaks_eval.scenarios.secrets import secret_kinds
from gitleaks_eval.scoring.real_differences import RealFinding, changes, folded, still_reported

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
COMMAND = [sys.executable, "-m", "gitleaks_eval"]
COMMITTER = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
BINARY = str(installed_binary(PINNED_VERSION, print)[0])
# As users have it: compiled modules are kept.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
Run = tuple[float, int]


def measured(command: Sequence[str | Path], folder: Path, **environment: str) -> Run:
    """Wall time in seconds and peak memory in KiB of one process; it must end with status 0 or 1."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env={**ENVIRONMENT, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        sys.exit(f"{' '.join(map(str, command))} ended with status {process.returncode}")
    return seconds, usage.ru_maxrss


def in_turn(runs: int, *measures: Callable[[], Run]) -> list[Run]:
    """The median time and memory of each, after one warm-up; measured A B B A …, since the place has a share in it."""
    for measure in measures:
        measure()
    columns: list[list[Run]] = [[] for _ in measures]
    for number in range(runs):
        order = list(zip(measures, columns, strict=True))
        for measure, column in reversed(order) if number % 2 else order:
            column.append(measure())
    return [
        (statistics.median(run[0] for run in column), int(statistics.median(run[1] for run in column)))
        for column in columns
    ]


def cpu(command: Sequence[str | Path], folder: Path) -> float:
    """The CPU time of a process and its children, in seconds: on a busy machine it says more than the clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    measured(command, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def new_folders(folder: Path) -> Iterator[str]:
    """A cache for each run: what removes that of the run before is still at work on the disk when the next begins."""
    return (str(folder / f"cache-{number}") for number in itertools.count())


def inert(folder: Path) -> None:
    """Installed but not asked for, the plugin adds less than 10 ms to the start of pytest."""
    (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n", encoding="utf-8")
    without, installed = in_turn(
        20,
        lambda: measured([*PYTEST, "-p", "no:gitleaks_eval"], folder),
        lambda: measured(PYTEST, folder),
    )
    added, before = (installed[0] - without[0]) * 1000, without[0] * 1000
    ratio = installed[0] / without[0]
    print(f"inert: adds {added:.1f} ms to {before:.0f} ms; ratio {ratio:.3f} (promised: < 10 ms)")


def version(folder: Path) -> None:
    """The command says its version without loading pytest, 150 ms after a bare Python would have ended."""
    bare, command = in_turn(
        20,
        lambda: measured([sys.executable, "-c", ""], folder),
        lambda: measured([sys.executable, "-m", "gitleaks_eval", "--version"], folder),
    )
    added = (command[0] - bare[0]) * 1000
    print(f"version: adds {added:.0f} ms to {bare[0] * 1000:.0f} ms of bare Python (promised: <= 150 ms)")


def cold(folder: Path) -> None:
    """Nine scenarios built, scanned and checked, against as many empty tests and bare scans; `coverage` has the rest.

    Those are of the nine, and of the canary after each of them in which nothing is to be found.
    """
    empty_tests(folder, 39, 9)
    caches = new_folders(folder)
    repositories = folder / "repositories"
    subprocess.run(
        [sys.executable, "-m", "gitleaks_eval.repositories", repositories], check=True, stdout=subprocess.DEVNULL
    )
    scenarios = load_scenarios(["core"], folder)
    clean = [scenario for scenario in scenarios if not scenario.expected.total_secrets]
    canary = build_canary(folder / "canary", canary_secrets(())).path
    scanned = [*(repositories / scenario.name for scenario in scenarios), *[canary] * len(clean)]

    def evaluation() -> Run:
        command = [*PYTEST, "--gitleaks-eval", "--gitleaks-only=scenarios", f"--gitleaks-binary={BINARY}"]
        return measured([*command, "--rootdir", str(folder)], folder, XDG_CACHE_HOME=next(caches))

    def bare() -> Run:
        tests = measured([*PYTEST, "test_empty.py"], folder)
        scans = [
            measured([BINARY, "git", str(path), "--exit-code", "1", "-r", str(folder / "r.json")], folder)
            for path in scanned
        ]
        return tests[0] + sum(scan[0] for scan in scans), tests[1]

    whole, parts = in_turn(7, evaluation, bare)
    print(f"cold: {whole[0]:.2f} s against {parts[0]:.2f} s; ratio {whole[0] / parts[0]:.2f} (promised: <= 1.5)")


def coverage(folder: Path) -> None:
    """Rules and places, and a whole run, against as many empty tests and the bare scans that they need.

    Those are of the samples with the configuration and with what was read from the program, of the places, of the
    nine, and of the canary after each of them in which nothing is to be found. Repositories are cached.
    """
    build = probe(Path(BINARY), "the benchmark")
    subject = effective_config_of(Configuration((), "the scanner's own"), build)
    rules = subject.effective.rules
    on = bench(rules, subject.effective.allowlists, subject.seed)
    made = [samples_or_reason(rule, on, [word(number)]) for number, rule in enumerate(rules)]
    samples = build_samples(
        folder / "samples", [one for some in made if not isinstance(some, str) for one in some], "0"
    )
    own = write_layers((Layer(None, subject.builtin),), folder)
    places = ground("git", "0").repository.path
    repositories = folder / "repositories"
    subprocess.run(
        [sys.executable, "-m", "gitleaks_eval.repositories", repositories], check=True, stdout=subprocess.DEVNULL
    )
    scenarios = load_scenarios(["core"], folder)
    clean = [scenario for scenario in scenarios if not scenario.expected.total_secrets]
    canary = build_canary(folder / "canary", canary_secrets(())).path
    asked = sum(not place.is_large and not place.is_dropped for place in usual_places())
    surveyed = [(samples.path, None), (samples.path, own), (places, None)]
    whole = [*surveyed, *((repositories / one.name, None) for one in scenarios), *[(canary, None)] * len(clean)]

    def evaluation(*options: str) -> Run:
        command = [*PYTEST, "--gitleaks-eval", f"--gitleaks-binary={BINARY}", "--gitleaks-config=builtin", *options]
        return measured(command, folder)

    def bare(tests: int, scanned: Sequence[tuple[Path, Path | None]]) -> Run:
        empty_tests(folder, 1, tests)
        empty = measured([*PYTEST, "test_empty.py"], folder)
        scans = [
            measured(
                [BINARY, "git", path, "--exit-code", "1", "-r", folder / "r.json", *(["-c", config] if config else [])],
                folder,
            )
            for path, config in scanned
        ]
        return empty[0] + sum(scan[0] for scan in scans), empty[1]

    beside = "--gitleaks-only=rules,places"
    tests = len(rules) + asked
    for name, options, floor in (
        ("rules and places", [beside], (tests, surveyed)),
        ("a whole run", [], (tests + 39 * len(scenarios), whole)),
    ):
        ours, parts = in_turn(5, lambda: evaluation(*options), lambda: bare(*floor))  # noqa: B023 - it is called here
        ratio = ours[0] / parts[0]
        print(f"coverage: {name} {ours[0]:.2f} s against {parts[0]:.2f} s; ratio {ratio:.2f} (promised: <= 1.5)")


def candidates(folder: Path) -> None:
    """Three candidates compared on the nine scenarios, against three times one of them, each with a cold cache."""
    caches = new_folders(folder)
    tables = "".join(f"[tool.gitleaks-eval.candidates.{name}]\nbinary = '{BINARY}'\n" for name in "abc")
    (folder / "pyproject.toml").write_text(tables, encoding="utf-8")

    def evaluation(*options: str) -> Run:
        return measured([*PYTEST, "--gitleaks-eval", *options], folder, XDG_CACHE_HOME=next(caches))

    three, one = in_turn(5, lambda: evaluation("--gitleaks-compare"), lambda: evaluation(f"--gitleaks-binary={BINARY}"))
    print(f"candidates: {three[0]:.2f} s against {one[0]:.2f} s; ratio {three[0] / one[0]:.2f} (promised: <= 3)")


def matching(_: Path) -> None:
    """100,000 expected against as many reported findings, a tenth moved and a tenth unexpected; and half of that."""

    def seconds(number: int) -> float:
        findings = tuple(ExpectedFinding(f"{index % 1000}.py", "rule", index * 10) for index in range(number))
        expected = Expected(number, None, None, 0, 0, None, findings=findings)
        reported = [
            {
                "file_path": finding.file_path,
                "line_number": finding.line_number + (0, 2, 5)[index % 10 if index % 10 < 3 else 0],
                "rule_id": finding.rule_id,
            }
            for index, finding in enumerate(findings)
        ]
        started = time.perf_counter()
        match_findings(expected, reported)
        return time.perf_counter() - started

    rounds = [(seconds(100_000), seconds(50_000)) for _ in range(5)]
    whole, half = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"matching: 100,000 in {whole:.2f} s; ratio {whole / 2:.2f} of 2 s (promised: < 1)")
    print(f"matching: ratio {whole / half:.2f} of the time for 50,000 (promised: linear, 2)")


def real_differences(_: Path) -> None:
    """Comparing 100,000 findings of a real repository with 100,000 takes at most 3 s."""
    findings = [
        RealFinding(
            f"c{n % 5000}", f"{n % 900}.env", f"{n % 900}", n % 70, f"r{n % 40}", f"v{n % 60_000}", "HIGH", n % 3 == 0
        )
        for n in range(100_000)
    ]
    others = [one._replace(rule_id="r99") if n % 3 else one._replace(value=f"w{n}") for n, one in enumerate(findings)]
    started = time.perf_counter()
    same, found = changes(findings, others)
    rows = folded(found, still_reported(found, findings, others))
    seconds = time.perf_counter() - started
    print(f"real differences: {len(same)} the same, {len(rows)} secrets differ: {seconds:.2f} s (at most 3)")


def many(folder: Path) -> None:
    """A thousand analyses that exist, 39,000 checks, against as many empty parametrized tests."""
    scenarios, analyses = folder / "scenarios", folder / "analyses"
    scenarios.mkdir()
    output = folder / "nine"
    command = [*PYTEST, "--gitleaks-eval", f"--gitleaks-binary={BINARY}", f"--gitleaks-output={output}"]
    measured(command, folder)
    analyses.mkdir()
    truths = sorted(shipped_data("ground_truth").glob("*.json"))
    for number in range(1000):
        truth = truths[number % len(truths)]
        shutil.copy(truth, scenarios / f"scenario-{number:04}.json")
        shutil.copy(output / "analysis" / truth.name, analyses / f"scenario-{number:04}.json")
    empty_tests(folder, 39, 1000)
    evaluation = [
        *PYTEST,
        "--gitleaks-eval",
        f"--gitleaks-scenarios={scenarios}",
        f"--gitleaks-analysis={analyses}",
    ]
    ours, empty = in_turn(1, lambda: measured(evaluation, folder), lambda: measured([*PYTEST, "test_empty.py"], folder))
    kib = (ours[1] - empty[1]) / 39_000
    print(f"many: {ours[0]:.1f} s against {empty[0]:.1f} s; ratio {ours[0] / empty[0]:.2f} (promised: <= 2)")
    print(f"many: {kib:.2f} KiB a check beyond pytest's own (promised: < 3)")


def repositories(folder: Path) -> None:
    """Many small repositories with two candidates take at most 1.3 times their bare clones and scans, as many at once.

    GITLEAKS_EVAL_BENCH_REPOSITORIES says how many; 1,000 are promised.
    """
    count, cores = int(os.environ.get("GITLEAKS_EVAL_BENCH_REPOSITORIES", "1000")), os.cpu_count() or 1
    clones, bare = folder / "clones", folder / "bare"
    for number in range(count):
        path = clones / f"repository-{number}"
        path.mkdir(parents=True)
        # Something is found: after an empty report the canary is scanned once more.
        values = [generate(secret_kinds()["github-pat"].pattern, f"{number} {line}") for line in range(20)]
        (path / "a.txt").write_text("".join(f"{value}\n" for value in values), encoding="ascii")
        for command in (["init", "-q"], ["add", "."], [*COMMITTER, "commit", "-q", "-m", "one"]):
            subprocess.run(["git", *command], cwd=path, check=True, env=ENVIRONMENT)  # noqa: S607 - git is on PATH
    for name in ("base", "head"):
        text = f"# {name}\n[extend]\nuseDefault = true\n"
        (folder / f"{name}.toml").write_text(text, encoding="ascii")
    line = [*COMMAND, "compare", "--repo", clones, "--binary", BINARY, "--config", "base.toml", "--config", "head.toml"]
    outputs = iter(range(100))

    def scan(path: Path) -> None:
        git = ["git", "clone", "-q", "--mirror", "--no-local", path, bare / path.name]
        subprocess.run(git, check=True, env=ENVIRONMENT)
        for name in ("base.toml", "head.toml"):
            options = ["--no-banner", "--exit-code=0", f"--report-path={bare / path.name}.json", "--report-format=json"]
            command = [BINARY, "git", bare / path.name, f"--config={folder / name}", *options]
            subprocess.run(command, check=True, env=ENVIRONMENT, stderr=subprocess.DEVNULL)

    def bare_scans() -> Run:
        started = time.perf_counter()
        with ThreadPoolExecutor(cores) as threads:
            list(threads.map(scan, clones.iterdir()))
        shutil.rmtree(bare)
        return time.perf_counter() - started, 0

    ours, theirs = in_turn(1, lambda: measured([*line, "--output", f"out-{next(outputs)}"], folder), bare_scans)
    print(
        f"repositories: {count} with two candidates in {ours[0]:.1f} s, bare {theirs[0]:.1f} s; "
        f"ratio {ours[0] / theirs[0]:.2f} (promised: <= 1.3); "
        f"{(ours[0] - theirs[0]) * cores / count * 1000:.0f} ms a unit more; coordinator {ours[1] >> 10} MiB"
    )


def large(folder: Path) -> None:
    """An analysis with 200,000 findings, against the time that json.loads needs for it."""
    scenarios, analyses = folder / "scenarios", folder / "analyses"
    scenarios.mkdir()
    analyses.mkdir()
    output = folder / "nine"
    measured([*PYTEST, "--gitleaks-eval", f"--gitleaks-binary={BINARY}", f"--gitleaks-output={output}"], folder)
    document = json.loads((output / "analysis" / "api-keys.json").read_text(encoding="utf-8"))
    template = document["data"]["findings"][0]
    document["data"]["findings"] += [
        {**template, "file_path": f"generated/{number % 1000}/file.py", "line_number": number}
        for number in range(200_000)
    ]
    text = json.dumps(document, indent=1)
    (analyses / "api-keys.json").write_text(text, encoding="utf-8")
    shutil.copy(shipped_data("ground_truth") / "api-keys.json", scenarios)

    def parse() -> Run:
        started = time.perf_counter()
        json.loads(text)
        return time.perf_counter() - started, 0

    evaluation, parsed = in_turn(
        5,
        lambda: measured(
            [*PYTEST, "--gitleaks-eval", f"--gitleaks-scenarios={scenarios}", f"--gitleaks-analysis={analyses}"],
            folder,
        ),
        parse,
    )
    bound = 3 * parsed[0] + 1
    print(
        f"large: {evaluation[0]:.2f} s for {len(text) >> 20} MiB, json.loads alone {parsed[0]:.2f} s; "
        f"ratio {evaluation[0] / bound:.2f} of 3 x json.loads + 1 s (promised: <= 1)"
    )


def empty_tests(folder: Path, tests: int, parameters: int) -> None:
    """A module of empty tests, each with as many parameters as there are scenarios."""
    lines = ["import pytest", "", f"each = pytest.mark.parametrize('scenario', range({parameters}))", ""]
    for number in range(tests):
        lines += ["@each", f"def test_{number}(scenario):", "    pass", ""]
    (folder / "test_empty.py").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Measure what is named, else everything."""
    benchmarks = {
        "inert": inert,
        "version": version,
        "cold": cold,
        "coverage": coverage,
        "candidates": candidates,
        "matching": matching,
        "many": many,
        "large": large,
        "real_differences": real_differences,
        "real": lambda folder: real(folder, cpu),
        "repositories": repositories,
    }
    for name in sys.argv[1:] or benchmarks:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            (Path(folder) / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
            benchmarks[name](Path(folder))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
