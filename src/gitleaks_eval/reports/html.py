"""`report.html`: a page for people, made of the JSON of a run or a comparison, that asks nobody for anything."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitleaks_eval.core.resources import data
from gitleaks_eval.core.templates import rendered
from gitleaks_eval.reports import html_views as views
from gitleaks_eval.reports.html_charts import Point, scatter, trend
from gitleaks_eval.reports.html_views import Document, Group, Item
from gitleaks_eval.reports.pair_judge import TITLE, told

# What marks a page as ours: only such a one is replaced by another.
GENERATOR = '<meta name="generator" content="gitleaks-eval">'
_CHANGES = {
    "lost": "Lost",
    "new": "New and not expected",
    "relabelled": "Reported under another rule",
    "moved": "Reported on another line",
    "severity_changed": "Of another severity",
    "gained": "Found now",
    "gone": "Wrong before, and gone",
}
_SAMPLED = {"rules_lost": "Rules no longer fire", "places_lost": "Places no longer seen"}


def run_page(document: Document) -> Iterator[bytes]:
    """The page of one evaluation report."""
    name = " ".join(text for _, text in views.under_test(document)[:1])
    return _page("report.html", {**_candidate(name, document), "title": f"{views.verdict(document)}: {name}"})


def comparison_page(comparison: Document, reports: Mapping[str, Document]) -> Iterator[bytes]:
    """The page of a comparison; `reports` has the evaluation report of each candidate of this run, by name."""
    deciding = [pair for pair in comparison["pairs"] if not pair.get("neighbour")]
    names = [one["name"] for one in comparison["candidates"]]
    verdicts = [pair["verdict"] for pair in deciding]
    worst = next((word for word in ("REGRESSION", "INCOMPLETE", "REVIEW", "SAFE") if word in verdicts), "INCOMPLETE")
    maps = {name: {one.name: one for one in views.regions(report)} for name, report in reports.items()}
    return _page(
        "comparison.html",
        {
            "title": f"{worst}: {' against '.join(reversed(names[:2])) if len(names) == 2 else ', '.join(names)}",
            "verdict": worst,
            "judge_title": TITLE,
            "pairs": [(pair, _changes(pair), told(pair["judge"]) if pair.get("judge") else None) for pair in deciding],
            "candidates": comparison["candidates"],
            "names": names,
            "marks": scatter(_points(comparison["candidates"])),
            "maps": maps,
            "regions": list(dict.fromkeys(region for of_one in maps.values() for region in of_one)),
            "rules": _rules(comparison["candidates"]),
            "reports": {name: _candidate(name, report) for name, report in reports.items()},
        },
    )


def trend_page(documents: Sequence[Document]) -> Iterator[bytes]:
    """A page about several evaluation reports, by date."""
    runs = sorted(documents, key=lambda one: str(one.get("generated_at", "")))
    dates = [str(one.get("generated_at", ""))[:16].replace("T", " ") for one in runs]
    rows = {
        "score (0 to 5)": [_number((one.get("summary") or {}).get("normalized_score")) for one in runs],
        "recall": [_number((one.get("metrics") or {}).get("recall")) for one in runs],
        "places seen": [_tile(one, "places seen") for one in runs],
        "rules that fire": [_tile(one, "rules fire") for one in runs],
    }
    lines = [trend(name, list(zip(dates, values, strict=True))) for name, values in rows.items() if any(values)]
    table = [
        (when, views.verdict(one), [values[index] for values in rows.values()], views.under_test(one))
        for index, (when, one) in enumerate(zip(dates, runs, strict=True))
    ]
    return _page("trend.html", {"title": f"{len(runs)} runs", "lines": lines, "names": list(rows), "table": table})


def document_of(pieces: Iterable[bytes]) -> Document:
    """A report that was rendered as JSON, as a document."""
    document: Document = json.loads(b"".join(pieces))
    return document


def _candidate(name: str, document: Document) -> dict[str, Any]:
    return {
        "name": name,
        "document": document,
        "verdict": views.verdict(document),
        "why": views.why(document),
        "next_action": views.next_action(document),
        "under_test": views.under_test(document),
        "tiles": views.tiles(document),
        "problems": views.problems(document),
        "entries": views.entries(document),
        "regions": views.regions(document),
        "rules": views.rule_rows(document),
        "grid": views.grid(document),
        "not_applicable": views.not_applicable(document),
        "judged": views.judged(document),
        "judges": views.judge_rows(document),
        "real": views.real_rows(document),
        "marks": scatter(_points([{"name": rule, **row} for rule, row in _by_rule(document.get("metrics")).items()])),
    }


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
    """What a Content-Security-Policy calls a text that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _changes(pair: Document) -> list[Group]:
    """What changes of a pair, by kind and cause, what is lost first."""
    groups = []
    for kind, title in _CHANGES.items():
        by_cause: dict[str, list[Item]] = {}
        for one in pair.get(kind) or ():
            cause = one.get("hidden_by") or f"rule {one['rule_id']}"
            place = f"{one['scenario']}: {one['file_path']}:{one['line_number']}"
            by_cause.setdefault(f"{title}: {cause}", []).append(Item(place, str(one.get("severity") or "")))
        found = [Group(cause, len(items), items[: views.ITEMS_AT_MOST]) for cause, items in by_cause.items()]
        groups += sorted(found, key=lambda group: -group.count)
    for kind, title in _SAMPLED.items():
        if names := pair.get(kind) or ():
            groups.append(Group(title, len(names), [Item(str(name)) for name in names[: views.ITEMS_AT_MOST]]))
    return groups


def _rules(candidates: Sequence[Document]) -> list[tuple[str, list[str]]]:
    names = dict.fromkeys(rule for one in candidates for rule in one.get("by_rule") or ())
    return [(rule, [views.rate(_by_rule(one).get(rule), "recall", "fn") for one in candidates]) for rule in names]


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
    return next((tile.count for tile in views.tiles(document) if tile.title == title), None)


def _number(value: object) -> float | None:
    return round(value, 3) if isinstance(value, (int, float)) else None
