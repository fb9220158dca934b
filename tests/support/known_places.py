"""Measures which usual places each known build sees, for data/known_places.tsv.

`python tests/support/known_places.py > src/gitleaks_eval/data/known_places.tsv`
"""

import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.config.chain import BUILTIN_CONTENT
from gitleaks_eval.coverage.places.places import usual_places
from gitleaks_eval.coverage.places.scan import ground, look
from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scanners.scan import Mode, Scanner

BUILDS = ("gitleaks 8.16.0", "gitleaks 8.18.4", "gitleaks 8.26.0", "gitleaks 8.30.1", "betterleaks 1.4.0")
MODES: tuple[Mode, ...] = ("git", "dir", "staged")
SEED = "1"
HEAD = """\
# What each known build sees (x) of the usual places with its own configuration, in each mode.
# Made by `python tests/support/known_places.py`."""


def scanner_of(name: str, folder: Path) -> Scanner:
    """Return the scanner of a build, with its own configuration."""
    title, version = name.split()
    config = folder / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)
    build = probe(installed_binary(version, _say, SCANNERS[title])[0], name)
    return Scanner(build, config, folder, 120, threading.Event())


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as made:
        seen = {
            f"{name} {mode}": {
                place.title
                # 8.26.0 panics where large files are staged.
                for place in look(
                    replace(scanner_of(name, Path(made)), mode=mode), ground(mode, SEED, large=mode != "staged")
                )
            }
            for name in BUILDS
            for mode in MODES
        }
    rows = [
        (place.title, *("x" * (place.title in titles) for titles in seen.values()))
        for place in usual_places()
        if not place.is_dropped
    ]
    sys.stdout.write("\n".join([HEAD, *map("\t".join, [("place", *seen), *rows]), ""]))


if __name__ == "__main__":
    main()
