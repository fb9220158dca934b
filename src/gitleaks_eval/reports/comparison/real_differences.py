"""What two candidates differ in on real repositories, in the reports of a comparison and in the terminal."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitleaks_eval.core.text import few, markdown, printable
from gitleaks_eval.scoring.real_differences import (
    KINDS,
    LOST,
    NEW,
    REATTRIBUTED,
    RELABELLED,
    SEVERITY_CHANGED,
    Group,
    Real,
    RealComparison,
    RealDifference,
    group_order,
)

GROUPS_AT_MOST = 10
ROWS_AT_MOST = 200
UNPROVEN = "cause not proven"
_TITLES = {SEVERITY_CHANGED: "of another severity", REATTRIBUTED: "credited to another commit"}


def real_json(real: Real) -> list[dict[str, Any]]:
    """Return the repositories of a pair, as comparison.json has them."""
    return [_comparison(one) for one in real.compared]


def real_lines(real: Real) -> Iterator[str]:
    """Yield a line a repository that differs, one for all others, and at most eleven for what differs."""
    alike = [one for one in real.compared if not one.differs]
    if alike:
        names = few([one.repository for one in alike], 3)
        yield printable(f"real  {names}  {sum(one.same for one in alike)} the same, nothing differs")
    for one in real.compared:
        if one.differs:
            yield printable(f"real  {one.repository}  {row_numbers(one)}{_cost(one)}")
            if one.production:
                yield printable(f"real  {one.repository}  in production: {row_numbers(one.production)}")
    approved = [group for group in real.groups() if group in real.approved]
    renamed = [group for group in real.groups() if group.kind == REATTRIBUTED]
    groups = *_group_lines(real.to_review()), *_group_lines(_by_cause(renamed))
    for line in (*groups, *(f"{line} (approved)" for line in _group_lines(approved))):
        yield printable(f"  {line}")


def _group_lines(found: Sequence[Group]) -> Iterator[str]:
    """Yield a line for each of the largest groups; where there are too many, one for all rules of a kind and cause."""
    if len(found) > GROUPS_AT_MOST:
        found = _by_cause(found)
    yield from map(group_text, found[:GROUPS_AT_MOST])
    if rest := found[GROUPS_AT_MOST:]:
        yield f"and {sum(one.count for one in rest)} more of {len(rest)} causes: see comparison.md"


def _by_cause(found: Iterable[Group]) -> list[Group]:
    together: defaultdict[tuple[str, str | None], list[Group]] = defaultdict(list)
    for one in found:
        together[one.kind, one.cause].append(one)
    merged = []
    for (kind, cause), groups in together.items():
        rules = list(dict.fromkeys(_rules(group.rule_id, group) for group in groups))
        named = rules[0] if len(rules) == 1 else f"{len(rules)} rules ({few(rules, 3)})"
        repositories = tuple(dict.fromkeys(name for group in groups for name in group.repositories))
        parts = ((group.count, group.in_head, group.elsewhere) for group in groups)
        counts = [sum(numbers) for numbers in zip(*parts, strict=True)]
        merged.append(Group(kind, named, None, cause, repositories, *counts))
    return sorted(merged, key=group_order)


def real_markdown(real: Real) -> Iterator[str]:
    """Yield the sections of a pair: repositories, groups by rule and cause, and each secret that differs."""
    if not real.compared:
        return
    columns = ("Same", *(kind_title(kind).capitalize() for kind in KINDS))
    yield from table_heading("Real repositories", ("Repository", "Commit", *columns, "Scans (ms)", "Peak (MiB)"))
    for one in real.compared:
        rows = [(one.repository, one)] + [(f"{one.repository}, in production", one.production)] * bool(one.production)
        for name, comparison in rows:
            assert comparison is not None  # noqa: S101 - left out above where there is none
            counts = [str(comparison.same), *(str(comparison.count(kind)) for kind in KINDS)]
            yield table_row([name, comparison.commit[:12], *counts, _times(comparison), _peaks(comparison)])
    yield from _groups_markdown(real)
    yield from _secrets_markdown(real)


def _groups_markdown(real: Real) -> Iterator[str]:
    found = real.groups()
    if not found:
        return
    headings = ("Findings", "In HEAD", "", "Rule", "Cause", "Repositories", "Approved")
    yield from table_heading("Differences by rule and cause", headings)
    for group in found[:ROWS_AT_MOST]:
        yield table_row([*group_row(group), ", ".join(group.repositories), real.approved.get(group, "")])
    yield from table_rest(len(found), "comparison.json")


def group_row(group: Group) -> list[str]:
    """Return the first cells of a group in a table: findings, those in HEAD, kind, rule and cause."""
    cells = [kind_title(group.kind), _rules(group.rule_id, group), group.cause or UNPROVEN]
    return [str(group.count), str(group.in_head), *cells]


def _secrets_markdown(real: Real) -> Iterator[str]:
    found = [
        (comparison.repository, difference) for comparison in real.compared for difference in comparison.differences
    ]
    if not found:
        return
    headings = ("Repository", "", "Where", "Commit", "Rule", "Cause", "Findings", "HEAD", "Reported elsewhere")
    yield from table_heading("Secrets that differ", headings)
    found.sort(
        key=lambda pair: (pair[1].kind == REATTRIBUTED or pair[1].elsewhere, not pair[1].in_head, -pair[1].count)
    )
    for repository, one in found[:ROWS_AT_MOST]:
        where = f"{one.file_path}:{one.line_number}"
        cells = [
            repository,
            kind_title(one.kind),
            where,
            " -> ".join(commit[:12] for commit in (one.commit, one.candidate_commit) if commit),
            _rules(one.rule_id, one),
            one.cause or UNPROVEN,
        ]
        yield table_row([*cells, str(one.count), "yes" if one.in_head else "", "yes" if one.elsewhere else ""])
    yield from table_rest(len(found), "comparison.json")


def failed_text(real: Real) -> str:
    """Return what the test of a repository says: how much differs, and the largest groups that nobody has approved."""
    lines = [*map(row_numbers, real.compared), *_group_lines(real.to_review())]
    return "\n  ".join(map(printable, lines))


def _comparison(real_comparison: RealComparison) -> dict[str, Any]:
    return {
        "repository": real_comparison.repository,
        "commit": real_comparison.commit,
        "same": real_comparison.same,
        **{kind: [_difference(row) for row in real_comparison.of(kind)] for kind in KINDS},
        "scan_ms": list(real_comparison.times_ms) if real_comparison.times_ms else None,
        "peak_kib": list(real_comparison.peaks_kib) if real_comparison.peaks_kib else None,
        **({"broken_lines": dict(real_comparison.broken)} if real_comparison.broken else {}),
        **({"production": _comparison(real_comparison.production)} if real_comparison.production else {}),
    }


def _difference(row: RealDifference) -> dict[str, Any]:
    names = ("commit", "file_path", "line_number", "rule_id", "candidate_rule_id", "in_head", "cause", "count")
    also = {"candidate_line_number": row.candidate_line_number, "candidate_commit": row.candidate_commit}
    return {
        **{name: getattr(row, name) for name in names},
        **_known(also),
        **({"reported_elsewhere": row.elsewhere} if row.kind in {LOST, NEW} else {}),
        **({"others": [_known(other._asdict()) for other in row.others]} if row.others else {}),
    }


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def row_numbers(real_comparison: RealComparison) -> str:
    """`12 the same, 3 lost, 1 new`."""
    counts = [f"{real_comparison.count(kind)} {kind_title(kind)}" for kind in KINDS if real_comparison.count(kind)]
    secrets = len(real_comparison.differences)
    folded = f" ({secrets} secrets)" if counts and secrets != sum(map(real_comparison.count, KINDS)) else ""
    return f"{real_comparison.same} the same, {', '.join(counts) or 'nothing differs'}{folded}"


def _cost(real_comparison: RealComparison) -> str:
    parts = [
        f"{text} {unit}" for text, unit in ((_times(real_comparison), "ms"), (_peaks(real_comparison), "MiB")) if text
    ]
    return f"; scans {', '.join(parts)}" if parts else ""


def _times(real_comparison: RealComparison) -> str:
    return "{:.0f} -> {:.0f}".format(*real_comparison.times_ms) if real_comparison.times_ms else ""


def _peaks(real_comparison: RealComparison) -> str:
    before, after = real_comparison.peaks_kib or (None, None)
    return f"{before / 1024:.0f} -> {after / 1024:.0f}" if before and after else ""


def group_text(group: Group) -> str:
    """`46 lost, 46 in HEAD  github-pat  cause not proven  in shop, site`."""
    heads = f", {group.in_head} in HEAD" if group.in_head else ", history"
    heads += f", {group.elsewhere} still reported elsewhere" if group.elsewhere else ""
    where = few(group.repositories, 3)
    rules = _rules(group.rule_id, group)
    return f"{group.count} {kind_title(group.kind)}{heads}  {rules}  {group.cause or UNPROVEN}  in {where}"


def kind_title(kind: str) -> str:
    """Return a kind of difference, as people read it."""
    return _TITLES.get(kind, kind)


def _rules(rule_id: str, group: Group | RealDifference) -> str:
    other = group.candidate_rule_id
    return f"{rule_id} -> {other}" if group.kind == RELABELLED and other else rule_id


def table_heading(title: str, headings: Sequence[str]) -> Iterator[str]:
    """Yield the first lines of a table in Markdown, with its title."""
    yield from ("", f"### {title}", "", f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}")


def table_row(cells: Iterable[str]) -> str:
    """Return a row of a table in Markdown, escaped."""
    return f"| {' | '.join(map(markdown, cells))} |"


def table_rest(total: int, where: str) -> Iterator[str]:
    """Yield how many rows of a table are left out, and in which file they are."""
    if total > ROWS_AT_MOST:
        yield from ("", f"{total - ROWS_AT_MOST} more: see {where}.")
