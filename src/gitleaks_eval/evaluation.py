"""The evaluation in each process that runs tests: what is collected, what a check is given, what it leaves."""

import json
import sys
from collections.abc import Generator, Mapping, Sequence
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gitleaks_eval import marks
from gitleaks_eval.errors import EvaluationError, InputError
from gitleaks_eval.escaping import json_value, printable
from gitleaks_eval.evidence import CheckFailed, Evidence
from gitleaks_eval.plugin import CHECKS, JUDGES
from gitleaks_eval.real_repository import RealRepository, real_repositories
from gitleaks_eval.recipe import Recipe, load_recipe
from gitleaks_eval.recorder import ERROR, FAILED, NOT_APPLICABLE, PASSED, Collected, Identity
from gitleaks_eval.scenario import Scenario, load_scenarios
from gitleaks_eval.scoring import CATEGORIES
from gitleaks_eval.settings import Root, Settings, given, read_settings
from gitleaks_eval.sharing import write_atomically
from gitleaks_eval.workbench import Bench, Workbench

if TYPE_CHECKING:
    from gitleaks_eval.judging import Judging

PLUGIN_NAME = "gitleaks_eval_evaluation"
WORKER_INPUT = "gitleaks_eval"
COLLECTED = "collected.json"

EVALUATION: pytest.StashKey["Evaluation"] = pytest.StashKey()
IDENTITY: pytest.StashKey[Identity] = pytest.StashKey()
EVIDENCE: pytest.StashKey[Evidence] = pytest.StashKey()


def activate(config: pytest.Config, *, checks: bool, judges: bool) -> None:
    """Read the settings and register what takes part in this process.

    Raises:
        pytest.UsageError: when something that the user gave is wrong on sight.
    """
    from gitleaks_eval.collection import effective_root  # noqa: PLC0415 - only where a run is active
    from gitleaks_eval.controller import Controller  # noqa: PLC0415 - it imports this module

    try:
        root = effective_root(config)
        settings = read_settings(root, reads_reports=judges and not checks)
        scenarios = load_scenarios(settings.scenario_sources, settings.scenario_base, settings.analyses)
        evaluation = Evaluation(config, settings, scenarios, _recipes(scenarios, judges=judges))
        evaluation.checks = checks
        evaluation.repositories = _repositories(root, scenarios, scans=checks and settings.analyses is None)
        if judges:
            evaluation.judging = _judging(config, root, evaluation)
        controller = None if hasattr(config, "workerinput") else Controller(config, evaluation)
    except InputError as error:
        raise pytest.UsageError(printable_lines(str(error))) from None
    config.stash[EVALUATION] = evaluation
    config.pluginmanager.register(evaluation, PLUGIN_NAME)
    if evaluation.judging:
        config.pluginmanager.register(evaluation.judging, "gitleaks_eval_judging")
    if controller:
        config.pluginmanager.register(controller, "gitleaks_eval_controller")
    for category in CATEGORIES:
        config.addinivalue_line("markers", f"{marks.category_marker(category)}: the category {category}")


def printable_lines(text: str) -> str:
    """A text of ours for the terminal: its line ends stay, what else it quotes is escaped."""
    return "\n".join(map(printable, text.splitlines()))


def _judging(config: pytest.Config, root: Root, evaluation: "Evaluation") -> "Judging":
    from gitleaks_eval.judges.settings import read_judge_settings  # noqa: PLC0415 - only where there are judges
    from gitleaks_eval.judging import Judging, check_sdk  # noqa: PLC0415 - the same

    settings = read_judge_settings(root, evaluation.settings.output)
    check_sdk(settings)
    return Judging(config, evaluation, settings)


def _repositories(root: Root, scenarios: Sequence[Scenario], *, scans: bool) -> Sequence[RealRepository]:
    named = given(root, "real_repo")
    if named is None or (not scans and not named.named_by.startswith("--")):
        return ()
    if not scans:
        raise InputError(f"{named.named_by}: a real repository is scanned: run with --gitleaks-eval, without analyses")
    return real_repositories(named.value, named.base, [scenario.name for scenario in scenarios])


def _recipes(scenarios: Sequence[Scenario], *, judges: bool) -> dict[str, Recipe]:
    # A recipe that is missing is an error of its scenario only; analyses that exist need none, but judges
    # must know what is planted, to keep it to themselves.
    return {
        scenario.name: load_recipe(scenario.recipe)
        for scenario in scenarios
        if (scenario.analysis is None or judges) and scenario.recipe.exists()
    }


class _CheckModule(pytest.Module):
    """One of our modules: its functions are tests whatever the user's `python_functions` says."""

    def funcnamefilter(self, name: str) -> bool:
        return name.startswith("test_")


