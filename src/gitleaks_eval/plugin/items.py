"""The evaluation in each process that runs tests: what is collected, what a check is given, what it leaves."""

import gc
import json
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gitleaks_eval.analysis.envelope import Analysis
from gitleaks_eval.checks import CHECK_MARK
from gitleaks_eval.checks import mark as marks
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.result import (
    CONFIG_LINT,
    ERROR,
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    Collected,
    Identity,
)
from gitleaks_eval.core.errors import CheckFailed, EvaluationError, InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.options import Root, given
from gitleaks_eval.core.text import json_value, printable
from gitleaks_eval.engine.candidates import Candidate, Trial
from gitleaks_eval.engine.kinds import OPTION as ONLY_OPTION
from gitleaks_eval.engine.kinds import REPOS
from gitleaks_eval.engine.settings import Settings, read_settings
from gitleaks_eval.engine.shared import Shared
from gitleaks_eval.engine.workbench import Workbench
from gitleaks_eval.plugin.folders import CHECKS, FINDINGS, FOLDERS, JUDGES, LINT
from gitleaks_eval.repositories.sources import real_repositories
from gitleaks_eval.scenarios.recipe import Recipe, load_recipe
from gitleaks_eval.scenarios.scenario import RealRepository, Scenario, load_scenarios
from gitleaks_eval.scoring.scorecard import CATEGORIES

if TYPE_CHECKING:
    from gitleaks_eval.engine.baseline import Comparing
    from gitleaks_eval.plugin.judges import Judging

PLUGIN_NAME = "gitleaks_eval_evaluation"
WORKER_INPUT = "gitleaks_eval"
COLLECTED = "collected.json"

IDENTITY: pytest.StashKey[Identity] = pytest.StashKey()


def activate(config: pytest.Config, *, checks: bool, judges: bool) -> None:
    """Read the settings and register what takes part in this process.

    Raises:
        pytest.UsageError: when something that the user gave is wrong on sight.
    """
    from gitleaks_eval.plugin.arguments import effective_root, is_narrowed, only_shows  # noqa: PLC0415 - only where a run is active
    from gitleaks_eval.plugin.begin import Controller, begin_reports  # noqa: PLC0415 - it imports this module

    # Before anything private is on the disk: a corpus may be cloned here.
    _stop_on_signals()
    try:
        root = effective_root(config)
        if not hasattr(config, "workerinput") and not only_shows(config):
            # Before anything else can be wrong: no run that ends here leaves the decision of another as its own.
            begin_reports(root, narrowed=is_narrowed(config))
        settings = read_settings(root, reads_reports=judges and not checks)
        scenarios = _scenarios(settings)
        evaluation = Evaluation(config, settings, scenarios, _recipes(scenarios, judges=judges))
        evaluation.checks = checks
        scans = checks and settings.analyses is None
        evaluation.repositories = _repositories(root, scenarios, scans=scans) if REPOS in settings.kinds else ()
        _refuse_nothing(evaluation)
        if judges:
            evaluation.judging = _judging(config, root, evaluation)
        controller = None if hasattr(config, "workerinput") else Controller(config, evaluation)
    except InputError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(evaluation, PLUGIN_NAME)
    if evaluation.judging:
        config.pluginmanager.register(evaluation.judging, "gitleaks_eval_judging")
    if controller:
        config.pluginmanager.register(controller, "gitleaks_eval_controller")
    for category in CATEGORIES:
        config.addinivalue_line("markers", f"{marks.category_marker(category)}: the category {category}")
    config.addinivalue_line("markers", "finding: the test of an expected finding, or of unexpected ones")


