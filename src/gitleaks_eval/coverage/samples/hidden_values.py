"""What would hide a value: the allowlists that are in force, foreseen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.configuration.rules import Allowlist
from gitleaks_eval.regex.analyse import Matcher, matcher

# Reading and translating one takes about a millisecond.
REGEXES_AT_MOST = 4_000


@dataclass(frozen=True, slots=True)
class Found:
    """What a scanner would find: where, the secret, what the regex matches, and the line around it."""

    path: str
    secret: str
    match: str
    line: str

    def __repr__(self) -> str:
        """Without the value."""
        return f"<Found in {self.path}>"

    @property
    def lowered(self) -> str:
        """What stop words are looked for in: some versions look at the secret, some at all that matches."""
        return f"{self.secret}\n{self.match}".lower()

    def target(self, name: str) -> str:
        """What the regexes of an allowlist look at: `secret`, `match` or `line`."""
        return self.match if name == "match" else self.line if name == "line" else self.secret


@dataclass(frozen=True, slots=True)
class Foreseen:
    """One allowlist, ready to be asked."""

    allowlist: Allowlist
    paths: tuple[Matcher, ...]
    regexes: tuple[Matcher, ...]
    stopwords: tuple[str, ...]

    def hides(self, found: Found, lowered: str | None = None) -> bool:
        """Whether it hides what is found, as far as that can be foreseen; commits are left out.

        `lowered` is `found.lowered`, for who asks many.
        """
        # One after the other, and none that is not needed: a thousand entries are asked of a thousand samples.
        if self.allowlist.all_must_hold:
            return self._hides_together(found)
        for matches in self.paths:
            if matches(found.path):
                return True
        if self.stopwords:
            text = found.lowered if lowered is None else lowered
            if any(word in text for word in self.stopwords):
                return True
        if self.regexes:
            target = found.target(self.allowlist.target)
            return any(matches(target) for matches in self.regexes)
        return False

    @property
    def is_certain(self) -> bool:
        """Whether all that it says can be foreseen."""
        return (len(self.paths), len(self.regexes)) == (len(self.allowlist.paths), len(self.allowlist.regexes))

    def _hides_together(self, found: Found) -> bool:
        target = found.target(self.allowlist.target)
        said = [
            *([any(matches(found.path) for matches in self.paths)] if self.allowlist.paths else []),
            *([any(matches(target) for matches in self.regexes)] if self.allowlist.regexes else []),
            *([any(word in found.lowered for word in self.stopwords)] if self.stopwords else []),
        ]
        return bool(said) and all(said) and not self.allowlist.commits


def foreseen(allowlists: Iterable[Allowlist]) -> list[Foreseen]:
    """Make allowlists ready to be asked; a regex that cannot be foreseen, or is one too many, is left out."""
    left = REGEXES_AT_MOST
    ready = []
    for allowlist in allowlists:
        paths, regexes = allowlist.paths[:left], allowlist.regexes[: max(0, left - len(allowlist.paths))]
        left = max(0, left - len(paths) - len(regexes))
        ready.append(
            Foreseen(
                allowlist,
                tuple(found for text in paths if (found := matcher(text))),
                tuple(found for text in regexes if (found := matcher(text))),
                tuple(word.lower() for word in allowlist.stopwords if word),
            )
        )
    return ready


# With each entry what it says, None for what is no allowlist or cannot be foreseen.
Ready = Sequence[tuple[Entry, Foreseen | None]]


def ready_for(entries: Iterable[Entry]) -> Ready:
    """Return the entries with their allowlists parsed, to spare the scanner questions."""
    listed = list(entries)
    known = iter(foreseen(entry.allowlist for entry in listed if entry.allowlist))
    both = [(entry, next(known) if entry.allowlist else None) for entry in listed]
    return [(entry, said if said and said.is_certain else None) for entry, said in both]


def entries_about(ready: Ready, found: Found, rule_id: str | None = None) -> list[Entry]:
    """Return the entries that may be about a find (of that rule); what cannot be foreseen may be about anything."""
    lowered = found.lowered
    return [
        entry
        for entry, said in ready
        if (not rule_id or not entry.rule_ids or rule_id in entry.rule_ids)
        and (said is None or said.hides(found, lowered))
    ]
