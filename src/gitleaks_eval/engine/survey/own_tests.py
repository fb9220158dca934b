"""Tests that users wrote of their rules: all of a candidate's in one scan, made once a run."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gitleaks_eval.config.eval_file import FINDS, LARGEST, Beside, RuleTest, refuse
from gitleaks_eval.config.tables import tables, value_of
from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import made_once
from gitleaks_eval.core.text import shown_path
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import DISABLED
from gitleaks_eval.coverage.result import FAILS, TEST, Verdict, key
from gitleaks_eval.coverage.rules.explaining import explain
from gitleaks_eval.coverage.rules.own_tests import Planted, judged, neutral_file, planted_by
from gitleaks_eval.coverage.samples.explained_text import Text
from gitleaks_eval.coverage.samples.samples import Bench, Sample, bench
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner

# Each costs some scans of one file.
EXPLAINED_AT_MOST = 3
_ITSELF = "itself"


def named_tests(besides: Sequence[Beside], root: Path) -> Iterator[tuple[str, Beside, RuleTest]]:
    """Return the tests beside a configuration, each with its name: `.gitleaks-eval.yaml:6 acme-token[finds-1]`."""
    for beside in besides:
        for test in beside.tests:
            yield f"{shown_path(beside.path, root)}:{test.spot.line} {test.name}", beside, test


def check_rules(subject: EffectiveConfig, besides: Sequence[Beside]) -> None:
    """Refuse tests of rules that neither the configuration nor the scanner has.

    Raises:
        InputError: for the first of them, with its line and column.
    """
    if subject.builtin_problem:
        # What the scanner itself has is not known.
        return
    documents = [*(layer.document for layer in subject.layers), subject.builtin]
    known = {str(value_of(rule, "id")) for document in documents for _, rule in tables(document, "rules")}
    for beside in besides:
        for test in beside.tests:
            if test.rule_id not in known:
                refuse(beside.path, test.spot, f"no rule of the configuration has the id {test.rule_id[:100]!r}")


def own_verdicts(
    subject: EffectiveConfig, besides: Sequence[Beside], sample_scanner: SampleScanner, folder: Path, root: Path
) -> dict[str, Verdict]:
    """Return how each test ends, by its key; scanned by the first process of the run that asks.

    Raises:
        EvaluationError: when the scan failed, or did not find what vouches for it.
    """

    def make() -> Any:
        return {name: asdict(one) for name, one in _scanned(subject, besides, sample_scanner, root).items()}

    return {name: Verdict(**verdict) for name, verdict in made_once(folder, make).items()}


def _scanned(
    subject: EffectiveConfig, besides: Sequence[Beside], sample_scanner: SampleScanner, root: Path
) -> dict[str, Verdict]:
    on = bench(subject.effective.rules, subject.effective.allowlists, subject.seed)
    named = list(named_tests(besides, root))
    planted = planted_by([test for _, _, test in named], {rule.id: rule for rule in subject.effective.rules}, on)
    files = {beside.path: _whole(beside, number, on) for number, beside in enumerate(besides)}
    samples = [sample for one in planted for _, sample in one.samples]
    findings = sample_scanner.changed(sample_scanner.built([*samples, *files.values()]), subject.layers)
    verdicts = judged(planted, findings)
    failing = [one for one, verdict in zip(planted, verdicts, strict=True) if verdict.outcome == FAILS]
    explained = [one for one in failing if one.test.kind == FINDS][:EXPLAINED_AT_MOST]
    why = {one.test: said for one in explained if (said := _why(subject, sample_scanner, one, root))}
    named_verdicts = {}
    for (name, beside, test), found in zip(named, verdicts, strict=True):
        verdict = Verdict(found.outcome, f"{found.message}: {why[test]}") if test in why else found
        refused = _refused(beside, test, files[beside.path].path, findings)
        ends = Verdict(FAILS, refused) if refused else verdict
        named_verdicts[key(TEST, name)] = Verdict(ends.outcome, f"{name}: {ends.message}" if ends.message else "")
    return named_verdicts


def _why(subject: EffectiveConfig, sample_scanner: SampleScanner, one: Planted, root: Path) -> str:
    """Return what stops the rule of a test that is not found, in the words of `explain`; empty where nothing does."""
    rule_id = one.test.rule_id
    if one.problem:
        switched = (entry for entry in subject.entries if entry.kind == DISABLED and rule_id in entry.rule_ids)
        return next((f"{shown_path(entry.file, root)} {entry.place}" for entry in switched if entry.file), "")
    for _, sample in one.samples:
        text = Text(sample.path, sample.text.encode())
        found = explain(subject, sample_scanner, text, root, {rule_id})
        if said := next((stopped.words for stopped in found.stopped if stopped.rule_id == rule_id), ""):
            return said
    return ""


def _whole(beside: Beside, number: int, on: Bench) -> Sample:
    """Return the file of tests itself: what a scan finds in it does not belong there."""
    try:
        text = read_input(beside.path, LARGEST).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise EvaluationError(f"{beside.path}: it was changed while it was read; run again") from None
    return Sample(_ITSELF, neutral_file(f"itself{number}", on), text, "", "")


def _refused(beside: Beside, test: RuleTest, path: str, findings: Findings) -> str:
    """Return which rule finds something in the lines of a test; empty when none does."""
    starts = sorted({other.spot.line for other in beside.tests} | {one.line for one in beside.accepts})
    end = next((line for line in starts if line > test.spot.line), None)
    for finding in findings:
        here = str(finding["File"]).replace("\\", "/") == path
        line = int(finding["StartLine"])
        if here and test.spot.line <= line and (end is None or line < end):
            return f"the line itself holds what {finding['RuleID']} finds; write {{{{secret}}}} and a pattern"
    return ""
