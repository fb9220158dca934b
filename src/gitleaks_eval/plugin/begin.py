"""The beginning of a run in the process that reports to the user: scanners, header, what is shared, the ledger."""

import pickle
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.checks.result import ERROR, SURVEY
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.core.progress import UNDER_WAY, Watch, to_terminal
from gitleaks_eval.core.text import printable, shown_path, without_surrogates
from gitleaks_eval.engine.scan.under_test import UnderTest
from gitleaks_eval.engine.session.begin import find_scanners, judged_title, lay_out
from gitleaks_eval.engine.survey.coverage import check_own_tests, start_survey
from gitleaks_eval.plugin.command_line import is_narrowed, is_typed, only_shows
from gitleaks_eval.plugin.finish import Finish
from gitleaks_eval.plugin.folders import CHECKS
from gitleaks_eval.plugin.items import register_items
from gitleaks_eval.plugin.ledger import Recorder
from gitleaks_eval.plugin.state import WORKER_INPUT, TakingPart
from gitleaks_eval.reports.output.files import read_report
from gitleaks_eval.reports.output.folder import PARTIAL, naming_output
from gitleaks_eval.reports.output.report import ANALYSES, REPORT, planned, within
from gitleaks_eval.scanners.load_errors import is_refusal
from gitleaks_eval.scenarios.scenario import corpus_sha256
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED

NOT_APPLICABLE_STATUS = ("not applicable", "n", ("N/A", {"cyan": True}))


