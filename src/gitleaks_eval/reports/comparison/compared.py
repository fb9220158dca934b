"""`comparison.json` for programs, and `comparison.md` for people."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gitleaks_eval
from gitleaks_eval.analysis.matching import MISSED, UNEXPECTED, alias_of
from gitleaks_eval.analysis.metrics import Counts, Metrics, corpus_rate_texts, rate_texts
from gitleaks_eval.core.text import json_value, markdown
from gitleaks_eval.judges.pairwise.verdict import PairVerdict
from gitleaks_eval.judges.verdict import Call
from gitleaks_eval.reports.comparison.pair_judge import pair_judge_markdown
from gitleaks_eval.reports.comparison.real_differences import real_json, real_markdown, table_row
from gitleaks_eval.reports.run.evaluation_report import TOOL, with_long_lists
from gitleaks_eval.reports.run.values import Run
from gitleaks_eval.scenarios.scenario import pool_notes
from gitleaks_eval.scoring.comparison import Pair
from gitleaks_eval.scoring.differences import DIFFERENCES, Difference
from gitleaks_eval.scoring.evaluated import Evaluated
from gitleaks_eval.scoring.scorecard import SCALE

COMPARISON_SCHEMA_VERSION = "1.0"
PLACE_GROUPS = {"path": "paths", "form": "forms of text", "git": "corners of git", "format": "documented formats"}
_SEEN = {True: "seen", False: "not seen", None: "not asked"}
LISTED_AT_MOST = 200
RULES_AT_MOST = 20
PLACES_AT_MOST = 5
_TITLES = {
    "lost": "Lost",
    "new": "New",
    "moved": "Moved",
    "relabelled": "Relabelled",
    "severity_changed": "Of another severity",
    "gained": "Gained",
    "restored": "Exact again",
    "gone": "Gone",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """A finished comparison: its candidates, the verdict of each pair, and what hides lost findings.

    `hidden` is by candidate, scenario, file, line and rule; `folders` has where the reports of a candidate stand,
    relative to the comparison, for those of this run, and `runs` what they say. `only` names what was evaluated where
    other kinds were left out. `judged` is what the pairwise judge says, by baseline and candidate, empty where it was
    not asked; `calls` are those of all judges of the run.
    """

    candidates: Sequence[Evaluated]
    pairs: Sequence[Pair]
    hidden: Mapping[tuple[str, str, str, int, str], str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    only: Sequence[str] = ()
    runs: Mapping[str, Run] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], PairVerdict] = field(default_factory=dict)
    calls: Sequence[Call] = ()

    @property
    def deciding(self) -> Sequence[Pair]:
        """The pairs with the baseline: they decide how the comparison ends."""
        return [pair for pair in self.pairs if not pair.neighbour]

    @property
    def neighbours(self) -> Sequence[Pair]:
        """The other pairs, of candidates in a row."""
        return [pair for pair in self.pairs if pair.neighbour]

    @property
    def under_review(self) -> Mapping[str, Run]:
        """The runs of this comparison but the baseline's, by name, each with the rules that find less."""
        lost = {
            pair.candidate: dict.fromkeys(pair.moves.to_review().rules_lost, pair.baseline) for pair in self.deciding
        }
        return {name: replace(run, narrowed=lost[name]) for name, run in self.runs.items() if name in lost}

    def hidden_by(self, pair: Pair, lost: Difference) -> str | None:
        """Return which entry of the candidate's configuration hides a finding that it lost."""
        key = (pair.candidate, lost.scenario, lost.file_path, lost.line_number or 0, lost.rule_id)
        return self.hidden.get(key)

    def judged_as(self, pair: Pair) -> PairVerdict | None:
        """Return what the pairwise judge says of a pair with the baseline, where it was asked."""
        return None if pair.neighbour else self.judged.get((pair.baseline, pair.candidate))


def comparison_json(compared: Compared) -> bytes:
    """Return the comparison as JSON, one difference a line; it follows schemas/comparison.schema.json."""
    pieces = with_long_lists(
        {
            "schema_version": COMPARISON_SCHEMA_VERSION,
            "tool": TOOL,
            "tool_version": gitleaks_eval.__version__,
            **({"only": list(compared.only)} if compared.only else {}),
            "candidates": [_candidate(candidate, compared) for candidate in compared.candidates],
        },
        {
            "pairs": [_pair(pair, compared) for pair in compared.pairs],
            "places": _places_json(compared.candidates),
        },
    )
    return b"".join(pieces)


