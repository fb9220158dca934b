"""Which entries of a configuration are accepted: by what they say, in the file beside the one that they stand in."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from gitleaks_eval.config.eval_file import Acceptance, Beside, is_of_build
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import (
    COMMIT,
    DISABLED,
    FILTER,
    OVERRIDE,
    PATH,
    REGEX,
    STOPWORD,
    Entry,
)
from gitleaks_eval.coverage.configuration.layers import Layers
from gitleaks_eval.coverage.configuration.rules import Dialect
from gitleaks_eval.coverage.configuration.shown import is_like_a_secret
from gitleaks_eval.coverage.rules.replaced import acceptable
from gitleaks_eval.coverage.samples.paths import paths_matching
from gitleaks_eval.regex.analyse import matcher
from gitleaks_eval.regex.generate import make
from gitleaks_eval.regex.parse import RegexError, parse_regex

HASHED = "sha256:"
_DIGITS = 16
_DISABLED = "disabledRules: "
# Of two texts this much alike, one is the other after an edit.
ALIKE = 0.4
# Each is compared with each.
PAIRED_AT_MOST = 50
# So many values are made of an entry that was edited.
VALUES = 24


@dataclass(frozen=True, slots=True)
class Accepted:
    """Which acceptance speaks of each entry, and which speak of none that is there.

    `instead` has an entry that nobody accepted and that seems to stand where an accepted one stood. `others` are
    about something beside entries, by what they call it.
    """

    by: Mapping[Entry, Acceptance]
    stale: tuple[Acceptance, ...]
    instead: Mapping[Entry, Acceptance]
    others: Mapping[str, Acceptance] = field(default_factory=dict)


def accepted_entries(subject: EffectiveConfig, besides: Sequence[Beside], flags: Sequence[Entry] = ()) -> Accepted:
    """Match acceptances with the user's own entries; what they hide is not looked at.

    An acceptance of an entry that this version of the scanner does not read is not stale.
    """
    entries = [*subject.entries, *flags]
    accepts = [accept for beside in besides for accept in beside.accepts]
    if not accepts:
        return Accepted({}, (), {})
    texts = {entry: entry_text(entry, subject.layers) for entry in entries}
    by = {entry: accept for entry, text in texts.items() for accept in accepts if _is_about(accept, entry, text)}
    newest = subject.entries_read_by(Dialect(subject.dialect.scanner, None))
    there = [(entry, entry_text(entry, subject.layers)) for entry in (*newest, *flags)]
    beside = set(acceptable(subject))
    known = {accept.entry: accept for accept in accepts if accept.entry in beside}
    # What is accepted of a build is not there for others, and stays.
    unknown = (accept for accept in accepts if accept.entry not in known and not is_of_build(accept.entry))
    stale = tuple(one for one in unknown if not any(_is_about(one, entry, text) for entry, text in there))
    left = {entry: text for entry, text in texts.items() if entry not in by}
    return Accepted(by, stale, _instead(left, stale), known)


def entry_text(entry: Entry, layers: Layers) -> str:
    """What an acceptance calls an entry: what it says, or a hash of it where that may be a secret."""
    if entry.kind == DISABLED:
        return f"{_DISABLED}{', '.join(entry.rule_ids)}"
    if entry.kind == OVERRIDE:
        return f"rules: {entry.text}"
    if entry.kind == FILTER:
        said: Any = layers[entry.layer].document
        for step in entry.address:
            said = said[step]
        return f"{entry.text}: {_hash(json.dumps(said, default=str))}"
    return _hash(entry.text) if is_like_a_secret(entry) else entry.text


def _hash(text: str) -> str:
    return HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _is_about(acceptance: Acceptance, entry: Entry, text: str) -> bool:
    same = acceptance.entry == text or (text.startswith(HASHED) and acceptance.entry == entry.text)
    return same and entry.layer in acceptance.layers


def may_match_more(entry: Entry, before: str) -> bool:
    """Whether an entry may match what the entry that stood there before did not; `before` is what that one said.

    Values are made of what it says now, and the other is asked of each.
    """
    if entry.kind == STOPWORD:
        return before.lower() not in entry.text.lower()
    if entry.kind == DISABLED and before.startswith(_DISABLED):
        return not set(entry.rule_ids) <= set(before.removeprefix(_DISABLED).split(", "))
    if entry.kind not in {PATH, REGEX} or before.startswith(HASHED):
        return True
    asked = matcher(before)
    try:
        made = list(islice(_values(entry), VALUES))
    except RegexError:
        return True
    return asked is None or not made or not all(map(asked, made))


def _values(entry: Entry) -> Iterator[str]:
    if entry.kind == PATH:
        yield from paths_matching(entry.text, "quartz")
        return
    tree = parse_regex(entry.text)
    yield from (make(tree, "0", variant).text for variant in range(VALUES))


def _instead(texts: Mapping[Entry, str], stale: Iterable[Acceptance]) -> dict[Entry, Acceptance]:
    """The pairs of an acceptance without an entry and an entry without one that are most alike, each once."""
    pairs = [
        (SequenceMatcher(None, one.entry, text, autojunk=False).ratio(), entry, one)
        for one in list(stale)[:PAIRED_AT_MOST]
        for entry, text in list(texts.items())[:PAIRED_AT_MOST]
        if entry.layer in one.layers and entry.kind != COMMIT
    ]
    found: dict[Entry, Acceptance] = {}
    taken: set[Acceptance] = set()
    for likeness, entry, one in sorted(pairs, key=lambda pair: -pair[0]):
        if likeness >= ALIKE and entry not in found and one not in taken:
            found[entry] = one
            taken.add(one)
    return found
