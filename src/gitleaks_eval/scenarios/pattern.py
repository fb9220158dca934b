"""A value from a regular expression and a seed: the same on every machine, now and in ten years.

Only what has a bounded set of values is taken: literals, classes, groups, alternation, bounded repeats.
The random stream is SHA-256 in counter mode, because no library promises that its choices stay the same.
"""

import hashlib
import string
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

REPEATED_AT_MOST = 10_000
NESTED_AT_MOST = 50
LONGEST_PATTERN = 10_000
# What making one value may take: choices and characters, also those of repeats of nothing.
MOST_STEPS = 20_000
# Of all classes of a pattern together: a range may be the whole of Unicode.
MOST_CLASS_CHARACTERS = 2_000_000
_CLASS_ESCAPES = {"d": string.digits, "w": string.ascii_letters + string.digits + "_"}
_LITERAL_ESCAPES = {"n": "\n", "t": "\t"}
_UNSUPPORTED = {
    "*": "an unbounded repeat; write {m,n}",
    "+": "an unbounded repeat; write {1,n}",
    ".": "any character; write a class such as [a-z0-9], or \\. for a dot",
    "^": "an anchor; leave it out",
    "$": "an anchor; leave it out",
    "{": "a repeat of nothing; write \\{ for a brace",
    "?": "a repeat of nothing; write \\? for a question mark",
}

Choose = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a pattern: makes its piece of the value, in so many steps at most."""

    make: Callable[[Choose], str]
    steps: int = 1


class PatternError(ValueError):
    """The pattern holds something that is not supported; the text names the place (1-based)."""


def generate(pattern: str, seed: str) -> str:
    """Return the value that `pattern` and `seed` name.

    Raises:
        PatternError: when the pattern is malformed or holds anything unbounded.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"character {LONGEST_PATTERN + 1}: a pattern has {LONGEST_PATTERN} characters at most")
    return _parsed(pattern).make(_chooser(f"{seed}\0{pattern}"))


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> Node:
    # Each of 250 places has a value of its own, of one pattern.
    return _Parser(pattern).parse()


def random_stream(seed: str) -> Iterator[int]:
    """Endless 32-bit numbers that depend on the seed only."""
    counter = 0
    while True:
        block = hashlib.sha256(f"{seed}\0{counter}".encode()).digest()
        yield from struct.unpack(">8I", block)
        counter += 1


def _chooser(seed: str) -> Choose:
    stream = random_stream(seed)

    def choose(options: int) -> int:
        # Rejection keeps the choice even; a plain remainder would prefer the first options.
        limit = (1 << 32) - (1 << 32) % options
        number = next(stream)
        while number >= limit:
            number = next(stream)
        return number % options

    return choose


def _one_of(alphabet: str) -> Node:
    size = len(alphabet)
    return Node(lambda choose: alphabet[choose(size)])


def _literal(text: str) -> Node:
    return Node(lambda _: text)


def _sequence(nodes: list[Node]) -> Node:
    return Node(lambda choose: "".join(node.make(choose) for node in nodes), sum((node.steps for node in nodes), 1))


def _alternatives(nodes: list[Node]) -> Node:
    return Node(lambda choose: nodes[choose(len(nodes))].make(choose), 1 + max(node.steps for node in nodes))


def _repeated(node: Node, least: int, most: int) -> Node:
    make = node.make
    return Node(
        lambda choose: "".join([make(choose) for _ in range(least + choose(most - least + 1))]),
        1 + most * node.steps,
    )


