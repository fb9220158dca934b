"""What the pairwise judge says of a pair, for people: lines in the terminal, a section in Markdown, one in HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitleaks_eval.core.text import markdown, printable
from gitleaks_eval.judges.pairwise.verdict import PairVerdict
from gitleaks_eval.judges.verdict import NOT_APPLICABLE
from gitleaks_eval.reports.run.judges import REASONING_AT_MOST, cost_text, details

TITLE = "What changed, and does it matter? (a judge, advisory)"
_PREFERRED = {1: "{baseline} is clearly better", 2: "{baseline} is somewhat better"}
_PREFERRED |= {3: "neither is better: what differs speaks for both, or matters too little"}
_PREFERRED |= {4: "{candidate} is somewhat better", 5: "{candidate} is clearly better"}
_DEPENDS = "a tie: which one is better depends on the order in which they are shown"
_TITLES = {"baseline_first": "The baseline shown first", "candidate_first": "The candidate shown first"}
SHOWN = 500


@dataclass(frozen=True, slots=True)
class Told:
    """A verdict in words: what was `said`, `by` whom, notes about it, and of each order its line and what is behind."""

    said: str
    by: str
    notes: Sequence[str]
    orders: Sequence[tuple[str, Sequence[str]]]
    reasoning: str
    warnings: Sequence[str]


def told(judged: Mapping[str, Any], baseline: str = "the baseline", candidate: str = "the candidate") -> Told:
    """Return the words for the `judge` of a pair in comparison.json; who is compared is called as is said here."""
    return Told(
        _said(baseline, candidate, judged),
        "numbers alone"
        if judged["mode"] == "heuristic"
        else str(judged["model_answered"] or judged["model_requested"]),
        list(_notes(judged)),
        [
            (
                f"{_TITLES[order['order']]}: {order['score'] or order['unscored_kind']}. {order['reasoning']}",
                list(details(order)),
            )
            for order in judged["orders"]
        ],
        # An unscored verdict and one that does not apply have said it already.
        "" if judged["orders"] or judged["score"] is None else judged["reasoning"],
        judged["warnings"],
    )


def pair_judge_lines(baseline: str, candidate: str, judged: PairVerdict, verbosity: int) -> Iterator[str]:
    """Yield what was judged, and with `-v` why."""
    words = told(judged.as_json(), baseline, candidate)
    yield printable(f"judge (advisory)  {candidate} against {baseline}: {', '.join((words.said, *words.notes))}")
    if verbosity > 0:
        for line, behind in words.orders:
            yield printable(f"       {line[:REASONING_AT_MOST]}")
            yield from (printable(f"       {text}") for text in behind)
        if words.reasoning:
            yield printable(f"       {words.reasoning[:REASONING_AT_MOST]}")
    yield from (printable(f"WARNING  {warning}") for warning in words.warnings)


def pair_judge_markdown(judged: PairVerdict) -> Iterator[str]:
    """Yield the section of a pair, below its tables."""
    words = told(judged.as_json())
    yield ""
    yield f"### {TITLE}"
    yield ""
    yield f"- {markdown(f'{words.said} ({words.by})')}"
    yield from (f"- {markdown(note)}" for note in words.notes)
    if words.reasoning:
        yield f"- {markdown(words.reasoning)}"
    for line, behind in words.orders:
        yield f"- {markdown(line[:SHOWN])}"
        yield from (f"  - {markdown(text)}" for text in behind)
    yield from (f"- Note: {markdown(warning)}" for warning in words.warnings)


def _said(baseline: str, candidate: str, judged: Mapping[str, Any]) -> str:
    if judged["outcome"] == NOT_APPLICABLE:
        return f"not applicable: {judged['reasoning']}"
    if judged["score"] is None:
        return f"UNSCORED ({judged['unscored_kind']}): {judged['reasoning']}"
    if judged["order_dependent"]:
        return _DEPENDS
    return _PREFERRED[judged["score"]].format(baseline=baseline, candidate=candidate)


def _notes(judged: Mapping[str, Any]) -> Iterator[str]:
    if judged["confidence"] is not None:
        yield f"confidence {judged['confidence']:.2f}" + " (low: review it)" * judged["low_confidence"]
    if judged["mode"] != "heuristic" and judged["heuristic_score"] is not None:
        yield f"heuristic {judged['heuristic_score']} of 5"
    if judged["uncalibrated"]:
        yield "uncalibrated"
    if judged["input_tokens"] is not None and judged["output_tokens"] is not None:
        yield f"{judged['input_tokens']} tokens asked, {judged['output_tokens']} answered, {cost_text(judged)}"
