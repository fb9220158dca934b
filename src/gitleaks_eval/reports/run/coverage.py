"""What a verdict speaks for, as people read it: the sentence of numbers, what fails, and what is hidden."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from gitleaks_eval.checks.result import FAILED, CheckResult, failed_ids
from gitleaks_eval.config.eval_file import is_of_build
from gitleaks_eval.core.text import few, numbered
from gitleaks_eval.coverage.result import (
    ENTRY,
    FORMAT,
    OWN_RULES,
    PLACE,
    RULE,
    TOGETHER,
    Coverage,
)
from gitleaks_eval.judges.verdict import INCOMPLETE
from gitleaks_eval.reports.run.values import Run

FAILED_AT_MOST = 12
LISTED_AT_MOST = 200
NAMED_AT_MOST = 3
REPLACED_AT_MOST = 4
HIDING_AT_MOST = 40
_COUNTED = {PLACE: "place", FORMAT: "documented format"}
NOTHING_TO_MEND = "nothing to mend"
ACCEPTED_ALONE = f"{NOTHING_TO_MEND}: what is hidden is accepted"


def tested_lines(run: Run) -> Iterator[str]:
    """Yield the sentence of numbers."""
    if run.coverage is not None:
        yield from filter(None, (run.coverage.tested, run.coverage.formats_said))


def next_lines(run: Run) -> Iterator[str]:
    """Yield what to do next, as the terminal says it."""
    for number, text in enumerate(next_steps(run)):
        yield text if number else f"next: {text}"


def next_steps(run: Run) -> Iterator[str]:
    """Yield the one thing to do next, of all that would make the decision better, then what may be deleted.

    Nothing for a part of a run.
    """
    decision = run.scorecard.guarded_decision
    failed = {result.check_id for result in run.surveys if result.outcome == FAILED}
    if decision is None:
        return
    if run.incomplete:
        yield "mend what could not be run, and run again"
    elif run.scorecard.findings.missed:
        yield _about_missed(run)
    elif run.crashed:
        yield "find out why the scanner crashes, and run again: a scan that did not may have been lucky"
    elif failed:
        yield _about_failed(run, failed)
    elif broken := _broken(run):
        yield f"mend what fails: {few(broken, NAMED_AT_MOST)}"
    else:
        yield _about_the_rest(run, decision)
    if run.coverage and (notices := run.coverage.notices):
        first = [line.split(" ", 1)[0] for line in notices]
        yield f"{len(notices)} may be deleted ({few(first, NAMED_AT_MOST)}); see scorecard.md"


def _broken(run: Run) -> list[str]:
    """Return the failed checks that are no finding's, then the failed tests that are no checks."""
    return [*failed_ids(run.untold_failures()), *run.other_failures]


def _about_the_rest(run: Run, decision: str) -> str:
    """Say what to do where nothing is missed and nothing of the survey fails."""
    if run.coverage and not run.coverage.whole:
        return _about_survey(run.coverage)
    if decision != "STRONG_PASS":
        return "mend what is listed below, or in scorecard.md"
    return _about_judges(run)


def _about_failed(run: Run, failed: Collection[str]) -> str:
    """Return what is to do about tests of rules, places and entries; `failed` are their kinds."""
    if run.coverage and run.coverage.lacks and {OWN_RULES, RULE}.intersection(failed):
        lacks = numbered(len(run.coverage.lacks), "rule")
        return f"take another build: {lacks} of the version that it states never fire"
    if OWN_RULES in failed:
        advice = "extend the scanner's own configuration ([extend] useDefault = true)"
        return f"{advice}; if the loss is intended, run `gitleaks-eval accept`"
    if {ENTRY, TOGETHER}.intersection(failed):
        return "narrow the entries that fail; if that is intended, run `gitleaks-eval accept`"
    return "mend the rules and places that fail"


def _about_survey(coverage: Coverage) -> str:
    """Return what is to do where no test fails, and yet something is hidden or not known."""
    if coverage.unreadable:
        # Others are read, and are not what the scanner goes by.
        is_script = "cannot be read" in coverage.unreadable
        advice = (
            "name the scanner's own program (`--gitleaks-binary`), and no script around it"
            if is_script
            else "run again"
        )
        return f"{advice}; with `--gitleaks-allow-unreadable-rules` a run without its rules ends with status 0"
    if coverage.hides:
        names = [
            str(offer["name"]) for offer in coverage.offers if f"{offer['name']} {offer['said']}" in coverage.hides
        ]
        count = f"{len(names)} entr{'y' if len(names) == 1 else 'ies'}"
        return f"look at {count} that may hide secrets ({few(names, NAMED_AT_MOST)}): `gitleaks-eval accept`"
    if coverage.lacks:
        rules = few(coverage.lacks, NAMED_AT_MOST)
        return f"look at what never fires ({rules}); if that is intended, run `gitleaks-eval accept`"
    if unseen := [offer for offer in coverage.offers if is_of_build(offer["entry"]) and not offer["accepted"]]:
        places = numbered(len(unseen), "place")
        return f"look at {places} that this build does not see; if that is intended, run `gitleaks-eval accept`"
    return ACCEPTED_ALONE if coverage.accepted else "look at what was not tested"


