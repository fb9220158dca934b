"""A file of labels: a finding a line, and never a value, anything derived from one, or an author of a commit.

It is YAML, in which each finding is one line in one order of keys, so that a diff shows what has changed. Lines as we
write them are read by a regex, others (edited by hand) as YAML.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from gitleaks_eval.core.documents import DocumentError, opened, read_input
from gitleaks_eval.core.errors import InputError, unreadable
from gitleaks_eval.core.files import cache_folder, write_atomically
from gitleaks_eval.core.schema import schema_violations
from gitleaks_eval.core.text import printable
from gitleaks_eval.core.yaml_documents import parse_yaml

LARGEST = 256 << 20
LONGEST_LINE = 1 << 16
UNREVIEWED, SKIPPED, TRUE, FALSE = LABELS = ("unreviewed", "skipped", "true", "false")
ANSWERS = (TRUE, FALSE, SKIPPED)
HEADER = """\
# Labels of findings, written by `gitleaks-eval review`: true is a secret, false is none.
# It holds no value of a secret, and nothing that is derived from one; equal secrets share a number.
"""
_TEXT = r'"((?:[^"\\\x00-\x1f\x7f])*)"'
# As `_line` writes it, where no text needs an escape.
_LINE = re.compile(
    rf"  - \{{ id: (\d{{1,9}}), path: {_TEXT}, line: (\d{{1,9}}), columns: \[(\d{{1,9}}), (\d{{1,9}})\], rule: {_TEXT}"
    rf', commit: "([0-9a-f]*)", secret: (\d{{1,9}}), label: ({"|".join(LABELS)})'
    rf"(, stale: true)?(?:, reviewer: {_TEXT}, date: {_TEXT}(?:, why: {_TEXT})?)? \}}"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A label, and who has given it, when (a date) and why; `UNREVIEWED` has none of these."""

    label: str = UNREVIEWED
    reviewer: str = ""
    date: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class LabelledFinding:
    """A finding and its label, one of `LABELS`; lines and columns from 1.

    `secret` is a number that equal secrets share. A finding is `stale` when its commit is in the history no more.
    `reviewer`, `date` and `why` are those of the last answer.
    """

    id: int
    path: str
    line: int
    columns: tuple[int, int]
    rule: str
    commit: str
    secret: int
    label: str = UNREVIEWED
    stale: bool = False
    reviewer: str = ""
    date: str = ""
    why: str = ""

    def answered(self, answer: Answer) -> "LabelledFinding":
        """Return the same with another label."""
        return replace(self, label=answer.label, reviewer=answer.reviewer, date=answer.date, why=answer.why)

    @property
    def place(self) -> tuple[str, str, int, str]:
        """Commit, path, line and rule."""
        return self.commit, self.path, self.line, self.rule


@dataclass(frozen=True, slots=True)
class LabelsFile:
    """The findings of a repository at a commit, in order; `pool` names the candidates that have reported them.

    `repository` is a URL, or a path relative to the folder of the file.
    """

    repository: str
    commit: str
    pool: tuple[str, ...]
    findings: tuple[LabelledFinding, ...] = ()

    def answered(self, ids: Collection[int], answer: Answer) -> "LabelsFile":
        """Return the same with one and the same answer to these findings."""
        return replace(
            self,
            findings=tuple(finding.answered(answer) if finding.id in ids else finding for finding in self.findings),
        )


@dataclass(frozen=True, slots=True)
class ReadLabels:
    """A file of labels that was read, and the hash of what it held; None for one that is not there."""

    path: Path
    labels: LabelsFile | None
    sha256: str | None


def is_ours(path: Path) -> bool:
    """Return whether a file begins as those that we write: a folder may hold other YAML."""
    first = HEADER.partition("\n")[0].encode()
    try:
        with opened(path) as file:
            return file.read(len(first)) == first
    except OSError:
        return False


