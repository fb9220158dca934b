"""What the terminal shows at the end of a run: the lines of its section, which the plugin prints."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from gitleaks_eval.analysis.matching import Match
from gitleaks_eval.analysis.metrics import corpus_rate_texts
from gitleaks_eval.checks.result import FAILED, failed_ids
from gitleaks_eval.core.text import few, numbered, printable
from gitleaks_eval.reports.comparison.compared import Compared
from gitleaks_eval.reports.run.causes import Cause, cause_lines
from gitleaks_eval.reports.run.coverage import (
    doubt_lines,
    failed_check_lines,
    failed_lines,
    hides_lines,
    next_lines,
    tested_lines,
)
from gitleaks_eval.reports.run.judges import combined_line, judges_lines
from gitleaks_eval.reports.run.scorecard import counted, where
from gitleaks_eval.reports.run.values import Run
from gitleaks_eval.reports.terminal.comparison import comparison_lines
from gitleaks_eval.scenarios.scenario import pool_notes
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED
from gitleaks_eval.scoring.scorecard import Score

FINDINGS_AT_MOST = 20
OTHERS_AT_MOST = 3
_COLOURS = {"STRONG_PASS": "green", "PASS": "green", "WEAK_PASS": "yellow", "FAIL": "red"}


class Line(NamedTuple):
    """A line of the terminal; `colour` is a name of pytest's terminal writer, empty for none."""

    text: str
    colour: str = ""
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Troubles:
    """What went wrong beside the checks: why tests of ours could not be run, and which failed that are no checks.

    `reasons` are why the run fails where no test did.
    """

    causes: Sequence[Cause]
    others: Sequence[str]
    reasons: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """Yield a block a cause, a line for all others, and one for the reasons."""
        yield from cause_lines(self.causes)
        if self.others:
            shown = few([printable(name) for name in self.others], OTHERS_AT_MOST)
            yield f"FAILED  {_number(self.others, 'test that is no check', 'tests that are no checks')}: {shown}"
        if self.reasons:
            yield f"FAILED  no test failed, and still: {printable('; '.join(self.reasons))}"


def run_lines(run: Run, troubles: Troubles, written: str | None, verbosity: int) -> Iterator[Line]:
    """Yield the section of a run; `written` is what was written, or why nothing was. Quiet runs get less."""
    decision = run.scorecard.guarded_decision
    yield Line(_headline(run), "red" if run.other_failures else _COLOURS.get(decision or "", "yellow"), bold=True)
    if written and written.startswith("ERROR"):
        yield Line(printable(written), "red")
    # Even where pytest is as quiet as can be: its own list of errors leaves to us what we tell.
    for line in troubles.lines():
        yield Line(line, "red")
    if run.crashed:
        yield Line(f"CRASHED  {run.crashed}: what it reports is not certain", "red")
    if verbosity < -1:
        return
    for line in (*tested_lines(run), *next_lines(run)):
        yield Line(printable(line))
    told = (*_reasons(run), *failed_check_lines(run), *failed_lines(run), *doubt_lines(run), *_lint(run))
    for line in (*told, *_findings(run)):
        yield Line(printable(line), "red")
    for line in hides_lines(run):
        yield Line(printable(line), "yellow")
    for line in _details(run, verbosity):
        yield Line(printable(line), "yellow" if line.startswith("judge  ") and _is_capped(line) else "")
    if written and not written.startswith("ERROR") and verbosity >= 0:
        yield Line(printable(written))


def _is_capped(line: str) -> bool:
    return "capped from " in line or "UNSCORED" in line


