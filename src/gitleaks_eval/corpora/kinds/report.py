"""A report of Gitleaks as the truth, beside the repository that it is about."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION, expected_of, in_one_commit, words_of
from gitleaks_eval.corpora.files import committed, is_repository, paths_below, shown_name, text_files
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import Corpus, Expected, ExpectedFinding

REPORT = "report"
_FINDING = {"RuleID": str, "File": str, "StartLine": int}
# Between what separates values from names and from each other.
_WORD = re.compile(r"""[^\s"'`=:,;@(){}\[\]<>]+""")
_MAYBE_LEFT_OUT = {"Secret": str, "Commit": str}


def reported(path: Path) -> tuple[Corpus, Expected]:
    """Read a report and find the repository beside it: the corpus that it is, and its findings as what is expected.

    Raises:
        InputError: when one of them is not there, or the report is no report of Gitleaks.
    """
    report, source = (path / "report.json", path / "repository") if path.is_dir() else (path, path.with_suffix(""))
    if not report.is_file() or not source.is_dir():
        raise InputError(
            f"{OPTION} {REPORT}:{path}: it takes a folder with report.json and repository/, "
            "or a file NAME.json beside the folder NAME/"
        )
    findings = report_findings(report)
    places = [(finding["File"], finding["StartLine"], finding["RuleID"]) for finding in findings]
    if is_repository(source):
        shallow = (source / ".git" / "shallow").exists() or (source / "shallow").exists()
        how = "git repository, cloned" + (", which is shallow: it has not the whole history" if shallow else "")
        expected = replace(expected_of(places), commits_with_secrets=_distinct(findings, "Commit"))
    else:
        how = "committed to a temporary repository"
        expected = in_one_commit(expected_of(_relative(places, source, report)))
    values = frozenset(str(value) for finding in findings if _is_value(value := finding.get("Secret")))
    values = values.union(_words(source, zip(findings, expected.findings, strict=True)))
    corpus = Corpus(REPORT, source, how, has_history=is_repository(source), values=values)
    return corpus, replace(expected, unique_secrets=_distinct(findings, "Secret"))


def report_findings(report: Path) -> list[dict[str, Any]]:
    """Return the findings of a JSON report of Gitleaks.

    Raises:
        InputError: when it is none.
    """
    document = read_json(report, "report")
    # betterleaks writes `null` for no findings.
    findings = [] if document is None else document
    if not isinstance(findings, list):
        raise InputError(f"report {report}: not a JSON report of Gitleaks, which is a list of findings")
    for index, finding in enumerate(findings):
        if wrong := _wrong_keys(finding):
            raise InputError(f"report {report}: entry {index} is no finding of Gitleaks: {', '.join(wrong)}")
    return findings


def _wrong_keys(finding: object) -> list[str]:
    if not isinstance(finding, dict):
        return list(_FINDING)
    wrong = [name for name, kind in _FINDING.items() if type(finding.get(name)) is not kind]
    there = ((name, kind) for name, kind in _MAYBE_LEFT_OUT.items() if finding.get(name) is not None)
    return wrong + [name for name, kind in there if type(finding[name]) is not kind]


def _words(source: Path, findings: Iterable[tuple[dict[str, Any], ExpectedFinding]]) -> Iterator[str]:
    """What may be a value that the report keeps to itself: the words of its lines, which a path may hold as well."""
    ranges: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for finding, one in findings:
        if not _is_value(finding.get("Secret")):
            last = finding.get("EndLine")
            lines = one.line_number, last if type(last) is int else one.line_number
            ranges.setdefault((finding.get("Commit") or "", one.file_path), set()).add(lines)
    if not ranges:
        return
    contents = committed(source, ranges) if is_repository(source) else _files(source, ranges)
    for of_file, content in zip(ranges.values(), contents, strict=True):
        split, read = content.split(b"\n"), 0
        for first, last in sorted(of_file):
            for line in split[max(read, first - 1) : max(first, last)]:
                yield from words_of(line)
                yield from _WORD.findall(line.decode("utf-8", "replace"))
            read = max(read, first, last)


def _files(source: Path, wanted: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    contents = {shown_name(path): content for path, content in text_files(source)}
    return (contents.get(path, b"") for _, path in wanted)


def _distinct(findings: Iterable[Mapping[str, Any]], key: str) -> int | None:
    """Return how many different values there are; None when one is left out or redacted."""
    values = {finding.get(key) for finding in findings}
    return len(values) if all(map(_is_value, values)) else None


def _is_value(value: object) -> bool:
    return isinstance(value, str) and value not in {"", "REDACTED"} and value[-3:] != "..."


def _relative(places: list[Place], source: Path, report: Path) -> list[Place]:
    """Return the places relative to the folder: paths in a report of a folder begin with the name it was scanned by."""
    there = {shown_name(path) for path in paths_below(source)}
    first = places[0][0].split("/") if places else [""]
    for depth in range(len(first)):
        prefix = "".join(f"{part}/" for part in first[:depth])
        if all(path.startswith(prefix) and path[len(prefix) :] in there for path, _, _ in places):
            return [(path[len(prefix) :], line, rule) for path, line, rule in places]
    missing = next((index for index, place in enumerate(places) if place[0] not in there), 0)
    raise InputError(f"report {report}: entry {missing}: its file is not in {source}")


KIND = CorpusKind(
    REPORT,
    "FOLDER with report.json (of Gitleaks) and repository/, or NAME.json beside the folder NAME/",
    "times, what the report does not list",
    reported,
)
