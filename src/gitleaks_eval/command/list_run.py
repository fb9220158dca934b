"""A run over many repositories as a subcommand asks for it: what its line says, and its rows as they come."""

import argparse
import contextlib
import time
from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gitleaks_eval.command.asking import say
from gitleaks_eval.command.line import LIST_SETTINGS, TAKEN
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.core.text import numbered, printable
from gitleaks_eval.corpora.kinds.labels import files_by_repository
from gitleaks_eval.engine.fleet.fleet import Fleet, Progress, Workers
from gitleaks_eval.engine.fleet.local import LocalWorkers
from gitleaks_eval.engine.fleet.run import Counted, LaidOut
from gitleaks_eval.engine.fleet.store import Files, Nowhere, Store, what_is_asked
from gitleaks_eval.engine.fleet.stores import files_at
from gitleaks_eval.engine.settings.selection import REPOS
from gitleaks_eval.engine.settings.settings import Settings, read_settings
from gitleaks_eval.reports.comparison.real_differences import row_numbers
from gitleaks_eval.reports.output.folder import naming_output
from gitleaks_eval.repositories.listed import Listed, RepositoryList, read_list
from gitleaks_eval.repositories.sources import CLONES_AT_ONCE
from gitleaks_eval.scoring.fleet import RepositoryRow

STORE = "comparison-store"
ALLOWED = frozenset(
    {"binary", "version", "config", "args", "real_repo", "output", "scan_timeout", "compare", "fail_on"}
)
FIRST_DIFFERENCES, PROGRESS_SECONDS = 10, 10.0


class Where(NamedTuple):
    """Where comparisons are kept, and made, and how many repositories are cloned from one host at once."""

    store: str | None
    scheduler: str | None
    clones: int


def where(options: argparse.Namespace) -> Where:
    """Return what a line says of that.

    Raises:
        InputError: when a number is none.
    """
    clones = _number(options.clones_per_host, "--clones-per-host", CLONES_AT_ONCE)
    return Where(options.store, options.scheduler, clones)


def count_all(laid: LaidOut, repositories: Sequence[Listed], asked: Where, counted: Counted) -> bool:
    """Compare these repositories, show what is to show meanwhile, and count them; whether nobody has stopped it.

    Raises:
        EvaluationError: when a row cannot be kept, or a scanner was changed meanwhile.
        InputError: when there is no such store, or nobody at the address of the scheduler.
    """
    settings = laid.job.settings
    for title in laid.question.titles.values():
        say(f"gitleaks-eval: {title}")
    with naming_output(settings.reports):
        settings.reports.make()
    store = Store(_files(asked.store, laid), what_is_asked(laid.job, laid.question.pairs))
    fleet = Fleet(repositories, tuple(laid.question.pairs), store, _workers(asked, laid))
    try:
        _work(fleet, counted)
    except KeyboardInterrupt:
        say(f"stopped: {fleet.progress.done} of {len(repositories)} are done and kept; run the same again to go on")
        return False
    laid.refuse_changed()
    if fleet.progress.unkept:
        say(f"store: not everything could be kept: {fleet.progress.unkept}")
    return True


def _files(store: str | None, laid: LaidOut) -> Files:
    if laid.scripts:
        if store:
            raise InputError(
                f"--store: {laid.scripts[0]} is a script, and what it runs tomorrow nobody knows; leave it out"
            )
        say(f"store: nothing is kept: {laid.scripts[0]} is a script, and what it runs tomorrow nobody knows")
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
                    say(line)
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                say(progress_line(fleet.progress, len(fleet.listed), said - started, counted.tallies_text()))
    say(_done_line(fleet, time.monotonic() - started))


def _row_lines(row: RepositoryRow) -> Iterator[str]:
    for pair in row.pairs:
        if pair.real is None:
            yield f"real  {row.repository}  {pair.candidate}: INCOMPLETE: {pair.problem}"
        elif pair.real.differs:
            yield f"real  {row.repository}  {pair.candidate}: {row_numbers(pair.real)}"


def progress_line(progress: Progress, total: int, seconds: float, found: str) -> str:
    """Return a line such as `412 of 10000 repositories, 37 a minute, about 4 h 19 min left; …`."""
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


def _workers(asked: Where, laid: LaidOut) -> Workers:
    if asked.scheduler is not None:
        module = with_extra("gitleaks_eval.engine.fleet.dask", "distributed", "--scheduler: needs Dask", "dask")
        workers: Workers = module.DaskWorkers(asked.scheduler, laid.job, asked.clones, laid.seconds_at_most)
        return workers
    return LocalWorkers(laid.job, laid.folder, asked.clones, laid.seconds_at_most)


def with_extra(module: str, package: str, problem: str, extra: str) -> Any:
    """Import a module that needs an extra.

    Raises:
        InputError: naming the extra, when its package is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
    raise InputError(f"{problem}; pip install 'gitleaks-eval[{extra}]'")


def refuse_others(options: argparse.Namespace, foreign: Sequence[str], allowed: Collection[str] = ALLOWED) -> None:
    """Refuse what would not be looked at: nobody must believe that it was.

    Raises:
        InputError: naming it.
    """
    why = "many repositories are compared without a test session"
    if foreign:
        raise InputError(f"{printable(foreign[0])}: {why}; leave it out, or name one repository")
    # There is nothing else to leave out.
    allowed = {*allowed, "only"} if options.gitleaks_only == REPOS else allowed
    for option in TAKEN:
        if option.name not in allowed and getattr(options, option.setting):
            raise InputError(
                f"{option.short}: {why}, and it says nothing of them; leave it out, or name one repository"
            )
    if not options.gitleaks_real_repo:
        named = next(name for name in LIST_SETTINGS if getattr(options, name) is not None)
        raise InputError(f"--{named.replace('_', '-')}: is for many repositories; name them with --repo @FILE")


def root_of(options: argparse.Namespace) -> Root:
    """Return the root of a line: this folder, with no other settings than those of the line."""
    return Root.of_options({**vars(options), "gitleaks_only": REPOS}, Path.cwd())


def list_settings(root: Root) -> Settings:
    """Return the settings of a run over many repositories.

    Raises:
        InputError: when one is wrong on sight, or there is one candidate alone.
    """
    settings = read_settings(root)
    if len(settings.candidates) < 2:
        raise InputError("there is one candidate alone; name two versions or configurations")
    return settings


def listed_in(settings: Settings) -> RepositoryList:
    """Return the repositories that the settings of a run name, with the files of labels that the project has of them.

    Raises:
        InputError: when the list or a file of labels cannot be read or is wrong.
    """
    given = settings.real_repositories
    assert given  # noqa: S101 - `refuse_others` has refused a line without any
    return read_list(given.value, given.base, files_by_repository(settings.root))


def _number(text: str | None, option: str, default: int) -> int:
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:7]) < 10**6):
        raise InputError(f"{option} {printable(text)}: write a number above zero")
    return int(text)
