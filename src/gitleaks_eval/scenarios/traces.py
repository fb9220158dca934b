"""Whether a text holds a piece of a secret, asked of keyed hashes: no process has to keep the secrets."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from gitleaks_eval.scenarios.secrets import MASK, REVEALING_LENGTH, preview

DIGEST_BYTES = 8
# Of the eight characters of a piece.
LEAST_DIFFERENT = 5
_LETTERS = re.compile(r"[^\W\d_]+")
# As in no word, and in most tokens: `aB`, `aBc`; camelCase has one to the word.
_CAPITAL_WITHIN = re.compile(r"[a-z][A-Z][a-z]?[A-Z]|[A-Z][a-z][A-Z]|[A-Z]{2,}[a-z]+[A-Z]")
# The pairs of neighbouring letters that most English words, and names in programs, are made of.
_COMMON_PAIRS = frozenset(
    "ab ac ad ag ai ak al am an ap ar as at au av aw ay ba be bi bl bo br bu by ca ce ch ci ck cl co cr ct cu da de di"
    " do dr du ea ec ed ee ef eg ei el em en ep er es et ev ew ex ey fa fe ff fi fl fo fr fu ga ge gh gi gl gn go gr gu"
    " ha he hi ho hr ht hu ia ib ic id ie if ig il im in io ip ir is it iv ke ki la ld le li ll lo ls lt lu ly ma mb me"
    " mi mm mo mp ms mu na nc nd ne nf ng ni nk nl nn no ns nt nu ny oa oc od of og oi ok ol om on oo op or os ot ou ov"
    " ow pa pe ph pi pl po pp pr ps pt pu qu ra rc rd re rg ri rk rl rm rn ro rr rs rt ru rv ry sa sc se sh si sk sl sm"
    " so sp ss st su sw sy ta te th ti tl to tr ts tt tu tw ty ua ub uc ud ue ui ul um un up ur us ut va ve vi vo wa we"
    " wh wi wn wo ws xt ye yn yp ys ze".split()
)


@dataclass(frozen=True, slots=True)
class Traces:
    """The hashes of every eight consecutive characters of some secrets, beyond their public prefixes."""

    key: bytes
    digests: frozenset[bytes]

    def __repr__(self) -> str:
        """Without the key: with it, short pieces could be tried out."""
        return f"<Traces of {len(self.digests)} pieces>"

    def without(self, texts: Iterable[str]) -> "Traces":
        """These traces, less the pieces that stand in texts that are nobody's secret."""
        return Traces(self.key, self.digests.difference(*(_digests(text, self.key) for text in texts)))

    def __or__(self, other: "Traces") -> "Traces":
        """The traces of both, which must have one key."""
        return Traces(self.key, self.digests | other.digests)

    def found_in(self, text: str) -> bool:
        """Whether eight consecutive characters of a secret stand in `text`."""
        return bool(self.digests) and not self.digests.isdisjoint(_digests(text, self.key))

    def cut_out_of(self, text: str) -> str:
        """`text` with a mask in place of each stretch that is made of such pieces."""
        ends = [
            start + REVEALING_LENGTH
            for start, digest in enumerate(_each_digest(text, self.key) if self.digests else ())
            if digest in self.digests
        ]
        kept, after = "", 0
        for end in ends:
            start = end - REVEALING_LENGTH
            if start > after or not kept:
                kept += text[after:start] + MASK
            after = end
        return kept + text[after:]

    def as_bytes(self) -> bytes:
        """The hashes one after the other, sorted; `traces_from_bytes` is the inverse."""
        return b"".join(sorted(self.digests))


def traces_of(secrets: Iterable[str], key: bytes) -> Traces:
    """The traces of these secrets; one that has less than eight characters beyond its prefix leaves none."""
    values = (secret.removeprefix(preview(secret).removesuffix(MASK)) for secret in set(secrets))
    return Traces(key, frozenset(digest for value in values for digest in _digests(value, key)))


def identifying_traces_of(secrets: Iterable[str], key: bytes) -> Traces:
    """The traces of what a scanner took for secrets, less the pieces that could identify none.

    A scanner of real repositories reports whole lines of code: pieces with a space, of few different characters or
    that read like words stand in every text.
    """
    values = (secret.removeprefix(preview(secret).removesuffix(MASK)) for secret in set(secrets))
    pieces = {piece for value in values for piece in _pieces(value) if _identifies(piece)}
    return Traces(key, frozenset(_digest(piece, key) for piece in pieces))


def traces_from_bytes(content: bytes, key: bytes) -> Traces:
    """Traces that another process of the run left."""
    return Traces(
        key, frozenset(content[start : start + DIGEST_BYTES] for start in range(0, len(content), DIGEST_BYTES))
    )


def _digests(text: str, key: bytes) -> set[bytes]:
    return {_digest(piece, key) for piece in set(_pieces(text))}


def _each_digest(text: str, key: bytes) -> Iterator[bytes]:
    known: dict[str, bytes] = {}
    for piece in _pieces(text):
        if piece not in known:
            known[piece] = _digest(piece, key)
        yield known[piece]


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + REVEALING_LENGTH] for start in range(len(text) - REVEALING_LENGTH + 1))


def _digest(piece: str, key: bytes) -> bytes:
    return hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, key=key).digest()


def _identifies(piece: str) -> bool:
    """Whether a piece could identify a secret: it has no space, many different characters, and reads like no words."""
    if any(char.isspace() for char in piece) or len(set(piece)) < LEAST_DIFFERENT:
        return False
    words = _LETTERS.findall(piece)
    if any(char.isdigit() for char in piece) or any(_CAPITAL_WITHIN.search(word) for word in words):
        return True
    pairs = [pair for word in words for pair in map("".join, pairwise(word.lower()))]
    # Of random letters one pair in three is among them, of English words nine in ten.
    return sum(pair in _COMMON_PAIRS for pair in pairs) * 4 < len(pairs) * 3
