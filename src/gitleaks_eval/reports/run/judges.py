"""What the reports say of the judges: `llm` and `combined` in JSON, a table for people, rows in the terminal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gitleaks_eval.core.text import markdown, printable
from gitleaks_eval.judges.material import REAL_WORLD, SYNTHETIC
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED, Call, Combined, Judged, Judgement, Verdict

HEADING = "## Judges"
# Of what a model said without an end.
LISTED_AT_MOST, REASONING_AT_MOST = 20, 2000
_TITLES = {SYNTHETIC: "Synthetic scenarios", REAL_WORLD: "Real repositories"}


def llm_fields(judged: Judged | None, combined: Combined | None) -> dict[str, Any]:
    """`llm` and `combined` as the reports have them; nothing without judges."""
    judgement = judged.by_mode.get(SYNTHETIC) if judged else None
    fields: dict[str, Any] = {"llm": judgement.as_json()} if judgement else {}
    if combined:
        fields["combined"] = asdict(combined)
    return fields


def judges_markdown(judged: Judged | None, combined: Combined | None) -> Iterator[str]:
    """Yield the section of the scorecard, under its heading; nothing without judges."""
    for mode, judgement in (judged.by_mode if judged else {}).items():
        yield ""
        if mode == SYNTHETIC or (judged and SYNTHETIC not in judged.by_mode):
            yield HEADING
            yield ""
        model = f", {markdown(str(judgement.model_answered or judgement.model_requested))}"
        by = "heuristic: numbers alone" if judgement.mode == "heuristic" else f"{judgement.mode}{model}"
        yield f"{_TITLES[mode]} ({by}): LLM score {_scores(judgement)} of 5."
        if mode == SYNTHETIC and combined:
            capped = f" (the score alone: {combined.capped_from})" if combined.capped_from else ""
            yield (
                f"Combined with the checks (60 % and 40 %): {_number(combined.score)}, {combined.decision}{capped}; "
                f"guarded: **{combined.guarded_decision}**."
            )
        if asked := "; ".join(_asked(judgement)):
            yield f"{asked}."
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
                ", ".join(notes(verdict.as_json())),
                verdict.reasoning[:500],
            )
            yield f"| {' | '.join(map(markdown, cells))} |"
        for verdict in judgement.verdicts:
            if behind := list(details(verdict.as_json())):
                yield ""
                yield f"**{markdown(verdict.dimension)}**"
                yield ""
                yield from (f"- {markdown(line)}" for line in behind)
        for warning in judgement.warnings:
            yield ""
            yield f"Note: {markdown(warning)}"


def judges_lines(judged: Judged, combined: Combined | None, verbosity: int) -> Iterator[str]:
    """Yield a row a judge, and the combined score."""
    for mode, judgement in judged.by_mode.items():
        prefix = "judge" if mode == SYNTHETIC else "judge (real world)"
        width = max(len(verdict.dimension) for verdict in judgement.verdicts)
        for verdict in judgement.verdicts:
            yield printable(f"{prefix}  {verdict.dimension:<{width}}  {verdict.weight:>4.0%}  {_row(verdict)}")
            if verbosity > 0 and verdict.outcome != UNSCORED:
                yield printable(f"       {verdict.reasoning[:REASONING_AT_MOST]}")
                yield from (printable(f"       {line}") for line in details(verdict.as_json()))
        for warning in judgement.warnings:
            yield printable(f"WARNING  {warning}")
        if asked := "; ".join(_asked(judgement)):
            yield printable(asked)
        if mode != SYNTHETIC:
            advisory = ", advisory" if all(verdict.advisory for verdict in judgement.verdicts) else ""
            yield f"LLM score {_scores(judgement)} for real repositories ({judgement.mode}{advisory})"
    if SYNTHETIC in judged.by_mode:
        yield combined_line(judged, combined)


def _asked(judgement: Judgement) -> Iterator[str]:
    """Yield what asking took: samples, agreement, tokens and their price."""
    if judgement.samples > 1:
        yield f"{judgement.samples} samples a model"
    if judgement.alpha is not None:
        yield f"Krippendorff's alpha between models {judgement.alpha:.2f}"
    if judgement.input_tokens is not None and judgement.output_tokens is not None:
        yield f"{judgement.input_tokens} tokens asked, {judgement.output_tokens} answered"
        yield cost_text(judgement.as_json())


def cost_text(asked: Mapping[str, Any]) -> str:
    """Return what asking cost, as far as prices are known; `asked` is the JSON of what was judged."""
    as_of = f", prices of {asked['prices_as_of']}" if asked["prices_as_of"] else ""
    return "cost unknown" if asked["cost"] is None else f"cost about ${asked['cost']:.4f} (an estimate{as_of})"


def details(judged: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands behind the score of a verdict or an order (as JSON): sub-scores, samples, citations, advice."""
    if judged["sub_scores"]:
        yield "sub-scores: " + ", ".join(f"{name} {score}" for name, score in judged["sub_scores"].items())
    if len(judged["samples"]) > 1:
        scores = (f"{sample['model']} {sample['score'] or sample['unscored_kind']}" for sample in judged["samples"])
        yield f"samples: {', '.join(scores)}; spread {judged['spread']}"
    without_ground = set(judged["unfounded_citations"])
    for citation in judged["evidence_cited"][:LISTED_AT_MOST]:
        flag = " (NOT in the evidence)" if citation in without_ground else ""
        yield f"cites: {citation[:300]}{flag}"
    yield from (f"recommends: {text[:500]}" for text in judged["recommendations"][:LISTED_AT_MOST])
    for name, what in (("evidence_cited", "citations"), ("recommendations", "recommendations")):
        if (more := len(judged[name]) - LISTED_AT_MOST) > 0:
            yield f"and {more} more {what}"


