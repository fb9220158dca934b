"""`gitleaks-eval review`: what is reported in a repository is recorded, labelled by people, and kept as truth."""

import argparse
import getpass
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from gitleaks_eval.command.asking import FAILED, PASSED, asking_parser, say, settings_of, told, waiting
from gitleaks_eval.command.review_terminal import Terminal, ask_groups
from gitleaks_eval.core.documents import named_path
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.files import write_atomically
from gitleaks_eval.core.text import numbered
from gitleaks_eval.corpora.kinds.labels import repository_of
from gitleaks_eval.corpora.labels_file import (
    ANSWERS,
    UNREVIEWED,
    Answer,
    LabelsFile,
    ReadLabels,
    counts,
    read_labels,
    write_labels,
)
from gitleaks_eval.corpora.labels_table import as_csv, from_csv
from gitleaks_eval.engine.acceptance.accepting import is_ci
from gitleaks_eval.engine.review.recording import Merged, cloned, look, merged
from gitleaks_eval.engine.review.reviewing import Context
from gitleaks_eval.repositories.pinned import has_commit
from gitleaks_eval.repositories.sources import local_path, real_repositories, shown
from gitleaks_eval.scenarios.scenario import RealRepository


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file of labels as it stands now, and where its repository was scanned, what is known of each finding."""

    read: ReadLabels
    labels: LabelsFile
    context: Context | None = None


def run(arguments: Sequence[str]) -> int:
    """Record and review; 0 when all went well, 1 when `--check` has found what nobody has reviewed.

    Raises:
        SystemExit: with status 4 when the arguments are wrong on sight, with 0 after `--help`.
    """
    parser = asking_parser("review", "LABELS.yaml [--repo PATH_OR_URL]")
    parser.add_argument("labels", metavar="LABELS.yaml", help="the file of labels; made when it is not there")
    parser.add_argument("--repo", metavar="PATH_OR_URL", help="the repository; cloned, never scanned in place")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail while anything is unreviewed (for CI)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="ID=LABEL", help="true, false or skipped; repeatable"
    )
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason that is kept with each answer")
    parser.add_argument("--csv-out", metavar="FILE", help="write the labels as a table")
    parser.add_argument("--csv-in", metavar="FILE", help="take the labels of a table")
    options = parser.parse_args(arguments)
    return told("review", lambda: _reviewed(options))


def _reviewed(options: argparse.Namespace) -> int:
    path = named_path(options.labels, Path.cwd(), "review")
    is_written = bool(options.set or options.csv_in)
    if options.check and (is_written or options.csv_out):
        raise InputError("review: --check writes nothing; leave out --set, --csv-in and --csv-out")
    if options.set and not options.why.strip():
        raise InputError("review: --set needs a reason: add --why TEXT")
    if not options.check and is_ci(os.environ):
        raise InputError("review: CI is set, and in CI nothing is written; add --check, or run it where people are")
    read = read_labels(path)
    if read.labels is None and not options.repo:
        raise InputError(f"review: {path}: does not exist; name the repository with --repo to have it recorded")
    if read.labels and (is_written or options.csv_out) and not options.repo:
        return _answered(options, Recorded(read, read.labels))
    with _recorded(options, read) as recorded:
        if options.check:
            return _checked(recorded)
        if is_written or options.csv_out:
            return _answered(options, recorded)
        if recorded.context and sys.stdin.isatty() and sys.stdout.isatty():
            ask_groups(recorded.read, recorded.context, Terminal(), lambda label: _answer(label, options.why))
        elif waiting := _waiting(recorded.labels):
            say(f"{waiting} unreviewed: run it in a terminal, or use --set ID=true --why TEXT, --csv-out and --csv-in")
    return PASSED


@contextmanager
def _recorded(options: argparse.Namespace, read: ReadLabels) -> Iterator[Recorded]:
    """Yield the labels brought up to date with their repository; with `--check` nothing is written."""
    settings = settings_of(options)
    repository = _repository(options, read)
    known = read.labels or LabelsFile(_location(repository, read.path), "", ())
    with ExitStack() as stack:
        with waiting(f"cloning {repository.name}"):
            clone, commit = stack.enter_context(cloned(repository, "", settings))
        _refuse_other(known, clone, read.path, repository)
        asks_nobody = options.check or options.set or options.csv_in or options.csv_out
        if read.labels and known.commit == commit and asks_nobody:
            yield Recorded(read, known)
            return
        with waiting(f"scanning {repository.name}"):
            looked = look(settings, clone, commit, say)
        made = merged(known, looked)
        if not options.check and made.labels != read.labels:
            read = write_labels(read, made.labels)
        _say_recorded(known, made, commit)
        yield Recorded(read, made.labels, Context(looked, made.reported, settings.timeout_seconds))


def _repository(options: argparse.Namespace, read: ReadLabels) -> RealRepository:
    if options.repo:
        (repository,) = real_repositories([options.repo], Path.cwd(), ())
        return repository
    if read.labels is None:
        raise InputError(f"review: {read.path}: does not exist; name the repository with --repo")
    return repository_of(read.path, read.labels)


def _location(repository: RealRepository, path: Path) -> str:
    """Return the location of a repository for a file of labels: relative to the file, a URL without credentials."""
    local = local_path(repository.location)
    if local is None:
        return shown(repository.location)
    relative = Path(os.path.relpath(local, path.resolve().parent)).as_posix()
    return relative if relative.startswith("../") or relative == ".." else f"./{relative}"


def _refuse_other(known: LabelsFile, clone: Path, path: Path, repository: RealRepository) -> None:
    commits = dict.fromkeys([known.commit, *(finding.commit for finding in known.findings)])
    if known.commit and not any(has_commit(clone, commit) for commit in commits):
        raise InputError(
            f"{path}: commit: these are labels of another repository: {repository.source} has none of them"
        )


def _say_recorded(known: LabelsFile, made: Merged, commit: str) -> None:
    said = {**dict(counts(made.labels.findings)), "new": made.new, "no longer reported": made.unreported}
    before = sum(finding.stale for finding in known.findings)
    gone = f" ({said['stale'] - before} more than before)" if said["stale"] > before else ""
    listed = ", ".join(f"{count} {name}" for name, count in said.items() if count)
    say(f"recorded at {commit[:12]}: {numbered(len(made.labels.findings), 'finding')}: {listed or 'none'}{gone}")


def _checked(recorded: Recorded) -> int:
    waiting = _waiting(recorded.labels)
    say(f"{waiting} unreviewed")
    return FAILED if waiting else PASSED


def _waiting(labels: LabelsFile) -> int:
    return dict(counts(labels.findings))[UNREVIEWED]


def _answered(options: argparse.Namespace, recorded: Recorded) -> int:
    labels = recorded.labels
    answers: dict[int, Answer] = {}
    if options.csv_in:
        table = named_path(options.csv_in, Path.cwd(), "--csv-in")
        answers.update(from_csv(table, labels, _reviewer(), _today()))
    answers.update(_set(options.set, labels, options.why))
    for label in dict.fromkeys(answers.values()):
        labels = labels.answered({number for number, answer in answers.items() if answer == label}, label)
    if labels != recorded.labels:
        write_labels(recorded.read, labels)
    if options.set or options.csv_in:
        say(f"{numbered(len(answers), 'label')} changed, {_waiting(labels)} unreviewed")
    if options.csv_out:
        out = named_path(options.csv_out, Path.cwd(), "--csv-out")
        try:
            write_atomically(out, as_csv(labels))
        except OSError as error:
            raise InputError(f"--csv-out {out}: cannot be written: {error.strerror or error}") from None
    return PASSED


def _set(values: Sequence[str], labels: LabelsFile, why: str) -> Mapping[int, Answer]:
    ids = {str(finding.id): finding for finding in labels.findings}
    answers: dict[int, Answer] = {}
    for value in values:
        number, _, label = value.partition("=")
        if number not in ids or label.lower() not in {*ANSWERS, UNREVIEWED}:
            wrong = "there is no finding with this id" if number not in ids else f"write {', '.join(ANSWERS)}"
            raise InputError(f"review: --set {value}: {wrong}")
        if int(number) in answers:
            raise InputError(f"review: --set {value}: this id is set twice")
        answers[int(number)] = _answer(label.lower(), why)
    return answers


def _answer(label: str, why: str) -> Answer:
    return Answer() if label == UNREVIEWED else Answer(label, _reviewer(), _today(), why.strip())


def _reviewer() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"


def _today() -> str:
    return datetime.now(timezone.utc).date().isoformat()
