"""`report.html`: a page for people, made of the JSON of a run or a comparison, that asks nobody for anything."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from gitleaks_eval.core.resources import data
from gitleaks_eval.core.templates import rendered
from gitleaks_eval.reports.comparison.pair_judge import TITLE, told
from gitleaks_eval.reports.html import comparison as compared
from gitleaks_eval.reports.html import views
from gitleaks_eval.reports.html.charts import Point, scatter, trend
from gitleaks_eval.reports.html.first_screen import next_action, tiles, under_test, verdict, why
from gitleaks_eval.reports.html.groups import Document

# What marks a page as ours: only such a one is replaced by another.
GENERATOR = '<meta name="generator" content="gitleaks-eval">'
# What names a candidate among others; its report has all of it.
_SHORTLY = ("Scanner", "SHA-256", "Configuration", "Command", "Arguments", "Asked for")


def run_page(document: Document) -> Iterator[bytes]:
    """Return the page of one evaluation report."""
    tested = dict(under_test(document))
    name = " with ".join(tested[term] for term in ("Scanner", "Configuration") if tested.get(term))
    values = {"title": f"{verdict(document)}: {name}", "kept_in": "evaluation_report.json"}
    return _page("report.html", {**_candidate(name, document), **values})


def comparison_page(comparison: Document, reports: Mapping[str, Document]) -> Iterator[bytes]:
    """Return the page of a comparison; `reports` has the evaluation report of each candidate of this run, by name."""
    deciding = [pair for pair in comparison["pairs"] if not pair.get("neighbour")]
    candidates = comparison["candidates"]
    names = [str(candidate["name"]) for candidate in candidates]
    worst = compared.worst([pair["verdict"] for pair in deciding])
    title = " against ".join(reversed(names[:2])) if len(names) == 2 else ", ".join(names)
    rules = compared.rule_rows(candidates, reports)
    return _page(
        "comparison.html",
        {
            "title": f"{worst}: {title}",
            "kept_in": "comparison.json",
            "verdict": worst,
            "heading": title,
            "next_action": compared.next_of(worst),
            "judge_title": TITLE,
            "pairs": [_pair(pair, reports.get(pair["candidate"]) or {}) for pair in deciding],
            "neighbours": [pair for pair in comparison["pairs"] if pair.get("neighbour")],
            "candidates": candidates,
            "names": names,
            "tested": {name: _shortly(report) for name, report in reports.items()},
            "numbers": compared.numbers(candidates, reports, deciding),
            "marks": scatter(_points(candidates)),
            "places": compared.place_rows(comparison.get("places") or (), names),
            "rules": [row for row in rules if row.differs and row.is_everywhere][: compared.ROWS_AT_MOST],
            "own_rules": [row for row in rules if not row.is_everywhere][: compared.ROWS_AT_MOST],
            "alike": sum(not row.differs for row in rules),
            "reports": {name: _candidate(name, report) for name, report in reports.items()},
        },
    )


def trend_page(documents: Sequence[Document]) -> Iterator[bytes]:
    """Return a page about several evaluation reports, by date."""
    runs = sorted(documents, key=lambda document: str(document.get("generated_at", "")))
    dates = [str(run.get("generated_at", ""))[:16].replace("T", " ") for run in runs]
    rows = {
        "score (0 to 5)": [_number((run.get("summary") or {}).get("normalized_score")) for run in runs],
        "recall": [_number((run.get("metrics") or {}).get("recall")) for run in runs],
        "places seen": [_tile(run, "places seen") for run in runs],
        "rules that fire": [_tile(run, "rules fire") for run in runs],
        "time of a scan of a planted repository (ms, median of all)": [_scan_ms(run) for run in runs],
    }
    lines = [
        trend(name, list(zip(dates, values, strict=True)))
        for name, values in rows.items()
        if any(value is not None for value in values)
    ]
    table = [
        (when, verdict(one), [values[index] for values in rows.values()], under_test(one))
        for index, (when, one) in enumerate(zip(dates, runs, strict=True))
    ]
    latest = verdict(runs[-1])
    heading = f"the latest of {len(runs)} runs, {dates[-1]}"
    values = {"title": f"{latest}: {heading}", "heading": heading, "verdict": latest, "kept_in": ""}
    return _page("trend.html", {**values, "lines": lines, "names": list(rows), "table": table[::-1]})


def document_of(pieces: Iterable[bytes]) -> Document:
    """Return a report that was rendered as JSON, as a document."""
    document: Document = json.loads(b"".join(pieces))
    return document


def _candidate(name: str, document: Document) -> dict[str, Any]:
    entries, entries_left = views.entries(document)
    rules, others, rules_left = views.rule_rows(document)
    return {
        "name": name,
        "document": document,
        "verdict": verdict(document),
        "why": why(document),
        "next_action": next_action(document),
        "under_test": under_test(document),
        "tiles": tiles(document),
        "problems": views.problems(document),
        "excused": views.excused(document),
        "entries": entries,
        "entries_left": entries_left,
        "regions": views.regions(document),
        "rules": rules,
        "other_rules": others,
        "rules_left": rules_left,
        "grid": views.grid(document),
        "not_applicable": views.not_applicable(document),
        "judged": views.judged(document),
        "judges": views.judge_rows(document),
        "real": views.real_rows(document),
        "marks": scatter(_points([{"name": rule, **row} for rule, row in _by_rule(document.get("metrics")).items()])),
    }


def _pair(pair: Document, report: Document) -> dict[str, Any]:
    worse, better = compared.changes(pair, report)
    return {
        "verdict": pair["verdict"],
        "baseline": pair["baseline"],
        "candidate": pair["candidate"],
        "reasons": pair["reasons"],
        "worse": worse,
        "better": better,
        "real": pair.get("real") or (),
        "real_groups": compared.real_groups(pair),
        "reattributed_groups": compared.reattributed_groups(pair),
        "judge": told(pair["judge"]) if pair.get("judge") else None,
    }


def _shortly(document: Document) -> list[tuple[str, str]]:
    return [(term, text) for term, text in under_test(document) if term in _SHORTLY]


def _page(template: str, values: Mapping[str, Any]) -> Iterator[bytes]:
    style, script = (data(f"report/{name}").read_text(encoding="utf-8") for name in ("style.css", "filter.js"))
    return rendered(
        template,
        {
            **values,
            "generator": GENERATOR,
            "style": style,
            "script": script,
            "style_hash": _hash(style),
            "script_hash": _hash(script),
        },
    )


def _hash(text: str) -> str:
    """Return what a Content-Security-Policy calls a text that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _by_rule(rates: Document | None) -> Document:
    found: Document = (rates or {}).get("by_rule") or {}
    return found


def _points(rows: Iterable[Document]) -> list[Point]:
    return [
        Point(str(row["name"]), row["recall"], row["precision"])
        for row in rows
        if row.get("recall") is not None and row.get("precision") is not None
    ]


def _tile(document: Document, title: str) -> float | None:
    return next((tile.count for tile in tiles(document) if tile.title == title), None)


def _scan_ms(document: Document) -> float | None:
    """The median of the times of the scans of planted repositories; those of corpora and of real ones are left out."""
    labelled = (document.get("corpora") or {}).get("by_scenario") or {}
    rows = (row for row in document.get("results", ()) if row["check_id"] == "SP-1" and row.get("actual"))
    times = [row["actual"] for row in rows if row["scenario"] not in labelled]
    return round(median(times)) if times else None


def _number(value: object) -> float | None:
    return round(value, 3) if isinstance(value, (int, float)) else None
