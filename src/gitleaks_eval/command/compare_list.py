"""`gitleaks-eval compare` with many repositories: a row each, what it amounts to, and a verdict a candidate."""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, told
from gitleaks_eval.command.extras import Table, dask_workers, table_maker
from gitleaks_eval.command.line import INTERRUPTED, TAKEN
from gitleaks_eval.command.list_options import SETTINGS
from gitleaks_eval.command.shard import shard_of
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.core.text import numbered, printable, shown_path
from gitleaks_eval.corpora.kinds.labels import files_by_repository
from gitleaks_eval.engine.earlier_reports import naming_output
from gitleaks_eval.engine.fleet import Fleet, Progress, Workers
from gitleaks_eval.engine.fleet_local import LocalWorkers
from gitleaks_eval.engine.fleet_run import Counted, LaidOut, laid_out, lines_to_change
from gitleaks_eval.engine.kinds import REPOS
from gitleaks_eval.engine.settings import Settings, read_settings, report_folder
from gitleaks_eval.engine.store import Files, Nowhere, Store, what_is_asked
from gitleaks_eval.engine.stores import files_at
from gitleaks_eval.reports.fleet import FleetReport, fleet_lines
from gitleaks_eval.reports.folder import ReportFolder, is_any
from gitleaks_eval.reports.real_differences import row_numbers
from gitleaks_eval.reports.report import FLEETS, SHARDS, TABLE
from gitleaks_eval.reports.repository_rows import Spool
from gitleaks_eval.reports.shards import is_of_shard, shard_pieces
from gitleaks_eval.repositories.hosts import CLONES_AT_ONCE
from gitleaks_eval.repositories.listed import read_list
from gitleaks_eval.scoring.comparison import failing_verdicts
from gitleaks_eval.scoring.fleet import RepositoryRow

NAME = "compare"
STORE = "comparison-store"
ALLOWED = {"binary", "version", "config", "args", "real_repo", "output", "scan_timeout", "compare", "fail_on"}
FIRST_DIFFERENCES, PROGRESS_SECONDS = 10, 10.0


def run(options: argparse.Namespace, foreign: Sequence[str]) -> int:
    """Compare the candidates on all repositories; the exit status is as of other comparisons.

    0 when the file of a shard was written, whatever is in it: the verdict is that of `merge`.
    """
    return told(NAME, lambda: _compared(options, foreign))


def _compared(options: argparse.Namespace, foreign: Sequence[str]) -> int:
    root = _root(options)
    reports = report_folder(root)
    with naming_output(reports):
        # Before anything is wrong; shards of one machine may be written to one folder.
        reports.forget(is_any if options.shard is None else is_no_shard)
    _refuse_others(options, foreign)
    shard = None if options.shard is None else shard_of(options.shard, os.environ)
    table = table_maker(asked=bool(options.parquet))
    clones = _number(options.clones_per_host, "--clones-per-host", CLONES_AT_ONCE)
    settings = _settings(root)
    given = settings.real_repositories
    assert given  # noqa: S101 - refused above
    listed = read_list(given.value, given.base, files_by_repository(settings.root))
    with laid_out(settings, listed, _say) as laid, tempfile.TemporaryFile(dir=laid.folder) as file:
        for title in laid.question.titles.values():
            _say(f"gitleaks-eval: {title}")
        with naming_output(settings.reports):
            settings.reports.make()
        store = Store(_files(options.store, laid), what_is_asked(laid.job, laid.question.pairs))
        workers = _workers(options.scheduler, laid, clones)
        ours = [one for one in listed.listed if shard is None or is_of_shard(one.number, *shard)]
        fleet = Fleet(ours, tuple(laid.question.pairs), store, workers)
        counted = Counted(laid.question, Spool(file))
        try:
            _work(fleet, counted)
        except KeyboardInterrupt:
            done = fleet.progress
            _say(f"stopped: {done.done} of {len(ours)} are done and kept; run the same again to go on")
            return INTERRUPTED
        laid.refuse_changed()
        if fleet.progress.unkept:
            _say(f"store: not everything could be kept: {fleet.progress.unkept}")
        lines = lines_to_change(settings, counted.judged())
        if shard is None:
            report = counted.report(lines)
            return finished(report, settings.reports, table, accepts_review=settings.accepts_review)
        pieces = shard_pieces(laid.question, shard, counted.rows(), lines)
        name = SHARDS[0].named(f"{shard[0]}-of-{shard[1]}")
        with naming_output(settings.reports):
            settings.reports.publish([(name, pieces)], lambda _: False)
        _say(f"shard {shard[0]} of {shard[1]}: {len(ours)} of {len(listed.listed)} repositories; no verdict before all")
        _say(f"merge: gitleaks-eval merge {shown_path(settings.output / name, Path.cwd())} …")
        return PASSED


def is_no_shard(name: str) -> bool:
    """Whether a report is removed by a run that needs the shards of others."""
    return not SHARDS[0].is_named(name)


