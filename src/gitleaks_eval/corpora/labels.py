"""Labels of others, whatever they are written in, become a corpus and what is expected of a scanner there."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION, words_of
from gitleaks_eval.corpora.files import is_repository, shown_name, text_files
from gitleaks_eval.scenarios.places import ANY_RULE, Window, places_of
from gitleaks_eval.scenarios.scenario import UNBOUNDED, Corpus, Expected, ExpectedFinding, Thresholds

# What a label says of its place: a secret, none, or nothing yet.
TRUE, FALSE, OPEN = "true", "false", "open"
MOST_SECRETS = 1_000_000
# What differs between copies of one secret in other files: case, quotes and white space.
_DIFFERS = re.compile(rb"[\s'\"`]+")


@dataclass(frozen=True, slots=True)
class Label:
    """What a truth says of a window: `TRUE`, `FALSE` or `OPEN`; `times` is how many secrets stand there at least.

    `place` is where the label itself stands, for messages: `meta/x.csv:4`.
    """

    window: Window
    says: str
    place: str
    times: int = 1


def labelled_corpus(
    kind: str,
    source: Path,
    labels: Iterable[Label],
    *,
    about_history: bool = False,
    values: frozenset[str] = frozenset(),
) -> tuple[Corpus, Expected]:
    """Return the corpus in a folder or git repository, and what its labels expect of a scanner.

    Labels of files that are not there are left out, and copies of one labelled line count once: the others are
    neither right nor wrong. How many of each there are is said. `values` are secrets that the labels quote.

    Raises:
        InputError: when no label is about a file that is there, two contradict each other, or they name too many.
    """
    has_history = about_history and is_repository(source)
    files = {shown_name(path): content for path, content in text_files(source)}
    kept, gone = _of_files(list(labels), None if has_history else files.keys())
    if not kept:
        raise InputError(f"{OPTION} {kind}:{source}: none of {gone} labels is about a file that is there")
    _refuse_contradictions(kind, kept)
    if sum(label.times for label in kept) > MOST_SECRETS:
        raise InputError(f"{OPTION} {kind}:{source}: its labels name more than {MOST_SECRETS} secrets")
    true, copies = _without_copies([label for label in kept if label.says == TRUE], files)
    how = "git repository, cloned" if has_history else "committed to a temporary repository"
    notes = [
        f"{gone} labels of files that are not there" * bool(gone),
        f"{len(copies)} near duplicates folded" * bool(copies),
        f"{sum(label.says == OPEN for label in kept)} labels are open" * any(label.says == OPEN for label in kept),
    ]
    corpus = Corpus(
        kind,
        source,
        "; ".join(filter(None, (how, *notes))),
        places_of(label.window for label in kept if label.says == FALSE),
        places_of(label.window for label in (*copies, *(one for one in kept if one.says == OPEN))),
        has_history,
        values=values.union(*(_words(label.window, files) for label in true)),
    )
    return corpus, expected_of_labels(true, has_history=has_history)


def _of_files(labels: Sequence[Label], files: Iterable[str] | None) -> tuple[list[Label], int]:
    """The labels of what is there, each once, and how many others there are; None: nobody knows what was there."""
    each = list(dict.fromkeys(labels))
    if files is None:
        return each, 0
    there = set(files)
    there |= {path[: at + 1] for path in there for at, letter in enumerate(path) if letter == "/"} | {""}
    kept = [label for label in each if label.window.path in there]
    return kept, len(each) - len(kept)


def _refuse_contradictions(kind: str, labels: Iterable[Label]) -> None:
    said: dict[Window, Label] = {}
    for label in labels:
        other = said.setdefault(label.window, label)
        if other.says != label.says:
            raise InputError(
                f"{OPTION} {kind}: {label.place}: says {label.says}, and {other.place} "
                f"says {other.says} of the same place; remove one"
            )


def _without_copies(labels: Iterable[Label], files: Mapping[str, bytes]) -> tuple[list[Label], list[Label]]:
    """Return the labels without those whose lines are copies of others' (arXiv 2601.22946), and those."""
    labels = list(labels)
    # What is neither right nor wrong is no finding of a file: there each line counts.
    whole = {label.window.path for label in labels if not label.window.first}
    lines: dict[str, list[bytes]] = {}
    seen: dict[tuple[bytes, str], Window] = {}
    kept: list[Label] = []
    copies: list[Label] = []
    for label in labels:
        window = label.window
        if window.path in whole or window.path not in files:
            kept.append(label)
            continue
        listed = lines.setdefault(window.path, files[window.path].split(b"\n"))
        text = _DIFFERS.sub(b"", b"\n".join(listed[window.first - 1 : window.last])).lower()
        first = seen.setdefault((text, window.rule_id), window)
        (copies if text and first != window else kept).append(label)
    return kept, copies


def _words(window: Window, files: Mapping[str, bytes]) -> set[str]:
    if not window.first or window.path not in files:
        return set()
    lines = files[window.path].split(b"\n")[window.first - 1 : window.last]
    return set().union(*map(words_of, lines))


def expected_of_labels(labels: Sequence[Label], *, has_history: bool) -> Expected:
    """Return what labels that are true expect of a scanner."""
    findings = [
        ExpectedFinding(one.path, one.rule_id, one.first, last_line=one.last if one.last != one.first else None)
        for one in chain.from_iterable(repeat(label.window, label.times) for label in labels)
    ]
    exact = [finding for finding in findings if not finding.window.is_folder]
    rules = Counter(finding.rule_id for finding in findings)
    knows_rules = ANY_RULE not in rules
    files = sorted({finding.file_path for finding in exact})
    return Expected(
        total_secrets=len(findings),
        unique_secrets=None,
        secrets_in_head=None,
        secrets_in_history=None if has_history else 0,
        files_with_secrets=len(files) if len(exact) == len(findings) else None,
        commits_with_secrets=None,
        rule_ids=tuple(sorted(rules)) if knows_rules else (),
        files_with_secrets_list=tuple(files),
        secrets_by_rule=dict(sorted(rules.items())) if knows_rules else {},
        findings=tuple(findings),
        thresholds=Thresholds(UNBOUNDED, UNBOUNDED, UNBOUNDED, UNBOUNDED),
        is_partial=True,
    )


def beside(path: Path, *names: str) -> Path:
    """What a file of labels is about: a folder of its own name beside it, or one of `names`, else its own folder."""
    named = [path.with_suffix(""), *(path.parent / name for name in names)]
    return next((folder for folder in named if folder != path and folder.is_dir()), path.parent)
