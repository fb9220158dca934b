"""One rule, tried: whether it fires, and what it alone would newly report in repositories."""

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

from gitleaks_eval.config.eval_file import files_beside
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.text import few, printable
from gitleaks_eval.coverage.configuration.layers import without, without_allowlists, write_layers
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.result import FAILS, TEST, key
from gitleaks_eval.coverage.rules.own_tests import check_tests
from gitleaks_eval.coverage.samples.paths import word
from gitleaks_eval.coverage.samples.repository import found_by_sample, instead_text, is_same, reported_instead
from gitleaks_eval.coverage.samples.samples import Sample, bench, reason_for_silence, samples_or_reason
from gitleaks_eval.coverage.samples.scanner import Findings
from gitleaks_eval.engine.session.single_candidate import SingleCandidate
from gitleaks_eval.engine.survey.own_tests import check_rules, named_tests, own_verdicts
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.log import readable
from gitleaks_eval.scanners.scan import unread
from gitleaks_eval.scenarios.redaction import masks_of
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scenarios.secrets import preview

SAMPLES = 5
# Where something is found: commit, file and line.
Spot = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Tried:
    """A test of a rule: whether it passes, and a line for people."""

    passes: bool
    said: str


@dataclass(frozen=True, slots=True)
class NewFile:
    """What a rule newly reports in a file: its path, masked, in how many places, on which lines, and previews."""

    path: str
    places: int
    lines: tuple[int, ...]
    previews: tuple[str, ...]

    @property
    def said(self) -> str:
        """`deploy/values.yaml  2 places (lines 4, 9)  acme_********`."""
        lines = few([str(line) for line in self.lines], 3)
        where = f"{self.places} place{'s' * (self.places != 1)} (line{'s' * (len(self.lines) != 1)} {lines})"
        return f"{self.path}  {where}  {few(self.previews, 3)}"


def rule_named(single_candidate: SingleCandidate, rule_id: str) -> Rule:
    """Return the rule in force with this id.

    Raises:
        InputError: when there is none; it names those that look like it.
    """
    rules = {rule.id: rule for rule in single_candidate.subject.effective.rules}
    if rule_id not in rules:
        near = [name for name in rules if rule_id.lower() in name.lower() or name.lower() in rule_id.lower()]
        hint = f"; there is {few(near, 3)}" if near else ""
        raise InputError(f"{rule_id!r}: no rule in force has this id{hint}")
    return rules[rule_id]


def rule_tests(single_candidate: SingleCandidate, rule: Rule) -> Iterator[Tried]:
    """Yield what is asked of a rule: that it finds samples made from its own regex, and what users wrote of it.

    Raises:
        EvaluationError: when a scan fails.
        InputError: when something is wrong in what stands beside the configuration.
    """
    yield _fires(single_candidate, rule)
    yield from _written(single_candidate, rule)


def _written(single_candidate: SingleCandidate, rule: Rule) -> Iterator[Tried]:
    """Yield how the tests of the rule end that stand beside the configuration."""
    besides = files_beside(single_candidate.subject.configuration)
    named = [name for name, _, test in named_tests(besides, single_candidate.root) if test.rule_id == rule.id]
    if not named:
        return
    for beside in besides:
        check_tests(beside)
    check_rules(single_candidate.subject, besides)
    folder = Path(tempfile.mkdtemp(prefix="own-", dir=single_candidate.scanner.scratch))
    verdicts = own_verdicts(
        single_candidate.subject, besides, single_candidate.sample_scanner, folder / "scanned", single_candidate.root
    )
    for name in named:
        verdict = verdicts[key(TEST, name)]
        yield Tried(passes=verdict.outcome != FAILS, said=verdict.message or name)


def _fires(single_candidate: SingleCandidate, rule: Rule) -> Tried:
    effective = single_candidate.subject.effective
    on = bench(effective.rules, effective.allowlists, single_candidate.subject.seed)
    made = samples_or_reason(rule, on, list(islice(map(word, count()), SAMPLES)))
    if isinstance(made, str):
        return Tried(passes=False, said=f"no sample can be made: {made}")
    repository = single_candidate.sample_scanner.built(made)
    findings = single_candidate.sample_scanner.under_test(repository)
    ids = found_by_sample(made, findings)
    own = sum(any(is_same(rule.id, other) for other in found) for found in ids)
    others = Counter(other for found in ids for other in found if not is_same(rule.id, other))
    said = f"finds {own} of {len(made)} samples made from its own regex"
    if instead := _instead(rule, made, findings):
        return Tried(passes=False, said=f"{said}: {instead}")
    if own:
        return Tried(passes=True, said=said)
    if others:
        return Tried(passes=True, said=f"{said}; they are reported as {few(list(others), 3)}")
    bare = single_candidate.sample_scanner.changed(repository, without_allowlists(single_candidate.subject.layers))
    hidden = any(any(is_same(rule.id, other) for other in found) for found in found_by_sample(made, bare))
    why = "an allowlist hides them" if hidden else reason_for_silence(rule) or "nothing else is known"
    return Tried(passes=False, said=f"{said}: {why}")


def _instead(rule: Rule, made: Sequence[Sample], findings: Findings) -> str:
    """Return what a rule of the user's reports that is not its value."""
    each = zip(made, reported_instead(made, findings), strict=True) if rule.own else ()
    return next((instead_text(rule, sample, secrets) for sample, secrets in each if secrets), "")


def newly_reported(single_candidate: SingleCandidate, rule: Rule, repository: RealRepository) -> Sequence[NewFile]:
    """Return what is reported in a repository for this rule alone: without it no rule reports the same place.

    It is cloned first and never scanned in place.

    Raises:
        EvaluationError: when it cannot be cloned, or a scan does not count.
    """
    folder = Path(tempfile.mkdtemp(prefix="clone-", dir=single_candidate.scanner.scratch))
    try:
        path = clone(
            repository, folder, single_candidate.scanner.timeout_seconds, at_most=single_candidate.clone_bytes
        ).path
        there = BuiltRepository(path, readable(path, single_candidate.scanner.timeout_seconds))
        with_it = _scanned(single_candidate, there, None)
        layers = without(single_candidate.subject.layers, [(rule.layer, rule.address)])
        before = {_spot(finding) for finding in _scanned(single_candidate, there, write_layers(layers, folder))}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    mine = [finding for finding in with_it if finding["RuleID"] == rule.id and _spot(finding) not in before]
    masks = masks_of((str(finding["File"]) for finding in mine), (str(finding["Secret"]) for finding in with_it))
    by_file: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for finding in mine:
        by_file[masks(str(finding["File"]))].append(finding)
    files = [
        NewFile(
            path,
            len({_spot(finding) for finding in found}),
            tuple(sorted({int(finding["StartLine"]) for finding in found})),
            tuple(dict.fromkeys(preview(str(finding["Secret"])) for finding in found)),
        )
        for path, found in by_file.items()
    ]
    return sorted(files, key=lambda file: (-file.places, file.path))


def _scanned(
    single_candidate: SingleCandidate, there: BuiltRepository, config: Path | None
) -> Sequence[Mapping[str, Any]]:
    scanner = replace(single_candidate.scanner, config=config or single_candidate.scanner.config)
    scan = scanner.scan(there.path)
    if problem := unread(scan, scanner.to_read(there)):
        raise EvaluationError(f"the scan does not count: {printable(problem)}")
    return scan.findings


def _spot(finding: Mapping[str, Any]) -> Spot:
    return str(finding["Commit"]), str(finding["File"]), int(finding["StartLine"])
