"""Masks the secrets of a report in all else that it says: paths, branches, authors, rule ids."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from gitleaks_eval.scenarios.secrets import MASK, REVEALING_LENGTH, preview

# Below, a value is a syllable: masked, it would spoil names and hide nothing.
SHORTEST = 4
# A run of a path that is more likely a token than a word: long, of letters and digits.
_TOKEN = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}")

# What stands for a piece of a secret.
MASKED = re.compile(rf"{re.escape(MASK)}(?:~\d+)?")


@dataclass(frozen=True, slots=True)
class Masks:
    """What to show instead of the texts that hold a secret; other texts are shown as they are.

    `numbers` are those of the pieces that are masked, so that texts that differ stay different.
    """

    shown: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without the texts: they hold secrets, and tracebacks show values."""
        return f"<Masks of {len(self.shown)} texts>"

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return self.shown.get(text, text)

    def undone(self, shown: str) -> str:
        """The text that is shown so; no two are shown alike."""
        return next((text for text, other in self.shown.items() if other == shown), shown)


def masks_of(
    texts: Iterable[str], secrets: Iterable[str], before: Masks = Masks(), public: Collection[str] = ()
) -> Masks:
    """Mask each secret in each text: whole, and each eight consecutive characters of it beyond its public prefix.

    A secret of less than eight characters is masked where it stands as a word of its own. What `before` masks stays
    masked as it is. Texts that are `public` are shown as they are, whatever secret looks like them.
    """
    said = {text: before(text) for text in texts}
    values = {secret.removeprefix(preview(secret).removesuffix(MASK)) for secret in set(secrets)}
    pieces = _shared(said.values(), values)
    words = re.compile(
        "|".join(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])" for value in sorted(filter(_is_word, values))) or r"(?!)"
    )
    return _masks(said, lambda text: [] if text in public else _merged(_spans(text, pieces, words)), before)


def without_tokens(paths: Iterable[str]) -> Masks:
    """Mask what looks like a token in paths, when no scanner has said yet what is a secret."""
    return _masks(
        {path: path for path in paths}, lambda path: [found.span() for found in _TOKEN.finditer(path)], Masks()
    )


def without_words(paths: Iterable[str], words: Collection[str], before: Masks) -> Masks:
    """What `before` masks, and in paths each of these words where it stands whole: it may be a secret."""
    said = {path: before(path) for path in paths}
    # There may be many more words than stand in paths.
    there = _shared(said.values(), {word[:REVEALING_LENGTH] for word in words})
    known = [re.escape(word) for word in sorted(words, key=len, reverse=True) if word[:REVEALING_LENGTH] in there]
    whole = re.compile(rf"(?<![^\W_])(?:{'|'.join(known)})(?![^\W_])" if known else r"(?!)")
    made = _masks(said, lambda path: [found.span() for found in whole.finditer(path)], before)
    return Masks({**before.shown, **made.shown}, made.numbers)


def as_shown_before(texts: Iterable[str], shown_before: Iterable[str]) -> Masks:
    """Show each text as it was shown masked before, where no other text and no other showing fits as well."""
    said, shown = set(texts), set(shown_before)
    fits = {
        other: [text for text in sorted(said - shown) if pattern.fullmatch(text)]
        for other in sorted(shown - said)
        if (pattern := _fitting(other))
    }
    often = Counter(text for found in fits.values() for text in found)
    return Masks({found[0]: other for other, found in fits.items() if len(found) == 1 and often[found[0]] == 1})


def _fitting(shown: str) -> re.Pattern[str] | None:
    """What a text that is shown so may be; None where nothing of it is masked."""
    parts = MASKED.split(shown)
    return re.compile(".+".join(map(re.escape, parts)), re.DOTALL) if len(parts) > 1 else None


def _masks(said: Mapping[str, str], spans_in: Callable[[str], Sequence[tuple[int, int]]], before: Masks) -> Masks:
    numbers = dict(before.numbers)
    shown = {text: _masked(known, spans_in(known), numbers) for text, known in sorted(said.items())}
    # A text may look like another one masked; what is compared must not become one.
    taken = {text for text, other in shown.items() if other == text}
    for text, other in shown.items():
        if other != text:
            names = chain([other], (f"{other}~{number}" for number in count(2)))
            shown[text] = next(name for name in names if name not in taken)
            taken.add(shown[text])
    return Masks({text: other for text, other in shown.items() if other != text}, numbers)


def _is_word(value: str) -> bool:
    return SHORTEST <= len(value) < REVEALING_LENGTH


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + REVEALING_LENGTH] for start in range(len(text) - REVEALING_LENGTH + 1))


def _shared(texts: Iterable[str], values: Collection[str]) -> set[str]:
    # Secrets may be megabytes, texts are short: only their pieces are kept.
    there = {piece for text in texts for piece in _pieces(text)} if values else set()
    return {piece for value in values for piece in _pieces(value) if piece in there} if there else set()


def _spans(text: str, pieces: set[str], words: re.Pattern[str]) -> list[tuple[int, int]]:
    found = [(start, start + REVEALING_LENGTH) for start, piece in enumerate(_pieces(text)) if piece in pieces]
    return sorted(found + [word.span() for word in words.finditer(text)])


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _masked(text: str, spans: Iterable[tuple[int, int]], numbers: dict[str, int]) -> str:
    parts, last = [], 0
    for start, end in spans:
        number = numbers.setdefault(text[start:end], len(numbers) + 1)
        parts += [text[last:start], MASK if number == 1 else f"{MASK}~{number}"]
        last = end
    return "".join((*parts, text[last:]))
