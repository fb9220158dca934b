"""What pytest's own summary leaves out because our section says it once."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from gitleaks_eval.checks.result import ERROR
from gitleaks_eval.core.text import printable
from gitleaks_eval.reports.run.causes import SHOWN_AT_MOST, Cause

_TITLE = "short test summary info"
# What the short summary lists, by the character of `-r`.
_LISTED = {"f": "failed", "E": "error", "s": "skipped", "x": "xfailed", "X": "xpassed", "p": "passed"}


class PytestSummary:
    """Takes reports of ours out of pytest's lists while it prints them, and prints what it would have left out."""

    def __init__(self) -> None:
        self._whole: dict[str, list[Any]] = {}
        self._failed: list[Any] = []

    def leave_out(self, terminal: pytest.TerminalReporter, found: Sequence[Cause]) -> None:
        """Leave out errors that our section tells, and all but one with the same traceback; the counts stay."""
        told = {test for cause in found[:SHOWN_AT_MOST] for test in cause.tests}
        repeated = {test for cause in found for test in cause.tests[1:]}
        for name in ("error", "failed"):
            reports = terminal.stats.get(name, ())
            self._replace(terminal, name, [report for report in reports if not _is_left_out(report, told, repeated)])

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Keep failures of ours out of the short summary: it drops a message that is not as wide as the terminal."""
        config = terminalreporter.config
        if not terminalreporter.hasopt("f") or config.getoption("no_summary") or config.option.force_short_summary:
            return
        failed = terminalreporter.stats.get("failed", [])
        self._failed = [report for report in failed if _properties(report).get("message")]
        self._replace(terminalreporter, "failed", [report for report in failed if report not in self._failed])

    def put_back(self, terminal: pytest.TerminalReporter) -> None:
        """Print what the short summary has not: failures with their messages, and what did not apply."""
        is_titled = any(terminal.hasopt(char) and terminal.stats.get(name) for char, name in _LISTED.items())
        for name, reports in self._whole.items():
            terminal.stats[name] = reports
        lines = [*map(_failed_line, [terminal] * len(self._failed), self._failed)]
        inapplicable = _not_applicable_lines(terminal) if terminal.hasopt("s") else []
        if (lines or inapplicable) and not is_titled:
            terminal.write_sep("=", _TITLE, cyan=True, bold=True)
        for line in lines:
            terminal.write("FAILED", red=True)
            terminal.write_line(line)
        for line in inapplicable:
            terminal.write_line(line)

    def _replace(self, terminal: pytest.TerminalReporter, name: str, reports: list[Any]) -> None:
        if name in terminal.stats:
            self._whole.setdefault(name, terminal.stats[name])
            terminal.stats[name] = reports


def _properties(report: Any) -> dict[str, object]:
    return dict(getattr(report, "user_properties", ()))


def _is_left_out(report: Any, told: Collection[str], repeated: Collection[str]) -> bool:
    if _properties(report).get("outcome") != ERROR:
        return False
    traceback = getattr(report.longrepr, "reprtraceback", None)
    has_traceback = getattr(traceback, "style", None) != "value"
    return report.nodeid in repeated or (report.nodeid in told and not has_traceback)


def _failed_line(terminal: pytest.TerminalReporter, report: Any) -> str:
    message = str(_properties(report)["message"]).splitlines()[0]
    return printable(f" {_from_here(terminal.config, report.nodeid)} - {message}")


def _from_here(config: pytest.Config, nodeid: str) -> str:
    """Return a node id with its path from where pytest was started: the one that can be pasted back there.

    pytest's own function for it takes another type since 9.2.
    """
    path, *names = nodeid.split("::")
    if config.invocation_params.dir != config.rootpath:
        path = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
    return "::".join([path, *names])


def _not_applicable_lines(terminal: pytest.TerminalReporter) -> list[str]:
    """Return each check that did not apply, with the reason and in how many scenarios."""
    found = (_properties(report) for report in terminal.stats.get("not applicable", ()))
    counts = Counter((str(check.get("check_id", "")), str(check.get("message", ""))) for check in found)
    return [printable(f"N/A [{count}] {name}: {reason}") for (name, reason), count in counts.items()]