def comparison_markdown(compared: Compared) -> bytes:
    """Return the comparison as Markdown: candidates, verdicts, differences, and an error book."""
    return ("\n".join(_markdown_lines(compared)) + "\n").encode("utf-8", "backslashreplace")


def against(pair: Pair) -> str:
    """Return the names of the two, for people."""
    return f"{pair.candidate} against {pair.baseline}"


def _candidate(evaluated: Evaluated, compared: Compared) -> dict[str, Any]:
    metrics = evaluated.planted()
    return {
        "name": evaluated.name,
        "folder": compared.folders.get(evaluated.name),
        "scanner": evaluated.scanner["name"],
        **{name: evaluated.scanner[name] for name in ("version", "sha256", "config")},
        "score": evaluated.score,
        "decision": evaluated.decision,
        "guarded_decision": evaluated.guarded_decision,
        **_figures(metrics.total),
        "by_rule": {name: _figures(counts) for name, counts in metrics.by_rule.items()},
        "corpora": {name: _figures(counts) for name, counts in corpora_of(evaluated)},
        "scan_ms": evaluated.scan_ms,
        "scan_ms_spread": evaluated.scan_ms_spread,
    }


def _figures(counts: Counts) -> dict[str, Any]:
    names = ("tp", "fp", "fn", "unlabelled", "precision", "recall", "f1")
    return {name: getattr(counts, name) for name in names}


def corpora_of(evaluated: Evaluated) -> Iterable[tuple[str, Counts]]:
    """Return the figures of each corpus, by its name."""
    return evaluated.of_corpora().by_scenario.items()


def _pair(pair: Pair, compared: Compared) -> str:
    head = {
        "baseline": pair.baseline,
        "candidate": pair.candidate,
        "verdict": pair.verdict,
        "neighbour": pair.neighbour,
        "reasons": list(pair.reasons),
        "time_ratio": pair.time_ratio,
    }
    if judged := compared.judged_as(pair):
        head["judge"] = json_value(judged.as_json())
    lists: dict[str, Iterable[Difference | Any]] = {kind: getattr(pair.differences, kind) for kind in DIFFERENCES}
    named = {name: [json.dumps(json_value(one)) for one in listed] for name, listed in pair.moves.ids.items()}
    lists |= {"checks_worse": pair.checks_worse, "checks_better": pair.checks_better}
    lines = {name: [json.dumps(json_value(entry._asdict())) for entry in entries] for name, entries in lists.items()}
    lines["lost"] = [
        json.dumps(json_value({**one._asdict(), "hidden_by": compared.hidden_by(pair, one)}))
        for one in pair.differences.lost
    ]
    lines["real"] = [json.dumps(json_value(one)) for one in real_json(pair.real)]
    return b"".join(with_long_lists(head, named | lines)).decode("ascii").strip()


def place_of(difference: Difference) -> str:
    """Return the file and line of a difference."""
    if difference.line_number is None:
        return "(by count: its ground truth lists no findings)"
    return f"{difference.file_path}:{difference.line_number}"


def _markdown_lines(compared: Compared) -> Iterator[str]:
    candidates = compared.candidates
    yield "# gitleaks-eval comparison"
    yield ""
    if compared.only:
        yield f"Only {', '.join(compared.only)}: nothing else was evaluated."
        yield ""
    yield "| Candidate | Scanner | Configuration | Decision | Documented | Score (0-5) | P | R | F1 | Scans (ms) |"
    yield "|---|---|---|---|---|--:|--:|--:|--:|--:|"
    for one in candidates:
        yield table_row(_candidate_cells(one))
    corpora = [
        _corpus_cells(candidate, name, counts) for candidate in candidates for name, counts in corpora_of(candidate)
    ]
    yield from _table(
        "Corpora", ("Corpus", "Candidate", "P", "R", "F1", "Found", "Not", "Wrong", "Unlabelled"), corpora
    )
    for note in dict.fromkeys(note for run in compared.runs.values() for note in pool_notes(run.scenarios)):
        yield ""
        yield f"{markdown(note)}."
    for pair in compared.deciding:
        yield from _pair_lines(pair)
        for lost in pair.differences.lost[:LISTED_AT_MOST]:
            if hidden := compared.hidden_by(pair, lost):
                yield ""
                yield f"{markdown(place_of(lost))} ({markdown(lost.rule_id)}): {markdown(hidden)}."
        yield from _moved_rules(pair)
        if judged := compared.judged_as(pair):
            yield from pair_judge_markdown(judged)
    yield from _rule_table("Rules", candidates, [candidate.planted() for candidate in candidates])
    yield from _rule_table("Rules in corpora", candidates, [candidate.of_corpora() for candidate in candidates])
    headings = ("", "Place", *(markdown(candidate.name) for candidate in candidates))
    yield from _table("Places", headings, list(_place_cells(candidates)))
    for pair in compared.neighbours:
        yield from _pair_lines(pair)
    for one in candidates:
        yield from _error_book(one)