def combined_line(judged: Judged, combined: Combined | None) -> str:
    """Return the LLM score, the combined score and its decisions in one line."""
    judgement = next(iter(judged.by_mode.values()))
    llm = f"LLM score {_scores(judgement)} ({judgement.mode})"
    if combined is None or combined.decision is None:
        return f"{llm}, no combined decision: only a part was selected"
    guarded = "" if combined.guarded_decision == combined.decision else f", guarded {combined.guarded_decision}"
    capped = f", capped from {combined.capped_from} by the guarded decision" if combined.capped_from else ""
    return f"{llm}, combined {_number(combined.score)} {combined.decision}{guarded}{capped}"


def _scores(judgement: Judgement) -> str:
    """Return the composite, and beside it the one before any cap where that is another."""
    raw = "" if judgement.raw_score == judgement.score else f" (before caps {_number(judgement.raw_score)})"
    return f"{_number(judgement.score)}{raw}"


def _row(verdict: Verdict) -> str:
    if verdict.outcome == NOT_APPLICABLE:
        return f"not applicable: {verdict.reasoning}"
    if verdict.outcome == UNSCORED:
        # An error of its test is told once for all judges that have it.
        return f"UNSCORED ({verdict.unscored_kind}): {verdict.reasoning if verdict.advisory else 'see ERROR above'}"
    told = "".join(f", {note}" for note in notes(verdict.as_json()))
    return f"{_number(verdict.score)}  (heuristic {verdict.heuristic_score}, confidence {verdict.confidence}{told})"


def notes(verdict: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is to be known beside a score; `verdict` is the JSON of one."""
    checks = " ".join(verdict["cap_checks"])
    if verdict["unscored_kind"]:
        yield f"unscored: {verdict['unscored_kind']}"
    if checks:
        capped = f"capped from {verdict['raw_score']} by {checks}"
        yield capped if verdict["capped"] else f"checks of this dimension fail: {checks}"
        if verdict.get("counted") not in {None, verdict["score"]}:
            yield f"counts as {verdict['counted']:.2f}"
    elif verdict["capped"]:
        yield f"capped from {verdict['raw_score']} for low confidence"
    unfounded = len(verdict["unfounded_citations"])
    flags = {
        "excluded from the composite: low confidence": verdict["excluded"],
        "low confidence: review it": verdict["low_confidence"] and not verdict["excluded"],
        f"{unfounded} citations name what is not in the evidence": unfounded,
        "models disagree": verdict["disagreement"],
        f"samples differ by {verdict['spread']}": verdict["spread"],
        f"inconsistent with its sub-scores ({verdict['weighted_sub_score'] or 0:.2f})": verdict["inconsistent"],
        "diverging from the heuristic": verdict["diverging"],
        "advisory": verdict["advisory"],
        "uncalibrated": verdict["uncalibrated"],
    }
    yield from (note for note, holds in flags.items() if holds)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}".removesuffix(".00") if isinstance(value, int) else f"{value:.2f}"


def log_lines(calls: Sequence[Call]) -> bytes:
    """`judges.jsonl`: a line a call."""
    return "".join(json.dumps(asdict(call)) + "\n" for call in calls).encode("ascii")
