"""The expected results of leaktk's patterns: a YAML list of paths and secrets, without lines."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

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
_RULES = ("rule.id", "rule")


class _Result(NamedTuple):
    """An expected result: the rule, the file, and what it matches; a rule about paths alone matches no secret."""

    rule: str
    file: str
    match: str
    secret: str


def leaktk(path: Path) -> tuple[Corpus, Expected]:
    """Read results beside the folder that they are about; a secret is expected on the line where it begins.

    A secret that does not stand in its file as it is written counts for the file, and so does a file that is one by its
    path. A result that is listed twice counts once.

    Raises:
        InputError: when it is no list of results (with the entry), or no file is there.
    """
    results = _results(path)
    source = beside(path, "fake-leaks", "../fake-leaks")
    files = {shown_name(name): content for name, content in text_files(source)}
    found: Counter[Window] = Counter()
    places: dict[Window, str] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    known: set[tuple[str, int, str]] = set()
    for result, index in results.items():
        content, stands = files.get(result.file, b""), (result.file, result.match, result.secret)
        at = _place(content, result, seen[stands])
        seen[stands] += 1
        # Two rules that match one secret are two results of one.
        secret = (result.file, at, result.secret if at < 0 else "")
        if secret in known:
            continue
        known.add(secret)
        line = content.count(b"\n", 0, at) + 1 if at >= 0 else 0
        window = Window(result.file, line, line)
        found[window] += 1
        places.setdefault(window, f"{path.name}: entry {index}")
    labels = (Label(window, TRUE, places[window], times) for window, times in found.items())
    return labelled_corpus(NAME, source, labels, values=frozenset(one.secret for one in results if one.secret))


def _results(path: Path) -> dict[_Result, int]:
    """Return each result that is listed, and where it stands first in the list."""
    try:
        document = parse_yaml(text_of(path).encode())
    except DocumentError as error:
        raise InputError(f"{OPTION} {NAME}:{path}: {error}") from None
    if not isinstance(document, list):
        raise InputError(f"{OPTION} {NAME}:{path}: no results of leaktk, which are a list")
    found: dict[_Result, int] = {}
    for index, entry in enumerate(document):
        found.setdefault(_result(entry, f"{path}: entry {index}"), index)
    return found


def _result(entry: Any, place: str) -> _Result:
    known = entry if isinstance(entry, dict) else {}
    rule, file, match, secret = (
        next((known[name] for name in names if isinstance(known.get(name), str)), None)
        for names in (_RULES, _PATHS, ("match",), _SECRETS)
    )
    if not file or secret is None:
        raise InputError(f"{OPTION} {NAME}:{place}: it has no {' or '.join(_SECRETS if file else _PATHS)}")
    return _Result(rule or "", file, match or "", secret)


def _place(content: bytes, result: _Result, nth: int) -> int:
    """Return where a secret stands in its match for the nth time, else where it stands; -1 where it does not."""
    match, secret = result.match.encode(), result.secret.encode()
    if not secret:
        return -1
    within = match.find(secret)
    at = _nth(content, match, nth) if within >= 0 else -1
    return at + within if at >= 0 else _nth(content, secret, nth)


def _nth(content: bytes, text: bytes, nth: int) -> int:
    """Return where a text stands for the nth time, else for the last time; -1 where it does not stand."""
    at, start = -1, 0
    for _ in range(nth + 1):
        found = content.find(text, start)
        if found < 0:
            break
        at, start = found, found + 1
    return at


KIND = CorpusKind(
    NAME,
    "FILE.yaml, results beside the folder that they are about (fake-leaks)",
    "lines of secrets that are encoded, rules, history",
    leaktk,
)
