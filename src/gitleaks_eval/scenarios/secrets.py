"""The kinds of secrets that recipes can plant; the values are generated, never committed."""

import json
from dataclasses import dataclass, replace
from functools import cache

from gitleaks_eval.core.resources import data
from gitleaks_eval.scenarios.pattern import generate

KINDS_FILE = data("secret_kinds.json")
MASK = "********"
REVEALING_LENGTH = 8
# The seed of a run that names none: what recipes plant is then named by their own seeds alone.
DEFAULT_SEED = "0"


@dataclass(frozen=True, slots=True)
class SecretKind:
    """A kind of secret: the pattern of its values, its public prefix, and a line of a file around it."""

    pattern: str
    prefix: str
    line: str


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret to plant: one pattern and one seed name one value, wherever they stand."""

    pattern: str
    seed: str
    line: str = 'token = "%s"'

    def of_run(self, seed: str) -> "Secret":
        """The secret that stands in its place in a run with this seed: another value, but for the default seed."""
        return self if seed == DEFAULT_SEED else replace(self, seed=f"{seed}\0{self.seed}")

    @property
    def value(self) -> str:
        """The planted value.

        Raises:
            PatternError: when the pattern is not supported.
        """
        return generate(self.pattern, self.seed)


@cache
def secret_kinds() -> dict[str, SecretKind]:
    """Return the shipped kinds by name."""
    kinds = json.loads(KINDS_FILE.read_text(encoding="utf-8"))
    return {name: SecretKind(**kind) for name, kind in kinds.items()}


def preview(value: str) -> str:
    """Return a mask that helps nobody to guess the secret: at most the public prefix of its kind, never its length."""
    prefix = next(
        (kind.prefix for kind in secret_kinds().values() if kind.prefix and value.startswith(kind.prefix)), ""
    )
    return prefix + MASK


def reveals(text: str, secrets: frozenset[str]) -> bool:
    """Return whether `text` holds eight consecutive characters of a secret beyond its public prefix."""
    for value in secrets:
        secret = value.removeprefix(preview(value).removesuffix(MASK))
        if secret and any(
            secret[i : i + REVEALING_LENGTH] in text for i in range(max(1, len(secret) - REVEALING_LENGTH + 1))
        ):
            return True
    return False
