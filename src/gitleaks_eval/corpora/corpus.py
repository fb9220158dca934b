"""Labelled corpora as scenarios: annotated source files, and reports of Gitleaks with the files they are about.

Values end here: of a report only file, rule and line are kept, and no message quotes a file's content.
"""

import codecs
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from gitleaks_eval.core.documents import named_path, read_json
from gitleaks_eval.core.errors import EvaluationError, InputError, unreadable
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.repositories.cache import BuiltRepository, build_into
from gitleaks_eval.repositories.git import LARGEST_TEXT, head_files, readable
from gitleaks_eval.repositories.real import RealRepository, clone
from gitleaks_eval.scenarios.masking import without_tokens
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe
from gitleaks_eval.scenarios.scenario import UNBOUNDED, Corpus, Expected, ExpectedFinding, Place, Scenario, Thresholds

OPTION = "--gitleaks-corpus"
ANNOTATED, REPORT = "annotated", "report"
RULEID, TODORULEID, OK, TODOOK = DIRECTIVES = ("ruleid", "todoruleid", "ok", "todook")
CLONE_SECONDS = 300
PROBLEMS_SHOWN = 20
# As git decides whether a file is text.
BINARY_WITHIN = 8000
HOW_TO_LABEL = (
    "write the label on a line of its own above the secret, after # // -- ; /* <!-- % \" or ', "
    "and where it is no label, leave out its colon"
)

# A comment that is alone on its line. After " or ' (Vim, Basic) the line must not be a quoted text. A word begins
# with no dash: a line of dashes would be read again for each of them.
_COMMENT = re.compile(
    rb"""\s*(?:(?:\#+|//+|--+|;+|/\*+|<!--|%+)\s*([A-Za-z_][A-Za-z_-]*)\s*:(.*)"""
    rb"""|["']\s*([A-Za-z_][A-Za-z_-]*)\s*:([^"']*)$)"""
)
_BEHIND_CODE = re.compile(rb"\S\s*(?:\#|//|--|;|/\*|<!--|%)\s*(?:todo)?ruleid\s*:")
_ANYWHERE = re.compile(rb"\b(?:todo)?ruleid\s*:")
# The same in what is no text: as one, two or four bytes for each character.
_IN_BYTES = re.compile(rb"\0{0,3}".join([*(bytes([letter]) for letter in b"ruleid"), rb"[\0\t ]{0,16}:"]))
_MAYBE_LABELLED = re.compile(rb"rule.?id|rul|ok\s*:", re.IGNORECASE)
_RULE = re.compile(r"[^\s,]+")
_FINDING = {"RuleID": str, "File": str, "StartLine": int}
_MAYBE_LEFT_OUT = {"Secret": str, "Commit": str}


def load_corpus(spec: str, base: Path) -> Scenario:
    """The scenario that a corpus is: its name, what is expected, and in `corpus` what is to be scanned.

    `annotated:FOLDER` expects a finding on the line after each comment `ruleid: <id>[, <id>]`. `report:FOLDER`
    expects what `FOLDER/report.json`, a JSON report of Gitleaks, has found in `FOLDER/repository`;
    `report:NAME.json` what that file has found in the folder `NAME` beside it.

    Args:
        spec: `KIND:PATH`.
        base: the folder that PATH is relative to.

    Raises:
        InputError: when there is no such kind or path, or labels or a report are broken (file and line or entry),
            or a git repository cannot be cloned.
    """
    kind, _, text = spec.partition(":")
    readers = {ANNOTATED: _annotated, REPORT: _reported}
    if kind not in readers or not text:
        raise InputError(f"{OPTION} {spec}: write KIND:PATH, where KIND is {' or '.join(readers)}")
    path = named_path(text, base, f"{OPTION} {kind}").resolve()
    if not path.exists():
        raise InputError(f"{OPTION} {spec}: {path} does not exist")
    name = path.stem if path.is_file() else path.name
    if not name or not name.isprintable() or set(name) & set("[]"):
        raise InputError(f"{OPTION} {spec}: rename {name!r}: brackets and controls break test ids")
    try:
        corpus, expected = readers[kind](path)
    except InputError:
        raise
    except EvaluationError as error:
        raise InputError(f"{OPTION} {spec}: {error}") from None
    corpus = replace(corpus, masks=without_tokens(expected.files_with_secrets_list))
    return Scenario(name, f"{kind} corpus, {corpus.how}", expected.shown_as(corpus.masks), path, path, corpus=corpus)


def corpus_repository(scenario: Scenario, folder: Path) -> BuiltRepository:
    """Make the repository to scan, `folder / "repository"`: a clone, or one commit with the files of the corpus.

    Nothing is checked out, so that no `.gitleaks.toml`, `.gitleaksignore` or `.gitattributes` of the corpus is
    obeyed, and nothing of its git configuration comes along.

    Raises:
        EvaluationError: when the corpus cannot be read or the repository not be written.
    """
    corpus = scenario.corpus
    if corpus is None:
        raise EvaluationError(f"scenario {scenario.name} is from no corpus")
    if corpus.kind == REPORT and _is_repository(corpus.source):
        repository = _clone(corpus.source, folder)
        return BuiltRepository(repository, readable(repository, CLONE_SECONDS))
    commit = Commit(
        message="The files of a corpus",
        author="Corpus <corpus@example.com>",
        date=datetime(2026, 1, 1, tzinfo=timezone.utc),
        write={path: (Part(data=content),) for path, content in _files(corpus.source)},
    )
    return build_into(folder, Recipe({}, (commit,)), f"{OPTION} {corpus.kind}:{scenario.ground_truth}")


