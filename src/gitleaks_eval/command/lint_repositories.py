"""`gitleaks-eval lint --repo`: what repositories hide findings with, and what of it is dead, stale or wide."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, progress, say, settings_of, told, waiting
from gitleaks_eval.core.text import numbered
from gitleaks_eval.engine.acceptance.suppressing import mended_ignore_list, suppressed_in
from gitleaks_eval.engine.session.single_candidate import SingleCandidate, single_candidate
from gitleaks_eval.repositories.sources import real_repositories
from gitleaks_eval.scanners.suppressions import DEAD, RENAMED, STALE, WIDE, Suppression
from gitleaks_eval.scenarios.scenario import RealRepository

_SAID = {
    DEAD: "it hides nothing; remove it",
    STALE: "its commit is not in this repository; remove it",
    WIDE: "it hides more than one secret, or one that is labelled as true; look at each, and narrow it",
    RENAMED: "it names the commit as other versions do; --fix adds the line for this one, and keeps it",
}


def run(options: argparse.Namespace, lint_configuration: Callable[[], int]) -> int:
    """Lint the configuration, where there is one of one's own, and list the suppressions of repositories.

    0 when all is well, 1 when a check fails, or with `--strict` when a suppression is dead, stale, wide or renamed.
    """
    return told("lint", lambda: _linted(options, lint_configuration))


def _linted(options: argparse.Namespace, lint_configuration: Callable[[], int]) -> int:
    repositories = real_repositories(options.gitleaks_real_repo, Path.cwd(), ())
    noted = 0
    settings = settings_of(options)
    configuration = settings.candidates[0].configuration
    status = lint_configuration() if configuration and configuration.chain else PASSED
    with single_candidate(settings, progress) as candidate:
        say(candidate.title)
        for repository in repositories:
            noted += _listed(candidate, repository, options.own_baseline, is_mended=options.fix)
    return status or (FAILED if noted and options.strict else PASSED)


def _listed(
    candidate: SingleCandidate, repository: RealRepository, baselines: Sequence[str], *, is_mended: bool
) -> int:
    """Say what hides findings in a repository; how much of it is dead, stale, wide, or renamed and not mended."""
    with waiting(f"scanning {repository.name}"):
        there = suppressed_in(candidate, repository, baselines)
    noted = [suppression for suppression in there.listed if suppression.note]
    say(f"{repository.name}  {numbered(there.total, 'suppression')}, {len(noted)} dead, stale, wide or renamed")
    for suppression in there.listed:
        say(_line(suppression))
    if there.total > len(there.listed):
        say(f"  and {there.total - len(there.listed)} more, which hide less")
    renamed = [suppression for suppression in noted if suppression.note == RENAMED]
    if not is_mended or not renamed:
        return len(noted)
    path, added = mended_ignore_list(repository, renamed)
    say(f"{repository.name}  {numbered(added, 'line')} added to {path}: commit it")
    return len(noted) - len(renamed)


def _line(suppression: Suppression) -> str:
    place = (
        suppression.file_path
        if suppression.line_number is None
        else f"{suppression.file_path}:{suppression.line_number}"
    )
    if suppression.hides is None:
        hides = "is obeyed, and what it hides is not known" if suppression.obeyed else "what it hides is not known"
    else:
        hides = f"hides {numbered(suppression.hides, 'finding')}"
    why = f": {_SAID[suppression.note]}" if suppression.note else ""
    by_place = (
        ", matched by place: its value is redacted, and only a scan with --redact obeys it" * suppression.by_place
    )
    return f"  {suppression.note or 'notice':<6}  {suppression.kind}  {place}  {hides}{by_place}{why}"
