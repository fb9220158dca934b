"""Load a corpus by its kind."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from gitleaks_eval.core.documents import named_path
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.corpora import kinds
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.kinds.labels import own_labels
from gitleaks_eval.scenarios.redaction import masks_of
from gitleaks_eval.scenarios.scenario import Corpus, Expected, RealRepository, Scenario


@cache
def known_kinds() -> Mapping[str, CorpusKind]:
    """Return the kinds of corpora by name: each module of `corpora/kinds` has one, as `KIND`."""
    found = (import_module(f"{kinds.__name__}.{iter_module.name}").KIND for iter_module in iter_modules(kinds.__path__))
    return {kind.name: kind for kind in sorted(found, key=lambda kind: str(kind.name))}


def load_corpus(spec: str, base: Path) -> Scenario:
    """Return the scenario that a corpus is: its name, what is expected, and in `corpus` what is to be scanned.

    What each kind takes stands in its module below `corpora/kinds`.

    Args:
        spec: `KIND:PATH`.
        base: the folder that PATH is relative to.

    Raises:
        InputError: when there is no such kind or path, or labels or a report are broken (file and line or entry),
            or a git repository cannot be cloned.
    """
    kind, _, text = spec.partition(":")
    known = known_kinds()
    if kind not in known or not text:
        raise InputError(f"{OPTION} {spec}: write KIND:PATH, where KIND is one of {', '.join(known)}")
    path = named_path(text, base, f"{OPTION} {kind}").resolve()
    if not path.exists():
        raise InputError(f"{OPTION} {spec}: {path} does not exist")
    name = path.stem if path.is_file() else path.name
    if not name or not name.isprintable() or set(name) & set("[]"):
        raise InputError(f"{OPTION} {spec}: rename {name!r}: brackets and controls break test ids")
    try:
        corpus, expected = known[kind].read(path)
    except InputError:
        raise
    except EvaluationError as error:
        raise InputError(f"{OPTION} {spec}: {error}") from None
    return _scenario(name, path, corpus, expected)


def load_labels(name: str, path: Path, repository: RealRepository) -> Scenario:
    """The scenario of this name that a file of labels is, for a repository that is cloned from elsewhere than it says.

    Raises:
        InputError: when the file cannot be read or is wrong (file and line).
    """
    return _scenario(name, path, *own_labels(path, repository))


def _scenario(name: str, path: Path, corpus: Corpus, expected: Expected) -> Scenario:
    # Masked before anything is scanned: names of tests hold paths.
    masks = masks_of(expected.files_with_secrets_list, corpus.values)
    about = f"{corpus.kind} corpus, {corpus.how}"
    return Scenario(name, about, expected.shown_as(masks), path, path, corpus=replace(corpus, truth=expected))