class Evaluation:
    """The hooks of a process that collects and runs checks; serial runs, and each worker of a parallel one."""

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        scenarios: Sequence[Scenario],
        recipes: Mapping[str, Recipe],
    ) -> None:
        self.settings = settings
        self.scenarios = scenarios
        self._recipes = recipes
        self._config = config
        self._workbench: Workbench | None = None
        self._own_deselected = 0
        self._category_marks: dict[str, pytest.MarkDecorator] = {}
        self.collected = Collected({}, 0)
        self.checks = True
        self.repositories: Sequence[RealRepository] = ()
        self.judging: Judging | None = None
        self.bench: Bench | None = None
        if hasattr(config, "workerinput"):
            self.bench = Bench(**json.loads(config.workerinput[WORKER_INPUT]))

    @property
    def subjects(self) -> Sequence[Scenario | RealRepository]:
        """What checks are run on: the scenarios, and the real repositories after them."""
        return [*self.scenarios, *self.repositories]

    @property
    def folder(self) -> str:
        """The private folder of the run."""
        if self.bench is None:
            raise EvaluationError("nothing is evaluated while tests are only collected")
        return self.bench.folder

    @property
    def workbench(self) -> Workbench:
        """What has the analyses; made when it is first asked for."""
        if self._workbench is None:
            if self.bench is None:
                raise EvaluationError("nothing is evaluated while tests are only collected")
            shared = hasattr(self._config, "workerinput")
            self._workbench = Workbench(self.bench, self.subjects, self._recipes, shared=shared)
        return self._workbench

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Register the fixtures here, where a user's own ones of those names go before them."""
        from gitleaks_eval.fixtures import register_fixtures  # noqa: PLC0415 - it imports this module

        register_fixtures(session, self.subjects)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Collect our modules also where the user's `python_files` would not."""
        if file_path.parent not in {CHECKS, JUDGES} or not fnmatch(file_path.name, "test_*.py"):
            return None
        patterns = self._config.getini("python_files")
        usual = parent.session.isinitpath(file_path) or any(fnmatch(file_path.name, pattern) for pattern in patterns)
        return None if usual else self.pytest_pycollect_makemodule(file_path, parent)

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Give our modules outside rootdir their path as node id, so that it can be pasted back."""
        from gitleaks_eval.fixtures import register_fixtures  # noqa: PLC0415 - it imports this module

        if module_path.parent not in {CHECKS, JUDGES}:
            return None
        nodeid: Any = None if self.settings.root in module_path.parents else module_path.as_posix()
        module: _CheckModule = _CheckModule.from_parent(parent, path=module_path, nodeid=nodeid)
        # Nearer than a user's conftest.py: an `analysis` of theirs must not be what the shipped checks look at.
        if module_path.parent == JUDGES and self.judging:
            from gitleaks_eval.judging import register_judge_fixtures  # noqa: PLC0415 - only where there are judges

            register_judge_fixtures(module, self.judging)
        elif not self._config.getoption("showfixtures"):
            register_fixtures(module, self.subjects)
        return module

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Attach to a check what it is: also a broken fixture must not remove it from the count."""
        mark = item.get_closest_marker(marks.CHECK_MARK)
        if mark is None:
            return
        try:
            check_id, name, category = marks.checked(*mark.args, **mark.kwargs)
        except (TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}; write @check(id, name, category=...)") from None
        scenario = _scenario_name(item)
        identity = Identity(sys.intern(check_id), sys.intern(name), sys.intern(category), scenario)
        item.stash[IDENTITY] = identity
        item.user_properties.extend(_identity_properties(identity))
        item.add_marker(self._category_mark(category))

    def _category_mark(self, category: str) -> pytest.MarkDecorator:
        # One for all its items: a thousand scenarios are 39,000 of them.
        if category not in self._category_marks:
            marker = marks.category_marker(category)
            self._config.addinivalue_line("markers", f"{marker}: the category {category}")
            self._category_marks[category] = getattr(pytest.mark, marker)
        return self._category_marks[category]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Run checks module by module, as people read them; pytest groups them by scenario.

        On real repositories run those that need no ground truth, and no other.
        """
        if self.repositories:
            items[:] = [item for item in items if not _needs_truth(item)]
        places = [index for index, item in enumerate(items) if IDENTITY in item.stash]
        modules: dict[Path, int] = {}
        ordered = sorted(
            (items[index] for index in places), key=lambda item: modules.setdefault(item.path, len(modules))
        )
        for index, item in zip(places, ordered, strict=True):
            items[index] = item

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count a user's own checks that are left out; how many of ours there are is known."""
        self._own_deselected += sum(map(self._is_own, items))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say what was selected, and have the first analyses made."""
        selected = {item.nodeid: item.stash[IDENTITY] for item in session.items if IDENTITY in item.stash}
        own = sum(map(self._is_own, session.items))
        self.collected = Collected(selected, own + self._own_deselected)
        if self.bench is None:
            return
        if not hasattr(self._config, "workerinput"):
            self.workbench.start(dict.fromkeys(item.scenario for item in selected.values() if item.scenario))
            return
        path = Path(self.bench.folder) / COLLECTED
        if not path.exists():
            write_atomically(path, self.collected.as_json().encode())

    def _is_own(self, item: pytest.Item) -> bool:
        """Whether this is a user's own check, of a scenario or of none: those of real repositories enter no score."""
        identity = item.stash.get(IDENTITY, None)
        real = {repository.name for repository in self.repositories}
        return identity is not None and item.path.parent != CHECKS and identity.scenario not in real

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the outcome and the evidence of a check, and show our own failures without our internals."""
        report = yield
        identity = item.stash.get(IDENTITY, None)
        if identity is None:
            return report
        outcome = _outcome(report, call)
        if outcome:
            left = _outcome_properties(outcome, item.stash.get(EVIDENCE, None), call)
            item.user_properties[:] = _others(item.user_properties) + _identity_properties(identity) + left
            report.user_properties = list(item.user_properties)
        if call.excinfo and isinstance(call.excinfo.value, (CheckFailed, EvaluationError)):
            report.longrepr = _message_only(call.excinfo)
        if report.when == "teardown" and EVIDENCE in item.stash:
            del item.stash[EVIDENCE]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Stop what still runs, before reports are written."""
        if self._workbench:
            self._workbench.close()


