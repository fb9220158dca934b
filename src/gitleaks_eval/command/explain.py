"""`gitleaks-eval explain`: which rules report a text, and what stops the nearest that do not."""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, asking_parser, progress, settings_of, told, waiting
from gitleaks_eval.core.documents import read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.rules.explaining import Explanation, explain
from gitleaks_eval.coverage.samples.explained_text import Text
from gitleaks_eval.engine.session.single_candidate import SingleCandidate, single_candidate
from gitleaks_eval.repositories.clone import clone
from gitleaks_eval.repositories.head import contents_of
from gitleaks_eval.scanners.ignored import Hides, ignoring_lines
from gitleaks_eval.scenarios.scenario import RealRepository

LARGEST = 10 << 20
SHORT_ID = 8
_IN_HISTORY = re.compile(r"([0-9a-f]{4,64}):(.+?)(?::(\d+))?")
STANDARD_INPUT = "standard-input.txt"


def run(arguments: Sequence[str]) -> int:
    """Explain a file, a line of it, or what stands on standard input; 0 when it is reported, 1 when it is not.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = asking_parser("explain", "[FILE[:LINE] | COMMIT:PATH[:LINE]]", clones=False)
    parser.add_argument(
        "place",
        nargs="?",
        metavar="FILE[:LINE]",
        help="what is explained, also as a commit of this repository has it; without it, standard input",
    )
    parser.add_argument("--as", dest="known_as", metavar="PATH", help="the path that it is explained at")
    options = parser.parse_args(arguments)
    return told("explain", lambda: _explained(options, options.place))


def _explained(options: argparse.Namespace, place: str | None) -> int:
    commit = _commit_named(place) if place else None
    text = None if commit else _text(place)
    with single_candidate(settings_of(options), progress) as candidate, waiting("asking what stops each rule"):
        text = text or _in_history(candidate, str(place))
        if options.known_as:
            text = replace(text, path=_checked(options.known_as))
        explanation = explain(candidate.subject, candidate.sample_scanner, text, candidate.root)
        top = _top(Path(place).resolve() if place and not commit else Path.cwd().resolve() / "here")
        hiding = ignoring_lines(top, candidate.scanner.build, text.path, explanation.found, commit or "")
        hidden = _hidden_rules(explanation, hiding)
        sys.stdout.write("\n".join(_lines(candidate.title, text, explanation, hidden)) + "\n")
    return PASSED if _still_reported(explanation, hidden) else FAILED


def _hidden_rules(explanation: Explanation, hiding: Mapping[tuple[str, int], Hides]) -> Mapping[str, Hides]:
    """Return the rules whose findings are all hidden, each with the first line that hides any; a commit's last."""
    hidden = {}
    for rule_id in explanation.reported:
        places = sorted(place for place in explanation.found if place[0] == rule_id)
        if all(place in hiding for place in places):
            hidden[rule_id] = max((hiding[place] for place in places), key=lambda hides: hides.commit)
    return hidden


def _still_reported(explanation: Explanation, hidden: Mapping[str, Hides]) -> list[str]:
    return [rule_id for rule_id in explanation.reported if rule_id not in hidden or hidden[rule_id].commit]


def _lines(title: str, text: Text, explanation: Explanation, hidden: Mapping[str, Hides]) -> list[str]:
    where = text.path if text.line is None else f"{text.path}:{text.line}"
    reported = _still_reported(explanation, hidden)
    lines = [title, f"reported  {where}  by {', '.join(reported)}" if reported else ""]
    if not reported:
        lines[-1] = f"not reported  {where}" + ("" if explanation.stopped or hidden else "  no rule is near")
    for rule_id, hides in hidden.items():
        of = f", as commit {hides.commit[:SHORT_ID]} has it" if hides.commit else ""
        lines.append(f"stopped  {rule_id}  ignore file: {hides.line} hides it{of}")
    lines += [f"stopped  {stopped.rule_id}  {stopped.words}" for stopped in explanation.stopped]
    return [printable(line) for line in lines]


def _commit_named(place: str) -> str | None:
    """Return the commit of `COMMIT:PATH[:LINE]`; None where there is a file of this name."""
    named = _IN_HISTORY.fullmatch(place)
    return named[1] if named and not Path(place).exists() and not Path(place.rpartition(":")[0]).exists() else None


def _in_history(candidate: SingleCandidate, place: str) -> Text:
    """Return what a commit of the repository around us has, read from a clone of it.

    Raises:
        InputError: when there is no such repository, commit, file or line, or it is too large.
        EvaluationError: when the repository cannot be cloned.
    """
    top = _top(Path.cwd().resolve() / "here")
    repository = RealRepository(top.name, str(top), str(top))
    there = clone(
        repository,
        candidate.scanner.scratch / "history",
        candidate.scanner.timeout_seconds,
        at_most=candidate.clone_bytes,
    )
    named = _IN_HISTORY.fullmatch(place)
    names: list[tuple[str, int | None]] = [(place, None)]
    if named and named[3]:
        names.insert(0, (f"{named[1]}:{named[2]}", int(named[3])))
    asked = [os.fsencode(name) for name, _ in names]
    for (name, line), content in zip(
        names, contents_of(there.path, asked, LARGEST, candidate.scanner.timeout_seconds), strict=True
    ):
        if content is not None:
            text = Text(name.partition(":")[2], content, line)
            return _with_line(text, place)
    raise InputError(f"{place}: there is no such file, and no such commit and path; paths begin at the top of {top}")


def _checked(path: str) -> str:
    if Path(path).is_absolute() or ".." in Path(path).parts or not Path(path).parts:
        raise InputError(f"--as {path}: name a path relative to the top of the repository")
    return Path(path).as_posix()


def _text(place: str | None) -> Text:
    """Return what is explained.

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
        ways = "name a file, write a commit by its hash (HASH:PATH:LINE), or give a text on standard input"
        raise InputError(f"{place}: does not exist; {ways}") from None
    except OSError as error:
        raise unreadable("explain:", path, error) from None
    return _with_line(Text(_in_repository(path), content, line), place)


def _with_line(text: Text, place: str) -> Text:
    lines = len(text.content.splitlines())
    if text.line is not None and not 1 <= text.line <= lines:
        raise InputError(f"{place}: there is no such line; the file has {lines}")
    return _bounded(text)


def _bounded(text: Text) -> Text:
    if len(text.content) > LARGEST:
        raise InputError(f"{text.path}: is larger than {LARGEST >> 20} MB; cut out what is to be explained")
    return text


def _in_repository(path: Path) -> str:
    """Return the path as a scanner knows it: relative to the repository around the file, else to where we are."""
    whole = path.resolve()
    for folder in (_top(whole), Path.cwd().resolve()):
        if whole.is_relative_to(folder):
            return whole.relative_to(folder).as_posix()
    return whole.name


def _top(whole: Path) -> Path:
    """Return the repository around a file, else where we are."""
    return next((folder for folder in whole.parents if (folder / ".git").exists()), Path.cwd().resolve())
