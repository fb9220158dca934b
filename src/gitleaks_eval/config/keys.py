"""Which keys a scanner reads in a configuration, as a value: each scanner brings its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ConfigKeys:
    """The keys that a scanner reads: by kind of table and first version that does, separated by spaces.

    The kinds are `top`, `extend`, `rule`, `required`, `component`, `rule allowlist` and `global allowlist`; one
    without keys is a table that the scanner does not have. `checked_against` are the versions that this was compared
    with, in order. The key `minimum` names the version that a file is written for. Up to the release
    `drops_targets_up_to` (`8.28`) an allowlist with targetRules is ignored in a file that extends another.
    `variables` are those of its expressions, each with the keys that it has.
    """

    scanner: str
    checked_against: tuple[str, ...]
    kinds: Mapping[str, Mapping[str, str]]
    minimum: str
    drops_targets_up_to: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def known(self, kind: str) -> dict[str, tuple[str, str]]:
        """The keys of a kind of table, by lower case: each as it is written, and the first version that reads it."""
        return {key.lower(): (key, since) for since, keys in self.kinds[kind].items() for key in keys.split()}