def _scenario_name(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    scenario = callspec.params.get("scenario") if callspec else None
    return scenario.name if isinstance(scenario, (Scenario, RealRepository)) else None


def _needs_truth(item: pytest.Item) -> bool:
    """Whether this is a check that compares with a ground truth, on a real repository, which has none."""
    callspec = getattr(item, "callspec", None)
    real = callspec is not None and isinstance(callspec.params.get("scenario"), RealRepository)
    return real and "expected" in getattr(item, "fixturenames", ())


def _identity_properties(identity: Identity) -> list[tuple[str, object]]:
    return [
        _property("check_id", identity.check_id),
        _property("name", identity.name),
        _property("category", identity.category),
        _property("scenario", identity.scenario or ""),
    ]


@lru_cache(maxsize=1 << 14)
def _property(name: str, text: str) -> tuple[str, object]:
    """One value for all that are equal: pytest keeps each of three reports a test until the end."""
    return name, text


def _others(properties: Sequence[tuple[str, object]]) -> list[tuple[str, object]]:
    ours = {"check_id", "name", "category", "scenario", "outcome", "message", "expected", "actual"}
    return [(name, value) for name, value in properties if name not in ours]


def _outcome(report: pytest.TestReport, call: pytest.CallInfo[None]) -> str | None:
    """The outcome that this phase decides: a check that could not be run is an error, not a failure."""
    if report.when != "call":
        return (
            ERROR
            if report.failed or (report.skipped and not _is_not_applicable(call))
            else (NOT_APPLICABLE if report.skipped else None)
        )
    if hasattr(report, "wasxfail"):
        return PASSED if report.passed else FAILED
    if report.passed:
        return PASSED
    if report.skipped:
        # A check that skips itself by other means has not looked, and must not count as a pass.
        return NOT_APPLICABLE if _is_not_applicable(call) else ERROR
    raised = call.excinfo.value if call.excinfo else None
    return FAILED if raised is None or isinstance(raised, (AssertionError, pytest.fail.Exception)) else ERROR


def _is_not_applicable(call: pytest.CallInfo[None]) -> bool:
    return call.excinfo is not None and isinstance(call.excinfo.value, marks.NotApplicable)


def _outcome_properties(
    outcome: str, evidence: Evidence | None, call: pytest.CallInfo[None]
) -> list[tuple[str, object]]:
    left = evidence or Evidence()
    message = left.message
    if call.excinfo and not (isinstance(call.excinfo.value, CheckFailed) and left.message):
        value = call.excinfo.value
        text = str(getattr(value, "msg", None) or value)
        own = isinstance(value, (AssertionError, EvaluationError, pytest.skip.Exception, pytest.fail.Exception))
        message = printable(text.strip() if own else f"{type(value).__name__}: {text}".strip())[:2000]
    return [
        _property("outcome", outcome),
        _property("message", message),
        _property("expected", json.dumps(json_value(left.expected))),
        _property("actual", json.dumps(json_value(left.actual))),
    ]


def _message_only(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    shown = excinfo.getrepr(style="value", chain=False)
    if shown.reprcrash:
        # The short summary shows this: without the name of the exception class.
        shown.reprcrash.message = str(excinfo.value)
    return shown
