"""Builds of scanners that were measured: what each fires, and which of them a build under test is held against."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gitleaks_eval.core.resources import data
from gitleaks_eval.coverage.configuration.rules import Dialect

RULES_FILE = data("known_rules.tsv")
PLACES_FILE = data("known_places.tsv")


@dataclass(frozen=True, slots=True)
class Known:
    """A measured build; `is_stated` says that the build under test states this very version."""

    scanner: str
    version: str
    is_stated: bool

    @property
    def title(self) -> str:
        """`gitleaks 8.30.1`."""
        return f"{self.scanner} {self.version}"


def known_build(dialect: Dialect) -> Known | None:
    """Return the measured build of this scanner that is the nearest: the newest that is no newer, else the oldest.

    None where no build of this scanner was measured.
    """
    versions = [
        Dialect(*title.split(" ", 1)) for title in measured(RULES_FILE) if title.startswith(f"{dialect.scanner} ")
    ]
    if not versions:
        return None
    older = [version for version in versions if version.numbers <= dialect.numbers]
    nearest = max(older, key=_numbers) if older else min(versions, key=_numbers)
    return Known(nearest.scanner, nearest.version or "", nearest.numbers == dialect.numbers)


def fired_by(known: Known) -> frozenset[str]:
    """Return the ids of the rules that a measured build fires."""
    return measured(RULES_FILE)[known.title]


def seen_by(known: Known, mode: str) -> frozenset[str]:
    """Return the titles of the usual places that a measured build sees in a mode (`git`, `dir`, `staged`)."""
    return measured(PLACES_FILE)[f"{known.title} {mode}"]


@cache
def measured(path: Path) -> dict[str, frozenset[str]]:
    """Read a table of what was measured: a name a line, an `x` in the column of each build that has it."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    titles = lines[0].split("\t")[1:]
    rows = [line.split("\t") for line in lines[1:]]
    return {title: frozenset(row[0] for row in rows if row[index] == "x") for index, title in enumerate(titles, 1)}


def _numbers(dialect: Dialect) -> tuple[int, ...]:
    return dialect.numbers
