"""Why checks could not be run: one cause is told once, however many checks it concerns. Pure: imports no pytest."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from gitleaks_eval.core.text import few, numbered, printable
from gitleaks_eval.judges.judge import JUDGE_NODE

SHOWN_AT_MOST = 5
LINES_AT_MOST = 9
LINE_AT_MOST = 400
NAMES_AT_MOST = 10
_SUBJECT = re.compile(r"^(?:scenario|repository) [^:\n]+: ")


@dataclass(frozen=True, slots=True)
class Cause:
    """What went wrong, of which tests (by node id) and in which scenarios; `message` is the first of them in whole."""

    text: str
    message: str
    tests: tuple[str, ...]
    scenarios: tuple[str, ...]


def causes(errors: Mapping[str, tuple[str, str]]) -> list[Cause]:
    """Return the causes of errors, given by node id: scenario (empty for none) and message."""
    groups: dict[str, list[str]] = {}
    for nodeid, (_, message) in errors.items():
        groups.setdefault(_SUBJECT.sub("", message), []).append(nodeid)
    return [
        Cause(
            text,
            errors[tests[0]][1],
            tuple(tests),
            tuple(dict.fromkeys(name for test in tests if (name := errors[test][0]))),
        )
        for text, tests in groups.items()
    ]


def cause_of(message: str) -> str:
    """Return the first line of an error's message without the scenario that it begins with."""
    return next(iter(_SUBJECT.sub("", message).splitlines()), "")


def cause_lines(found: Sequence[Cause]) -> Iterator[str]:
    """Yield a block of at most ten lines for each of the first causes."""
    for cause in found[:SHOWN_AT_MOST]:
        yield from _block(cause)
    if len(found) > SHOWN_AT_MOST:
        yield f"ERROR  and {len(found) - SHOWN_AT_MOST} more"


def _block(cause: Cause) -> Iterator[str]:
    count = len(cause.tests)
    judges = [test.partition(JUDGE_NODE)[2].removesuffix("]") for test in cause.tests if JUDGE_NODE in test]
    of_judges = f"{numbered(count, 'judge')}: {few(judges, NAMES_AT_MOST)}"
    counted = f"  ({of_judges if len(judges) == count else numbered(count, 'check')})"
    names = [printable(name) for name in cause.scenarios]
    where = f"in {len(names)} scenarios ({few(names, NAMES_AT_MOST)}): "
    lines = (cause.message if len(names) <= 1 else where + cause.text).splitlines() or [""]
    shown = [_bounded(line) for line in islice(lines, LINES_AT_MOST)]
    more = ["…"] * (len(lines) > LINES_AT_MOST)
    first, *others = [*shown, *more]
    yield f"ERROR  {first}{counted}"
    # Never at the start of a line: what is quoted there must not be a command to whoever reads the log.
    yield from (f"  | {line.strip()}" for line in others)


def _bounded(line: str) -> str:
    text = printable(line)
    return text if len(text) <= LINE_AT_MOST else f"{text[:LINE_AT_MOST]}…"
