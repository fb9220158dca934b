"""Sets of characters as sorted ranges of code points, and the classes that Go's regex syntax names."""

from collections.abc import Iterable
from functools import lru_cache

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]

ANY: Ranges = ((0, LAST),)
ANY_BUT_NEWLINE: Ranges = ((0, 9), (11, LAST))
DIGITS: Ranges = ((48, 57),)
UPPER: Ranges = ((65, 90),)
LOWER: Ranges = ((97, 122),)
ALNUM: Ranges = (*DIGITS, *UPPER, *LOWER)
WORD: Ranges = (*DIGITS, *UPPER, (95, 95), *LOWER)
# Without the vertical tab, unlike Python.
SPACE: Ranges = ((9, 10), (12, 13), (32, 32))
PRINTABLE: Ranges = ((33, 126),)

PERL = {"d": DIGITS, "s": SPACE, "w": WORD}
POSIX: dict[str, Ranges] = {
    "alnum": ALNUM,
    "alpha": (*UPPER, *LOWER),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": DIGITS,
    "graph": PRINTABLE,
    "lower": LOWER,
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": UPPER,
    "word": WORD,
    "xdigit": (*DIGITS, (65, 70), (97, 102)),
}
# Parts of the classes of Unicode, enough to make a value: the whole tables differ between versions of Unicode.
_LETTERS: Ranges = (*UPPER, *LOWER, (0xAA, 0xAA), (0xB5, 0xB5), (0xBA, 0xBA), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2C1))
_OTHER_LETTERS: Ranges = (
    (0x370, 0x373),
    (0x388, 0x38A),
    (0x38E, 0x3A1),
    (0x3A3, 0x3F5),
    (0x3F7, 0x3FF),
    (0x400, 0x481),
    (0x48A, 0x52F),
    (0x5D0, 0x5EA),
    (0x3041, 0x3096),
)
_HAN: Ranges = ((0x4E00, 0x9FFF),)
UNICODE: dict[str, Ranges] = {
    "Any": ANY,
    "L": (*_LETTERS, *_OTHER_LETTERS, *_HAN),
    "Lu": (*UPPER, (0xC0, 0xD6), (0xD8, 0xDE), (0x391, 0x3A1), (0x3A3, 0x3A9), (0x410, 0x42F)),
    "Ll": (*LOWER, (0xDF, 0xF6), (0xF8, 0xFF), (0x3B1, 0x3C9), (0x430, 0x44F)),
    "Lt": ((0x1C5, 0x1C5), (0x1C8, 0x1C8)),
    "Lm": ((0x2B0, 0x2C1),),
    "Lo": ((0x5D0, 0x5EA), (0x3041, 0x3096), *_HAN),
    "M": ((0x300, 0x36F),),
    "Mn": ((0x300, 0x36F),),
    "N": (*DIGITS, (0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE), (0x660, 0x669)),
    "Nd": (*DIGITS, (0x660, 0x669)),
    "Nl": ((0x2160, 0x2182),),
    "No": ((0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE)),
    "P": ((33, 35), (37, 42), (44, 47), (58, 59), (63, 64), (91, 93), (95, 95), (123, 123), (125, 125)),
    "Pc": ((95, 95),),
    "Pd": ((45, 45), (0x2010, 0x2015)),
    "Ps": ((40, 40), (91, 91), (123, 123)),
    "Pe": ((41, 41), (93, 93), (125, 125)),
    "Pi": ((0xAB, 0xAB),),
    "Pf": ((0xBB, 0xBB),),
    "Po": ((33, 35), (37, 39), (42, 42), (44, 44), (46, 47), (58, 59), (63, 64), (92, 92)),
    "S": ((36, 36), (43, 43), (60, 62), (94, 94), (96, 96), (124, 124), (126, 126)),
    "Sc": ((36, 36), (0xA2, 0xA5), (0x20AC, 0x20AC)),
    "Sk": ((94, 94), (96, 96)),
    "Sm": ((43, 43), (60, 62), (124, 124), (126, 126)),
    "So": ((0xA6, 0xA6), (0xA9, 0xA9)),
    "Z": ((32, 32), (0xA0, 0xA0), (0x2000, 0x200A), (0x2028, 0x2029)),
    "Zs": ((32, 32), (0xA0, 0xA0), (0x2000, 0x200A)),
    "Zl": ((0x2028, 0x2028),),
    "Zp": ((0x2029, 0x2029),),
    "C": ((0, 31), (127, 159)),
    "Cc": ((0, 31), (127, 159)),
    "Cf": ((0xAD, 0xAD), (0x200B, 0x200F)),
    "Co": ((0xE000, 0xF8FF),),
    "Latin": _LETTERS,
    "Greek": ((0x370, 0x373), (0x388, 0x38A), (0x38E, 0x3A1), (0x3A3, 0x3E1)),
    "Cyrillic": ((0x400, 0x481), (0x48A, 0x52F)),
    "Hebrew": ((0x5D0, 0x5EA),),
    "Arabic": ((0x620, 0x63F), (0x641, 0x64A)),
    "Han": _HAN,
    "Hiragana": ((0x3041, 0x3096),),
    "Katakana": ((0x30A1, 0x30FA),),
    "Hangul": ((0xAC00, 0xD7A3),),
    "Thai": ((0xE01, 0xE3A),),
}


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the same characters as sorted ranges that do not touch each other."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def negated(ranges: Ranges) -> Ranges:
    """Return all other characters."""
    result, start = [], 0
    for low, high in merged(ranges):
        if start < low:
            result.append((start, low - 1))
        start = high + 1
    return (*result, (start, LAST)) if start <= LAST else tuple(result)


def folded(ranges: Ranges) -> Ranges:
    """Return the characters, and the other case of those that are ASCII letters or have one simple other case."""
    more: list[tuple[int, int]] = []
    for low, high in ranges:
        for letters, distance in ((UPPER[0], 32), (LOWER[0], -32)):
            first, last = max(low, letters[0]), min(high, letters[1])
            if first <= last:
                more.append((first + distance, last + distance))
        if low == high > 127:
            more += [(ord(other), ord(other)) for other in chr(low).swapcase() if len(chr(low).swapcase()) == 1]
    return merged((*ranges, *more))


def holds(ranges: Ranges, character: str) -> bool:
    """Return whether a character is one of them."""
    code = ord(character)
    for low, high in ranges:  # noqa: SIM110 - it is asked a million times, and `any` takes twice as long
        if low <= code <= high:
            return True
    return False


@lru_cache(maxsize=4096)
def common(ranges: Ranges, others: Ranges) -> Ranges:
    """Return the characters that are in both."""
    return tuple(
        (max(low, first), min(high, last))
        for low, high in ranges
        for first, last in others
        if max(low, first) <= min(high, last)
    )


def size(ranges: Ranges) -> int:
    """Return how many characters there are."""
    return sum(high - low + 1 for low, high in merged(ranges))
