"""The evaluation in the process that reports to the user: header, what is shared, reports, exit status."""

import hashlib
import json
import secrets
import shutil
import signal
import tempfile
import threading
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.catalogue import catalogue
from gitleaks_eval.configuration import copy_configuration
from gitleaks_eval.errors import EvaluationError, InputError
from gitleaks_eval.evaluation import COLLECTED, WORKER_INPUT, Evaluation
from gitleaks_eval.gitleaks import PINNED_VERSION, ScannerBuild, binary_on_path, find_scanner
from gitleaks_eval.judges.verdict import Combined, Judged
from gitleaks_eval.real_repository import RealRepository
from gitleaks_eval.recorder import ERROR, NOT_RUN, CheckResult, Collected, Recorder
from gitleaks_eval.reports.evaluation_report import report_summary
from gitleaks_eval.reports.files import prepare_folder, update_reports, write_reports
from gitleaks_eval.reports.judges import combined_of, combined_with, judges_summary, llm_fields, read_report
from gitleaks_eval.reports.run import RealEvaluation, Run
from gitleaks_eval.reports.terminal import one_line_error, shown_path, summary
from gitleaks_eval.scenario import Scenario
from gitleaks_eval.scoring import count_findings, make_scorecard
from gitleaks_eval.settings import ANALYSES
from gitleaks_eval.workbench import Bench, Subject, analysis_path, read_subject, repository_path

# Options with which pytest runs no test.
_SHOWING = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow")
NOT_APPLICABLE_STATUS = ("not applicable", "n", ("N/A", {"cyan": True}))


