"""The unit of work is a value: it travels to another process, and gives there what it gives here."""

import json
import multiprocessing
import os
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import secret

from gitleaks_eval.analysis.severity import SHIPPED_POLICY
from gitleaks_eval.config.chain import Configuration, copy_configuration
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.corpora.load import load_corpus
from gitleaks_eval.engine.scan.shared import Bench
from gitleaks_eval.engine.scan.under_test import UnderTest
from gitleaks_eval.engine.scan.unit import run_unit
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.repositories.build import build
from gitleaks_eval.scanners.build import ScannerChoice, probe
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scenarios.recipe import Recipe, load_recipe
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario, load_scenarios

EffectiveConfig = Scenario | RealRepository
MakeWorkbench = Callable[..., Workbench]
# What differs between two scans of one repository.
VOLATILE = {"timestamp", "scan_time_ms", "scan_attempts", "scan_time_spread_ms"}


@pytest.fixture(scope="module")
def binary() -> Path:
    return installed_binary("8.30.1", print)[0]


@pytest.fixture
def subjects(tmp_path: Path) -> list[EffectiveConfig]:
    """A scenario with secrets, one without, a corpus and a real repository."""
    shipped = {scenario.name: scenario for scenario in load_scenarios(["core"], tmp_path)}
    (tmp_path / "labelled").mkdir()
    token = secret("github-pat", "unit")
    (tmp_path / "labelled" / "a.env").write_text(f"# ruleid: github-pat\ntoken={token}\n", encoding="utf-8")
    real = tmp_path / "real"
    build(load_recipe(shipped_data("synthetic_repos") / "mixed-secrets.yaml"), real)
    return [
        shipped["api-keys"],
        shipped["no-secrets"],
        load_corpus("annotated:labelled", tmp_path),
        RealRepository("real", str(real), str(real)),
    ]


@pytest.fixture
def recipes(subjects: list[EffectiveConfig]) -> dict[str, Recipe]:
    return {one.name: load_recipe(one.recipe) for one in subjects if isinstance(one, Scenario) and not one.corpus}


@pytest.fixture
def make_workbench(
    tmp_path: Path,
    binary: Path,
    subjects: list[EffectiveConfig],
    recipes: dict[str, Recipe],
    monkeypatch: pytest.MonkeyPatch,
) -> MakeWorkbench:
    """Make a workbench with a private folder of its own, as a candidate of a run has it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(name: str, executor: Executor | None = None, **changed: Any) -> Workbench:
        folder = tmp_path / name / "candidate"
        folder.mkdir(parents=True)
        configuration = Configuration((), "test")
        bench = Bench(
            under_test=UnderTest(Candidate("", ScannerChoice(), configuration), probe(binary, "test")),
            folder=str(folder),
            run_id="run",
            config=str(copy_configuration(configuration, folder)),
            timeout_seconds=60,
            severity_policy=str(SHIPPED_POLICY),
            title="a scanner",
            turns=str(folder.parent / "turns"),
        )
        return Workbench(replace(bench, **changed), subjects, recipes, executor=executor)

    return make


def document(path: Path) -> dict[str, dict[str, Any]]:
    """An analysis without what differs between two scans."""
    read = json.loads(path.read_bytes())
    return {part: {key: value for key, value in read[part].items() if key not in VOLATILE} for part in read}


def left_behind(workbench: Workbench) -> dict[str, bytes]:
    """Return what units leave beside the analyses of real repositories."""
    paths = sorted((workbench.folder / "repositories").iterdir())
    return {path.name: path.read_bytes() for path in paths}


def processes() -> ProcessPoolExecutor:
    # A process that is spawned has nothing but what it is sent.
    return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


def test_repositories_of_another_seed_go_with_the_run_and_those_of_the_default_stay(
    make_workbench: MakeWorkbench, subjects: list[EffectiveConfig], tmp_path: Path
) -> None:
    scenario = next(one for one in subjects if isinstance(one, Scenario) and not one.corpus)
    for seed, folder in (("0", "cache"), ("7", "seeded-7")):
        assert make_workbench(f"seeded-{seed}", seed=seed).repository(scenario).path.is_relative_to(tmp_path / folder)


def test_a_unit_is_the_same_value_after_a_journey(
    make_workbench: MakeWorkbench, subjects: list[EffectiveConfig]
) -> None:
    workbench = make_workbench("here")
    for subject in subjects:
        unit = workbench.unit(subject)
        assert pickle.loads(pickle.dumps(unit)) == unit  # noqa: S301 - our own bytes


def test_a_unit_gives_in_another_process_what_it_gives_here(
    make_workbench: MakeWorkbench, subjects: list[EffectiveConfig]
) -> None:
    here = make_workbench("here")
    with processes() as pool:
        there = make_workbench("there", pool)
        there.start([one.name for one in subjects])
        for subject in subjects:
            analysis = document(there.document(subject))
            assert analysis == document(run_unit(here.unit(subject)))
            assert (
                analysis["data"]["total_secrets"]
                == {"api-keys": 2, "no-secrets": 0, "labelled": 1, "real": 2}[subject.name]
            )
        assert left_behind(there) == left_behind(here)
        there.close()
        assert pool.submit(os.getpid).result() != os.getpid()


def test_an_error_has_the_same_text_in_another_process(
    make_workbench: MakeWorkbench, subjects: list[EffectiveConfig]
) -> None:
    candidate = Candidate("", ScannerChoice(), Configuration((), "test"))
    none = {"under_test": UnderTest(candidate, error="gitleaks is not there; put it there")}
    with processes() as pool:
        benches = make_workbench("here", **none), make_workbench("there", pool, **none)
        for workbench in benches:
            workbench.start([one.name for one in subjects])
        for subject in subjects:
            texts = []
            for workbench in benches:
                with pytest.raises(EvaluationError) as caught:
                    workbench.analysis(subject)
                texts.append(str(caught.value))
            what = "repository" if isinstance(subject, RealRepository) else "scenario"
            assert texts == [f"{what} {subject.name}: gitleaks is not there; put it there"] * 2
        for workbench in benches:
            workbench.close()


class _Ended(ThreadPoolExecutor):
    """An executor whose processes are killed, each in its first unit."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Any:  # noqa: ARG002 - not run
        with processes() as pool:
            return pool.submit(os._exit, 9)


def test_a_unit_whose_process_is_killed_is_an_error_that_names_its_subject(
    make_workbench: MakeWorkbench, subjects: list[EffectiveConfig]
) -> None:
    workbench = make_workbench("there", _Ended())
    workbench.start(["api-keys"])
    with pytest.raises(EvaluationError, match=r"^api-keys: the process that evaluated it was ended; run again$"):
        workbench.analysis(subjects[0])
    workbench.close()


def test_a_closed_workbench_begins_nothing_more_in_an_executor_that_it_was_given(
    make_workbench: MakeWorkbench, subjects: list[EffectiveConfig]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        workbench = make_workbench("there", pool)
        workbench.start([one.name for one in subjects])
        workbench.close()
        made = set((workbench.folder / "analyses").glob("*.made"))
        assert pool.submit(str, 1).result() == "1"
    assert set((workbench.folder / "analyses").glob("*.made")) == made
    assert len(made) < len(subjects)
