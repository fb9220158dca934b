"""A comparison in the terminal: a row a candidate, the verdict a pair, and below it what is lost."""

from collections.abc import Iterator, Sequence

from gitleaks_eval.analysis.metrics import Counts, corpus_rate_texts, rate_texts
from gitleaks_eval.core.text import few, printable
from gitleaks_eval.reports.comparison.compared import Compared, against, corpora_of, place_of
from gitleaks_eval.reports.comparison.pair_judge import pair_judge_lines
from gitleaks_eval.reports.comparison.real_differences import real_lines
from gitleaks_eval.scoring.comparison import SAFE, Pair
from gitleaks_eval.scoring.differences import Difference
from gitleaks_eval.scoring.evaluated import Evaluated
from gitleaks_eval.scoring.scorecard import SCALE, count_findings

# With the line that names the report no more than twenty.
LINES_AT_MOST = 19
LEAST_BELOW = 2
FAILURES_AT_MOST = 3
_HEADINGS = ["candidate", "score", "decision", "P", "R", "F1", "lost", "new", "ms"]
_EXPLAINED = {"FAIL", "WEAK_PASS"}


def comparison_lines(compared: Compared, verbosity: int = 0) -> list[str]:
    """The comparison for a terminal: a row a candidate, the verdict a pair, what hides more and what is lost below it.

    No more than `LINES_AT_MOST` lines, unless there are so many candidates, and what a judge says: what is left out is
    counted.
    """
    candidates, pairs = compared.candidates, compared.deciding
    rows = [_HEADINGS, *(_row(candidate, pairs) for candidate in candidates)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    lines += [
        _corpus_line(candidate, name, counts) for candidate in candidates for name, counts in corpora_of(candidate)
    ]
    lines += [line for candidate in candidates for line in _decision_lines(candidate, pairs)]
    room = LINES_AT_MOST - len(lines) - len(pairs) - len(compared.neighbours)
    for number, pair in enumerate(pairs):
        lines.append(printable(f"{pair.verdict}  {against(pair)}: {'; '.join(pair.reasons)}"))
        # What a pair does not need is left to those after it.
        below = list(_below(pair, compared, max(LEAST_BELOW, room // (len(pairs) - number))))
        room -= len(below)
        lines += below
        lines += real_lines(pair.real)
    lines += [printable(f"neighbours  {against(pair)}: {'; '.join(pair.reasons)}") for pair in compared.neighbours]
    for pair in pairs:
        if judged := compared.judged_as(pair):
            lines += pair_judge_lines(pair.baseline, pair.candidate, judged, verbosity)
    return lines


def _decision_lines(evaluated: Evaluated, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield why a candidate is no better, and that its baseline excuses it where the verdict beside it is SAFE."""
    counts = count_findings(list(evaluated.matchings.values()), 0)
    named = (
        (counts.missed, "MISSED"),
        (counts.moved, "moved"),
        (counts.relabelled, "relabelled"),
        (counts.unexpected, "unexpected"),
        (counts.unlabelled, "unlabelled"),
    )
    why = [f"{count} {name}" for count, name in named if count]
    is_safe = any(_is_safe_of(pair, evaluated) for pair in pairs)
    for name, faults in sorted(evaluated.lint.items()):
        if faults:
            why.append(f"{name} fails{f' ({few(sorted(faults), FAILURES_AT_MOST)})' * is_safe}")
    why += ["not evaluated whole"] * evaluated.has_errors
    if is_safe:
        # What both sides lose alike is no difference: without this a comparison of two unfit candidates names nothing.
        why += evaluated.survey_failures[:FAILURES_AT_MOST]
        if (more := len(evaluated.survey_failures) - FAILURES_AT_MOST) > 0:
            why.append(f"{more} more")
    if why and evaluated.guarded_decision in _EXPLAINED:
        excusing = [pair.baseline for pair in pairs if pair.candidate == evaluated.name and pair.verdict == SAFE]
        excused = f"; excused, as in {excusing[0]}" if excusing else ""
        yield printable(f"{evaluated.guarded_decision}  {evaluated.name}: {', '.join(why)}{excused}")


def _is_safe_of(pair: Pair, evaluated: Evaluated) -> bool:
    return pair.verdict == SAFE and evaluated.name in {pair.baseline, pair.candidate}


def _below(pair: Pair, compared: Compared, at_most: int) -> Iterator[str]:
    """What is lost, each with what hides it, then the entries that hide more; as many lines as there is room for."""
    accepted = pair.differences.accepted
    ordered = sorted(pair.differences.lost, key=lambda one: one in accepted)
    lost = [_lost_line(one, compared.hidden_by(pair, one), is_accepted=one in accepted) for one in ordered]
    wider = [printable(f"WIDER  {text}") for text in pair.moves.widened]
    # Of two lists each has its share of the lines.
    most = max(at_most - len(wider), at_most // 2) if wider else at_most
    yield from _cut(lost, most, "LOST")
    yield from _cut(wider, at_most - min(len(lost), most), "WIDER")


def _cut(lines: Sequence[str], at_most: int, word: str) -> Iterator[str]:
    if len(lines) <= at_most:
        yield from lines
        return
    yield from lines[: at_most - 1]
    yield f"{word}  and {len(lines) - at_most + 1} more; see comparison.md"


def _row(evaluated: Evaluated, pairs: Sequence[Pair]) -> list[str]:
    rates = rate_texts(evaluated.planted().total)
    pair = next((pair for pair in pairs if pair.candidate == evaluated.name), None)
    return [
        printable(evaluated.name),
        f"{evaluated.score * SCALE:.2f}",
        evaluated.guarded_decision or "-",
        *(rates[name] for name in ("precision", "recall", "f1")),
        str(len(pair.differences.lost)) if pair else "-",
        str(len(pair.differences.new)) if pair else "-",
        f"{evaluated.scan_ms:.0f}" if evaluated.scan_ms is not None else "-",
    ]


def _corpus_line(evaluated: Evaluated, name: str, counts: Counts) -> str:
    rates = corpus_rate_texts(counts)
    figures = f"P {rates['precision']}, R {rates['recall']}, F1 {rates['f1']}"
    return printable(f"corpus  {name}  {evaluated.name}  {figures}; {counts.fp} wrong, {counts.unlabelled} unlabelled")


def _lost_line(lost: Difference, hidden_by: str | None, *, is_accepted: bool) -> str:
    said = ", ".join(filter(None, (hidden_by, "accepted" * is_accepted)))
    parts = (lost.scenario, place_of(lost), lost.rule_id, lost.severity or "", said)
    return "  ".join(filter(None, ["LOST", *map(printable, parts)]))
