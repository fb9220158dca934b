"""Build the shipped repositories, checked out, for people to look at: `python -m gitleaks_eval.repositories FOLDER`."""

import argparse
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.build import build
from gitleaks_eval.repositories.git import run_git
from gitleaks_eval.repositories.head import head_commit, read_head
from gitleaks_eval.scenarios.recipe import load_recipe
from gitleaks_eval.scenarios.scenario import SUITES, Scenario, load_scenarios


def main() -> int:
    """Build each scenario of both suites into a folder of its own; the exit status is 1 on an error.

    What is there already is left as it is, and is an error where it is not what would be built.
    """
    parser = argparse.ArgumentParser(prog="python -m gitleaks_eval.repositories", description=__doc__)
    parser.add_argument("folder", type=Path, help="for nothing else; the repositories hold planted secrets")
    folder: Path = parser.parse_args().folder
    try:
        scenarios = load_scenarios(SUITES, folder)
        if folder.exists():
            _check_ours(folder, {scenario.name for scenario in scenarios})
        for scenario in scenarios:
            print(f"{folder / scenario.name}: {_built(scenario, folder / scenario.name)}")
    except (EvaluationError, OSError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    return 0


def _check_ours(folder: Path, names: Collection[str]) -> None:
    if not folder.is_dir():
        raise EvaluationError(f"{folder} is no folder; name a new one")
    if foreign := sorted(path.name for path in folder.iterdir() if path.name not in names):
        raise EvaluationError(f"{folder} holds something else ({printable(foreign[0])}); name a new folder")


def _built(scenario: Scenario, repository: Path) -> str:
    recipe, source = load_recipe(scenario.recipe), f"recipe {scenario.recipe}"
    if not repository.exists():
        build(recipe, repository, source)
        return _checked_out(repository)
    with tempfile.TemporaryDirectory(prefix="gitleaks-eval-") as scratch:
        build(recipe, Path(scratch, "repository"), source)
        wanted = head_commit(Path(scratch, "repository"))
    # The id of a commit is that of its whole history.
    if head_commit(repository) != wanted:
        raise EvaluationError(f"{repository} is not what {source} builds; remove it, or name a new folder")
    return "is there already"


def _checked_out(repository: Path) -> str:
    head = read_head(repository)
    if not head.commit:
        return "no commits"
    try:
        run_git(repository, "checkout", "--quiet", "--force", head.branch)
    except EvaluationError as error:
        # Not every file system takes every name; the history is there all the same.
        return f"{head.branch} {head.commit[:12]}, not all files could be checked out ({error})"
    return f"{head.branch} {head.commit[:12]}"


if __name__ == "__main__":
    sys.exit(main())
