"""The file of a shard: what was asked, its rows, and a last line that says that nothing is missing."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gitleaks_eval.config.eval_file import Approval
from gitleaks_eval.core.documents import LARGEST_JSON, DocumentError, opened, parse_json
from gitleaks_eval.core.errors import EvaluationError, InputError, unreadable
from gitleaks_eval.core.text import few, printable
from gitleaks_eval.reports.fleet.repository_rows import read_row
from gitleaks_eval.reports.fleet.summary import LineKey
from gitleaks_eval.reports.run.evaluation_report import TOOL
from gitleaks_eval.scoring.fleet import RepositoryRow

SHARD_SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class Question:
    """What a run over a list was asked: shards with another one are of another run.

    `candidates` has name, title and identity of each, the baseline first. `content` is one hash of all that an answer
    depends on beside the repositories: the tool, scanners, configurations, flags. `approvals` are those of these
    candidates.
    """

    total: int
    list_sha256: str
    content: str
    candidates: tuple[tuple[str, str, str], ...]
    approvals: tuple[Approval, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each candidate against the baseline."""
        baseline, *others = (name for name, _, _ in self.candidates)
        return [(baseline, other) for other in others]

    @property
    def identities(self) -> dict[str, str]:
        """What approvals are pinned to, by name of the candidate."""
        return {name: identity for name, _, identity in self.candidates}

    @property
    def titles(self) -> dict[str, str]:
        """Scanner and configuration of each candidate, by name."""
        return {name: title for name, title, _ in self.candidates}


@dataclass(frozen=True, slots=True)
class Shard:
    """The file of a shard, of which the first line was read: which one of how many, and what was asked."""

    path: Path
    number: int
    of: int
    question: Question


def is_of_shard(repository: int, number: int, of: int) -> bool:
    """Return whether a repository (from 0) belongs to a shard (from 1)."""
    return repository % of == number - 1


def shard_pieces(
    question: Question, shard: tuple[int, int], rows: Iterable[bytes], lines: Mapping[LineKey, Sequence[str]]
) -> Iterator[bytes]:
    """Yield the content of the file of a shard."""
    said = {"tool": TOOL, "schema_version": SHARD_SCHEMA_VERSION, "shard": list(shard), "question": asdict(question)}
    first = _line(said)
    digest, count = hashlib.sha256(first), 0
    yield first
    for row in rows:
        digest.update(row)
        count += 1
        yield row
    last = {"rows": count, "lines": [[list(key), list(found)] for key, found in lines.items()]}
    yield _line({**last, "sha256": digest.hexdigest()})


def read_shards(paths: Sequence[Path]) -> list[Shard]:
    """Return the shards of these files, in order, if together they are one run.

    Raises:
        InputError: when a file cannot be read, or is none of a shard.
        EvaluationError: when one is missing, doubled, or of another run.
    """
    shards = sorted((_read_first(path) for path in paths), key=lambda one: one.number)
    first = shards[0]
    for one in shards[1:]:
        if what := _difference(first, one):
            raise EvaluationError(f"{printable(str(one.path))}: is of another run than {first.path}: {what}")
    numbers = [shard.number for shard in shards]
    doubled = sorted({str(number) for number in numbers if numbers.count(number) > 1})
    missing = [str(number) for number in range(1, first.of + 1) if number not in numbers]
    if doubled:
        raise EvaluationError(f"shard {few(doubled)} of {first.of} is there twice; name each file once")
    if missing:
        raise EvaluationError(f"shard {few(missing)} of {first.of} is missing; name all files")
    return shards


