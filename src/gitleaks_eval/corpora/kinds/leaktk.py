"""The expected results of leaktk's patterns: a YAML list of paths and secrets, without lines."""

from collections import Counter
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import DocumentError
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.yaml_documents import parse_yaml
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.files import shown_name, text_files
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import TRUE, Label, beside, labelled_corpus
from gitleaks_eval.corpora.tables import text_of
from gitleaks_eval.scenarios.places import Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "leaktk"
# Of the results of its scanner, and of those of Gitleaks 7.
_PATHS, _SECRETS = ("location.path", "file"), ("secret", "offender")


def leaktk(path: Path) -> tuple[Corpus, Expected]:
    """Read results beside the folder that they are about; a secret is expected on the line where it begins.

    A secret that does not stand in its file as it is written counts for the file.

    Raises:
        InputError: when it is no list of results (with the entry), or no file is there.
    """
    results = _results(path)
    source = beside(path, "fake-leaks", "../fake-leaks")
    files = {shown_name(name): content for name, content in text_files(source)}
    found: Counter[Window] = Counter()
    places: dict[Window, str] = {}
    seen: Counter[tuple[str, bytes]] = Counter()
    for index, (file, secret) in enumerate(results):
        line = _line(files.get(file, b""), secret.encode(), seen[file, secret.encode()])
        seen[file, secret.encode()] += 1
        window = Window(file, line, line)
        found[window] += 1
        places.setdefault(window, f"{path.name}: entry {index}")
    labels = (Label(window, TRUE, places[window], times) for window, times in found.items())
    return labelled_corpus(NAME, source, labels, values=frozenset(secret for _, secret in results))


def _results(path: Path) -> list[tuple[str, str]]:
    try:
        document = parse_yaml(text_of(path).encode())
    except DocumentError as error:
        raise InputError(f"{OPTION} {NAME}:{path}: {error}") from None
    if not isinstance(document, list):
        raise InputError(f"{OPTION} {NAME}:{path}: no results of leaktk, which are a list")
    return [_result(entry, f"{path}: entry {index}") for index, entry in enumerate(document)]


def _result(entry: Any, place: str) -> tuple[str, str]:
    said = [
        next((entry[name] for name in names if isinstance(entry.get(name), str)), "") if isinstance(entry, dict) else ""
        for names in (_PATHS, _SECRETS)
    ]
    if not all(said):
        raise InputError(f"{OPTION} {NAME}:{place}: it has no {' or '.join(_SECRETS if said[0] else _PATHS)}")
    return said[0], said[1]


def _line(content: bytes, secret: bytes, nth: int) -> int:
    """The 1-based line where a text stands for the nth time, the last one where it does not stand so often; else 0."""
    at, start = -1, 0
    for _ in range(nth + 1):
        found = content.find(secret, start)
        if found < 0:
            break
        at, start = found, found + 1
    return content.count(b"\n", 0, at) + 1 if at >= 0 else 0


KIND = CorpusKind(
    NAME,
    "FILE.yaml, results beside the folder that they are about (fake-leaks)",
    "lines of secrets that are encoded, rules, history",
    leaktk,
)
