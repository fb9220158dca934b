"""The beginning of a run in the process that reports to the user: scanners, header, what is shared, the ledger."""

import secrets
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import copy_configuration
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.core.text import printable, shown_path, without_surrogates
from gitleaks_eval.engine.settings import report_folder
from gitleaks_eval.engine.shared import Bench, Shared
from gitleaks_eval.engine.under_test import UnderTest, find_under_test
from gitleaks_eval.engine.watching import UNDER_WAY, Watch, to_terminal
from gitleaks_eval.plugin.arguments import is_narrowed, only_shows
from gitleaks_eval.plugin.command_line import is_typed
from gitleaks_eval.plugin.folders import CHECKS
from gitleaks_eval.plugin.items import WORKER_INPUT, Evaluation
from gitleaks_eval.plugin.ledger import Recorder
from gitleaks_eval.reports.files import planned, within
from gitleaks_eval.reports.folder import ANALYSES, ELSEWHERE, PARTIAL, REPORT, ReportFolder, is_any, is_partial

NOT_APPLICABLE_STATUS = ("not applicable", "n", ("N/A", {"cyan": True}))


def begin_reports(root: Root, *, narrowed: bool) -> None:
    """Remove what earlier runs wrote; one that selects checks removes what earlier ones of its kind wrote.

    Raises:
        InputError: when the folder of the reports cannot be used.
    """
    is_full = root.getoption("gitleaks_eval")
    if not (is_full or root.getoption("gitleaks_judges")):
        return
    reports = report_folder(root)
    with _naming_output(reports):
        if is_full:
            reports.forget(is_partial if narrowed else is_any)
        else:
            reports.refuse_links()


