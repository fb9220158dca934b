"""The canary: a clean report is believed only from a scanner that has just found a planted secret."""

from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.scanners.scan import Scan, Scanner, unread
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe
from gitleaks_eval.scenarios.secrets import Secret, secret_kinds

LONG_VALUE = 100


def canary_secrets(planted: Iterable[Secret]) -> list[Secret]:
    """One secret of each shipped kind, and one of each other pattern that recipes plant."""
    shipped = {kind.pattern: Secret(kind.pattern, "canary", kind.line) for kind in secret_kinds().values()}
    return list(({secret.pattern: secret for secret in planted} | shipped).values())


def build_canary(folder: Path, secrets: Iterable[Secret]) -> BuiltRepository:
    """A repository with these secrets, each in a file of its own.

    Raises:
        EvaluationError: when the folder cannot be written.
    """
    files = {
        f"canary/{index}.txt".encode(): (Part(text=secret.line.replace("%s", secret.value, 1) + "\n"),)
        for index, secret in enumerate(secrets)
    }
    commit = Commit(
        message="Plant the canary",
        author="Canary <canary@example.com>",
        date=datetime(2026, 1, 1, tzinfo=timezone.utc),
        write=files,
    )
    return build_into(folder, Recipe({}, (commit,)), "the canary")


def check_canary(
    scanner: Scanner, repository: BuiltRepository, secrets: Iterable[Secret], cores: int | None = None
) -> Scan:
    """Scan the canary; at least one of its secrets must be found, by value. `cores` is how many to use; None for all.

    Raises:
        EvaluationError: when none is: nothing that this scanner reports can be believed.
    """
    planted = list(secrets)
    try:
        scan = scanner.scan(repository.path, cores=cores)
        problem = unread(scan, scanner.to_read(repository))
        if problem is None and not finds(scan, planted):
            problem = (
                f"it found none of {len(planted)} planted secrets; "
                "in the configuration, is `[extend] useDefault = true` missing, or does an allowlist hide everything?"
            )
    except EvaluationError as error:
        problem = str(error)
    if problem:
        raise EvaluationError(f"{scanner.build.path}, with this configuration, fails the canary: {problem}")
    return scan


def finds(scan: Scan, planted: Iterable[Secret]) -> bool:
    """Whether a scan found at least one of the planted secrets, by value."""
    # Rules up to 8.18 leave out the last character of a private key; in a short value it would matter.
    wanted = [value[:-1] if len(value) > LONG_VALUE else value for value in (secret.value for secret in planted)]
    return any(value in finding["Secret"] or value in finding["Match"] for finding in scan.findings for value in wanted)
