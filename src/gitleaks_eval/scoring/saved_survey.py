"""The survey of a run in a saved baseline: small, sorted, and of no seed, since other values show the same."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

_ENTRY = ("entry", "kind", "file", "line", "for_rules", "silences_rules", "hides_places", "status")


def small_survey(coverage: Mapping[str, Any]) -> dict[str, Any]:
    """`coverage` of an evaluation report as a baseline keeps it: rules and places by status, entries in short."""
    places = [{"name": f"{row['family']}:{row['case']}", "status": row["status"]} for row in coverage["places"]]
    return {
        "rules": _by_status(coverage["rules"], "rule_id"),
        "own": sorted(row["rule_id"] for row in coverage["rules"] if row["own"]),
        "switched_off": sorted(coverage["switched_off"]),
        "places": _by_status(places, "name"),
        **({"formats": _by_status(coverage["formats"], "id")} if "formats" in coverage else {}),
        "entries": sorted(
            (
                {**{name: row[name] for name in _ENTRY if name in row}, "file": _named(row["file"])}
                for row in coverage["entries"]
            ),
            key=lambda row: (row["file"], row["line"], row["kind"], row["entry"]),
        ),
    }


def survey_rows(small: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what `small_survey` has kept, in the rows of an evaluation report; None where there is nothing."""
    if small is None:
        return None
    own = set(small["own"])
    return {
        "rules": [
            {"rule_id": name, "own": name in own, "status": status}
            for status, names in small["rules"].items()
            for name in names
        ],
        "switched_off": small["switched_off"],
        "places": [
            {"family": family, "case": case, "status": status}
            for status, names in small["places"].items()
            for family, _, case in (name.partition(":") for name in names)
        ],
        "formats": [
            {"id": name, "status": status} for status, names in small.get("formats", {}).items() for name in names
        ],
        "entries": small["entries"],
    }


def _by_status(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, list[str]]:
    statuses = sorted({str(row["status"]) for row in rows})
    return {status: sorted(row[name] for row in rows if row["status"] == status) for status in statuses}


def _named(file: str) -> str:
    """Return the name of a file without its folder, which is of this machine."""
    path = PurePath(file)
    return path.name if path.is_absolute() or ".." in path.parts else file
