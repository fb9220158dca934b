"""The loop over thousands of repositories, with workers that answer at once: each gets its row, whatever happens."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fleets import comparison, difference

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.fleet import fleet as module
from gitleaks_eval.engine.fleet.fleet import ATTEMPTS, Fleet
from gitleaks_eval.engine.fleet.store import Folder, Store
from gitleaks_eval.engine.fleet.stores import UrlFiles
from gitleaks_eval.engine.fleet.unit import Compared, Pair, RepositoryUnit, UnitResult
from gitleaks_eval.reports.fleet.repository_rows import comparison_json
from gitleaks_eval.repositories.listed import Listed
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.fleet import RepositoryRow

NAMES = ("base", "head", "next")
PAIRS: tuple[Pair, ...] = (("base", "head"), ("base", "next"))
Answer = Callable[[RepositoryUnit], UnitResult]


class Answering:
    """Workers that answer at once, and remember what they were asked."""

    width = 2

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.units: list[RepositoryUnit] = []
        self.closed = False

    def submit(self, unit: RepositoryUnit) -> "Future[UnitResult]":
        self.units.append(unit)
        future: Future[UnitResult] = Future()
        try:
            future.set_result(self.answer(unit))
        except Exception as error:  # noqa: BLE001 - as a real one would
            future.set_exception(error)
        return future

    def watch(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    @property
    def counts(self) -> Counter[str]:
        return Counter(unit.repository.name for unit in self.units)


def listed(count: int) -> list[Listed]:
    return [Listed(n, RealRepository(f"repo{n}", f"/repo{n}", f"/repo{n}")) for n in range(count)]


def state(name: str, more: str = "") -> str:
    return f"state of {name}{more}"


def good(unit: RepositoryUnit) -> UnitResult:
    name = unit.repository.name
    document = comparison_json(comparison(name, difference(count=1 + len(name))))
    return UnitResult(state(name), tuple(Compared(pair, document) for pair in unit.pairs), masked_by=NAMES)


def bad(unit: RepositoryUnit, problem: str = "is gone") -> UnitResult:
    return UnitResult("", tuple(Compared(pair, None, problem) for pair in unit.pairs))


@pytest.fixture(autouse=True)
def states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "state_of", lambda repository, _seconds: state(repository.name))


def store(folder: Path, pairs: tuple[Pair, ...] = PAIRS, configuration: str = "one") -> Store:
    return Store(Folder(folder), {pair: [configuration if pair[1] == "head" else "one", *pair] for pair in pairs})


def run(folder: Path, answer: Answer, count: int = 5, **changes: Any) -> tuple[dict[str, RepositoryRow], Answering]:
    workers = Answering(answer)
    rows = list(Fleet(listed(count), PAIRS, store(folder, **changes), workers).rows())
    assert sorted(row.number for row in rows) == list(range(count))
    assert workers.closed
    return {row.repository: row for row in rows}, workers


@pytest.mark.slow
def test_each_repository_is_one_unit_with_all_its_pairs(tmp_path: Path) -> None:
    rows, workers = run(tmp_path, good, 200)
    assert set(workers.counts.values()) == {1}
    assert all(unit.pairs == PAIRS for unit in workers.units)
    assert not any(row.problems for row in rows.values())


def test_what_fails_is_tried_twice_more_and_then_said(tmp_path: Path) -> None:
    rows, workers = run(tmp_path, lambda unit: bad(unit) if unit.repository.name == "repo3" else good(unit))
    assert workers.counts == {**dict.fromkeys(rows, 1), "repo3": ATTEMPTS}
    assert rows["repo3"].problems == ["is gone"]
    assert [name for name, row in rows.items() if row.problems] == ["repo3"]


def test_what_works_the_second_time_is_whole(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()

    def one_pair_fails(unit: RepositoryUnit) -> UnitResult:
        seen[unit.repository.name] += 1
        if seen[unit.repository.name] > 1:
            return good(unit)
        whole = good(unit)
        return replace(whole, compared=(whole.compared[0], Compared(PAIRS[1], None, "was killed")))

    rows, workers = run(tmp_path, one_pair_fails)
    assert not any(row.problems for row in rows.values())
    # What the third candidate reports is masked for the first two as well.
    assert [unit.pairs for unit in workers.units if unit.repository.name == "repo0"] == [PAIRS, PAIRS]


def raising(error: Exception) -> Answer:
    def answer(unit: RepositoryUnit) -> UnitResult:
        if unit.repository.name == "repo1":
            raise error
        return good(unit)

    return answer


def test_a_lost_worker_costs_its_repository_an_attempt_and_no_other(tmp_path: Path) -> None:
    rows, workers = run(tmp_path, raising(BrokenProcessPool()))
    assert workers.counts["repo1"] == ATTEMPTS
    assert rows["repo1"].problems == ["its worker was ended while it worked on it"]
    assert sum(bool(row.problems) for row in rows.values()) == 1


def test_what_a_scheduler_has_given_up_is_said_and_not_tried_again(tmp_path: Path) -> None:
    rows, workers = run(tmp_path, raising(RuntimeError("with a secret in it")))
    assert workers.counts["repo1"] == 1
    assert rows["repo1"].problems == ["its worker was ended while it worked on it (RuntimeError)"]


def test_a_run_that_goes_on_runs_no_unit_twice(tmp_path: Path) -> None:
    workers = Answering(good)
    fleet = Fleet(listed(9), PAIRS, store(tmp_path), workers)
    rows = fleet.rows()
    for _ in range(4):
        next(rows)
    rows.close()
    assert workers.closed
    first = workers.counts
    second = run(tmp_path, good, 9)[1].counts
    assert first
    assert second
    assert first + second == Counter(f"repo{number}" for number in range(9))
    assert run(tmp_path, good, 9)[1].units == []


def test_rows_from_the_store_are_those_that_were_made(tmp_path: Path) -> None:
    assert run(tmp_path, good)[0] == run(tmp_path, good)[0]


def test_what_is_kept_is_shown_only_where_it_is_masked_by_what_all_candidates_of_the_run_report(tmp_path: Path) -> None:
    """The third may take for a secret what stands in a path that the first two have shown."""
    there, kept = store(tmp_path), good(RepositoryUnit(listed(1)[0].repository, PAIRS)).compared[0]
    there.put("state", (), kept, NAMES[:2])
    assert there.get("state", (), PAIRS[0]) is None
    # Without the third one it may be shown.
    assert store(tmp_path, PAIRS[:1]).get("state", (), PAIRS[0]) == kept
    there.put("state", (), kept, NAMES)
    assert there.get("state", (), PAIRS[0]) == store(tmp_path, PAIRS[:1]).get("state", (), PAIRS[0]) == kept


def test_with_a_changed_candidate_all_are_asked_again(tmp_path: Path) -> None:
    run(tmp_path, good)
    rows, workers = run(tmp_path, good, configuration="two")
    assert {unit.pairs for unit in workers.units} == {PAIRS}
    assert all(len(row.pairs) == 2 and not row.problems for row in rows.values())


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    run(tmp_path, bad)
    rows, workers = run(tmp_path, good)
    assert set(workers.counts.values()) == {1}
    assert not any(row.problems for row in rows.values())


def test_a_repository_that_moved_on_while_it_was_cloned_is_kept_as_what_it_is_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved(unit: RepositoryUnit) -> UnitResult:
        return replace(good(unit), state=state(unit.repository.name, " later"))

    run(tmp_path, moved)
    assert len(run(tmp_path, moved)[1].units) == 5
    monkeypatch.setattr(module, "state_of", lambda repository, _seconds: state(repository.name, " later"))
    assert run(tmp_path, good)[1].units == []


def test_one_row_is_of_one_state_of_a_repository(tmp_path: Path) -> None:
    """Where the clone has another state than the store was asked for, it is that of all pairs."""
    run(tmp_path, good, 1)

    def moved(unit: RepositoryUnit) -> UnitResult:
        return replace(good(unit), state=state(unit.repository.name, " later"))

    rows, workers = run(tmp_path, moved, 1, configuration="two")
    assert [unit.pairs for unit in workers.units] == [PAIRS]
    assert not rows["repo0"].problems


def test_who_cannot_be_asked_for_its_state_is_worked_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_repository: RealRepository, _seconds: float) -> str:
        raise EvaluationError("its host does not say what it holds")

    monkeypatch.setattr(module, "state_of", fails)
    assert not any(row.problems for row in run(tmp_path, good)[0].values())
    assert len(run(tmp_path, good)[1].units) == 5


def test_labels_that_cannot_be_read_are_a_problem_and_never_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("[", encoding="ascii")
    one = Listed(0, listed(1)[0].repository, (tmp_path / "a.yaml",))
    (row,) = Fleet([one], PAIRS, store(tmp_path), Answering(good)).rows()
    assert row.problems
    assert "a.yaml" in row.problems[0]


def test_a_worker_that_answers_nonsense_is_not_believed(tmp_path: Path) -> None:
    def nonsense(unit: RepositoryUnit) -> UnitResult:
        return UnitResult(state(unit.repository.name), tuple(Compared(pair, {"same": 1}) for pair in unit.pairs))

    rows, _ = run(tmp_path, nonsense)
    assert all(row.problems for row in rows.values())
    assert len(run(tmp_path, good)[1].units) == 5


def test_a_store_that_cannot_be_written_is_said_and_loses_no_row(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"")
    fleet = Fleet(listed(3), PAIRS, store(tmp_path / "store"), Answering(good))
    assert not any(row.problems for row in fleet.rows())
    assert fleet.progress.unkept


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[:-20],
        lambda content: content.replace(b'"same": 2', b'"same": 3'),
        lambda content: content.replace(b"state of repo0", b"state of repo1"),
        lambda content: content.replace(b'"one"', b'"two"'),
        lambda _: b"[]",
        lambda _: b'{"key": null}',
        lambda _: b"\xff" * 9,
    ],
    ids=["empty", "cut", "changed", "of another", "otherwise asked", "a list", "no key", "no text"],
)
def test_an_entry_that_was_damaged_is_made_anew(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    before = run(tmp_path, good, 1)[0]
    for path in entries(tmp_path):
        path.write_bytes(damage(path.read_bytes()))
    rows, workers = run(tmp_path, good, 1)
    assert [unit.pairs for unit in workers.units] == [PAIRS]
    assert rows == before
    assert run(tmp_path, good, 1)[1].units == []


def test_an_entry_in_the_place_of_another_is_not_believed(tmp_path: Path) -> None:
    run(tmp_path, good, 2)
    content = {path: path.read_bytes() for path in entries(tmp_path)}
    for path, other in zip(content, reversed(content.values()), strict=True):
        path.write_bytes(other)
    assert len(run(tmp_path, good, 2)[1].units) == 2


def test_entries_are_for_their_owner_alone(tmp_path: Path) -> None:
    run(tmp_path, good, 1)
    assert {path.stat().st_mode & 0o777 for path in entries(tmp_path)} == {0o600}


def test_a_store_may_be_wherever_fsspec_reaches() -> None:
    there = Store(UrlFiles("memory://comparisons"), {pair: [*pair] for pair in PAIRS})
    first, second = Answering(good), Answering(good)
    rows = [sorted(Fleet(listed(3), PAIRS, there, workers).rows()) for workers in (first, second)]
    assert rows[0] == rows[1]
    assert (len(first.units), len(second.units)) == (3, 0)
