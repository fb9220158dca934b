"""The hooks of each process that collects and runs checks: serial runs, and each worker of a parallel one."""

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.checks import CHECK_MARK, marked
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.result import CONFIG_LINT, FAILED, SURVEY, Collected, Identity
from gitleaks_eval.config.names import NAMES
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.coverage.result import TEST
from gitleaks_eval.engine.settings.candidates import Candidate, Trial
from gitleaks_eval.engine.settings.selection import RULES
from gitleaks_eval.engine.survey.coverage import start_survey
from gitleaks_eval.engine.survey.without_entries import accepted_in, explained
from gitleaks_eval.plugin.extras import excuse_beside, register_fixtures_beside
from gitleaks_eval.plugin.fixtures import PARAMETER, parameters_of, register_fixtures, register_real_fixtures
from gitleaks_eval.plugin.folders import CHECKS, FINDINGS, FOLDERS, JUDGES, LINT, REAL, SURVEYS
from gitleaks_eval.plugin.outcome import (
    Left,
    excuse_report,
    identity_properties,
    outcome_of,
    outcome_properties,
    show_message_only,
    without_ours,
    without_source,
)
from gitleaks_eval.plugin.state import COLLECTED, IDENTITY, ITEMS, TakingPart
from gitleaks_eval.plugin.surveys import (
    OwnTest,
    OwnTests,
    own_files,
    own_tests,
    register_survey_fixtures,
    survey_identity,
)
from gitleaks_eval.scenarios.scenario import RealRepository


