"""Why one of two candidates does not report what the other does: proven with changed configurations, or not said.

The scans are of an excerpt, and only what the one finds there and the other does not is looked into.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.configuration.layers import Layers
from gitleaks_eval.coverage.samples.group_testing import by_number, hidden_alone
from gitleaks_eval.engine.real.excerpt import ANY_LINE, Files, Known, build_excerpt, files_of
from gitleaks_eval.engine.real.side import Budget, OutOfBudgetError, Side, side_of
from gitleaks_eval.engine.scan.clones import shared_clone
from gitleaks_eval.engine.scan.masks import masks_made
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scenarios.redaction import Masks
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.real_differences import (
    LOST,
    MOVED,
    NEW,
    NOT_SEARCHED,
    REATTRIBUTED,
    RELABELLED,
    SEVERITY_CHANGED,
    Change,
    RealFinding,
    still_reported,
)

# A gate must end: what is not proven with so many scans of excerpts, of one pair in one repository, is not searched.
SCANS_IN_ALL = 240
# What a rule is made of, but for its allowlists, which are entries.
KEYS = ("regex", "entropy", "keywords", "path", "secretGroup")


def causes_of(
    session: Session,
    names: tuple[str, str],
    repository: RealRepository,
    found: Sequence[Change],
    sides: Sequence[Sequence[RealFinding]],
) -> dict[Change, str]:
    """The cause of each difference that can be proven, as people read it.

    What cannot be looked into has none: it is a difference all the same. What the budget of scans ended before is said.
    """
    causes = {change: f"reported as {rule} alone" for change, rule in still_reported(found, sides[0], sides[1]).items()}
    causes |= {change: text for change in found if (text := stated(change, names))}
    masks = masks_made(session.workbench(names[0]).bench, repository.name)
    raw = {shown: text for text, shown in masks.shown.items()}
    budget, unsearched = Budget(SCANS_IN_ALL), set[Change]()
    for kind, finder, is_last in _QUESTIONS:
        asked = {
            change: _asked(change, finder, raw) for change in found if change.kind == kind and change not in causes
        }
        if asked:
            question = _Question(kind, names[finder], names[1 - finder], masks, is_last, budget)
            proven = _causes_of_missing(session, repository, question, list(asked.values()))
            causes |= {change: proven[one] for change, one in asked.items() if one in proven}
            unsearched |= asked.keys() if budget.is_spent else set()
    said = f"{NOT_SEARCHED}: budget of {SCANS_IN_ALL} scans"
    return {**dict.fromkeys(unsearched, said), **causes}


def stated(change: Change, names: tuple[str, str]) -> str:
    """What the two findings say themselves."""
    old, new = change.baseline, change.candidate
    if old is None or new is None:
        return ""
    if change.kind == REATTRIBUTED:
        return f"{names[bool(old.compared_commit)]} names a neighbouring commit without a diff (upstream #1333)"
    if change.kind == RELABELLED and alias_of(old.rule_id, new.rule_id):
        return "one rule, renamed"
    # The policy knows rule, path and whether it is in HEAD, and the first two are the same.
    if change.kind == SEVERITY_CHANGED and old.in_head != new.in_head:
        in_head, history = names if old.in_head else reversed(names)
        return f"the severity policy: in HEAD with {in_head}, in history alone with {history}"
    return ""


# For each kind, the side that has found what the other does not report. What has another rule is asked of both sides,
# and only the last time whether it is the scanner's own doing.
_QUESTIONS = ((LOST, 0, True), (NEW, 1, True), (MOVED, 0, True), (RELABELLED, 0, False), (RELABELLED, 1, True))


class _Question(NamedTuple):
    """Why the candidate `missing` does not report what `finder` does; where it `is_last` the scanner may be it."""

    kind: str
    finder: str
    missing: str
    masks: Masks
    is_last: bool
    budget: Budget


class _Asked(NamedTuple):
    """A finding of one side as the scanner has it, and what it is looked for by.

    What only stands on another line is looked for on its line.
    """

    finding: RealFinding
    known: Known


def _asked(change: Change, finder: int, raw: Mapping[str, str]) -> _Asked:
    sides = change.baseline, change.candidate
    one, other = sides[finder], sides[1 - finder]
    assert one is not None  # noqa: S101 - only what a side has found is asked of it
    path = raw.get(one.file_path, one.file_path)
    one = one._replace(file_path=path)
    line = one.line_number if change.kind == MOVED and other and other.value == one.value else ANY_LINE
    return _Asked(one, Known(path, one.rule_id, one.value, line))


def _causes_of_missing(
    session: Session, repository: RealRepository, question: _Question, asked: Sequence[_Asked]
) -> dict[_Asked, str]:
    with tempfile.TemporaryDirectory(prefix="causes-", dir=session.folder) as folder:
        names = (question.finder, question.missing)
        finder, missing = (side_of(session, name, repository, Path(folder), question.budget) for name in names)
        causes = {one: text for one in asked if (text := _told(finder, missing, one.finding))}
        rest = [one for one in asked if one not in causes]
        if rest:
            search = _Search(finder, missing, Path(folder), question.masks)
            # What is proven by the time that something fails stays.
            with contextlib.suppress(EvaluationError, InputError, OSError):
                clone = shared_clone(session.workbench(question.missing).bench, repository)
                files = files_of(
                    clone.path, [(one.finding.commit, one.known) for one in rest], session.settings.timeout_seconds
                )
                search.look(files, {one.known for one in rest}, is_last=question.is_last)
            proven = {one: search.proven[one.known] for one in rest if one.known in search.proven}
            # Both rules may be there with both.
            prefixed = question.kind == RELABELLED
            causes |= {
                one: f"{one.known.rule_id} with {missing.name}: {text}" if prefixed else text
                for one, text in proven.items()
            }
        return causes


def _told(finder: Side, missing: Side, one: RealFinding) -> str:
    """What the two sides' own words prove, without a scan."""
    if finder.scanner.mode != missing.scanner.mode:
        return f"mode {finder.scanner.mode}, and mode {missing.scanner.mode} with {missing.name}"
    if one.decoded and missing.depth is None:
        return f"{missing.name} does not decode"
    if one.decoded and missing.depth == 0:
        return _depths(finder, missing)
    if not missing.subject.builtin_problem and one.rule_id not in missing.rules:
        return missing.without_rule(one.rule_id)
    if entry := missing.commits.get(one.commit):
        return f"hidden by {missing.title(entry)}"
    return ""


