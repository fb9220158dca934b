"""Test reports become check results; only the process that reports to the user keeps them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

PASSED, FAILED, NOT_APPLICABLE, ERROR = "passed", "failed", "not_applicable", "error"
NOT_RUN = "was not run: the run ended before it"


class Identity(NamedTuple):
    """Which check of which scenario a test is; `scenario` is None for a check that takes none."""

    check_id: str
    name: str
    category: str
    scenario: str | None


class CheckResult(NamedTuple):
    """One check of one scenario; `expected` and `actual` are JSON texts, `duration_ms` its own time."""

    check_id: str
    name: str
    category: str
    scenario: str | None
    outcome: str
    message: str
    expected: str
    actual: str
    nodeid: str
    duration_ms: float


class _Entry(NamedTuple):
    outcome: str
    message: str
    expected: str
    actual: str
    duration_ms: float


@dataclass(slots=True)
class Recorder:
    """The ledger of a run, by node id: a test that only failed to set up, or crashed, is in it, too."""

    entries: dict[str, _Entry] = field(default_factory=dict)

    def record(self, report: pytest.TestReport) -> None:
        """Take in a report of a check, or of a crashed worker (which carries no properties)."""
        properties = dict(report.user_properties)
        # xdist's report of a crashed worker has "???" for its phase, and no properties.
        if report.failed and "check_id" not in properties:
            self.entries[report.nodeid] = _Entry(ERROR, "its worker process crashed", "null", "null", 0)
            return
        outcome = properties.get("outcome")
        if outcome is None:
            return
        previous = self.entries.get(report.nodeid)
        if report.when == "teardown" and previous and not report.failed:
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
        """A result for each selected check; one without an outcome is an error."""
        missing = _Entry(ERROR, NOT_RUN, "null", "null", 0)
        return [
            CheckResult(
                *identity,
                outcome=entry.outcome,
                message=entry.message,
                expected=entry.expected,
                actual=entry.actual,
                nodeid=nodeid,
                duration_ms=entry.duration_ms,
            )
            for nodeid, identity in selected.items()
            for entry in [self.entries.get(nodeid, missing)]
        ]


def identities_as_json(identities: Mapping[str, Identity]) -> str:
    """The selected checks of a run as JSON, for the process that reports."""
    return json.dumps(list(identities.items()))


def identities_from_json(text: str) -> dict[str, Identity]:
    """The inverse of `identities_as_json`."""
    return {nodeid: Identity(*identity) for nodeid, identity in json.loads(text)}


def failed_ids(results: Iterable[CheckResult]) -> list[str]:
    """The ids of failed checks, in order, each once."""
    return list(dict.fromkeys(result.check_id for result in results if result.outcome == FAILED))