class Controller:
    """The hooks of the one process that keeps the ledger and writes the reports."""

    def __init__(self, config: pytest.Config, evaluation: Evaluation) -> None:
        self._config = config
        self._evaluation = evaluation
        self._settings = evaluation.settings
        self._recorder = Recorder()
        self._scanner: ScannerBuild | None = None
        self._scanner_error: str | None = None
        self._folder: Path | None = None
        self._run: Run | None = None
        self._written: str | None = None
        self._is_full = bool(config.getoption("gitleaks_eval"))
        self._only_collects = any(config.getoption(name, None) for name in _SHOWING)
        self._broken_files: list[str] = []
        self._judged_alone: tuple[Judged, Combined | None] | None = None
        self._saved: Mapping[str, Any] | None = None
        if not evaluation.checks:
            self._saved = read_report(
                self._settings.output,
                _corpus_sha256(evaluation.scenarios),
                scanned=self._settings.analyses == self._settings.output / ANALYSES,
            )
        if self._is_full and not self._only_collects:
            self._check_output()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find the scanner before the header names it, and lay out what the workers share."""
        if not self._only_collects:
            _stop_on_signals()
        if self._settings.analyses is None:
            self._find_scanner()
        if not self._only_collects:
            self._share()

    def pytest_report_header(self) -> str:
        """What is in force."""
        settings = self._settings
        parts = [self._scanner_title()]
        if settings.configuration:
            title = settings.configuration.title(settings.root)
            parts.append(f"config {title} (sha256 {settings.configuration.sha256[:8]}, {settings.configuration.why})")
        else:
            parts.append("config as in the analyses")
        count = len(self._evaluation.scenarios)
        parts.append(f"{count} scenario{'' if count == 1 else 's'} ({', '.join(settings.scenario_sources)})")
        if real := len(self._evaluation.repositories):
            parts.append(f"{real} real repositor{'y' if real == 1 else 'ies'}")
        if judging := self._evaluation.judging:
            model = "" if judging.settings.mode == "heuristic" else f" {judging.settings.model}"
            parts.append(f"{len(judging.judges)} judges ({judging.settings.mode}{model})")
        return f"gitleaks-eval: {' | '.join(parts)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand a parallel worker what the run shares."""
        if self._evaluation.bench:
            node.workerinput[WORKER_INPUT] = json.dumps(asdict(self._evaluation.bench))

    def pytest_collection(self) -> None:
        """Begin while pytest collects, with what will be selected for sure; in a parallel run the workers do."""
        if self._evaluation.bench and not self._config.pluginmanager.has_plugin("dsession"):
            chosen = ("keyword", "markexpr", "lf", "deselect", "stepwise", "maxfail")
            narrowed = any(self._config.getoption(name, None) for name in chosen)
            names = [subject.name for subject in self._evaluation.subjects]
            self._evaluation.workbench.start(names if self._is_full and not narrowed else ())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected may hold checks: the run is not complete."""
        if report.failed:
            self._broken_files.append(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report into the ledger."""
        self._recorder.record(report)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """Show a check that does not apply as that, not as skipped."""
        if report.skipped and ("outcome", "not_applicable") in report.user_properties:
            return NOT_APPLICABLE_STATUS
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Score the run and write the reports; a run with the flag and without a check is a usage error."""
        run = self._finished_run()
        if run is None:
            self._finish_judging(session)
            if self._judged_alone is None:
                self._refuse_nothing(session)
            return
        if self._is_full and not self._only_collects:
            self._write(session, lambda: write_reports(run, self._settings.output))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
        """Print the section of the run last, below pytest's list of failures."""
        yield
        if self._run:
            summary(terminalreporter, self._run, self._written, self._config.get_verbosity())
            return
        if self._judged_alone:
            judges_summary(terminalreporter, *self._judged_alone, self._config.get_verbosity())
        if self._written:
            terminalreporter.write_line(self._written, red=self._written.startswith("ERROR"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """Add the summary to pytest-json-report's file."""
        run = self._finished_run()
        if run:
            json_report["gitleaks_eval"] = {
                "summary": report_summary(run),
                "scanner": dict(run.scanner),
                "incomplete": run.incomplete,
                "partial": run.partial,
                "reasons": list(run.reasons),
                **llm_fields(run.judged, run.combined),
            }

    def pytest_unconfigure(self) -> None:
        """Remove what the run shared."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, session: pytest.Session, write: Callable[[], Path]) -> None:
        try:
            folder = write()
        except OSError as error:
            self._written = f"ERROR the reports cannot be written: {error}; name another folder with --gitleaks-output"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            invocation = self._config.invocation_params.dir
            self._written = f"report: {shown_path(folder / 'scorecard.md', invocation)}"

    def _check_output(self) -> None:
        try:
            prepare_folder(self._settings.output)
        except OSError as error:
            raise InputError(
                f"--gitleaks-output {self._settings.output}: cannot be written to: {error.strerror or error}; "
                "name a folder that can"
            ) from None

    def _find_scanner(self) -> None:
        choice = self._settings.scanner
        if self._only_collects and choice.binary is None and not (choice.version is None and binary_on_path()):
            # Only collecting installs nothing.
            self._scanner_error = f"gitleaks {choice.version or PINNED_VERSION} (not looked at while collecting)"
            return
        try:
            self._scanner = find_scanner(choice, self._progress)
        except EvaluationError as error:
            self._scanner_error = str(error)

    def _progress(self, text: str) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.write_line(text)
            terminal.flush()

    def _scanner_title(self) -> str:
        if self._settings.analyses is not None:
            folder = shown_path(self._settings.analyses, self._config.invocation_params.dir)
            return f"analyses in {folder} (nothing is scanned)"
        if self._scanner:
            return self._scanner.title
        if self._only_collects:
            return str(self._scanner_error)
        return f"NO SCANNER: {one_line_error(str(self._scanner_error))}"

    def _share(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="gitleaks-eval-"))
        configuration = self._settings.configuration
        self._evaluation.bench = Bench(
            folder=str(self._folder),
            run_id=str(uuid.uuid4()),
            scanner=asdict(self._scanner) if self._scanner else None,
            scanner_error=self._scanner_error,
            config=str(copy_configuration(configuration, self._folder)) if configuration else "",
            timeout_seconds=self._settings.timeout_seconds,
            severity_policy=str(self._settings.severity_policy),
            title=self._judged_title(),
            trace_key=secrets.token_hex(32) if self._evaluation.judging else "",
        )

    def _judged_title(self) -> str:
        """The scanner as judges know it: the same for the same build and configuration, and no path of this machine."""
        fields = self._saved["scanner"] if self._saved else self._scanner_fields({})
        digest = fields["config_sha256"]
        if digest is None:
            return "the scanner and configuration that made the analyses"
        return f"{fields['name']} {fields['version']}, configuration sha256 {digest[:12]}"

    def _finish_judging(self, session: pytest.Session) -> None:
        """Add the verdicts of judges that ran without any check to the reports that they read."""
        judging = self._evaluation.judging
        if judging is None or self._folder is None or self._only_collects:
            return
        judged = judging.judged(self._folder)
        if judged is None:
            nothing = session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
            if nothing and self._saved and self._config.getoption("gitleaks_judges"):
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
                self._written = "ERROR gitleaks-eval: no judge was collected; see -k, -m and the arguments"
            return
        combined = combined_with(self._saved, judged) if self._saved else None
        self._judged_alone = (judged, combined)
        if self._saved is None or any(judgement.partial for judgement in judged.by_mode.values()):
            what = "no check was" if self._saved is None else "not all judges were"
            self._written = f"PARTIAL  {what} selected: the reports are left as they were"
        elif self._config.getoption("gitleaks_judges"):
            self._write(session, lambda: update_reports(self._settings.output, judged, combined, judging.settings))

    def _refuse_nothing(self, session: pytest.Session) -> None:
        ends_well = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
        if self._is_full and session.exitstatus in ends_well and not self._collected_checks():
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            self._written = (
                "ERROR gitleaks-eval: no check was collected, so nothing was evaluated; see -k, -m and the arguments"
            )

    def _finished_run(self) -> Run | None:
        if self._run is None and self._folder:
            collected = self._evaluation.collected
            if (self._folder / COLLECTED).exists():
                collected = Collected.from_json((self._folder / COLLECTED).read_bytes())
            if collected.identities:
                self._run = self._make_run(collected)
        return self._run

    def _collected_checks(self) -> int:
        return len(self._evaluation.collected.identities) or (len(self._run.results) if self._run else 0)

    def _make_run(self, collected: Collected) -> Run:
        assert self._folder is not None  # noqa: S101 - for the type checker: there is a ledger only with a folder
        real = {repository.name for repository in self._evaluation.repositories}
        recorded = self._recorder.results(collected.identities)
        results = [result for result in recorded if result.scenario not in real]
        scenarios = self._evaluation.scenarios
        by_scenario: dict[str | None, list[CheckResult]] = {
            name: [] for name in (*(scenario.name for scenario in scenarios), None)
        }
        for result in results:
            by_scenario[result.scenario].append(result)
        by_scenario = {name: group for name, group in by_scenario.items() if group}
        own_subjects = self._evaluation.workbench.subjects
        read = {one.name: own_subjects.get(one.name) or read_subject(self._folder, one.name) for one in scenarios}
        subjects = {name: subject for name, subject in read.items() if subject and name in by_scenario}
        unevaluated = sum(
            scenario.expected.total_secrets
            for scenario in scenarios
            if scenario.name in by_scenario and scenario.name not in subjects
        )
        possible = len(catalogue()) * len(scenarios) + collected.own
        incomplete = any(result.outcome == ERROR for result in results) or bool(self._broken_files)
        partial = len(results) < possible
        findings = count_findings([subject.matching for subject in subjects.values()], unevaluated)
        card = make_scorecard(by_scenario, findings, incomplete=incomplete, partial=partial)
        judged = self._evaluation.judging.judged(self._folder) if self._evaluation.judging else None
        return Run(
            results=results,
            scenarios=scenarios,
            subjects=subjects,
            scorecard=card,
            scanner=self._scanner_fields(subjects),
            corpus_sha256=_corpus_sha256(scenarios),
            generated_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            possible_checks=possible,
            incomplete=incomplete,
            partial=partial,
            reasons=[f"{name} could not be collected" for name in self._broken_files] + _reasons(results, possible),
            by_scenario={name: group for name, group in by_scenario.items() if name is not None},
            analyses=None if self._settings.analyses else self._analyses(subjects),
            repositories=[self._real_evaluation(one, recorded) for one in self._evaluation.repositories],
            judged=judged,
            combined=combined_of(judged, card, incomplete=incomplete, partial=partial),
            judge_log=bool(self._evaluation.judging and self._evaluation.judging.settings.observability),
        )

    def _real_evaluation(self, repository: RealRepository, recorded: Sequence[CheckResult]) -> RealEvaluation:
        assert self._folder is not None  # noqa: S101 - as in _make_run
        results = [result for result in recorded if result.scenario == repository.name]
        left, path = repository_path(self._folder, repository.name), analysis_path(self._folder, repository.name)
        if not (left.exists() and path.exists()):
            problems = [result.message for result in results if result.outcome == ERROR]
            problem = problems[0] if problems else "was not evaluated"
            return RealEvaluation(repository.name, repository.source, results, None, None, None, problem)
        data = json.loads(path.read_bytes())["data"]
        return RealEvaluation(
            repository.name,
            repository.source,
            results,
            json.loads(left.read_bytes()),
            data["secrets_by_rule"],
            data["secrets_by_severity"],
            None,
        )

    def _analyses(self, subjects: Mapping[str, Subject]) -> dict[str, Path]:
        assert self._folder is not None  # noqa: S101 - as in _make_run
        names = [*subjects, *(repository.name for repository in self._evaluation.repositories)]
        return {name: path for name in names if (path := analysis_path(self._folder, name)).exists()}

    def _scanner_fields(self, subjects: Mapping[str, Subject]) -> dict[str, Any]:
        configuration = self._settings.configuration
        build = self._scanner
        if configuration is None:
            name = _joined(subject.tool_name for subject in subjects.values())
            version = _joined(subject.tool_version for subject in subjects.values())
        else:
            name, version = ("gitleaks", build.version if build else None)
        return {
            "name": name,
            "version": version,
            "source": build.source if build else None,
            "sha256": build.sha256 if build else None,
            "config": configuration.title(self._settings.root) if configuration else None,
            "config_sha256": configuration.sha256 if configuration else None,
            "command": build.command if build else None,
            "decode_depth": build.decode_depth if build else None,
        }


def _joined(names: Iterable[str | None]) -> str | None:
    return ", ".join(sorted({name for name in names if name})) or None


def _reasons(results: Sequence[CheckResult], possible: int) -> list[str]:
    not_run = sum(result.message == NOT_RUN for result in results)
    errors = sum(result.outcome == ERROR for result in results) - not_run
    reasons = []
    if errors:
        names = dict.fromkeys(
            result.scenario for result in results if result.outcome == ERROR and result.message != NOT_RUN
        )
        shown = ", ".join(str(name or "no scenario") for name in list(names)[:5])
        reasons.append(f"{errors} checks could not be run ({shown}{', …' if len(names) > 5 else ''})")
    if not_run:
        reasons.append(f"{not_run} selected checks were not run: the run ended early")
    if len(results) < possible:
        reasons.append(f"{len(results)} of {possible} checks were selected")
    return reasons


def _corpus_sha256(scenarios: Sequence[Scenario]) -> str:
    """One hash of all ground truths and recipes: reports with the same one are about the same truth."""
    digest = hashlib.sha256()
    for scenario in scenarios:
        for path in (scenario.ground_truth, scenario.recipe):
            content = path.read_bytes() if path.is_file() else b""
            digest.update(hashlib.sha256(scenario.name.encode() + b"\0" + content).digest())
    return digest.hexdigest()


def _stop_on_signals() -> None:
    """Let SIGTERM (a cancelled CI job) and SIGHUP end the run as Ctrl-C does: what is private is removed."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
