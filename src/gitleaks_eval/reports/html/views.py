"""What `report.html` shows of an evaluation report: values of text and numbers, made of its JSON alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from gitleaks_eval.checks.result import ERROR
from gitleaks_eval.reports.html.groups import Document, Group, Item, begin_of_names, command, finding_commands, grouped
from gitleaks_eval.reports.run.causes import cause_of
from gitleaks_eval.reports.run.judges import notes

# Below, an interval says more than a rate does, and neither says much.
TELLING = 5
# Nobody looks at more of a table, and a browser that has all 39,000 checks before it needs three seconds to open.
CELLS_AT_MOST = 4_000
ROWS_AT_MOST = 500
_SIGNS = {"passed": "✓", "failed": "✗", "error": "!", "not_applicable": "-"}
_WRONG = ("missed", "moved", "relabelled", "unexpected")
_TITLES = {
    "missed": "Missed",
    "moved": "Reported on another line",
    "relabelled": "Reported under another rule",
    "unexpected": "Reported, and nothing is there",
    "unlabelled": "Reported, and no label speaks of it",
}
_FIRING = frozenset({"fires", "reported_as"})
_HIDING = frozenset({"allowlisted", "never_fires"})
_FAILING = frozenset({"failed", "error"})
# Tests of the survey that its rows tell of, too.
_TOLD = frozenset({"place", "rule"})
_SURVEYS = {
    "entry": "Entries that hide too much",
    "entries": "Entries that hide too much together",
    "acceptance": "Acceptances of no entry that is there",
    "test": "Tests of your rules",
}
PLACES_HIDDEN, RULES_HIDDEN = "Places hidden by ", "Rules hidden by "
_FAMILIES = {"form": "forms of text", "git": "corners of git"}


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
    def heat(self) -> str:
        """From 0 (nothing is seen) to 4 (all); `none` where nothing was to be seen."""
        return heat(self.seen, self.of)

    @property
    def said(self) -> str:
        """How many of how many, or that the scanner never looks there."""
        return f"{self.seen} of {self.of}" if self.of else "never scanned"


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
    is_wrong: bool
    finds_nothing: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """A check of a scenario; `note` is what a failed one says."""

    outcome: str
    sign: str
    note: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Scenarios by checks; `left_out` says how many scenarios are not shown, and `failing` how many of these fail."""

    checks: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    left_out: int
    failing: int