def _stop_on_signals() -> None:
    """Let SIGTERM (a cancelled CI job) and SIGHUP end the run as Ctrl-C does: what is private is removed."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _scenarios(settings: Settings) -> list[Scenario]:
    sources = settings.scenario_sources
    scenarios = load_scenarios(sources, settings.scenario_base, settings.analyses) if sources else []
    if not settings.corpora:
        return scenarios
    from gitleaks_eval.corpora.load import load_corpus  # noqa: PLC0415 - only where a corpus is named

    by_name = {scenario.name: scenario for scenario in scenarios}
    for spec in settings.corpora:
        corpus = load_corpus(spec, settings.corpus_base)
        if settings.analyses:
            corpus = replace(corpus, analysis=settings.analyses / f"{corpus.name}.json")
        if other := by_name.get(corpus.name):
            raise InputError(
                f"--gitleaks-corpus {spec}: two scenarios are named {corpus.name!r}, this one and "
                f"{other.ground_truth}; rename one"
            )
        by_name[corpus.name] = corpus
    return [by_name[name] for name in sorted(by_name)]


def _judging(config: pytest.Config, root: Root, evaluation: "Evaluation") -> "Judging":
    from gitleaks_eval.judges.settings import read_judge_settings  # noqa: PLC0415 - only where there are judges
    from gitleaks_eval.plugin.judges import Judging, check_sdk  # noqa: PLC0415 - the same

    if len(evaluation.settings.candidates) > 1:
        raise InputError("--gitleaks-judges: judges look at one candidate; name one version and configuration")
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


def _refuse_nothing(evaluation: "Evaluation") -> None:
    if not evaluation.subjects:
        only = ",".join(evaluation.settings.only)
        raise InputError(f"{ONLY_OPTION}={only}: nothing of it is evaluated in this run; leave it out")


def _recipes(scenarios: Sequence[Scenario], *, judges: bool) -> dict[str, Recipe]:
    # A recipe that is missing is an error of its scenario only; analyses that exist need none, but judges
    # must know what is planted, to keep it to themselves.
    return {
        scenario.name: load_recipe(scenario.recipe)
        for scenario in scenarios
        if (scenario.analysis is None or judges) and scenario.recipe.exists() and scenario.corpus is None
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
        self._workbenches: dict[str, Workbench] = {}
        self._comparing: Comparing | None = None
        self._own_deselected: Counter[str] = Counter()
        self._category_marks: dict[str, pytest.MarkDecorator] = {}
        # What the check that runs has left so far.
        self.left = Evidence()
        self.collected = Collected({}, {})
        self.checks = True
        self.repositories: Sequence[RealRepository] = ()
        self.judging: Judging | None = None
        self.shared: Shared | None = None
        if hasattr(config, "workerinput"):
            self.shared = Shared.from_json(config.workerinput[WORKER_INPUT])

    @property
    def subjects(self) -> Sequence[Scenario | RealRepository]:
        """What checks are run on: the scenarios, and the real repositories after them."""
        return [*self.scenarios, *self.repositories]

    def collects(self, folder: Path) -> bool:
        """Whether this run has the tests of one of our folders."""
        if folder == JUDGES:
            return self.judging is not None
        if folder == LINT:
            return self.checks and any(
                one.configuration and one.configuration.chain for one in self.settings.candidates
            )
        return self.checks

    @property
    def trials(self) -> Sequence[Trial]:
        """Each candidate on each subject."""
        return [Trial(candidate.name, subject) for candidate in self.settings.candidates for subject in self.subjects]

    @property
    def folder(self) -> Path:
        """The private folder of the run."""
        return Path(self._known().folder)

    def workbench(self, candidate: str | None = None) -> Workbench:
        """What has the analyses of a candidate (the first, unless one is named); made when first asked for."""
        return self._workbenches_of_all()[self.settings.candidates[0].name if candidate is None else candidate]

    def analysis(self, trial: Trial) -> Analysis:
        """The analysis that a candidate has of a scenario or real repository.

        Raises:
            EvaluationError: when it cannot be had.
        """
        return self.workbench(trial.candidate).analysis(trial.subject)

    @property
    def comparing(self) -> "Comparing | None":
        """What a failure is held against; None where nothing is compared."""
        if self._comparing is None and self.settings.compares and self.shared:
            from gitleaks_eval.engine.baseline import Comparing  # noqa: PLC0415 - only where something is compared

            saved = self.settings.baseline
            name = saved.name if saved else self.settings.candidates[0].name
            self._comparing = Comparing(name, saved, self.settings.accepts_review, self._workbenches_of_all())
        return self._comparing

    def _workbenches_of_all(self) -> Mapping[str, Workbench]:
        if not self._workbenches:
            is_worker = hasattr(self._config, "workerinput")
            self._workbenches = {
                name: Workbench(bench, self.subjects, self._recipes, shared=is_worker)
                for name, bench in self._known().benches.items()
            }
        return self._workbenches

    def _known(self) -> Shared:
        if self.shared is None:
            raise EvaluationError("nothing is evaluated while tests are only collected")
        return self.shared

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Register the fixtures here, where a user's own ones of those names go before them."""
        from gitleaks_eval.plugin.fixtures import register_fixtures  # noqa: PLC0415 - it imports this module

        register_fixtures(session, self)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Collect our modules also where the user's `python_files` would not."""
        if file_path.parent not in FOLDERS or not fnmatch(file_path.name, "test_*.py"):
            return None
        patterns = self._config.getini("python_files")
        usual = parent.session.isinitpath(file_path) or any(fnmatch(file_path.name, pattern) for pattern in patterns)
        return None if usual else self.pytest_pycollect_makemodule(file_path, parent)

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Give our modules outside rootdir their path as node id, so that it can be pasted back."""
        from gitleaks_eval.plugin.fixtures import register_fixtures  # noqa: PLC0415 - it imports this module

        if module_path.parent not in FOLDERS:
            return None
        nodeid: Any = None if self.settings.root in module_path.parents else module_path.as_posix()
        module: _CheckModule = _CheckModule.from_parent(parent, path=module_path, nodeid=nodeid)
        # Nearer than a user's conftest.py: an `analysis` of theirs must not be what the shipped checks look at.
        if module_path.parent == JUDGES and self.judging:
            from gitleaks_eval.plugin.judges import register_judge_fixtures  # noqa: PLC0415 - only where there are judges

            register_judge_fixtures(module, self.judging)
        elif module_path.parent in {LINT, FINDINGS}:
            from gitleaks_eval.plugin.extras import register_fixtures_beside  # noqa: PLC0415 - only where they are collected

            register_fixtures_beside(module, self)
        elif not self._config.getoption("showfixtures"):
            register_fixtures(module, self)
        return module

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Attach to a check what it is: also a broken fixture must not remove it from the count."""
        mark = item.get_closest_marker(CHECK_MARK)
        if mark is None:
            return
        try:
            check_id, name, category = marks.checked(*mark.args, **mark.kwargs)
        except (TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}; write @check(id, name, category=...)") from None
        if (category == CONFIG_LINT) != (item.path.parent == LINT):
            raise pytest.UsageError(f"{item.nodeid}: the category {category!r} is ours; name another one")
        trial, linted = trial_of(item), linted_of(item)
        scenario = trial.subject.name if trial else None
        candidate = trial.candidate if trial else linted.name if linted else ""
        identity = Identity(sys.intern(check_id), sys.intern(name), sys.intern(category), scenario, candidate)
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
        self._own_deselected.update(self._own(items))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say what was selected, and have the first analyses made."""
        selected = {item.nodeid: item.stash[IDENTITY] for item in session.items if IDENTITY in item.stash}
        beside = any(item.path.parent == FINDINGS for item in session.items)
        self.collected = Collected(selected, self._own_deselected + self._own(session.items), beside)
        if self.shared is None:
            return
        if all(IDENTITY in item.stash or item.path.parent in FOLDERS for item in session.items):
            # All that is loaded and collected stays to the end: no collection of garbage has to walk it.
            gc.freeze()
        if not hasattr(self._config, "workerinput"):
            self.start(selected.values())
            return
        path = self.folder / COLLECTED
        if not path.exists():
            write_atomically(path, self.collected.as_json().encode())

    def start(self, identities: Iterable[Identity]) -> None:
        """Have the analyses made that these checks look at, each candidate's in this order."""
        names: dict[str, dict[str, None]] = {candidate.name: {} for candidate in self.settings.candidates}
        for identity in identities:
            if identity.scenario:
                names[identity.candidate][identity.scenario] = None
        for candidate, of_candidate in names.items():
            self.workbench(candidate).start(of_candidate)

    def _own(self, items: Iterable[pytest.Item]) -> Counter[str]:
        """How many of a user's own checks there are by candidate; those of real repositories enter no score."""
        real = {repository.name for repository in self.repositories}
        identities = [
            item.stash[IDENTITY] for item in items if IDENTITY in item.stash and item.path.parent not in {CHECKS, LINT}
        ]
        first = self.settings.candidates[0].name
        return Counter(one.candidate or first for one in identities if one.scenario not in real)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the outcome and the evidence of a check, and show our own failures without our internals."""
        report = yield
        left = self.left
        if report.when == "teardown":
            self.left = Evidence()
        identity = item.stash.get(IDENTITY, None)
        if identity is None:
            if item.path.parent == FINDINGS:
                if outcome := _outcome(report, call):
                    item.user_properties[:] = _outcome_properties(outcome, left, call)
                    report.user_properties = list(item.user_properties)
                _show_message_only(report, call)
                self._excuse_beside(report, item)
            return report
        outcome = _outcome(report, call)
        if outcome:
            evidence = _outcome_properties(outcome, left, call)
            item.user_properties[:] = _others(item.user_properties) + _identity_properties(identity) + evidence
            report.user_properties = list(item.user_properties)
        _show_message_only(report, call)
        if outcome == FAILED and self.comparing and (trial := trial_of(item)):
            check, parameters = getattr(item, "obj"), getattr(item, "callspec").params  # noqa: B009 - of test functions
            excuse_report(report, self.comparing.excuse(trial, identity.check_id, check, parameters))
        if identity.category == CONFIG_LINT:
            self._excuse_beside(report, item)
        return report

    def _excuse_beside(self, report: pytest.TestReport, item: pytest.Item) -> None:
        if not (self.comparing and report.failed and report.when == "call"):
            return
        from gitleaks_eval.plugin.extras import excuse_beside  # noqa: PLC0415 - only where they are collected

        excuse_report(report, excuse_beside(item, self, self.comparing))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Stop what still runs, before reports are written."""
        for workbench in self._workbenches.values():
            workbench.close()


