"""What `report.html` shows of an evaluation report: values of text and numbers, made of its JSON alone."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gitleaks_eval.reports.judges import notes

ITEMS_AT_MOST = 200
# Below, an interval says more than a rate does, and neither says much.
TELLING = 5
CELLS_AT_MOST = 40_000
_K_EXPRESSION = re.compile(r"[\w:+\-.\[\]/]+")
_SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "not_applicable": "-"}
_WRONG = ("missed", "moved", "relabelled", "unexpected")
_TITLES = {
    "missed": "Missed",
    "moved": "Reported on another line",
    "relabelled": "Reported under another rule",
    "unexpected": "Reported, and nothing is there",
    "unlabelled": "Reported, and no label speaks of it",
}
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tile:
    """A number of the first screen: what of it, how many of how many, and a note."""

    title: str
    count: int
    of: int
    note: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.count == self.of


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a list: its text, what is said of it, and the command that asks again (empty: none)."""

    text: str
    note: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Things with one cause: a title, how many, the first of them."""

    title: str
    count: int
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Square:
    """A field of a map: how it is called, its status, and who is to blame."""

    name: str
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class Region:
    """The fields of a map that stand together."""

    name: str
    seen: int
    of: int
    squares: Sequence[Square]

    @property
    def heat(self) -> int:
        """From 0 (nothing is seen) to 4 (all)."""
        return 4 if self.seen == self.of else self.seen * 4 // self.of if self.of else 4


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule: whether it fires, and its rates on planted secrets where there are enough."""

    rule_id: str
    own: bool
    status: str
    found: str
    precision: str
    recall: str
    note: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A check of a scenario."""

    outcome: str
    sign: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Scenarios by checks; `left_out` says how many scenarios are not shown."""

    checks: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    left_out: int


def under_test(document: Document) -> list[tuple[str, str]]:
    """What was under test, as terms with their text."""
    scanner = document.get("scanner") or {}
    named = [
        ("Scanner", " ".join(filter(None, (scanner.get("name"), scanner.get("version"))))),
        ("From", scanner.get("source")),
        ("SHA-256", scanner.get("sha256")),
        ("Configuration", scanner.get("config")),
        ("Its SHA-256", scanner.get("config_sha256")),
        ("Command", scanner.get("command")),
        ("Arguments", scanner.get("args")),
        ("Evaluated by", f"{document.get('tool', 'gitleaks-eval')} {document.get('tool_version', '')}".strip()),
        ("At", document.get("generated_at")),
    ]
    return [(name, _text(value)) for name, value in named if value]


def tiles(document: Document) -> list[Tile]:
    """What was tested, in numbers."""
    findings = (document.get("summary") or {}).get("findings") or {}
    found = [Tile("planted secrets found", findings.get("detected", 0), findings.get("expected", 0))]
    coverage = document.get("coverage")
    if coverage:
        rules = coverage["rules"]
        off = len(coverage["switched_off"])
        firing = sum(row["status"] in {"fires", "reported_as"} for row in rules)
        found.append(Tile("rules fire", firing, len(rules) + off, f"{off} switched off" * bool(off)))
        places = Counter(row["status"] for row in coverage["places"])
        seen = places["seen"]
        hidden = places["allowlisted"] + places["accepted"]
        never = f"{places['not_scanned']} more are never scanned by the scanner" * bool(places["not_scanned"])
        found.append(Tile("places seen", seen, seen + hidden, never))
    real = (document.get("real_world") or {}).get("repositories") or []
    if real:
        found.append(Tile("real repositories scanned", sum(not one.get("problem") for one in real), len(real)))
    return found


def verdict(document: Document) -> str:
    """The word of the decision."""
    return _text((document.get("summary") or {}).get("guarded_decision") or "INCOMPLETE")


def why(document: Document) -> str:
    """The decision in one sentence."""
    if reasons := document.get("reasons"):
        return "; ".join(map(_text, reasons))
    short = [tile for tile in tiles(document) if not tile.is_whole]
    if not short:
        return "All that was planted is found, and nothing that was asked is hidden."
    return "; ".join(f"{tile.count} of {tile.of} {tile.title}" for tile in short) + "."


