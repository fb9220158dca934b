"""Lay a run out: find the scanner of each candidate, and write what all processes of the run share."""

import secrets
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from gitleaks_eval.config.chain import copy_configuration
from gitleaks_eval.engine.scan.shared import Bench, Shared
from gitleaks_eval.engine.scan.under_test import UnderTest, find_under_test
from gitleaks_eval.engine.settings.settings import Settings

NO_BUILD = "the scanner and configuration that made the analyses"


def find_scanners(settings: Settings, progress: Callable[[str], None], folder: Path | None) -> list[UnderTest]:
    """Return the candidates with their builds; without a private `folder` nothing is installed or run."""
    if settings.analyses is not None:
        return [UnderTest(candidate) for candidate in settings.candidates]
    return [
        find_under_test(candidate, progress, _own_folder(settings, folder, index) if folder else None)
        for index, candidate in enumerate(settings.candidates)
    ]


def lay_out(
    settings: Settings,
    under_test: Sequence[UnderTest],
    folder: Path,
    titles: Sequence[str],
) -> Shared:
    """Return what all processes of a run share: a bench for each candidate, in the private `folder` of the run.

    `titles` name scanner and configuration for judges.
    """
    run_id = str(uuid.uuid4())
    value_key = secrets.token_hex(32) if settings.compares and settings.real_repositories else ""
    configurations = [one.candidate.configuration for one in under_test]
    production = bool(value_key) and any(one and one.own for one in configurations)
    benches = {}
    for index, (one, title) in enumerate(zip(under_test, titles, strict=True)):
        own = _own_folder(settings, folder, index)
        configuration = one.candidate.configuration
        benches[one.candidate.name] = Bench(
            under_test=one,
            folder=str(own),
            run_id=run_id,
            config=str(copy_configuration(configuration, own)) if configuration else "",
            timeout_seconds=settings.timeout_seconds,
            severity_policy=str(settings.severity_policy),
            title=title,
            turns=str(folder / "turns"),
            seed=settings.seed,
            value_key=value_key,
            production=production,
            project=str(settings.root),
            clone_bytes=settings.clone_bytes,
        )
    return Shared(str(folder), benches, settings.seed)


def judged_title(name: str | None, version: str | None, config_sha256: str | None, options: Sequence[str] = ()) -> str:
    """Return the scanner as judges know it: the same for the same build, configuration and options, without paths."""
    if config_sha256 is None:
        return NO_BUILD
    return ", ".join([f"{name} {version}", f"configuration sha256 {config_sha256[:12]}", *options])


def _own_folder(settings: Settings, folder: Path, index: int) -> Path:
    # Names may be paths: the folders have numbers.
    own = folder / f"candidate-{index}" if len(settings.candidates) > 1 else folder
    own.mkdir(exist_ok=True)
    return own