def comparison_section(
    runs: Mapping[str, Run], compared: Compared | None, troubles: Troubles, verbosity: int
) -> Iterator[Line]:
    """Yield the section of a comparison: a row a candidate, a verdict a pair, and what is lost."""
    if compared is None:
        partial = [name or "the candidate" for name, run in runs.items() if run.partial]
        why = f"only a part of the checks of {', '.join(partial)} was selected" if partial else "the run ended early"
        yield Line(printable(f"NOT COMPARED  {why}"), "yellow")
    else:
        for line in comparison_lines(compared, verbosity):
            yield Line(line, "red" if line.startswith(("REGRESSION", "INCOMPLETE", "LOST", "WIDER")) else "")
        for note in dict.fromkeys(note for run in runs.values() for note in pool_notes(run.scenarios)):
            yield Line(printable(note))
        if verbosity >= 0 and any(pair.verdict == "INCOMPLETE" for pair in compared.deciding):
            for line in dict.fromkeys(line for run in runs.values() for line in _reasons(run)):
                yield Line(printable(line), "red")
    if len(runs) > 1:
        for line in troubles.lines():
            yield Line(line, "red")


def _details(run: Run, verbosity: int) -> Iterator[str]:
    card = run.scorecard
    if card.decision is not None and card.guarded_decision is not None:
        yield f"documented score {card.score.normalized:.2f} {card.decision}"
    if run.seed != DEFAULT_SEED:
        yield f"seed {run.seed}: other values than by default; --gitleaks-seed={run.seed} plants them again"
    if run.only:
        yield f"only {', '.join(run.only)}: nothing else has a share in the decision"
    if verbosity >= 0 or any(_failures(score) for score in run.scorecard.by_category.values()):
        yield from _scores(run, verbosity)
    if verbosity >= 0:
        yield from _corpora(run)
    yield from _repositories(run)
    if run.judged:
        yield from (
            judges_lines(run.judged, run.combined, verbosity)
            if verbosity >= 0
            else [combined_line(run.judged, run.combined)]
        )


def _headline(run: Run) -> str:
    card, counts = run.scorecard, run.scorecard.findings
    if run.partial:
        return f"PARTIAL {card.score.total} of {run.possible_checks} checks, no decision"
    if card.guarded_decision is None:
        return f"NO DECISION  {run.no_decision()}"
    if card.decision is None:
        return f"{card.guarded_decision}  no secret of a scenario was asked for"
    parts = [f"{counts.detected} of {counts.expected} expected secrets found"]
    others = (
        ("MISSED", counts.missed),
        ("moved", counts.moved),
        ("relabelled", counts.relabelled),
        ("accepted", counts.accepted),
    )
    parts += [f"{count} {name}" for name, count in others if count]
    parts += [f"{counts.unevaluated} NOT EVALUATED"] * bool(counts.unevaluated)
    parts.append(f"{counts.unexpected} unexpected")
    parts += [f"{counts.unlabelled} unlabelled"] * bool(counts.unlabelled)
    if run.analyses is not None and not run.incomplete:
        parts.append("canary found")
    if run.other_failures:
        parts.append(f"{_number(run.other_failures, 'test that is no check', 'tests that are no checks')} FAILED")
    return f"{card.guarded_decision}  {', '.join(parts)}"


def _reasons(run: Run) -> Iterator[str]:
    if run.partial and not run.incomplete:
        return
    for reason in run.reasons:
        yield f"INCOMPLETE  {reason}"


def _lint(run: Run) -> Iterator[str]:
    for result in run.lint:
        if result.outcome == FAILED:
            first, *others = result.message.splitlines() or [""]
            more = f" (and {len(others)} more lines)" if others else ""
            yield f"FAILED  {result.check_id}  {first}{more}"


def _findings(run: Run) -> Iterator[str]:
    for name, match in islice(run.differences(), FINDINGS_AT_MOST):
        yield _finding(name, match, failed_ids(run.by_scenario.get(name, ())), run.hidden_by(name, match))
    for name, subject in run.subjects.items():
        matching = subject.matching
        for status, count in (("MISSED", matching.unlisted_missed), ("UNEXPECTED", matching.unlisted_unexpected)):
            if count:
                yield f"{status}  {name}  {count} (by count: its ground truth lists no findings)"
    more = run.count_differences() - FINDINGS_AT_MOST
    if more > 0:
        yield f"and {more} more"


