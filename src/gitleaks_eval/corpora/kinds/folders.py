"""Files sorted by what they are: below `valid/` each holds a secret, below `invalid/` none does."""

from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.files import shown_name, text_files
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import FALSE, TRUE, Label, labelled_corpus
from gitleaks_eval.scenarios.places import Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "folders"
_SAYS = {"valid": TRUE, "invalid": FALSE}


def folders(folder: Path) -> tuple[Corpus, Expected]:
    """Read the names of folders, at any depth (`aws/valid/key`); the innermost has the word, others say nothing.

    Raises:
        InputError: when it is no folder, or has neither of the two.
    """
    if not folder.is_dir():
        raise InputError(f"{OPTION} {NAME}:{folder}: this is no folder")
    labels = []
    for name, _ in text_files(folder):
        path = shown_name(name)
        said = next((_SAYS[part] for part in reversed(path.split("/")[:-1]) if part in _SAYS), None)
        if said:
            labels.append(Label(Window(path), said, path))
    if not labels:
        raise InputError(f"{OPTION} {NAME}:{folder}: no file stands below a folder valid/ or invalid/")
    return labelled_corpus(NAME, folder, labels)


KIND = CorpusKind(
    NAME, "FOLDER with folders valid/ and invalid/", "rules, lines, how many a file holds, history", folders
)
