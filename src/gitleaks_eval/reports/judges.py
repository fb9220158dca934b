"""What the reports say of the judges: `llm` and `combined` in JSON, a table for people, rows in the terminal."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from gitleaks_eval.core.text import markdown, printable
from gitleaks_eval.judges.material import REAL_WORLD, SYNTHETIC
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED, Combined, Judged, Verdict

HEADING = "## Judges"
_TITLES = {SYNTHETIC: "Synthetic scenarios", REAL_WORLD: "Real repositories"}


def llm_fields(judged: Judged | None, combined: Combined | None) -> dict[str, Any]:
    """`llm` and `combined` as the reports have them; nothing without judges."""
    judgement = judged.by_mode.get(SYNTHETIC) if judged else None
    fields: dict[str, Any] = {"llm": judgement.as_json()} if judgement else {}
    if combined:
        fields["combined"] = asdict(combined)
    return fields


def judges_markdown(judged: Judged | None, combined: Combined | None) -> Iterator[str]:
    """The section of the scorecard, under its heading; nothing without judges."""
    for mode, judgement in (judged.by_mode if judged else {}).items():
        yield ""
        if mode == SYNTHETIC or (judged and SYNTHETIC not in judged.by_mode):
            yield HEADING
            yield ""
        model = f", {markdown(str(judgement.model_answered or judgement.model_requested))}"
        by = "heuristic: numbers alone" if judgement.mode == "heuristic" else f"{judgement.mode}{model}"
        yield f"{_TITLES[mode]} ({by}): LLM score {_number(judgement.score)} of 5."
        if mode == SYNTHETIC and combined:
            yield (
                f"Combined with the checks (60 % and 40 %): {_number(combined.score)}, {combined.decision}; "
                f"guarded: **{combined.guarded_decision}**."
            )
        yield ""
        yield "| Judge | Weight | Score | Said | Confidence | Heuristic | Notes | Reasoning |"
        yield "|---|--:|--:|--:|--:|--:|---|---|"
        for verdict in judgement.verdicts:
            cells = (
                verdict.dimension,
                f"{verdict.weight:.0%}",
                _number(verdict.score) if verdict.outcome != NOT_APPLICABLE else "n/a",
                _number(verdict.raw_score),
                _number(verdict.confidence),
                _number(verdict.heuristic_score),
                ", ".join(_notes(verdict)),
                verdict.reasoning[:500],
            )
            yield f"| {' | '.join(map(markdown, cells))} |"
        for warning in judgement.warnings:
            yield ""
            yield f"Note: {markdown(warning)}"


def judges_lines(judged: Judged, combined: Combined | None, verbosity: int) -> Iterator[str]:
    """A row a judge, and the combined score."""
    for mode, judgement in judged.by_mode.items():
        prefix = "judge" if mode == SYNTHETIC else "judge (real world)"
        width = max(len(verdict.dimension) for verdict in judgement.verdicts)
        for verdict in judgement.verdicts:
            yield printable(f"{prefix}  {verdict.dimension:<{width}}  {verdict.weight:>4.0%}  {_row(verdict)}")
            if verbosity > 0:
                yield printable(f"       {verdict.reasoning}")
        for warning in judgement.warnings:
            yield printable(f"WARNING  {warning}")
        if mode != SYNTHETIC:
            yield f"LLM score {_number(judgement.score)} for real repositories ({judgement.mode})"
    if SYNTHETIC in judged.by_mode:
        yield combined_line(judged, combined)


def combined_line(judged: Judged, combined: Combined | None) -> str:
    """The LLM score, the combined score and its decisions in one line."""
    judgement = next(iter(judged.by_mode.values()))
    llm = f"LLM score {_number(judgement.score)} ({judgement.mode})"
    if combined is None or combined.decision is None:
        return f"{llm}, no combined decision: only a part was selected"
    guarded = "" if combined.guarded_decision == combined.decision else f", guarded {combined.guarded_decision}"
    return f"{llm}, combined {_number(combined.score)} {combined.decision}{guarded}"


def _row(verdict: Verdict) -> str:
    if verdict.outcome == NOT_APPLICABLE:
        return f"not applicable: {verdict.reasoning}"
    if verdict.outcome == UNSCORED:
        return f"UNSCORED ({verdict.unscored_kind}): {verdict.reasoning}"
    notes = "".join(f", {note}" for note in _notes(verdict))
    return f"{_number(verdict.score)}  (heuristic {verdict.heuristic_score}, confidence {verdict.confidence}{notes})"


def _notes(verdict: Verdict) -> Iterator[str]:
    if verdict.unscored_kind:
        yield f"unscored: {verdict.unscored_kind}"
    if verdict.cap_checks:
        yield (
            f"capped from {verdict.raw_score} by {' '.join(verdict.cap_checks)}"
            if verdict.capped
            else (f"critical checks fail: {' '.join(verdict.cap_checks)}")
        )
    elif verdict.capped:
        yield f"capped from {verdict.raw_score} for low confidence"
    if verdict.low_confidence:
        yield "low confidence: review it"
    if verdict.inconsistent:
        yield f"inconsistent with its sub-scores ({verdict.weighted_sub_score:.2f})"
    if verdict.diverging:
        yield "diverging from the heuristic"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}".removesuffix(".00") if isinstance(value, int) else f"{value:.2f}"