class Begin:
    """The hooks that begin a run, in the one process that keeps the ledger."""

    def __init__(self, config: pytest.Config, part: TakingPart) -> None:
        self._config = config
        self._part = part
        self._session = part.session
        self._settings = part.session.settings
        self._recorder = Recorder()
        self._under_test: list[UnderTest] = []
        self._private = ExitStack()
        self._watch: Watch | None = None
        self._is_full = bool(config.getoption("gitleaks_eval"))
        self._only_collects = only_shows(config)
        self._names_tests = config.get_verbosity(pytest.Config.VERBOSITY_TEST_CASES) > 0
        self._is_telling = False
        self._saved = None if part.checks else self._saved_report()
        _check_parallel(config)
        if self._is_full and not self._only_collects:
            self._check_output()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None]:
        """Find the scanners before the header names them, begin to scan, and then load what a scan need not wait for.

        Raises:
            pytest.UsageError: when there is no room for temporary files, or a test is of a rule that is not there.
        """
        self._find()
        yield
        self._name_what_is_evaluated()
        self._start_ahead()
        items = register_items(self._config, self._part)
        # This hook is under way: it does not see whoever comes now.
        items.pytest_sessionstart(session)
        finish = Finish(self._config, items, self._under_test, self._recorder, self._saved)
        self._config.pluginmanager.register(finish, "gitleaks_eval_closing")

    def _find(self) -> None:
        try:
            check_room()
        except InputError as error:
            raise pytest.UsageError(str(error)) from None
        folder = None
        if not self._only_collects:
            sweep()
            folder = self._private.enter_context(private_folder())
        self._under_test += find_scanners(self._settings, self._progress, folder)
        self._session.builds = {tested.candidate.name: tested.build for tested in self._under_test}
        try:
            for candidate in self._settings.candidates:
                if any(beside.tests for beside in self._session.beside[candidate.name]):
                    check_own_tests(self._session, candidate)
        except InputError as error:
            raise pytest.UsageError(str(error)) from None
        if folder:
            self._share(folder)

    def pytest_report_header(self) -> list[str]:
        """Return what is in force."""
        return self._in_force("gitleaks-eval")

    def _in_force(self, title: str) -> list[str]:
        settings = self._settings
        count = len(self._session.scenarios)
        sources = [*settings.scenario_sources, *settings.corpora]
        parts = [f"{count} scenario{'' if count == 1 else 's'} ({', '.join(sources)})"] if sources else []
        if real := len(self._session.repositories):
            parts.append(f"{real} real repositor{'y' if real == 1 else 'ies'}")
        parts += self._judges()
        if settings.analyses is not None:
            folder = shown_path(settings.analyses, self._config.invocation_params.dir)
            parts[:0] = [f"analyses in {folder} (nothing is scanned)", "config as in the analyses"]
        elif len(self._under_test) == 1:
            parts[:0] = [self._under_test[0].title(settings.root)]
        else:
            parts[:0] = [f"{len(self._under_test)} candidates"]
        if settings.only:
            parts.append(f"only {', '.join(settings.only)}")
        if settings.seed != DEFAULT_SEED:
            parts.append(f"seed {settings.seed}")
        if settings.baseline:
            parts.append(f"baseline {settings.baseline.name}")
        lines = [f"{title}: {' | '.join(parts)}"]
        if len(self._under_test) > 1:
            for index, tested in enumerate(self._under_test):
                mark = " (baseline)" if index == 0 and not settings.baseline else ""
                lines.append(f"  {tested.candidate.name}{mark}: {tested.title(settings.root)}")
        return [printable(line) for line in lines]

    def _name_what_is_evaluated(self) -> None:
        """Say it where `-q` leaves out the header, too: a green end must not be taken for another configuration's."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal and self._config.get_verbosity() < 0 and not self._only_collects:
            for line in self._in_force("evaluated"):
                terminal.write_line(line)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand a parallel worker what the run shares."""
        if self._session.shared:
            node.workerinput[WORKER_INPUT] = pickle.dumps(self._session.shared)

    def _start_ahead(self) -> None:
        """Begin while pytest collects, with what will be selected for sure; parallel workers wait for it."""
        if self._session.shared:
            chosen = ("keyword", "markexpr", "lf", "deselect", "stepwise", "maxfail")
            narrowed = any(self._config.getoption(name, None) for name in chosen)
            is_whole = str(CHECKS) in self._config.args and not narrowed
            names = [subject.name for subject in self._session.subjects] if is_whole else []
            for candidate in self._settings.candidates if is_whole or is_typed(self._config) else ():
                self._session.workbench(candidate.name).start(names)
            for candidate in self._settings.candidates if is_whole else ():
                start_survey(self._session, candidate)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be collected: it may hold checks, so the run is not complete."""
        if report.failed:
            self._recorder.broken_files.append(report.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Take a report into the ledger, and let it be told."""
        self._recorder.record(report)
        self._is_telling = self._names_tests
        if self._watch and report.when == "call":
            self._watch.heard()
        try:
            return (yield)
        finally:
            self._is_telling = False

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> Generator[None, Any, Any]:
        """Show a check that does not apply as that, not as skipped; and with `-v`, while it is told, by its name."""
        status = yield
        if report.skipped and ("outcome", "not_applicable") in report.user_properties:
            status = NOT_APPLICABLE_STATUS
        if report.failed and isinstance(report, pytest.TestReport) and _is_refusal(report):
            # Each check counts, and what is wrong is told once.
            return (status[0], "", "")
        return _named(status, dict(report.user_properties)) if self._is_telling and status else status

    def pytest_unconfigure(self) -> None:
        """Remove what the run shared."""
        if self._watch:
            self._watch.stop()
        # A run that ends before its tests has nobody else who would.
        self._session.close()
        self._private.close()

    def _saved_report(self) -> Mapping[str, Any]:
        return read_report(
            self._settings.output,
            corpus_sha256(self._session.scenarios),
            scanned=self._settings.analyses == self._settings.output / ANALYSES,
        )

    def _check_output(self) -> None:
        settings, subjects = self._settings, [subject.name for subject in self._session.subjects]
        folders = [candidate.folder for candidate in settings.candidates]
        narrowed = is_narrowed(self._config)
        names = planned(
            [within(folder, PARTIAL) for folder in folders] if narrowed else folders,
            [scenario.name for scenario in self._session.scenarios],
            [] if settings.analyses else subjects,
            compares=settings.compares and not narrowed,
        )
        with naming_output(settings.reports):
            if not narrowed:
                settings.reports.make()
            # Beside a baseline in their place they go to the folder of a version that is not known yet.
            if not settings.reports.is_read(settings.output / REPORT):
                settings.reports.refuse_read(names)

    def _judges(self) -> Iterator[str]:
        if judging := self._part.judging or self._part.pairwise:
            used = judging.settings
            by = f"({' '.join(filter(None, (used.mode, used.model)))})"
            number = len(self._part.judging.judges) if self._part.judging else 0
            names = [f"{number} judges"] * bool(number) + ["the pairwise judge"] * bool(self._part.pairwise)
            yield f"{' and '.join(names)} {by}"

    def _progress(self, text: str) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.write_line(printable(text))
            terminal.flush()

    def _share(self, folder: Path) -> None:
        if self._config.pluginmanager.has_plugin("terminalreporter"):
            self._watch = Watch(folder / UNDER_WAY, to_terminal())
        titles = [self._judged_title(tested) for tested in self._under_test]
        self._session.shared = lay_out(self._settings, self._under_test, folder, titles)

    def _judged_title(self, under_test: UnderTest) -> str:
        fields = self._saved["scanner"] if self._saved else under_test.fields(self._settings.root, {})
        return judged_title(fields["name"], fields["version"], fields["config_sha256"], under_test.candidate.options)


def _is_refusal(report: pytest.TestReport) -> bool:
    properties = dict(report.user_properties)
    return properties.get("outcome") == ERROR and is_refusal(str(properties["message"]))


def _named(status: Any, properties: Mapping[str, object]) -> Any:
    """Return the status with what the check is called: its node id has the function's name."""
    category, letter, word = status
    if not word or "check_id" not in properties or properties["category"] == SURVEY:
        return status
    named = printable(
        " :: ".join(filter(None, [str(properties["scenario"]), f"{properties['check_id']} {properties['name']}"]))
    )
    text, *markup = word if isinstance(word, tuple) else (word,)
    return category, letter, (f"{text} {named}", *markup) if markup else f"{text} {named}"


def _check_parallel(config: pytest.Config) -> None:
    """Refuse what pytest-xdist could not hand to its workers: it would end in an INTERNALERROR of its own."""
    if not config.getoption("tx", None):
        return
    for text in (str(config.rootpath), str(config.invocation_params.dir), *map(str, config.invocation_params.args)):
        if text != without_surrogates(text):
            raise InputError(f"-n: {text} is no UTF-8, and pytest-xdist takes nothing else; rename it, or leave -n out")