def next_action(document: Document) -> str:
    """What to do now."""
    groups = problems(document)
    if groups:
        return f"Look at the largest cause below: {groups[0].title} ({groups[0].count})."
    if any(not tile.is_whole for tile in tiles(document)):
        return "Look at the map below, and accept what is meant to be hidden with gitleaks-eval accept."
    return "Keep this run as a baseline (--gitleaks-save-baseline), and compare the next upgrade with it."


def problems(document: Document) -> list[Group]:
    """What is wrong, by cause, the largest first."""
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for row in document.get("findings", ()):
        fate = row["status"] if row.get("labelled", True) else "unlabelled"
        if fate in _WRONG:
            cause = _text(row.get("hidden_by") or f"rule {row['rule_id']}")
            where = f"{row['scenario']}: {row['file_path']}:{row['line_number']}"
            reported = row.get("reported_rule_id")
            note = f"reported as {reported}" if fate == "relabelled" else _text(row["rule_id"])
            groups[f"{_TITLES[fate]}: {cause}"].append(Item(where, note))
    for title, item in (*_hidden(document), *_failed_tests(document)):
        groups[title].append(item)
    found = [Group(title, len(items), items[:ITEMS_AT_MOST]) for title, items in groups.items()]
    return sorted(found, key=lambda group: -group.count)


def _hidden(document: Document) -> Iterator[tuple[str, Item]]:
    coverage = document.get("coverage") or {}
    for row in coverage.get("places", ()):
        if row["status"] == "allowlisted":
            name = f"{row['family']}:{row['case']}"
            yield f"Places hidden by {_text(row['hidden_by'])}", Item(name, "", command(f"test_place[{name}]"))
    for row in coverage.get("rules", ()):
        if row["status"] in {"allowlisted", "never_fires"}:
            because = _text(row["hidden_by"] or row["reason"] or "")
            note = "own" if row["own"] else ""
            title = "Rules hidden by" if row["status"] == "allowlisted" else "Rules that never fire"
            yield f"{title} {because}".strip(), Item(row["rule_id"], note, command(f"test_rule[{row['rule_id']}]"))


def _failed_tests(document: Document) -> Iterator[tuple[str, Item]]:
    for row in chain(document.get("config_lint", ()), document.get("results", ())):
        if row["outcome"] not in {"failed", "error"}:
            continue
        is_check = row.get("scenario") is not None
        title = f"{row['check_id']} {row['name']}"
        where = _text(row["scenario"] if is_check else row["message"])
        yield title, Item(where, _text(row["message"]) if is_check else "", command(_text(row.get("nodeid") or "")))


def command(nodeid: str) -> str:
    """The line that runs one test again; its options are those of the run."""
    if not nodeid:
        return ""
    name = nodeid.rpartition("::")[2]
    asked = f"-k {shlex.quote(name)}" if _K_EXPRESSION.fullmatch(name) else shlex.quote(nodeid)
    return f"pytest --gitleaks-eval {asked}"


def regions(document: Document) -> list[Region]:
    """The map of places, by family and top folder."""
    grouped: defaultdict[str, list[Square]] = defaultdict(list)
    for row in (document.get("coverage") or {}).get("places", ()):
        case = _text(row["case"])
        top = f"{case.partition('/')[0]}/" if "/" in case else "at the top"
        name = f"{row['family']}: {top}" if row["family"] == "path" else _text(row["family"])
        grouped[name].append(Square(case, _text(row["status"]), _text(row["hidden_by"] or "")))
    return [
        Region(name, sum(one.status == "seen" for one in squares), _asked(squares), squares)
        for name, squares in grouped.items()
    ]


def _asked(squares: Iterable[Square]) -> int:
    return sum(one.status in {"seen", "allowlisted", "accepted"} for one in squares)