def trial_of(item: pytest.Item) -> Trial | None:
    """The candidate and scenario that a test is about."""
    callspec = getattr(item, "callspec", None)
    trial = callspec.params.get("gitleaks_trial") if callspec else None
    return trial if isinstance(trial, Trial) else None


def linted_of(item: pytest.Item) -> Candidate | None:
    """The candidate whose configuration a test is about."""
    callspec = getattr(item, "callspec", None)
    candidate = callspec.params.get("linted") if callspec else None
    return candidate if isinstance(candidate, Candidate) else None


def _needs_truth(item: pytest.Item) -> bool:
    """Whether this is a check that compares with a ground truth, on a real repository, which has none."""
    trial = trial_of(item)
    real = trial is not None and isinstance(trial.subject, RealRepository)
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


def _outcome_properties(outcome: str, left: Evidence, call: pytest.CallInfo[None]) -> list[tuple[str, object]]:
    message = left.message
    if call.excinfo and not (isinstance(call.excinfo.value, CheckFailed) and left.message):
        value = call.excinfo.value
        text = str(getattr(value, "msg", None) or value)
        own = isinstance(value, (AssertionError, EvaluationError, pytest.skip.Exception, pytest.fail.Exception))
        lines = (text if own else f"{type(value).__name__}: {text}").strip().splitlines()
        message = "\n".join(map(printable, lines))[:2000]
    return [
        _property("outcome", outcome),
        _property("message", message),
        _property("expected", json.dumps(json_value(left.expected))),
        _property("actual", json.dumps(json_value(left.actual))),
    ]


def excuse_report(report: pytest.TestReport, reason: str | None) -> None:
    """Report a failure as expected, because of this reason; it stays a failed check in every score."""
    if reason and report.failed:
        report.outcome = "skipped"
        report.wasxfail = reason


def _show_message_only(report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
    if call.excinfo is None:
        return
    value = call.excinfo.value
    if isinstance(value, (CheckFailed, EvaluationError)) or getattr(value, "pytrace", True) is False:
        report.longrepr = _message_only(call.excinfo)


def _message_only(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    shown = excinfo.getrepr(style="value", chain=False)
    if shown.reprcrash:
        # The short summary shows this: without the name of the exception class.
        shown.reprcrash.message = str(excinfo.value)
    return shown
