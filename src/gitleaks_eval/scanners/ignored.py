"""Which line of a repository's ignore file hides a finding, before anything has been scanned there."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import unreadable
from gitleaks_eval.scanners.build import ScannerBuild

LARGEST = 1 << 20


class Hides(NamedTuple):
    """A line of an ignore file, `.gitleaksignore:3`, and the commit that it is about; empty for all."""

    line: str
    commit: str


def ignoring_lines(
    top: Path, build: ScannerBuild, path: str, found: Iterable[tuple[str, int]], commit: str = ""
) -> Mapping[tuple[str, int], Hides]:
    """Return by rule and line what hides a finding in `path`; a line about all commits goes before one about one.

    Args:
        top: the folder of the repository.
        build: the scanner, which knows its ignore files and their forms.
        path: the file as the scanner knows it.
        found: the rules that report it, and the lines.
        commit: the id of the commit, or its beginning; without it, each may be meant.

    Raises:
        InputError: when the ignore file cannot be read.
    """
    names = [name for name in build.adapter.ignore_files if (top / name).is_file()]
    if not names:
        return {}
    try:
        content = read_input(top / names[0], LARGEST)
    except OSError as error:
        raise unreadable("explain:", top / names[0], error) from None
    asked = {f"{path}:{rule_id}:{line}": (rule_id, line) for rule_id, line in found}
    hiding: dict[tuple[str, int], Hides] = {}
    for number, entry in enumerate(os.fsdecode(content).splitlines(), 1):
        named = entry.strip().replace("\\", "/")
        of_commit, _, place = named.partition(":")
        if named in asked and build.adapter.knows_short_fingerprints(build.version):
            if asked[named] not in hiding or hiding[asked[named]].commit:
                hiding[asked[named]] = Hides(f"{names[0]}:{number}", "")
        elif place in asked and of_commit.startswith(commit):
            hiding.setdefault(asked[place], Hides(f"{names[0]}:{number}", "" if commit else of_commit))
    return hiding
