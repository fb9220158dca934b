"""Whether tests notice faults: a seeded sample of mutants of the source, each held against the tests nearest to it.

`nox -s mutants -- [NUMBER] [SEED]` prints the share of mutants that a test notices, and those that none does. All
happens in copies of the checkout with a home and a cache of their own: a mutant may write and remove what it likes.
Of the tests of units, those files are run that execute the line, which one run of all of them shows first (it takes
minutes); tests with scanners and of whole runs are held only against what those leave. A test file is run until its
first failure, in a process forked from one that has imported pytest.
"""

import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType

from platformdirs import user_cache_path

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT / "tests/support"))
from executed import NOTED, SOURCE  # noqa: E402 - beside this
from forks import Forks  # noqa: E402 - of the tests

Executing = Callable[["Mutant"], set[Path]]

NUMBER, SEED = 60, 10
LEAST_SHARE = 0.95
LANES = 2
# So many test files of units, which take a second each, and so many others.
NEAREST_UNITS, NEAREST = 12, 6
LONGEST_SECONDS, LONGEST_SECONDS_OF_UNITS = 300, 100
PACKAGE = "gitleaks_eval"
# What nobody can notice, and why: by file name, the line as it stands there, and what the mutant makes of a part of it.
_BOUND = "a bound that nothing comes near: one more is as good"
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("making.py", "CHARACTERS_AT_MOST = 20_000", "20001"): _BOUND,
    ("places_repository.py", "_WHEN = datetime(2026, 1, 1, 9, tzinfo=timezone.utc)", "10"): (
        "the hour at which a commit of ours was made"
    ),
    (
        "folder.py",
        "_LOCK_SECONDS = 60",
        "61",
    ): "how long another run may hold a lock; a test would wait a minute",
    (
        "places_hiding.py",
        "width = next(width for width in range(2, 99) if comb(width, width // 2) >= len(candidates))",
        "3",
    ): "one more bit in codes that are told apart with two",
    (
        "silencing.py",
        "is_many = len(self.entries) > FORESEEN_AT_MOST",
        "len(self.entries) >= FORESEEN_AT_MOST",
    ): "both ways of asking have the same answer, and at the bound the same cost",
    ("firing.py", "RULES_AT_MOST = 6_000", "6001"): _BOUND,
    ("store.py", "LARGEST = 1_000_000", "1000001"): _BOUND,
    ("html_views.py", "at_most = max(1, CELLS_AT_MOST // max(1, len(checks)))", "2"): (
        "the rows of a page with more than 20000 checks, or of one check in more than 20000 scenarios"
    ),
    (
        "faults.py",
        'Fault("every line far off", (_move(40),), {DA: (1, "no location is right")}, 30, frozenset({FP, SC, SV})),',
        "41",
    ): "a line that is 40 away from the secret is as wrong as one that is 41 away",
    (
        "faults.py",
        'return {"File": path, "RuleID": rule_id, "StartLine": line, "Commit": "1" * 40, "Secret": value}',
        "41",
    ): "the id of the one commit of a made-up report, which only names it",
    (
        "panel.py",
        "alpha=krippendorff_alpha(units) if len(settings.models) > 1 else None,",
        "len(settings.models) >= 1",
    ): "the agreement of one model with itself is None either way: there are no pairs",
}
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


# --- mutants


@dataclass(frozen=True)
class Mutant:
    """A fault in a source file: the `index`-th of it, the line, what stands there and what it becomes."""

    path: Path
    index: int
    line: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        """For people, in a line."""
        return f"{self.path.relative_to('src', PACKAGE)}:{self.line}  {self.before}  ->  {self.after}"

    @property
    def equivalent(self) -> str | None:
        """Why nobody can notice it, where that is known."""
        if self.before == self.after:
            return "it says the same"
        lines = (CHECKOUT / self.path).read_text(encoding="utf-8").splitlines()
        return EQUIVALENT.get((self.path.name, lines[self.line - 1].strip(), self.after))


@dataclass(frozen=True)
class Place:
    """Where a node stands in a tree: a field of its parent, or an entry of it."""

    parent: ast.AST
    name: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        """Let this node stand here."""
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


def _places(parent: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    """Each node below that does something; types, decorators and assertions say something."""
    for name, value in ast.iter_fields(parent):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.Assert) and not _is_for_tools(node):
                yield Place(parent, name, index), node
                yield from _places(node)


def _is_for_tools(node: ast.AST) -> bool:
    """Whether this is for type checkers, or for a module that is run."""
    names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)} if isinstance(node, ast.If) else set()
    return bool(names & {"TYPE_CHECKING", "__name__"})


