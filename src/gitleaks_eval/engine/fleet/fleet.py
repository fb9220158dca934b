"""Thousands of repositories, one unit each: asked for their state, looked up, worked on, and given out as rows.

Where a unit runs is the business of the `Workers`; here it is decided which one is next, and what a failure means.
"""

import contextlib
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.corpora.load import load_labels
from gitleaks_eval.engine.fleet.store import Store
from gitleaks_eval.engine.fleet.unit import Compared, Pair, RepositoryUnit, UnitResult
from gitleaks_eval.reports.fleet.repository_rows import read_comparison
from gitleaks_eval.repositories.listed import Listed
from gitleaks_eval.repositories.state import state_of
from gitleaks_eval.scenarios.scenario import Scenario
from gitleaks_eval.scoring.fleet import PairRow, RepositoryRow

# The first time, and twice more.
ATTEMPTS = 3
# How many repositories are asked for their state at once, how far ahead, and how long that may take.
ASKED_AT_ONCE, AHEAD, ASKING_SECONDS = 8, 64, 60
LOOK_SECONDS = 1.0
LOST = "its worker was ended while it worked on it"


class Workers(Protocol):
    """Where units run."""

    @property
    def width(self) -> int:
        """How many units may be under way."""

    def submit(self, unit: RepositoryUnit) -> "Future[UnitResult]":
        """Have a unit done; never more of them at once than `width`."""

    def watch(self) -> None:
        """Look after what is under way; called about once a second."""

    def close(self) -> None:
        """End what is under way, and leave nothing behind."""


@dataclass(slots=True)
class Progress:
    """How far a run is: rows that are done, units that were run, rows that were known, what was not kept."""

    done: int = 0
    units: int = 0
    known: int = 0
    unkept: str = ""


@dataclass(slots=True)
class _Attempt:
    """A repository on its way: its state, what is known of its pairs, and how often it was tried."""

    listed: Listed
    state: str
    known: dict[Pair, Compared]
    truths: tuple[Scenario, ...] = ()
    number: int = 1


