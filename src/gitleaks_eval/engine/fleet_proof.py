"""When clean scans of a worker count: it finds the canary again after at most 20 of them, and they wait for that."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from gitleaks_eval.core.errors import EvaluationError

# So many scans of one candidate without findings may wait, and not longer than that.
CLEAN_AT_MOST, SECONDS_AT_MOST = 20, 30.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Proof:
    """Of which check of which worker a result depends: checks of the canary are numbered from 1.

    `found` says how the check ended, of which this is the result; None where it is still to come. `problem` says why it
    was not found.
    """

    worker: str
    check: int
    found: bool | None = None
    problem: str = ""


class Prover:
    """Has the candidates of a worker find the canary again; `check` does it for one of them, by name.

    `check` raises EvaluationError where it is not found. Units may end in several threads.
    """

    def __init__(self, worker: str, check: Callable[[str], None]) -> None:
        self.worker = worker
        self._check = check
        self._turn = threading.Lock()
        self._owed: Counter[str] = Counter()
        self._checks = 0
        self._since = time.monotonic()

    def after(self, clean: Mapping[str, int], *, at_once: bool = False) -> Proof | None:
        """What a unit depends on that has just ended, with so many scans without findings by candidate; None: nothing.

        What is asked `at_once` does not wait.
        """
        with self._turn:
            self._owed.update(clean)
            if not clean:
                return None
            waited = time.monotonic() - self._since
            if at_once or max(self._owed.values()) >= CLEAN_AT_MOST or waited > SECONDS_AT_MOST:
                return self._checked()
            return Proof(self.worker, self._checks + 1)

    def now(self) -> Proof:
        """Find the canary with all candidates that have scans which wait for it."""
        with self._turn:
            return self._checked()

    def _checked(self) -> Proof:
        self._checks += 1
        owed, self._owed = self._owed, Counter()
        try:
            for candidate in owed:
                self._check(candidate)
        except EvaluationError as error:
            return Proof(self.worker, self._checks, found=False, problem=str(error))
        finally:
            self._since = time.monotonic()
        return Proof(self.worker, self._checks, found=True)


class Waiting(Generic[Result]):
    """Results of all workers that wait for a check; they come in any order."""

    def __init__(self) -> None:
        self._waiting: defaultdict[tuple[str, int], list[Result]] = defaultdict(list)
        self._ended: dict[tuple[str, int], Proof] = {}

    def take(self, result: Result, proof: Proof | None) -> list[tuple[Result, str]]:
        """What need not wait any more, each with why it does not count: the canary was not found, or empty."""
        if proof is None:
            return [(result, "")]
        if proof.found is not None:
            # Where it was not found, the result says so itself.
            return [(result, ""), *self.end(proof)]
        if ended := self._ended.get((proof.worker, proof.check)):
            return [(result, ended.problem)]
        self._waiting[proof.worker, proof.check].append(result)
        return []

    def end(self, proof: Proof) -> list[tuple[Result, str]]:
        """The same of what has waited for a check that has ended."""
        key = proof.worker, proof.check
        self._ended[key] = proof
        return [(result, proof.problem) for result in self._waiting.pop(key, ())]

    def __len__(self) -> int:
        """How many results wait."""
        return sum(map(len, self._waiting.values()))

    def workers(self) -> list[str]:
        """The workers that something waits for."""
        return list(dict.fromkeys(worker for worker, _ in self._waiting))

    def give_up(self, worker: str) -> list[Result]:
        """What waits for a worker that is not there any more."""
        keys = [key for key in self._waiting if key[0] == worker]
        return [result for key in keys for result in self._waiting.pop(key)]
