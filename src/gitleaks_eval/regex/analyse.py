"""What can be foreseen of a regex without the scanner: what it matches, what its values cannot hold.

Nothing that is foreseen is reported by itself: it only spares the scanner questions, or gives the reason for
what the scanner has said.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

from gitleaks_eval.regex.charsets import LAST, Ranges, holds, merged, negated, size
from gitleaks_eval.regex.parse import (
    BEGIN_TEXT,
    END_TEXT,
    Chars,
    Choice,
    Edge,
    Group,
    Node,
    Regex,
    RegexError,
    Repeat,
    Sequence,
    parse_regex,
)

# Python's engine goes back and forth: what takes too long there is not asked.
VARYING_AT_MOST = 12
TEXT_AT_MOST = 400
LENGTH_AT_MOST = 2_000

Matcher = Callable[[str], bool]


@lru_cache(maxsize=8192)
def matcher(text: str) -> Matcher | None:
    """Tell whether a regex matches somewhere in a short text; None where that cannot be told soon."""
    try:
        node = parse_regex(text).node if len(text) <= LENGTH_AT_MOST else None
    except RegexError:
        return None
    if node is None or not _is_cheap(node):
        return None
    try:
        search = re.compile(_translated(node)).search
    except (re.error, RecursionError, OverflowError):
        return None

    def matches(subject: str) -> bool:
        return search(subject[:TEXT_AT_MOST]) is not None

    return matches


def entropy(text: str) -> float:
    """Shannon's entropy in bits a character, as Gitleaks computes it."""
    length = len(text.encode("utf-8", "replace"))
    return -sum(count / length * math.log2(count / length) for count in Counter(text).values())


def entropy_at_most(node: Node) -> float:
    """Return a bound for the entropy of all values of a tree."""
    alphabet = size(merged(one for part in _nodes(node) if isinstance(part, Chars) for one in part.ranges))
    longest = _longest(node)
    return math.log2(max(1, min(alphabet, longest))) if longest else 0.0


def can_hold(node: Node, words: str) -> bool:
    """Return whether some value of a tree holds these words, without regard to case; edges are not looked at."""
    wanted = words.lower()
    return len(wanted) in _reached(node, frozenset({0}), wanted)


def group_node(regex: Regex, index: int) -> Node:
    """Return the tree of one group, or of the whole regex for 0 and for what is not there."""
    found = (part for part in _nodes(regex.node) if isinstance(part, Group) and part.index == index)
    group = next(found, None)
    return group.item if isinstance(group, Group) else regex.node


def variety(node: Node) -> float:
    """Return how much the shortest values of a tree vary, in bits: 0 for fixed words, in any case."""
    if isinstance(node, Chars):
        return math.log2(max(1, min(128, size(node.written))))
    if isinstance(node, Sequence):
        return sum(map(variety, node.items))
    if isinstance(node, Choice):
        return math.log2(len(node.items)) + min(map(variety, node.items))
    if isinstance(node, Group):
        return variety(node.item)
    return node.least * variety(node.item) if isinstance(node, Repeat) else 0.0


def has_fixed_words(node: Node, length: int = 3) -> bool:
    """Return whether each value of a tree holds letters that are always the same, so many in a row."""
    run = 0
    for part in _fixed(node):
        run = run + 1 if part else 0
        if run >= length:
            return True
    return False


def _fixed(node: Node) -> Iterator[bool]:
    """For each character that each value has, in order, whether it is a letter that is always the same."""
    if isinstance(node, Chars):
        yield size(node.written) == 1 and chr(node.written[0][0]).isalpha()
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _fixed(item)
    elif isinstance(node, Group):
        yield from _fixed(node.item)
    elif isinstance(node, Choice):
        # All of its words are fixed ones if each is: `(?:ghu|ghs)_`.
        yield from [True, True, True] if all(has_fixed_words(item) for item in node.items) else [False]
    elif isinstance(node, Repeat):
        yield from _fixed(node.item) if node.least == node.most == 1 else [False]


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Sequence | Choice):
        for item in node.items:
            yield from _nodes(item)
    elif isinstance(node, Repeat | Group):
        yield from _nodes(node.item)


