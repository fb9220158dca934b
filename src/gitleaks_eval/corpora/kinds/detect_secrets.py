"""An audited `.secrets.baseline` of detect-secrets: `is_secret` says of each line whether it holds one."""

from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import LARGEST_TEXT, read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import FALSE, OPEN, TRUE, Label, beside, labelled_corpus
from gitleaks_eval.scenarios.places import Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "detect-secrets"
_SAYS = {True: TRUE, False: FALSE, None: OPEN}


def detect_secrets(path: Path) -> tuple[Corpus, Expected]:
    """Read a baseline; of a line with several entries a secret has the last word, and what nobody audited is open.

    Raises:
        InputError: when it is no baseline, an entry is broken (its file and number), or nothing was audited.
    """
    baseline = path / ".secrets.baseline" if path.is_dir() else path
    document = read_json(baseline, f"{OPTION} {NAME}:", LARGEST_TEXT)
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(results, dict):
        raise InputError(f"{OPTION} {NAME}:{baseline}: no baseline of detect-secrets, which has `results` by file")
    labels: dict[Window, Label] = {}
    for file, entries in results.items():
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            label = _label(file, index, entry, baseline)
            other = labels.get(label.window)
            if other is None or (other.says != TRUE and label.says != OPEN):
                labels[label.window] = label
    if not any(label.says != OPEN for label in labels.values()):
        raise InputError(f"{OPTION} {NAME}:{baseline}: nothing in it is audited; run `detect-secrets audit` first")
    return labelled_corpus(NAME, beside(baseline), labels.values())


def _label(file: str, index: int, entry: Any, baseline: Path) -> Label:
    place = f"{baseline.name}: {file} entry {index}"
    line = entry.get("line_number") if isinstance(entry, dict) else None
    if type(line) is not int or line < 1:
        raise InputError(f"{OPTION} {place}: it has no line_number")
    says = entry.get("is_secret")
    if says is not None and type(says) is not bool:
        raise InputError(f"{OPTION} {place}: is_secret is neither true nor false")
    return Label(Window(file.replace("\\", "/"), line, line), _SAYS[says], place)


KIND = CorpusKind(
    NAME,
    "FILE, an audited .secrets.baseline in the folder that it is about",
    "rules of a scanner, values, history",
    detect_secrets,
)
