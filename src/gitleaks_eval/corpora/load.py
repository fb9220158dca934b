"""Load a corpus by its kind."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.core.documents import named_path
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.corpora.annotated import annotated
from gitleaks_eval.corpora.expected import ANNOTATED, OPTION, REPORT
from gitleaks_eval.corpora.report import reported
from gitleaks_eval.scenarios.masking import Masks, masks_of, without_tokens, without_words
from gitleaks_eval.scenarios.scenario import Corpus, Scenario


def load_corpus(spec: str, base: Path) -> Scenario:
    """The scenario that a corpus is: its name, what is expected, and in `corpus` what is to be scanned.

    `annotated:FOLDER` expects a finding on the line after each comment `ruleid: <id>[, <id>]`. `report:FOLDER`
    expects what `FOLDER/report.json`, a JSON report of Gitleaks, has found in `FOLDER/repository`;
    `report:NAME.json` what that file has found in the folder `NAME` beside it.

    Args:
        spec: `KIND:PATH`.
        base: the folder that PATH is relative to.

    Raises:
        InputError: when there is no such kind or path, or labels or a report are broken (file and line or entry),
            or a git repository cannot be cloned.
    """
    kind, _, text = spec.partition(":")
    readers = {ANNOTATED: annotated, REPORT: reported}
    if kind not in readers or not text:
        raise InputError(f"{OPTION} {spec}: write KIND:PATH, where KIND is {' or '.join(readers)}")
    path = named_path(text, base, f"{OPTION} {kind}").resolve()
    if not path.exists():
        raise InputError(f"{OPTION} {spec}: {path} does not exist")
    name = path.stem if path.is_file() else path.name
    if not name or not name.isprintable() or set(name) & set("[]"):
        raise InputError(f"{OPTION} {spec}: rename {name!r}: brackets and controls break test ids")
    try:
        corpus, expected = readers[kind](path)
    except InputError:
        raise
    except EvaluationError as error:
        raise InputError(f"{OPTION} {spec}: {error}") from None
    corpus = replace(corpus, masks=_masks(corpus, expected.files_with_secrets_list), truth=expected)
    return Scenario(name, f"{kind} corpus, {corpus.how}", expected.shown_as(corpus.masks), path, path, corpus=corpus)


def _masks(corpus: Corpus, paths: Sequence[str]) -> Masks:
    """What is masked before anything is scanned: names of tests hold paths."""
    tokens = without_words(paths, corpus.words, without_tokens(paths))
    return Masks({**tokens.shown, **masks_of(paths, corpus.values, tokens).shown}, tokens.numbers)
