"""What a run amounts to when its tests are over: comparison, reports, the section of the terminal, exit status."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.checks.result import CONFIG_LINT, Collected
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.progress import UNDER_WAY, under_way
from gitleaks_eval.core.text import printable, shown_path
from gitleaks_eval.engine.run.failing import why_failing
from gitleaks_eval.engine.run.finish import candidate_run, compared, explain_misses, tell_judges
from gitleaks_eval.engine.scan.under_test import UnderTest
from gitleaks_eval.engine.settings.candidates import folder_name
from gitleaks_eval.judges.verdict import Combined, Judged, combine
from gitleaks_eval.plugin.command_line import is_typed, selects, selects_checks
from gitleaks_eval.plugin.folders import is_ours
from gitleaks_eval.plugin.items import Items
from gitleaks_eval.plugin.ledger import Recorder
from gitleaks_eval.plugin.pytest_summary import PytestSummary
from gitleaks_eval.reports.comparison.compared import Compared, comparison_markdown
from gitleaks_eval.reports.output.files import add_to_job_summary, update_reports, write_all
from gitleaks_eval.reports.output.folder import PARTIAL, is_any, is_partial
from gitleaks_eval.reports.output.report import COMPARISON, REPORT, SCORECARD, within
from gitleaks_eval.reports.pull_request.annotations import annotations
from gitleaks_eval.reports.pull_request.comment import comparison_comment
from gitleaks_eval.reports.run.assembly import evaluated
from gitleaks_eval.reports.run.causes import causes
from gitleaks_eval.reports.run.evaluation_report import report_summary
from gitleaks_eval.reports.run.judges import judges_lines, llm_fields
from gitleaks_eval.reports.run.scorecard import scorecard_markdown
from gitleaks_eval.reports.run.values import Run, shown_name
from gitleaks_eval.reports.terminal.section import Line, Troubles, comparison_section, run_lines
from gitleaks_eval.scoring.baseline import save_baseline


class Finish:
    """The hooks that end a run, in the one process that keeps the ledger."""

    def __init__(
        self,
        config: pytest.Config,
        items: Items,
        under_test: Sequence[UnderTest],
        recorder: Recorder,
        saved: Mapping[str, Any] | None,
    ) -> None:
        self._config = config
        self._items = items
        self._session = items.session
        self._settings = items.session.settings
        self._under_test = under_test
        self._recorder = recorder
        self._saved = saved
        self._is_full = bool(config.getoption("gitleaks_eval"))
        self._pytest_summary = PytestSummary()
        config.pluginmanager.register(self._pytest_summary, "gitleaks_eval_pytest_summary")
        self._runs: dict[str, Run] = {}
        self._compared: Compared | None = None
        self._reasons: list[str] = []
        self._written: str | None = None
        self._judged_alone: tuple[Judged, Combined | None] | None = None
        self._ended: tuple[pytest.Session, int] | None = None
        self._is_refused = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Score the run and write the reports; a run with the flag and without a check is a usage error."""
        # What was wrong on sight ended the run before its first test: there is nothing to tell of it.
        self._is_refused = session.exitstatus == pytest.ExitCode.USAGE_ERROR
        self._end(session)
        self._ended = session, session.exitstatus
        if not self._config.pluginmanager.has_plugin("terminalreporter"):
            self._say_without_terminal()

    def _say_without_terminal(self) -> None:
        """Write the decision to standard error: without pytest's terminal it would stand in files alone."""
        troubles = self._troubles()
        lines = [*comparison_section(self._runs, self._compared, troubles, -1)] if self._settings.compares else []
        if len(self._runs) == 1:
            (run,) = self._runs.values()
            lines += run_lines(run, troubles, self._written, -1)
        elif self._written:
            lines.append(Line(printable(self._written)))
        for text, *_ in lines:
            print(text, file=sys.stderr)  # noqa: T201 - the terminal is switched off

    def pytest_unconfigure(self) -> None:
        """Have the last word on the exit status: what a hook of others made of a failure is no end without one."""
        if self._ended:
            session, status = self._ended
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = status

    def _end(self, session: pytest.Session) -> None:
        if self._config.getoption("setupplan", None):
            self._written = "ERROR gitleaks-eval: --setup-plan runs no test, so nothing was evaluated; leave it out"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        runs = self._finished_runs()
        if not runs:
            self._finish_judging(session)
            if self._judged_alone is None:
                self._refuse_nothing(session)
            return
        if session.exitstatus != pytest.ExitCode.INTERRUPTED:
            with self._under_way("asking what hides what is missed"):
                explain_misses(self._session, runs)
                runs = self._runs = dict(tell_judges(self._session, runs))
            with self._under_way("comparing the candidates"):
                self._compared = compared(self._session, runs)
            if self._compared and self._items.pairwise:
                with self._under_way("asking the judge of pairs"):
                    self._compared = self._items.pairwise.judged(self._session, self._compared, runs)
            self._fail(session)
        _add_suite_properties(self._config, runs)
        if self._is_full:
            with self._under_way("writing the reports"):
                self._write(session, self._write_all)
            self._save_baseline(session)

    def _under_way(self, doing: str) -> AbstractContextManager[None]:
        return under_way(self._session.folder / UNDER_WAY, doing)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
        """Print the section of the run last, below pytest's list of failures."""
        troubles = self._troubles()
        if self._runs or self._judged_alone:
            self._pytest_summary.leave_out(terminalreporter, troubles.causes)
        yield
        self._pytest_summary.put_back(terminalreporter)
        verbosity = self._config.get_verbosity()
        if len(self._runs) == 1:
            (run,) = self._runs.values()
            _print(terminalreporter, "gitleaks-eval", run_lines(run, troubles, self._written, verbosity))
        if self._settings.compares and self._runs:
            lines = comparison_section(self._runs, self._compared, troubles, verbosity)
            _print(terminalreporter, "gitleaks-eval comparison", lines)
        if self._judged_alone:
            told = Troubles(troubles.causes, (), self._reasons)
            judged = map(Line, [*told.lines(), *judges_lines(*self._judged_alone, verbosity)])
            _print(terminalreporter, "gitleaks-eval judges", judged)
        is_error = self._written is not None and self._written.startswith("ERROR")
        if self._written and len(self._runs) != 1 and (verbosity >= 0 or is_error or not self._runs):
            terminalreporter.write_line(printable(self._written), red=is_error)
        if os.environ.get("GITHUB_ACTIONS") == "true" and self._is_full:
            under_review = self._compared.under_review if self._compared else self._runs
            for line in annotations(under_review.values()):
                terminalreporter.write_line(line)

    def _troubles(self) -> Troubles:
        return Troubles(causes(self._recorder.errors), list(self._recorder.others), self._reasons)

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
        partial = any(run.partial for run in self._runs.values())
        runs = {self._folder_of(name, partial=partial): run for name, run in self._runs.items()}
        reports = self._settings.reports
        if self._compared:
            folders = {
                shown_name(name, run): self._folder_of(name, partial=partial) or "." for name, run in self._runs.items()
            }
            self._compared = replace(self._compared, folders=folders)
        write_all(runs, self._compared, reports, removes=is_partial if partial else is_any)
        folder = next(reversed(runs))
        if self._compared:
            add_to_job_summary(comparison_comment(self._compared) + b"\n" + comparison_markdown(self._compared))
            if len(runs) > 1:
                return reports.path / COMPARISON[1]
        for run in runs.values() if self._compared is None else ():
            add_to_job_summary(scorecard_markdown(run))
        return reports.path / folder / SCORECARD

    def _save_baseline(self, session: pytest.Session) -> None:
        """Write a complete run as a baseline."""
        path = self._settings.save_baseline
        if path is None:
            return
        (run,) = self._runs.values()
        shown = shown_path(path, self._config.invocation_params.dir)
        try:
            coverage = run.coverage.rows() if run.coverage else None
            save_baseline(path, evaluated("", run, ()), partial=run.partial, coverage=coverage)
        except (InputError, OSError) as error:
            self._written = f"ERROR --gitleaks-save-baseline {shown}: is not written: {error}"
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            self._written = f"{self._written} | baseline: {shown}"

    def _folder_of(self, name: str, *, partial: bool) -> str:
        """Return the folder of a candidate's reports: not the baseline's, or the next run would miss no loss."""
        settings, run = self._settings, self._runs[name]
        folder = settings.candidate(name).folder
        if not folder and settings.baseline_path and settings.reports.is_read(settings.output / REPORT):
            folder = folder_name(str(run.scanner["version"]))
        return within(folder, PARTIAL) if partial else folder

    def _finish_judging(self, session: pytest.Session) -> None:
        """Add the verdicts of judges that ran without any check to the reports that they read."""
        judging = self._items.judging
        if judging is None or self._session.shared is None or self._is_refused:
            return
        judged = judging.judged(self._session.folder)
        if judged is None:
            nothing = session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
            if nothing and self._saved and self._config.getoption("gitleaks_judges"):
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
                self._written = "ERROR gitleaks-eval: no judge was collected; see -k, -m and the arguments"
            return
        summary = self._saved["summary"] if self._saved else {}
        combined = combine(judged, summary["score"], summary["guarded_decision"]) if summary else None
        self._judged_alone = (judged, combined)
        self._fail(session, combined)
        if self._saved is None or any(judgement.partial for judgement in judged.by_mode.values()):
            what = "no check was" if self._saved is None else "not all judges were"
            self._written = f"PARTIAL  {what} selected: the reports are left as they were"
        elif self._config.getoption("gitleaks_judges"):
            self._write(session, lambda: update_reports(self._settings.reports, judged, combined, judging.settings))

    def _refuse_nothing(self, session: pytest.Session) -> None:
        ends_well = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
        collected = self._items.collected
        if not self._is_full or session.exitstatus not in ends_well or collected.identities or collected.beside:
            return
        if not is_typed(self._config) and selects(self._config):
            self._written = "gitleaks-eval: no check is among what was selected, so nothing was evaluated"
        else:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            self._written = (
                "ERROR gitleaks-eval: no check was collected, so nothing was evaluated; see -k, -m and the arguments"
            )

    def _finished_runs(self) -> Mapping[str, Run]:
        """Return the run of each candidate, by its name; none when no check was selected."""
        if not self._runs and self._session.shared and not self._is_refused:
            collected = self._items.collected
            judges = self._is_full and self._items.judging and self._items.judging.judged(self._session.folder)
            if judges or any(identity.category != CONFIG_LINT for identity in collected.identities.values()):
                self._runs = {tested.candidate.name: self._run(tested, collected) for tested in self._under_test}
        return self._runs

    def _run(self, under_test: UnderTest, collected: Collected) -> Run:
        name, judging = under_test.candidate.name, self._items.judging
        is_first = name == self._settings.candidates[0].name
        identities = {
            nodeid: identity
            for nodeid, identity in collected.identities.items()
            if identity.candidate == name or (is_first and not identity.candidate)
        }
        return candidate_run(
            self._session,
            under_test,
            self._recorder.results(identities),
            own=collected.own.get(name, 0),
            broken=[f"{file} could not be collected" for file in self._recorder.broken_files],
            judged=judging.judged(self._session.folder) if judging else None,
            judge_log=bool(judging and judging.settings.observability),
            other_failures=[name for name in self._recorder.others if not is_ours(name)],
            selects=not self._is_full or selects_checks(self._config),
        )

    def _fail(self, session: pytest.Session, judged: Combined | None = None) -> None:
        """Let no run end well that does not, where no test failed or a hook has turned failures into others."""
        if session.exitstatus == pytest.ExitCode.OK:
            of_settings = {"compares": self._settings.compares, "accepts_review": self._settings.accepts_review}
            of_settings["allows_unreadable"] = self._settings.allows_unreadable
            accepted = self._recorder.accepted
            self._reasons = why_failing(self._runs, self._compared, judged, accepted=accepted, **of_settings)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED if self._reasons else pytest.ExitCode.OK


