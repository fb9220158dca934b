"""The outcome of a check, and what it is the outcome of: values that travel between processes."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

PASSED, FAILED, NOT_APPLICABLE, ERROR = "passed", "failed", "not_applicable", "error"
NOT_RUN = "was not run: the run ended before it"
# Of this category are the tests of the configuration: outside the shipped checks, and outside every score.
CONFIG_LINT = "Config Lint"
# Of this one are the tests of rules, places and entries: outside both as well.
SURVEY = "Survey"


class Identity(NamedTuple):
    """Which check of which scenario a test is; `scenario` is None for a check that takes none.

    `candidate` is empty when there is only one. `critical` and `about` are what its mark says.
    """

    check_id: str
    name: str
    category: str
    scenario: str | None
    candidate: str = ""
    critical: bool = False
    about: tuple[str, ...] = ()


class Collected(NamedTuple):
    """The selected checks of a run by node id, and how many there are, selected or not, that we do not ship.

    `own` is by candidate; `beside` says whether there are tests of findings, too.
    """

    identities: Mapping[str, Identity]
    own: Mapping[str, int]
    beside: bool = False

    def as_json(self) -> str:
        """This value as JSON, for the process that reports; `from_json` is the inverse."""
        return json.dumps([list(self.identities.items()), self.own, self.beside])

    @classmethod
    def from_json(cls, text: bytes) -> "Collected":
        """Return what another process of the run collected."""
        identities, own, beside = json.loads(text)
        return cls({nodeid: _identity(fields) for nodeid, fields in identities}, own, beside)


def _identity(fields: Iterable[Any]) -> Identity:
    # A thousand scenarios are tens of thousands of entries with the same few names.
    *texts, critical, about = fields
    return Identity._make([*(text and sys.intern(text) for text in texts), critical, tuple(about)])


class CheckResult(NamedTuple):
    """One check of one scenario; `expected` and `actual` are JSON texts, `duration_ms` its own time.

    `critical` and `about` are those of its `Identity`. `excused` says why its failure fails no run: it refers to
    another failure, entries alone cause it that people accepted, or the baseline has it, too.
    """

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
    critical: bool = False
    about: tuple[str, ...] = ()
    excused: str = ""


def failed_ids(results: Iterable[CheckResult]) -> list[str]:
    """Return the ids of failed checks, in order, each once."""
    return list(dict.fromkeys(result.check_id for result in results if result.outcome == FAILED))
