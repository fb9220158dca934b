"""Why one of two candidates does not report what the other does: proven with changed configurations, or not said.

The scans are of an excerpt, and only what the one finds there and the other does not is looked into.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.entries import COMMIT
from gitleaks_eval.coverage.layers import Layers
from gitleaks_eval.coverage.separating import by_number, hidden_alone
from gitleaks_eval.engine.clones import shared_clone
from gitleaks_eval.engine.excerpt import Files, Known, build_excerpt, files_of, known
from gitleaks_eval.engine.real_side import Side, side_of
from gitleaks_eval.engine.session import Session
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scenarios.scenario import RealRepository
from gitleaks_eval.scoring.real_differences import LOST, NEW, RELABELLED, Change, RealFinding, still_reported

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

    What cannot be looked into, or not in time, has none: it is a difference all the same.
    """
    causes = {change: f"reported as {rule} alone" for change, rule in still_reported(found, sides[0], sides[1]).items()}
    causes |= _relabelled(session, names, repository, [one for one in found if one.kind == RELABELLED])
    for kind, finder, missing in ((LOST, names[0], names[1]), (NEW, names[1], names[0])):
        unproven = [change for change in found if change.kind == kind and change not in causes]
        if unproven:
            proven = _causes_of_missing(session, repository, finder, missing, [one.finding for one in unproven])
            causes.update({change: proven[key] for change in unproven if (key := _exactly(change.finding)) in proven})
    return causes


def _relabelled(
    session: Session, names: tuple[str, str], repository: RealRepository, found: Sequence[Change]
) -> dict[Change, str]:
    causes: dict[Change, str] = {}
    if not found:
        return causes
    with tempfile.TemporaryDirectory(prefix="causes-", dir=session.folder) as folder:
        before, after = (side_of(session, name, repository, Path(folder)) for name in names)
    for change in found:
        old, new = (one.rule_id if one else "" for one in (change.baseline, change.candidate))
        if alias_of(old, new):
            causes[change] = "one rule, renamed"
        elif old not in after.rules and not after.subject.builtin_problem:
            causes[change] = after.without_rule(old)
        elif new not in before.rules and not before.subject.builtin_problem:
            causes[change] = before.without_rule(new)
    return causes


Exactly = tuple[str, Known]


def _exactly(one: RealFinding) -> Exactly:
    return one.commit, known(one)


def _causes_of_missing(
    session: Session, repository: RealRepository, finder: str, missing: str, findings: Sequence[RealFinding]
) -> dict[Exactly, str]:
    """Why the candidate `missing` does not report what `finder` does."""
    with tempfile.TemporaryDirectory(prefix="causes-", dir=session.folder) as folder:
        sides = [side_of(session, name, repository, Path(folder)) for name in (finder, missing)]
        causes = _told(sides[0], sides[1], findings)
        rest = [one for one in findings if _exactly(one) not in causes]
        if rest:
            search = _Search(sides[0], sides[1], Path(folder))
            # What is proven by the time that something fails stays.
            with contextlib.suppress(EvaluationError, InputError, OSError):
                clone = shared_clone(session.workbench(missing).bench, repository)
                search.look(files_of(clone.path, rest, session.settings.timeout_seconds), set(map(known, rest)))
            causes |= {_exactly(one): search.proven[known(one)] for one in rest if known(one) in search.proven}
        return causes


def _told(finder: Side, missing: Side, findings: Sequence[RealFinding]) -> dict[Exactly, str]:
    """What the two sides' own words prove, without a scan."""
    causes: dict[Exactly, str] = {}
    rules = {rule.id for rule in missing.subject.effective.rules}
    commits = {entry.text: entry for entry in missing.entries if entry.kind == COMMIT}
    for one in findings:
        if finder.scanner.mode != missing.scanner.mode:
            causes[_exactly(one)] = f"mode {finder.scanner.mode}, and mode {missing.scanner.mode} with {missing.name}"
        elif one.decoded and missing.depth is None:
            causes[_exactly(one)] = f"{missing.name} does not decode"
        elif one.decoded and missing.depth == 0:
            causes[_exactly(one)] = _depths(finder, missing)
        elif not missing.subject.builtin_problem and one.rule_id not in rules:
            causes[_exactly(one)] = missing.without_rule(one.rule_id)
        elif entry := commits.get(one.commit):
            causes[_exactly(one)] = f"hidden by {missing.title(entry)}"
    return causes


@dataclass(slots=True)
class _Search:
    """What is proven so far, by scanning an excerpt in `folder`."""

    finder: Side
    missing: Side
    folder: Path
    proven: dict[Known, str] = field(default_factory=dict)

    def look(self, files: Files, wanted: set[Known]) -> None:
        """Prove what can be proven of what is wanted, from the likely to the last resort."""
        excerpt = build_excerpt(files, self.folder / "excerpt")
        wanted = wanted & self.finder.seen(excerpt) - self.missing.seen(excerpt)
        self._depth(excerpt, wanted)
        self._entries(excerpt, self._open(wanted))
        self._definitions(excerpt, self._open(wanted))
        self._paths(files, self._open(wanted))
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
        titled = self.missing.titled({rule for _, rule, _ in wanted})
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
        rules = {rule for _, rule, _ in wanted}
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
        except EvaluationError:
            # A regex or key of the other version may be one that this one refuses.
            return
        self.proven.update(dict.fromkeys(self._open(wanted) & seen, text))

    def _paths(self, files: Files, wanted: set[Known]) -> None:
        """Say which files the candidate passes over: under a name without its ending the same text is found."""
        paths = {path for path, _, _ in wanted}
        if not paths:
            return
        there = {path: contents for path, contents in files.items() if path in paths}
        excerpt = build_excerpt(there, self.folder / "renamed", _plain)
        seen = self.missing.seen(excerpt)
        for one in wanted:
            if (_plain(one[0]), *one[1:]) in seen:
                what = PurePosixPath(one[0]).suffix or PurePosixPath(one[0]).name
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
    doubtful = dict.fromkeys(title for told in found.values() if len(told) > 1 for title in told)
    confirmed = {title: set(ask([title])) for title in doubtful}
    return {
        one: told if len(told) < 2 else [title for title in told if one in confirmed[title]]
        for one, told in found.items()
    }