def shard_rows(shard: Shard, lines: dict[LineKey, Sequence[str]]) -> Iterator[tuple[RepositoryRow, bytes]]:
    """Yield the rows of a shard, each with its line; the lines of configurations that it names are added to `lines`.

    Raises:
        InputError: when the file is damaged, or lacks a repository of its own; the rows before were given out.
    """
    expected = range(shard.number - 1, shard.question.total, shard.of)
    digest, count = hashlib.sha256(), 0
    try:
        with opened(shard.path) as file:
            digest.update(_next(file))
            for number in expected:
                line = _next(file)
                digest.update(line)
                count += 1
                yield _expected(read_row(line), number, shard.question), line
            lines.update(_read_last(file.read(LARGEST_JSON), count, digest.hexdigest()))
    except OSError as error:
        raise unreadable("the shard", shard.path, error) from None
    except (DocumentError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{shard.path}: is damaged: {_why(error)}; make this shard again") from None


def _expected(row: RepositoryRow, number: int, question: Question) -> RepositoryRow:
    if row.number != number or [(pair.baseline, pair.candidate) for pair in row.pairs] != question.pairs:
        raise DocumentError(f"has another row where repository {number} was expected")
    return row


def _read_last(line: bytes, count: int, sha256: str) -> dict[LineKey, Sequence[str]]:
    said: Any = parse_json(line)
    if line.count(b"\n") != 1 or not line.endswith(b"\n") or said["rows"] != count or said["sha256"] != sha256:
        raise DocumentError("its last line is of another file")
    return {_key(key): [str(one) for one in found] for key, found in said["lines"]}


def _read_first(path: Path) -> Shard:
    try:
        with opened(path) as file:
            number, of, question = _first(parse_json(_next(file)))
    except OSError as error:
        raise unreadable("the shard", path, error) from None
    except (DocumentError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}: is no file of a shard: {_why(error)}; name what `gitleaks-eval compare --shard` has written"
        ) from None
    return Shard(path, number, of, question)


def _first(said: Any) -> tuple[int, int, Question]:
    if said["tool"] != TOOL or said["schema_version"] != SHARD_SCHEMA_VERSION:
        raise DocumentError("it is of another version")
    number, of = said["shard"]
    if not 1 <= number <= of:
        raise DocumentError("its number is none")
    return number, of, _question(said["question"])


def _question(document: Mapping[str, Any]) -> Question:
    candidates = tuple((str(name), str(title), str(identity)) for name, title, identity in document["candidates"])
    names = {name for name, _, _ in candidates}
    total = document["total"]
    if len(names) < len(candidates) or len(candidates) < 2 or type(total) is not int or total < 1:
        raise DocumentError("it compares nothing")
    approvals = tuple(map(_approval, document["approvals"]))
    return Question(total, str(document["list_sha256"]), str(document["content"]), candidates, approvals)


def _approval(said: Mapping[str, Any]) -> Approval:
    approval = Approval(**{**said, "repositories": tuple(map(str, said["repositories"]))})
    texts = (approval.rule, approval.reason, approval.baseline, approval.candidate, approval.kind, approval.cause or "")
    if not all(isinstance(text, str) for text in texts) or type(approval.findings) not in {int, type(None)}:
        raise DocumentError("an approval is none")
    return approval


def _difference(shard: Shard, other: Shard) -> str:
    """Return what two shards differ in that are of two runs; empty where they may be of one.

    Titles may differ: they say how each machine has come by its scanner.
    """
    mine, theirs = shard.question, other.question
    if (mine.total, mine.list_sha256) != (theirs.total, theirs.list_sha256):
        return "another list of repositories"
    if mine.content != theirs.content or list(mine.identities.items()) != list(theirs.identities.items()):
        return "another scanner, configuration or version of gitleaks-eval"
    if mine.approvals != theirs.approvals:
        return "other approvals"
    return "another number of shards" if shard.of != other.of else ""


def _key(said: Sequence[Any]) -> LineKey:
    baseline, candidate, kind, cause, rule = said
    return str(baseline), str(candidate), str(kind), None if cause is None else str(cause), str(rule)


def _next(file: BinaryIO) -> bytes:
    line = file.readline(LARGEST_JSON)
    if not line.endswith(b"\n"):
        raise DocumentError("it ends too early")
    return line


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode("ascii") + b"\n"


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, DocumentError) else "something in it is missing or wrong"
