"""Flags of the scanner that may make it look at less: each a limit that it can be run without."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from gitleaks_eval.scanners.arguments import LOG_OPTIONS

TIMEOUT = "--timeout"
# They show, name or find more, and hide nothing.
_HARMLESS = {
    "--no-banner",
    "--no-color",
    "--ignore-gitleaks-allow",
    "--follow-symlinks",
    "--legacy-print",
    "--match-context",
}
# What they leave out is named by fingerprints of findings that no planted secret has.
# Where nothing that is planted is so old, so many, so large or by others, there may be more elsewhere.
_BY_AMOUNT = re.compile(
    r"(?:-n|-\d|--(?:max-count|skip|since|after|until|before|max-age|min-age|max-target|author|committer|grep|invert-grep|all-match))\b.*"
)
_BY_FINGERPRINT = {"-i", "--gitleaks-ignore-path", "-b", "--baseline-path"}
# Options of git log that take the next word as their value.
_WITH_VALUE = {
    *(
        "-n",
        "-S",
        "-G",
        "-L",
        "--max-count",
        "--skip",
        "--since",
        "--after",
        "--until",
        "--before",
        "--since-as-filter",
    ),
    *("--author", "--committer", "--grep", "--grep-reflog", "--glob", "--exclude", "--diff-filter"),
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A flag, or one of the options in `--log-opts`: `text` is what people wrote, `words` are its own.

    One that goes by fingerprints is not `is_measured`: nothing that is planted has one of them.
    """

    text: str
    words: tuple[str, ...]
    of_log: bool = False
    is_measured: bool = True

    @property
    def is_by_amount(self) -> bool:
        """Whether it is about ages, counts, sizes or people, of which repositories have more than is planted."""
        return _BY_AMOUNT.fullmatch(self.words[0]) is not None


def limits(args: Sequence[str]) -> tuple[Limit, ...]:
    """Return what may make the scanner look at less, in the order in which it stands.

    `--timeout` is none of them: what it cuts off depends on the machine.
    """
    found = []
    for words in _flags(args):
        name = words[0].partition("=")[0]
        name = name[:2] if not name.startswith("--") else name
        if name == LOG_OPTIONS:
            found += [Limit(f"{LOG_OPTIONS}={' '.join(own)}", own, of_log=True) for own in _log_limits(words)]
        elif name not in _HARMLESS and name != TIMEOUT:
            found.append(Limit("=".join(words), words, is_measured=name not in _BY_FINGERPRINT))
    # Of log options given twice the last count.
    last = [limit for limit in found if limit.of_log]
    counted = _log_limits(_last_log_flag(args)) if last else ()
    return tuple(limit for limit in found if not limit.of_log or limit.words in counted)


def with_limits(args: Sequence[str], kept: Collection[Limit]) -> tuple[str, ...]:
    """Return the flags with these limits, and those that are no limits."""
    there = limits(args)
    of_log = [limit for limit in there if limit.of_log and limit in kept]
    line: list[str] = []
    for words in _flags(args):
        is_limit = any(limit.words == words for limit in there if not limit.of_log)
        is_kept = any(limit.words == words for limit in kept if not limit.of_log)
        if words[0].partition("=")[0] != LOG_OPTIONS and (is_kept or not is_limit):
            line += words
    if of_log:
        paths = [word for limit in of_log if limit.words[0] == "--" for word in limit.words[1:]]
        options = [word for limit in of_log if limit.words[0] != "--" for word in limit.words]
        line.append(f"{LOG_OPTIONS}={' '.join([*options, *(['--', *paths] if paths else [])])}")
    return tuple(line)


def timeout_of(args: Sequence[str]) -> str:
    """Return the scanner's own time limit as it is given; empty where there is none."""
    return next(("=".join(words) for words in _flags(args) if words[0].partition("=")[0] == TIMEOUT), "")


def _flags(args: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each flag with its value."""
    index = 0
    while index < len(args):
        word = args[index]
        following = args[index + 1] if index + 1 < len(args) else "-"
        takes = "=" not in word and (word == LOG_OPTIONS or not following.startswith("-"))
        # Without a value `--log-opts` is nothing that a scanner takes.
        size = 2 if takes and index + 1 < len(args) else 1
        yield tuple(args[index : index + size])
        index += size


def _last_log_flag(args: Sequence[str]) -> tuple[str, ...]:
    return [words for words in _flags(args) if words[0].partition("=")[0] == LOG_OPTIONS][-1]


def _log_limits(flag: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the options of git log, each with its value, the revisions together, and each path behind `--`."""
    said = flag[1] if len(flag) > 1 else flag[0].partition("=")[2]
    words = [word for word in said.split(" ") if word]
    middle = words.index("--") if "--" in words else len(words)
    options: list[tuple[str, ...]] = []
    revisions: list[str] = []
    rest = iter(words[:middle])
    for word in rest:
        if not word.startswith("-"):
            revisions.append(word)
        else:
            value = next(rest, None) if word in _WITH_VALUE else None
            options.append((word,) if value is None else (word, value))
    # Paths that are excluded say nothing without those that are not.
    paths = [("--", *words[middle + 1 :])] if words[middle + 1 :] else []
    return (*options, *([tuple(revisions)] if revisions else []), *paths)