class _CheckModule(pytest.Module):
    """One of our modules: its functions are tests whatever the user's `python_functions` says.

    `left_out` names those that have nothing to look at; `more` has the files that are collected behind it.
    """

    left_out: Collection[str] = ()
    more: Callable[[pytest.Module], Iterable[pytest.File]] = staticmethod(lambda _: ())

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield its functions, and the files that users wrote of the same kind."""
        yield from super().collect()
        yield from self.more(self)

    def funcnamefilter(self, name: str) -> bool:
        return name.startswith("test_") and name not in self.left_out


def register_items(config: pytest.Config, part: TakingPart) -> "Items":
    """Let what takes part collect and be run."""
    items = Items(config, part)
    config.pluginmanager.register(items, ITEMS)
    return items


class Items:
    """The hooks that collect checks, give them what they ask for, and attach what they left."""

    def __init__(self, config: pytest.Config, part: TakingPart) -> None:
        self.session = part.session
        self.judging = part.judging
        self.pairwise = part.pairwise
        self.checks = part.checks
        self.left = Left()
        self.collected = Collected({}, {})
        self._config = config
        self._own_deselected: Counter[str] = Counter()
        self._category_marks: dict[str, pytest.MarkDecorator] = {}
        self._only_passed: set[Path] | None = None

    def collects(self, folder: Path) -> bool:
        """Return whether this run has the tests of one of our folders."""
        if folder == JUDGES:
            return self.judging is not None
        if folder == LINT:
            candidates = self.session.settings.candidates
            return self.checks and any(
                candidate.configuration and candidate.configuration.chain for candidate in candidates
            )
        if folder == SURVEYS:
            return self.checks and bool(self.session.settings.surveys)
        return self.checks

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Register the fixtures here, where a user's own ones of those names go before them."""
        register_fixtures(session, self.session, self.left)

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(
        self, collection_path: Path, config: pytest.Config
    ) -> Generator[None, bool | None, bool | None]:
        """Go to those of our modules that are asked for, and look at nothing beside the way: there may be hundreds.

        Where a folder is named that holds ours, pytest takes them as one, and goes into no virtual environment.
        """
        left_out = yield
        if self._only_passed is None:
            session = config.pluginmanager.get_plugin("session")
            self._only_passed = set(_not_asked_for(session)) if session else set()
        if not left_out and collection_path.parent not in self._only_passed:
            return left_out
        wanted = _asked_for(config)
        if collection_path in wanted:
            return collection_path in FOLDERS and not self.collects(collection_path)
        on_the_way = any(collection_path in path.parents for path in wanted)
        if on_the_way:
            self._only_passed.add(collection_path)
        return not on_the_way

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Module | OwnTests | None:
        """Collect our modules also where the user's `python_files` would not."""
        if file_path.name in NAMES and self.checks and parent.session.isinitpath(file_path):
            return own_tests(parent, file_path, self.session, self.left)
        if file_path.parent not in FOLDERS or not fnmatch(file_path.name, "test_*.py"):
            return None
        patterns = self._config.getini("python_files")
        usual = parent.session.isinitpath(file_path) or any(fnmatch(file_path.name, pattern) for pattern in patterns)
        if usual:
            return None
        made: pytest.Module = parent.ihook.pytest_pycollect_makemodule(module_path=file_path, parent=parent)
        return made

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
        """Give our modules outside rootdir their path as node id, so that it can be pasted back."""
        if module_path.parent not in FOLDERS:
            return None
        nodeid: Any = None if self.session.settings.root in module_path.parents else module_path.as_posix()
        module: _CheckModule = _CheckModule.from_parent(parent, path=module_path, nodeid=nodeid)
        # Nearer than a user's conftest.py: an `analysis` of theirs must not be what the shipped checks look at.
        if module_path.parent == SURVEYS:
            module.left_out = register_survey_fixtures(module, self.session, self.left)
            if RULES in self.session.settings.surveys:
                module.more = self._own_files
        elif module_path == REAL:
            module.left_out = register_real_fixtures(module, self.session)
        elif module_path.parent in {LINT, FINDINGS}:
            register_fixtures_beside(module, self.session)
        elif module_path.parent == CHECKS and not self._config.getoption("showfixtures"):
            register_fixtures(module, self.session, self.left)
        return module

    def _own_files(self, module: pytest.Module) -> Iterable[pytest.File]:
        return own_files(module, self.session, self.left)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Attach to a check what it is: also a broken fixture must not remove it from the count."""
        if item.path.parent == SURVEYS or isinstance(item, OwnTest):
            self._identify(item, survey_identity(item))
            return
        mark = item.get_closest_marker(CHECK_MARK)
        if mark is None:
            return
        try:
            check_id, name, category, critical, about, caps = marked.checked(*mark.args, **mark.kwargs)
        except (TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: {error}; write @check(id, name, category=...)") from None
        if caps and item.path.parent != CHECKS:
            raise pytest.UsageError(f"{item.nodeid}: only shipped checks cap judges; leave `caps` out")
        if (category == CONFIG_LINT) != (item.path.parent == LINT) or category == SURVEY:
            raise pytest.UsageError(f"{item.nodeid}: the category {category!r} is ours; name another one")
        trial, linted = trial_of(item), linted_of(item)
        scenario = trial.subject.name if trial else None
        candidate = trial.candidate if trial else linted.name if linted else ""
        identity = Identity(
            sys.intern(check_id), sys.intern(name), sys.intern(category), scenario, candidate, critical, about
        )
        self._identify(item, identity)
        item.add_marker(self._category_mark(category))

    def _identify(self, item: pytest.Item, identity: Identity) -> None:
        item.stash[IDENTITY] = identity
        item.user_properties.extend(identity_properties(identity))

    def _category_mark(self, category: str) -> pytest.MarkDecorator:
        # One for all its items: a thousand scenarios are tens of thousands of them.
        if category not in self._category_marks:
            marker = marked.category_marker(category)
            self._config.addinivalue_line("markers", f"{marker}: the category {category}")
            self._category_marks[category] = getattr(pytest.mark, marker)
        return self._category_marks[category]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Run checks module by module, as people read them; pytest groups them by scenario.

        On real repositories run those that need no ground truth, and no other; on nothing, none.
        """
        if self.session.repositories:
            items[:] = [item for item in items if not _needs_truth(item)]
        if not self.session.subjects:
            # For parameters of which there are none pytest makes a test that it skips.
            items[:] = [item for item in items if PARAMETER not in getattr(item, "fixturenames", ())]
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
        if self.session.shared is None:
            return
        if not hasattr(self._config, "workerinput"):
            self._start(self.collected)
        elif not (path := self.session.folder / COLLECTED).exists():
            write_atomically(path, self.collected.as_json().encode())

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Make here the analyses that parallel workers wait for: all of them have collected the same."""
        if self.session.shared and not self.collected.identities:
            self.collected = Collected.from_json((self.session.folder / COLLECTED).read_bytes())
            self._start(self.collected)

    def _start(self, collected: Collected) -> None:
        selected = collected.identities.values()
        self.session.start(selected)
        # What users wrote of their rules is one scan of its own.
        asked = {
            identity.candidate for identity in selected if identity.category == SURVEY and identity.check_id != TEST
        }
        for candidate in self.session.settings.candidates:
            if candidate.name in asked:
                start_survey(self.session, candidate)

    def _own(self, items: Iterable[pytest.Item]) -> Counter[str]:
        """Return how many of a user's own checks there are by candidate; those of real repositories enter no score."""
        real = {repository.name for repository in self.session.repositories}
        ours = {CHECKS, LINT, SURVEYS}
        checks = [
            item
            for item in items
            if IDENTITY in item.stash and item.path.parent not in ours and not isinstance(item, OwnTest)
        ]
        identities = [item.stash[IDENTITY] for item in checks]
        first = self.session.settings.candidates[0].name
        return Counter(identity.candidate or first for identity in identities if identity.scenario not in real)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the outcome and the evidence of a check, and show our own failures without our internals."""
        shown_by_us = IDENTITY in item.stash or item.path.parent == FINDINGS
        with without_source(self._config, call) if shown_by_us else contextlib.nullcontext():
            report = yield
        left = self.left.evidence
        if report.when == "teardown":
            self.left.evidence = Evidence()
        if not shown_by_us:
            return report
        identity, outcome = item.stash.get(IDENTITY, None), outcome_of(report, call)
        if outcome:
            known = [*without_ours(item.user_properties), *identity_properties(identity)] if identity else []
            item.user_properties[:] = [*known, *outcome_properties(outcome, left, call)]
            report.user_properties = list(item.user_properties)
        show_message_only(report, call)
        if identity and outcome == FAILED and (trial := trial_of(item)):
            self._excuse_check(report, item, trial, identity)
        if identity is None or identity.category in {CONFIG_LINT, SURVEY}:
            self._excuse_beside(report, item)
        return report

    def _excuse_check(self, report: pytest.TestReport, item: pytest.Item, trial: Trial, identity: Identity) -> None:
        check, parameters = getattr(item, "obj"), parameters_of(item)  # noqa: B009 - of test functions
        if self.session.comparing:
            accepted = accepted_in(self.session, trial)
            excuse_report(report, self.session.comparing.excuse(trial, identity, check, parameters, accepted=accepted))
        others = self.collected.identities.values()
        excuse_report(
            report, explained(self.session, trial, identity, check=check, parameters=parameters, others=others)
        )

    def _excuse_beside(self, report: pytest.TestReport, item: pytest.Item) -> None:
        if report.failed and report.when == "call":
            excuse_report(report, excuse_beside(item, self.session, self.left.evidence.actual))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Stop what still runs; the hook that ends the run goes before this one, and compares times."""
        self.session.close()


