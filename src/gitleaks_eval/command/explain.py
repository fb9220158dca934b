"""`gitleaks-eval explain`: which rules report a text, and what stops the nearest that do not."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, asking_parser, progress, settings_of, told, waiting
from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.explained_text import Text
from gitleaks_eval.coverage.explaining import Explanation, explain
from gitleaks_eval.engine.alone import alone

LARGEST = 10 << 20
STANDARD_INPUT = "standard-input.txt"


def run(arguments: Sequence[str]) -> int:
    """Explain a file, a line of it, or what stands on standard input; 0 when it is reported, 1 when it is not.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = asking_parser(
        "explain",
        "[FILE[:LINE]]",
        "Say which rules report a file, a line of it, or a text on standard input, and what stops the nearest that do"
        " not. The value is never printed.",
        "gitleaks-eval explain --config .gitleaks.toml deploy/values.yaml:12",
        clones=False,
    )
    parser.add_argument("place", nargs="?", metavar="FILE[:LINE]", help="what is explained; without it, standard input")
    options = parser.parse_args(arguments)
    return told("explain", lambda: _explained(options, options.place))


def _explained(options: argparse.Namespace, place: str | None) -> int:
    text = _text(place)
    with alone(settings_of(options), progress) as one, waiting("asking what stops each rule"):
        explanation = explain(one.subject, one.asker, text, one.root)
        sys.stdout.write("\n".join(_lines(one.title, text, explanation)) + "\n")
    return PASSED if explanation.reported else FAILED


def _lines(title: str, text: Text, explanation: Explanation) -> list[str]:
    where = text.path if text.line is None else f"{text.path}:{text.line}"
    lines = [title, f"reported  {where}  by {', '.join(explanation.reported)}" if explanation.reported else ""]
    if not explanation.reported:
        lines[-1] = f"not reported  {where}" + ("" if explanation.stopped else "  no rule is near")
    lines += [f"stopped  {one.rule_id}  {one.words}" for one in explanation.stopped]
    return [printable(line) for line in lines]


def _text(place: str | None) -> Text:
    """What is explained.

    Raises:
        InputError: when there is no such file or line, or it is too large.
    """
    if place is None:
        return _bounded(Text(STANDARD_INPUT, sys.stdin.buffer.read(LARGEST + 1)))
    path, line = Path(place), None
    before, colon, after = place.rpartition(":")
    if colon and after.isdecimal() and not path.exists():
        path, line = Path(before), int(after)
    try:
        content = read_input(path, LARGEST + 1)
    except FileNotFoundError:
        raise InputError(f"{place}: does not exist; name a file, or give a text on standard input") from None
    except OSError as error:
        raise unreadable("explain:", path, error) from None
    lines = len(content.splitlines())
    if line is not None and not 1 <= line <= lines:
        raise InputError(f"{place}: there is no such line; the file has {lines}")
    return _bounded(Text(_in_repository(path), content, line))


def _bounded(text: Text) -> Text:
    if len(text.content) > LARGEST:
        raise InputError(f"{text.path}: is larger than {LARGEST >> 20} MB; cut out what is to be explained")
    return text


def _in_repository(path: Path) -> str:
    """The path as a scanner knows it: relative to the repository around the file, else to where we are."""
    whole = path.resolve()
    tops = [folder for folder in whole.parents if (folder / ".git").exists()]
    for folder in (*tops[:1], Path.cwd().resolve()):
        if whole.is_relative_to(folder):
            return whole.relative_to(folder).as_posix()
    return whole.name