def heat(seen: int, of: int) -> str:
    """Return how much is seen, from 0 (nothing) to 4 (all); `none` where nothing was to be seen."""
    return str(seen * 4 // of) if of else "none"


def problems(document: Document) -> list[Group]:
    """Return what is wrong, by cause: secrets, tests of rules and entries, what entries hide, checks.

    Of each kind the largest cause comes first. What accepted entries alone cause is not wrong.
    """
    quotes = _Quotes(document)
    kinds = (_wrong_findings(document), _failed_tests(document), _hidden(document), _failed_checks(document))
    return [group for found in kinds for group in grouped(found, quotes.of)]


class _Quotes:
    """The entry that a cause names, with its line, as it stands in the configuration."""

    def __init__(self, document: Document) -> None:
        self._lines: Document = document.get("entry_lines") or {}
        rows = entries_of(document)
        of_line = Counter(f"{row['file']}:{row['line']}" for row in rows)
        # Which of several on one line is meant is not known.
        texts = {f"{row['file']}:{row['line']}": str(row["entry"]) for row in rows}
        self._texts = {place: text for place, text in texts.items() if of_line[place] == 1}

    def of(self, title: str) -> str:
        """Return what is quoted below a title; empty where it names no entry."""
        cause = title.removeprefix(PLACES_HIDDEN).removeprefix(RULES_HIDDEN)
        place = self._lines.get(cause) or self._lines.get(cause.partition(": ")[2]) or ""
        return " ".join(filter(None, (place, self._texts.get(place))))


def _wrong_findings(document: Document) -> Iterator[tuple[str, Item]]:
    commands = finding_commands(document)
    for row in document.get("findings", ()):
        fate = row["status"] if row.get("labelled", True) else "unlabelled"
        if fate not in _WRONG or row.get("accepted"):
            continue
        title = f"{_TITLES[fate]}: {row.get('hidden_by') or 'rule ' + _text(row['rule_id'])}"
        where = f"{row['scenario']}: {row['file_path']}:{row['line_number']}"
        note = (
            f"{row['rule_id']}, reported as {row.get('reported_rule_id')}" if fate == "relabelled" else row["rule_id"]
        )
        yield title, Item(where, _text(note), commands.get(row["scenario"], ""))


def _hidden(document: Document) -> Iterator[tuple[str, Item]]:
    coverage, begin = document.get("coverage") or {}, begin_of_names(document)
    for row in coverage.get("places", ()):
        if row["status"] == "allowlisted":
            name = f"{row['family']}:{row['case']}"
            yield f"{PLACES_HIDDEN}{row['hidden_by']}", Item(name, "", command(f"test_place[{begin}{name}]"))
    for row in coverage.get("rules", ()):
        if row["status"] in _HIDING:
            because = _text(row["hidden_by"] or row["reason"] or "")
            title = RULES_HIDDEN if row["status"] == "allowlisted" else "Rules that never fire: "
            asked = command(f"test_rule[{begin}{row['rule_id']}]")
            yield f"{title}{because}".strip(" :"), Item(row["rule_id"], "your own" * bool(row["own"]), asked)


def _failed_tests(document: Document) -> Iterator[tuple[str, Item]]:
    for row in document.get("survey_failures", ()):
        if row["check_id"] not in _TOLD:
            title = _not_run(row) or _SURVEYS.get(row["check_id"], row["check_id"])
            yield title, Item(_text(row["message"]), "", command(_text(row.get("nodeid") or "")))


def _failed_checks(document: Document) -> Iterator[tuple[str, Item]]:
    for row in chain(document.get("config_lint", ()), document.get("results", ())):
        if row["outcome"] in _FAILING and not row.get("excused"):
            is_error = row["outcome"] == ERROR
            yield _not_run(row) or f"{row['check_id']} {row['name']}", _failed(row, f"{row['check_id']} " * is_error)


def _not_run(row: Document) -> str:
    """Return the cause for which a test could not be run; empty for another outcome."""
    return f"Could not be run: {cause_of(_text(row['message']))}" if row["outcome"] == ERROR else ""


def excused(document: Document) -> list[Group]:
    """Checks that failed and fail no run, by why: another failure says it, or somebody accepted the cause."""
    rows = (row for row in document.get("results", ()) if row.get("excused"))
    return grouped((_text(row["excused"]), _failed(row, f"{row['check_id']} ")) for row in rows)


def _failed(row: Document, begin: str = "") -> Item:
    is_check = row.get("scenario") is not None
    where = _text(row["scenario"] if is_check else row["message"])
    return Item(begin + where, _text(row["message"]) if is_check else "", command(_text(row.get("nodeid") or "")))


def regions(document: Document) -> list[Region]:
    """Return the map of places, by family and top folder, those with hidden places first."""
    by_region: defaultdict[str, list[Square]] = defaultdict(list)
    for row in (document.get("coverage") or {}).get("places", ()):
        square = Square(_text(row["case"]), _text(row["status"]), _text(row["hidden_by"] or ""))
        by_region[region_of(_text(row["family"]), square.name)].append(square)
    found = [
        Region(name, sum(one.status == "seen" for one in squares), _asked(squares), squares)
        for name, squares in by_region.items()
    ]
    return sorted(found, key=lambda one: (one.seen == one.of, one.of == 0))


def region_of(family: str, case: str) -> str:
    """Return what a place is part of: its top folder, or the corners of git, or the forms of text."""
    if family != "path":
        return _FAMILIES.get(family, family)
    return f"{case.partition('/')[0]}/" if "/" in case else "top folder"


def _asked(squares: Iterable[Square]) -> int:
    return sum(square.status in {"seen", "allowlisted", "accepted"} for square in squares)


def rule_rows(document: Document) -> tuple[list[RuleRow], list[RuleRow], int]:
    """Return the rules in force: those to look at, the others, and how many of these are left out.

    To look at are rules of one's own, those that do not fire, and those of planted secrets, for which there are rates.
    """
    rates = (document.get("metrics") or {}).get("by_rule") or {}
    rows = (document.get("coverage") or {}).get("rules") or [
        {"rule_id": name, "own": False, "status": "", "found": 0, "samples": 0} for name in rates
    ]
    first: list[RuleRow] = []
    others: list[RuleRow] = []
    for row in rows:
        is_first = row["own"] or row["status"] not in _FIRING or row["rule_id"] in rates
        (first if is_first else others).append(_rule_row(row, rates.get(row["rule_id"])))
    first.sort(key=lambda row: not row.is_wrong)
    room = max(0, ROWS_AT_MOST - len(first))
    return first[:ROWS_AT_MOST], others[:room], max(0, len(first) - ROWS_AT_MOST) + max(0, len(others) - room)


def _rule_row(row: Document, rates: Document | None) -> RuleRow:
    finds_nothing = bool(rates) and rates is not None and rates.get("recall") == 0
    return RuleRow(
        _text(row["rule_id"]),
        bool(row["own"]),
        _text(row["status"]).replace("_", " "),
        f"{row['found']} of {row['samples']}" if row["samples"] else "",
        rate(rates, "precision", "fp"),
        rate(rates, "recall", "fn"),
        _text(row.get("hidden_by") or row.get("reason") or row.get("reported_as") or ""),
        is_wrong=row["status"] in _HIDING or finds_nothing,
        finds_nothing=finds_nothing,
    )


def rate(counts: Document | None, name: str, wrong: str) -> str:
    """Return a rate with its 95 % interval; of few secrets only how many they are."""
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
    rows: dict[str, dict[str, Cell]] = {}
    checks: dict[str, None] = {}
    for row in document.get("results", ()):
        checks.setdefault(row["check_id"])
        note = _text(row["message"]) if row["outcome"] in _FAILING else ""
        cell = _cell(row["outcome"], note)
        rows.setdefault(_text(row["scenario"]), {})[row["check_id"]] = cell
    at_most = max(1, CELLS_AT_MOST // max(1, len(checks)))
    failing = {name for name, cells in rows.items() if any(cell.outcome in _FAILING for cell in cells.values())}
    # What fails is shown, whatever else is not.
    order = sorted(rows, key=lambda name: (name not in failing, name))
    shown = [(name, [rows[name].get(check, _cell("", "")) for check in checks]) for name in order[:at_most]]
    return Grid(list(checks), shown, max(0, len(order) - at_most), max(0, len(failing) - at_most))


def _cell(outcome: str, note: str) -> Cell:
    return Cell(outcome, _SIGNS.get(outcome, ""), note)


def not_applicable(document: Document) -> list[Group]:
    """Return what was not asked, and why."""
    rows = (row for row in document.get("results", ()) if row["outcome"] == "not_applicable")
    found = (
        (_text(row["message"]).removeprefix("N/A - "), Item(f"{row['check_id']} {row['scenario']}")) for row in rows
    )
    return grouped(found)


def judge_rows(document: Document) -> list[tuple[Document, str, bool]]:
    """Return each judge with its score, notes, and whether it was capped or has none; real repositories' come last."""
    rows = list((document.get("llm") or {}).get("judges") or ())
    rows += ((document.get("real_world") or {}).get("llm") or {}).get("judges") or ()
    return [(row, ", ".join(notes(row)), bool(row["capped"] or row["unscored_kind"])) for row in rows]


def judged(document: Document) -> str:
    """Return the LLM score and the combined one, before and after what caps them; empty without judges."""
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
    """Return each real repository."""
    return list((document.get("real_world") or {}).get("repositories") or ())


def entries(document: Document) -> tuple[list[Document], int]:
    """Return the entries of the configuration, the one that hides most first, and how many are left out."""
    rows = sorted(entries_of(document), key=lambda row: (-row["hides_places"], -row["silences_rules"]))
    return rows[:ROWS_AT_MOST], max(0, len(rows) - ROWS_AT_MOST)


def entries_of(document: Document) -> list[Document]:
    """Return the rows of the survey about entries of the configuration."""
    return list((document.get("coverage") or {}).get("entries") or ())


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)