def finished(report: FleetReport, reports: ReportFolder, table: Table | None, *, accepts_review: bool) -> int:
    """Write the reports, show the first screen, and say with which status it ends.

    `table` makes the content of repositories.parquet; None for no such file.

    Raises:
        InputError: when a report cannot be written.
    """
    with naming_output(reports):
        files = [(one.name, one.render(report, "")) for one in FLEETS]
        files += [(TABLE.name, table(report.rows()))] if table else []
        reports.publish(files, is_no_shard)
    for line in fleet_lines(report):
        _say(line)
    _say(f"report: {shown_path(reports.path / 'repositories.md', Path.cwd())}")
    failing = failing_verdicts(accepts_review=accepts_review)
    return FAILED if any(one.verdict in failing for one in report.judged) else PASSED


def _files(store: str | None, laid: LaidOut) -> Files:
    if laid.scripts:
        if store:
            raise InputError(
                f"--store: {laid.scripts[0]} is a script, and what it runs tomorrow nobody knows; leave it out"
            )
        _say(f"store: nothing is kept: {laid.scripts[0]} is a script, and what it runs tomorrow nobody knows")
        return Nowhere()
    settings = laid.job.settings
    return files_at(store, settings.root, settings.output / STORE)


def _work(fleet: Fleet, counted: Counted) -> None:
    """Count all rows, show the first that differ at once, and say now and then how far it is."""
    started = said = time.monotonic()
    shown = 0
    with contextlib.closing(fleet.rows()) as rows:
        for row in rows:
            counted.add(row)
            if (row.differs or row.problems) and shown < FIRST_DIFFERENCES:
                shown += 1
                for line in _row_lines(row):
                    _say(line)
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                _say(progress_line(fleet.progress, len(fleet.listed), said - started, counted.tallies_text()))
    _say(_done_line(fleet, time.monotonic() - started))


def _row_lines(row: RepositoryRow) -> Iterator[str]:
    for one in row.pairs:
        if one.real is None:
            yield f"real  {row.repository}  {one.candidate}: INCOMPLETE: {one.problem}"
        elif one.real.differs:
            yield f"real  {row.repository}  {one.candidate}: {row_numbers(one.real)}"


def progress_line(progress: Progress, total: int, seconds: float, found: str) -> str:
    """`412 of 10000 repositories, 37 a minute, about 4 h 19 min left; …`."""
    rate = progress.done / seconds * 60
    return f"{progress.done} of {total} repositories, {rate:.0f} a minute{_left(total - progress.done, rate)}; {found}"


def _left(repositories: int, rate: float) -> str:
    if not rate:
        return ""
    hours, minutes = divmod(round(repositories / rate), 60)
    if not hours and not minutes:
        return ", less than a minute left"
    return f", about {hours} h {minutes} min left" if hours else f", about {minutes} min left"


def _done_line(fleet: Fleet, seconds: float) -> str:
    progress = fleet.progress
    kept = f", {progress.known} of them known from the store" if progress.known else ""
    total = numbered(progress.done, "repository", "repositories")
    return f"{total}{kept}; {numbered(progress.units, 'unit')} run in {seconds:.0f} s"


def _workers(scheduler: str | None, laid: LaidOut, clones: int) -> Workers:
    if scheduler is not None:
        return dask_workers(scheduler, laid, clones)
    return LocalWorkers(laid.job, laid.folder, clones, laid.seconds_at_most)


def _refuse_others(options: argparse.Namespace, foreign: Sequence[str]) -> None:
    """Refuse what would not be looked at: nobody must believe that it was.

    Raises:
        InputError: naming it.
    """
    why = "many repositories are compared without a test session"
    if foreign:
        raise InputError(f"{printable(foreign[0])}: {why}; leave it out, or name one repository")
    # There is nothing else to leave out.
    allowed = {*ALLOWED, "only"} if options.gitleaks_only == REPOS else ALLOWED
    for one in TAKEN:
        if one.name not in allowed and getattr(options, one.setting):
            raise InputError(f"{one.short}: {why}, and it says nothing of them; leave it out, or name one repository")
    if not options.gitleaks_real_repo:
        named = next(name for name in SETTINGS if getattr(options, name) is not None)
        raise InputError(f"--{named.replace('_', '-')}: is for many repositories; name them with --repo @FILE")


def _root(options: argparse.Namespace) -> Root:
    here = Path.cwd()
    values = {**vars(options), "gitleaks_only": REPOS}
    return Root(here, None, lambda _: None, values.get, here)


def _settings(root: Root) -> Settings:
    settings = read_settings(root)
    if len(settings.candidates) < 2:
        raise InputError("there is one candidate alone; name two versions or configurations")
    return settings


def _number(text: str | None, option: str, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:7]) < 10**6):
        raise InputError(f"{option} {printable(text)}: write a number above zero")
    return int(text)


def _say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()
