"""What `report.html` shows of a comparison: texts and numbers, made of its JSON and its candidates' reports."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitleaks_eval.reports.html.first_screen import Tile, tiles
from gitleaks_eval.reports.html.groups import Document, Group, Item, begin_of_names, command, finding_commands, grouped
from gitleaks_eval.reports.html.views import TELLING, heat, rate, region_of

WORST_FIRST = ("REGRESSION", "INCOMPLETE", "REVIEW", "SAFE")
ROWS_AT_MOST = 500
# A shorter scan is mostly the start of the program; and one scan each differs by as much as this from another.
TELLING_MS, NOISE = 1_000, 0.2
CANARY_TIME = "time of a scan of a small planted repository (the canary; median of repeated scans)"
REAL_TIME = "time of the scans of real repositories (one each)"
_BAD = {
    "lost": "Lost",
    "new": "New and not expected",
    "relabelled": "Reported under another rule",
    "moved": "Reported on another line",
    "severity_changed": "Of another severity",
}
_GOOD = {"gained": "Found now", "restored": "Exact again", "gone": "Wrong before, and gone"}
_NEXT = {
    "REGRESSION": "Look at what is lost below. Narrow the entry that hides it, or stay with the baseline.",
    "INCOMPLETE": "Mend what could not be run or compared, and run again.",
    "REVIEW": "Look at what differs below. If that is intended, run `gitleaks-eval accept` with the same candidates.",
    "SAFE": "Nothing is lost that nobody accepted: the change can be made.",
}
_RATES = (
    ("precision", "precision", ("tp", "fp")),
    ("recall", "recall", ("tp", "fn")),
    ("f1", "F1", ("tp", "fp", "fn")),
)
NOT_THERE = ("not there", "heat-none")
# Of a rule that does not fire; one that could not be asked is neither good nor bad.
_HEAT = {"never_fires": "heat-0", "allowlisted": "heat-0", "accepted": "heat-none", "not_sampled": "heat-none"}
_KINDS = {
    "lost": "lost",
    "new": "new",
    "moved": "moved",
    "relabelled": "relabelled",
    "severity_changed": "of another severity",
}
_RENAMED = {"reattributed": "credited to another commit"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a candidate: its text, how it differs from the baseline's, and whether that is worse, or neither."""

    text: str
    change: str = ""
    is_worse: bool = False
    is_neutral: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table of candidates: its name, a cell each (its text and its class), and whether they differ."""

    name: str
    cells: Sequence[tuple[str, str]]

    @property
    def differs(self) -> bool:
        """Whether the candidates are not alike."""
        return len(set(self.cells)) > 1

    @property
    def is_everywhere(self) -> bool:
        """Whether each candidate has it."""
        return NOT_THERE not in self.cells


def worst(verdicts: Sequence[str]) -> str:
    """Return the verdict that leads."""
    return next((word for word in WORST_FIRST if word in verdicts), "INCOMPLETE")


def next_of(verdict: str) -> str:
    """Return what to do now."""
    return _NEXT[verdict]


def numbers(
    candidates: Sequence[Document], reports: Mapping[str, Document], pairs: Sequence[Document] = ()
) -> list[tuple[str, list[Number]]]:
    """Return what was tested and how well, a row a metric; differences are to the first candidate, the baseline."""
    tested = [
        {tile.title: tile for tile in tiles(reports[candidate["name"]])} if candidate["name"] in reports else {}
        for candidate in candidates
    ]
    titles = dict.fromkeys(title for of_one in tested for title in of_one)
    rows = [(title, [_tile(of_one.get(title), tested[0].get(title)) for of_one in tested]) for title in titles]
    for name, title, of in _RATES:
        rows.append((title, [_rate(candidate, candidates[0], name, of) for candidate in candidates]))
    rows.append(("documented score (0 to 5)", [_score(candidate, candidates[0]) for candidate in candidates]))
    real = {candidate["name"]: _real_times(candidate["name"], pairs) for candidate in candidates}
    if any(candidate.get("scan_ms") is not None for candidate in candidates):
        is_start = bool(any(real.values())) or (candidates[0].get("scan_ms") or 0) < TELLING_MS
        rows.append((CANARY_TIME, [_time(candidate, candidates[0], is_start=is_start) for candidate in candidates]))
    if any(real.values()):
        rows.append(
            (REAL_TIME, [_real_time(candidate["name"], pairs, real[candidate["name"]]) for candidate in candidates])
        )
    return rows


def _real_times(name: str, pairs: Sequence[Document]) -> list[float]:
    """Return the times that a candidate took for each real repository, in milliseconds."""
    as_candidate = [row["scan_ms"][1] for row in _timed(name, pairs)]
    # The baseline's are the same in each pair.
    first = next((pair for pair in pairs if pair["baseline"] == name), None)
    return as_candidate or [row["scan_ms"][0] for row in _timed(first["candidate"] if first else "", pairs)]


def _timed(candidate: str, pairs: Sequence[Document]) -> list[Document]:
    of_it = (pair.get("real") or () for pair in pairs if pair["candidate"] == candidate)
    return [row for rows in of_it for row in rows if row.get("scan_ms")]


def _real_time(name: str, pairs: Sequence[Document], times: Sequence[float]) -> Number:
    if not times:
        return Number("none")
    ratios = sorted(after / before for before, after in (row["scan_ms"] for row in _timed(name, pairs)) if before)
    text = f"{sum(times) / 1000:.1f} s"
    if not ratios:
        return Number(text)
    low, high = f"{ratios[0]:.1f}", f"{ratios[-1]:.1f}"
    change = f"{low if low == high else f'{low} to {high}'} times as long"
    is_worse, is_better = ratios[0] > 1 + NOISE, ratios[-1] < 1 - NOISE
    return Number(text, change, is_worse, is_neutral=not (is_worse or is_better))


def _tile(tile: Tile | None, baseline: Tile | None) -> Number:
    if tile is None:
        return Number("not asked")
    change = tile.count - baseline.count if baseline else 0
    return Number(f"{tile.count} of {tile.of}", f"{change:+d}" if change else "", change < 0)


def _rate(document: Document, baseline: Document, name: str, of: Sequence[str]) -> Number:
    """Return a rate; of too few secrets their number is said, and no difference."""
    total = sum(document.get(count) or 0 for count in of)
    if document.get(name) is None or total < TELLING:
        return Number(f"too few to say (n={total})")
    is_known = baseline.get(name) is not None and sum(baseline[count] for count in of) >= TELLING
    return _changed(document[name], baseline[name] if is_known else None)


def _score(document: Document, baseline: Document) -> Number:
    if document["score"] is None:
        return Number("none")
    return _changed(document["score"] * 5, None if baseline["score"] is None else baseline["score"] * 5)


def _changed(value: float, before: float | None) -> Number:
    change = round(value - before, 2) if before is not None else 0
    return Number(f"{value:.2f}", f"{change:+.2f}" if change else "", change < 0)


def _time(document: Document, baseline: Document, *, is_start: bool) -> Number:
    """Return a time with how it differs; where it is mostly that of a start, it says nothing of repositories."""
    if document.get("scan_ms") is None:
        return Number("none")
    spread, known = document.get("scan_ms_spread"), baseline.get("scan_ms_spread")
    text = f"{document['scan_ms']:.0f} ms" + (f" ({spread[0]:.0f} to {spread[1]:.0f})" if spread else "")
    if document is baseline or not baseline.get("scan_ms"):
        return Number(text)
    if spread and known and spread[0] <= known[1] and known[0] <= spread[1]:
        return Number(text, "within noise", is_neutral=True)
    if is_start:
        return Number(text, f"{document['scan_ms'] - baseline['scan_ms']:+.0f} ms", is_neutral=True)
    return Number(
        text,
        f"{document['scan_ms'] / baseline['scan_ms']:.1f} times as long",
        document["scan_ms"] > baseline["scan_ms"],
    )


def changes(pair: Document, report: Document) -> tuple[list[Group], list[Group]]:
    """Return what is worse or differs of a pair, by kind and cause, and what is better; `report` is the candidate's."""
    quotes: dict[str, str] = {}
    commands, begin = finding_commands(report), begin_of_names(report)
    bad = [*_differences(pair, _BAD, commands, report, quotes), *_surveyed(pair, begin, "lost")]
    bad += [("Entries that are new or hide more", Item(str(name))) for name in pair.get("entries_wider") or ()]
    bad += [("Checks that are worse", _check(row)) for row in pair.get("checks_worse") or ()]
    good = [*_differences(pair, _GOOD, commands, report, {}), *_surveyed(pair, begin, "gained")]
    good += [("Checks that are better", _check(row)) for row in pair.get("checks_better") or ()]
    return _lost_first(grouped(bad, lambda title: quotes.get(title, ""))), grouped(good)


