"""What people are shown of findings that they label: groups, and lines around a finding, with all values masked."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gitleaks_eval.corpora.labels_file import UNREVIEWED, LabelledFinding
from gitleaks_eval.engine.review.recording import Looked, Reported
from gitleaks_eval.repositories.head import contents_of
from gitleaks_eval.scenarios.redaction import masks_of
from gitleaks_eval.scenarios.secrets import MASK, REVEALING_LENGTH

AROUND = 3
LARGEST_FILE = 10 << 20
LONGEST_LINE = 160
_WORD = re.compile(r"[^\s\"'`=:,;()<>\[\]{}]+")


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that are asked about together, and what they have in common for people."""

    title: str
    findings: tuple[LabelledFinding, ...]


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line around a finding: its number, as it is and masked, and whether the finding stands in it."""

    number: int
    text: str
    raw: str
    is_reported: bool

    def __repr__(self) -> str:
        """Without the raw text, which may hold a secret."""
        return f"<ShownLine {self.number}>"


def groups(findings: Sequence[LabelledFinding]) -> list[Group]:
    """Return the findings that wait for a label: those of one secret together, else those of one rule in one folder."""
    waiting = [finding for finding in findings if finding.label == UNREVIEWED and not finding.stale]
    often = Counter(one.secret for one in waiting)
    grouped: defaultdict[tuple[str, str], list[LabelledFinding]] = defaultdict(list)
    for one in waiting:
        folder = one.path.rpartition("/")[0]
        key = (str(one.secret), "") if often[one.secret] > 1 else (one.rule, f"{folder}/")
        grouped[key].append(one)
    return [Group(_title(key, listed), tuple(listed)) for key, listed in grouped.items()]


def _title(key: tuple[str, str], findings: Sequence[LabelledFinding]) -> str:
    first, folder = key
    if not folder:
        return f"secret {first}, in {len(findings)} places"
    return f"rule {first} in {folder if folder != '/' else 'the root'}"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of the text around findings: the repository, and what is reported of each finding by its id."""

    looked: Looked
    reported: Mapping[int, Reported]
    seconds: float

    def around(self, findings: Sequence[LabelledFinding]) -> Iterator[list[ShownLine]]:
        """Yield the lines around each finding as it was committed; none where its file cannot be read.

        Raises:
            EvaluationError: when git cannot read the repository.
        """
        known = [self.reported.get(finding.id) for finding in findings]
        names = [
            f"{one.commit}:{found.raw_path if found else one.path}".encode("utf-8", "surrogateescape")
            for one, found in zip(findings, known, strict=True)
        ]
        contents = contents_of(self.looked.path, names, LARGEST_FILE, self.seconds)
        for one, found, content in zip(findings, known, contents, strict=True):
            yield self._lines(one, found.value if found else "", content) if content is not None else []

    def _lines(self, labelled_finding: LabelledFinding, value: str, content: bytes) -> list[ShownLine]:
        lines = [line.decode("utf-8", "replace").rstrip("\r") for line in content.split(b"\n")]
        last = labelled_finding.line + value.count("\n")
        first_shown, last_shown = max(1, labelled_finding.line - AROUND), min(len(lines), last + AROUND)
        whole = {
            number
            for other in self.looked.reported
            if other.key[1] == labelled_finding.path and other.key[0] == labelled_finding.commit
            for number in range(other.key[2], other.key[2] + other.value.count("\n") + 1)
        } | set(range(labelled_finding.line, last + 1))
        shown = {number: lines[number - 1] for number in range(first_shown, last_shown + 1)}
        # The values of all findings, line by line, and, columns being wrong at times, the words of the reported lines.
        values = {part for other in self.looked.reported for part in other.value.split("\n")}
        values |= {
            word
            for number in range(labelled_finding.line, last + 1)
            if number in shown
            for word in _WORD.findall(shown[number])
            if len(word) >= 2 * REVEALING_LENGTH
        }
        masks = masks_of(shown.values(), values)
        return [
            ShownLine(
                number,
                MASK if number in whole else masks(text),
                text,
                is_reported=labelled_finding.line <= number <= last,
            )
            for number, text in shown.items()
        ]
