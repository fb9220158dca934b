"""What the reports say of the judges: `llm` and `combined` in JSON, a table for people, rows in the terminal."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.checks.result import FAILED
from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.schema import report_problems
from gitleaks_eval.core.text import markdown, printable
from gitleaks_eval.judges.material import REAL_WORLD, SYNTHETIC
from gitleaks_eval.judges.verdict import NOT_APPLICABLE, UNSCORED, Combined, Judged, Verdict, combine
from gitleaks_eval.reports.folder import REPORT
from gitleaks_eval.scoring.scorecard import FindingCounts, Scorecard

HEADING = "## Judges"
_TITLES = {SYNTHETIC: "Synthetic scenarios", REAL_WORLD: "Real repositories"}


def read_report(folder: Path, corpus_sha256: str, *, scanned: bool) -> Mapping[str, Any]:
    """The report of the last full run, which judges that run alone read.

    `scanned` says whether the analyses that they read are those that a scan left beside it.

    Raises:
        InputError: when there is none, it cannot be read, does not follow the schema, or is about other scenarios
            or analyses.
    """
    path = folder / REPORT
    advice = "run pytest --gitleaks-eval first, or add --gitleaks-eval to do both"
    if not path.exists():
        raise InputError(f"--gitleaks-judges: there is no {path}; {advice}")
    document: Mapping[str, Any] = read_json(path, "the report")
    if problems := report_problems(document):
        raise InputError(f"--gitleaks-judges: {path} is no report of a full run ({'; '.join(problems[:3])}); {advice}")
    if document["partial"]:
        raise InputError(f"--gitleaks-judges: {path} is of a partial run; {advice}")
    if document["corpus_sha256"] != corpus_sha256:
        raise InputError(
            f"--gitleaks-judges: {path} is about other scenarios than this run (--gitleaks-scenarios): {advice}"
        )
    if scanned != (document["scanner"]["config"] is not None):
        other = "leave --gitleaks-analysis out" if not scanned else "name their folder with --gitleaks-analysis"
        of = "a scan" if not scanned else "analyses that were there"
        raise InputError(f"--gitleaks-judges: {path} is about {of}: {other}, or {advice}")
    return document


def combined_of(
    judged: Judged | None, card: Scorecard, *, incomplete: bool, partial: bool, faulty: bool
) -> Combined | None:
    """The combined score of a run, when judges looked at its scenarios."""
    judgement = judged.by_mode.get(SYNTHETIC) if judged else None
    if judgement is None:
        return None
    combined = combine(judgement, card.score.rate, card.findings, incomplete=incomplete, partial=partial)
    return _capped(combined) if faulty else combined


def combined_with(report: Mapping[str, Any], judged: Judged) -> Combined | None:
    """The combined score of verdicts and of the report that they are about."""
    judgement = judged.by_mode.get(SYNTHETIC)
    if judgement is None:
        return None
    summary = report["summary"]
    findings = FindingCounts(**summary["findings"])
    faulty = any(one["outcome"] == FAILED for one in report.get("config_lint", ()))
    combined = combine(judgement, summary["score"], findings, incomplete=report["incomplete"], partial=False)
    return _capped(combined) if faulty else combined


def _capped(combined: Combined) -> Combined:
    """At most WEAK_PASS: the configuration fails its lint."""
    is_better = combined.guarded_decision in {"STRONG_PASS", "PASS"}
    return replace(combined, guarded_decision="WEAK_PASS") if is_better else combined


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
