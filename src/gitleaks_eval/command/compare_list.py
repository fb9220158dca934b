"""`gitleaks-eval compare` with many repositories: a row each, what it amounts to, and a verdict a candidate."""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, say, told
from gitleaks_eval.command.line import INTERRUPTED
from gitleaks_eval.command.list_run import (
    count_all,
    list_settings,
    listed_in,
    refuse_others,
    root_of,
    where,
    with_extra,
)
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.text import printable, shown_path
from gitleaks_eval.engine.fleet.run import Counted, laid_out, lines_to_change
from gitleaks_eval.engine.settings.settings import report_folder
from gitleaks_eval.reports.fleet.repository_rows import Spool
from gitleaks_eval.reports.fleet.shards import is_of_shard, shard_pieces
from gitleaks_eval.reports.fleet.summary import FleetReport, fleet_lines
from gitleaks_eval.reports.output.folder import ReportFolder, is_any, naming_output, streamed
from gitleaks_eval.reports.output.report import FLEETS, ROWS, SHARDS, TABLE
from gitleaks_eval.scoring.comparison import failing_verdicts

NAME = "compare"
Table = Callable[[Iterable[bytes]], Iterator[bytes]]
# The number of a job and how many there are, as CI systems say it; from which number they count.
CI_VARIABLES = (
    ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1),
    ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0),
    ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0),
    ("SYSTEM_JOBPOSITIONINPHASE", "SYSTEM_TOTALJOBSINPHASE", 1),
    # Kubernetes says the number of an indexed job; the recipe in the docs says how many there are.
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0),
)


def run(options: argparse.Namespace, foreign: Sequence[str]) -> int:
    """Compare the candidates on all repositories; the exit status is as of other comparisons.

    0 when the file of a shard was written, whatever is in it: the verdict is that of `merge`.
    """
    return told(NAME, lambda: _compared(options, foreign))


def _compared(options: argparse.Namespace, foreign: Sequence[str]) -> int:
    root = root_of(options)
    reports = report_folder(root)
    with naming_output(reports):
        # Before anything is wrong; shards of one machine may be written to one folder.
        reports.forget(is_any if options.shard is None else is_no_shard)
    refuse_others(options, foreign)
    shard = None if options.shard is None else shard_of(options.shard, os.environ)
    table = table_maker(asked=bool(options.parquet))
    asked = where(options)
    settings = list_settings(root)
    listed = listed_in(settings)
    name = SHARDS[0].named(f"{shard[0]}-of-{shard[1]}") if shard else ROWS
    with ExitStack() as stack:
        laid = stack.enter_context(laid_out(settings, listed, say))
        file = stack.enter_context(tempfile.TemporaryFile(dir=laid.folder))
        with naming_output(settings.reports):
            settings.reports.make()
            write = stack.enter_context(streamed(settings.reports, name))
        ours = [repository for repository in listed.listed if shard is None or is_of_shard(repository.number, *shard)]
        counted = Counted(laid.question, Spool(file), partial(_shown, settings.reports, write))
        if not count_all(laid, ours, asked, counted):
            return INTERRUPTED
        lines = lines_to_change(settings, counted.judged())
        if shard is None:
            report = counted.report(lines)
            return finished(report, settings.reports, table, accepts_review=settings.accepts_review)
        pieces = shard_pieces(laid.question, shard, counted.rows(), lines)
        with naming_output(settings.reports):
            settings.reports.publish([(name, pieces)], lambda _: False)
        say(f"shard {shard[0]} of {shard[1]}: {len(ours)} of {len(listed.listed)} repositories; no verdict before all")
        say(f"merge: gitleaks-eval merge {shown_path(settings.output / name, Path.cwd())} …")
        return PASSED


def _shown(reports: ReportFolder, write: Callable[[bytes], object], line: bytes) -> None:
    with naming_output(reports):
        write(line)


def is_no_shard(name: str) -> bool:
    """Return whether a report is removed by a run that needs the shards of others."""
    return not SHARDS[0].is_named(name)


def finished(report: FleetReport, reports: ReportFolder, table: Table | None, *, accepts_review: bool) -> int:
    """Write the reports, show the first screen, and say with which status it ends.

    `table` makes the content of repositories.parquet; None for no such file.

    Raises:
        InputError: when a report cannot be written.
    """
    with naming_output(reports):
        files = [(fleet_report.name, fleet_report.render(report, "")) for fleet_report in FLEETS]
        files += [(TABLE.name, table(report.rows()))] if table else []
        reports.publish(files, is_no_shard)
    for line in fleet_lines(report):
        say(line)
    say(f"report: {shown_path(reports.path / 'repositories.md', Path.cwd())}")
    failing = failing_verdicts(accepts_review=accepts_review)
    return FAILED if any(judged.verdict in failing for judged in report.judged) else PASSED


def table_maker(*, asked: bool) -> Table | None:
    """Return what makes repositories.parquet; None where it is not asked for.

    Raises:
        InputError: when pyarrow is not installed.
    """
    if not asked:
        return None
    module = with_extra("gitleaks_eval.reports.fleet.parquet", "pyarrow", "--parquet: needs pyarrow", "parquet")
    made: Table = module.parquet_pieces
    return made


def shard_of(text: str, environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the number of a shard, from 1, and how many there are: `2/3`, or where it is empty what the CI says.

    Raises:
        InputError: when there is no such shard, or no variable says it.
    """
    if not text:
        return _shard_of_ci(environment)
    number, separator, total = text.partition("/")
    if not separator or not _is_shard(number, total):
        raise InputError(f"--shard {printable(text)}: write K/N, such as 2/3, with K from 1 to N")
    return int(number), int(total)


def _shard_of_ci(environment: Mapping[str, str]) -> tuple[int, int]:
    for index, total, first in CI_VARIABLES:
        if index in environment and total in environment:
            number, of = environment[index], environment[total]
            number = str(int(number) + 1 - first) if number.isdecimal() else number
            if not _is_shard(number, of):
                said = f"{index}={printable(environment[index])}, {total}={printable(of)}"
                raise InputError(f"--shard: {said} name no shard; write K/N")
            return int(number), int(of)
    names = ", ".join(f"{index} and {total}" for index, total, _ in CI_VARIABLES)
    raise InputError(f"--shard: no variables of a CI say which; write K/N, or set {names}")


def _is_shard(number: str, total: str) -> bool:
    digits = all(text.isascii() and text.isdecimal() and len(text) < 7 for text in (number, total))
    return digits and 1 <= int(number) <= int(total)
