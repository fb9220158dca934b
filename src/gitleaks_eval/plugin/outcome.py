"""A pytest report becomes the outcome of a check, with its evidence and message."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pytest

from gitleaks_eval.checks import mark as marks
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.result import ERROR, FAILED, NOT_APPLICABLE, PASSED, Identity
from gitleaks_eval.core.errors import CheckFailed, EvaluationError
from gitleaks_eval.core.text import json_value, printable


@dataclass(slots=True)
class Left:
    """The evidence that the check which runs has left so far."""

    evidence: Evidence = field(default_factory=Evidence)


def identity_properties(identity: Identity) -> list[tuple[str, object]]:
    """Return what a check is, as properties of its report."""
    return [
        _property("check_id", identity.check_id),
        _property("name", identity.name),
        _property("category", identity.category),
        _property("scenario", identity.scenario or ""),
    ]


@lru_cache(maxsize=1 << 14)
def _property(name: str, text: str) -> tuple[str, object]:
    """Return one value for all that are equal: pytest keeps each of three reports a test until the end."""
    return name, text


def without_ours(properties: Sequence[tuple[str, object]]) -> list[tuple[str, object]]:
    """Return the properties that others have attached to a report."""
    ours = {"check_id", "name", "category", "scenario", "outcome", "message", "expected", "actual"}
    return [(name, value) for name, value in properties if name not in ours]


def outcome_of(report: pytest.TestReport, call: pytest.CallInfo[None]) -> str | None:
    """Return the outcome that this phase decides: a check that could not be run is an error, not a failure."""
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


def outcome_properties(outcome: str, left: Evidence, call: pytest.CallInfo[None]) -> list[tuple[str, object]]:
    """Return the outcome, message, expected and actual of a check, as properties of its report."""
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


@contextlib.contextmanager
def without_source(config: pytest.Config, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Have pytest not read the source around an exception of ours: nothing of it is shown.

    Reading takes longer than the check, and a scanner that cannot be run fails a thousand of them.
    """
    if call.excinfo is None or not _is_ours(call):
        yield
        return
    # The option is the terminal's, which may be switched off; this is what pytest takes then.
    style, traceback = config.getoption("tbstyle", "auto"), call.excinfo.traceback
    config.option.tbstyle, call.excinfo.traceback = "value", traceback[-1:]
    try:
        yield
    finally:
        config.option.tbstyle, call.excinfo.traceback = style, traceback


def show_message_only(report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
    """Show an exception of ours by its message, without our own frames."""
    if call.excinfo and _is_ours(call):
        report.longrepr = _message_only(call.excinfo)


def _is_ours(call: pytest.CallInfo[None]) -> bool:
    value = call.excinfo.value if call.excinfo else None
    return isinstance(value, (CheckFailed, EvaluationError)) or getattr(value, "pytrace", True) is False


def _message_only(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    shown = excinfo.getrepr(style="value", tbfilter=False, chain=False)
    if shown.reprcrash:
        # The short summary shows this: without the name of the exception class.
        shown.reprcrash.message = str(excinfo.value)
    return shown