def _longest(node: Node) -> float:
    if isinstance(node, Chars):
        return 1
    if isinstance(node, Sequence):
        return sum(map(_longest, node.items))
    if isinstance(node, Choice):
        return max(map(_longest, node.items))
    if isinstance(node, Group):
        return _longest(node.item)
    if isinstance(node, Repeat):
        longest = _longest(node.item)
        return longest * (math.inf if node.most is None else node.most) if longest else 0
    return 0


def _reached(node: Node, before: frozenset[int], words: str) -> frozenset[int]:
    """Return how many characters of the words may stand at the end of a value, from what stood before it."""
    done = len(words)
    if isinstance(node, Chars):
        after = {place + 1 for place in before if place < done and _may_be(node.ranges, words[place])}
        return frozenset(after | {0} | ({done} & before))
    if isinstance(node, Sequence):
        for item in node.items:
            before = _reached(item, before, words)
        return before
    if isinstance(node, Choice):
        return frozenset().union(*(_reached(item, before, words) for item in node.items))
    if isinstance(node, Group):
        return _reached(node.item, before, words)
    if isinstance(node, Repeat):
        return _reached_by_repeat(node, before, words)
    return before


def _reached_by_repeat(node: Repeat, before: frozenset[int], words: str) -> frozenset[int]:
    seen: list[frozenset[int]] = []
    for _ in range(node.least):
        if before in seen:
            # It goes round in a circle from here.
            circle = seen[seen.index(before) :]
            before = circle[(node.least - seen.index(before)) % len(circle)]
            break
        seen.append(before)
        before = _reached(node.item, before, words)
    more = len(words) + 2 if node.most is None else min(node.most - node.least, len(words) + 2)
    for _ in range(more):
        after = before | _reached(node.item, before, words)
        if after == before:
            break
        before = after
    return before


def _may_be(ranges: Ranges, character: str) -> bool:
    upper = character.upper()
    return holds(ranges, character) or (len(upper) == 1 and holds(ranges, upper))


def _is_cheap(node: Node) -> bool:
    """Return whether no repeat stands in another one, and few stand one after the other."""
    return _varying(node) <= VARYING_AT_MOST and _is_flat(node, repeated=False)


def _varying(node: Node) -> int:
    if isinstance(node, Sequence):
        return sum(map(_varying, node.items))
    if isinstance(node, Choice):
        return max(map(_varying, node.items))
    if isinstance(node, Group):
        return _varying(node.item)
    return (node.least != node.most) + _varying(node.item) if isinstance(node, Repeat) else 0


def _is_flat(node: Node, *, repeated: bool) -> bool:
    if isinstance(node, Sequence | Choice):
        return all(_is_flat(item, repeated=repeated) for item in node.items)
    if isinstance(node, Group):
        return _is_flat(node.item, repeated=repeated)
    if isinstance(node, Repeat):
        varies = node.most not in {node.least, 1}
        return not (varies and repeated) and _is_flat(
            node.item, repeated=repeated or (node.most is None or node.most > 1)
        )
    return True


def _translated(node: Node) -> str:
    if isinstance(node, Chars):
        return _character_class(node.ranges)
    if isinstance(node, Edge):
        # Go's words are ASCII, and its end of the text is the end.
        return {BEGIN_TEXT: r"\A", END_TEXT: r"\Z"}.get(node.kind, f"(?a:{node.kind})")
    if isinstance(node, Sequence):
        return "".join(map(_translated, node.items))
    if isinstance(node, Choice):
        return f"(?:{'|'.join(map(_translated, node.items))})"
    if isinstance(node, Group):
        return f"(?:{_translated(node.item)})"
    most = "" if node.most is None else node.most
    return f"(?:{_translated(node.item)}){{{node.least},{most}}}{'?' * node.lazy}"


@lru_cache(maxsize=4096)
def _character_class(ranges: Ranges) -> str:
    if ranges == ((0, LAST),):
        return r"[\s\S]"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return re.escape(chr(ranges[0][0]))
    if ranges[-1][1] == LAST:
        # Python takes a thousand times as long to compile a range to the end of Unicode.
        return "[^" + "".join(_range(low, high) for low, high in negated(ranges)) + "]"
    return "[" + "".join(_range(low, high) for low, high in ranges) + "]"


def _range(low: int, high: int) -> str:
    first, last = (chr(code) if chr(code).isalnum() and code < 128 else f"\\U{code:08x}" for code in (low, high))
    return first if low == high else f"{first}-{last}"
