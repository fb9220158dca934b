"""Whether tests notice faults: a seeded sample of mutants of the source, each held against the tests that execute it.

`nox -s mutants -- [NUMBER] [SEED]` prints the share of mutants that a test notices, and those that none does. All
happens in copies of the checkout with a home and a cache of their own: a mutant may write and remove what it likes.
First each test file is run once, with probes in the source that note which mutants it would execute, in runs under test
and other processes, too. This takes as long as all tests, and is remembered while the source and the file stay as they
are. Then those files are run with the mutant until the first failure, those of units first. For what an import
executes, the nearest files are run. Other changes of the source leave the sample as it is.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from platformdirs import user_cache_path

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT / "tests/support"))
from faults import Mutant, mutants_of, mutated, probed, sampled  # noqa: E402 - beside this
from forks import Forks  # noqa: E402 - of the tests
from nearest import nearest_tests  # noqa: E402 - beside this

One = TypeVar("One")
Result = TypeVar("Result")

NUMBER, SEED = 60, 10
LEAST_SHARE = 0.95
LANES = 2
# So many test files are tried.
UNITS_AT_MOST, OTHERS_AT_MOST = 12, 12
# A file is given up after so many seconds and so many times what it takes; when nobody knows that yet, later.
PATIENCE_SECONDS, PATIENCE, FIRST_SECONDS = 60, 4, 900
LONG_AGO = 1_000_000_000
# They need a network or a browser.
NOT_RUN = {"install", "browser"}
# What a test file executed is kept here; it depends on these.
KEPT = CHECKOUT / ".nox/executed"
WHAT_TESTS_EXECUTE = ("src", "ground_truth", "synthetic_repos", "tests/support", "conftest.py")


@dataclass
class Lane:
    """A copy of the checkout in which one mutant at a time is tried, by runs that are forked."""

    folder: Path
    forks: Forks
    # Tests that fail without a mutant.
    broken: set[str] = field(default_factory=set)
    # How long each test file takes.
    seconds: dict[Path, float] = field(default_factory=dict)
    written: int = 0

    def notices(self, mutant: Mutant, tests: Iterable[Path]) -> str | None:
        """The first test in these files that fails with the mutant, twice, and passes without it."""
        return next(filter(None, (self._notices(mutant, test) for test in tests)), None)

    def _notices(self, mutant: Mutant, test: Path) -> str | None:
        place = self.folder / mutant.path
        source = place.read_bytes()
        while True:
            others = [f"--deselect={name}" for name in sorted(self.broken)]
            try:
                self._write(place, mutated(source, mutant.index))
                # What fails once may have been in want of time.
                fails = not self._passes(test, *others) and not self._passes(test, "--lf", *others)
            finally:
                self._write(place, source.decode())
            if not fails:
                return None
            failed = self._failed()
            if self._passes(test, "--lf", *others):
                return failed[0] if failed else f"{test} (it does not end)"
            print(f"left out: {failed[0] if failed else test} fails without a mutant", flush=True)
            if self.broken.issuperset(failed):
                return None
            self.broken |= {*failed}

    def executed_by(self, test: Path, known: Path) -> set[str]:
        """The names of the mutants whose probes a test file executes; they are in the file `known`, or put there."""
        if not known.exists():
            noted = self.folder.parent / "noted"
            shutil.rmtree(noted, ignore_errors=True)
            noted.mkdir()
            start = time.monotonic()
            self._passes(test, "--maxfail=1000000")
            found = [time.monotonic() - start, sorted(path.name for path in noted.iterdir())]
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text(json.dumps(found), encoding="utf-8")
        self.seconds[test], names = json.loads(known.read_bytes())
        return set(names)

    @contextmanager
    def probes(self, mutants: Iterable[Mutant]) -> Iterator[None]:
        """Have probes for these in the copy."""
        names: dict[Path, dict[int, str]] = {}
        for mutant in mutants:
            names.setdefault(self.folder / mutant.path, {})[mutant.index] = mutant.name
        sources = {path: path.read_bytes() for path in names}
        for path, source in sources.items():
            self._write(path, probed(source, names[path], self.folder.parent / "noted"))
        yield
        for path, source in sources.items():
            self._write(path, source.decode())

    def _write(self, path: Path, text: str) -> None:
        """Write it with a time of its own: by the second of that, Python knows what is compiled."""
        path.write_text(text, encoding="utf-8")
        self.written += 1
        os.utime(path, (LONG_AGO + self.written,) * 2)

    def _passes(self, test: Path, *options: str) -> bool:
        """Whether a file passes; with `--lf` what failed in the run before, or all of what did not end."""
        cache = self.folder.parent / "failed"
        if "--lf" not in options:
            shutil.rmtree(cache, ignore_errors=True)
        taken = self.seconds.get(test)
        seconds = FIRST_SECONDS if taken is None else PATIENCE_SECONDS + PATIENCE * taken
        home = self.folder.parent / "home"
        paths = [str(self.folder / name) for name in ("src", "tests/support")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            # All but one module are the same in each run.
            "PYTHONDONTWRITEBYTECODE": "",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "TMPDIR": str(home / "tmp"),
        }
        always = [
            "-q",
            "-x",
            "-o",
            f"cache_dir={cache}",
            # What is noticed once is noticed each time.
            "--hypothesis-profile=ci",
            "-m",
            "not install and not live and not browser",
            "--basetemp",
            str(home / "t"),
        ]
        command = [sys.executable, "-m", "pytest", *always, *options, str(test)]
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            run = self.forks.start(command, self.folder, environment, nowhere, nowhere)
            try:
                return run.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:
                run.kill()
                run.wait()

    def _failed(self) -> list[str]:
        listed = self.folder.parent / "failed/v/cache/lastfailed"
        return list(json.loads(listed.read_bytes())) if listed.exists() else []


def laned(folder: Path) -> Lane:
    """A copy of what git knows of the checkout, and of the scanners that are installed."""
    command = ["git", "ls-files", "-zco", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (CHECKOUT / name).is_file():
            (folder / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, folder / "copy" / name)
    (folder / "home/tmp").mkdir(parents=True)
    scanners = user_cache_path("gitleaks-eval", appauthor=False)
    if scanners.is_dir():
        shutil.copytree(scanners, folder / "home/.cache/gitleaks-eval")
    return Lane(folder / "copy", Forks())


def in_lanes(lanes: "SimpleQueue[Lane]", work: Callable[[Lane, One], Result], over: Sequence[One]) -> list[Result]:
    """What this work gives for each, each in the next lane that is free."""

    def one(item: One) -> Result:
        lane = lanes.get()
        try:
            return work(lane, item)
        finally:
            lanes.put(lane)

    with ThreadPoolExecutor(LANES) as threads:
        return list(threads.map(one, over))


def _digest(names: list[str]) -> str:
    """Of these probes, and of all that tests execute."""
    found = hashlib.sha256(repr(names).encode())
    for name in WHAT_TESTS_EXECUTE:
        for path in sorted([CHECKOUT / name, *(CHECKOUT / name).rglob("*")]):
            if path.is_file() and path.suffix != ".pyc":
                found.update(repr((path.relative_to(CHECKOUT).as_posix(), path.read_bytes())).encode())
    return found.hexdigest()


@dataclass(frozen=True)
class Held:
    """A mutant, the test files that are tried, how many would be worth it, and the test that notices it."""

    mutant: Mutant
    tried: list[Path]
    possible: int
    by: str | None = None

    def __str__(self) -> str:
        """For people, in a line."""
        if self.by:
            return f"noticed  {self.mutant}  by {self.by}"
        which = "execute it" if self.mutant.is_in_function else "are near"
        return f"SURVIVED  {self.mutant}  held against {len(self.tried)} of {self.possible} test files that {which}"


def chosen_tests(mutant: Mutant, nearest: Sequence[Path], executing: set[Path], seconds: Mapping[Path, float]) -> Held:
    """The files to try: some of units, the nearest first, and all others that execute the mutant.

    Of those the nearest and the quickest take turns. Of what an import executes, some of the nearest.
    """
    worth = executing if mutant.is_in_function else set(nearest)
    ordered = sorted(worth, key=lambda test: (nearest.index(test) if test in nearest else len(nearest), test))
    units = [test for test in ordered if test.parts[1] == "unit"]
    others = [test for test in ordered if test not in units]
    if mutant.is_in_function:
        turns = zip(others, sorted(others, key=seconds.__getitem__), strict=True)
        others = list(dict.fromkeys(chain.from_iterable(turns)))
    else:
        others = others[:OTHERS_AT_MOST]
    return Held(mutant, [*units[:UNITS_AT_MOST], *others], len(ordered))


def held(mutants: list[Mutant], files: list[Path], folder: Path) -> list[Held]:
    """Hold each mutant against the tests, but for those that nobody can notice."""
    tests = [path for path in files if path.name.startswith("test_") and path.parts[0] == "tests"]
    tests = [path for path in tests if path.parts[1] not in NOT_RUN]
    nearest = nearest_tests(files)
    lanes: SimpleQueue[Lane] = SimpleQueue()
    made = [laned(folder / str(index)) for index in range(LANES)]
    for lane in made:
        lanes.put(lane)
    digest = _digest([one.name for one in mutants])

    def watch(lane: Lane, test: Path) -> set[str]:
        own = hashlib.sha256(digest.encode() + (lane.folder / test).read_bytes())
        return lane.executed_by(test, KEPT / f"{test.stem}-{own.hexdigest()[:16]}.json")

    # What takes long goes first: the lanes end together.
    tests.sort(key=lambda test: (test.parts[1] == "unit", test))
    with ExitStack() as probes:
        for lane in made:
            probes.enter_context(lane.probes(mutants))
        executed = dict(zip(tests, in_lanes(lanes, watch, tests), strict=True))
    seconds = {test: taken for lane in made for test, taken in lane.seconds.items()}
    print(f"{len(tests)} test files were watched; they take {sum(seconds.values()):.0f} s", flush=True)
    for lane in made:
        lane.seconds = seconds

    def notice(lane: Lane, mutant: Mutant) -> Held:
        executing = {test for test, names in executed.items() if mutant.name in names}
        chosen = chosen_tests(mutant, nearest(mutant.path), executing, seconds)
        result = replace(chosen, by=lane.notices(mutant, chosen.tried))
        print(result, flush=True)
        return result

    return in_lanes(lanes, notice, [one for one in mutants if not one.equivalent])


def main(number: int = NUMBER, seed: int = SEED) -> int:
    """Try so many mutants; 1 when fewer are noticed than should be."""
    files = sorted(
        path.relative_to(CHECKOUT) for folder in ("src", "tests") for path in (CHECKOUT / folder).rglob("*.py")
    )
    every = [mutant for path in files if path.parts[0] == "src" for mutant in mutants_of(path)]
    sample = sampled(every, number, seed)
    print(f"{len(sample)} of {len(every)} mutants, seed {seed}", flush=True)
    equivalent = [one for one in sample if one.equivalent]
    print("".join(f"equivalent  {one}: {one.equivalent}\n" for one in equivalent), end="", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        judged = held(sample, files, Path(folder))
    survivors = [one for one in judged if not one.by]
    share = 1 - len(survivors) / len(judged) if judged else 1.0
    print("".join(f"{one}\n" for one in survivors), end="")
    print(f"{len(judged) - len(survivors)} of {len(judged)} noticed ({share:.1%}), {len(equivalent)} equivalent")
    return 0 if share >= LEAST_SHARE else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A shell that starts this in the background ignores it, and tests of Ctrl-C would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(*map(int, sys.argv[1:])))
