"""What several test files build on: a ground truth, an analysis that fulfils it, and the shipped checks."""

import copy
import functools
import importlib
import inspect
import json
import os
import pkgutil
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import gitleaks_eval.checks
from gitleaks_eval.analysis.envelope import Analysis, as_analysis
from gitleaks_eval.checks import CHECK_MARK
from gitleaks_eval.checks.catalogue import catalogue
from gitleaks_eval.checks.evidence import Evidence
from gitleaks_eval.checks.mark import NotApplicable
from gitleaks_eval.core.errors import CheckFailed
from gitleaks_eval.core.resources import PACKAGE, shipped_data
from gitleaks_eval.scenarios.pattern import generate
from gitleaks_eval.scenarios.scenario import Expected, Scenario, load_scenario, load_scenarios
from gitleaks_eval.scenarios.secrets import secret_kinds

Json = dict[str, Any]
Place = tuple[str | int, ...]
Edits = Mapping[Place, Any]
Item = TypeVar("Item")

# How many checks are shipped, for each scenario, and of a run of the core in all.
SHIPPED = len(catalogue())
IN_CORE = SHIPPED * len(load_scenarios(["core"], Path()))
REMOVED = object()
FIRST, SECOND = "1" * 40, "2" * 40
# What no evidence may hold; each stands in every finding of the good analysis.
PREVIEW, AUTHOR, DESCRIPTION, MESSAGE = "previewed********", "an author", "a description", "a commit message"
UNMENTIONABLE = ("previewed", AUTHOR, DESCRIPTION, MESSAGE)

COUNTS = {
    "total_secrets": 5,
    "unique_secrets": 4,
    "secrets_in_head": 4,
    "secrets_in_history": 1,
    "files_with_secrets": 4,
    "commits_with_secrets": 2,
}
# File, line, rule, severity, commit, and whether the value still stands in HEAD.
FINDINGS: tuple[tuple[str, int, str, str, str, bool], ...] = (
    (".env", 3, "github-pat", "HIGH", FIRST, True),
    ("config/aws.py", 4, "aws-access-token", "CRITICAL", FIRST, True),
    ("config/prod/keys/server.key", 1, "private-key", "CRITICAL", SECOND, True),
    ("config/prod/keys/server.key", 40, "private-key", "CRITICAL", SECOND, True),
    ("src/app/übung.py", 7, "generic-api-key", "LOW", FIRST, False),
)
RULES = {"aws-access-token": 1, "generic-api-key": 1, "github-pat": 1, "private-key": 2}
SEVERITIES = {"CRITICAL": 3, "HIGH": 1, "LOW": 1}
FILES = sorted({finding[0] for finding in FINDINGS})
# Folder: direct secrets, recursive secrets, direct files, recursive files.
DIRECTORIES = {
    ".": (1, 5, 1, 4),
    "config": (1, 3, 1, 2),
    "config/prod": (0, 2, 0, 1),
    "config/prod/keys": (2, 2, 1, 1),
    "src": (0, 1, 0, 1),
    "src/app": (1, 1, 1, 1),
}

# Go's settings by which a user would switch off its checksum database.
GO_SWITCHES = {
    "GOSUMDB": "off",
    "GONOSUMDB": "*",
    "GOPRIVATE": "*",
    "GOINSECURE": "*",
    "GONOSUMCHECK": "1",
    "GOFLAGS": "-mod=vendor",
}


def ground_truth() -> Json:
    """A ground truth with every key of the schema that says what is expected."""
    return {
        "schema_version": "1.0",
        "scenario": "good",
        "expected": {
            **COUNTS,
            "rule_ids": sorted(RULES),
            "files_with_secrets_list": FILES,
            "secrets_by_rule": dict(RULES),
            "secrets_by_severity": dict(SEVERITIES),
            "findings": [
                {"file_path": path, "rule_id": rule, "line_number": line, "expected_severity": severity}
                for path, line, rule, severity, _, _ in FINDINGS
            ],
            "thresholds": {
                "max_scan_time_ms": 5000,
                "max_ms_per_commit": 1000,
                "max_ms_per_finding": 500,
                "max_findings_for_test": 100,
            },
        },
    }


def envelope() -> Json:
    """An analysis in the Caldera envelope that fulfils `ground_truth()`."""
    return {
        "metadata": {
            "tool_name": "gitleaks",
            "tool_version": "8.30.1",
            "run_id": "00000000-0000-4000-8000-000000000001",
            "repo_id": "00000000-0000-4000-8000-000000000002",
            "branch": "main",
            "commit": SECOND,
            "timestamp": "2026-01-01T00:00:00Z",
            "schema_version": "1.0.0",
        },
        "data": results(),
    }


def legacy() -> Json:
    """The same analysis in the legacy format."""
    return {
        "schema_version": "1.0.0",
        "generated_at": "2026-01-01T00:00:00Z",
        "repo_name": "good",
        "repo_path": "repositories/good",
        "results": results(),
    }


def results() -> Json:
    """The results of the good analysis, as both formats hold them."""
    return {
        "tool": "gitleaks",
        "tool_version": "8.30.1",
        **COUNTS,
        "secrets_by_rule": dict(RULES),
        "secrets_by_severity": dict(SEVERITIES),
        "findings": [finding(*values) for values in FINDINGS],
        "files": {path: _file(path) for path in FILES},
        "directories": {
            path: {
                "direct_secret_count": direct,
                "recursive_secret_count": recursive,
                "rule_id_counts": {},
                "direct_file_count": direct_files,
                "recursive_file_count": recursive_files,
            }
            for path, (direct, recursive, direct_files, recursive_files) in DIRECTORIES.items()
        },
        "scan_time_ms": 21.5,
    }


