"""A CSV that counts: so many secrets of any rule in this file, at least, as leaky-repo has them."""

from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import FALSE, OPEN, TRUE, Label, beside, labelled_corpus
from gitleaks_eval.corpora.tables import number, rows
from gitleaks_eval.scenarios.places import Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "counts"
META = ".leaky-meta"


def counts(path: Path) -> tuple[Corpus, Expected]:
    """Read `name,secrets[,informative]`: lines with `#` are comments, and a first line without a number is a head.

    A file with none of both must have no finding; one that is only informative is left out of account.

    Raises:
        InputError: when a row is broken (with its line), or no file is there.
    """
    table = path / META / "secrets.csv" if path.is_dir() else path
    source = path if path.is_dir() else beside(path)
    if source.name == META:
        source = source.parent
    labels = []
    for index, (place, row) in enumerate(rows(table, comments=True)):
        if len(row) not in {2, 3} or not row[0].strip():
            raise InputError(
                f"{OPTION} {place}: write the name of a file, a number of secrets, and no more than one other"
            )
        if index == 0 and not any(field.strip().isdigit() for field in row[1:]):
            continue
        secrets, informative = (number(field, "a count", place) for field in (row[1], (*row, "0")[2]))
        says = TRUE if secrets else OPEN if informative else FALSE
        labels.append(Label(Window(row[0].strip()), says, place, max(1, secrets)))
    return labelled_corpus(NAME, source, labels)


KIND = CorpusKind(
    NAME,
    "FILE.csv with `name,secrets[,informative]`, in the folder that it is about, or leaky-repo itself",
    "rules, lines, values, history",
    counts,
)
