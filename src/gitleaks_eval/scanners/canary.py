"""The canary: a clean report is believed only from a scanner that has just found a planted secret."""

from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.scanners.limits import limits
from gitleaks_eval.scanners.load_errors import Refused
from gitleaks_eval.scanners.scan import Scan, Scanner
from gitleaks_eval.scanners.skipped_paths import unread_in
from gitleaks_eval.scenarios.recipe import DEFAULT_BRANCH, Commit, Part, Recipe
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED, Secret, secret_kinds

LONG_VALUE = 100


def canary_secrets(planted: Iterable[Secret], seed: str = DEFAULT_SEED) -> list[Secret]:
    """One secret of each shipped kind, and one of each other pattern that recipes plant, in a run with this seed."""
    kinds = secret_kinds().values()
    shipped = {kind.pattern: Secret(kind.pattern, "canary", kind.line).of_run(seed) for kind in kinds}
    return list(({secret.pattern: secret for secret in planted} | shipped).values())


def build_canary(folder: Path, secrets: Iterable[Secret]) -> BuiltRepository:
    """Build a repository with these secrets, each in two files of its own.

    Raises:
        EvaluationError: when the folder cannot be written.
    """
    files = {
        f"canary/{index}{copy}.txt".encode(): (Part(text=secret.line.replace("%s", secret.value, 1) + "\n"),)
        for index, secret in enumerate(secrets)
        for copy in ("", "-again")
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
        Refused: when it does not load the configuration.
        EvaluationError: when none is, or the report says what is not so: nothing that this scanner reports can be
            believed.
    """
    planted = list(secrets)
    try:
        scan = scanner.scan(repository.path, cores=cores)
        problem = unread_in(scanner, scan, repository)
        if problem is None and not finds(scan, planted):
            problem = (
                f"it found none of {len(planted)} planted secrets; "
                "in the configuration, is `[extend] useDefault = true` missing, or does an allowlist hide everything?"
            )
            if flags := limits(scanner.args):
                problem = (
                    f"it found none of {len(planted)} planted secrets with "
                    f"{', '.join(printable(flag.text) for flag in flags)}; leave out the flag that hides them"
                )
        problem = problem or misreported(scan, planted, _commit(scanner, repository))
    except Refused:
        raise
    except EvaluationError as error:
        problem = str(error)
    if problem:
        raise EvaluationError(f"{scanner.build.path}, with this configuration, fails the canary: {problem}")
    return scan


def finds(scan: Scan, planted: Iterable[Secret]) -> bool:
    """Return whether a scan found at least one of the planted secrets, by value."""
    return any(_files_of(scan, secret) for secret in planted)


def misreported(scan: Scan, planted: Iterable[Secret], commit: str) -> str | None:
    """Return what a report of the canary says that is not so; None where all is.

    `commit` is the only one that there is, empty where none is scanned.
    """
    if any(finding["Commit"] != commit for finding in scan.findings):
        return "its report names a commit that is not there"
    if any(finding["Secret"] not in finding["Match"] for finding in scan.findings):
        return "its report has a match that does not hold its secret"
    if any(len(_files_of(scan, secret)) == 1 for secret in planted):
        return "it reports in one file what stands in two"
    return None


def _files_of(scan: Scan, secret: Secret) -> set[str]:
    """Return the files in which a scan found a secret, by value."""
    # Rules up to 8.18 leave out the last character of a private key; in a short value it would matter.
    value = secret.value[:-1] if len(secret.value) > LONG_VALUE else secret.value
    return {finding["File"] for finding in scan.findings if value in finding["Secret"] or value in finding["Match"]}


def _commit(scanner: Scanner, repository: BuiltRepository) -> str:
    if scanner.mode != "git":
        return ""
    return (repository.path / ".git/refs/heads" / DEFAULT_BRANCH).read_text(encoding="ascii").strip()
