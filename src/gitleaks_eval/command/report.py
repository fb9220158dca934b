"""`gitleaks-eval report`: the page of saved reports made anew, and of several of them one by date."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gitleaks_eval.command.asking import PASSED, told, waiting
from gitleaks_eval.command.line import subcommand_parser
from gitleaks_eval.core.documents import checked_path, opened
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.files import write_together
from gitleaks_eval.core.text import shown_path
from gitleaks_eval.reports.html.pages import GENERATOR, comparison_page, run_page, trend_page
from gitleaks_eval.reports.output.folder import link_on_the_way
from gitleaks_eval.reports.output.report import PAGE
from gitleaks_eval.reports.output.saved import Document, saved_comparison, saved_report, saved_reports

TREND = Path("trend.html")
# The mark stands in the head of a page, before any text of others.
_HEAD = 2048


def run(arguments: Sequence[str]) -> int:
    """Write the page of one folder of reports, or of several, by date; 0 when it is written.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = subcommand_parser("report", "[--output FILE] DIR [DIR ...]")
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a folder with reports, as a run has left it")
    help_text = f"the page that is written; without it, {PAGE} in DIR, or of several {TREND} here"
    parser.add_argument("--output", metavar="FILE", help=help_text)
    options = parser.parse_args(arguments)
    return told("report", lambda: _written([Path(name) for name in options.folders], options.output))


def _written(folders: Sequence[Path], output: str | None) -> int:
    usual = folders[0] / PAGE if len(folders) == 1 else TREND
    path = Path(output) if output else usual
    with waiting("writing the page"):
        _write_page(path, _page(folders))
    sys.stdout.write(f"report: {shown_path(path, Path.cwd())}\n")
    return PASSED


def _page(folders: Sequence[Path]) -> Iterable[bytes]:
    """Return the page of these folders.

    Raises:
        InputError: naming the file that is damaged, or none of ours, or not there.
    """
    if len(folders) > 1:
        return trend_page(list(_all_reports(folders)))
    if compared := saved_comparison(folders[0]):
        return comparison_page(compared.document, compared.reports)
    return run_page(saved_report(folders[0]))


def _all_reports(folders: Iterable[Path]) -> Iterator[Document]:
    for folder in folders:
        reports = list(saved_reports(folder))
        if not reports:
            raise InputError(f"{folder}: holds no report of a run; name the folder that a run has written to")
        yield from reports


def _write_page(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a page whole or not at all; another file stays, unless it is a page of ours.

    Raises:
        InputError: when something else is there, a link is on the way, or it cannot be written.
    """
    checked_path(path, "--output")
    place = path.absolute()
    if link := link_on_the_way(place, Path.cwd()):
        raise InputError(f"{path}: {link} is a link, and nothing is written behind one; name another with --output")
    if place.exists() and not _is_ours(place):
        raise InputError(f"{path}: is there, and is no page of gitleaks-eval; name another with --output")
    try:
        write_together([(place, pieces)])
    except OSError as error:
        problem = error.strerror or error
        raise InputError(f"{path}: cannot be written: {problem}; name another with --output") from None


def _is_ours(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        with opened(path) as file:
            return GENERATOR.encode() in file.read(_HEAD)
    except OSError as error:
        raise unreadable("the page", path, error) from None