def without_tolerated(findings: Sequence[dict[str, Any]], corpus: Corpus) -> list[dict[str, Any]]:
    """The findings of a scanner's report but those that the labels call neither right nor wrong (`todoruleid`)."""
    return [
        finding
        for finding in findings
        if (finding["File"], finding["StartLine"], finding["RuleID"]) not in corpus.tolerated
    ]


@dataclass(slots=True)
class _Labels:
    """The labels of a corpus by directive, as places, and what is wrong with others."""

    places: dict[str, list[Place]] = field(default_factory=lambda: {name: [] for name in DIRECTIVES})
    problems: list[str] = field(default_factory=list)

    def read(self, path: str, content: bytes) -> None:
        """Read one file; its labels count for the first line below them that is no label itself."""
        open_labels: list[tuple[str, str]] = []
        number, line = 0, b""
        for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
            label = self._label(line, f"{_named(path)}:{number}")
            if label is not None:
                open_labels += label
            elif open_labels:
                self._close(open_labels, path, number, line)
                open_labels = []
        if open_labels:
            self._close(open_labels, path, number, b"")

    def _label(self, line: bytes, place: str) -> list[tuple[str, str]] | None:
        comment = _COMMENT.match(line)
        if not comment:
            if _BEHIND_CODE.search(line):
                self.problems.append(f"{place}: a label behind code; write it on a line of its own, above")
            else:
                self._refuse_stray(line, place)
            return None
        word = (comment[1] or comment[3]).decode("ascii")
        if word not in DIRECTIVES:
            if meant := _meant(word):
                self.problems.append(f"{place}: unknown label {word!r}; did you mean {meant!r}?")
            else:
                self._refuse_stray(line, place)
            return None
        text = (comment[2] if comment[1] else comment[4]).strip().removesuffix(b"*/").removesuffix(b"-->")
        rules = [rule.strip() for rule in text.decode("utf-8", "replace").split(",")]
        if all(map(_RULE.fullmatch, rules)):
            return [(word, rule) for rule in rules]
        self.problems.append(f"{place}: after `{word}:` write rule ids, separated by commas, and nothing else")
        return []

    def _refuse_stray(self, line: bytes, place: str) -> None:
        """What may be meant as a label must not be passed over: its secret would not be expected."""
        if _ANYWHERE.search(line):
            self.problems.append(f"{place}: `ruleid:` that is in no comment known here; {HOW_TO_LABEL}")

    def refuse_binary(self, path: str, content: bytes) -> None:
        """A file that is not read as text must not look as if it had labels."""
        if _IN_BYTES.search(content):
            self.problems.append(
                f"{_named(path)}: `ruleid:` in a file that is binary or UTF-16; save it as UTF-8, or remove it"
            )

    def _close(self, labels: list[tuple[str, str]], path: str, number: int, line: bytes) -> None:
        if not line.strip():
            self.problems.append(f"{_named(path)}:{number}: the label above has no line that it could be about")
        given: dict[str, str] = {}
        for word, rule in labels:
            if given.setdefault(rule, word) != word:
                self.problems.append(
                    f"{_named(path)}:{number}: the labels above contradict each other: {given[rule]}, {word}"
                )
            self.places[word].append((path, number, rule))


@cache
def _meant(word: str) -> str | None:
    return next(iter(get_close_matches(word.lower(), (RULEID, TODORULEID), n=1, cutoff=0.83)), None)


def _annotated(folder: Path) -> tuple[Corpus, Expected]:
    if not folder.is_dir():
        raise InputError(f"{OPTION} {ANNOTATED}:{folder}: this is no folder")
    labels = _Labels()
    count = 0
    for name, content in _files(folder):
        count += 1
        if b"\0" in content[:BINARY_WITHIN] or content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            labels.refuse_binary(_shown(name), content)
        elif _MAYBE_LABELLED.search(content):
            labels.read(_shown(name), content)
    if labels.problems:
        raise InputError(*(f"{OPTION} {folder}: {text}" for text in labels.problems[:PROBLEMS_SHOWN]))
    if not any(labels.places.values()):
        raise InputError(f"{OPTION} {ANNOTATED}:{folder}: no label in {count} files; write `ruleid: <id>` in a comment")
    at_head = " at HEAD" if _is_repository(folder) else ""
    corpus = Corpus(
        ANNOTATED,
        folder,
        f"{count} files{at_head}, committed to a temporary repository",
        frozenset(labels.places[OK]),
        frozenset(labels.places[TODORULEID] + labels.places[TODOOK]),
    )
    return corpus, _in_one_commit(_expected(labels.places[RULEID]))


