"""Reports with a known fault, which judges are calibrated on: what a scanner with that fault says of the scenarios."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Finding = dict[str, Any]
Reports = dict[str, list[Finding]]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the reports of the nine scenarios: `reports` takes perfect ones and returns those.

    `severity` is what every finding is rated; None leaves the ratings alone.
    """

    name: str
    reports: Callable[[Reports], Reports] = lambda reports: reports
    severity: str | None = None


def finding(path: str, rule_id: str, line: int) -> Finding:
    """A finding as the report of a scanner holds it."""
    # Not the place itself: where a secret stands in a path, the path is masked.
    value = hashlib.sha256(f"{path} {line}".encode()).hexdigest()
    return {"File": path, "RuleID": rule_id, "StartLine": line, "Commit": "1" * 40, "Secret": value}


def _without(lost: Mapping[str, Sequence[str]]) -> Callable[[Reports], Reports]:
    """Reports that miss, in some scenarios, the findings of some rules."""
    return lambda reports: {
        name: [finding for finding in report if finding["RuleID"] not in lost.get(name, ())]
        for name, report in reports.items()
    }


def _with_false_positives(count: int) -> Callable[[Reports], Reports]:
    invented = [finding(f"src/module{number}.py", "generic-api-key", 7) for number in range(count)]
    return lambda reports: {**reports, "no-secrets": [*reports["no-secrets"], *invented]}


def _shifted(reports: Reports) -> Reports:
    return {
        name: [{**finding, "StartLine": finding["StartLine"] + 1} for finding in report]
        for name, report in reports.items()
    }


NONE = Fault("none")
ONE_MISSING = Fault("1 of 17 missing", _without({"api-keys": ["github-pat"]}))
SIX_MISSING = Fault(
    "6 of 17 missing",
    _without(
        {
            "api-keys": ["github-pat", "stripe-access-token"],
            "aws-credentials": ["aws-access-token"],
            "cloud-mixed": ["aws-access-token"],
        }
    ),
)
ALL_MISSING = Fault("all missing", lambda reports: {name: [] for name in reports})
ONE_FALSE_POSITIVE = Fault("1 false positive", _with_false_positives(1))
EIGHT_FALSE_POSITIVES = Fault("8 false positives", _with_false_positives(8))
LINES_OFF_BY_ONE = Fault("every line off by one", _shifted)
ALL_SEVERITIES_LOW = Fault("all severities LOW", severity="LOW")