def _add_suite_properties(config: pytest.Config, runs: Mapping[str, Run]) -> None:
    """Add decision, scores, scanner and configuration of each candidate to a JUnit file, where there is to be one."""
    # What the fixture `record_testsuite_property` calls; it has no name that is public.
    writers = [
        add
        for get_plugin in config.pluginmanager.get_plugins()
        if (add := getattr(get_plugin, "add_global_property", None))
    ]
    for add in writers:
        for name, run in runs.items():
            for key, value in _suite_properties(run):
                add(".".join(filter(None, ("gitleaks_eval", printable(name), key))), printable(value))


def _suite_properties(run: Run) -> Iterator[tuple[str, str]]:
    card, scanner = run.scorecard, run.scanner
    yield "decision", card.guarded_decision or "none: only a part of the checks was selected"
    yield "documented_decision", card.decision or "none: only a part of the checks was selected"
    yield "score", f"{card.score.normalized:.2f}"
    yield "applicable_rate", f"{card.score.applicable_rate:.4f}"
    for key in ("name", "version", "source", "sha256"):
        yield f"scanner_{key}", str(scanner[key] or "not known")
    yield "config", str(scanner["config"] or "not known")
    yield "config_sha256", str(scanner["config_sha256"] or "not known")


def _print(terminal: pytest.TerminalReporter, title: str, lines: Iterable[Line]) -> None:
    terminal.write_sep("=", title, bold=True)
    for text, colour, bold in lines:
        terminal.write_line(text, bold=bold, **({colour: True} if colour else {}))
