"""What the pairwise judge says of a pair, for people: lines in the terminal, and a section in Markdown."""

from collections.abc import Iterator

from gitleaks_eval.core.text import markdown, printable
from gitleaks_eval.judges.pairwise import PairVerdict
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED
from gitleaks_eval.reports.judges import cost_text, details

_PREFERRED = {1: "{baseline} is clearly better", 2: "{baseline} is somewhat better", 3: "nothing that matters differs"}
_PREFERRED |= {4: "{candidate} is somewhat better", 5: "{candidate} is clearly better"}
_DEPENDS = "a tie: which one is better depends on the order in which they are shown"
_TITLES = {"baseline_first": "The baseline shown first", "candidate_first": "The candidate shown first"}
SHOWN = 500


def pair_judge_lines(baseline: str, candidate: str, judged: PairVerdict, verbosity: int) -> Iterator[str]:
    """What was judged, and with `-v` why."""
    notes = "".join(f", {note}" for note in _notes(judged))
    yield printable(f"judge (advisory)  {candidate} against {baseline}: {_said(baseline, candidate, judged)}{notes}")
    if verbosity > 0:
        for order in judged.orders:
            yield printable(f"       {_TITLES[order.order]}: {order.score or order.unscored_kind}. {order.reasoning}")
            yield from (printable(f"       {line}") for line in details(order))
        if not judged.orders and judged.reasoning:
            yield printable(f"       {judged.reasoning}")
    yield from (printable(f"WARNING  {warning}") for warning in judged.warnings)


def pair_judge_markdown(judged: PairVerdict) -> Iterator[str]:
    """The section of a pair, below its tables."""
    yield ""
    yield "### What changed, and does it matter? (a judge, advisory)"
    yield ""
    by = "numbers alone" if judged.mode == "heuristic" else str(judged.model_answered or judged.model_requested)
    said = _said("the baseline", "the candidate", judged)
    yield f"- {markdown(f'{said} ({by})')}"
    yield from (f"- {markdown(note)}" for note in _notes(judged))
    if not judged.orders and judged.outcome not in {NOT_APPLICABLE, UNSCORED}:
        yield f"- {markdown(judged.reasoning)}"
    for order in judged.orders:
        yield f"- {_TITLES[order.order]}: {order.score or order.unscored_kind}. {markdown(order.reasoning[:SHOWN])}"
        yield from (f"  - {markdown(line)}" for line in details(order))
    yield from (f"- Note: {markdown(warning)}" for warning in judged.warnings)


def _said(baseline: str, candidate: str, judged: PairVerdict) -> str:
    if judged.outcome == NOT_APPLICABLE:
        return f"not applicable: {judged.reasoning}"
    if judged.score is None:
        return f"UNSCORED ({judged.unscored_kind}): {judged.reasoning}"
    if judged.order_dependent:
        return _DEPENDS
    return _PREFERRED[judged.score].format(baseline=baseline, candidate=candidate)


def _notes(judged: PairVerdict) -> Iterator[str]:
    if judged.confidence is not None:
        yield f"confidence {judged.confidence:.2f}" + " (low: review it)" * judged.low_confidence
    if judged.mode != "heuristic" and judged.heuristic_score is not None:
        yield f"heuristic {judged.heuristic_score} of 5"
    if judged.uncalibrated:
        yield "uncalibrated"
    if judged.input_tokens is not None and judged.output_tokens is not None:
        yield f"{judged.input_tokens} tokens asked, {judged.output_tokens} answered, {cost_text(judged)}"
