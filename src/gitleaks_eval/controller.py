"""The evaluation in the process that reports to the user: header, what is shared, reports, exit status."""

import contextlib
import secrets
import shutil
import signal
import tempfile
import threading
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.assembly import corpus_sha256, evaluated, make_run
from gitleaks_eval.comparison import INCOMPLETE, REGRESSION, Evaluated, comparability, compare
from gitleaks_eval.configuration import copy_configuration
from gitleaks_eval.errors import EvaluationError, InputError
from gitleaks_eval.evaluation import COLLECTED, WORKER_INPUT, Evaluation
from gitleaks_eval.hidden import hidden_findings
from gitleaks_eval.judges.verdict import Combined, Judged
from gitleaks_eval.recorder import CONFIG_LINT, Collected, Recorder
from gitleaks_eval.reports.comparison import Compared
from gitleaks_eval.reports.evaluation_report import report_summary
from gitleaks_eval.reports.files import (
    add_to_job_summary,
    prepare_folder,
    remove_comparison,
    update_reports,
    write_comparison,
    write_reports,
)
from gitleaks_eval.reports.judges import combined_with, judges_summary, llm_fields, read_report
from gitleaks_eval.reports.run import Run
from gitleaks_eval.reports.terminal import comparison_summary, shown_path, summary
from gitleaks_eval.settings import ANALYSES
from gitleaks_eval.under_test import UnderTest, find_under_test
from gitleaks_eval.workbench import Bench, Shared

# Options with which pytest runs no test.
_SHOWING = ("collectonly", "showfixtures", "show_fixtures_per_test", "setuponly", "setupplan", "cacheshow")
NOT_APPLICABLE_STATUS = ("not applicable", "n", ("N/A", {"cyan": True}))
# Times of scans differ from one to the next: the median of so many, taken in turn, counts.
TIMED_ROUNDS = 3


