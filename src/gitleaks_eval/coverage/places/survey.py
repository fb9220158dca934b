"""The map of a candidate from beginning to end: what to plant, the scans, and what they say."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.config.hiding import NOTHING_HIDES
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.known import known_build, seen_by
from gitleaks_eval.coverage.configuration.rules import Dialect
from gitleaks_eval.coverage.places.contents import holding_the_standard
from gitleaks_eval.coverage.places.flags import hidden_by_flags
from gitleaks_eval.coverage.places.hiding import Hidden, hidden_by, merged
from gitleaks_eval.coverage.places.map import Expected, PlacesMap, lost_places, places_map
from gitleaks_eval.coverage.places.places import PLAIN, Maker
from gitleaks_eval.coverage.places.scan import SOURCE, Look, Sight, ground, looking
from gitleaks_eval.scanners.limits import Limit, limits, with_limits
from gitleaks_eval.scanners.scan import Scanner

NOTHING_HIDDEN = Hidden({}, {}, is_whole=True)
SCANNERS_OWN = Configuration((), "the scanner's own")


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A rule of the user's that fires: its table in the configuration, and what makes secrets for it."""

    table: Mapping[str, Any]
    maker: Maker


@dataclass(frozen=True, slots=True)
class Asked:
    """What is planted: the `seed` names the values, and with `large` the large forms are planted, too.

    Its repository stands in the cache of the user, or where it is `kept_in`.
    `own` takes the place of the usual secret where no rule of the scanner's is in force and that is not found.
    """

    seed: str
    own: OwnRule | None = None
    large: bool = False
    kept_in: Path | None = None


# Says what hides places, from the configuration, the places that are lost and a look with other configurations.
Naming = Callable[[Configuration, Sight, Look], Hidden]


def survey(scanner: Scanner, configuration: Configuration, asked: Asked, naming: Naming = hidden_by) -> PlacesMap:
    """Scan the usual places with a configuration, and beside it with the scanner's own.

    Args:
        scanner: build, mode, depth and flags; its own `config` is not used.
        configuration: the one under test.
        asked: what is planted.
        naming: finds the entries that hide places; asked only where one is lost.

    Nothing is asked where no rule is in force that finds what is planted.

    Raises:
        EvaluationError: when the repository cannot be built, or a scan does not count.
    """
    own = None
    on = ground(scanner.mode, asked.seed, large=asked.large, kept_in=asked.kept_in)
    # Without what makes it look at less: that is measured by itself.
    bare = replace(scanner, args=with_limits(scanner.args, ()))
    look = looking(bare, on)
    sight = look(configuration)
    if asked.own and not _has_the_default(configuration) and not _finds_the_plainest(sight):
        own = asked.own
        on = ground(scanner.mode, asked.seed, own.maker, large=asked.large, kept_in=asked.kept_in)
        look = looking(bare, on)
        sight = look(configuration)
    reference_configuration = reference_with(own.table) if own else SCANNERS_OWN
    reference = look(reference_configuration) if configuration.chain else sight
    if not own and not _finds_the_plainest(reference):
        # Without a reference nothing would count as hidden.
        raise EvaluationError(
            f"{SOURCE}: {scanner.build.path} does not find the plainest secret with its own configuration"
        )
    lost = lost_places(sight, reference)
    hidden = naming(configuration, lost, look) if lost else NOTHING_HIDDEN
    if limits(scanner.args):

        def with_flags(kept: Collection[Limit]) -> Sight:
            limited = replace(scanner, args=with_limits(scanner.args, kept))
            return looking(limited, on)(reference_configuration)

        hidden = merged(hidden, hidden_by_flags(scanner.args, reference, with_flags))
        sight = looking(scanner, on)(configuration)
    is_known = _finds_the_plainest(reference) and not _is_plainly_unknown(hidden)
    secrets = on.secrets if is_known or _has_the_default(configuration) else ()
    expected = expected_of(scanner)
    if own or _decodes_less(scanner):
        expected = replace(expected, titles=expected.titles & holding_the_standard(on.secrets))
    return places_map(secrets, sight, reference, hidden, expected)


def expected_of(scanner: Scanner) -> Expected:
    """Return what a scanner is held against: the places that the nearest known build sees by itself."""
    known = known_build(Dialect(scanner.build.name, scanner.build.version))
    return Expected(known, seen_by(known, scanner.mode)) if known else Expected()


def _decodes_less(scanner: Scanner) -> bool:
    build = scanner.build
    return (build.depth(scanner.decode_depth) or 0) < (build.depth(None) or 0)


def reference_with(rule: Mapping[str, Any]) -> Configuration:
    """The scanner's own configuration with a rule of the user's in it, without the allowlists of that rule."""
    kept = {key: value for key, value in rule.items() if not key.lower().startswith("allowlist")}
    content = tomli_w.dumps({"extend": {"useDefault": True}, "rules": [kept]}).encode()
    return Configuration((ConfigFile(Path("reference.toml"), content, extends_default=True),), SCANNERS_OWN.why)


def _has_the_default(configuration: Configuration) -> bool:
    return not configuration.chain or configuration.chain[-1].extends_default


def _finds_the_plainest(sight: Sight) -> bool:
    return any(place.title == PLAIN for place in sight)


def _is_plainly_unknown(hidden: Hidden) -> bool:
    return any(place.title == PLAIN and note == NOTHING_HIDES for place, note in hidden.notes.items())
