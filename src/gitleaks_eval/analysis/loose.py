"""Pairs what labels say loosely (any rule, a range of lines, a file, a folder) with findings that nothing else took."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from gitleaks_eval.scenarios.places import ANY_RULE, Window

# Line number, rule id and severity of a reported finding.
Reported = tuple[int, str, str]


class Pair(NamedTuple):
    """A finding that was taken for a window, and whether it stands beside the window's lines."""

    finding: Reported
    moved: bool


class _Group(NamedTuple):
    """Windows that look for the same in the same place; they sort into the order in which they choose."""

    is_folder: bool
    height: int
    takes_any_rule: bool
    path: str
    rule_id: str


def pair_loose(
    windows: Sequence[Window], found: MutableMapping[str, list[Reported]], moved_at_most: int
) -> list[Pair | None]:
    """For each window a finding that it is about, else None; what is taken leaves `found` (by file).

    Files choose before folders, the deepest folder first, windows of a rule before those of any; then those that
    have lines may take what stands at most `moved_at_most` lines beside them. As many as can be of a group are paired.
    """
    taken: list[Pair | None] = [None] * len(windows)
    groups: defaultdict[_Group, list[int]] = defaultdict(list)
    for index, one in enumerate(windows):
        height = -one.path.count("/") if one.is_folder else 0
        groups[_Group(one.is_folder, height, one.rule_id == ANY_RULE, one.path, one.rule_id)].append(index)
    for beside in (0, moved_at_most):
        for group, members in sorted(groups.items()):
            for path in sorted(filter(_below(group.path), found)) if group.is_folder else [group.path]:
                waiting = [
                    (index, *_lines(windows[index], beside))
                    for index in members
                    if taken[index] is None and (windows[index].first or not beside)
                ]
                pairs, found[path] = _paired(waiting, found.get(path, ()), group.rule_id)
                for index, finding in pairs.items():
                    taken[index] = Pair(finding, bool(beside))
    return taken


def _below(folder: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(folder)


def _lines(window: Window, beside: int) -> tuple[float, float]:
    return (window.first - beside, window.last + beside) if window.first else (-math.inf, math.inf)


def _paired(
    windows: Iterable[tuple[int, float, float]], findings: Iterable[Reported], rule_id: str
) -> tuple[Mapping[int, Reported], list[Reported]]:
    """Give each finding to the open window that ends first, which pairs most; return what is left."""
    waiting = sorted(windows, key=lambda window: window[1], reverse=True)
    pairs: dict[int, Reported] = {}
    left: list[Reported] = []
    open_ones: list[tuple[float, int]] = []
    for finding in sorted(findings):
        while waiting and waiting[-1][1] <= finding[0]:
            index, _, last = waiting.pop()
            heappush(open_ones, (last, index))
        while open_ones and open_ones[0][0] < finding[0]:
            heappop(open_ones)
        if open_ones and rule_id in {ANY_RULE, finding[1]}:
            pairs[heappop(open_ones)[1]] = finding
        else:
            left.append(finding)
    return pairs, left
