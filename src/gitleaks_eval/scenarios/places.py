"""Where a truth says something: a line and a rule, or as loosely as labels of others say it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

# What labels say that name categories of their own, and no rule. No scanner has a rule of this id.
ANY_RULE = "(any rule)"
# File, 1-based line and rule id.
Place = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Window:
    """The lines `first` to `last` of what stands at `path`; without lines (0) all of it.

    A path that ends in `/`, or is empty, is a folder: whatever stands below it is meant.
    """

    path: str
    first: int = 0
    last: int = 0
    rule_id: str = ANY_RULE

    @property
    def is_folder(self) -> bool:
        """Whether it is about all files below."""
        return self.path.endswith("/") or not self.path

    def holds(self, line: int, rule_id: str) -> bool:
        """Return whether a finding of a file that it is about stands in it."""
        return self.rule_id in {ANY_RULE, rule_id} and (not self.first or self.first <= line <= self.last)


@dataclass(frozen=True, slots=True)
class Places:
    """A set of places, some of them named loosely; `(path, line, rule) in places` asks for one."""

    exact: frozenset[Place] = frozenset()
    windows: Mapping[str, tuple[Window, ...]] = field(default_factory=dict)

    def __contains__(self, place: object) -> bool:
        """Whether the place is one of the exact ones, or in a window of its file or of a folder above it."""
        if place in self.exact or not (self.windows and isinstance(place, tuple)):
            return place in self.exact
        path, line, rule_id = place
        above = (path, *(path[: at + 1] for at, letter in enumerate(path) if letter == "/"), "")
        return any(window.holds(line, rule_id) for name in above for window in self.windows.get(name, ()))

    def paths(self) -> set[str]:
        """Return the paths that are named."""
        return {path for path, _, _ in self.exact}.union(self.windows)

    def shown_as(self, shown: Callable[[str], str]) -> "Places":
        """Return the same with other texts for paths."""
        exact = frozenset((shown(path), line, rule_id) for path, line, rule_id in self.exact)
        windows = {
            shown(path): tuple(replace(window, path=shown(path)) for window in listed)
            for path, listed in self.windows.items()
        }
        return Places(exact, windows)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.exact or self.windows)


def places_of(windows: Iterable[Window]) -> Places:
    """Return the places in these windows."""
    exact, loose = set(), dict[str, list[Window]]()
    for window in windows:
        if window.rule_id != ANY_RULE and window.first and window.first == window.last and not window.is_folder:
            exact.add((window.path, window.first, window.rule_id))
        else:
            loose.setdefault(window.path, []).append(window)
    return Places(frozenset(exact), {path: tuple(listed) for path, listed in loose.items()})
