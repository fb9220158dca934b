"""The judges of a run: what they look at, and their verdicts, made once a run by one of its processes."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.once import failure_of, file_made_once, product_of
from gitleaks_eval.core.progress import UNDER_WAY, under_way
from gitleaks_eval.core.text import numbered
from gitleaks_eval.engine.judging.context import Context, context_of, saved_context
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.judges.facts import baseline_of, repository_facts, scenario_facts
from gitleaks_eval.judges.judge import Case, Judge, checked_judges
from gitleaks_eval.judges.material import MODES, REAL_WORLD, SYNTHETIC, Facts, Material
from gitleaks_eval.judges.model.client import NO_SDK
from gitleaks_eval.judges.pairwise.panel import planned_questions
from gitleaks_eval.judges.panel.panel import Panel, judge_all
from gitleaks_eval.judges.panel.scoring import unscored
from gitleaks_eval.judges.prompt import load_template
from gitleaks_eval.judges.settings import AUTO, LLM, JudgeSettings
from gitleaks_eval.judges.verdict import Call, Judged, Judgement, Verdict, judgement_from_json
from gitleaks_eval.scenarios.redaction import values_of
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario

_PLACE = "verdicts"
_SELECTED = "selected-judges.json"


class Judging:
    """The judges of a run, the cases that they judge, and the verdicts.

    Raises:
        InputError: when a judge is not as it must be, or a mode is asked for in which there is nothing to judge.
    """

    def __init__(self, session: Session, settings: JudgeSettings, judges: Sequence[Judge], *, alone: bool) -> None:
        self.judges = checked_judges(judges)
        for judge in self.judges:
            load_template(judge, settings.prompts)
        self.settings = settings
        there = {SYNTHETIC: bool(session.scenarios), REAL_WORLD: bool(session.repositories)}
        self.cases = cases_of(self.judges, settings, there)
        self.selected: tuple[Case, ...] = ()
        self._session = session
        self._alone = alone
        self._material = cache(self._make_material)

    def select(self, names: Collection[str]) -> None:
        """Judge only the cases of these names."""
        self.selected = tuple(case for case in self.cases if case.name in names)

    def refuse_too_many_calls(self, cases: Sequence[Case]) -> None:
        """Refuse a run that plans more questions than it may put, before the first is put.

        Raises:
            InputError: when it does.
        """
        # A part of the judges is a part of a run, and that compares nothing.
        compares = self._session.settings.compares and len(cases) == len(self.cases)
        pairs = planned_for_pairs(self._session.settings, self.settings) if compares else 0
        refuse_too_many_calls(self.settings, len(cases), pairs)

    def leave_selected(self) -> None:
        """Leave the names of the selected cases for the process of the run that reports."""
        names = sorted(case.name for case in self.selected)
        write_atomically(self._session.folder / _SELECTED, json.dumps(names).encode("ascii"))

    def verdict(self, case: Case) -> Verdict:
        """Return the verdict of one case; all selected ones are judged at once, by one process of the run.

        Raises:
            EvaluationError: when nobody could be asked at all.
        """
        folder = self._session.folder
        judged = _judged_from_json(file_made_once(folder / _PLACE, self._judge).read_bytes())
        verdicts = judged.by_mode[case.mode].verdicts
        return next(verdict for verdict in verdicts if verdict.dimension == case.judge.dimension)

    def judged(self, folder: Path) -> Judged | None:
        """Return all verdicts of the run, None if none was selected; a case without a verdict is unscored."""
        if (folder / _SELECTED).exists():
            self.select(json.loads((folder / _SELECTED).read_bytes()))
        if not self.selected:
            return None
        path = product_of(folder / _PLACE)
        if path.exists():
            return _judged_from_json(path.read_bytes())
        failure = failure_of(folder / _PLACE)
        message = failure.read_text(encoding="utf-8") if failure.exists() else "was not judged: the run ended early"
        modes = dict.fromkeys(case.mode for case in self.selected)
        return Judged({mode: self._unjudged(mode, message) for mode in modes}, ())

    def _unjudged(self, mode: str, message: str) -> Judgement:
        verdicts = tuple(
            replace(unscored(case.judge, "invalid", message), advisory=self.settings.is_advisory(mode))
            for case in self.selected
            if case.mode == mode
        )
        whole = len(self.selected) == len(self.cases)
        return Judgement(self.settings.mode, self.settings.model, None, verdicts, None, None, {}, partial=not whole)

    def _judge(self) -> bytes:
        bench = self._session.workbench()
        for mode in dict.fromkeys(case.mode for case in self.selected):
            # All that is reported is known before any prompt.
            with suppress(EvaluationError):
                self._material(mode)
        panel = Panel(
            self.settings,
            self.settings.trace_id or bench.run_id,
            bench.planted_values(),
            self._material,
            lambda mode: values_of(bench.reported_values(self._looked_at(mode))),
        )
        with under_way(self._session.folder / UNDER_WAY, f"asking {numbered(len(self.selected), 'judge')}"):
            judged = judge_all(self.selected, panel, whole=len(self.selected) == len(self.cases))
        return json.dumps(
            {
                "by_mode": {mode: judgement.as_json() for mode, judgement in judged.by_mode.items()},
                "calls": [asdict(call) for call in judged.calls],
            }
        ).encode("ascii")

    def _looked_at(self, mode: str) -> Sequence[Scenario | RealRepository]:
        """Return what the material of a mode is about: only what was reported there can stand in it."""
        return self._session.scenarios if mode == SYNTHETIC else self._session.subjects

    def _make_material(self, mode: str) -> Material:
        session, bench = self._session, self._session.workbench()
        if mode == SYNTHETIC:
            facts_of, told = self._scenario_facts, self._context
            return Material(SYNTHETIC, facts_of, bench.title, descriptions=told.descriptions, coverage=told.coverage)
        facts = [facts for repository in session.repositories for facts in self._repository_facts(repository)]
        if not facts:
            raise EvaluationError("no real repository could be evaluated")
        try:
            baseline = baseline_of(self._scenario_facts) if self._scenario_facts else None
        except EvaluationError:
            baseline = None
        return Material(REAL_WORLD, tuple(facts), bench.title, baseline)

    def _repository_facts(self, repository: RealRepository) -> list[Facts]:
        try:
            analysis = self._session.workbench().analysis(repository)
        except EvaluationError:
            # It changes nothing but its own result, which says why.
            return []
        policy = load_policy(self._session.settings.severity_policy)
        return [repository_facts(repository.name, analysis, show_paths=self.settings.real_paths, policy=policy)]

    @cached_property
    def _scenario_facts(self) -> tuple[Facts, ...]:
        bench, policy = self._session.workbench(), load_policy(self._session.settings.severity_policy)
        mask = self._context.shown if self._alone else bench.shown
        shown = [mask(scenario) for scenario in self._session.scenarios]
        analyses = {scenario.name: bench.analysis(scenario) for scenario in shown}
        hidden = self._context.hidden
        return tuple(
            scenario_facts(
                scenario,
                analyses[scenario.name],
                policy,
                {place: text for (name, place), text in hidden.items() if name == scenario.name},
                bench.masked_lines(scenario),
            )
            for scenario in shown
        )

    @cached_property
    def _context(self) -> Context:
        """What the judges are told beside the analyses; those that run alone, what the last full run told them."""
        session, bench = self._session, self._session.workbench()
        if self._alone:
            return saved_context(session.settings.output)
        there = [scenario for scenario in session.scenarios if scenario.name in bench.subjects]
        return context_of(session, [(scenario, bench.subjects[scenario.name].matching) for scenario in there])


def planned_for_pairs(settings: Settings, judge_settings: JudgeSettings) -> int:
    """Return how many questions the pairs with the baseline need at most."""
    return planned_questions(len(settings.candidates) - (settings.baseline is None), judge_settings)


def refuse_too_many_calls(settings: JudgeSettings, judges: int, of_pairs: int) -> None:
    """Refuse so many judges, and so many questions about pairs, where that is more than the limit.

    Raises:
        InputError: when it is.
    """
    planned = judges * settings.samples * len(settings.models) + of_pairs
    if settings.mode == LLM and planned > settings.max_calls:
        pairs = f", {of_pairs} of them about pairs" if of_pairs else ""
        raise InputError(
            f"--gitleaks-judges: this run plans {planned} questions ({judges} judges, {settings.samples} samples, "
            f"{len(settings.models)} models{pairs}) and gitleaks_judge_max_calls allows {settings.max_calls}; "
            "raise it, or select less"
        )


def check_sdk(settings: JudgeSettings) -> None:
    """Look whether the mode's package is there, without importing it.

    Raises:
        InputError: when it is not.
    """
    if settings.mode == LLM and find_spec("anthropic") is None:
        raise InputError(NO_SDK)


def cases_of(judges: Sequence[Judge], settings: JudgeSettings, there: Mapping[str, bool]) -> tuple[Case, ...]:
    """Return each judge in each evaluation mode: real-world for real repositories, synthetic for scenarios.

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


def _judged_from_json(content: bytes) -> Judged:
    document: dict[str, Any] = json.loads(content)
    return Judged(
        {mode: judgement_from_json(judgement) for mode, judgement in document["by_mode"].items()},
        tuple(Call(**call) for call in document["calls"]),
    )
