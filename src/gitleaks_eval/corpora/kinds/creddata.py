"""CredData (Samsung): `meta/*.csv` say of lines of the files below `data/` whether they hold a credential."""

from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import FALSE, OPEN, TRUE, Label, labelled_corpus
from gitleaks_eval.corpora.tables import number, records
from gitleaks_eval.scenarios.places import Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "creddata"
_COLUMNS = ("FilePath", "LineStart", "LineEnd", "GroundTruth")
# T: a credential; F: none; X: a template, or nobody could tell.
_SAYS = {"T": TRUE, "F": FALSE, "X": OPEN, "Template": OPEN}


def creddata(folder: Path) -> tuple[Corpus, Expected]:
    """Read `meta/` beside a checked-out `data/`; of a line with several rows a credential has the last word.

    Raises:
        InputError: when one of the folders is not there, or a row is broken (file and line).
    """
    tables = sorted((folder / "meta").glob("*.csv"))
    if not tables or not (folder / "data").is_dir():
        raise InputError(f"{OPTION} {NAME}:{folder}: it takes a folder with meta/*.csv and data/, as downloaded")
    by_window: dict[Window, Label] = {}
    for table in tables:
        for label in _labels(table):
            other = by_window.setdefault(label.window, label)
            if other.says != label.says:
                # Rows are about columns; a finding is about its line.
                by_window[label.window] = label if label.says == TRUE or other.says == FALSE else other
    return labelled_corpus(NAME, folder / "data", by_window.values())


def _labels(table: Path) -> list[Label]:
    labels = []
    for place, row in records(table, _COLUMNS):
        first, last = number(row["LineStart"], "LineStart", place), number(row["LineEnd"], "LineEnd", place)
        if row["GroundTruth"] not in _SAYS:
            raise InputError(f"{OPTION} {place}: GroundTruth is none of {', '.join(_SAYS)}")
        if not 0 < first <= last:
            raise InputError(f"{OPTION} {place}: LineStart and LineEnd are no lines")
        path = row["FilePath"].removeprefix("data/")
        labels.append(Label(Window(path, first, last), _SAYS[row["GroundTruth"]], place))
    return labels


KIND = CorpusKind(
    NAME, "FOLDER with meta/*.csv and the checked-out data/", "rules of a scanner, values, history", creddata
)