def _finding(scenario: str, match: Match, failed: list[str], hidden: str) -> str:
    fails = f"fails {' '.join(failed)}" if failed else "fails no check"
    parts = [match.fate.upper(), scenario, where(match), match.rule_id, match.severity or "", hidden, fails]
    return "  ".join(part for part in parts if part)


def _scores(run: Run, verbosity: int) -> Iterator[str]:
    card = run.scorecard
    if not card.score.total:
        return
    if verbosity > 0:
        for kind, scores in (("category", card.by_category), ("scenario", card.by_scenario)):
            width = max(map(len, scores), default=0)
            for name, score in scores.items():
                yield f"{kind}  {printable(name):<{width}}  {_counts(score)}  {score.normalized:.2f}"
        return
    clean_categories = [name for name, score in card.by_category.items() if not _failures(score)]
    clean_scenarios = [name for name, score in card.by_scenario.items() if not _failures(score)]
    failing = [f"{name} {_counts(score)} {score.normalized:.2f}" for name, score in _failing(card.by_category)]
    if failing and clean_categories:
        failing.append(f"{_number(clean_categories, 'more category', 'more categories')} {5:.2f}")
    scenarios = [f"{printable(name)} {_counts(score)}" for name, score in _failing(card.by_scenario)]
    if scenarios and clean_scenarios:
        scenarios.append(_number(clean_scenarios, "scenario without a failure", "scenarios without a failure"))
    if failing or scenarios:
        yield " | ".join(failing + scenarios[:FINDINGS_AT_MOST])
        return
    categories = _number(clean_categories, "category", "categories")
    yield f"{categories} and {_number(clean_scenarios, 'scenario', 'scenarios')} without a failure"


def _corpora(run: Run) -> Iterator[str]:
    metrics = run.corpora_metrics()
    for name, counts in metrics.by_scenario.items() if metrics else ():
        rates = corpus_rate_texts(counts)
        yield (
            f"corpus  {name}  precision {rates['precision']}, recall {rates['recall']}, F1 {rates['f1']}; "
            f"{counts.tp} found, {counts.fn} not, {counts.fp} wrong, {counts.unlabelled} unlabelled"
        )
    yield from pool_notes(run.scenarios)


def _repositories(run: Run) -> Iterator[str]:
    for repository in run.repositories:
        if repository.left is None:
            yield f"real  {repository.name}  not evaluated: {repository.problem}"
            continue
        total = sum((repository.by_rule or {}).values())
        parts = [numbered(total, "finding"), counted(repository.by_rule)] if total else ["no finding"]
        parts += [f"severity {counted(repository.by_severity)}"] * bool(total)
        parts += ["SHALLOW: history is cut off"] * bool(repository.left["shallow"])
        if suppressed := repository.left["suppressions_total"]:
            obeyed = sum(suppression["obeyed"] for suppression in repository.left["suppressions"])
            notes = Counter(filter(None, (suppression.get("note") for suppression in repository.left["suppressions"])))
            noted = "".join(f", {count} {note}" for note, count in sorted(notes.items()))
            parts.append(f"{suppressed} suppressions of its own, {obeyed} obeyed{noted}")
        failed = failed_ids(repository.results)
        parts += [f"fails {' '.join(failed)}"] * bool(failed)
        yield f"real  {repository.name}  {'; '.join(parts)}"


def _failing(scores: Mapping[str, Score]) -> list[tuple[str, Score]]:
    return [(name, score) for name, score in scores.items() if _failures(score)]


def _failures(score: Score) -> int:
    return score.failed + score.errors


def _counts(score: Score) -> str:
    parts = ((score.failed, "failed"), (score.errors, "errors"))
    return ", ".join(f"{count} {name}" for count, name in parts if count) or "ok"


def _number(items: Sequence[str], singular: str, plural: str) -> str:
    return f"{len(items)} {singular if len(items) == 1 else plural}"