def finding(path: str, line: int, rule: str, severity: str = "HIGH", commit: str = FIRST, *in_head: bool) -> Json:
    """A finding of an analysis."""
    return {
        "file_path": path,
        "line_number": line,
        "rule_id": rule,
        "secret_type": rule,
        "description": DESCRIPTION,
        "commit_message": MESSAGE,
        "secret_preview": PREVIEW,
        "entropy": 4.25,
        "commit_hash": commit,
        "commit_author": AUTHOR,
        "commit_date": "2026-01-01T00:00:00Z",
        "fingerprint": f"{commit}:{path}:{rule}:{line}",
        "in_current_head": all(in_head),
        "severity": severity,
    }


def _file(path: str) -> Json:
    found = [values for values in FINDINGS if values[0] == path]
    return {
        "file_path": path,
        "secret_count": len(found),
        "rule_ids": sorted({values[2] for values in found}),
        "earliest_commit": found[0][4],
        "latest_commit": found[-1][4],
    }


def edited(document: Json, edits: Edits) -> Json:
    """A copy of a document with values set, or removed, at the places that `edits` names."""
    changed = copy.deepcopy(document)
    for place, value in edits.items():
        target: Any = changed
        for step in place[:-1]:
            target = target.setdefault(step, {}) if isinstance(target, dict) else target[step]
        if value is REMOVED:
            del target[place[-1]]
        else:
            target[place[-1]] = value
    return changed


def analysed(document: object) -> Analysis:
    """A document as the checks are given it."""
    return as_analysis(document, "analysis of a test")


def expecting(edits: Edits | None = None) -> Expected:
    """What the good ground truth expects, with edits below `expected`."""
    document = edited(ground_truth(), {("expected", *place): value for place, value in (edits or {}).items()})
    return expected_of(document)


def expected_of(document: Json) -> Expected:
    """What a ground truth expects, read from a file as a run does."""
    with tempfile.TemporaryDirectory() as folder:
        return scenario_of(document, Path(folder)).expected


def scenario_of(document: object, folder: Path, name: str = "good") -> Scenario:
    """Write a ground truth and load it."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return load_scenario(path, folder)


@functools.cache
def shipped_checks() -> dict[str, Callable[..., None]]:
    """The check functions by id, from the modules in `gitleaks_eval.checks`."""
    found: dict[str, Callable[..., None]] = {}
    for module_info in pkgutil.iter_modules(gitleaks_eval.checks.__path__):
        module = importlib.import_module(f"gitleaks_eval.checks.{module_info.name}")
        for function in vars(module).values():
            for mark in getattr(function, "pytestmark", ()):
                if mark.name == CHECK_MARK:
                    assert mark.args[0] not in found
                    found[mark.args[0]] = function
    return found


@dataclass(frozen=True)
class Outcome:
    """What a check made of an analysis: `passed`, `failed` or `not_applicable`, its text, and its evidence."""

    name: str
    text: str
    evidence: Evidence


def outcome_of(check_id: str, expected: Expected, analysis: Analysis) -> Outcome:
    """Call one check; any exception but its two documented ones goes through."""
    function = shipped_checks()[check_id]
    evidence = Evidence()
    given = {"expected": expected, "analysis": analysis, "evidence": evidence}
    try:
        function(**{name: given[name] for name in inspect.signature(function).parameters})
    except CheckFailed as failure:
        return Outcome("failed", str(failure), evidence)
    except NotApplicable as reason:
        return Outcome("not_applicable", str(reason.msg), evidence)
    return Outcome("passed", evidence.message, evidence)


def outcomes_of(expected: Expected, analysis: Analysis) -> dict[str, Outcome]:
    """Call all the checks."""
    return {check_id: outcome_of(check_id, expected, analysis) for check_id in shipped_checks()}


def secret(kind: str, seed: str) -> str:
    """A value of a shipped kind, made when the test runs."""
    return generate(secret_kinds()[kind].pattern, seed)


def reported(path: str, line: int, rule: str, value: str, **others: object) -> Json:
    """A finding as a scanner's report holds it."""
    return {
        "RuleID": rule,
        "Description": DESCRIPTION,
        "StartLine": line,
        "EndLine": line,
        "StartColumn": 1,
        "EndColumn": 1 + len(value),
        "Match": value,
        "Secret": value,
        "File": path,
        "Commit": FIRST,
        "Entropy": 4.25,
        "Author": AUTHOR,
        "Date": "2026-01-01T00:00:00Z",
        "Message": MESSAGE,
        **others,
    }


def shuffled(items: Iterable[Item], seed: int) -> Sequence[Item]:
    """The items in an order that depends on the seed."""
    mixed = list(items)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order, not a secret
    return mixed


def copied_package(folder: Path) -> Path:
    """A copy of the package in a folder, with the data that a wheel brings."""
    copied = folder / PACKAGE.name
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("ground_truth", "synthetic_repos"):
        shutil.copytree(shipped_data(name), copied / name, dirs_exist_ok=True)
    return copied


def git(repository: Path, *arguments: str, **environment: str) -> bytes:
    """The output of a git command that no user's configuration reaches."""
    program = shutil.which("git")
    assert program
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": str(repository),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
        **{f"GIT_{who}_NAME": "A" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "a@example.com" for who in ("AUTHOR", "COMMITTER")},
        **environment,
    }
    command = [program, "-C", str(repository), *arguments]
    done = subprocess.run(command, env=clean, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
