"""Ten thousand repositories on 1, 10 and 100 workers, without any: the real loop, with a simulated executor.

What a unit takes is assumed, for small repositories near what was seen; what the coordinator does is done, and its own
time counts as it is. Prints a table: `python benchmarks/many_machines.py [REPOSITORIES]`.
"""

import heapq
import random
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from gitleaks_eval.engine.fleet import fleet as loop
from gitleaks_eval.engine.fleet.fleet import Fleet
from gitleaks_eval.engine.fleet.run import Counted
from gitleaks_eval.engine.fleet.store import Folder, Store
from gitleaks_eval.engine.fleet.unit import Compared, Pair, RepositoryUnit, UnitResult
from gitleaks_eval.reports.fleet.repository_rows import Spool, comparison_json
from gitleaks_eval.reports.fleet.shards import Question
from gitleaks_eval.repositories.listed import Listed
from gitleaks_eval.repositories.sources import CLONES_AT_ONCE
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.real_differences import LOST, RealComparison, RealDifference

NAMES = ("base", "one", "two")
PAIRS: tuple[Pair, ...] = ((NAMES[0], NAMES[1]), (NAMES[0], NAMES[2]))
# How often, the seconds of the clone, and the seconds of the rest with three candidates; large ones are assumed.
ASSUMED = ((0.90, 0.1, 0.9), (0.07, 0.1, 5.0), (0.025, 5.0, 60.0), (0.005, 30.0, 600.0))


class Simulated:
    """Workers that take simulated time: the clock goes to the end of the unit that is done next.

    At most `clones` clone at once, from the one host that all repositories have.
    """

    def __init__(self, width: int, clones: int) -> None:
        self.width = width
        self.clock = 0.0
        self.coordinating = 0.0
        self._gates = [0.0] * clones
        self._ends: list[tuple[float, int, Future[UnitResult], UnitResult]] = []
        self._random = random.Random(1)  # noqa: S311 - times, and no secret
        self._since = time.process_time()

    def submit(self, unit: RepositoryUnit) -> "Future[UnitResult]":
        """Begin a unit now, and know when it will end."""
        self._pass()
        _, clone, rest = self._random.choices(ASSUMED, [share for share, *_ in ASSUMED])[0]
        # It waits for its turn to clone.
        begins = max(self.clock, heapq.heappop(self._gates))
        heapq.heappush(self._gates, begins + clone)
        future: Future[UnitResult] = Future()
        heapq.heappush(self._ends, (begins + clone + rest, id(future), future, answer(unit)))
        return future

    def settle(self, _worker: str) -> None:
        """Nothing waits."""

    def watch(self) -> None:
        """Let the next unit end."""
        self._pass()
        if self._ends:
            ends, _, future, result = heapq.heappop(self._ends)
            self.clock = max(self.clock, ends)
            future.set_result(result)

    def close(self) -> None:
        """Nothing is left."""

    def _pass(self) -> None:
        now = time.process_time()
        self.coordinating += now - self._since
        self.clock += now - self._since
        self._since = now


def answer(unit: RepositoryUnit) -> UnitResult:
    """A repository in twenty differs."""
    name = unit.repository.name
    lost = RealDifference(LOST, "1" * 40, "a.env", 3, "github-pat", None, True, "hidden by x", 1)
    real = RealComparison(name, "1" * 40, 3, (lost,) * (int(name[1:]) % 20 == 0))
    return UnitResult(name, tuple(Compared(pair, comparison_json(real)) for pair in unit.pairs), masked_by=NAMES)


def simulate(count: int, width: int, clones: int) -> tuple[float, float]:
    """Hours until all are done, and milliseconds of the coordinator a unit."""
    workers = Simulated(width, clones)
    listed = [Listed(n, RealRepository(f"r{n}", f"/r{n}", f"/r{n}")) for n in range(count)]
    question = Question(count, "", "", tuple((name, name, name) for name in NAMES))
    with TemporaryDirectory() as folder, TemporaryFile() as file:
        store = Store(Folder(Path(folder)), {pair: list(pair) for pair in PAIRS})
        counted = Counted(question, Spool(file))
        for row in Fleet(listed, PAIRS, store, workers).rows():
            counted.add(row)
        counted.report({})
    return workers.clock / 3600, workers.coordinating / count * 1000


def main() -> None:
    """Print a row for each number of workers, with few and with many clones at once."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    loop.LOOK_SECONDS = 0
    loop.state_of = lambda repository, _seconds: repository.name
    print("| workers | clones at once | hours | times as fast | coordinator, ms a unit |")
    print("|---|---|---|---|---|")
    alone = 0.0
    for width, clones in ((1, CLONES_AT_ONCE), (10, CLONES_AT_ONCE), (100, CLONES_AT_ONCE), (100, 40)):
        hours, milliseconds = simulate(count, width, clones)
        alone = alone or hours
        print(f"| {width} | {clones} | {hours:.2f} | {alone / hours:.1f} | {milliseconds:.1f} |")


if __name__ == "__main__":
    main()