def _asked_for(config: pytest.Config) -> set[Path]:
    """Return our folders and modules that are named, or added by a flag."""
    named = {config.invocation_params.dir / argument.partition("::")[0] for argument in config.args}
    paths = (Path(os.path.abspath(path)) for path in named)  # noqa: PTH100 - resolve() would follow links
    return {path for path in paths if path in FOLDERS or path.parent in FOLDERS}


def _not_asked_for(session: pytest.Session) -> Iterator[Path]:
    """Return the folders above our modules that nobody asked to collect."""
    for folder in (PACKAGE, *PACKAGE.parents):
        if not any(map(session.isinitpath, (folder, *folder.parents))):
            yield folder


def trial_of(item: pytest.Item) -> Trial | None:
    """Return the candidate and scenario that a test is about."""
    trial = parameters_of(item).get(PARAMETER)
    return trial if isinstance(trial, Trial) else None


def linted_of(item: pytest.Item) -> Candidate | None:
    """Return the candidate whose configuration a test is about."""
    candidate = parameters_of(item).get("linted")
    return candidate if isinstance(candidate, Candidate) else None


def _needs_truth(item: pytest.Item) -> bool:
    """Return whether this is a check that compares with a ground truth, on a real repository, which has none."""
    trial = trial_of(item)
    real = trial is not None and isinstance(trial.subject, RealRepository)
    return real and "expected" in getattr(item, "fixturenames", ())