class Controller:
    """The hooks of the one process that keeps the ledger and writes the reports."""

    def __init__(self, config: pytest.Config, evaluation: Evaluation) -> None:
        self._config = config
        self._evaluation = evaluation
        self._settings = evaluation.settings
        self._recorder = Recorder()
        self._under_test: list[UnderTest] = []
        self._folder: Path | None = None
        self._runs: dict[str, Run] = {}
        self._compared: Compared | None = None
        self._written: str | None = None
        self._is_full = bool(config.getoption("gitleaks_eval"))
        self._only_collects = any(config.getoption(name, None) for name in _SHOWING)
        self._broken_files: list[str] = []
        self._judged_alone: tuple[Judged, Combined | None] | None = None
        self._saved: Mapping[str, Any] | None = None
        if not evaluation.checks:
            self._saved = read_report(
                self._settings.output,
                corpus_sha256(evaluation.scenarios),
                scanned=self._settings.analyses == self._settings.output / ANALYSES,
            )
        if self._is_full and not self._only_collects:
            self._check_output()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Find the scanners before the header names them, and lay out what the workers share."""
        if not self._only_collects:
            _stop_on_signals()
        for candidate in self._settings.candidates:
            if self._settings.analyses is None:
                found = find_under_test(candidate, self._progress, only_collects=self._only_collects)
            else:
                found = UnderTest(candidate)
            self._under_test.append(found)
        if not self._only_collects:
            self._share()

    def pytest_report_header(self) -> str | list[str]:
        """What is in force."""
        settings = self._settings
        count = len(self._evaluation.scenarios)
        sources = [*settings.scenario_sources, *settings.corpora]
        parts = [f"{count} scenario{'' if count == 1 else 's'} ({', '.join(sources)})"]
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
        if settings.baseline:
            parts.append(f"baseline {settings.baseline.name}")
        lines = [f"gitleaks-eval: {' | '.join(parts)}"]
        if len(self._under_test) > 1:
            for index, one in enumerate(self._under_test):
                mark = " (baseline)" if index == 0 and not settings.baseline else ""
                lines.append(f"  {one.candidate.name}{mark}: {one.title(settings.root)}")
        return lines if len(lines) > 1 else lines[0]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand a parallel worker what the run shares."""
        if self._evaluation.shared:
            node.workerinput[WORKER_INPUT] = self._evaluation.shared.as_json()

    def pytest_collection(self) -> None:
        """Begin while pytest collects, with what will be selected for sure; in a parallel run the workers do."""
        if self._evaluation.shared and not self._config.pluginmanager.has_plugin("dsession"):
            chosen = ("keyword", "markexpr", "lf", "deselect", "stepwise", "maxfail")
            narrowed = any(self._config.getoption(name, None) for name in chosen)
            names = [subject.name for subject in self._evaluation.subjects]
            for candidate in self._settings.candidates:
                self._evaluation.workbench(candidate.name).start(names if self._is_full and not narrowed else ())

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
        runs = self._finished_runs()
        if not runs:
            self._finish_judging(session)
            if self._judged_alone is None:
                self._refuse_nothing(session)
            return
        if session.exitstatus != pytest.ExitCode.INTERRUPTED and not self._only_collects:
            self._explain_misses()
            self._compare()
            self._fail_with_verdict(session)
        if self._is_full and not self._only_collects:
            self._write(session, self._write_all)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
        """Print the section of the run last, below pytest's list of failures."""
        yield
        verbosity = self._config.get_verbosity()
        if len(self._runs) == 1:
            summary(terminalreporter, next(iter(self._runs.values())), self._written, verbosity)
        if self._settings.compares and self._runs:
            written = self._written if len(self._runs) > 1 else None
            comparison_summary(terminalreporter, self._runs, self._compared, written, verbosity)
        if self._runs:
            return
        if self._judged_alone:
            judges_summary(terminalreporter, *self._judged_alone, verbosity)
        if self._written:
            terminalreporter.write_line(self._written, red=self._written.startswith("ERROR"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_modifyreport(self, json_report: dict[str, Any]) -> None:
        """Add the summary to pytest-json-report's file."""
        summaries = {
            name: {
                "summary": report_summary(run),
                "scanner": dict(run.scanner),
                "incomplete": run.incomplete,
                "partial": run.partial,
                "reasons": list(run.reasons),
                **llm_fields(run.judged, run.combined),
            }
            for name, run in self._finished_runs().items()
        }
        if summaries:
            json_report["gitleaks_eval"] = summaries.get("") or {"candidates": summaries}

    def pytest_unconfigure(self) -> None:
        """Remove what the run shared."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, session: pytest.Session, write: Callable[[], Path]) -> None:
        try:
            report = write()
        except InputError as error:
            self._written = f"ERROR {error}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        except OSError as error:
            self._written = f"ERROR the reports cannot be written: {error}; name another folder with --gitleaks-output"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            self._written = f"report: {shown_path(report, self._config.invocation_params.dir)}"

    def _write_all(self) -> Path:
        output = self._settings.output
        for name, run in self._runs.items():
            folder = write_reports(run, output, name)
        if self._compared:
            written = write_comparison(self._compared, output)
            add_to_job_summary(written)
            return written if len(self._runs) > 1 else folder / "scorecard.md"
        if not any(run.partial for run in self._runs.values()):
            remove_comparison(output)
        return folder / "scorecard.md"

    def _check_output(self) -> None:
        try:
            prepare_folder(self._settings.output)
        except OSError as error:
            raise InputError(
                f"--gitleaks-output {self._settings.output}: cannot be written to: {error.strerror or error}; "
                "name a folder that can"
            ) from None

    def _progress(self, text: str) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            terminal.write_line(text)
            terminal.flush()

    def _share(self) -> None:
        self._folder = folder = Path(tempfile.mkdtemp(prefix="gitleaks-eval-"))
        run_id, trace_key = str(uuid.uuid4()), secrets.token_hex(32) if self._evaluation.judging else ""
        benches = {}
        for index, one in enumerate(self._under_test):
            # Names may be paths: the folders have numbers.
            own = folder / f"candidate-{index}" if len(self._under_test) > 1 else folder
            own.mkdir(exist_ok=True)
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
        if self._is_full and session.exitstatus in ends_well and not self._evaluation.collected.identities:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            self._written = (
                "ERROR gitleaks-eval: no check was collected, so nothing was evaluated; see -k, -m and the arguments"
            )

    def _finished_runs(self) -> Mapping[str, Run]:
        """The run of each candidate, by its name; none when no check was selected."""
        if not self._runs and self._folder:
            collected = self._evaluation.collected
            if (self._folder / COLLECTED).exists():
                collected = Collected.from_json((self._folder / COLLECTED).read_bytes())
            if any(identity.category != CONFIG_LINT for identity in collected.identities.values()):
                self._runs = {
                    one.candidate.name: make_run(self._evaluation, one, collected, self._recorder, self._broken_files)
                    for one in self._under_test
                }
        return self._runs

    def _explain_misses(self) -> None:
        """Say of each missed finding which entry of the configuration hides it."""
        if self._settings.analyses is not None:
            return
        baseline = self._settings.candidates[0].configuration
        for candidate in self._settings.candidates:
            run = self._runs[candidate.name]
            matched = [(one, run.subjects[one.name].matching) for one in run.scenarios if one.name in run.subjects]
            workbench = self._evaluation.workbench(candidate.name)
            # What hides a finding is a help; that it is missed is said in any case.
            with contextlib.suppress(EvaluationError):
                run.hidden.update(
                    hidden_findings(matched, workbench, candidate.configuration, baseline, self._settings.root)
                )

    def _compare(self) -> None:
        """Hold each candidate against the baseline; a part of the checks is no comparison."""
        if not self._settings.compares or any(run.partial for run in self._runs.values()):
            return
        times = self._times()
        saved = self._settings.baseline
        names = {name: name or str(run.scanner["version"]) for name, run in self._runs.items()}
        sides = [evaluated(names[name], run, times.get(name, ())) for name, run in self._runs.items()]
        baseline = saved or sides[0]
        notes = comparability(saved, sides[0].corpus_sha256) if saved else []
        pairs = [compare(baseline, side, notes) for side in (sides if saved else sides[1:])]
        hidden = {
            (names[name], scenario, *place): text
            for name, run in self._runs.items()
            for (scenario, place), text in run.hidden.items()
        }
        self._compared = Compared(_listed(saved, sides), pairs, hidden)

    def _fail_with_verdict(self, session: pytest.Session) -> None:
        """Let no comparison end well that does not: what cannot be compared fails no test."""
        verdicts = {pair.verdict for pair in self._compared.pairs} if self._compared else set()
        if session.exitstatus == pytest.ExitCode.OK and verdicts & {REGRESSION, INCOMPLETE}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _times(self) -> Mapping[str, Sequence[float]]:
        """Times of one scan of the canary, in milliseconds, the candidates in turn; none where one cannot scan."""
        times: dict[str, list[float]] = {name: [] for name in self._runs}
        if len(self._runs) == 1 or any(run.incomplete for run in self._runs.values()):
            return {}
        with contextlib.suppress(EvaluationError):
            for _ in range(TIMED_ROUNDS):
                for name, found in times.items():
                    found.append(self._evaluation.workbench(name).time_canary())
        return times


def _listed(saved: Evaluated | None, sides: Sequence[Evaluated]) -> list[Evaluated]:
    return [*([saved] if saved else []), *sides]


def _stop_on_signals() -> None:
    """Let SIGTERM (a cancelled CI job) and SIGHUP end the run as Ctrl-C does: what is private is removed."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
