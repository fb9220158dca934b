"""What a kind of corpus is: its name, what it takes, what it cannot know, and its reader."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitleaks_eval.scenarios.scenario import Corpus, Expected


@dataclass(frozen=True, slots=True)
class CorpusKind:
    """A kind of labelled corpus: `--gitleaks-corpus=NAME:PATH`; `takes` and `cannot_know` are for people.

    `read` makes of a path what is to be scanned and what is expected there. It raises `InputError` with the place of
    what is wrong.
    """

    name: str
    takes: str
    cannot_know: str
    read: Callable[[Path], tuple[Corpus, Expected]]
