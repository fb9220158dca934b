"""A folder of files whose comments say what must be found: `ruleid:`, `ok:`, `todoruleid:`."""

import codecs
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION, expected_of, in_one_commit, words_of
from gitleaks_eval.corpora.files import is_repository, shown_name, text_files
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.scenarios.places import Place, Places
from gitleaks_eval.scenarios.scenario import Corpus, Expected

ANNOTATED = "annotated"
RULEID, TODORULEID, OK, TODOOK = DIRECTIVES = ("ruleid", "todoruleid", "ok", "todook")
PROBLEMS_SHOWN = 20
# As git decides whether a file is text.
BINARY_WITHIN = 8000
HOW_TO_LABEL = (
    "write the label on a line of its own above the secret, after # // -- ; /* <!-- % \" or ', "
    "and where it is no label, leave out its colon"
)
# A comment that is alone on its line. After " or ' (Vim, Basic) the line must not be a quoted text. A word begins
# with no dash: a line of dashes would be read again for each of them.
_COMMENT = re.compile(
    rb"""\s*(?:(?:\#+|//+|--+|;+|/\*+|<!--|%+)\s*([A-Za-z_][A-Za-z_-]*)\s*:(.*)"""
    rb"""|["']\s*([A-Za-z_][A-Za-z_-]*)\s*:([^"']*)$)"""
)
_BEHIND_CODE = re.compile(rb"\S\s*(?:\#|//|--|;|/\*|<!--|%)\s*(?:todo)?ruleid\s*:")
_ANYWHERE = re.compile(rb"\b(?:todo)?ruleid\s*:")
# The same in what is no text: as one, two or four bytes for each character.
_IN_BYTES = re.compile(rb"\0{0,3}".join([*(bytes([letter]) for letter in b"ruleid"), rb"[\0\t ]{0,16}:"]))
_MAYBE_LABELLED = re.compile(rb"rule.?id|rul|ok\s*:", re.IGNORECASE)
_RULE = re.compile(r"[^\s,]+")


def annotated(folder: Path) -> tuple[Corpus, Expected]:
    """Read the labels of a folder of files: the corpus that it is, and what is expected there.

    Raises:
        InputError: when it is no folder, or a label stands where none is read; each with its place.
    """
    if not folder.is_dir():
        raise InputError(f"{OPTION} {ANNOTATED}:{folder}: this is no folder")
    labels = _Labels()
    count = 0
    for name, content in text_files(folder):
        count += 1
        if b"\0" in content[:BINARY_WITHIN] or content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            labels.refuse_binary(shown_name(name), content)
        elif _MAYBE_LABELLED.search(content):
            labels.read(shown_name(name), content)
    if labels.problems:
        raise InputError(*(f"{OPTION} {folder}: {text}" for text in labels.problems[:PROBLEMS_SHOWN]))
    if not any(labels.places.values()):
        raise InputError(f"{OPTION} {ANNOTATED}:{folder}: no label in {count} files; write `ruleid: <id>` in a comment")
    at_head = " at HEAD" if is_repository(folder) else ""
    corpus = Corpus(
        ANNOTATED,
        folder,
        f"{count} files{at_head}, committed to a temporary repository",
        Places(frozenset(labels.places[OK])),
        Places(frozenset(labels.places[TODORULEID] + labels.places[TODOOK])),
        values=frozenset(labels.words),
    )
    return corpus, in_one_commit(expected_of(labels.places[RULEID]))


@dataclass(slots=True)
class _Labels:
    """The labels of a corpus by directive, as places, and what is wrong with others.

    `words` are what may be the secrets of labelled lines: what stands in quotes or is assigned.
    """

    places: dict[str, list[Place]] = field(default_factory=lambda: {name: [] for name in DIRECTIVES})
    problems: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)

    def read(self, path: str, content: bytes) -> None:
        """Read one file; its labels count for the first line below them that is no label itself."""
        open_labels: list[tuple[str, str]] = []
        number, line = 0, b""
        for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
            label = self._label(line, f"{path}:{number}")
            if label is not None:
                open_labels += label
            elif open_labels:
                self._close(open_labels, path, number, line)
                open_labels = []
        if open_labels:
            self._close(open_labels, path, number, b"")

    def _label(self, line: bytes, place: str) -> list[tuple[str, str]] | None:
        comment = _COMMENT.match(line)
        if not comment:
            if _BEHIND_CODE.search(line):
                self.problems.append(f"{place}: a label behind code; write it on a line of its own, above")
            else:
                self._refuse_stray(line, place)
            return None
        word = (comment[1] or comment[3]).decode("ascii")
        if word not in DIRECTIVES:
            if meant := _meant(word):
                self.problems.append(f"{place}: unknown label {word!r}; did you mean {meant!r}?")
            else:
                self._refuse_stray(line, place)
            return None
        text = (comment[2] if comment[1] else comment[4]).strip().removesuffix(b"*/").removesuffix(b"-->")
        rules = [rule.strip() for rule in text.decode("utf-8", "replace").split(",")]
        if all(map(_RULE.fullmatch, rules)):
            return [(word, rule) for rule in rules]
        self.problems.append(f"{place}: after `{word}:` write rule ids, separated by commas, and nothing else")
        return []

    def _refuse_stray(self, line: bytes, place: str) -> None:
        """Refuse what may be meant as a label: passed over, its secret would not be expected."""
        if _ANYWHERE.search(line):
            self.problems.append(f"{place}: `ruleid:` that is in no comment known here; {HOW_TO_LABEL}")

    def refuse_binary(self, path: str, content: bytes) -> None:
        """Refuse a file that is not read as text and looks as if it had labels."""
        if _IN_BYTES.search(content):
            self.problems.append(
                f"{path}: `ruleid:` in a file that is binary or UTF-16; save it as UTF-8, or remove it"
            )

    def _close(self, labels: list[tuple[str, str]], path: str, number: int, line: bytes) -> None:
        if not line.strip():
            self.problems.append(f"{path}:{number}: the label above has no line that it could be about")
        given: dict[str, str] = {}
        for word, rule in labels:
            if given.setdefault(rule, word) != word:
                self.problems.append(f"{path}:{number}: the labels above contradict each other: {given[rule]}, {word}")
            self.places[word].append((path, number, rule))
        if any(word in {RULEID, TODORULEID} for word, _ in labels):
            self.words |= words_of(line)


@cache
def _meant(word: str) -> str | None:
    return next(iter(get_close_matches(word.lower(), (RULEID, TODORULEID), n=1, cutoff=0.83)), None)


KIND = CorpusKind(
    ANNOTATED, "FOLDER with comments `ruleid: <id>`, `ok: <id>`, `todoruleid: <id>`", "values, times", annotated
)