class Controller:
    """The hooks that begin a run, in the one process that keeps the ledger."""

    def __init__(self, config: pytest.Config, evaluation: Evaluation) -> None:
        self._config = config
        self._evaluation = evaluation
        self._settings = evaluation.settings
        self._recorder = Recorder()
        self._under_test: list[UnderTest] = []
        self._private = ExitStack()
        self._watch: Watch | None = None
        self._is_full = bool(config.getoption("gitleaks_eval"))
        self._only_collects = only_shows(config)
        self._saved = None if evaluation.checks else self._saved_report()
        _check_parallel(config)
        if self._is_full and not self._only_collects:
            self._check_output()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find the scanners before the header names them, and lay out what the workers share.

        Raises:
            pytest.UsageError: when there is no room for temporary files.
        """
        folder = None
        try:
            check_room()
        except InputError as error:
            raise pytest.UsageError(str(error)) from None
        if not self._only_collects:
            sweep()
            folder = self._private.enter_context(private_folder())
        for index, candidate in enumerate(self._settings.candidates):
            if self._settings.analyses is None:
                private = self._candidate_folder(folder, index) if folder else None
                found = find_under_test(candidate, self._progress, private)
            else:
                found = UnderTest(candidate)
            self._under_test.append(found)
        if folder:
            self._share(folder)

    def pytest_report_header(self) -> list[str]:
        """What is in force."""
        settings = self._settings
        count = len(self._evaluation.scenarios)
        sources = [*settings.scenario_sources, *settings.corpora]
        parts = [f"{count} scenario{'' if count == 1 else 's'} ({', '.join(sources)})"] if sources else []
        if real := len(self._evaluation.repositories):
            parts.append(f"{real} real repositor{'y' if real == 1 else 'ies'}")
        if judging := self._evaluation.judging:
            model = "" if judging.settings.mode == "heuristic" else f" {judging.settings.model}"
            parts.append(f"{len(judging.judges)} judges ({judging.settings.mode}{model})")
        if settings.analyses is not None:
            folder = shown_path(settings.analyses, self._config.invocation_params.dir)
            parts[:0] = [f"analyses in {folder} (nothing is scanned)", "config as in the analyses"]
        elif len(self._under_test) == 1:
            parts[:0] = [self._under_test[0].title(settings.root)]
        else:
            parts[:0] = [f"{len(self._under_test)} candidates"]
        if settings.only:
            parts.append(f"only {', '.join(settings.only)}")
        if settings.baseline:
            parts.append(f"baseline {settings.baseline.name}")
        lines = [f"gitleaks-eval: {' | '.join(parts)}"]
        if len(self._under_test) > 1:
            for index, one in enumerate(self._under_test):
                mark = " (baseline)" if index == 0 and not settings.baseline else ""
                lines.append(f"  {one.candidate.name}{mark}: {one.title(settings.root)}")
        return [printable(line) for line in lines]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand a parallel worker what the run shares."""
        if self._evaluation.shared:
            node.workerinput[WORKER_INPUT] = self._evaluation.shared.as_json()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Begin while pytest collects, with what will be selected for sure; in a parallel run the workers do."""
        if self._evaluation.shared and not self._config.pluginmanager.has_plugin("dsession"):
            chosen = ("keyword", "markexpr", "lf", "deselect", "stepwise", "maxfail")
            narrowed = any(self._config.getoption(name, None) for name in chosen)
            is_whole = str(CHECKS) in self._config.getoption("file_or_dir") and not narrowed
            names = [subject.name for subject in self._evaluation.subjects] if is_whole else []
            for candidate in self._settings.candidates if is_whole or is_typed(self._config) else ():
                self._evaluation.workbench(candidate.name).start(names)
        from gitleaks_eval.plugin.finish import Closing  # noqa: PLC0415 - loaded while the first scans are under way

        closing = Closing(self._config, self._evaluation, self._under_test, self._recorder, self._saved)
        self._config.pluginmanager.register(closing, "gitleaks_eval_closing")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected may hold checks: the run is not complete."""
        if report.failed:
            self._recorder.broken_files.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report into the ledger."""
        self._recorder.record(report)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """Show a check that does not apply as that, not as skipped."""
        if report.skipped and ("outcome", "not_applicable") in report.user_properties:
            return NOT_APPLICABLE_STATUS
        return None

    def pytest_unconfigure(self) -> None:
        """Remove what the run shared."""
        if self._watch:
            self._watch.stop()
        self._private.close()

    def _saved_report(self) -> Mapping[str, Any]:
        from gitleaks_eval.reports.assembly import corpus_sha256  # noqa: PLC0415 - only judges that run alone read it
        from gitleaks_eval.reports.judges import read_report  # noqa: PLC0415 - the same

        return read_report(
            self._settings.output,
            corpus_sha256(self._evaluation.scenarios),
            scanned=self._settings.analyses == self._settings.output / ANALYSES,
        )

    def _check_output(self) -> None:
        settings, subjects = self._settings, [subject.name for subject in self._evaluation.subjects]
        folders = [candidate.folder for candidate in settings.candidates]
        narrowed = is_narrowed(self._config)
        names = planned(
            [within(folder, PARTIAL) for folder in folders] if narrowed else folders,
            [scenario.name for scenario in self._evaluation.scenarios],
            [] if settings.analyses else subjects,
            compares=settings.compares and not narrowed,
        )
        with _naming_output(settings.reports):
            if not narrowed:
                settings.reports.make()
            # Beside a baseline in their place they go to the folder of a version that is not known yet.
            if not settings.reports.is_read(settings.output / REPORT):
                settings.reports.refuse_foreign(names)

    def _progress(self, text: str) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.write_line(printable(text))
            terminal.flush()

    def _candidate_folder(self, folder: Path, index: int) -> Path:
        # Names may be paths: the folders have numbers.
        own = folder / f"candidate-{index}" if len(self._settings.candidates) > 1 else folder
        own.mkdir(exist_ok=True)
        return own

    def _share(self, folder: Path) -> None:
        if self._config.get_verbosity() >= 0 and self._config.pluginmanager.has_plugin("terminalreporter"):
            self._watch = Watch(folder / UNDER_WAY, to_terminal())
        run_id, trace_key = str(uuid.uuid4()), secrets.token_hex(32) if self._evaluation.judging else ""
        benches = {}
        for index, one in enumerate(self._under_test):
            own = self._candidate_folder(folder, index)
            configuration = one.candidate.configuration
            benches[one.candidate.name] = Bench(
                folder=str(own),
                run_id=run_id,
                scanner=asdict(one.build) if one.build else None,
                scanner_error=one.error,
                config=str(copy_configuration(configuration, own)) if configuration else "",
                timeout_seconds=self._settings.timeout_seconds,
                severity_policy=str(self._settings.severity_policy),
                title=self._judged_title(one),
                trace_key=trace_key,
                turns=str(folder / "turns"),
                decode_depth=one.candidate.decode_depth,
                mode=one.candidate.mode,
            )
        self._evaluation.shared = Shared(str(folder), benches)

    def _judged_title(self, one: UnderTest) -> str:
        """The scanner as judges know it: the same for the same build and configuration, and no path of this machine."""
        fields = self._saved["scanner"] if self._saved else one.fields(self._settings.root, {})
        digest = fields["config_sha256"]
        if digest is None:
            return "the scanner and configuration that made the analyses"
        return f"{fields['name']} {fields['version']}, configuration sha256 {digest[:12]}"


@contextmanager
def _naming_output(reports: ReportFolder) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"--gitleaks-output {reports.path}: cannot be written to: {error.strerror or error}; {ELSEWHERE}"
        ) from None


def _check_parallel(config: pytest.Config) -> None:
    """Refuse what pytest-xdist could not hand to its workers: it would end in an INTERNALERROR of its own."""
    if not config.getoption("tx", None):
        return
    for text in (str(config.rootpath), str(config.invocation_params.dir), *map(str, config.invocation_params.args)):
        if text != without_surrogates(text):
            raise InputError(f"-n: {text} is no UTF-8, and pytest-xdist takes nothing else; rename it, or leave -n out")
