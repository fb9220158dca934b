"""Charts as inline SVG: points and lines of numbers from 0 to 1, with the texts that a screen reader says."""

from collections.abc import Sequence
from typing import NamedTuple

from gitleaks_eval.core.text import few

SIZE, MARGIN = 320, 40
LEAST = 2
NAMED_AT_MOST = 2
WIDTH, HEIGHT = 640, 140


class Point(NamedTuple):
    """A named point; `x` and `y` from 0 to 1."""

    name: str
    x: float
    y: float


class Mark(NamedTuple):
    """A point as it is drawn, with its name on the side where there is room."""

    name: str
    cx: float
    cy: float
    text: str
    side: str = "start"


class Line(NamedTuple):
    """A named row of numbers as it is drawn: the corners of a polyline, and each number."""

    name: str
    points: str
    marks: Sequence[Mark]


def scatter(points: Sequence[Point]) -> list[Mark]:
    """Recall from left to right, precision from below: the best stand at the upper right.

    Those at one place are one mark. Nothing is drawn where all stand at one: a sentence says as much.
    """
    inner = SIZE - 2 * MARGIN
    by_place: dict[tuple[float, float], list[str]] = {}
    for one in points:
        by_place.setdefault((round(one.x, 2), round(one.y, 2)), []).append(one.name)
    if len(by_place) < LEAST:
        return []
    return [
        Mark(
            few(names, NAMED_AT_MOST),
            round(MARGIN + x * inner, 1),
            round(SIZE - MARGIN - y * inner, 1),
            f"{', '.join(names)}: recall {x:.2f}, precision {y:.2f}",
            "end" if x > 1 / 2 else "start",
        )
        for (x, y), names in by_place.items()
    ]


def trend(name: str, values: Sequence[tuple[str, float | None]]) -> Line:
    """A row of numbers over time, from its least to its largest; where there is none, there is no mark."""
    there = [value for _, value in values if value is not None]
    low, high = min(there, default=0.0), max(there, default=1.0)
    span = (high - low) or 1.0
    step = (WIDTH - 2 * MARGIN) / max(1, len(values) - 1)
    marks = [
        Mark(
            when,
            round(MARGIN + index * step, 1),
            round(HEIGHT - MARGIN - (value - low) / span * (HEIGHT - 2 * MARGIN), 1),
            f"{when}: {value:g}",
        )
        for index, (when, value) in enumerate(values)
        if value is not None
    ]
    return Line(name, " ".join(f"{mark.cx},{mark.cy}" for mark in marks), marks)
