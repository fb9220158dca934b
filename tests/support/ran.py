"""A run of pytest in a folder, as a user starts it, and what came of it."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from typing import Any

from forks import shared

from gitleaks_eval.core.schema import schema_problems

RESULTS = "gitleaks-eval-results"
# Of the developer's environment: what changes what a run does, or makes it twice as long.
NOT_THEIRS = ("ANTHROPIC_", "BETTERLEAKS_", "GIT_", "GITHUB_", "GITLEAKS_", "PYTEST_", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Ran:
    """A run of pytest that ended: its status, what it printed, and where its reports are."""

    status: int
    text: str
    folder: Path

    def json(self, name: str = "evaluation_report.json") -> Any:
        """A report of it."""
        return json.loads((self.folder / RESULTS / name).read_bytes())

    @property
    def comparison(self) -> dict[str, Any]:
        """What it says of candidates, which follows its schema."""
        document: dict[str, Any] = self.json("comparison.json")
        assert schema_problems("comparison", document) == []
        return document

    @property
    def pairs(self) -> dict[str, dict[str, Any]]:
        """Each candidate against the baseline, by its name."""
        return {pair["candidate"]: pair for pair in self.comparison["pairs"] if not pair["neighbour"]}

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each candidate, by its name."""
        return {name: pair["verdict"] for name, pair in self.pairs.items()}

    @property
    def markdown(self) -> str:
        """The comparison for people."""
        return (self.folder / RESULTS / "comparison.md").read_text(encoding="utf-8")

    def outcomes(self, candidate: str = ".") -> dict[str, str]:
        """The outcome of each check, by `check_id[scenario]`."""
        results = self.json(f"{candidate}/evaluation_report.json")["results"]
        return {f"{result['check_id']}[{result['scenario']}]": result["outcome"] for result in results}

    def line(self, start: str) -> str:
        """The one line of the terminal that begins so."""
        (found,) = (line for line in self.text.splitlines() if line.startswith(start))
        return found


def run(folder: Path, *arguments: str, **environment: str) -> Ran:
    """Run pytest in a folder, with the scanners of the developer's cache and nothing else of theirs."""
    (folder / "pytest.ini").touch()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_THEIRS)}
    return run_as(folder, arguments, {**kept, "COLUMNS": "400", **environment})


def run_as(folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]) -> Ran:
    """Run pytest in a folder with exactly this environment, and without two plugins that take long to load."""
    without = ("cacheprovider", "hypothesispytest", "anyio")
    ended = ended_in(folder, ("pytest", *(f"-pno:{name}" for name in without), *arguments), environment)
    return Ran(ended.returncode, ended.stdout + ended.stderr, folder)


def ended_in(folder: Path, line: Sequence[str], environment: Mapping[str, str]) -> "CompletedProcess[str]":
    """Run a module and its arguments (pytest, or gitleaks_eval) in a folder, with exactly this environment."""
    command = [sys.executable, "-m", *line]
    with TemporaryFile("w+", encoding="utf-8") as out, TemporaryFile("w+", encoding="utf-8") as err:
        status = shared().start(command, folder, environment, out, err).wait()
        out.seek(0)
        err.seek(0)
        return CompletedProcess(command, status, out.read(), err.read())


def evaluate(folder: Path, *arguments: str, **environment: str) -> Ran:
    """Run the evaluation in a folder."""
    return run(folder, "--gitleaks-eval", *arguments, **environment)
