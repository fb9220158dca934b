"""A baseline to keep in version control: what a comparison needs of a run, sorted, the same bytes for the same result.

Times, ids, and where things are on this machine are left out.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from gitleaks_eval.analysis.matching import MISSED, Match, Matching
from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.core.text import json_value
from gitleaks_eval.scoring.evaluated import STATUSES, CheckKey, Evaluated
from gitleaks_eval.scoring.saved import SUPPORTED_SCHEMA
from gitleaks_eval.scoring.saved_survey import small_survey, survey_rows
from gitleaks_eval.scoring.surveyed import surveyed_from

KIND = "gitleaks-eval baseline"
_SCANNER = ("name", "version", "config", "config_sha256", "decode_depth", "mode", "args")
_REPORTED = {"reported_rule_id": "rule_id", "reported_line_number": "line_number", "reported_severity": "severity"}
_TEXT: Collection[type] = {str}
_MAYBE_TEXT: Collection[type] = {str, type(None)}
_KINDS: Mapping[str, Collection[type]] = {
    **dict.fromkeys(("scenario", "status", "file_path", "rule_id"), _TEXT),
    **dict.fromkeys(("severity", "reported_rule_id", "reported_severity"), _MAYBE_TEXT),
    "line_number": {int},
    "reported_line_number": {int, type(None)},
    "labelled": {bool},
}
_OPTIONAL = {*_REPORTED, "labelled"}
_COUNTS = ("expected", "unlisted_detected", "unlisted_missed", "unlisted_unexpected")


def baseline_json(evaluated: Evaluated, coverage: Mapping[str, Any] | None = None) -> bytes:
    """Return a complete run as a baseline, a finding a line; it follows schemas/baseline.schema.json.

    `coverage` is that of its evaluation report, None where none was asked for.
    """
    document = {
        "kind": KIND,
        "schema_version": SUPPORTED_SCHEMA,
        "scanner": {name: _without_folder(evaluated.scanner[name]) for name in _SCANNER if name in evaluated.scanner},
        "corpus_sha256": evaluated.corpus_sha256,
        "score": evaluated.score,
        "decision": evaluated.decision,
        "guarded_decision": evaluated.guarded_decision,
        "corpora": sorted(evaluated.corpora),
        "config_lint": {check_id: sorted(faults) for check_id, faults in sorted(evaluated.lint.items())},
        **({"coverage": small_survey(coverage)} if coverage else {}),
    }
    lists = {
        "scenarios": [
            {"name": name, **{count: getattr(evaluated.matchings[name], count) for count in _COUNTS}}
            for name in sorted(evaluated.matchings)
        ],
        "checks": _checks(evaluated.outcomes),
        "findings": [
            {"scenario": name, **_finding(match)}
            for name in sorted(evaluated.matchings)
            for match in sorted(evaluated.matchings[name].matches, key=_order)
        ],
    }
    lines = json.dumps(json_value(document), indent=2, allow_nan=False).removesuffix("\n}")
    for name, entries in lists.items():
        inner = ",\n    ".join(json.dumps(json_value(entry)) for entry in entries)
        lines += f',\n  "{name}": [\n    {inner}\n  ]' if entries else f',\n  "{name}": []'
    return f"{lines}\n}}\n".encode("ascii")


def save_baseline(
    path: Path, evaluated: Evaluated, *, partial: bool, coverage: Mapping[str, Any] | None = None
) -> None:
    """Write a run as a baseline.

    Raises:
        InputError: when it is not of a complete run, or something else came to stand there.
        OSError: when it cannot be written.
    """
    if partial or evaluated.has_errors:
        raise InputError("a baseline is of a complete run, and this one is not")
    refuse_other_file(path, "--gitleaks-save-baseline")
    write_atomically(path, baseline_json(evaluated, coverage))


def is_baseline(document: object) -> bool:
    """Return whether a document says that it is such a baseline."""
    return isinstance(document, dict) and document.get("kind") == KIND


def evaluated_from_baseline(document: Any, source: str) -> Evaluated:
    """Return a baseline as a side of a comparison; `source` is its path, and how it is named.

    Raises:
        InputError: when it is of another schema version, or not as `baseline_json` writes it.
    """
    option = f"--gitleaks-baseline {source}"
    if (version := document.get("schema_version")) != SUPPORTED_SCHEMA:
        raise InputError(
            f"{option}: has schema version {str(version)[:40]!r}, and only {SUPPORTED_SCHEMA!r} can be compared; "
            "save it anew with --gitleaks-save-baseline"
        )
    findings = document.get("findings")
    # A schema takes seconds for thousands of findings.
    if problems := schema_problems(
        "baseline", {**document, "findings": []} if isinstance(findings, list) else document
    ):
        raise InputError(*(f"{option}: {problem}" for problem in problems[:5]))
    counts = {one["name"]: [one[count] for count in _COUNTS] for one in document["scenarios"]}
    matches: dict[str, list[Match]] = {name: [] for name in counts}
    for index, entry in enumerate(document["findings"]):
        if not _is_finding(entry) or entry["scenario"] not in matches:
            raise InputError(f"{option}: /findings/{index}: is no finding of a scenario that /scenarios lists")
        matches[entry["scenario"]].append(_match(entry))
    scanner = dict.fromkeys(("name", "version", "source", "sha256", "config", "config_sha256"))
    return Evaluated(
        name=source,
        matchings={name: Matching(tuple(found), *counts[name]) for name, found in matches.items()},
        outcomes=_outcomes(document["checks"]),
        scanner={**scanner, **document["scanner"]},
        corpus_sha256=document["corpus_sha256"],
        score=document["score"],
        decision=document["decision"],
        guarded_decision=document["guarded_decision"],
        has_errors=False,
        lint={check_id: frozenset(faults) for check_id, faults in document["config_lint"].items()},
        corpora=frozenset(document.get("corpora", ())),
        surveyed=surveyed_from(survey_rows(document.get("coverage"))),
    )


def refuse_other_file(path: Path, option: str) -> None:
    """Refuse to write a baseline over anything else.

    Raises:
        InputError: when there is a file that is no baseline, or something that is no file.
    """
    if path.exists() and not (path.is_file() and is_baseline(read_json(path, f"{option}:"))):
        raise InputError(f"{option} {path}: is there and is no baseline that was saved so; name another file")


def _without_folder(value: object) -> object:
    """Return the name of a configuration without a folder of this machine; names below rootdir are relative."""
    if not isinstance(value, str):
        return value
    return " > ".join(PurePath(name).name if PurePath(name).is_absolute() else name for name in value.split(" > "))


def _checks(outcomes: Mapping[CheckKey, str]) -> list[dict[str, Any]]:
    """For each scenario the checks by outcome; of several with one id the further ones have their number."""
    found: dict[str | None, dict[str, list[Any]]] = {}
    for key, outcome in sorted(outcomes.items(), key=lambda item: (item[0].scenario or "", item[0][0], item[0].number)):
        check = [key.check_id, key.number] if key.number else key.check_id
        found.setdefault(key.scenario, {}).setdefault(outcome, []).append(check)
    return [{"scenario": scenario, **dict(sorted(by.items()))} for scenario, by in found.items()]


def _outcomes(checks: Iterable[Mapping[str, Any]]) -> dict[CheckKey, str]:
    outcomes = {}
    for one in checks:
        for outcome in one.keys() - {"scenario"}:
            for check in one[outcome]:
                check_id, number = (check, 0) if isinstance(check, str) else check
                outcomes[CheckKey(check_id, one["scenario"], number)] = outcome
    return outcomes


def _order(match: Match) -> tuple[str, int, str, str]:
    return match.file_path, match.line_number, match.rule_id, repr(match)


def _finding(match: Match) -> dict[str, Any]:
    """Return a match without what follows from the rest: most are as expected."""
    fields = match._asdict()
    for name, other in _REPORTED.items():
        if fields[name] == (None if match.status == MISSED else fields[other]):
            del fields[name]
    if match.labelled:
        del fields["labelled"]
    return fields


def _is_finding(entry: object) -> bool:
    if not isinstance(entry, dict) or not entry.keys() <= _KINDS.keys():
        return False
    kinds_fit = all(type(entry[name]) in _KINDS[name] for name in entry)
    return kinds_fit and entry.keys() >= _KINDS.keys() - _OPTIONAL and entry["status"] in STATUSES


def _match(entry: Mapping[str, Any]) -> Match:
    left_out: dict[str, Any] = {
        name: None if entry["status"] == MISSED else entry[other] for name, other in _REPORTED.items()
    }
    left_out["labelled"] = True
    return Match._make(entry[name] if name in entry else left_out[name] for name in Match._fields)