def _lost_first(groups: Sequence[Group]) -> list[Group]:
    order = [*_BAD.values(), "Rules", "Places", "Entries"]
    rank = [next((index for index, begin in enumerate(order) if group.title.startswith(begin)), 99) for group in groups]
    return [one for _, one in sorted(zip(rank, groups, strict=True), key=lambda pair: pair[0])]


def _differences(
    pair: Document, kinds: Mapping[str, str], commands: Mapping[str, str], report: Document, quotes: dict[str, str]
) -> Iterator[tuple[str, Item]]:
    lines = report.get("entry_lines") or {}
    for kind, title in kinds.items():
        for one in pair.get(kind) or ():
            hidden = one.get("hidden_by")
            cause = f"{title}: {hidden or 'rule ' + str(one['rule_id'])}"
            if hidden in lines:
                quotes[cause] = lines[hidden]
            place = f"{one['scenario']}: {one['file_path']}:{one['line_number']}"
            note = ", ".join(filter(None, (one["rule_id"], one.get("severity"))))
            yield cause, Item(place, note, commands.get(one["scenario"], ""))


def _surveyed(pair: Document, begin: str, what: str) -> Iterator[tuple[str, Item]]:
    is_lost = what == "lost"
    for name in pair.get(f"rules_{what}") or ():
        title = "Rules that no longer fire" if is_lost else "Rules that fire now"
        yield title, Item(str(name), "", command(f"test_rule[{begin}{name}]"))
    for name in pair.get(f"places_{what}") or ():
        title = "Places that are no longer seen" if is_lost else "Places that are seen now"
        yield title, Item(str(name), "", command(f"test_place[{begin}{name}]"))


