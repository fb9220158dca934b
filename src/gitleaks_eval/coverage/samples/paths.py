"""Where samples stand: a path that no allowlist is about, or one that a regex matches."""

import re
from collections.abc import Callable, Iterator, Sequence

from gitleaks_eval.regex.generate import Made, in_context_of, make
from gitleaks_eval.regex.parse import parse_regex

# Of different kinds, so that one of them is free where others are allowlisted. No scanner skips any of them by itself.
NEUTRAL = (
    # As deep as most files of a large repository.
    "ledger/quartz/settings/live/{}.txt",
    "settings/{}.conf",
    "quartz/{}.cfg",
    "app/{}.env",
    "zircon/{}/notes",
    "{}.ini",
    "src/{}.py",
    "{}",
)
_ODD_PART = re.compile(r"(\.\.?)?|\.git|git~1", re.IGNORECASE)
PATH_AT_MOST = 200
VARIANTS = 12


def word(number: int) -> str:
    """A name of letters for a number: no digits, of which a path could be made."""
    letters = ""
    while True:
        number, rest = divmod(number, 20)
        letters = "bcdfghjklmnpqrstvwxz"[rest] + letters
        if not number:
            return letters.rjust(4, "b")


def neutral_path(name: str, is_free: Callable[[str], bool]) -> str:
    """The first neutral path that is free, the first of all if none is."""
    paths = [pattern.format(name) for pattern in NEUTRAL]
    return next((path for path in paths if is_free(path)), paths[0])


def paths_matching(regex: str, name: str) -> Iterator[str]:
    """Paths that a regex matches, with the name in them where there is room.

    Raises:
        RegexError: when no value of the regex can be made.
    """
    tree = parse_regex(regex)
    seen: set[str] = set()
    for variant in range(VARIANTS):
        made = make(tree, name, variant)
        for path in _whole(made, name):
            if path not in seen:
                seen.add(path)
                yield path


def is_path(path: str) -> bool:
    """Whether git can hold a file of this path, and every system can name it."""
    return (
        len(path) <= PATH_AT_MOST
        and path.isprintable()
        and "\\" not in path
        and not any(_ODD_PART.fullmatch(part) for part in path.split("/"))
    )


def _whole(made: Made, name: str) -> Iterator[str]:
    """The path with folders and an ending around it as people name them, else any that do."""
    first, last = made.text[:1], made.text[-1:]
    befores = {"/": [name], ".": [f"{name}/x", f"{name}/", ""]}.get(first, [f"{name}/", ""])
    afters = ["x.txt"] if last == "/" else ["", "/x.txt", ".txt"]
    usual = list(_around(made, befores, afters))
    yield from usual or _around(made, (f"{name}/", name, f"{name}/x", ""), ("", ".txt", "/x.txt", "x", "/x"))


def _around(made: Made, befores: Sequence[str], afters: Sequence[str]) -> Iterator[str]:
    for after in afters:
        for before in befores:
            text = in_context_of(made, before, after)
            if text is not None and is_path(before + text + after):
                yield before + text + after
