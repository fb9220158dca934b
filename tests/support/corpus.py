"""A small corpus for runs that need no scanner: ground truths, and analyses as ours are."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.analysis.analyse import Provenance, analyse
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.resources import shipped_data

Place = tuple[str, str, int]

# All that pytest has to show more of a failure than users want to see.
TALKATIVE = ("-vv", "-l", "--tb=long", "--full-trace", "-rA", "-o=log_level=DEBUG", "-o=junit_logging=all")

KEY: Place = ("deploy/key.pem", "private-key", 1)
TOKEN: Place = ("config/token.env", "github-pat", 4)


def write_truth(folder: Path, name: str, places: Iterable[Place], **more: Any) -> Path:
    """A ground truth that expects a finding at each place."""
    listed = list(places)
    findings = [{"file_path": path, "rule_id": rule, "line_number": line} for path, rule, line in listed]
    files = sorted({path for path, _, _ in listed})
    rules = sorted({rule for _, rule, _ in listed})
    expected = {
        "total_secrets": len(findings),
        "unique_secrets": len(findings),
        "secrets_in_head": len(findings),
        "secrets_in_history": 0,
        "files_with_secrets": len(files),
        "commits_with_secrets": 1 if findings else 0,
        "rule_ids": rules,
        "files_with_secrets_list": files,
        "secrets_by_rule": {rule: sum(place[1] == rule for place in listed) for rule in rules},
        "findings": findings,
        **more,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"scenario": name, "expected": expected}), encoding="utf-8")
    return path


def _value(*place: object) -> str:
    # Not the place itself: where a secret stands in a path, the path is masked.
    return hashlib.sha256(repr(place).encode()).hexdigest()


def envelope(places: Iterable[Place]) -> dict[str, Any]:
    """An analysis with a finding at each place, whose values stand in HEAD."""
    findings = [
        {"File": path, "RuleID": rule, "StartLine": line, "Commit": "c" * 40, "Secret": _value(path, rule, line)}
        for path, rule, line in places
    ]
    head = [finding["Secret"].encode() for finding in findings if isinstance(finding["Secret"], str)]
    provenance = Provenance("repository", "main", "c" * 40, "8.30.1", "run", "2026-01-01T00:00:00+00:00", 20.0, 1)
    return analyse(findings, head, load_policy(), provenance)


def write_analysis(folder: Path, name: str, places: Iterable[Place]) -> Path:
    """The analysis of a scenario, with a finding at each place."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(envelope(places)), encoding="utf-8")
    return path


def analysed_corpus(folder: Path, missing: Iterable[Place] = ()) -> list[str]:
    """Two scenarios, one with two secrets and one clean, and the options that evaluate their analyses."""
    lost = set(missing)
    write_truth(folder / "truth", "leaky", [KEY, TOKEN])
    write_analysis(folder / "analyses", "leaky", [place for place in (KEY, TOKEN) if place not in lost])
    write_truth(folder / "truth", "clean", [])
    write_analysis(folder / "analyses", "clean", [])
    return [f"--gitleaks-scenarios={folder / 'truth'}", f"--gitleaks-analysis={folder / 'analyses'}"]


def shipped_scenarios(folder: Path, *names: str) -> str:
    """A folder with some of the shipped scenarios, for runs that scan; the option that names it."""
    for kind, suffix in (("ground_truth", "json"), ("synthetic_repos", "yaml")):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(shipped_data(kind) / f"{name}.{suffix}", folder / kind)
    return f"--gitleaks-scenarios={folder}"


def report(pytester: pytest.Pytester, folder: str = "gitleaks-eval-results") -> dict[str, Any]:
    """The evaluation report that a run left."""
    text = (pytester.path / folder / "evaluation_report.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def outcomes(document: dict[str, Any]) -> dict[str, str]:
    """The outcome of each check of a report, by `check_id[scenario]`."""
    return {f"{result['check_id']}[{result['scenario']}]": result["outcome"] for result in document["results"]}


OWN_CHECK = """
from gitleaks_eval import check, check_at_most

@check("ACME-1", "At most two findings a file", category="House Rules")
def test_ACME_1_findings_a_file(analysis, evidence):
    busiest = max((file["secret_count"] for file in analysis.mapping("files").values()), default=0)
    check_at_most(evidence, 2, busiest, what="findings in one file")
"""