def _reported(path: Path) -> tuple[Corpus, Expected]:
    report, source = (path / "report.json", path / "repository") if path.is_dir() else (path, path.with_suffix(""))
    if not report.is_file() or not source.is_dir():
        raise InputError(
            f"{OPTION} {REPORT}:{path}: it takes a folder with report.json and repository/, "
            "or a file NAME.json beside the folder NAME/"
        )
    findings = _report_findings(report)
    places = [(finding["File"], finding["StartLine"], finding["RuleID"]) for finding in findings]
    if _is_repository(source):
        shallow = (source / ".git" / "shallow").exists() or (source / "shallow").exists()
        how = "git repository, cloned" + (", which is shallow: it has not the whole history" if shallow else "")
        expected = replace(_expected(places), commits_with_secrets=_distinct(findings, "Commit"))
    else:
        how = "committed to a temporary repository"
        expected = _in_one_commit(_expected(_relative(places, source, report)))
    return Corpus(REPORT, source, how), replace(expected, unique_secrets=_distinct(findings, "Secret"))


def _report_findings(report: Path) -> list[dict[str, Any]]:
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


def _distinct(findings: Iterable[Mapping[str, Any]], key: str) -> int | None:
    """How many different values there are; None when one is left out or redacted."""
    values = {finding.get(key) for finding in findings}
    known = all(isinstance(value, str) and value not in {"", "REDACTED"} and value[-3:] != "..." for value in values)
    return len(values) if known else None


def _relative(places: list[Place], source: Path, report: Path) -> list[Place]:
    """The places relative to the folder: paths in a report of a folder begin with the name it was scanned by."""
    there = {_shown(path) for path in _paths(source)}
    first = places[0][0].split("/") if places else [""]
    for depth in range(len(first)):
        prefix = "".join(f"{part}/" for part in first[:depth])
        if all(path.startswith(prefix) and path[len(prefix) :] in there for path, _, _ in places):
            return [(path[len(prefix) :], line, rule) for path, line, rule in places]
    missing = next((index for index, place in enumerate(places) if place[0] not in there), 0)
    raise InputError(f"report {report}: entry {missing}: its file is not in {source}")


def _expected(places: list[Place]) -> Expected:
    """What places say: which findings, and nothing of values, commits, severities or times."""
    rules = Counter(rule for _, _, rule in places)
    files = sorted({path for path, _, _ in places})
    return Expected(
        total_secrets=len(places),
        unique_secrets=None,
        secrets_in_head=None,
        secrets_in_history=None,
        files_with_secrets=len(files),
        commits_with_secrets=None,
        rule_ids=tuple(sorted(rules)),
        files_with_secrets_list=tuple(files),
        secrets_by_rule=dict(sorted(rules.items())),
        findings=tuple(ExpectedFinding(path, rule, line) for path, line, rule in places),
        thresholds=Thresholds(UNBOUNDED, UNBOUNDED, UNBOUNDED, UNBOUNDED),
    )


def _in_one_commit(expected: Expected) -> Expected:
    return replace(
        expected,
        secrets_in_head=expected.total_secrets,
        secrets_in_history=0,
        commits_with_secrets=min(1, expected.total_secrets),
    )


def _is_repository(folder: Path) -> bool:
    return (folder / ".git").exists() or all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def _files(source: Path) -> Iterator[tuple[bytes, bytes]]:
    """Path and content of each file; of a git repository those of HEAD, read from a clone of it."""
    if _is_repository(source):
        with private_folder() as scratch:
            files = head_files(_clone(source, scratch / "clone"), LARGEST_TEXT, CLONE_SECONDS)
            yield from ((file.path, file.content) for file in files if not file.is_symlink)
        return
    for name in _paths(source):
        path = source / os.fsdecode(name)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise unreadable(OPTION, path, error) from None
        yield name, content


def _paths(folder: Path) -> list[bytes]:
    """The files below a folder, without links and what is no file, and without anything below a `.git`."""
    paths = []
    root = os.fsencode(folder)
    for parent, folders, names in os.walk(root, onerror=_raise):
        folders[:] = [name for name in folders if name.lower() != b".git"]
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - bytes, as git stores them; pathlib has only text
            if name.lower() != b".git" and not os.path.islink(path) and os.path.isfile(path):  # noqa: PTH113, PTH114 - the same
                paths.append(path[len(root) + 1 :])
    return sorted(paths)


def _raise(error: OSError) -> None:
    raise unreadable(OPTION, Path(os.fsdecode(error.filename or b"")), error)


def _named(path: str) -> str:
    # A message goes everywhere, and people give files the names of tokens.
    return without_tokens([path])(path)


def _shown(path: bytes) -> str:
    # As the scanner reports it.
    return path.decode("utf-8", "replace")


def _clone(source: Path, folder: Path) -> Path:
    """Clone a git repository of this machine, which may be hostile, as real ones are."""
    try:
        return clone(RealRepository(source.name, str(source), str(source)), folder, CLONE_SECONDS).path
    except EvaluationError as error:
        raise EvaluationError(f"{OPTION}: {error}") from None
