"""Evaluation reports, as their pages are made of them."""

from typing import Any

CHECKS = [f"SA-{number}" for number in range(1, 40)]


def evaluation(
    *,
    path: str = "a.py",
    rule: str = "github-pat",
    entry: str = "^src/",
    place: str = "src/a.py",
    scenario: str = "leaky",
    reason: str = "",
    repository: str = "web",
    clean: bool = False,
    findings: int = 2,
    scenarios: int = 1,
    at: str = "2026-01-01T00:00:00+00:00",
) -> dict[str, Any]:
    """A report with one finding, rule and place that is hidden, but where it is `clean`."""
    bad = not clean
    counts = {
        "tp": 9,
        "fp": 0,
        "fn": int(bad),
        "precision": 1.0,
        "recall": 0.9,
        "f1": 0.95,
        "intervals": {"recall": [0.6, 1]},
    }
    return {
        "tool": "gitleaks-eval", "tool_version": "1", "generated_at": at,
        "scanner": {"name": "gitleaks", "version": "8.30.1", "config": path, "sha256": "0" * 64},
        "summary": {
            "total_checks": 39, "passed": 38, "failed": 1, "not_applicable": 0, "errors": 0, "normalized_score": 4.9,
            "decision": "STRONG_PASS", "guarded_decision": "FAIL" if bad else "STRONG_PASS",
            "findings": {"expected": findings, "detected": findings - bad, "missed": int(bad)},
        },
        "reasons": [reason] if reason else [],
        "metrics": {**counts, "by_rule": {rule: counts}},
        "coverage": {
            "seed": "0", "switched_off": ["jwt"] * bad,
            "rules": [
                {"rule_id": rule, "own": False, "samples": 1, "found": 1, "status": "fires", "reported_as": None,
                 "hidden_by": None, "reason": None},
                *[{"rule_id": "acme", "own": True, "samples": 1, "found": 0, "status": "never_fires",
                   "reported_as": None, "hidden_by": None, "reason": "keyword"}] * bad,
            ],
            "places": [
                {"family": "path", "case": "main.py", "status": "seen", "hidden_by": None},
                *[{"family": "path", "case": place, "status": "allowlisted", "hidden_by": f"c.toml {entry}"}] * bad,
            ],
            "entries": [{"entry": entry, "kind": "path", "file": "c.toml", "line": 4, "silences_rules": 2,
                         "hides_places": 1, "status": "live" if bad else "accepted", "why": None}],
        },
        "results": [
            {"check_id": check, "name": "Count", "scenario": f"{scenario}{number or ''}", "message": "found 1",
             "outcome": "failed" if bad and (number, check) == (0, "SA-1") else "passed",
             "nodeid": f"a.py::test_{check}[{scenario}]"}
            for number in range(scenarios) for check in CHECKS
        ],
        "next": ["narrow the entries that hide what is MISSED" if bad else "nothing to mend"],
        "entry_lines": {"hidden by c.toml allowlists[0]": "c.toml:4"},
        "findings": [
            {"scenario": scenario, "file_path": path, "line_number": number, "rule_id": rule, "severity": "HIGH",
             "status": "missed" if bad and (findings > 2 or not number) else "exact", "reported_rule_id": None,
             "hidden_by": "hidden by c.toml allowlists[0]"}
            for number in range(findings)
        ],
        "real_world": {"repositories": [{"name": repository, "findings_by_rule": {rule: 3}, "problem": None}]},
    }  # fmt: skip


def comparison() -> tuple[dict[str, Any], dict[str, Any]]:
    """A comparison of two candidates, of which the second loses something, and their reports."""
    reports = {"good": evaluation(clean=True), "bad": evaluation()}
    candidates = [
        {"name": name, "folder": name, "scanner": "gitleaks", "version": "8.30.1", "config": "c.toml", "score": 0.9,
         "guarded_decision": one["summary"]["guarded_decision"], "precision": 1.0,
         "recall": 1.0 if name == "good" else 0.9, "f1": 0.9, "tp": 9, "fp": 0, "fn": int(name == "bad"),
         "by_rule": one["metrics"]["by_rule"], "scan_ms": 10.0, "scan_ms_spread": [9.0, 12.0]}
        for name, one in reports.items()
    ]  # fmt: skip
    lost = {"scenario": "leaky", "file_path": "a.py", "line_number": 3, "rule_id": "github-pat", "severity": "HIGH",
            "hidden_by": "hidden by c.toml allowlists[0]"}  # fmt: skip
    pair = {"baseline": "good", "candidate": "bad", "verdict": "REGRESSION", "neighbour": False, "reasons": ["1 lost"],
            "lost": [lost], "rules_lost": ["acme"], "places_lost": ["path:src/a.py"]}  # fmt: skip
    places = [
        {"place": "path:main.py", "seen": {"good": True, "bad": True}},
        {"place": "path:src/a.py", "seen": {"good": True, "bad": False}},
    ]
    return {"candidates": candidates, "pairs": [pair], "places": places}, reports


def documents() -> list[dict[str, Any]]:
    """Three runs, a month apart."""
    runs = [evaluation(clean=month != 2, at=f"2026-0{month}-01T00:00:00+00:00") for month in (1, 2, 3)]
    for run, score, recall in zip(runs, (5.0, 4.9, 5.0), (1.0, 0.9, 1.0), strict=True):
        run["summary"]["normalized_score"], run["metrics"]["recall"] = score, recall
    return runs
