"""What thousands of repositories amount to: the first screen, repositories.md, repositories.json and .jsonl."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gitleaks_eval
from gitleaks_eval.core.text import few, json_value, markdown, numbered, printable
from gitleaks_eval.reports.comparison.real_differences import (
    GROUPS_AT_MOST,
    ROWS_AT_MOST,
    UNPROVEN,
    group_row,
    kind_title,
    table_heading,
    table_rest,
    table_row,
)
from gitleaks_eval.reports.run.evaluation_report import TOOL
from gitleaks_eval.scoring.fleet import Cause, Judged
from gitleaks_eval.scoring.real_differences import KINDS, Group

FLEET_SCHEMA_VERSION = "1.0"
UNFINISHED_AT_MOST = 5
LINES_SHOWN = 3
# Baseline, candidate, kind, cause and rule of a group.
LineKey = tuple[str, str, str, str | None, str]


@dataclass(frozen=True, slots=True)
class FleetReport:
    """A finished run over many repositories.

    `candidates` has name, title, and what approvals are pinned to, of each; `judged` has each candidate against the
    baseline; `lines` the lines of configurations that would change a group; `rows` makes the rows anew, in the order of
    the list, as lines of JSON.
    """

    total: int
    candidates: Sequence[tuple[str, str, str]]
    judged: Sequence[Judged]
    rows: Callable[[], Iterable[bytes]]
    lines: Mapping[LineKey, Sequence[str]] = field(default_factory=dict)

    def lines_of(self, judged: Judged, cause: Cause) -> list[str]:
        """Return the lines of configurations that would change what a cause says."""
        pair = (judged.tally.baseline, judged.tally.candidate)
        found = (self.lines.get((*pair, cause.kind, cause.cause, rule), ()) for rule in cause.rules)
        return list(dict.fromkeys(line for lines in found for line in lines))


def fleet_lines(report: FleetReport) -> Iterator[str]:
    """Yield the first screen: a verdict a candidate, what could not be compared, and the largest causes."""
    for one in report.judged:
        tally = one.tally
        yield printable(f"{one.verdict}  {tally.candidate} against {tally.baseline}: {'; '.join(one.reasons())}")
        unfinished = [tally.unfinished[number] for number in sorted(tally.unfinished)]
        for name, reason in unfinished[:UNFINISHED_AT_MOST]:
            yield printable(f"  INCOMPLETE  {name}: {reason}")
        if len(unfinished) > UNFINISHED_AT_MOST:
            yield f"  INCOMPLETE  and {len(unfinished) - UNFINISHED_AT_MOST} more: see repositories.md"
        for cause in one.causes():
            yield printable(f"  {_cause_text(cause)}{_to_change(report.lines_of(one, cause))}")
        rest = len({(group.kind, group.cause) for group in one.to_review}) - len(one.causes())
        if rest:
            yield f"  and {numbered(rest, 'more cause')}: see repositories.md"


def _cause_text(cause: Cause) -> str:
    heads = f", {cause.in_head} in HEAD" if cause.in_head else ", history"
    where = numbered(cause.repositories, "repository", "repositories")
    return (
        f"{cause.findings} {kind_title(cause.kind)}{heads}, {where}  {few(cause.rules, 3)}  {cause.cause or UNPROVEN}"
    )


def _to_change(lines: Sequence[str]) -> str:
    return f"  change {few(lines, LINES_SHOWN)}" if lines else ""


def fleet_markdown(report: FleetReport) -> bytes:
    """repositories.md: for each candidate its verdict, what could not be compared, causes and groups."""
    return ("\n".join(_markdown(report)) + "\n").encode("utf-8", "backslashreplace")


def _markdown(report: FleetReport) -> Iterator[str]:
    yield f"# {numbered(report.total, 'repository', 'repositories')} compared"
    yield ""
    yield from (f"- {markdown(name)}: {markdown(title)}" for name, title, _ in report.candidates)
    for one in report.judged:
        tally = one.tally
        yield from ("", f"## {markdown(tally.candidate)} against {markdown(tally.baseline)}: {one.verdict}", "")
        yield from (f"- {markdown(reason)}" for reason in one.reasons())
        yield f"- {tally.compared} of {report.total} repositories compared, {tally.same} findings the same"
        if tally.unfinished:
            yield from table_heading("Not compared", ("Repository", "Reason"))
            listed = [tally.unfinished[number] for number in sorted(tally.unfinished)]
            yield from (table_row(cells) for cells in listed[:ROWS_AT_MOST])
            yield from table_rest(len(listed), "repositories.jsonl")
        causes = one.causes()
        if causes:
            yield from table_heading(
                "Largest causes", ("Findings", "In HEAD", "Repositories", "", "Rules", "Cause", "Change")
            )
            for cause in causes:
                numbers = map(str, (cause.findings, cause.in_head, cause.repositories))
                said = (kind_title(cause.kind), few(cause.rules), cause.cause or UNPROVEN)
                yield table_row((*numbers, *said, few(report.lines_of(one, cause), LINES_SHOWN)))
        if one.groups:
            headings = ("Findings", "In HEAD", "", "Rule", "Cause", "Repositories", "Approved")
            yield from table_heading("Differences by rule and cause", headings)
            yield from (table_row(_group_cells(group, one.approved)) for group in one.groups[:ROWS_AT_MOST])
            yield from table_rest(len(one.groups), "repositories.jsonl")


def _group_cells(group: Group, approved: Mapping[Group, str]) -> Sequence[str]:
    names = f"{len(group.repositories)}: {few(group.repositories, GROUPS_AT_MOST)}"
    return (*group_row(group), names, approved.get(group, ""))


def fleet_json(report: FleetReport) -> bytes:
    """repositories.json: the same for programs; the rows are in repositories.jsonl."""
    document = {
        "schema_version": FLEET_SCHEMA_VERSION,
        "tool": TOOL,
        "tool_version": gitleaks_eval.__version__,
        "repositories": report.total,
        "candidates": [
            {"name": name, "title": title, "identity": identity} for name, title, identity in report.candidates
        ],
        "pairs": [_pair_json(report, one) for one in report.judged],
    }
    return (json.dumps(json_value(document), indent=2) + "\n").encode("ascii")


def _pair_json(report: FleetReport, judged: Judged) -> dict[str, Any]:
    tally = judged.tally
    return {
        "baseline": tally.baseline,
        "candidate": tally.candidate,
        "verdict": judged.verdict,
        "reasons": judged.reasons(),
        "compared": tally.compared,
        "incomplete": [
            {"repository": name, "reason": reason} for _, (name, reason) in sorted(tally.unfinished.items())
        ],
        "same": tally.same,
        **{kind: tally.counts[kind] for kind in KINDS},
        "new_alerts": {"head": tally.alerted[True], "history": tally.alerted[False]},
        "losing": {"head": tally.losing[True], "history": tally.losing[False]},
        "truth_lost": tally.truth_lost,
        "truth_better": tally.truth_better,
        "causes": [{**cause._asdict(), "change": report.lines_of(judged, cause)} for cause in judged.causes()],
    }
