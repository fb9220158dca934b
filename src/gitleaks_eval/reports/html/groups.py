"""Lists of `report.html`: what stands together because of one cause, the first of each, and how many there are."""

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Beyond, a list is no longer read, and a browser needs longer than people wait.
ITEMS_AT_MOST = 200
ITEMS_IN_ALL = 1_000
GROUPS_AT_MOST = 100
# Those beyond what all may have together still show what they are about.
ITEMS_AT_LEAST = 3
# What an expression of -k may ask for; a name with another character is asked for by its parts.
# What is not ASCII stands in a node id as an escape.
_OF_K_EXPRESSION = re.compile(r"[\w:+\-.\[\]/]+", re.ASCII)
_NOT_NAMES = {"and", "or", "not", "true", "false", "none"}
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a list: its text, what is said of it, and the command that asks again (empty: none)."""

    text: str
    note: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Things with one cause: a title, how many, the first of them, and what is quoted of the cause (empty: nothing)."""

    title: str
    count: int
    items: Sequence[Item]
    quoted: str = ""


def grouped(found: Iterable[tuple[str, Item]], quoted: Callable[[str], str] = lambda _: "") -> list[Group]:
    """Items by the title that stands before each, the most first; `quoted` has what is quoted of the cause in a title.

    What there is no room for is counted: of a group by its count, of groups by one more group without items.
    """
    by_title: defaultdict[str, list[Item]] = defaultdict(list)
    for title, item in found:
        by_title[title].append(item)
    largest = sorted(by_title.items(), key=lambda one: -len(one[1]))
    groups, room = [], ITEMS_IN_ALL
    for title, items in largest[:GROUPS_AT_MOST]:
        shown = items[: min(ITEMS_AT_MOST, max(ITEMS_AT_LEAST, room))]
        room -= len(shown)
        groups.append(Group(title, len(items), shown, quoted(title)))
    if left := largest[GROUPS_AT_MOST:]:
        groups.append(Group(f"of {len(left)} more causes", sum(len(items) for _, items in left), []))
    return groups


def command(nodeid: str) -> str:
    """Return the line that runs one test again; its options are those of the run."""
    if not nodeid:
        return ""
    name = nodeid.rpartition("::")[2]
    # By name: a node id begins with where we are installed on the machine of the run.
    parts = [part for part in dict.fromkeys(_OF_K_EXPRESSION.findall(name)) if part.lower() not in _NOT_NAMES]
    return f"pytest --gitleaks-eval -k {shlex.quote(' and '.join(parts))}"


def finding_commands(document: Document) -> dict[str, str]:
    """By scenario the line that asks again where its findings are."""
    return {
        str(row["scenario"]): command(str(row.get("nodeid") or ""))
        for row in document.get("results", ())
        if row["check_id"] == "SA-10"
    }


def begin_of_names(document: Document) -> str:
    """Return what the names of a candidate's tests begin with in a comparison: `8.30.1-`; nothing in a run of one."""
    for row in document.get("results", ()):
        name = str(row.get("nodeid") or "").rpartition("[")[2].removesuffix("]")
        if name.endswith(f"-{row['scenario']}"):
            return name.removesuffix(str(row["scenario"]))
    return ""
