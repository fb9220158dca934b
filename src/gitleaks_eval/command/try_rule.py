"""`gitleaks-eval try`: the tests of one rule, then what it alone would newly report in repositories."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, asking_parser, progress, say, settings_of, told, waiting
from gitleaks_eval.engine.review.trying import newly_reported, rule_named, rule_tests
from gitleaks_eval.engine.session.single_candidate import SingleCandidate, single_candidate
from gitleaks_eval.repositories.sources import real_repositories
from gitleaks_eval.scenarios.scenario import RealRepository

FILES_AT_MOST = 20


def run(arguments: Sequence[str]) -> int:
    """Try a rule; 0 when its tests pass, 1 when one fails.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = asking_parser("try", "RULE [REPO ...]")
    parser.add_argument("rule", metavar="RULE", help="the id of a rule that is in force")
    parser.add_argument(
        "repositories", nargs="*", metavar="REPO", help="[NAME=]PATH or URL; cloned, never scanned in place"
    )
    options = parser.parse_args(arguments)
    return told("try", lambda: _tried(options))


def _tried(options: argparse.Namespace) -> int:
    repositories = real_repositories(options.repositories, Path.cwd(), ())
    with single_candidate(settings_of(options), progress) as candidate:
        say(candidate.title)
        rule = rule_named(candidate, options.rule)
        with waiting(f"testing {rule.id}"):
            tests = list(rule_tests(candidate, rule))
        for test in tests:
            say(f"{'passed' if test.passes else 'FAILED'}  {rule.id}  {test.said}")
        for repository in repositories:
            _say_new(candidate, options.rule, repository)
    return PASSED if all(test.passes for test in tests) else FAILED


def _say_new(candidate: SingleCandidate, rule_id: str, repository: RealRepository) -> None:
    with waiting(f"scanning {repository.name}"):
        files = newly_reported(candidate, rule_named(candidate, rule_id), repository)
    places = sum(file.places for file in files)
    say(
        f"new  {repository.name}  {places} places in {len(files)} files"
        if files
        else f"new  {repository.name}  nothing"
    )
    for file in files[:FILES_AT_MOST]:
        say(f"  {file.said}")
    if len(files) > FILES_AT_MOST:
        say(f"  and {len(files) - FILES_AT_MOST} more files")
