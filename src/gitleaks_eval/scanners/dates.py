"""Dates in the log options of a scanner, moved to where the commits of a planted repository are."""

import re
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from gitleaks_eval.repositories.git import run_git
from gitleaks_eval.scanners.arguments import LOG_OPTIONS, log_options

_DATED = re.compile(r"--(since|after|until|before|max-age|min-age)(?:=(.*))?")


def moved(args: Sequence[str], repository: Path) -> tuple[str, ...]:
    """Return the flags with each date as far from the newest commit of the repository as it is from today.

    Raises:
        EvaluationError: when git cannot read a date, or the repository.
    """
    options = log_options(args)
    if options is None or not any(_DATED.fullmatch(word) for word in options.split(" ")):
        return tuple(args)
    words: list[str] = []
    rest = iter(options.split(" "))
    for word in rest:
        found = _DATED.fullmatch(word)
        if found:
            said = found[2] if found[2] is not None else next(rest, "")
            words.append(_age(f"--{found[1]}={said}", repository))
        else:
            words.append(word)
    kept = [word for index, word in enumerate(args) if not _is_log_flag(args, index)]
    return (*kept, f"{LOG_OPTIONS}={' '.join(words)}")


def _is_log_flag(args: Sequence[str], index: int) -> bool:
    is_value = index > 0 and args[index - 1] == LOG_OPTIONS
    return is_value or args[index] == LOG_OPTIONS or args[index].startswith(f"{LOG_OPTIONS}=")


@lru_cache(maxsize=256)
def _age(word: str, repository: Path) -> str:
    name, _, seconds = run_git(repository, "rev-parse", word).decode("ascii").strip().partition("=")
    newest = int(run_git(repository, "log", "--all", "-1", "--date-order", "--format=%ct").decode("ascii"))
    return f"{name}={int(seconds) + newest - int(time.time())}"