@dataclass(slots=True)
class _Search:
    """What is proven so far, by scanning an excerpt in `folder`."""

    finder: Side
    missing: Side
    folder: Path
    masks: Masks
    proven: dict[Known, str] = field(default_factory=dict)

    def look(self, files: Files, wanted: set[Known], *, is_last: bool) -> None:
        """Prove what can be proven of what is wanted, from the likely to the last resort, the scanner itself."""
        excerpt = build_excerpt(files, self.folder / "excerpt")
        wanted = wanted & self.finder.seen(excerpt) - self.missing.seen(excerpt)
        self._depth(excerpt, wanted)
        self._entries(excerpt, self._open(wanted))
        self._definitions(excerpt, self._open(wanted))
        self._paths(files, self._open(wanted))
        if is_last:
            self._engine(excerpt, self._open(wanted))

    def _open(self, wanted: set[Known]) -> set[Known]:
        return wanted - self.proven.keys()

    def _depth(self, excerpt: BuiltRepository, wanted: set[Known]) -> None:
        if not wanted or self.missing.depth in {None, self.finder.depth} or self.finder.depth is None:
            return
        seen = self.missing.with_depth(self.finder.depth).seen(excerpt)
        self.proven.update(dict.fromkeys(wanted & seen, _depths(self.finder, self.missing)))

    def _entries(self, excerpt: BuiltRepository, wanted: set[Known]) -> None:
        """Name the entries that hide a finding when all the others are removed."""
        titled = self.missing.titled({one.rule_id for one in wanted})
        if not wanted or not titled:
            return
        hidden = wanted & self.missing.seen(excerpt, self.missing.without(titled))
        if not hidden:
            return

        def ask(group: Sequence[str]) -> set[Known]:
            others = [title for title in titled if title not in group]
            return hidden - self.missing.seen(excerpt, self.missing.without(others))

        alone = _hidden_alone(list(titled), hidden, ask)
        for one in hidden:
            titles = " and by ".join(alone[one])
            self.proven[one] = f"hidden by {titles}" if titles else f"hidden by several entries of {self.missing.name}"

    def _definitions(self, excerpt: BuiltRepository, wanted: set[Known]) -> None:
        """Name the key of a rule that brings a finding back when it is as the finder has it."""
        rules = {one.rule_id for one in wanted}
        for key in KEYS:
            layers = self.missing.with_keys_of(self.finder, rules, (key,)) if rules else None
            self._try(excerpt, wanted, layers, f"another {key} of the rule")
        if rules:
            layers = self.missing.with_keys_of(self.finder, rules, KEYS)
            self._try(excerpt, self._open(wanted), layers, "another definition of the rule")
            layers = self.missing.with_rules_of(self.finder, rules)
            self._try(excerpt, self._open(wanted), layers, "another definition of the rule, with its allowlists")

    def _try(self, excerpt: BuiltRepository, wanted: set[Known], layers: Layers | None, text: str) -> None:
        if not self._open(wanted) or layers is None:
            return
        try:
            seen = self.missing.seen(excerpt, layers)
        except OutOfBudgetError:
            raise
        except EvaluationError:
            # A regex or key of the other version may be one that this one refuses.
            return
        self.proven.update(dict.fromkeys(self._open(wanted) & seen, text))

    def _paths(self, files: Files, wanted: set[Known]) -> None:
        """Say which files the candidate passes over: under a name without its ending the same text is found."""
        paths = {one.path for one in wanted}
        if not paths:
            return
        there = {path: contents for path, contents in files.items() if path in paths}
        excerpt = build_excerpt(there, self.folder / "renamed", _plain)
        seen = self.missing.seen(excerpt)
        for one in wanted:
            if one._replace(path=_plain(one.path)) in seen:
                shown = PurePosixPath(self.masks(one.path))
                what = shown.suffix or shown.name
                self.proven[one] = printable(f"{self.missing.name} passes over {what} files")
        shutil.rmtree(self.folder / "renamed", ignore_errors=True)

    def _engine(self, excerpt: BuiltRepository, wanted: set[Known]) -> None:
        """Say what is the scanner's own doing: with all that the other is configured with it finds no more."""
        if not wanted:
            return
        try:
            seen = self.missing.seen(excerpt, self.finder.whole())
        except EvaluationError:
            return
        self.proven.update(dict.fromkeys(wanted & seen, "several differences of the configurations together"))
        if self.finder.scanner.build.sha256 != self.missing.scanner.build.sha256:
            text = f"{self.missing.name} itself: the configuration of {self.finder.name} does not bring it back"
            self.proven.update(dict.fromkeys(wanted - seen, text))


def _depths(finder: Side, missing: Side) -> str:
    return f"decode depth {missing.depth} with {missing.name}, {finder.depth} with {finder.name}"


def _plain(path: str) -> str:
    return f"excerpt/{PurePosixPath(path).name.replace('.', '_')}.txt"


def _hidden_alone(
    titles: Sequence[str], hidden: set[Known], ask: Callable[[Sequence[str]], Collection[Known]]
) -> dict[Known, list[str]]:
    """By finding, the titles that hide it when all others are removed."""
    found = hidden_alone(titles, dict.fromkeys(hidden, titles), ask, by_number(titles))
    # Two that hide one finding make others look as if they did: those are asked alone.
    doubtful = {title for told in found.values() if len(told) > 1 for title in told}
    # In their own order: which of them a spent budget leaves out must not differ from run to run.
    confirmed = {title: set(ask([title])) for title in titles if title in doubtful}
    return {
        one: told if len(told) < 2 else [title for title in told if one in confirmed[title]]
        for one, told in found.items()
    }
