"""`comment.md`: what a reviewer of a change has to know, verdict first, short enough for a comment."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gitleaks_eval.core.text import few, markdown, numbered
from gitleaks_eval.reports.comparison.compared import Compared, against, place_of
from gitleaks_eval.reports.run.configuration_problems import ERROR, ConfigurationProblem, configuration_problems
from gitleaks_eval.reports.run.values import Run
from gitleaks_eval.scoring.comparison import INCOMPLETE, REGRESSION, REVIEW, SAFE, Pair
from gitleaks_eval.scoring.differences import Difference
from gitleaks_eval.scoring.surveyed import ACCEPTED, NEVER_FIRES, Hiding, Surveyed

# By which the one comment of ours is found again.
MARK = "<!-- gitleaks-eval -->"
# GitHub takes 65,536 characters.
BYTES_AT_MOST = 60_000
LISTED_AT_MOST = 20
NAMED_AT_MOST = 5
LETTERS_AT_MOST = 400
UNKNOWN = "hidden by no entry that is known"
_NARROWED = "the rule itself finds less"
_WORST_FIRST = (REGRESSION, INCOMPLETE, REVIEW, SAFE)
_CUT = b"\nMore is in report.html.\n"


class _Changed(NamedTuple):
    """What changed of what was surveyed: entries that are newly accepted, and those that are gone; counts of the rest.

    `same` are the numbers of entries, rules and places that are as before.
    """

    accepted: list[Hiding]
    gone: list[Hiding]
    same: tuple[int, int, int]


def run_comment(run: Run) -> bytes:
    """Return the comment of a run that is compared with nothing."""
    return _bounded(_run_lines(run))


def comparison_comment(compared: Compared) -> bytes:
    """Return the comment of a comparison: what changed alone, and how much did not."""
    return _bounded(_comparison_lines(compared))


def _bounded(lines: Iterable[str]) -> bytes:
    text = ("\n".join([MARK, *lines]) + "\n").encode("utf-8", "backslashreplace")
    if len(text) <= BYTES_AT_MOST:
        return text
    return text[: BYTES_AT_MOST - len(_CUT)].rpartition(b"\n")[0] + b"\n" + _CUT


def _run_lines(run: Run) -> Iterator[str]:
    marks = ["INCOMPLETE"] * run.incomplete + ["PARTIAL"] * run.partial
    decision = run.scorecard.guarded_decision or f"no decision: {run.no_decision()}"
    scanner = " ".join(str(run.scanner[name]) for name in ("name", "version") if run.scanner[name])
    under_test = f"{scanner} with {run.scanner['config']}" if run.scanner["config"] else scanner
    yield f"## {': '.join([*marks, decision])}: {_short(under_test)}"
    yield from _list("", run.reasons)
    if run.coverage:
        yield from ("", f"{_short(run.coverage.tested)}.")
        yield from _list("Accepted entries", run.coverage.accepted)
    problems = configuration_problems(run)
    yield from _list(
        "What is wrong with the configuration", [_problem(problem) for problem in problems if problem.level == ERROR]
    )
    yield from _list("What hides something and is not accepted", run.coverage.hides if run.coverage else ())
    missed = [f"{name}: {one.place} ({one.rule_id})" for name, one in run.differences() if one.status == "missed"]
    yield from _list("Missed", missed)


def _problem(configuration_problem: ConfigurationProblem) -> str:
    where = f"{configuration_problem.spot.file}:{configuration_problem.spot.line}" if configuration_problem.spot else ""
    return (
        configuration_problem.message
        if configuration_problem.message.startswith(where)
        else f"{where} {configuration_problem.message}"
    )


def _comparison_lines(compared: Compared) -> Iterator[str]:
    decisions = {candidate.name: candidate.guarded_decision or "no decision" for candidate in compared.candidates}
    # Where there is no room for all, the worst are those that stand there.
    deciding = sorted(compared.deciding, key=lambda pair: _WORST_FIRST.index(pair.verdict))
    for pair in deciding:
        yield f"## {pair.verdict}: {_short(against(pair))}"
        alone = [f"{name} alone: {decisions[name]}" for name in (pair.candidate, pair.baseline)]
        yield from _list("", [*pair.reasons, *alone])
    surveyed = {candidate.name: candidate.surveyed for candidate in compared.candidates}
    for pair in deciding:
        if len(deciding) > 1:
            yield from ("", f"## {_short(against(pair))}")
        run = compared.runs.get(pair.candidate)
        before, after = surveyed.get(pair.baseline), surveyed.get(pair.candidate)
        changed = _changed(before, after, pair) if before and after else None
        if changed:
            whys = _whys(run)
            accepted = [f"{one.said}{whys.get((one.kind, one.text), '')}" for one in changed.accepted]
            yield from _list("New acceptances", accepted)
            wider = [*pair.moves.widened, *(f"gone: {one.said}" for one in changed.gone)]
            yield from _list("Changed entries", wider)
        yield from _list("Newly hidden or lost", _lost(compared, pair, run))
        yield from _list("Newly found", _found(pair))
        if changed:
            entries, rules, places = changed.same
            counts = f"{_entries(entries)}, {numbered(rules, 'rule')} and {numbered(places, 'place')}"
            yield from ("", f"As before: {counts}.")
        else:
            yield from ("", "Entries, rules and places are not compared: they were not asked for in both.")


def _changed(before: Surveyed, after: Surveyed, pair: Pair) -> _Changed:
    wider = set(pair.moves.entries_wider)
    accepted = [entry for entry in after.entries if entry.status == ACCEPTED and not _is_covered(entry, before.entries)]
    known, there = Counter(map(_said, before.entries)), Counter(map(_said, after.entries))
    news = {id(one) for one in accepted}
    same = sum(_said(entry) in known and entry.where not in wider and id(entry) not in news for entry in after.entries)
    gone = [entry for entry in before.entries if _said(entry) not in there]
    return _Changed(accepted, gone, (same, _same(before.rules, after.rules), _same(before.places, after.places)))


def _is_covered(hiding: Hiding, before: Iterable[Hiding]) -> bool:
    """Return whether as much of the same entry was accepted before."""
    known = [other for other in before if other.status == ACCEPTED and _said(other) == _said(hiding)]
    return any(hiding.places <= other.places and hiding.rules <= other.rules for other in known)


def _said(hiding: Hiding) -> tuple[str, str]:
    return hiding.kind, hiding.text


def _same(before: Mapping[str, bool], after: Mapping[str, bool]) -> int:
    return sum(before.get(name) is found for name, found in after.items())


def _whys(run: Run | None) -> dict[tuple[str, str], str]:
    rows = run.coverage.entries if run and run.coverage else ()
    return {(row["kind"], row["entry"]): f" (accepted: {row['why']})" for row in rows if row["status"] == ACCEPTED}


def _lost(compared: Compared, pair: Pair, run: Run | None) -> list[str]:
    """Return what is lost, by what hides it, the cause of most first."""
    lost: defaultdict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in pair.differences.lost:
        lost[compared.hidden_by(pair, one) or UNKNOWN]["expected secret"].append(_secret(one))
    coverage = run.coverage.rows() if run and run.coverage else {"places": (), "rules": ()}
    places = {f"{row['family']}:{row['case']}": _cause(row) for row in coverage["places"]}
    rules = {
        row["rule_id"]: _NARROWED if row["status"] in {"fires", "reported_as"} else _cause(row)
        for row in coverage["rules"]
    }
    for name in pair.moves.rules_lost:
        lost[rules.get(name, "not in force any more")]["rule"].append(name)
    for name in pair.moves.places_lost:
        lost[places.get(name, UNKNOWN)]["place"].append(name)
    before = _before(compared, pair)
    for row in coverage["rules"]:
        if row["own"] and row["status"] in {NEVER_FIRES, "allowlisted"} and row["rule_id"] not in before:
            lost[_cause(row)]["new rule"].append(row["rule_id"])
    largest = sorted(lost.items(), key=lambda item: -sum(map(len, item[1].values())))
    return [f"{cause}: {'; '.join(_counted(*listed) for listed in kinds.items())}" for cause, kinds in largest]


def _cause(row: Mapping[str, Any]) -> str:
    """Return why a rule or place is silent, of its row."""
    if row["hidden_by"]:
        return f"hidden by {row['hidden_by']}"
    if row["status"] == NEVER_FIRES and str(row["reason"]).startswith("reports "):
        return str(row["reason"])
    if row["status"] == NEVER_FIRES:
        return f"never fires ({row['reason'] or 'nothing made from its own regex is found'})"
    return UNKNOWN


def _before(compared: Compared, pair: Pair) -> Mapping[str, Any]:
    baseline = next(candidate for candidate in compared.candidates if candidate.name == pair.baseline)
    return baseline.surveyed.rules if baseline.surveyed else {}


def _found(pair: Pair) -> list[str]:
    named: dict[str, Sequence[str]] = {
        "expected secret": [_secret(one) for one in pair.differences.gained],
        "rule": pair.moves.rules_gained,
        "place": pair.moves.places_gained,
        "unexpected finding": [_secret(one) for one in pair.differences.new],
    }
    return [_counted(name, listed) for name, listed in named.items() if listed]


def _secret(difference: Difference) -> str:
    return f"{difference.scenario} {place_of(difference)} ({difference.rule_id})"


def _counted(name: str, listed: Sequence[str]) -> str:
    return f"{numbered(len(listed), name)} ({few(listed, NAMED_AT_MOST)})"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _list(title: str, listed: Sequence[str]) -> Iterator[str]:
    if not listed:
        return
    yield from ("", f"### {title}", "") if title else ("",)
    yield from (f"- {_short(text)}" for text in listed[:LISTED_AT_MOST])
    if len(listed) > LISTED_AT_MOST:
        yield f"- and {len(listed) - LISTED_AT_MOST} more: see report.html"


def _short(text: str) -> str:
    return markdown(text if len(text) <= LETTERS_AT_MOST else f"{text[:LETTERS_AT_MOST]}…")
