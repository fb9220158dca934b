r"""Values of a regex: the same for the same regex and seed, on every machine and with every Python.

A value is made, not found: the tree is walked once, and each character remembers what else could stand there,
so that a keyword can be written into it and the edges (`\b`, `$`) can be mended.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

from gitleaks_eval.regex.charsets import ALNUM, PRINTABLE, SPACE, WORD, Ranges, common, holds, size
from gitleaks_eval.regex.parse import (
    BEGIN_LINE,
    BEGIN_TEXT,
    END_LINE,
    END_TEXT,
    WORD_EDGE,
    Chars,
    Choice,
    Edge,
    Group,
    Node,
    Regex,
    RegexError,
    Repeat,
    Sequence,
)

# Longer values are of no use, and a tree such as ((a{1000}){1000}){1000} would have no end.
CHARACTERS_AT_MOST = 20_000
STEPS_AT_MOST = 100_000
# A class with this many printable characters stands for any text, not for a kind of token.
WIDE = 80
# The secret stands in none of the groups.
OUTSIDE = -1
_PREFERRED = "\"' \n=/-_.:;,"


@dataclass(frozen=True, slots=True)
class Made:
    """A text that a regex matches where its edges hold: its characters, what else each could be, its groups.

    `edges` are (kind, place); `groups` the start and end of what each captured last.
    """

    text: str
    slots: tuple[Chars, ...]
    edges: tuple[tuple[str, int], ...]
    groups: dict[int, tuple[int, int]]

    def __repr__(self) -> str:
        """Without the text: it is a secret."""
        return f"<Made of {len(self.text)} characters>"

    def group(self, wanted: int) -> tuple[int, int]:
        """Return what the scanner takes for the secret: the wanted group, else the first that captured something."""
        whole = (0, len(self.text))
        if wanted == OUTSIDE:
            return self._varying()
        if wanted:
            return self.groups.get(wanted, whole)
        return next((span for _, span in sorted(self.groups.items()) if span[0] < span[1]), whole)

    def _varying(self) -> tuple[int, int]:
        """Where most characters that may be others stand in a row."""
        runs = [(0, 0)]
        for place, slot in enumerate(self.slots):
            if size(slot.written) > 2:
                start, end = runs[-1]
                runs[-1:] = [(start, place + 1)] if end == place and start < end else [runs[-1], (place, place + 1)]
        return max(runs, key=lambda run: run[1] - run[0])


def make(regex: Regex, seed: str, variant: int = 0, secret_group: int = 0, longer: int = 0) -> Made:
    """Make a text of a regex, of usual length.

    Args:
        regex: the regex, read.
        seed: other seeds give other characters.
        variant: 0 takes the first of each choice and few repeats; others choose among them, too.
        secret_group: the group that holds the secret; 0 for the first, `OUTSIDE` for none.
        longer: how often what may be repeated is, in a secret, as far as it may be.

    Raises:
        RegexError: when its values are too long, or there is none.
    """
    # The stream of a seed that is text is promised to stay the same.
    writer = _Writer(Random(f"{seed}\0{variant}\0{regex.text}"), variant, secret_group, longer)  # noqa: S311 - no secret
    writer.write(regex.node, in_secret=not regex.groups or secret_group == OUTSIDE)
    return Made("".join(writer.text), tuple(writer.slots), tuple(writer.edges), writer.groups)


@dataclass(slots=True, repr=False)
class _Writer:
    """What has been written so far."""

    random: Random
    variant: int
    secret_group: int
    longer: int
    text: list[str] = field(default_factory=list)
    slots: list[Chars] = field(default_factory=list)
    edges: list[tuple[str, int]] = field(default_factory=list)
    groups: dict[int, tuple[int, int]] = field(default_factory=dict)
    steps: int = 0

    def below(self, end: int) -> int:
        return int(self.random.random() * end)

    def write(self, node: Node, *, in_secret: bool) -> None:
        self.steps += 1
        if self.steps > STEPS_AT_MOST or len(self.text) > CHARACTERS_AT_MOST:
            raise RegexError(f"its shortest values are too long to be made (more than {CHARACTERS_AT_MOST} characters)")
        if isinstance(node, Chars):
            alphabet = usual(node.written) or usual(node.ranges)
            if not alphabet:
                raise RegexError("it has a class of characters none of which can stand in a file")
            self.text.append(alphabet[self.below(len(alphabet))])
            self.slots.append(node)
        elif isinstance(node, Edge):
            self.edges.append((node.kind, len(self.text)))
        elif isinstance(node, Sequence):
            for item in node.items:
                self.write(item, in_secret=in_secret)
        elif isinstance(node, Choice):
            chosen = self.below(len(node.items)) if self.variant else _first(node)
            self.write(node.items[chosen], in_secret=in_secret)
        elif isinstance(node, Group):
            start = len(self.text)
            is_secret = node.index == (self.secret_group or 1)
            self.write(node.item, in_secret=in_secret or is_secret)
            self.groups[node.index] = (start, len(self.text))
        else:
            for _ in range(self._times(node, in_secret=in_secret)):
                self.write(node.item, in_secret=in_secret)

    def _times(self, node: Repeat, *, in_secret: bool) -> int:
        least, most = node.least, node.most
        if not isinstance(node.item, Chars):
            # So many of something that has parts: as few as there can be, now and then one more.
            more = self.below(2) if self.variant else 0
            more = max(more, self.longer // 4) if in_secret else more
            return least + more if most is None else min(most, least + more)
        ranges = node.item.written
        is_text = size(common(ranges, PRINTABLE)) >= WIDE
        if is_text and holds(node.item.ranges, "\n") and most is None:
            usual_length = 100 + self.below(40)
        elif is_text or not _is_token(ranges):
            usual_length = self.below(4) if self.variant > 1 else 0
        elif in_secret:
            usual_length = 24 + self.below(12) + (self.below(60) if self.variant > 3 else 0)
        else:
            usual_length = self.below(12) if self.variant > 1 else 0
        if node.lazy and not (is_text and most is None):
            usual_length = min(usual_length, least + (self.below(6) if self.variant > 1 else 0))
        if in_secret and self.variant % 2 and (is_text or (node.lazy and _is_token(ranges))):
            # What is asked of a secret, such as entropy, is not met by the shortest of `(\S+?)`.
            usual_length = 20 + self.below(12)
        if least >= 16:
            usual_length = max(usual_length, least + self.below(9))
        usual_length = max(usual_length, least, self.longer if in_secret else 0)
        return usual_length if most is None else min(most, usual_length)


def _first(node: Choice) -> int:
    """Return the first that is more than an edge or nothing."""
    for index, item in enumerate(node.items):
        if not isinstance(item, Edge) and item != Sequence(()):
            return index
    return 0


def _is_token(ranges: Ranges) -> bool:
    return size(common(ranges, ALNUM)) >= 8


@lru_cache(maxsize=4096)
def usual(ranges: Ranges) -> str:
    """Return the characters of a class that stand in real values: letters and digits where it has some, else signs."""
    letters = _listed(common(ranges, ALNUM))
    if len(letters) > 1 or (letters and size(ranges) == 1):
        return letters
    if size(ranges) <= 1:
        return _listed(ranges)
    if preferred := next((sign for sign in _PREFERRED if holds(ranges, sign)), ""):
        return preferred
    others = _listed(common(ranges, PRINTABLE)) or _listed(common(ranges, SPACE))
    # A lone surrogate is no text, and a NUL makes a file binary.
    return others or "".join(one for one in _listed(ranges) if one != "\0" and not "\ud800" <= one <= "\udfff")


def _listed(ranges: Ranges) -> str:
    return "".join(chr(code) for low, high in ranges for code in range(low, min(high, low + 200) + 1))


def planted(made: Made, words: str, part: tuple[int, int], turn: int, *, fold: bool) -> Made | None:
    """Return the same with `words` written over it somewhere in a part, where each character may stand; else None.

    Args:
        made: a text of the regex.
        words: what is to stand in it.
        part: the start and end of the part in which it may stand.
        turn: other numbers choose other places.
        fold: whether the other case does as well.
    """
    fitting: list[tuple[int, str]] = []
    for place in range(part[0], part[1] - len(words) + 1):
        written = _written(made.slots[place : place + len(words)], words, fold=fold)
        if written is not None:
            fitting.append((place, written))
    if not fitting:
        return None
    place, written = fitting[turn % len(fitting)]
    return replace(made, text=made.text[:place] + written + made.text[place + len(words) :])


def replaced(made: Made, words: str, part: tuple[int, int]) -> Made:
    """Return the same with a part replaced by other words; whether the regex takes them there is not looked at."""
    start, end = part
    longer = len(words) - (end - start)

    def moved(place: int) -> int:
        return place if place <= start else max(start, place + longer)

    slots = tuple(Chars(((ord(word), ord(word)),), ((ord(word), ord(word)),)) for word in words)
    return Made(
        made.text[:start] + words + made.text[end:],
        made.slots[:start] + slots + made.slots[end:],
        tuple((kind, moved(place)) for kind, place in made.edges if not start < place < end),
        {
            index: (first, moved(last)) if first <= start else (moved(first), moved(last))
            for index, (first, last) in made.groups.items()
        },
    )


def _written(slots: tuple[Chars, ...], words: str, *, fold: bool) -> str | None:
    written = ""
    for slot, character in zip(slots, words, strict=True):
        if holds(slot.ranges, character):
            written += character
            continue
        other = character.swapcase()
        if not fold or len(other) != 1 or not holds(slot.ranges, other):
            return None
        written += other
    return written


def in_context(made: Made) -> tuple[Made, str, str] | None:
    """Return the text with its edges mended, and what has to stand before and after it; None when they cannot hold."""
    for before in ("", "\n", " ", "x"):
        for after in ("\n", "", " ", "x"):
            if (text := in_context_of(made, before, after)) is not None:
                return replace(made, text=text), before, after
    return None


def in_context_of(made: Made, before: str, after: str) -> str | None:
    """Return the text with its edges mended, where they hold between these two; else None."""
    text = _mended(made)
    whole = before + text + after
    return text if all(_holds(kind, whole, place + len(before)) for kind, place in made.edges) else None


def _mended(made: Made) -> str:
    text = made.text
    for kind, place in made.edges:
        if 0 < place < len(text) and not _holds(kind, text, place):
            for index in (place - 1, place):
                changed = _other(made.slots[index], text[index], kind)
                if changed:
                    text = text[:index] + changed + text[index + 1 :]
                    break
    return text


def _other(slot: Chars, now: str, kind: str) -> str | None:
    if kind in {BEGIN_LINE, END_LINE}:
        return "\n" if holds(slot.ranges, "\n") else None
    wanted = (" -/.:", "x0") if holds(WORD, now) else ("x0", " -/.:")
    return next((one for one in wanted[0] if holds(slot.ranges, one)), None)


def _holds(kind: str, text: str, place: int) -> bool:
    if kind == BEGIN_TEXT:
        return place == 0
    if kind == END_TEXT:
        return place == len(text)
    if kind == BEGIN_LINE:
        return place == 0 or text[place - 1] == "\n"
    if kind == END_LINE:
        return place == len(text) or text[place] == "\n"
    is_edge = (place > 0 and holds(WORD, text[place - 1])) != (place < len(text) and holds(WORD, text[place]))
    return is_edge == (kind == WORD_EDGE)
