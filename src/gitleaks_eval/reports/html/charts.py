"""Charts as inline SVG: points and lines of numbers from 0 to 1, with the texts that a screen reader says."""

from collections.abc import Sequence
from typing import NamedTuple

from gitleaks_eval.core.text import few

SIZE, MARGIN = 320, 40
LEAST = 2
NAMED_AT_MOST = 2
LEFT, RIGHT, TOP, BOTTOM = 66, 494, 30, 100


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
    """A named row of numbers as it is drawn: the corners of a polyline, each number, and what the axes say."""

    name: str
    points: str
    marks: Sequence[Mark]
    low: str
    high: str
    first: str
    last: str


def scatter(points: Sequence[Point]) -> list[Mark]:
    """Recall from left to right, precision from below: the best stand at the upper right.

    Those at one place are one mark. Nothing is drawn where all stand at one: a sentence says as much.
    """
    inner = SIZE - 2 * MARGIN
    by_place: dict[tuple[float, float], list[str]] = {}
    for point in points:
        by_place.setdefault((round(point.x, 2), round(point.y, 2)), []).append(point.name)
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
    """Return a row of numbers over time, from its least to its largest; where there is none, there is no mark."""
    there = [value for _, value in values if value is not None]
    low, high = min(there, default=0.0), max(there, default=0.0)
    step = (RIGHT - LEFT) / max(1, len(values) - 1)
    marks = [
        Mark(when, round(LEFT + index * step, 1), _height(value, low, high), f"{when}: {value:g}")
        for index, (when, value) in enumerate(values)
        if value is not None
    ]
    dates = [when.partition(" ")[0] for when, _ in values] or [""]
    corners = " ".join(f"{mark.cx},{mark.cy}" for mark in marks)
    return Line(name, corners, marks, f"{low:g}", f"{high:g}", dates[0], dates[-1])


def _height(value: float, low: float, high: float) -> float:
    """Return what never changes stands in the middle: at the foot it would look like nothing."""
    share = (value - low) / (high - low) if high > low else 1 / 2
    return round(BOTTOM - share * (BOTTOM - TOP), 1)
