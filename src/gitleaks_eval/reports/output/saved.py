"""Reports that a run has left in a folder, read again: whoever put them there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.schema import list_problem, report_problems, schema_problems
from gitleaks_eval.core.text import few
from gitleaks_eval.reports.output.report import COMPARISON_JSON, REPORT

PROBLEMS_SHOWN = 3
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SavedComparison:
    """A comparison, and by name the reports of those of its candidates that have some."""

    document: Document
    reports: Mapping[str, Document]


def saved_report(folder: Path) -> Document:
    """Return the evaluation report in a folder.

    Raises:
        InputError: when it is not there, cannot be read, or is none of gitleaks-eval.
    """
    path = folder / REPORT
    document = _read(path)
    wrong = report_problems(document)
    for name in () if wrong else ("results", "findings"):
        wrong += filter(None, [list_problem("report", name, document[name])])
    return _checked(document, path, wrong)


def saved_comparison(folder: Path) -> SavedComparison | None:
    """Return the comparison in a folder, with the reports of its candidates; None where there is none.

    Raises:
        InputError: when one cannot be read, or is none of gitleaks-eval.
    """
    path = folder / COMPARISON_JSON
    if not path.exists():
        return None
    document = _read(path)
    document = _checked(document, path, schema_problems("comparison", document))
    folders = {one["name"]: one.get("folder") for one in document["candidates"]}
    reports = {name: saved_report(folder / _below(below, path)) for name, below in folders.items() if below}
    return SavedComparison(document, reports)


def saved_reports(folder: Path) -> Iterator[Document]:
    """Yield the evaluation reports in a folder: of each candidate of a comparison, else the one of the run.

    Raises:
        InputError: when one cannot be read, or is none of gitleaks-eval.
    """
    if compared := saved_comparison(folder):
        yield from compared.reports.values()
    else:
        yield saved_report(folder)


def _read(path: Path) -> Any:
    if not path.exists():
        raise InputError(f"{path}: does not exist; name a folder that a run has written its reports to")
    return read_json(path, "the report")


def _checked(document: Any, path: Path, wrong: list[str]) -> Document:
    if wrong:
        said = few(wrong, PROBLEMS_SHOWN)
        raise InputError(f"the report {path}: is damaged, or none of this version of gitleaks-eval: {said}")
    checked: Document = document
    return checked


def _below(name: str, comparison: Path) -> PurePosixPath:
    """Return the folder of a candidate, relative to its comparison: a name that leads elsewhere is not followed."""
    below = PurePosixPath(name)
    if below.is_absolute() or ".." in below.parts or "\0" in name:
        raise InputError(f"the report {comparison}: names the folder {name!r}, which is not below it")
    return below
