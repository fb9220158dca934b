"""Whether a text holds a piece of a secret, asked of keyed hashes: no process has to keep the secrets."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from gitleaks_eval.scenarios.secrets import MASK, REVEALING_LENGTH, preview

DIGEST_BYTES = 8


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

    def as_bytes(self) -> bytes:
        """The hashes one after the other, sorted; `traces_from_bytes` is the inverse."""
        return b"".join(sorted(self.digests))


def traces_of(secrets: Iterable[str], key: bytes) -> Traces:
    """The traces of these secrets; one that has less than eight characters beyond its prefix leaves none."""
    values = (secret.removeprefix(preview(secret).removesuffix(MASK)) for secret in set(secrets))
    return Traces(key, frozenset(digest for value in values for digest in _digests(value, key)))


def traces_from_bytes(content: bytes, key: bytes) -> Traces:
    """Traces that another process of the run left."""
    return Traces(
        key, frozenset(content[start : start + DIGEST_BYTES] for start in range(0, len(content), DIGEST_BYTES))
    )


def _digests(text: str, key: bytes) -> set[bytes]:
    pieces = {text[start : start + REVEALING_LENGTH] for start in range(len(text) - REVEALING_LENGTH + 1)}
    return {
        hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, key=key).digest()
        for piece in pieces
    }
