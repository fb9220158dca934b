"""Regular expressions in the syntax of Go (RE2), read into a tree.

Only the scanner decides what matches. The tree is there to make values of a regex, and to foresee what an
entry of an allowlist is about.
"""

from dataclasses import dataclass
from functools import lru_cache

from gitleaks_eval.regex.charsets import (
    ANY,
    ANY_BUT_NEWLINE,
    LAST,
    PERL,
    POSIX,
    UNICODE,
    Ranges,
    folded,
    merged,
    negated,
)

# Go takes no larger repeat, and no deeper nesting; ours is lower because Python's stack is.
REPEATED_AT_MOST = 1000
NESTED_AT_MOST = 150
LENGTH_AT_MOST = 10_000
BEGIN_TEXT, END_TEXT, BEGIN_LINE, END_LINE, WORD_EDGE, NO_WORD_EDGE = "\\A", "\\z", "(?m:^)", "(?m:$)", "\\b", "\\B"
_COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}


class RegexError(ValueError):
    """Go refuses the regex, or we cannot make values of it; the text says why and quotes none of it."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these; `written` are those that the regex spells out, without the other case of each."""

    ranges: Ranges
    written: Ranges


@dataclass(frozen=True, slots=True)
class Edge:
    """Something that holds between two characters: one of the six constants above."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; none at all is the empty text."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these, the first that fits."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """So many of an item; `most` is None where there is no end."""

    item: "Node"
    least: int
    most: int | None
    lazy: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A group that captures, counted from 1."""

    item: "Node"
    index: int


Node = Chars | Edge | Sequence | Choice | Repeat | Group


@dataclass(frozen=True, slots=True)
class Regex:
    """A regex that was read: its text, its tree, and how many groups capture."""

    text: str
    node: Node
    groups: int


@lru_cache(maxsize=8192)
def parse_regex(text: str) -> Regex:
    """Read a regex as Go would.

    Raises:
        RegexError: when Go refuses it, or it is too long or too deep for us.
    """
    if len(text) > LENGTH_AT_MOST:
        raise RegexError(f"the regex has {len(text)} characters; at most {LENGTH_AT_MOST} are read")
    parser = _Parser(text)
    node = parser.choice(_Flags(), 0)
    if parser.place < len(text):
        raise RegexError("the regex has a `)` too many")
    return Regex(text, node, parser.groups)


@dataclass(frozen=True, slots=True)
class _Flags:
    fold: bool = False
    lines: bool = False
    dot_all: bool = False
    lazy: bool = False

    def changed(self, letters: str, *, to: bool) -> "_Flags":
        names = {"i": "fold", "m": "lines", "s": "dot_all", "U": "lazy"}
        if unknown := set(letters) - names.keys():
            raise RegexError(f"Go has no flag {min(unknown)!r}")
        values = {name: getattr(self, name) for name in names.values()}
        return _Flags(**{**values, **{names[letter]: to for letter in letters}})


