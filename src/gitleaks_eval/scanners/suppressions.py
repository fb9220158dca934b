"""What a repository brings along to hide findings from a scanner, and what it would have hidden."""

import heapq
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import LARGEST_JSON
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import printable
from gitleaks_eval.repositories.head import HeadFile, contents_of, head_files
from gitleaks_eval.repositories.log import names_up_to_8_20
from gitleaks_eval.scanners import IGNORE_FILES, SCANNERS
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.known_findings import LeftOut, known_findings

LISTED_AT_MOST = 1000
LARGEST_FILE = 10 << 20
# As git does, to tell text from binary.
_LOOKED_AT_FOR_NUL = 8000
_KINDS = ("config", "ignore-entry", "baseline-entry", "allow-comment")
# What hides findings from one scanner is of interest where another is under test: it would hide them tomorrow.
_CONFIGS = {name.encode() for adapter in SCANNERS.values() for name in adapter.sources.files}
_COMMENTS = {text.encode() for adapter in SCANNERS.values() for text in adapter.allow_comments}
_COMMENT = re.compile(b"|".join(map(re.escape, sorted(_COMMENTS))))
_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

Finding = Mapping[str, Any]
# Commit, path, line and rule.
LabelledPlace = tuple[str, str, int, str]
DEAD, STALE, WIDE, RENAMED = "dead", "stale", "wide", "renamed"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One thing that may hide findings, and where HEAD has it.

    `kind` is `config`, `ignore-entry`, `baseline-entry` or `allow-comment`.
    `obeyed` says that the scan could not leave it unheeded; then nobody sees what it hides. `hides` counts the
    findings of the scan that it would have hidden, None where that is not known. `note` says what is wrong with it:
    `dead` (it hides nothing), `stale` (its commit is not there), `wide` (it hides more than one secret, or one that
    people have labelled as true) or `renamed` (it names the commit as other versions do, and `replacement` is the entry
    for this one); empty for nothing. `by_place` says that the value of a baseline's entry is redacted:
    what it hides is what stands at its place, and only from a scan with `--redact`.
    """

    kind: str
    file_path: str
    line_number: int | None
    obeyed: bool
    hides: int | None
    note: str = ""
    by_place: bool = False
    replacement: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All that there are, in number, and at most 1,000 of them: first those that hide or may hide the most."""

    total: int
    listed: tuple[Suppression, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What people say of a repository.

    `true` are the places (commit, path, line, rule) of secrets that they have labelled as such, `baselines` the files
    of known findings in it that they name (`--baseline-path`).
    """

    true: Container[LabelledPlace] = frozenset()
    baselines: Sequence[str] = ()


def suppressions(
    repository: Path,
    findings: Sequence[Finding],
    build: ScannerBuild,
    seconds: float,
    told: Told = Told(),
) -> Suppressions:
    """What HEAD of a clone suppresses; `findings` are those of a scanner's report, of a scan with `obey_allow=False`.

    Configurations and ignore files count at the root, where a scanner looks for them; comments in text files of at
    most 10 MiB.

    Raises:
        EvaluationError: when git cannot read the clone, or not in `seconds` for each of two passes, or a baseline is
            no file of HEAD, or no report of findings.
    """
    # Asked only where a comment stands: that is in few repositories.
    hidden = cache(lambda: _hidden_by_comments(repository, findings, build, seconds))
    fingerprints = _fingerprints(findings, build)
    judged = _Judged(repository, seconds, told.true, cache(lambda: _other_names(repository, build, seconds)))
    everything = itertools.chain(
        _every(head_files(repository, LARGEST_FILE, seconds), hidden, fingerprints, build, judged),
        itertools.chain.from_iterable(_baseline_entries(name, findings, judged) for name in told.baselines),
    )
    numbers = itertools.count()
    # There may be more than memory holds: zip() takes a number for each that comes, and the next one is how many.
    most = heapq.nsmallest(LISTED_AT_MOST, (one for one, _ in zip(everything, numbers)), key=_weight)  # noqa: B905 - numbers never end
    return Suppressions(next(numbers), tuple(sorted(most, key=_place)))


def _every(
    files: Iterable[HeadFile],
    hidden: Callable[[], Mapping[str, Sequence["_Hidden"]]],
    fingerprints: Mapping[str, Sequence[Finding]],
    build: ScannerBuild,
    judged: "_Judged",
) -> Iterator[Suppression]:
    ignores: dict[str, HeadFile] = {}
    for file in files:
        if file.path in _CONFIGS:
            yield Suppression("config", _text(file.path), None, obeyed=False, hides=None)
        elif _text(file.path) in IGNORE_FILES:
            ignores[_text(file.path)] = file
        if not file.is_symlink:
            yield from _allow_comments(file, hidden, build, judged)
    # The scanner reads the first that is there, and only that one.
    read = next((name for name in build.adapter.ignore_files if name in ignores), None)
    for name, file in ignores.items():
        yield from _ignore_entries(file, fingerprints if name == read else {}, judged)


def _weight(suppression: Suppression) -> tuple[Any, ...]:
    unknown = suppression.hides is None
    return (not unknown, -(suppression.hides or 0), *_place(suppression))


def _place(suppression: Suppression) -> tuple[int, str, int]:
    return _KINDS.index(suppression.kind), suppression.file_path, suppression.line_number or 0


def _text(path: bytes) -> str:
    # As the scanner reports it.
    return path.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Judged:
    """What tells what is wrong with a suppression: the commits that are there, and the secrets labelled as true.

    `other_names` has the commits that other versions name, each with the name that this build gives it.
    """

    repository: Path
    seconds: float
    true: Container[LabelledPlace]
    other_names: Callable[[], Mapping[str, str]]

    def note(self, hidden: Sequence[Finding]) -> str:
        """Return what is wrong with what hides these findings."""
        if not hidden:
            return DEAD
        secrets = {finding.get("Secret") for finding in hidden}
        places = ((one["Commit"], one["File"], one["StartLine"], one["RuleID"]) for one in hidden)
        return WIDE if len(secrets) > 1 or any(place in self.true for place in places) else ""

    def absent(self, commits: Iterable[str]) -> frozenset[str]:
        """Return those of these ids that name no commit."""
        asked = [commit for commit in dict.fromkeys(commits) if _OBJECT_ID.fullmatch(commit)]
        names = [commit.encode() for commit in asked]
        found = contents_of(self.repository, names, LARGEST_FILE, self.seconds) if asked else ()
        return frozenset(commit for commit, content in zip(asked, found, strict=True) if content is None)


def _other_names(repository: Path, build: ScannerBuild, seconds: float) -> Mapping[str, str]:
    up_to_8_20 = names_up_to_8_20(repository, seconds)
    if not build.adapter.names_own_commits(build.version):
        return up_to_8_20
    return {neighbour: commit for commit, neighbour in up_to_8_20.items()}


# Entries of an ignore file.


def _fingerprints(findings: Iterable[Finding], build: ScannerBuild) -> Mapping[str, Sequence[Finding]]:
    named: defaultdict[str, list[Finding]] = defaultdict(list)
    with_commit_only = not build.adapter.knows_short_fingerprints(build.version)
    for finding in findings:
        place = f"{finding['File']}:{finding['RuleID']}:{finding['StartLine']}"
        named[f"{finding['Commit']}:{place}"].append(finding)
        if not with_commit_only:
            named[place].append(finding)
    return named


def _ignore_entries(
    file: HeadFile, fingerprints: Mapping[str, Sequence[Finding]], judged: _Judged
) -> Iterator[Suppression]:
    path = _text(file.path)
    if file.is_symlink:
        # What it names is not in it, and may be outside.
        yield Suppression("ignore-entry", path, None, obeyed=False, hides=None)
        return
    lines = ((number, line.strip()) for number, line in enumerate(_text(file.content).split("\n"), 1))
    entries = [(number, entry) for number, entry in lines if entry and not entry.startswith("#")]
    absent = judged.absent(entry.partition(":")[0] for _, entry in entries)
    listed = {entry for _, entry in entries}
    for number, entry in entries:
        hidden = fingerprints.get(_normalized(entry), ())
        commit, separator, place = entry.partition(":")
        note, replacement = STALE if commit in absent else judged.note(hidden), ""
        if note == DEAD and _OBJECT_ID.fullmatch(commit) and (other := judged.other_names().get(commit)):
            replacement = f"{other}{separator}{place}" if _normalized(f"{other}:{place}") in fingerprints else ""
            note = RENAMED if replacement else DEAD
        if replacement in listed:
            # This entry is for the other versions, and the next for this one.
            note, replacement = "", ""
        yield Suppression("ignore-entry", path, number, False, len(hidden), note, replacement=replacement)


def _normalized(entry: str) -> str:
    parts = entry.split(":")
    if len(parts) in {3, 4}:
        parts[-3] = parts[-3].replace("\\", "/")
    return ":".join(parts)


# Entries of a file of known findings.


def _baseline_entries(name: str, findings: Sequence[Finding], judged: _Judged) -> Iterator[Suppression]:
    asked = [f"HEAD:{name}".encode("utf-8", "surrogateescape")]
    (content,) = contents_of(judged.repository, asked, LARGEST_JSON, judged.seconds)
    if content is None:
        raise EvaluationError(
            f"baseline {printable(name)}: is no file of HEAD; name it from the root of the repository"
        )
    try:
        known = list(known_findings(content))
    except EvaluationError as error:
        raise EvaluationError(f"baseline {printable(name)}: {error}") from None
    absent, left_out = judged.absent(one.commit for one in known), LeftOut(findings)
    for one in known:
        hidden = left_out.by(one)
        note = STALE if one.commit in absent else judged.note(hidden)
        yield Suppression("baseline-entry", name, one.line_number, False, len(hidden), note, one.by_place)


# Comments that allow the secret beside them.


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A finding on whose line a comment stood when it was committed: where it begins, that line, and the finding."""

    start: int
    line: bytes
    finding: Finding = field(repr=False)


def _comments_of(build: ScannerBuild) -> list[bytes]:
    return [text.encode() for text in build.adapter.allow_comments]


def _hidden_by_comments(
    repository: Path, findings: Iterable[Finding], build: ScannerBuild, seconds: float
) -> dict[str, list[_Hidden]]:
    """By file, the findings that a comment would have hidden: the scanner looks at the lines as they were committed."""
    by_object: dict[bytes, list[Finding]] = defaultdict(list)
    for finding in findings:
        if _OBJECT_ID.fullmatch(finding["Commit"]):
            name = f"{finding['Commit']}:{finding['File']}".encode("utf-8", "surrogateescape")
            by_object[name].append(finding)
    hidden: dict[str, list[_Hidden]] = defaultdict(list)
    if not by_object:
        return hidden
    comments = _comments_of(build)
    contents = contents_of(repository, by_object, LARGEST_FILE, seconds)
    for found, content in zip(by_object.values(), contents, strict=True):
        if content is None or not any(text in content for text in comments):
            continue
        lines = content.split(b"\n")
        for finding in found:
            start, end = finding["StartLine"], finding.get("EndLine", finding["StartLine"])
            for line in lines[max(start - 1, 0) : end]:
                if any(text in line for text in comments):
                    hidden[finding["File"]].append(_Hidden(start, line, finding))
                    break
    return hidden


def _allow_comments(
    file: HeadFile, hidden: Callable[[], Mapping[str, Sequence[_Hidden]]], build: ScannerBuild, judged: _Judged
) -> Iterator[Suppression]:
    # Looked for one by one: a pattern of several takes ten times as long, and this is asked of every file.
    if not any(text in file.content for text in _COMMENTS) or b"\0" in file.content[:_LOOKED_AT_FOR_NUL]:
        return
    lines = {number: line for number, line in enumerate(file.content.split(b"\n"), 1) if _COMMENT.search(line)}
    places: dict[bytes, list[int]] = defaultdict(list)
    for number, line in lines.items():
        places[line].append(number)
    hides: defaultdict[int, list[Finding]] = defaultdict(list)
    for one in hidden().get(_text(file.path), ()):
        if one.line in places:
            hides[_nearest(places[one.line], one.start)].append(one.finding)
    for number, line in lines.items():
        obeyed = not build.ignores_allow and any(text in line for text in _comments_of(build))
        count, note = (None, "") if obeyed else (len(hides[number]), judged.note(hides[number]))
        yield Suppression("allow-comment", _text(file.path), number, obeyed, count, note)


def _nearest(numbers: Iterable[int], start: int) -> int:
    # The line may have moved since the commit, and stand there more than once.
    return min(numbers, key=lambda number: abs(number - start))
