"""A report of known findings, as a scanner takes it with `--baseline-path`: which finding each entry leaves out."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitleaks_eval.core.documents import DocumentError, parse_json
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable

Finding = Mapping[str, Any]
# What all versions compare (scanner-measured): the description too, so that a rule with other words ends an entry.
_PLACE = {
    **dict.fromkeys(("RuleID", "Description", "File", "Commit", "Author", "Email", "Date", "Message"), ""),
    **dict.fromkeys(("StartLine", "EndLine", "StartColumn", "EndColumn", "Entropy"), 0),
}
_VALUE = ("Match", "Secret")
# What `--redact` writes: the word, or with a percentage the beginning and an ellipsis.
_REDACTED = re.compile(r"REDACTED|.*\.\.\.", re.DOTALL)
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class KnownFinding:
    """An entry of such a report, and the line that it begins on."""

    line_number: int
    entry: Finding = field(repr=False)

    @property
    def commit(self) -> str:
        """The commit that it names; empty for none."""
        commit = self.entry.get("Commit")
        return commit if isinstance(commit, str) else ""

    @property
    def by_place(self) -> bool:
        """Whether it has no value to compare; only a scan with `--redact` leaves out what stands there."""
        return bool(_REDACTED.fullmatch(str(self.entry.get("Secret") or "REDACTED")))


def known_findings(content: bytes) -> Iterator[KnownFinding]:
    """Return the entries of a report, in order; all of it is looked at before the first is given.

    Raises:
        EvaluationError: when it is no report of findings; it says where.
    """
    try:
        document = parse_json(content)
    except DocumentError as error:
        raise EvaluationError(f"is no report of findings: {printable(str(error))}") from None
    # The scanner writes `null` where there are none.
    document = [] if document is None else document
    if not isinstance(document, list) or not all(isinstance(entry, dict) for entry in document):
        raise EvaluationError("is no report of findings: write a list of objects, as the scanner's JSON report is")
    return map(KnownFinding, _lines(content, len(document)), document)


def _lines(content: bytes, count: int) -> Iterator[int]:
    text = content.decode(json.detect_encoding(content), "surrogatepass")
    decoder, end, line = json.JSONDecoder(), text.find("[") + 1, 1
    line += text.count("\n", 0, end)
    for _ in range(count):
        start = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]  # it may match nothing, and matches
        line += text.count("\n", end, start)
        yield line
        _, end = decoder.raw_decode(text, start)
        line += text.count("\n", start, end)


class LeftOut:
    """Looks up which findings of a scan an entry leaves out, as the scanner compares them."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_place: defaultdict[tuple[Any, ...], list[Finding]] = defaultdict(list)
        for finding in findings:
            self._by_place[_place(finding)].append(finding)

    def by(self, known: KnownFinding) -> Sequence[Finding]:
        """Return the findings at its place, and with its value unless that is redacted."""
        place = _place(known.entry)
        if any(isinstance(part, (dict, list)) for part in place):
            return ()
        there = self._by_place.get(place, ())
        if known.by_place:
            return there
        return [one for one in there if all(one.get(name, "") == known.entry.get(name, "") for name in _VALUE)]


def _place(finding: Finding) -> tuple[Any, ...]:
    return tuple(finding.get(name, default) for name, default in _PLACE.items())