def _moved_rules(pair: Pair) -> Iterator[str]:
    """Yield all rules whose samples one of the two alone finds; the verdict's line names the first of them."""
    for title, rules in (("Rules lost", pair.moves.rules_lost), ("Rules gained", pair.moves.rules_gained)):
        if rules:
            yield ""
            yield f"{title}: {', '.join(map(markdown, rules))}."


def _rule_table(title: str, candidates: Sequence[Evaluated], metrics: Sequence[Metrics]) -> Iterator[str]:
    """Yield what each candidate makes of each rule: found of expected, and what is wrong or unlabelled."""
    rules = sorted({rule for metric in metrics for rule in metric.by_rule})
    rows = [[rule, *(_rule_cell(metric.by_rule.get(rule)) for metric in metrics)] for rule in rules]
    yield from _table(title, ["Rule", *(markdown(candidate.name) for candidate in candidates)], rows)


def _rule_cell(counts: Counts | None) -> str:
    if counts is None:
        return "-"
    found = f"{counts.tp} of {counts.tp + counts.fn}" if counts.tp + counts.fn else ""
    others = ((counts.fp, "wrong"), (counts.unlabelled, "unlabelled"))
    return ", ".join(filter(None, [found, *(f"{number} {name}" for number, name in others if number)]))


def _corpus_cells(evaluated: Evaluated, name: str, counts: Counts) -> list[str]:
    rates = corpus_rate_texts(counts)
    figures = [rates[rate] for rate in ("precision", "recall", "f1")]
    return [name, evaluated.name, *figures, *map(str, (counts.tp, counts.fn, counts.fp, counts.unlabelled))]


def _candidate_cells(evaluated: Evaluated) -> list[str]:
    rates = rate_texts(evaluated.planted().total)
    return [
        evaluated.name,
        f"{evaluated.scanner['name']} {evaluated.scanner['version']}",
        evaluated.scanner["config"] or "",
        evaluated.guarded_decision or "none: partial",
        evaluated.decision or "none: partial",
        f"{evaluated.score * SCALE:.2f}",
        *(rates[name] for name in ("precision", "recall", "f1")),
        _time(evaluated),
    ]


def _time(evaluated: Evaluated) -> str:
    if evaluated.scan_ms is None:
        return ""
    spread = "" if evaluated.scan_ms_spread is None else " ({:.0f} to {:.0f})".format(*evaluated.scan_ms_spread)
    return f"{evaluated.scan_ms:.0f}{spread}"


def _pair_lines(pair: Pair) -> Iterator[str]:
    yield ""
    yield f"## {'Neighbours' if pair.neighbour else pair.verdict}: {markdown(against(pair))}"
    yield ""
    if pair.neighbour:
        yield f"- {pair.verdict} between the two; it has no share in the exit status"
    for reason in (*pair.reasons, *pair.moves.widened):
        yield f"- {markdown(reason)}"
    real = sorted(after / before for before, after in (one.times_ms or (0, 0) for one in pair.real.compared) if before)
    if real:
        yield f"- scans of real repositories take {real[0]:.1f} to {real[-1]:.1f} times as long"
    elif pair.time_ratio is not None:
        yield f"- a scan of the canary, a small repository, takes {pair.time_ratio:.2f} times as long"
    for kind, title in _TITLES.items():
        yield from _differences(title, getattr(pair.differences, kind))
    changes = [("worse", one) for one in pair.checks_worse] + [("better", one) for one in pair.checks_better]
    cells = [(text, one.check_id, one.scenario or "", one.outcome, one.candidate_outcome) for text, one in changes]
    yield from _table("Checks", ("", "Check", "Scenario", "Baseline", "Candidate"), cells)
    yield from real_markdown(pair.real)


