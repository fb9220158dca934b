"""The map of places in a comparison: a row a place, a column a candidate."""

import json
from collections.abc import Iterator, Sequence

from gitleaks_eval.core.text import json_value
from gitleaks_eval.scoring.evaluated import Evaluated

GROUPS = {"path": "paths", "form": "forms of text", "git": "corners of git"}
_SHOWN = {True: "seen", False: "not seen", None: "not asked"}


def place_rows(candidates: Sequence[Evaluated]) -> list[tuple[str, list[bool | None]]]:
    """Each place that one of the candidates was asked, and whether each of them sees it (None: not asked)."""
    maps = [one.surveyed.places if one.surveyed else {} for one in candidates]
    return [
        (title, [one.get(title) for one in maps]) for title in dict.fromkeys(title for one in maps for title in one)
    ]


def places_json(candidates: Sequence[Evaluated]) -> list[str]:
    """A line a place: its title, and by the name of a candidate whether it is seen (null: not asked)."""
    return [
        json.dumps(
            json_value(
                {"place": title, "seen": {one.name: is_seen for one, is_seen in zip(candidates, row, strict=True)}}
            )
        )
        for title, row in place_rows(candidates)
    ]


def place_cells(candidates: Sequence[Evaluated]) -> Iterator[list[str]]:
    """For people: of each group the places on which the candidates differ, a row each, then the others counted."""
    rows = place_rows(candidates)
    for family, group in GROUPS.items():
        of_group = [(title.partition(":")[2], row) for title, row in rows if title.startswith(f"{family}:")]
        for case, row in of_group:
            if len(set(row)) > 1:
                yield [group, case, *(_SHOWN[is_seen] for is_seen in row)]
        for is_seen, text in _SHOWN.items():
            count = sum(set(row) == {is_seen} for _, row in of_group)
            if count:
                yield [group, f"{count} others", *[text] * len(candidates)]