def rule_rows(document: Document) -> list[RuleRow]:
    """Each rule in force, and those of planted secrets where nothing else is known."""
    rates = (document.get("metrics") or {}).get("by_rule") or {}
    rows = (document.get("coverage") or {}).get("rules") or [
        {"rule_id": name, "own": False, "status": "", "found": 0, "samples": 0} for name in rates
    ]
    return [
        RuleRow(
            _text(row["rule_id"]),
            bool(row["own"]),
            _text(row["status"]).replace("_", " "),
            f"{row['found']} of {row['samples']}" if row["samples"] else "",
            rate(rates.get(row["rule_id"]), "precision", "fp"),
            rate(rates.get(row["rule_id"]), "recall", "fn"),
            _text(row.get("hidden_by") or row.get("reason") or row.get("reported_as") or ""),
        )
        for row in rows
    ]


def rate(counts: Document | None, name: str, wrong: str) -> str:
    """A rate with its 95 % interval; of few secrets only how many they are."""
    if not counts or counts.get(name) is None:
        return ""
    of = counts["tp"] + counts[wrong]
    if of < TELLING:
        return f"{counts['tp']} of {of}"
    low, high = (counts.get("intervals") or {}).get(name) or (None, None)
    interval = f" ({low:.2f} to {high:.2f})" if low is not None else ""
    return f"{counts[name]:.2f}{interval}"


def grid(document: Document) -> Grid:
    """Scenarios by checks."""
    outcomes: dict[str, dict[str, str]] = {}
    checks: dict[str, None] = {}
    for row in document.get("results", ()):
        checks.setdefault(row["check_id"])
        outcomes.setdefault(_text(row["scenario"]), {})[row["check_id"]] = row["outcome"]
    at_most = max(1, CELLS_AT_MOST // max(1, len(checks)))
    # What fails is shown, whatever else is not.
    order = sorted(outcomes, key=lambda name: (not {"failed", "error"} & set(outcomes[name].values()), name))
    rows = [(name, [_cell(outcomes[name].get(check, "")) for check in checks]) for name in order[:at_most]]
    return Grid(list(checks), rows, max(0, len(order) - at_most))


def _cell(outcome: str) -> Cell:
    return Cell(outcome, _SIGNS.get(outcome, ""), "")


def not_applicable(document: Document) -> list[Group]:
    """What was not asked, and why."""
    reasons: defaultdict[str, list[Item]] = defaultdict(list)
    for row in document.get("results", ()):
        if row["outcome"] == "not_applicable":
            reasons[_text(row["message"])].append(Item(f"{row['check_id']} {row['scenario']}"))
    found = [Group(title, len(items), items[:ITEMS_AT_MOST]) for title, items in reasons.items()]
    return sorted(found, key=lambda group: -group.count)


def judge_rows(document: Document) -> list[tuple[Document, str]]:
    """Each judge with its score, its heuristic's and its reasoning, and notes on it; real repositories' come last."""
    rows = list((document.get("llm") or {}).get("judges") or ())
    rows += ((document.get("real_world") or {}).get("llm") or {}).get("judges") or ()
    return [(row, ", ".join(notes(row))) for row in rows]


def judged(document: Document) -> str:
    """The LLM score and the combined one, before and after what caps them; empty without judges."""
    llm, combined = document.get("llm"), document.get("combined") or {}
    if not llm:
        return ""
    said = f"LLM score {_score(llm['score'])} of 5 ({llm['mode']}), before caps {_score(llm['raw_score'])}"
    if not combined.get("decision"):
        return f"{said}."
    capped = f" (the score alone: {combined['capped_from']})" if combined.get("capped_from") else ""
    return f"{said}. Combined with the checks {_score(combined['score'])}, {combined['decision']}{capped}."


def _score(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def real_rows(document: Document) -> list[Document]:
    """Each real repository."""
    return list((document.get("real_world") or {}).get("repositories") or ())


def entries(document: Document) -> list[Document]:
    """Each entry of the configuration and what it hides, the one that hides most first."""
    rows = (document.get("coverage") or {}).get("entries") or ()
    return sorted(rows, key=lambda row: (-row["hides_places"], -row["silences_rules"]))


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