@dataclass(slots=True)
class Fleet:
    """The repositories of a run, the pairs to compare on each, and where what is known of them is kept."""

    listed: Sequence[Listed]
    pairs: tuple[Pair, ...]
    store: Store
    workers: Workers
    progress: Progress = field(default_factory=Progress)

    def rows(self) -> Generator[RepositoryRow, None, None]:
        """Yield a row for each repository, in the order in which they are done; every one has its row.

        Whoever stops asking closes it: then what is under way is given up.
        """
        asks = ThreadPoolExecutor(ASKED_AT_ONCE, "gitleaks-eval-ask")
        # What was made is kept, also by a run that is stopped.
        with ThreadPoolExecutor(ASKED_AT_ONCE, "gitleaks-eval-keep") as keeps:
            try:
                for row in self._rows(asks, keeps):
                    self.progress.done += 1
                    yield row
            finally:
                self.workers.close()
                asks.shutdown(wait=True, cancel_futures=True)

    def _rows(self, asks: Executor, keeps: Executor) -> Iterator[RepositoryRow]:
        fresh = iter(self.listed)
        asking: set[Future[_Attempt]] = set()
        ready: deque[_Attempt] = deque()
        again: deque[_Attempt] = deque()
        running: dict[Future[UnitResult], _Attempt] = {}
        keeping: set[Future[str]] = set()
        while True:
            while len(asking) + len(ready) < AHEAD and (listed := next(fresh, None)):
                asking.add(asks.submit(self._asked, listed))
            self._start_more(running, ready, again)
            if not (asking or running or ready or again):
                break
            under_way: list[Future[Any]] = [*asking, *running]
            wait(under_way, LOOK_SECONDS, FIRST_COMPLETED)
            self.workers.watch()
            for asked in [one for one in asking if one.done()]:
                asking.remove(asked)
                attempt = asked.result()
                if self._missing(attempt) and attempt.number < ATTEMPTS:
                    ready.append(attempt)
                else:
                    self.progress.known += not self._missing(attempt)
                    yield self._row(attempt)
            for future in [one for one in running if one.done()]:
                attempt = running.pop(future)
                made = self._made(attempt, future)
                self._take(attempt, made)
                keeping.add(keeps.submit(self._keep, attempt, made))
                if self._missing(attempt) and attempt.number < ATTEMPTS:
                    attempt.number += 1
                    again.append(attempt)
                else:
                    yield self._row(attempt)
            keeping = {one for one in keeping if not self._kept(one)}
        for one in keeping:
            self.progress.unkept = one.result() or self.progress.unkept

    def _asked(self, listed: Listed) -> _Attempt:
        """A repository with what the store knows of it; whoever cannot be asked is worked on, and says why then."""
        try:
            truths = tuple(
                load_labels(f"labels-{index}", path, listed.repository) for index, path in enumerate(listed.labels)
            )
        except InputError as error:
            # It would be compared as if nothing were known to be a secret.
            problem = str(error)
            return _Attempt(listed, "", {pair: Compared(pair, None, problem) for pair in self.pairs}, number=ATTEMPTS)
        # Whatever is wrong, the unit finds it, too.
        with contextlib.suppress(EvaluationError, OSError, ValueError):
            state = state_of(listed.repository, ASKING_SECONDS)
            found = ((pair, self.store.get(state, listed.labels, pair)) for pair in self.pairs)
            return _Attempt(listed, state, {pair: one for pair, one in found if one}, truths)
        return _Attempt(listed, "", {}, truths)

    def _missing(self, attempt: _Attempt) -> Sequence[Pair]:
        """Return all pairs or none: what one candidate reports is masked in each of them."""
        known = attempt.known
        return () if all(pair in known and known[pair].document is not None for pair in self.pairs) else self.pairs

    def _start_more(
        self, running: "dict[Future[UnitResult], _Attempt]", ready: deque[_Attempt], again: deque[_Attempt]
    ) -> None:
        while len(running) < self.workers.width and (ready or again):
            attempt = (ready or again).popleft()
            running[self._start(attempt)] = attempt

    def _start(self, attempt: _Attempt) -> "Future[UnitResult]":
        self.progress.units += 1
        return self.workers.submit(RepositoryUnit(attempt.listed.repository, self.pairs, attempt.truths))

    def _made(self, attempt: _Attempt, future: "Future[UnitResult]") -> UnitResult:
        try:
            return future.result()
        except (BrokenExecutor, CancelledError):
            return _lost(self._missing(attempt), LOST)
        except Exception as error:  # noqa: BLE001 - a scheduler has errors of its own; a repository is never left out
            # It has tried as often as it was told to.
            attempt.number = ATTEMPTS
            return _lost(self._missing(attempt), f"{LOST} ({printable(type(error).__name__)})")

    def _take(self, attempt: _Attempt, made: UnitResult) -> None:
        """Take over what came of a unit: one row is of one state."""
        attempt.state = made.state or attempt.state
        attempt.known = {one.pair: one for one in made.compared if one.pair in self.pairs}

    def _keep(self, attempt: _Attempt, made: UnitResult) -> str:
        """Keep what was made; why that could not be done."""
        try:
            for one in made.compared:
                self.store.put(made.state, attempt.listed.labels, one, made.masked_by)
        except OSError as error:
            return error.strerror or str(error)
        except EvaluationError as error:
            return str(error)
        return ""

    def _kept(self, future: "Future[str]") -> bool:
        if not future.done():
            return False
        self.progress.unkept = future.result() or self.progress.unkept
        return True

    def _row(self, attempt: _Attempt) -> RepositoryRow:
        listed = attempt.listed
        name = listed.repository.name
        rows = (_pair_row(attempt.known.get(pair), pair, name) for pair in self.pairs)
        return RepositoryRow(listed.number, name, listed.repository.source, tuple(rows))


def _lost(pairs: Iterable[Pair], problem: str) -> UnitResult:
    return UnitResult("", tuple(Compared(pair, None, problem) for pair in pairs))


def _pair_row(compared: Compared | None, pair: Pair, name: str) -> PairRow:
    if compared is None or compared.document is None:
        said = compared.problem if compared and compared.problem else "it changed while it was compared; run again"
        return PairRow(*pair, None, said)
    try:
        real = read_comparison(compared.document)
    except (LookupError, TypeError, ValueError):
        return PairRow(*pair, None, "its worker answered what is no comparison; report it")
    production = replace(real.production, repository=name) if real.production else None
    return PairRow(
        *pair, replace(real, repository=name, production=production), "", compared.truth_lost, compared.truth_better
    )
