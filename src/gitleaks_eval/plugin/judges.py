"""The judges in each process that runs tests: which there are, what they look at, and their verdicts once a run."""

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gitleaks_eval.core.errors import CheckFailed, EvaluationError, InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.sharing import made_once
from gitleaks_eval.core.text import printable
from gitleaks_eval.judges.facts import baseline_of, repository_facts, scenario_facts
from gitleaks_eval.judges.judge import Judge, checked_judges
from gitleaks_eval.judges.material import MODES, REAL_WORLD, SYNTHETIC, Facts, Material
from gitleaks_eval.judges.panel import Case, Panel, judge_all
from gitleaks_eval.judges.prompt import load_template
from gitleaks_eval.judges.settings import AUTO, LLM, JudgeSettings
from gitleaks_eval.judges.shipped import SHIPPED
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED, Call, Judged, Judgement, Verdict, judgement_from_json
from gitleaks_eval.scenarios.scenario import RealRepository

if TYPE_CHECKING:
    from gitleaks_eval.plugin.items import Evaluation

CASE: pytest.StashKey[Case] = pytest.StashKey()
VERDICT: pytest.StashKey[Verdict] = pytest.StashKey()
_FOLDER = "verdicts"
_SELECTED = "selected-judges.json"
_NO_SDK = (
    "--gitleaks-judges: the mode llm needs the package anthropic: pip install 'gitleaks-eval[judges]', "
    "or use --gitleaks-judge-mode=heuristic, or --gitleaks-judge-mode=replay"
)


def _ask_users(config: pytest.Config, judges: list[Judge]) -> None:
    """Let a user's conftest or package change the list."""
    source = "pytest_gitleaks_eval_judges"
    try:
        returned = config.hook.pytest_gitleaks_eval_judges(judges=judges)
    except Exception as error:  # noqa: BLE001 - it is the user's code, which may raise anything
        raise InputError(f"{source}: it raises {type(error).__name__}: {printable(str(error))}") from None
    if returned:
        raise InputError(f"{source}: what it returns is not looked at; change the list in place (judges[:] = ...)")
    if wrong := [judge for judge in judges if not isinstance(judge, Judge)]:
        raise InputError(f"{source}: {printable(repr(wrong[0]))[:100]} is no gitleaks_eval.judges.Judge")


class Judging:
    """The hooks for the judges' tests, and the verdicts behind them."""

    def __init__(self, config: pytest.Config, evaluation: "Evaluation", settings: JudgeSettings) -> None:
        judges = list(SHIPPED)
        _ask_users(config, judges)
        self.judges = checked_judges(judges)
        for judge in self.judges:
            load_template(judge, settings.prompts)
        self.settings = settings
        there = {SYNTHETIC: bool(evaluation.scenarios), REAL_WORLD: bool(evaluation.repositories)}
        self.cases = cases_of(self.judges, settings, there)
        self.selected: tuple[Case, ...] = ()
        self._evaluation = evaluation
        self._material = cache(self._make_material)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Judges come after the checks."""
        items.sort(key=lambda item: _case(item) is not None)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Attach to a judge's test what it is."""
        if case := _case(item):
            item.stash[CASE] = case

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Only selected judges call."""
        names = {item.stash[CASE].name for item in session.items if CASE in item.stash}
        self.selected = tuple(case for case in self.cases if case.name in names)
        if self._evaluation.shared and hasattr(session.config, "workerinput"):
            write_atomically(self._evaluation.folder / _SELECTED, json.dumps(sorted(names)).encode("ascii"))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the verdict, and show our own failures without our internals."""
        report = yield
        if CASE not in item.stash:
            return report
        verdict = item.stash.get(VERDICT, None)
        if verdict and report.when != "teardown" and not report.user_properties:
            item.user_properties.extend(_properties(verdict))
            report.user_properties = list(item.user_properties)
        if call.excinfo and isinstance(call.excinfo.value, (CheckFailed, EvaluationError)):
            shown = call.excinfo.getrepr(style="value", chain=False)
            if shown.reprcrash:
                shown.reprcrash.message = str(call.excinfo.value)
            report.longrepr = shown
        return report

    def verdict(self, case: Case) -> Verdict:
        """The verdict of one case; all selected ones are judged at once, by one process of the run.

        Raises:
            EvaluationError: when nobody could be asked at all.
        """
        folder = self._evaluation.folder
        judged = _judged_from_json(made_once(folder / _FOLDER, self._judge).read_bytes())
        verdicts = judged.by_mode[case.mode].verdicts
        return next(verdict for verdict in verdicts if verdict.dimension == case.judge.dimension)

    def judged(self, folder: Path) -> Judged | None:
        """All verdicts of the run for the reports, None if none was selected; without a verdict a case is unscored."""
        if (folder / _SELECTED).exists():
            names = json.loads((folder / _SELECTED).read_bytes())
            self.selected = tuple(case for case in self.cases if case.name in names)
        if not self.selected:
            return None
        path = folder / _FOLDER / "product.json"
        if path.exists():
            return _judged_from_json(path.read_bytes())
        failure = folder / _FOLDER / "error.txt"
        message = failure.read_text(encoding="utf-8") if failure.exists() else "was not judged: the run ended early"
        modes = dict.fromkeys(case.mode for case in self.selected)
        return Judged({mode: self._unjudged(mode, message) for mode in modes}, ())

    def _unjudged(self, mode: str, message: str) -> Judgement:
        verdicts = tuple(
            Verdict(case.judge.dimension, case.judge.weight, UNSCORED, unscored_kind="invalid", reasoning=message)
            for case in self.selected
            if case.mode == mode
        )
        requested = None if self.settings.mode == "heuristic" else self.settings.model
        whole = len(self.selected) == len(self.cases)
        return Judgement(self.settings.mode, requested, None, verdicts, None, {}, partial=not whole)

    def _judge(self) -> bytes:
        bench = self._evaluation.workbench()
        for mode in dict.fromkeys(case.mode for case in self.selected):
            # Each scan leaves traces of the secrets that it reports: all of them come before any prompt.
            with suppress(EvaluationError):
                self._material(mode)
        panel = Panel(
            self.settings,
            self.settings.trace_id or bench.run_id,
            bench.traces(),
            self._material,
        )
        judged = judge_all(self.selected, panel, whole=len(self.selected) == len(self.cases))
        return json.dumps(
            {
                "by_mode": {mode: judgement.as_json() for mode, judgement in judged.by_mode.items()},
                "calls": [asdict(call) for call in judged.calls],
            }
        ).encode("ascii")

    def _make_material(self, mode: str) -> Material:
        evaluation, bench = self._evaluation, self._evaluation.workbench()
        if mode == SYNTHETIC:
            return Material(SYNTHETIC, self._scenario_facts, bench.title)
        facts = [facts for repository in evaluation.repositories for facts in self._repository_facts(repository)]
        if not facts:
            raise EvaluationError("no real repository could be evaluated")
        try:
            baseline = baseline_of(self._scenario_facts) if self._scenario_facts else None
        except EvaluationError:
            baseline = None
        return Material(REAL_WORLD, tuple(facts), bench.title, baseline)

    def _repository_facts(self, repository: RealRepository) -> list[Facts]:
        try:
            analysis = self._evaluation.workbench().analysis(repository)
        except EvaluationError:
            # It changes nothing but its own result, which says why.
            return []
        return [repository_facts(repository.name, analysis, show_paths=self.settings.real_paths)]

    @cached_property
    def _scenario_facts(self) -> tuple[Facts, ...]:
        evaluation = self._evaluation
        bench = evaluation.workbench()
        shown = (replace(one, expected=bench.expected(one)) for one in evaluation.scenarios)
        return tuple(scenario_facts(one, bench.analysis(one)) for one in shown)


