"""Redaction: what a run may show of texts that hold a secret.

A text is masked only where a whole known value of at least eight characters stands in it. The public prefix of a value
stays. Ids of rules are public.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from gitleaks_eval.scenarios.recipe import PLACEHOLDER, Part, Recipe
from gitleaks_eval.scenarios.secrets import MASK, REVEALING_LENGTH, Secret, preview

LONGEST_LINE = 200
# Earlier versions numbered the masks within a text.
_MASKED = re.compile(rf"{re.escape(MASK)}(?:~\d+)?")


@dataclass(frozen=True, slots=True)
class Values:
    """Values that no text may show, by their first eight characters; the longest first, which may hold another one."""

    by_start: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without the values: tracebacks show them."""
        return f"<Values with {len(self.by_start)} starts>"

    def found_in(self, text: str) -> bool:
        """Return whether a whole value stands in `text`."""
        return self.cut_out_of(text) != text

    def cut_out_of(self, text: str) -> str:
        """Return `text` with a mask in place of each whole value."""
        if not self.by_start:
            return text
        kept, after = [], 0
        for start in range(len(text) - REVEALING_LENGTH + 1):
            if start >= after and (values := self.by_start.get(text[start : start + REVEALING_LENGTH])):
                value = next((value for value in values if text.startswith(value, start)), None)
                if value:
                    kept += [text[after:start], MASK]
                    after = start + len(value)
        return "".join((*kept, text[after:]))


def values_of(secrets: Iterable[str]) -> Values:
    """Return the values of these secrets beyond their public prefixes; shorter ones than eight characters are none."""
    by_start: dict[str, list[str]] = {}
    bodies = {secret.removeprefix(preview(secret).removesuffix(MASK)) for secret in set(secrets)}
    for value in sorted(bodies, key=len, reverse=True):
        if len(value) >= REVEALING_LENGTH:
            by_start.setdefault(value[:REVEALING_LENGTH], []).append(value)
    return Values({start: tuple(values) for start, values in by_start.items()})


@dataclass(frozen=True, slots=True)
class Masks:
    """What to show instead of the texts that hold a secret; other texts are shown as they are."""

    shown: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without the texts: they hold secrets, and tracebacks show values."""
        return f"<Masks of {len(self.shown)} texts>"

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        return self.shown.get(text, text)

    def undone(self, shown: str) -> str:
        """Return the text that is shown so; no two are shown alike."""
        return next((text for text, other in self.shown.items() if other == shown), shown)


def masks_of(texts: Iterable[str], secrets: Iterable[str], shown_before: Iterable[str] = ()) -> Masks:
    """Mask each secret in each text; texts that differ stay different.

    What was `shown_before` masked, by a saved baseline, is shown so again where exactly one text fits.
    """
    said, values = sorted(set(texts)), values_of(secrets)
    masked = {text: other for text in said if (other := values.cut_out_of(text)) != text}
    again = _shown_again(said, shown_before)
    # A text may look like another one masked; what is compared must not become one.
    taken = {*again.values(), *(text for text in said if text not in masked)}
    shown = {}
    for text, other in masked.items():
        names = chain([other], (f"{other}~{number}" for number in count(2)))
        shown[text] = again.get(text) or next(name for name in names if name not in taken)
        taken.add(shown[text])
    return Masks({**again, **shown})


def masked_lines(recipe: Recipe) -> Mapping[tuple[str, int], str]:
    """Return, by path and line number, the last line there that holds a planted secret, with a mask in its place.

    A file that is not all text, or is made of repeated or generated parts, is left out.
    """
    found: dict[tuple[str, int], str] = {}
    for commit in recipe.commits:
        for path, parts in commit.write.items():
            if all(part.repeat == 1 and not part.data and not part.lines for part in parts):
                shown = path.decode("utf-8", "surrogateescape")
                found |= {(shown, number): line for number, line in _lines(parts, recipe.secrets)}
    return found


def _lines(parts: Sequence[Part], secrets: Mapping[str, Secret]) -> Iterator[tuple[int, str]]:
    # A secret of several lines is a mask a line, so that what follows keeps its number.
    text = PLACEHOLDER.sub(
        lambda name: "\n".join([MASK] * len(secrets[name[1]].value.split("\n"))), "".join(part.text for part in parts)
    )
    for number, line in enumerate(text.split("\n"), start=1):
        if MASK in line:
            yield number, line.strip()[:LONGEST_LINE]


def _shown_again(texts: Sequence[str], shown_before: Iterable[str]) -> dict[str, str]:
    """Return what was shown masked before, by the text that alone fits, and fits nothing else."""
    said, shown = set(texts), set(shown_before)
    fits = {
        other: [text for text in said - shown if pattern.fullmatch(text)]
        for other in sorted(shown - said)
        if (pattern := _fitting(other))
    }
    often = Counter(text for found in fits.values() for text in found)
    return {found[0]: other for other, found in fits.items() if len(found) == 1 and often[found[0]] == 1}


def _fitting(shown: str) -> re.Pattern[str] | None:
    """Return a pattern of the texts that may be shown so; None where nothing of it is masked."""
    parts = _MASKED.split(shown)
    return re.compile(".+".join(map(re.escape, parts)), re.DOTALL) if len(parts) > 1 else None