class _Parser:
    """A reader that goes through the text once; `place` is where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.groups = 0

    def choice(self, flags: _Flags, depth: int) -> Node:
        if depth > NESTED_AT_MOST:
            raise RegexError(f"the regex is nested more than {NESTED_AT_MOST} deep")
        choices: list[Node] = []
        items: list[Node] = []
        while (ahead := self.text[self.place : self.place + 1]) and ahead != ")":
            if self._take("|"):
                choices.append(_sequence(items))
                items = []
                continue
            if ahead == "(" and (new := self._flags_alone(flags)) is not None:
                flags = new
                continue
            if ahead == "\\" and self._take("\\Q"):
                quoted, found, _ = self.text[self.place :].partition("\\E")
                self.place += len(quoted) + len(found)
                literals: list[Node] = [_chars(((ord(one), ord(one)),), flags) for one in quoted]
                # A repeat after the quotation is one of its last character.
                items += [*literals[:-1], *(self._repeated(last, flags) for last in literals[-1:])]
                continue
            items.append(self._repeated(self._one(flags, depth), flags))
        choices.append(_sequence(items))
        return choices[0] if len(choices) == 1 else Choice(tuple(choices))

    def _take(self, expected: str) -> bool:
        if not self.text.startswith(expected, self.place):
            return False
        self.place += len(expected)
        return True

    def _next(self) -> str:
        if self.place >= len(self.text):
            raise RegexError("the regex ends in the middle of something")
        self.place += 1
        return self.text[self.place - 1]

    def _until(self, end: str) -> str:
        there = self.text.find(end, self.place)
        if there < 0:
            raise RegexError(f"the regex has no {end!r} where one belongs")
        taken, self.place = self.text[self.place : there], there + len(end)
        return taken

    def _flags_alone(self, flags: _Flags) -> _Flags | None:
        if not self.text.startswith("(?", self.place):
            return None
        end = self.place + 2
        while end < len(self.text) and (self.text[end].isalpha() or self.text[end] == "-"):
            end += 1
        if end == self.place + 2 or not self.text.startswith(")", end):
            return None
        letters = self.text[self.place + 2 : end]
        self.place = end + 1
        return _with_letters(flags, letters)

    def _one(self, flags: _Flags, depth: int) -> Node:
        character = self._next()
        if character in "^$":
            begins, ends = (BEGIN_LINE, END_LINE) if flags.lines else (BEGIN_TEXT, END_TEXT)
            return Edge(begins if character == "^" else ends)
        if character == "(":
            return self._group(flags, depth)
        if character in "*+?":
            raise RegexError(f"the regex has a {character!r} with nothing to repeat")
        if character == "\\" and self.text[self.place : self.place + 1] in set("AzbB"):
            return Edge("\\" + self._next())
        return _chars(self._characters(character, flags), flags)

    def _characters(self, character: str, flags: _Flags) -> Ranges:
        if character == "[":
            return self._class(flags)
        if character == ".":
            return ANY if flags.dot_all else ANY_BUT_NEWLINE
        return self._escape() if character == "\\" else ((ord(character), ord(character)),)

    def _group(self, flags: _Flags, depth: int) -> Node:
        index = 0
        if self._take("?"):
            if not self.text.startswith(("<=", "<!"), self.place) and (self._take("P<") or self._take("<")):
                if not self._until(">").replace("_", "a").isalnum():
                    raise RegexError("the regex has a group whose name is no name")
                index = self.groups = self.groups + 1
            else:
                if self.text.startswith(("=", "!", "<"), self.place):
                    raise RegexError("Go does not look ahead or behind: `(?=`, `(?!`, `(?<`")
                flags = _with_letters(flags, self._until(":"))
        else:
            index = self.groups = self.groups + 1
        node = self.choice(flags, depth + 1)
        if not self._take(")"):
            raise RegexError("the regex has a `(` that nothing closes")
        return Group(node, index) if index else node

    def _repeated(self, item: Node, flags: _Flags) -> Node:
        counts = self._counts()
        if counts is None:
            return item
        lazy = self._take("?") != flags.lazy
        if self._counts() is not None:
            raise RegexError("the regex repeats a repeat")
        least, most = counts
        if max(least, most or 0) > REPEATED_AT_MOST or (most is not None and most < least):
            raise RegexError(f"the regex has a repeat count that Go refuses (at most {REPEATED_AT_MOST})")
        return Repeat(item, least, most, lazy)

    def _counts(self) -> tuple[int, int | None] | None:
        if (ahead := self.text[self.place : self.place + 1]) != "{":
            self.place += ahead in _COUNTS
            return _COUNTS.get(ahead)
        inside, closed, _ = self.text[self.place + 1 : self.place + 24].partition("}")
        least, comma, most = inside.partition(",")
        # Go takes what is no count for a brace.
        if not closed or not _is_number(least) or (most and not _is_number(most)):
            return None
        self.place += len(inside) + 2
        return int(least), (int(most) if most else None) if comma else int(least)

    def _escape(self) -> Ranges:
        character = self._next()
        if character in _CONTROLS:
            character = _CONTROLS[character]
        elif character.lower() in PERL:
            perl = PERL[character.lower()]
            return perl if character.islower() else negated(perl)
        elif character in "pP":
            return self._unicode(is_negated=character == "P")
        elif character == "x":
            digits = self._until("}") if self._take("{") else self._next() + self._next()
            character = _character(digits, 16)
        elif character == "0" or (character in "1234567" and self.text[self.place : self.place + 1].isdigit()):
            while len(character) < 3 and self.text[self.place : self.place + 1] in set("01234567"):
                character += self._next()
            character = _character(character, 8)
        elif character.isalnum() or ord(character) > 127:
            raise RegexError(f"Go has no escape \\{character}" if character.isascii() else "Go has no such escape")
        return ((ord(character), ord(character)),)

    def _unicode(self, *, is_negated: bool) -> Ranges:
        name = self._until("}") if self._take("{") else self._next()
        if name.startswith("^"):
            name, is_negated = name[1:], not is_negated
        if name not in UNICODE:
            raise RegexError("the regex has a class of Unicode that we make no values of")
        return negated(UNICODE[name]) if is_negated else merged(UNICODE[name])

    def _class(self, flags: _Flags) -> Ranges:
        is_negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        is_first = True
        while is_first or not self._take("]"):
            is_first = False
            if self._take("[:"):
                name = self._until(":]")
                posix = POSIX.get(name.removeprefix("^"))
                if posix is None:
                    raise RegexError("the regex has a class [[:…:]] that Go does not know")
                ranges += negated(posix) if name.startswith("^") else posix
                continue
            low = self._class_character()
            if self._is_range():
                self.place += 1
                high = self._class_character()
                if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or low[0][0] > high[0][1]:
                    raise RegexError("the regex has a range of characters that Go refuses")
                ranges.append((low[0][0], high[0][1]))
            else:
                ranges += low
        if not is_negated:
            return merged(ranges)
        # The other case of what is excluded is excluded as well.
        return negated(folded(merged(ranges)) if flags.fold else merged(ranges))

    def _is_range(self) -> bool:
        return self.text.startswith("-", self.place) and not self.text.startswith("-]", self.place)

    def _class_character(self) -> Ranges:
        character = self._next()
        return self._escape() if character == "\\" else ((ord(character), ord(character)),)


def _with_letters(flags: _Flags, letters: str) -> _Flags:
    added, minus, removed = letters.partition("-")
    if minus and not removed:
        raise RegexError("the regex has a flag group that Go refuses")
    return flags.changed(added, to=True).changed(removed, to=False)


def _chars(ranges: Ranges, flags: _Flags) -> Chars:
    if not ranges:
        raise RegexError("the regex has a class without characters")
    return _shared_chars(ranges, flags.fold)


@lru_cache(maxsize=4096)
def _shared_chars(ranges: Ranges, fold: bool) -> Chars:  # noqa: FBT001 - a key of the cache
    # A long regex has the same few again and again.
    return Chars(folded(ranges) if fold else ranges, ranges)


def _sequence(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Sequence(tuple(items))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _character(digits: str, base: int) -> str:
    try:
        code = int(digits, base)
    except ValueError:
        code = -1
    if not 0 <= code <= LAST:
        raise RegexError("the regex has an escape of a character that is none")
    return chr(code)
