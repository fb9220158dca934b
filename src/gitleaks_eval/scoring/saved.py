"""A saved report becomes one side of a comparison."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gitleaks_eval.analysis.matching import UNEXPECTED, Match, Matching
from gitleaks_eval.analysis.metrics import make_metrics
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.schema import report_problems
from gitleaks_eval.scoring.evaluated import BADNESS, STATUSES, Evaluated, by_key, lint_faults
from gitleaks_eval.scoring.surveyed import surveyed_from

SUPPORTED_SCHEMA = "1.0"
_Kinds = Mapping[str, Collection[type]]
_TEXT: Collection[type] = {str}
_MAYBE_TEXT: Collection[type] = {str, type(None)}
_RESULT_FIELDS: _Kinds = {"check_id": _TEXT, "scenario": _MAYBE_TEXT, "outcome": _TEXT}
_FINDING_FIELDS: _Kinds = {
    "scenario": _TEXT,
    "status": _TEXT,
    "file_path": _TEXT,
    "line_number": {int},
    "rule_id": _TEXT,
    "severity": _MAYBE_TEXT,
    "reported_rule_id": _MAYBE_TEXT,
    "reported_line_number": {int, type(None)},
    "reported_severity": _MAYBE_TEXT,
}


def evaluated_from_report(document: Any, source: str) -> Evaluated:
    """Return a saved evaluation report as a baseline; `source` is its path, and how it is named.

    Raises:
        InputError: when it is of another schema version, or no evaluation report at all.
    """
    option = f"--gitleaks-baseline {source}"
    if not isinstance(document, dict):
        raise InputError(f"{option}: is no evaluation_report.json of gitleaks-eval")
    version = document.get("schema_version")
    if version != SUPPORTED_SCHEMA:
        raise InputError(
            f"{option}: has schema version {str(version)[:40]!r}, and only {SUPPORTED_SCHEMA!r} can be compared; "
            "make the report anew with this version of gitleaks-eval"
        )
    if problems := report_problems(document):
        raise InputError(*(f"{option}: {problem}" for problem in problems[:5]))
    results = list(_rows(document, "results", _RESULT_FIELDS, option))
    if unknown := {outcome for _, _, outcome in results} - BADNESS.keys():
        raise InputError(f"{option}: results have the outcome {min(unknown)[:40]!r}, which is not known")
    if document["partial"]:
        raise InputError(f"{option}: is of a partial run; make a full one: nobody knows what it would have missed")
    summary, linted = document["summary"], document.get("config_lint", ())
    return Evaluated(
        name=source,
        matchings=_saved_matchings(document, option),
        outcomes=by_key((check_id, scenario, outcome) for check_id, scenario, outcome in results),
        lint=lint_faults(document["scanner"]["config"], ((one["check_id"], one["actual"]) for one in linted)),
        scanner=document["scanner"],
        corpus_sha256=document["corpus_sha256"],
        score=summary["score"],
        decision=summary["decision"],
        guarded_decision=summary["guarded_decision"],
        has_errors=document["incomplete"],
        corpora=frozenset(document.get("corpora", {}).get("by_scenario", ())),
        surveyed=surveyed_from(document.get("coverage")),
    )


def _saved_matchings(document: Mapping[str, Any], option: str) -> dict[str, Matching]:
    matches: defaultdict[str, list[Match]] = defaultdict(list)
    rows = _rows(document, "findings", _FINDING_FIELDS, option)
    for (scenario, *values), entry in zip(rows, document["findings"], strict=True):
        match = Match._make((*values, entry.get("labelled", True)))
        if match.status not in STATUSES:
            raise InputError(f"{option}: findings have the status {match.status[:40]!r}, which is not known")
        if match.status == UNEXPECTED:
            match = match._replace(reported_severity=match.severity)
        matches[scenario].append(match)
    names = [one["name"] for one in document["scenarios"]]
    if unknown := sorted(matches.keys() - set(names)):
        raise InputError(f"{option}: findings are of the scenario {unknown[0][:40]!r}, which `scenarios` does not list")
    counted = None
    if "metrics" in document:
        counted = {**document["metrics"]["by_scenario"], **document.get("corpora", {}).get("by_scenario", {})}
    # One that is listed and not counted had an error: it has no findings, which is not that there are none.
    known = [name for name in names if counted is None or name in counted or name in matches]
    return {name: _saved_matching(tuple(matches[name]), (counted or {}).get(name)) for name in known}


def _saved_matching(matches: tuple[Match, ...], counted: Mapping[str, int] | None) -> Matching:
    """Return a matching with its counts of what is not listed: the difference between the metrics and the list."""
    listed = Matching(matches, sum(match.status != UNEXPECTED for match in matches))
    if counted is None:
        return listed
    counts = make_metrics({"": listed}).total
    detected, missed, unexpected = counted["tp"] - counts.tp, counted["fn"] - counts.fn, counted["fp"] - counts.fp
    return Matching(matches, listed.expected + detected + missed, detected, missed, unexpected)


def _rows(document: Mapping[str, Any], name: str, kinds: _Kinds, option: str) -> Iterator[list[Any]]:
    for index, entry in enumerate(document[name]):
        if not isinstance(entry, dict):
            raise InputError(f"{option}: /{name}/{index}: is not an object")
        for key, types in kinds.items():
            if type(entry.get(key)) not in types:
                raise InputError(f"{option}: /{name}/{index}/{key}: is missing, or of the wrong type")
        yield [entry.get(key) for key in kinds]