def _faults(tree: ast.Module) -> list[tuple[Place, ast.AST, ast.AST]]:
    """Each place that may be faulty, with what stands there and what may stand there instead."""
    return [(place, node, fault) for place, node in _places(tree) for fault in _faulty(place, node)]


def _faulty(place: Place, node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=[op, *others]):
            yield ast.Compare(node.left, [_FLIPPED[type(op)](), *others], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int(number)):
            yield ast.Constant(number + 1)
        case ast.expr() if place.name in {"test", "ifs"}:
            yield ast.UnaryOp(ast.Not(), node)
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, which is named from the checkout on."""
    faults = _faults(ast.parse((CHECKOUT / path).read_text(encoding="utf-8")))
    return [
        Mutant(path, index, getattr(node, "lineno", 0), getattr(node, "end_lineno", 0), _text(node), _text(fault))
        for index, (_, node, fault) in enumerate(faults)
    ]


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:100]


def mutated(source: bytes, index: int) -> str:
    """A source with one of its faults."""
    tree = ast.parse(source)
    place, _, fault = _faults(tree)[index]
    place.put(fault)
    return ast.unparse(tree) + "\n"


# --- tests near to a module


def nearest_tests(files: list[Path]) -> Callable[[Path], list[Path]]:
    """What finds the tests of a source file: named like it, a few imports away, and with the most rare words of it."""
    imports = {path: _imported(path, files) for path in files}
    tests = [path for path in files if path.name.startswith("test_") and path.parts[0] == "tests"]
    steps = {test: _steps(test, imports) for test in tests}
    words = {path: set(re.findall(r"[a-z]{4,}", _source(path).lower())) for path in files}
    known = Counter(word for test in tests for word in words[test])

    def nearest(source: Path) -> list[Path]:
        names = {source.stem.removeprefix("test_"), source.parent.name} - {PACKAGE, "__init__"}

        def distance(test: Path) -> tuple[int, int, float]:
            unlike = sum(name not in str(test) for name in names)
            kinship = sum(1 / known[word] for word in words[test] & words[source])
            return unlike, steps[test][source], -kinship

        return sorted((test for test in tests if source in steps[test]), key=distance)

    return nearest


def _source(path: Path) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def _imported(path: Path, files: list[Path]) -> set[Path]:
    """The files of the project that a file imports, or names in a text; a package stands for all in it."""
    text = _source(path)
    names = set(re.findall(rf"{PACKAGE}(?:\.\w+)+", text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    # A run under test begins with the plugin, which collects the tests that ship.
    runs = "pytester" in text
    names |= {f"{PACKAGE}.plugin"} if runs else set()
    collected = {file for file in files if runs and file.parts[0] == "src" and file.name.startswith("test_")}
    return collected | {file for file in files if any(_is_called(file, name) for name in names)} - {path}


def _is_called(file: Path, name: str) -> bool:
    dotted = "." + ".".join(file.with_suffix("").parts)
    package = dotted.rpartition(".")[0]
    return dotted.endswith(f".{name}") or (name != PACKAGE and package.endswith(f".{name}"))


def _steps(start: Path, imports: dict[Path, set[Path]]) -> dict[Path, int]:
    steps, edge = {start: 0}, [start]
    while edge:
        edge = sorted({file for path in edge for file in imports[path]} - steps.keys())
        steps |= dict.fromkeys(edge, max(steps.values()) + 1)
    return steps


# --- the run


@dataclass
class Lane:
    """A copy of the checkout in which one mutant at a time is tried, by runs that are forked."""

    folder: Path
    forks: Forks
    # Tests that fail without a mutant.
    broken: set[str] = field(default_factory=set)

    def notices(self, mutant: Mutant, tests: Iterable[Path]) -> str | None:
        """The first test in these files that fails with the mutant, twice, and passes without it."""
        return next(filter(None, (self._notices(mutant, test) for test in tests)), None)

    def _notices(self, mutant: Mutant, test: Path) -> str | None:
        place = self.folder / mutant.path
        source = place.read_bytes()
        while True:
            others = [f"--deselect={name}" for name in sorted(self.broken)]
            try:
                place.write_text(mutated(source, mutant.index), encoding="utf-8")
                # What fails once may have been in want of time.
                fails = not self._passes(test, *others) and not self._passes(test, "--lf", *others)
            finally:
                place.write_bytes(source)
            if not fails:
                return None
            failed = self._failed()
            if self._passes(test, "--lf", *others):
                return failed[0] if failed else f"{test} (it does not end)"
            print(f"left out: {failed[0] if failed else test} fails without a mutant", flush=True)
            if self.broken.issuperset(failed):
                return None
            self.broken |= {*failed}

    def executing(self) -> Executing:
        """What finds the test files of units that execute a mutated line; what an import executes has none."""
        noted = self.folder.parent / "executed"
        watched = {SOURCE: str(self.folder / "src" / PACKAGE), NOTED: str(noted)}
        # Some tests measure time, which this takes.
        self._passes(Path("tests/unit"), "-p", "executed", "--maxfail=1000000", seconds=1800, more=watched)
        lines = json.loads(noted.read_bytes())

        def found(mutant: Mutant) -> set[Path]:
            of_file = lines.get(str(mutant.path.relative_to("src", PACKAGE)), {})
            numbers = range(mutant.line, mutant.end + 1)
            return {Path(test) for number in numbers for test in of_file.get(str(number), [])}

        return found

    def _passes(
        self, test: Path, *options: str, seconds: float | None = None, more: Mapping[str, str] = MappingProxyType({})
    ) -> bool:
        """Whether a file passes; with `--lf` what failed in the run before, or all of what did not end."""
        cache = self.folder.parent / "failed"
        if "--lf" not in options:
            shutil.rmtree(cache, ignore_errors=True)
        seconds = seconds or (LONGEST_SECONDS_OF_UNITS if test.parts[1] == "unit" else LONGEST_SECONDS)
        home = self.folder.parent / "home"
        paths = [str(self.folder / name) for name in ("src", "tests/support", "benchmarks")]
        environment = {
            **os.environ,
            **more,
            "PYTHONPATH": os.pathsep.join(paths),
            # A mutant must not be taken for the file that stood there in the same second.
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "TMPDIR": str(home / "tmp"),
        }
        always = [
            "-q",
            "-x",
            "-o",
            f"cache_dir={cache}",
            "-m",
            "not install and not live",
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


def judge(mutant: Mutant, tests: Iterable[Path], lanes: "SimpleQueue[Lane]") -> bool:
    """Whether a mutant survives these tests."""
    lane = lanes.get()
    try:
        by = lane.notices(mutant, tests)
    finally:
        lanes.put(lane)
    if by:
        print(f"noticed  {mutant}  by {by}", flush=True)
    return not by


def chosen_tests(nearest: list[Path], executing: set[Path], *, of_units: bool) -> list[Path]:
    """The files to try, the nearest first; of those of units the ones that execute the mutant, where any does."""
    if not of_units:
        return [test for test in nearest if test.parts[1] != "unit"][:NEAREST]
    units = [test for test in nearest if test.parts[1] == "unit"]
    return ([test for test in units if test in executing] or units)[:NEAREST_UNITS]


def survivors_of(mutants: list[Mutant], nearest: Callable[[Path], list[Path]], folder: Path) -> list[Mutant]:
    """What no test notices: tests of units take a second and see all, others take minutes and see what they left."""
    with ThreadPoolExecutor(LANES) as threads:
        lanes: SimpleQueue[Lane] = SimpleQueue()
        made = [laned(folder / str(index)) for index in range(LANES)]
        executing = made[0].executing()
        for lane in made:
            lanes.put(lane)
        for of_units in (True, False):
            chosen = [chosen_tests(nearest(one.path), executing(one), of_units=of_units) for one in mutants]
            survives = threads.map(lambda one, tests: judge(one, tests, lanes), mutants, chosen)
            mutants = list(compress(mutants, survives))
            print(f"left: {len(mutants)}", flush=True)
    return mutants


def main(number: int = NUMBER, seed: int = SEED) -> int:
    """Try so many mutants; 1 when fewer are noticed than should be."""
    files = sorted(
        path.relative_to(CHECKOUT) for folder in ("src", "tests") for path in (CHECKOUT / folder).rglob("*.py")
    )
    every = [mutant for path in files if path.parts[0] == "src" for mutant in mutants_of(path)]
    sample = sorted(random.Random(seed).sample(every, min(number, len(every))), key=lambda one: (one.path, one.index))  # noqa: S311 - a sample, not a secret
    nearest = nearest_tests(files)
    print(f"{len(sample)} of {len(every)} mutants, seed {seed}", flush=True)
    equivalent = [one for one in sample if one.equivalent]
    judged = [one for one in sample if not one.equivalent]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        survivors = survivors_of(judged, nearest, Path(folder))
    share = 1 - len(survivors) / len(judged) if judged else 1.0
    print("".join(f"equivalent  {one}: {one.equivalent}\n" for one in equivalent), end="")
    print("".join(f"SURVIVED  {one}\n" for one in survivors), end="")
    print(f"{len(judged) - len(survivors)} of {len(judged)} noticed ({share:.1%})")
    return 0 if share >= LEAST_SHARE else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A shell that starts this in the background ignores it, and tests of Ctrl-C would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(*map(int, sys.argv[1:])))
