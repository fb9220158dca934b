"""Test reports become check results; only the process that reports to the user keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from gitleaks_eval.checks.result import ERROR, FAILED, NOT_APPLICABLE, NOT_RUN, PASSED, CheckResult, Identity
from gitleaks_eval.core.text import printable
from gitleaks_eval.scoring.expected_failures import ACCEPTED

# Of several reports of one test the worst counts.
_SEVERITY = {PASSED: 0, NOT_APPLICABLE: 0, FAILED: 1, ERROR: 2}


class _Entry(NamedTuple):
    outcome: str
    message: str
    expected: str
    actual: str
    duration_ms: float


@dataclass(slots=True)
class Recorder:
    """The ledger of a run, by node id: a test that only failed to set up, or crashed, is in it, too.

    `broken_files` could not be collected; `errors` has the scenario and the message of each test of ours that
    could not be run, and `others` the tests that failed and are no checks. What entries alone cause that are `accepted`
    is no failure.
    """

    entries: dict[str, _Entry] = field(default_factory=dict)
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)
    broken_files: list[str] = field(default_factory=list)
    excused: dict[str, str] = field(default_factory=dict)

    @property
    def accepted(self) -> set[str]:
        """The tests whose failure entries alone cause that people accepted."""
        return {nodeid for nodeid, reason in self.excused.items() if reason.startswith(ACCEPTED)}

    def record(self, report: pytest.TestReport) -> None:
        """Take in a report of a check, of a sub-test of one, or of a crashed worker (without properties)."""
        properties = dict(report.user_properties)
        outcome = properties.get("outcome")
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # what pytest-rerunfailures calls it
            self.entries.pop(report.nodeid, None)
            self.errors.pop(report.nodeid, None)
            self.others.pop(report.nodeid, None)
            return
        is_told = "check_id" in properties or outcome == ERROR
        if report.failed and not is_told and report.when in {"setup", "call", "teardown"}:
            self.others[report.nodeid] = None
        if report.failed and outcome in {None, PASSED, NOT_APPLICABLE}:
            # A sub-test fails its test after we have looked; a crashed worker never lets us look.
            crashed = "check_id" not in properties and report.when not in {"setup", "call", "teardown"}
            outcome = ERROR if crashed else FAILED
            message = "its worker process crashed" if crashed else printable(report.longreprtext.strip())[-500:]
            properties["message"] = message
        if outcome is None:
            return
        if reason := str(getattr(report, "wasxfail", "")):
            self.excused[report.nodeid] = reason
        if outcome == ERROR:
            self.errors.setdefault(
                report.nodeid, (str(properties.get("scenario", "")), str(properties.get("message", "")))
            )
        previous = self.entries.get(report.nodeid)
        if previous and _SEVERITY[previous.outcome] >= _SEVERITY[str(outcome)]:
            return
        duration = report.duration * 1000 if report.when == "call" else previous.duration_ms if previous else 0.0
        self.entries[report.nodeid] = _Entry(
            str(outcome),
            str(properties.get("message", "")),
            str(properties.get("expected", "null")),
            str(properties.get("actual", "null")),
            duration,
        )

    def results(self, selected: Mapping[str, Identity]) -> list[CheckResult]:
        """Return a result for each selected check; one without an outcome is an error."""
        missing = _Entry(ERROR, NOT_RUN, "null", "null", 0)
        return [
            CheckResult(
                *identity[:4],
                outcome=entry.outcome,
                message=entry.message,
                expected=entry.expected,
                actual=entry.actual,
                nodeid=nodeid,
                duration_ms=entry.duration_ms,
                critical=identity.critical,
                about=identity.about,
                excused=self.excused.get(nodeid, "") if entry.outcome == FAILED else "",
            )
            for nodeid, identity in selected.items()
            for entry in [self.entries.get(nodeid, missing)]
        ]
