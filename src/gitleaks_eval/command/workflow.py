"""`gitleaks-eval init`: a job for CI, written where there is none."""

import json
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from gitleaks_eval.command.line import subcommand_parser
from gitleaks_eval.core.resources import data
from gitleaks_eval.core.text import printable

WRITTEN, REFUSED = 0, 4
PLACE = Path(".github", "workflows", "gitleaks-eval.yml")


_BRANCH = b'gitleaks-eval@main"'


def run(arguments: Sequence[str]) -> int:
    """Write the workflow into this folder; an existing file stays as it is. 0 if it was written, else 4.

    Raises:
        SystemExit: with status 4 when there are arguments, with 0 after `--help`.
    """
    subcommand_parser("init", "").parse_args(arguments)
    folder = Path.cwd()
    if problem := _problem(folder):
        sys.stderr.write(f"gitleaks-eval init: {printable(problem)}\n")
        return REFUSED
    missing = "" if (folder / ".gitleaks.toml").exists() else "; it fails until there is a .gitleaks.toml"
    sys.stdout.write(f"wrote {PLACE}{missing}\n")
    return WRITTEN


def _problem(folder: Path) -> str:
    """Write it, and return why that cannot be, or an empty text."""
    top = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
    if top != folder:
        return f"workflows are read at the top of a repository only; run it in {top}"
    path = folder / PLACE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data("workflow.yml").read_bytes().replace(_BRANCH, b"gitleaks-eval@" + _commit() + b'"'))
    except FileExistsError:
        return f"{PLACE} is there already and stays as it is; move it away to have a new one"
    except OSError as error:
        return f"{PLACE} cannot be written: {error.strerror or error}"
    return ""


def _commit() -> bytes:
    """Return the commit of the repository that we are installed from; the branch where nobody knows it."""
    try:
        installed = json.loads(distribution("gitleaks-eval").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        installed = {}
    return str(installed.get("vcs_info", {}).get("commit_id") or "main").encode()