def _check(row: Document) -> Item:
    return Item(
        " ".join(filter(None, (row["check_id"], row.get("scenario")))),
        f"{row['outcome']}, now {row['candidate_outcome']}",
    )


def real_groups(pair: Document) -> list[Group]:
    """Return what differs in real repositories, by kind, rule and cause."""
    return _real_groups(pair, _KINDS)


def reattributed_groups(pair: Document) -> list[Group]:
    """Return the findings of real repositories that are credited to another commit and differ in nothing else."""
    return _real_groups(pair, _RENAMED)


def _real_groups(pair: Document, kinds: Mapping[str, str]) -> list[Group]:
    found = []
    for row in pair.get("real") or ():
        for kind, title in kinds.items():
            for one in row[kind]:
                rule = (
                    one["rule_id"]
                    if one.get("candidate_rule_id") in {None, one["rule_id"]}
                    else (f"{one['rule_id']}, now {one['candidate_rule_id']}")
                )
                group = f"{title}: {rule}, {one.get('cause') or 'cause not proven'}"
                head = "" if one.get("in_head") else ", in history alone"
                item = Item(
                    f"{row['repository']}: {one['file_path']}:{one['line_number']}", f"{one['count']} findings{head}"
                )
                found.append((group, item))
    return grouped(found)


def place_rows(places: Sequence[Document], names: Sequence[str]) -> list[Row]:
    """Return a row a part of the map: of the places that any candidate sees, how many each of them sees."""
    by_region: defaultdict[str, list[Document]] = defaultdict(list)
    for row in places:
        family, _, case = str(row["place"]).partition(":")
        by_region[region_of(family, case)].append(row["seen"])
    rows = []
    for region, seen in by_region.items():
        known = [one for one in seen if any(one.values())]
        counts = [sum(bool(one.get(name)) for one in known) for name in names]
        rows.append(Row(region, [_seen(count, len(known)) for count in counts]))
    return rows


def _seen(count: int, of: int) -> tuple[str, str]:
    return (f"{count} of {of}" if of else "never scanned"), f"heat-{heat(count, of)}"


def rule_rows(candidates: Sequence[Document], reports: Mapping[str, Document]) -> list[Row]:
    """Return a row a rule: whether it fires, on how many samples, and its rates on planted secrets."""
    rules = [_rules(reports.get(candidate["name"]) or {}, candidate) for candidate in candidates]
    return [
        Row(name, [of_one.get(name, NOT_THERE) for of_one in rules])
        for name in dict.fromkeys(name for of_one in rules for name in of_one)
    ]


def _rules(report: Document, candidate: Document) -> dict[str, tuple[str, str]]:
    rates = (report.get("metrics") or candidate).get("by_rule") or {}
    rows = (report.get("coverage") or {}).get("rules") or [{"rule_id": name, "status": ""} for name in rates]
    found = {}
    for row in rows:
        samples = f"{row['found']} of {row['samples']} samples" if row.get("samples") else ""
        own = rates.get(row["rule_id"])
        of_planted = [
            f"{name} {text}"
            for name, wrong in (("recall", "fn"), ("precision", "fp"))
            if (text := rate(own, name, wrong))
        ]
        said = [row["status"].replace("_", " ") * (row["status"] in _HEAT), samples, *of_planted]
        colour = _HEAT.get(row["status"]) or _colour(own, is_asked=bool(row["status"]))
        found[str(row["rule_id"])] = (
            "; ".join(filter(None, said)) or ("fires" if row["status"] else "not asked"),
            colour,
        )
    return found


def _colour(rates: Document | None, *, is_asked: bool) -> str:
    """Return the class of a rule that fires: that of the worse of its rates, where there are any."""
    counts = [
        (rates["tp"], rates["tp"] + rates[wrong])
        for name, wrong in (("recall", "fn"), ("precision", "fp"))
        if rates and rates.get(name) is not None
    ]
    return f"heat-{min(heat(*count) for count in counts)}" if counts else "heat-4" if is_asked else "heat-none"