@dataclass
class _Parser:
    """Recursive descent over one pattern; `at` is the next character."""

    pattern: str
    at: int = 0
    depth: int = 0
    class_characters: int = 0

    def parse(self) -> Node:
        node = self._choice()
        if self.at < len(self.pattern):
            raise self._error(self.at, "an unmatched )")
        if node.steps > MOST_STEPS:
            raise self._error(0, f"repeats that may take more than {MOST_STEPS} steps")
        return node

    def _choice(self) -> Node:
        branches = [self._branch()]
        while self._take("|"):
            branches.append(self._branch())
        return branches[0] if len(branches) == 1 else _alternatives(branches)

    def _branch(self) -> Node:
        nodes = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            nodes.append(self._repeat(self._atom()))
        return _sequence(nodes)

    def _atom(self) -> Node:
        start = self.at
        char = self._next()
        if char == "(":
            return self._group(start)
        if char == "[":
            return _one_of(self._class(start))
        if char == "\\":
            escaped = self._escape(start)
            return _one_of(escaped) if len(escaped) > 1 else _literal(escaped)
        if char in _UNSUPPORTED:
            raise self._error(start, _UNSUPPORTED[char])
        return _literal(char)

    def _group(self, start: int) -> Node:
        self.depth += 1
        if self.depth > NESTED_AT_MOST:
            raise self._error(start, f"more than {NESTED_AT_MOST} groups in each other")
        if self._take("?") and not self._take(":"):
            raise self._error(start, "a special group; only ( ) and (?: ) are supported")
        node = self._choice()
        if not self._take(")"):
            raise self._error(start, "a group that is never closed")
        self.depth -= 1
        return node

    def _class(self, start: int) -> str:
        if self._take("^"):
            raise self._error(start, "a negated class; name the characters instead")
        items = []
        while not self._take("]"):
            if self.at >= len(self.pattern):
                raise self._error(start, "a class that is never closed")
            items.append(self._class_item())
        alphabet = "".join(items)
        if not alphabet:
            raise self._error(start, "an empty class")
        # Each character once, so that [a-za] is as even as [a-z].
        return "".join(dict.fromkeys(alphabet))

    def _class_item(self) -> str:
        start = self.at
        low = self._class_char()
        is_range = self.pattern[self.at : self.at + 1] == "-" and self.pattern[self.at + 1 : self.at + 2] != "]"
        if len(low) != 1 or not is_range:
            return low
        self.at += 1
        high = self._class_char()
        if len(high) != 1 or high < low:
            raise self._error(start, "a range that runs backwards")
        self.class_characters += ord(high) - ord(low)
        if self.class_characters > MOST_CLASS_CHARACTERS:
            raise self._error(start, f"ranges of more than {MOST_CLASS_CHARACTERS} characters in all")
        return "".join(map(chr, range(ord(low), ord(high) + 1)))

    def _class_char(self) -> str:
        start = self.at
        char = self._next()
        return self._escape(start) if char == "\\" else char

    def _escape(self, start: int) -> str:
        char = self._next()
        if char in _CLASS_ESCAPES:
            return _CLASS_ESCAPES[char]
        if char in _LITERAL_ESCAPES:
            return _LITERAL_ESCAPES[char]
        if char.isalnum():
            raise self._error(start, f"the escape \\{char}, which is not supported")
        return char

    def _repeat(self, node: Node) -> Node:
        start = self.at
        if self._take("?"):
            least, most = 0, 1
        elif self._take("{"):
            least, most = self._bounds(start)
        else:
            return node
        following = self.pattern[self.at : self.at + 1]
        if following and following in "?+*{":
            raise self._error(self.at, "a repeat of a repeat; put the inner one in a group")
        repeated = _repeated(node, least, most)
        if repeated.steps > MOST_STEPS:
            raise self._error(start, f"repeats of repeats that may take more than {MOST_STEPS} steps")
        return repeated

    def _bounds(self, start: int) -> tuple[int, int]:
        end = self.pattern.find("}", self.at)
        least, comma, most = self.pattern[self.at : end].partition(",")
        digits = (least, most) if comma else (least, least)
        if end < 0 or not all(bound.isascii() and bound.isdigit() for bound in digits):
            raise self._error(start, "a repeat that is not {n} or {m,n}")
        self.at = end + 1
        # Python itself refuses to read a number of thousands of digits.
        too_long = max(map(len, digits)) > 9
        low, high = (0, REPEATED_AT_MOST + 1) if too_long else (int(digits[0]), int(digits[1]))
        if low > high or high > REPEATED_AT_MOST:
            raise self._error(start, f"a repeat that runs backwards or beyond {REPEATED_AT_MOST}")
        return low, high

    def _next(self) -> str:
        if self.at >= len(self.pattern):
            raise self._error(self.at, "an end in the middle")
        self.at += 1
        return self.pattern[self.at - 1]

    def _take(self, char: str) -> bool:
        if self.pattern[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True

    def _error(self, at: int, what: str) -> PatternError:
        return PatternError(f"character {at + 1}: {what}")