def _differences(title: str, found: Sequence[Difference]) -> Iterator[str]:
    headings = ("Scenario", "Where", "Rule", "Baseline", "Candidate")
    yield from _table(title, headings, [_difference_cells(one) for one in found[:LISTED_AT_MOST]], len(found))


def _difference_cells(difference: Difference) -> list[str]:
    baseline = _reported(difference, difference.baseline_line_number, difference.baseline_rule_id, difference.severity)
    candidate = _reported(
        difference, difference.candidate_line_number, difference.candidate_rule_id, difference.candidate_severity
    )
    return [difference.scenario, place_of(difference), difference.rule_id, baseline, candidate]


def _reported(difference: Difference, line: int | None, rule_id: str | None, severity: str | None) -> str:
    """Return what was reported of a finding, as far as it is not as expected."""
    if rule_id is None:
        return "-"
    renamed = "the same rule, renamed" if alias_of(difference.rule_id, rule_id) else ""
    parts = [
        severity,
        f"line {line}" * (line != difference.line_number),
        rule_id * (rule_id != difference.rule_id),
        renamed,
    ]
    return ", ".join(filter(None, parts))


def _error_book(evaluated: Evaluated) -> Iterator[str]:
    """By rule, the misses and the false positives of a candidate; the rules with most of them first.

    What is unlabelled is no error.
    """
    places: defaultdict[str, dict[str, list[str]]] = defaultdict(lambda: {MISSED: [], UNEXPECTED: []})
    for scenario, matching in evaluated.matchings.items():
        for match in matching.matches:
            if match.fate in {MISSED, UNEXPECTED}:
                places[match.rule_id][match.fate].append(f"{scenario}: {match.place}")
    worst = sorted(places.items(), key=lambda item: (-len(item[1][MISSED]), -len(item[1][UNEXPECTED]), item[0]))
    rows = [_book_cells(rule_id, found) for rule_id, found in worst[:RULES_AT_MOST]]
    headings = ("Rule", "Missed", "Where", "Unexpected", "Where")
    yield from _table(f"Error book of {markdown(evaluated.name)}", headings, rows, len(worst))


def _book_cells(rule_id: str, found: Mapping[str, Sequence[str]]) -> list[str]:
    cells = [rule_id]
    for status in (MISSED, UNEXPECTED):
        more = [f"and {len(found[status]) - PLACES_AT_MOST} more"] * (len(found[status]) > PLACES_AT_MOST)
        cells += [str(len(found[status])), ", ".join([*found[status][:PLACES_AT_MOST], *more])]
    return cells


def _table(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], total: int | None = None
) -> Iterator[str]:
    """A titled table of at most `LISTED_AT_MOST` rows; nothing without rows. `total` counts those left out, too."""
    if not rows:
        return
    yield ""
    yield f"### {title}"
    yield ""
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    shown = rows[:LISTED_AT_MOST]
    yield from map(table_row, shown)
    left_out = (len(rows) if total is None else total) - len(shown)
    if left_out:
        yield ""
        yield f"{left_out} more."


def _place_rows(candidates: Sequence[Evaluated]) -> list[tuple[str, list[bool | None]]]:
    """Return each place that one of the candidates was asked, and whether each of them sees it (None: not asked)."""
    maps = [candidate.surveyed.places if candidate.surveyed else {} for candidate in candidates]
    return [
        (title, [one.get(title) for one in maps]) for title in dict.fromkeys(title for one in maps for title in one)
    ]


def _places_json(candidates: Sequence[Evaluated]) -> list[str]:
    """Return a line a place: its title, and by the name of a candidate whether it is seen (null: not asked)."""
    return [
        json.dumps(
            json_value(
                {"place": title, "seen": {one.name: is_seen for one, is_seen in zip(candidates, row, strict=True)}}
            )
        )
        for title, row in _place_rows(candidates)
    ]


def _place_cells(candidates: Sequence[Evaluated]) -> Iterator[list[str]]:
    """For people: of each group the places on which the candidates differ, a row each, then the others counted."""
    rows = _place_rows(candidates)
    for family, group in PLACE_GROUPS.items():
        of_group = [(title.partition(":")[2], row) for title, row in rows if title.startswith(f"{family}:")]
        for case, row in of_group:
            if len(set(row)) > 1:
                yield [group, case, *(_SEEN[is_seen] for is_seen in row)]
        for is_seen, text in _SEEN.items():
            count = sum(set(row) == {is_seen} for _, row in of_group)
            if count:
                yield [group, f"{count} others", *[text] * len(candidates)]
