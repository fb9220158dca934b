"""Where the text stands that a decoded finding was made of."""

from collections.abc import Mapping
from typing import Any

Finding = Mapping[str, Any]
Spot = tuple[str, str, int, int]


def spot_of(finding: Finding) -> Spot:
    """Commit, file, line and column of a finding."""
    return finding["Commit"], finding["File"], finding["StartLine"], finding.get("StartColumn", 0)
