"""`gitleaks-eval merge`: the shards of a comparison of many repositories become one, or none."""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, told
from gitleaks_eval.command.compare_list import finished, is_no_shard, table_maker
from gitleaks_eval.command.line import PARQUET_TEXT, TAKEN, add_option, subcommand_parser
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.fleet.run import Counted
from gitleaks_eval.engine.settings.settings import accepts_review, report_folder
from gitleaks_eval.reports.fleet.repository_rows import Spool
from gitleaks_eval.reports.fleet.shards import read_shards, shard_rows
from gitleaks_eval.reports.fleet.summary import LineKey
from gitleaks_eval.reports.output.folder import naming_output
from gitleaks_eval.scoring.comparison import INCOMPLETE

NAME = "merge"


def run(arguments: Sequence[str]) -> int:
    """Merge these files; the exit status is that of one run, and 1 where they are not the shards of one.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = subcommand_parser(NAME, "[options] FILE [FILE ...]")
    parser.add_argument("files", nargs="+", metavar="FILE", help="what `compare --shard` has written; all of them")
    for option in TAKEN:
        if option.name in {"output", "fail_on"}:
            add_option(parser, option)
    parser.add_argument("--parquet", action="store_true", help=PARQUET_TEXT)
    options = parser.parse_args(arguments)
    root = Root.of_options(vars(options), Path.cwd())
    return told(NAME, lambda: _merged(root, [Path(name) for name in options.files]))


def _merged(root: Root, paths: Sequence[Path]) -> int:
    accepts = accepts_review(root)
    table = table_maker(asked=root.getoption("parquet"))
    reports = report_folder(root)
    # They may lie where the reports go.
    reports = replace(reports, reads=(*reports.reads, *(path.absolute() for path in paths)))
    with naming_output(reports):
        reports.forget(is_no_shard)
    try:
        shards = read_shards(paths)
        with tempfile.TemporaryFile() as file:
            counted = Counted(shards[0].question, Spool(file))
            lines: dict[LineKey, Sequence[str]] = {}
            for shard in shards:
                for row, line in shard_rows(shard, lines):
                    counted.add(row, line)
            return finished(counted.report(lines), reports, table, accepts_review=accepts)
    except InputError:
        raise
    except EvaluationError as error:
        sys.stdout.write(f"{INCOMPLETE}  {printable(str(error))}\n")
        return FAILED
