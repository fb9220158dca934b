"""Reports of earlier runs go before a run begins: one that ends early must not leave their decision as its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.options import Root
from gitleaks_eval.engine.settings import report_folder
from gitleaks_eval.reports.folder import ELSEWHERE, ReportFolder, is_any, is_partial


def begin_reports(root: Root, *, narrowed: bool) -> None:
    """Remove what earlier runs wrote; one that selects checks removes what earlier ones of its kind wrote.

    Raises:
        InputError: when the folder of the reports cannot be used.
    """
    is_full = root.getoption("gitleaks_eval")
    if not (is_full or root.getoption("gitleaks_judges")):
        return
    reports = report_folder(root)
    with naming_output(reports):
        if is_full:
            reports.forget(is_partial if narrowed else is_any)
        else:
            reports.refuse_links()


@contextmanager
def naming_output(reports: ReportFolder) -> Iterator[None]:
    """Name the option where the folder of the reports cannot be written.

    Raises:
        InputError: instead of OSError.
    """
    try:
        yield
    except OSError as error:
        raise InputError(
            f"--gitleaks-output {reports.path}: cannot be written to: {error.strerror or error}; {ELSEWHERE}"
        ) from None