def check_sdk(settings: JudgeSettings) -> None:
    """Look whether the mode's package is there, without importing it.

    Raises:
        InputError: when it is not.
    """
    from importlib.util import find_spec  # noqa: PLC0415 - only here

    if settings.mode == LLM and find_spec("anthropic") is None:
        raise InputError(_NO_SDK)


def cases_of(judges: Sequence[Judge], settings: JudgeSettings, there: Mapping[str, bool]) -> tuple[Case, ...]:
    """Each judge in each evaluation mode: real repositories in the real-world one, scenarios in the synthetic one.

    `there` says by mode whether there is something to judge in it.

    Raises:
        InputError: when a mode is asked for in which there is nothing.
    """
    if not there.get(settings.evaluation_mode, True):
        missing = {
            REAL_WORLD: "there is no real repository; add --gitleaks-real-repo",
            SYNTHETIC: "nothing that has a ground truth is evaluated; leave it out",
        }
        mode = settings.evaluation_mode
        raise InputError(f"--gitleaks-evaluation-mode {mode}: {missing[mode]}")
    modes = [mode for mode in MODES if there[mode] and settings.evaluation_mode in {AUTO, mode}]
    return tuple(Case(judge, mode) for mode in modes for judge in judges)


def register_judge_fixtures(node: pytest.Module, judging: Judging) -> None:
    """Register what the judges' tests ask for."""
    cases = judging.cases

    def judge(request: pytest.FixtureRequest) -> Case:
        """The judge of this test, and the evaluation mode that it judges in."""
        case: Case = request.param
        return case

    def verdict(judge: Case, request: pytest.FixtureRequest) -> Verdict:
        """What the judge concluded; that there is no score is an error of the test, never a score."""
        found = judging.verdict(judge)
        request.node.stash[VERDICT] = found
        if found.outcome == UNSCORED:
            raise EvaluationError(f"{judge.name} is unscored ({found.unscored_kind}): {printable(found.reasoning)}")
        return found

    def pass_score() -> float:
        """The score that a verdict has to reach, 1 to 5."""
        return judging.settings.pass_score

    names = tuple(case.name for case in cases)
    pytest.register_fixture(name="judge", func=judge, node=node, scope="session", params=cases, ids=names)
    pytest.register_fixture(name="verdict", func=verdict, node=node)
    pytest.register_fixture(name="pass_score", func=pass_score, node=node, scope="session")


def _case(item: pytest.Item) -> Case | None:
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("judge") if callspec else None
    return case if isinstance(case, Case) else None


def _properties(verdict: Verdict) -> list[tuple[str, object]]:
    properties: list[tuple[str, object]] = [("dimension", verdict.dimension), ("verdict", verdict.outcome)]
    if verdict.outcome == NOT_APPLICABLE:
        properties.append(("outcome", "not_applicable"))
    if verdict.score is not None:
        properties.append(("score", verdict.score))
    if verdict.unscored_kind:
        properties.append(("unscored_kind", verdict.unscored_kind))
    return properties


def _judged_from_json(content: bytes) -> Judged:
    document: dict[str, Any] = json.loads(content)
    return Judged(
        {mode: judgement_from_json(judgement) for mode, judgement in document["by_mode"].items()},
        tuple(Call(**call) for call in document["calls"]),
    )
