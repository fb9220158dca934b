"""Which usual places a scan sees: the planted value stands in what it reports, under whatever rule, file or commit."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitleaks_eval.config.chain import Configuration, copy_configuration
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.places.places import Maker, Place, Planted, github_pat
from gitleaks_eval.coverage.places.repository import plant
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository
from gitleaks_eval.scanners.scan import Mode, Scan, Scanner, cores_beside_others
from gitleaks_eval.scanners.skipped_paths import unread_in
from gitleaks_eval.scenarios.secrets import reveals

SOURCE = "the map of places"
# The places that a scan sees, each with the ids of the rules that report it.
Sight = Mapping[Place, frozenset[str]]
Look = Callable[[Configuration], Sight]


@dataclass(frozen=True, slots=True)
class Ground:
    """The repository that a map is made of, and the secret of each place that is asked."""

    repository: BuiltRepository
    secrets: Mapping[Place, Planted] = field(repr=False)


def ground(
    mode: Mode, seed: str, maker: Maker = github_pat, *, large: bool = False, kept_in: Path | None = None
) -> Ground:
    """The repository for a mode, from the cache (or the one that is `kept_in`) where it is as it was built.

    What stands in the history or the names of git alone can be staged by nobody: then it is not asked.

    Raises:
        EvaluationError: when it cannot be built or read.
    """
    planted = plant(seed, maker, large=large)
    secrets = planted.secrets
    if mode == "staged":
        secrets = {place: one for place, one in secrets.items() if place.can_be_staged}
    return Ground(built_repository(planted.recipe, SOURCE, kept_in), secrets)


def look(scanner: Scanner, on: Ground) -> Sight:
    """Scan, and say which places are seen.

    Raises:
        EvaluationError: when the scan failed, or cannot have read what is there; it quotes nothing that is planted.
    """
    try:
        there = scanner.to_read(on.repository)
        scan = scanner.scan(on.repository.path, ignore_lists=True, cores=cores_beside_others(there.added_bytes))
        sight = seen_in(scan, on.secrets)
        problem = unread_in(scanner, scan, on.repository, there)
    except EvaluationError as error:
        problem = str(error)
    if problem is None:
        return sight
    if reveals(problem, frozenset(secret.value for secret in on.secrets.values())):
        problem = "the scan failed; its message quotes a planted secret and is withheld"
    raise EvaluationError(f"{SOURCE}: {problem}")


def looking(scanner: Scanner, on: Ground) -> Look:
    """A look with other configurations, everything else as `scanner` has it."""

    def look_with(configuration: Configuration) -> Sight:
        with tempfile.TemporaryDirectory(prefix="config-", dir=scanner.scratch) as folder:
            return look(replace(scanner, config=copy_configuration(configuration, Path(folder))), on)

    return look_with


def seen_in(scan: Scan, secrets: Mapping[Place, Planted]) -> dict[Place, frozenset[str]]:
    """Return the places all of whose values stand in secrets of the report, with the rules that report the first."""
    rules: dict[str, set[str]] = {}
    for finding in scan.findings:
        rules.setdefault(finding["Secret"], set()).add(finding["RuleID"])
    reported = "\0".join(rules)

    def reporting(value: str) -> frozenset[str]:
        holding = (ids for text, ids in rules.items() if value in text)
        return frozenset().union(*holding) if value in reported else frozenset()

    found = {
        place: reporting(secret.value)
        for place, secret in secrets.items()
        if all(value in rules or value in reported for value in secret.more)
    }
    return {place: ids for place, ids in found.items() if ids}
