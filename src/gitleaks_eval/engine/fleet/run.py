"""A run over a list of repositories: laid out once, worked on row by row, and what it amounts to."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.config.cause_lines import Lines, lines_of
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.private_folder import check_room, private_folder, sweep
from gitleaks_eval.engine.fleet.store import what_is_asked
from gitleaks_eval.engine.fleet.unit import NOTHING, Job
from gitleaks_eval.engine.scan.scans import prove, scanner_of
from gitleaks_eval.engine.scan.shared import Bench
from gitleaks_eval.engine.session.approvals import identity
from gitleaks_eval.engine.session.begin import find_scanners, lay_out
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.reports.fleet.repository_rows import Spool, row_line
from gitleaks_eval.reports.fleet.shards import Question
from gitleaks_eval.reports.fleet.summary import FleetReport, LineKey
from gitleaks_eval.repositories.listed import RepositoryList
from gitleaks_eval.scanners.canary import canary_secrets
from gitleaks_eval.scoring.fleet import Judged, RepositoryRow, Tally
from gitleaks_eval.scoring.real_differences import LOST, NEW

# What a unit does beside its scans: clone, count, look for causes.
CAUSE_SECONDS = 180


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A run whose scanners are found and have found the canary; `folder` is its private one."""

    job: Job
    folder: Path
    question: Question

    @property
    def scripts(self) -> list[str]:
        """The candidates whose scanner is a script: what it runs may be another program tomorrow."""
        return [name for name, bench in self.job.shared.benches.items() if not scanner_of(bench).build.copy]

    def refuse_changed(self) -> None:
        """Look whether what has run is what was asked for.

        Raises:
            EvaluationError: when a scanner was changed meanwhile.
        """
        for name, bench in self.job.shared.benches.items():
            if problem := scanner_of(bench).build.changed():
                raise EvaluationError(f"{name}: {problem}")

    @property
    def seconds_at_most(self) -> float:
        """How long a unit may take: all that it runs has a limit of its own, and this is more than their sum."""
        candidates = len(self.job.settings.candidates)
        return self.job.settings.timeout_seconds * (2 + 4 * candidates) + CAUSE_SECONDS * candidates


@contextmanager
def laid_out(settings: Settings, listed: RepositoryList, progress: Callable[[str], None]) -> Iterator[LaidOut]:
    """Find the scanners, have each find the canary, and make what all units have in common.

    Raises:
        EvaluationError: when there is no scanner, or one fails the canary: nothing that it reports can be believed.
    """
    check_room()
    sweep()
    with private_folder() as folder:
        found = find_scanners(settings, progress, folder)
        for one in found:
            if one.build is None:
                raise EvaluationError(f"{one.candidate.name}: {one.error or 'there is no scanner'}")
        shared = lay_out(settings, found, folder, [""] * len(found))
        job = Job(settings, shared)
        for name, bench in shared.benches.items():
            _find_canary(name, bench)
        session = Session(settings, NOTHING, shared)
        names = [candidate.name for candidate in settings.candidates]
        # An approval of what a repository's own configuration does is pinned to that, which is not known here.
        owns = {
            candidate.name
            for candidate in settings.candidates
            if candidate.configuration and candidate.configuration.own
        }
        identities = {name: "" if name in owns else identity(session, name) or "" for name in names}
        titles = {one.candidate.name: one.title(settings.root) for one in found}
        pairs = [(names[0], name) for name in names[1:]]
        asked = what_is_asked(job, pairs)
        approvals = [
            approval
            for beside in session.all_beside()
            for approval in beside.approvals
            if any((approval.baseline, approval.candidate) == (identities[b], identities[c]) for b, c in pairs)
        ]
        question = Question(
            len(listed.listed),
            listed.sha256,
            hashlib.sha256(json.dumps(list(asked.values())).encode()).hexdigest(),
            tuple((name, titles[name], identities[name]) for name in names),
            tuple(dict.fromkeys(approvals)),
        )
        yield LaidOut(job, folder, question)


def _find_canary(name: str, bench: Bench) -> None:
    try:
        prove(bench, canary_secrets(()))
    except EvaluationError as error:
        raise EvaluationError(f"{name}: {error}") from None


class Counted:
    """Rows as they come: counted a candidate, kept in a file, and given to `show` as lines."""

    def __init__(self, question: Question, spool: Spool, show: Callable[[bytes], object] = lambda _: None) -> None:
        self.question = question
        self.tallies = [Tally(*pair) for pair in question.pairs]
        self._spool = spool
        self._show = show

    def add(self, row: RepositoryRow, line: bytes = b"") -> None:
        """Count a row, and keep its line.

        Raises:
            EvaluationError: when it cannot be kept.
        """
        for tally, pair in zip(self.tallies, row.pairs, strict=True):
            tally.add(row, pair)
        line = line or row_line(row)
        self._show(line)
        try:
            self._spool.add(row.number, line)
        except OSError as error:
            raise EvaluationError(f"TMPDIR: {error.strerror or error}; make room; what is known is kept") from None

    def rows(self) -> Iterator[bytes]:
        """Return the lines of all rows, in the order of the list."""
        return self._spool.lines()

    def tallies_text(self) -> str:
        """Return how many repositories get new alerts and lose findings so far, the worst candidate's."""
        alerted = max(tally.alerted.total() for tally in self.tallies)
        losing = max(tally.losing.total() for tally in self.tallies)
        return f"{alerted} with new alerts, {losing} lose findings"

    def judged(self) -> list[Judged]:
        """Return the verdict on each candidate."""
        identities = self.question.identities
        return [
            tally.judged(self.question.approvals, (identities[tally.baseline], identities[tally.candidate]))
            for tally in self.tallies
        ]

    def report(self, lines: Mapping[LineKey, Sequence[str]]) -> FleetReport:
        """Return what it all amounts to.

        Raises:
            EvaluationError: when a repository of the list was not counted: that would be a fault of ours.
        """
        for tally in self.tallies:
            if tally.total != self.question.total:
                raise EvaluationError(f"{tally.total} of {self.question.total} repositories were counted; report this")
        return FleetReport(self.question.total, self.question.candidates, self.judged(), self.rows, lines)


def lines_to_change(settings: Settings, judged: Iterable[Judged]) -> dict[LineKey, Sequence[str]]:
    """Return the lines of configurations that would change each group of differences."""
    sides = {candidate.name: Lines(candidate.configuration, settings.root) for candidate in settings.candidates}
    found: dict[LineKey, Sequence[str]] = {}
    for one in judged:
        pair = one.tally.baseline, one.tally.candidate
        for group in one.groups:
            # What is new was not reported by the baseline.
            missing, finder = (sides[name] for name in (pair[::-1] if group.kind != NEW else pair))
            lines = lines_of(group.cause, [group.rule_id], missing, finder)
            if lines and group.kind in {LOST, NEW}:
                found[(*pair, group.kind, group.cause, group.rule_id)] = lines
    return found
