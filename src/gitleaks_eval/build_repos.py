"""Build the shipped repositories, checked out, for people to look at: `python -m gitleaks_eval.build_repos FOLDER`."""

import argparse
import sys
from pathlib import Path

from gitleaks_eval.errors import EvaluationError
from gitleaks_eval.git import read_head, run_git
from gitleaks_eval.recipe import load_recipe
from gitleaks_eval.repository import build
from gitleaks_eval.scenario import SUITES, load_scenarios


def main() -> int:
    """Build each scenario of both suites into a folder of its own; the exit status is 1 on an error."""
    parser = argparse.ArgumentParser(prog="python -m gitleaks_eval.build_repos", description=__doc__)
    parser.add_argument("folder", type=Path, help="a new or empty folder; the repositories hold planted secrets")
    folder: Path = parser.parse_args().folder
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise EvaluationError(f"{folder} is not empty; name a new folder")  # noqa: TRY301 - one way out for all errors
        for scenario in load_scenarios(SUITES, folder):
            build(load_recipe(scenario.recipe), folder / scenario.name, f"recipe {scenario.recipe}")
            print(f"{folder / scenario.name}: {_checked_out(folder / scenario.name)}")
    except (EvaluationError, OSError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    return 0


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