def _about_judges(run: Run) -> str:
    """Return what is to do where nothing else is."""
    combined = run.combined.decision if run.combined else None
    if combined == INCOMPLETE:
        return "mend what kept the judges from a score, and run again"
    if combined not in {None, run.scorecard.guarded_decision}:
        return "read why the judges give no more: Judges in scorecard.md"
    return NOTHING_TO_MEND


def _about_missed(run: Run) -> str:
    hidden = sum(text.startswith("hidden by ") for text in run.hidden.values())
    if hidden >= run.scorecard.findings.missed:
        return "narrow the entries that hide what is MISSED; if that is intended, run `gitleaks-eval accept`"
    return "find again what is MISSED; `gitleaks-eval explain FILE:LINE` says what stops a rule"


def doubt_lines(run: Run) -> Iterator[str]:
    """Each rule that does not find what the scanner's own finds, and why the decision is WEAK_PASS at best; a few."""
    if run.coverage is None:
        return
    failed = {result.message for result in run.surveys if result.outcome == FAILED}
    replaced = [line for line in run.coverage.replaced if line not in failed]
    for line in replaced[:REPLACED_AT_MOST]:
        yield f"REPLACED  {line}"
    if len(replaced) > REPLACED_AT_MOST:
        yield f"REPLACED  {numbered(len(replaced) - REPLACED_AT_MOST, 'more rule')}"
    for line in run.coverage.weak:
        if line != run.coverage.unreadable:
            yield f"WEAK  {line}"


def hides_lines(run: Run) -> Iterator[str]:
    """Yield each entry or flag that hides something and does not fail, with how much; of very many the first."""
    if run.coverage is None:
        return
    failed = {result.message for result in run.surveys if result.outcome == FAILED}
    hiding = [line for line in run.coverage.hides_places if line not in failed]
    for line in hiding[:HIDING_AT_MOST]:
        yield f"HIDES  {line}"
    if len(hiding) > HIDING_AT_MOST:
        yield f"HIDES  {len(hiding) - HIDING_AT_MOST} more entries hide less each; scorecard.md has them"


def failed_lines(run: Run) -> Iterator[str]:
    """Yield each rule and entry that fails, and the places by what hides them; at most 20 lines."""
    yield from (f"FAILED  {text}" for text in survey_failures(run.surveys))


def survey_failures(results: Sequence[CheckResult]) -> Iterator[str]:
    """Say of each rule and entry that fails why, and count the places and formats by what hides them."""
    failed = [result for result in results if result.outcome == FAILED]
    others = [result for result in failed if result.check_id not in _COUNTED]
    for result in others[:FAILED_AT_MOST]:
        yield f"{result.check_id}  {result.message}"
    if len(others) > FAILED_AT_MOST:
        yield f"{len(others) - FAILED_AT_MOST} more rules and entries"
    for check_id, noun in _COUNTED.items():
        of_kind = [result for result in failed if result.check_id == check_id]
        by = Counter(result.message.removeprefix(f"{result.name}: ") for result in of_kind)
        for text, count in by.most_common(NAMED_AT_MOST):
            yield f"{numbered(count, noun)}  {text}"
        if len(by) > NAMED_AT_MOST:
            more = sum(count for _, count in by.most_common()[NAMED_AT_MOST:])
            yield numbered(more, f"more {noun}")


def failed_check_lines(run: Run) -> Iterator[str]:
    """Say of each failed check that is no finding's in which scenarios it fails, and what its first failure says."""
    by: dict[str, list[CheckResult]] = {}
    for result in run.untold_failures():
        by.setdefault(result.check_id, []).append(result)
    for check_id, results in islice(by.items(), FAILED_AT_MOST):
        first = results[0]
        scenarios = f"{few([one.scenario for one in results if one.scenario], NAMED_AT_MOST)}: " * bool(first.scenario)
        yield f"FAILED  {check_id} {first.name}  {scenarios}{next(iter(first.message.splitlines()), '')}"
    if len(by) > FAILED_AT_MOST:
        yield f"FAILED  {len(by) - FAILED_AT_MOST} more checks"