def read_labels(path: Path) -> ReadLabels:
    """Read a file of labels.

    Raises:
        InputError: when it cannot be read, or something in it is wrong; it names file and line.
    """
    try:
        content = read_input(path, LARGEST)
        text = content.decode("utf-8")
    except FileNotFoundError:
        return ReadLabels(path, None, None)
    except OSError as error:
        raise unreadable("the labels", path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: it is no UTF-8; save it as UTF-8") from None
    return ReadLabels(path, _parsed(path, text), hashlib.sha256(content).hexdigest())


def write_labels(read: ReadLabels, labels: LabelsFile) -> ReadLabels:
    """Replace a file by these labels, whole or not at all, and only while it is the one that was read.

    Raises:
        InputError: when it has changed since, or cannot be written; what stands there is left as it is.
    """
    path = read.path.resolve()
    content = as_text(labels).encode()
    name = hashlib.sha256(str(path).encode("utf-8", "backslashreplace")).hexdigest()[:16]
    try:
        with FileLock(cache_folder() / f"labels-{name}.lock"):
            there = hashlib.sha256(read_input(path, LARGEST)).hexdigest() if path.exists() else None
            if there != read.sha256:
                raise InputError(
                    f"{read.path}: somebody else has changed it meanwhile, and it is left as it is; "
                    "start again: what was answered before is kept"
                )
            write_atomically(path, content)
    except OSError as error:
        raise InputError(f"{read.path}: cannot be written: {error.strerror or error}") from None
    return ReadLabels(read.path, labels, hashlib.sha256(content).hexdigest())


def in_order(findings: Sequence[LabelledFinding]) -> tuple[LabelledFinding, ...]:
    """Return findings in the order of a file: by path, line, columns, rule and commit."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (finding.path, finding.line, finding.columns, finding.rule, finding.commit, finding.id),
        )
    )


def as_text(labels: LabelsFile) -> str:
    """Return a file of labels as it is written."""
    pool = ", ".join(map(_quoted, labels.pool))
    head = [f"repository: {_quoted(labels.repository)}", f"commit: {_quoted(labels.commit)}", f"pool: [{pool}]"]
    listed = ["findings:", *map(_line, labels.findings)] if labels.findings else ["findings: []"]
    return HEADER + "\n".join((*head, *listed)) + "\n"


def _line(finding: LabelledFinding) -> str:
    parts = [
        f"id: {finding.id}, path: {_quoted(finding.path)}, line: {finding.line}",
        f"columns: [{finding.columns[0]}, {finding.columns[1]}], rule: {_quoted(finding.rule)}",
        f"commit: {_quoted(finding.commit)}, secret: {finding.secret}, label: {finding.label}",
        *["stale: true"] * finding.stale,
        *[f"reviewer: {_quoted(finding.reviewer)}, date: {_quoted(finding.date)}"] * bool(finding.date),
        *[f"why: {_quoted(finding.why)}"] * bool(finding.date and finding.why),
    ]
    return f"  - {{ {', '.join(parts)} }}"


def _quoted(text: str) -> str:
    """Return a text between double quotes, as YAML reads it on one line."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter.isprintable():
        return letter
    return f"\\U{ord(letter):08x}" if not 0xD800 <= ord(letter) < 0xE000 else "\ufffd"


def _parsed(path: Path, text: str) -> LabelsFile:
    lines = text.split("\n")
    start = next((index for index, line in enumerate(lines) if line.startswith("findings:")), None)
    if start is None:
        raise InputError(f"{path}:{len(lines)}: there is no `findings:`; it is truncated, or no file of labels")
    head = _yaml(path, "\n".join(lines[:start]), 1)
    lines_of = {line.partition(":")[0]: number for number, line in reversed(list(enumerate(lines[:start], 1)))}
    _check(path, {**(head if isinstance(head, dict) else {"": head}), "findings": []}, lines_of)
    if lines[-1]:
        raise InputError(f"{path}:{len(lines)}: the last line has no end: it is truncated")
    if lines[start] not in {"findings:", "findings: []"}:
        raise InputError(f"{path}:{start + 1}: write `findings:` alone on its line, and below it a finding a line")
    findings: list[LabelledFinding] = []
    ids: dict[int, int] = {}
    places: dict[Any, int] = {}
    for number, line in enumerate(lines[start + 1 : -1], start + 2):
        one = _finding(path, number, line)
        twice = (ids.setdefault(one.id, number), places.setdefault((one.place, one.columns), number))
        if (first := min(twice)) != number:
            what = f"the id {one.id}" if ids[one.id] != number else "this finding"
            raise InputError(f"{path}:{number}: {what} stands in line {first}, too; remove one of the two")
        findings.append(one)
    return LabelsFile(head["repository"], head["commit"], tuple(head["pool"]), in_order(findings))


def _finding(path: Path, number: int, line: str) -> LabelledFinding:
    if match := _LINE.fullmatch(line):
        identity, at, row, first, last, rule, commit, secret, label, stale, reviewer, date, why = match.groups("")
        columns = (int(first), int(last))
        found = LabelledFinding(
            *(int(identity), at, int(row), columns, rule, commit, int(secret), label, bool(stale), reviewer, date, why)
        )
    else:
        found = _by_hand(path, number, line)
    if problem := _problem(found):
        raise InputError(f"{path}:{number}: {problem}")
    return found


def _by_hand(path: Path, number: int, line: str) -> LabelledFinding:
    if not line.lstrip().startswith("- ") or len(line) > LONGEST_LINE:
        raise InputError(f"{path}:{number}: this is no finding; write one a line, and what you remark as its `why`")
    document = _yaml(path, line.strip(), number)
    _check(path, {"repository": ".", "commit": "0" * 40, "pool": [], "findings": document}, {"findings": number})
    (given,) = document
    label = given["label"]
    return LabelledFinding(
        **{
            **given,
            "columns": tuple(given["columns"]),
            "label": str(label).lower() if isinstance(label, bool) else label,
        }
    )


def _problem(finding: LabelledFinding) -> str:
    if finding.id < 1 or finding.line < 0 or finding.secret < 1:
        return "`id` and `secret` are counted from 1"
    if finding.label == UNREVIEWED and finding.date:
        return "it is unreviewed, and has a date; write a label, or remove reviewer, date and why"
    if finding.label != UNREVIEWED and not finding.date:
        return f"its label is {finding.label}, and nobody says since when: add reviewer and date, or use --set"
    return ""


def _yaml(path: Path, text: str, first: int) -> Any:
    try:
        return parse_yaml(text.encode())
    except DocumentError as error:
        place = re.match(r"line (\d+), ", str(error))
        at = first + int(place[1]) - 1 if place else first
        words = str(error)[place.end() :] if place else str(error)
        raise InputError(f"{path}:{at}: {words}") from None


def _check(path: Path, document: Any, lines: Mapping[str, int]) -> None:
    """Refuse what the schema does not allow; `lines` says where each key of the document stands."""
    for address, problem in schema_violations("labels", document):
        where = f"{address[-1]}: " if address and isinstance(address[-1], str) and address[-1] != "findings" else ""
        number = lines.get(str(address[0]), 1) if address else 1
        raise InputError(f"{path}:{number}: {printable(where)}{problem}")


def counts(findings: Sequence[LabelledFinding]) -> Iterator[tuple[str, int]]:
    """Yield how many findings have each label, those that are stale apart."""
    for label in (TRUE, FALSE, SKIPPED, UNREVIEWED):
        yield label, sum(finding.label == label and not finding.stale for finding in findings)
    yield "stale", sum(finding.stale for finding in findings)
