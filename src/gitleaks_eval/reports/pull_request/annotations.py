"""What services that host code show beside it: SARIF, Code Quality, and the annotations of a workflow."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gitleaks_eval
from gitleaks_eval.core.text import json_value, printable
from gitleaks_eval.reports.run.configuration_problems import (
    ASKED,
    ERROR,
    ConfigurationProblem,
    configuration_problems,
)
from gitleaks_eval.reports.run.evaluation_report import TOOL
from gitleaks_eval.reports.run.values import Run

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ANNOTATIONS_AT_MOST = 10
# GitHub takes no more results of one file.
RESULTS_AT_MOST = 5_000
_IDS = list(ASKED)


def sarif(runs: Mapping[str, Run]) -> bytes:
    """Return what is wrong with the configuration of each candidate, as SARIF 2.1.0.

    A run that could not be finished says so: that nothing is listed is then no good news.
    """
    log = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [_sarif_run(name, run) for name, run in runs.items()]}
    return (json.dumps(json_value(log), indent=2) + "\n").encode("ascii")


def code_quality(runs: Iterable[Run]) -> bytes:
    """Return the same as GitLab's Code Quality report; what stands in no file of the repository is left out."""
    rows = {
        _fingerprint(configuration_problem): {
            "description": configuration_problem.message,
            "check_name": configuration_problem.asked,
            "fingerprint": _fingerprint(configuration_problem),
            "severity": "major" if configuration_problem.level == ERROR else "minor",
            "location": {"path": configuration_problem.spot.file, "lines": {"begin": configuration_problem.spot.line}},
        }
        for run in runs
        for configuration_problem in configuration_problems(run)
        if configuration_problem.spot and _is_below(configuration_problem.spot.file)
    }
    return (json.dumps(json_value(list(rows.values())), indent=2) + "\n").encode("ascii")


def annotations(runs: Iterable[Run]) -> list[str]:
    """Commands for the log of a GitHub workflow, errors first; GitHub shows ten of a step, and drops the others."""
    found = dict.fromkeys(
        _annotation(configuration_problem) for run in runs for configuration_problem in configuration_problems(run)
    )
    return sorted(found, key=lambda line: not line.startswith(f"::{ERROR} "))[:ANNOTATIONS_AT_MOST]


def _annotation(configuration_problem: ConfigurationProblem) -> str:
    values = {"title": f"{TOOL}: {configuration_problem.asked}"}
    if configuration_problem.spot and _is_below(configuration_problem.spot.file):
        values = {"file": configuration_problem.spot.file, "line": str(configuration_problem.spot.line), **values}
    properties = ",".join(f"{name}={_value(text)}" for name, text in values.items())
    return f"::{configuration_problem.level} {properties}::{_data(configuration_problem.message)}"


def _data(text: str) -> str:
    """As the runner of a workflow reads the text of a command."""
    lines = (printable(line).replace("%", "%25") for line in text.splitlines())
    return "%0A".join(lines)


def _value(text: str) -> str:
    """As it reads a property of a command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _sarif_run(name: str, run: Run) -> dict[str, Any]:
    problems = configuration_problems(run)[:RESULTS_AT_MOST]
    told = [{"level": ERROR, "message": {"text": printable(reason)}} for reason in run.reasons]
    return {
        "tool": {
            "driver": {
                "name": TOOL,
                "version": gitleaks_eval.__version__,
                "rules": [{"id": asked, "shortDescription": {"text": text}} for asked, text in ASKED.items()],
            }
        },
        "automationDetails": {"id": f"{TOOL}/{name or 'configuration'}/"},
        "invocations": [
            {
                "executionSuccessful": not (run.incomplete or run.partial),
                **({"toolExecutionNotifications": told} if told else {}),
            }
        ],
        "results": [_result(problem) for problem in problems],
    }


def _result(configuration_problem: ConfigurationProblem) -> dict[str, Any]:
    return {
        "ruleId": configuration_problem.asked,
        "ruleIndex": _IDS.index(configuration_problem.asked),
        "level": configuration_problem.level,
        "message": {"text": configuration_problem.message},
        **(
            {"locations": [_location(configuration_problem.spot.file, configuration_problem.spot.line)]}
            if configuration_problem.spot
            else {}
        ),
        "partialFingerprints": {f"{TOOL}/v1": _fingerprint(configuration_problem)},
    }


def _location(file: str, line: int) -> dict[str, Any]:
    uri = f"{'' if _is_below(file) else 'file://'}{quote(os.fsencode(file))}"
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}


def _is_below(file: str) -> bool:
    """Return whether a file is named relative to the top of the repository."""
    return not Path(file).is_absolute()


def _fingerprint(configuration_problem: ConfigurationProblem) -> str:
    """Return the same for the same problem, though lines above it come and go."""
    place = configuration_problem.spot.file if configuration_problem.spot else ""
    text = re.sub(r"(?<=:)\d+", "", configuration_problem.message)
    return hashlib.sha256(
        f"{configuration_problem.asked}\n{place}\n{text}".encode("utf-8", "backslashreplace")
    ).hexdigest()
