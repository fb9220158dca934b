"""Labels as a table: CSV for a spreadsheet, in which no cell is a formula, and back."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.labels_file import ANSWERS, LABELS, UNREVIEWED, Answer, LabelledFinding, LabelsFile
from gitleaks_eval.corpora.tables import records

COLUMNS = ("id", "path", "line", "rule", "commit", "secret", "label", "why", "reviewer", "date")
# What stands in a row so that people know what it is about; it is compared, and never taken over.
_ABOUT = ("path", "line", "rule", "commit")
# What a spreadsheet would compute (OWASP, CSV injection); a quote in front makes it a text, and one more a quote.
_FORMULA = re.compile(r"['=+\-@\t\r\n]")


def as_csv(labels: LabelsFile) -> bytes:
    """Return the labels as a table, but for those that are stale."""
    out = io.StringIO(newline="")
    table = csv.writer(out)
    table.writerow(COLUMNS)
    table.writerows(
        [_cell(str(getattr(finding, name))) for name in COLUMNS] for finding in labels.findings if not finding.stale
    )
    return out.getvalue().encode("utf-8", "backslashreplace")


def from_csv(path: Path, labels: LabelsFile, reviewer: str, date: str) -> Mapping[int, Answer]:
    """Return the answers of a table that differ from the labels, by the id of the finding.

    Raises:
        InputError: when it cannot be read, names a finding that is not there or is another one, or an unknown label.
    """
    known = {str(finding.id): finding for finding in labels.findings}
    answers: dict[int, Answer] = {}
    places: dict[str, str] = {}
    for place, row in _rows(path):
        one = known.get(row["id"].strip())
        if one is None:
            raise InputError(f"{place}: there is no finding with the id {row['id'][:40]!r}")
        if other := places.get(row["id"].strip()):
            raise InputError(f"{place}: the id {one.id} stands in {other}, too; remove one of the two")
        places[row["id"].strip()] = place
        _check_about(one, row, place)
        label = row["label"].strip().lower()
        if label not in LABELS:
            raise InputError(f"{place}: {label[:40]!r} is no label; write {', '.join(ANSWERS)} or {UNREVIEWED}")
        if (label, row.get("why", one.why)) != (one.label, one.why):
            given = Answer(label, reviewer, date, row.get("why", ""))
            answers[one.id] = Answer() if label == UNREVIEWED else given
    return answers


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    try:
        for place, row in records(path, ("id", "label")):
            yield place, {name: _text(cell) for name, cell in row.items()}
    except InputError as error:
        raise InputError(f"--csv-in {str(error).removeprefix(OPTION).strip()}") from None


def _check_about(labelled_finding: LabelledFinding, row: Mapping[str, str], place: str) -> None:
    for name in _ABOUT:
        if name in row and row[name] != str(getattr(labelled_finding, name)):
            raise InputError(
                f"{place}: the {name} is not that of finding {labelled_finding.id}: a table of other labels?"
            )


def _cell(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _text(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell
