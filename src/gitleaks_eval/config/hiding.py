"""Which entry of the configuration hides a missed secret: found by scanning without it, never by guessing."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from gitleaks_eval.config.chain import Configuration, parsed
from gitleaks_eval.config.tables import (
    ALLOWLISTS,
    CRITERIA,
    FILTERS,
    Address,
    Table,
    allowlists,
    items,
    place,
    tables,
    value_of,
)
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.text import shown_path
from gitleaks_eval.scenarios.places import ANY_RULE, Place
from gitleaks_eval.scenarios.scenario import ExpectedFinding

SCANS_AT_MOST = 100
NOTHING_HIDES = "no entry of the configuration hides it"
_WORD = re.compile(r"\w{3,}")
Scan = Callable[[Configuration], Collection[Place]]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that can hide a secret: its file, and its place as people know it (`[allowlist] paths[0]`).

    `index` is the file's in the chain and `address` leads to the entry in its document; an empty one is
    that of something which is not there, and so cannot be removed.
    """

    file: Path
    place: str
    index: int
    address: Address

    def title(self, root: Path) -> str:
        """`.gitleaks.toml [allowlist] paths[0]`, the file relative to `root` where it is below it."""
        return f"{shown_path(self.file, root)} {self.place}"


@dataclass(frozen=True, slots=True)
class Hiding:
    """Why a secret is missed: each entry that hides it by itself, and what else is to be said."""

    entries: tuple[Entry, ...] = ()
    note: str = ""

    def text(self, root: Path) -> str:
        """`hidden by .gitleaks.toml [allowlist] paths[0]`, or the note, or both."""
        titles = " and by ".join(entry.title(root) for entry in self.entries)
        return "; ".join(part for part in (titles and f"hidden by {titles}", self.note) if part)


def entries(configuration: Configuration) -> list[Entry]:
    """Each entry that only ever hides: of the allowlists, global and of rules, and of `disabledRules`.

    An allowlist whose criteria must all hold (`condition = "AND"`) is one entry: with one criterion less it
    would hide more, not less.
    """
    return [
        Entry(file.path, place(address), index, address)
        for index, file in enumerate(configuration.chain)
        for address in _addresses(parsed(file))
    ]


def without(configuration: Configuration, removed: Iterable[Entry]) -> Configuration:
    """The configuration with these entries removed, and nothing else changed.

    An allowlist that has no criterion left is removed as well: Gitleaks refuses an empty one from 8.21 on.
    """
    addresses: dict[int, list[Address]] = {}
    for entry in removed:
        addresses.setdefault(entry.index, []).append(entry.address)
    chain = list(configuration.chain)
    for index, listed in addresses.items():
        document = parsed(chain[index])
        # The last one first: an index counts only while those before it are there.
        for address in sorted(listed, reverse=True):
            _remove(document, address)
        chain[index] = replace(chain[index], content=tomli_w.dumps(document).encode())
    return replace(configuration, chain=tuple(chain))


def rule_ids(configuration: Configuration) -> frozenset[str]:
    """The ids of the rules that the files themselves define, without those of the scanner's default."""
    return frozenset(
        identity
        for file in configuration.chain
        for _, rule in tables(parsed(file), "rules")
        if isinstance(identity := value_of(rule, "id"), str)
    )


def hiding_entries(
    missed: Sequence[ExpectedFinding], configuration: Configuration, scan: Scan, limit: int = SCANS_AT_MOST
) -> dict[ExpectedFinding, Hiding]:
    """Say of each missed finding what hides it.

    The repository is scanned without any entry; for what comes back, halves of the entries are kept in turn
    until each single entry that hides it, with all others removed, is known. A few dozen scans do for
    hundreds of entries; those that name a missed rule or a part of its path are asked first, and four scans do.

    Args:
        missed: expected findings of one scenario that the scanner does not report.
        configuration: the one under test.
        scan: runs the scanner with another configuration on the repository of the scenario and returns the
            place (file, line, rule id) of each finding.
        limit: scans at most; what is not known by then says so.
    """
    if not configuration.chain:
        return dict.fromkeys(missed, Hiding(note="missed with the scanner's own configuration"))
    search = _Search(configuration, scan, limit)
    search.look_for_rules(set(missed))
    search.look(search.open(missed), entries(configuration))
    rules = overriding(configuration, {finding.rule_id for finding in search.open(missed)})
    search.look(search.open(missed), rules)
    # An entry and a rule may hide the same: it comes back without both alone.
    search.look(search.open(missed), [*entries(configuration), *rules] if rules else [])
    return {finding: search.hiding(finding) for finding in missed}


@dataclass(slots=True)
class _Search:
    """What is known so far: the entries that hide a finding, and what else is to be said of it."""

    configuration: Configuration
    scan: Scan
    left: int
    found: dict[ExpectedFinding, list[Entry]] = field(default_factory=dict)
    notes: dict[ExpectedFinding, str] = field(default_factory=dict)
    before: Counter[Place] | None = None

    def open(self, missed: Iterable[ExpectedFinding]) -> set[ExpectedFinding]:
        return {finding for finding in missed if finding not in self.found and finding not in self.notes}

    def hiding(self, finding: ExpectedFinding) -> Hiding:
        hiders = tuple(sorted(self.found.get(finding, ()), key=lambda entry: (entry.index, entry.address)))
        nothing = "" if hiders else NOTHING_HIDES
        return Hiding(hiders, self.notes.get(finding, nothing))

    def look_for_rules(self, missed: Iterable[ExpectedFinding]) -> None:
        """Name the rules that no file defines; what the scanner's default brings in is not known."""
        if self.configuration.chain[-1].extends_default:
            return
        defined = rule_ids(self.configuration)
        for finding in missed:
            if finding.rule_id not in {ANY_RULE, *defined}:
                missing = f"[[rules]]: none has the id {finding.rule_id}"
                self.found[finding] = [Entry(self.configuration.chain[0].path, missing, 0, ())]

    def look(self, missed: set[ExpectedFinding], candidates: list[Entry]) -> None:
        """Find the entries, out of the candidates, that hide what comes back without all of them."""
        if not missed or not candidates:
            return
        hidden = self.returning(missed, without(self.configuration, candidates))
        documents = [parsed(file) for file in self.configuration.chain]
        # Asked first and apart: where it is one of these, one scan clears all the others.
        suspected = {entry for entry in candidates if _names_any(documents[entry.index], entry, missed)}
        asked = sorted(candidates, key=lambda entry: entry not in suspected)
        self.narrow(hidden or set(), asked, 0, len(asked), len(suspected) % len(asked))
        for finding in self.open(hidden or ()):
            self.notes[finding] = f"hidden by several of {len(candidates)} entries together"

    def narrow(
        self, hidden: set[ExpectedFinding], candidates: list[Entry], start: int, stop: int, middle: int = 0
    ) -> None:
        """Name the entries from `start` to `stop` that hide `hidden` when all the others are removed.

        They are parted at `middle`, in halves where that is 0.
        """
        if not hidden:
            return
        if stop - start == 1:
            for finding in hidden:
                self.found.setdefault(finding, []).append(candidates[start])
            return
        middle = middle or (start + stop) // 2
        for first, last in ((start, middle), (middle, stop)):
            others = candidates[:first] + candidates[last:]
            returning = self.returning(hidden, without(self.configuration, others))
            if returning is not None:
                self.narrow(hidden - returning, candidates, first, last)

    def returning(self, hidden: set[ExpectedFinding], configuration: Configuration) -> set[ExpectedFinding] | None:
        """Those that are reported with this configuration; None, with a note on each, when that is not known."""
        try:
            if self.before is None:
                # A place may have two findings, of which one is reported: more than before is what counts.
                self.before = self.places(self.configuration)
            places = self.places(configuration)
        except EvaluationError as error:
            self.notes.update(dict.fromkeys(hidden, f"not known in full what hides it: {error}"))
            return None
        return {finding for finding in hidden if _count(finding, places) > _count(finding, self.before)}

    def places(self, configuration: Configuration) -> Counter[Place]:
        if not self.left:
            raise EvaluationError("the limit of scans for one scenario is reached")
        self.left -= 1
        return Counter(self.scan(configuration))


def _count(finding: ExpectedFinding, places: Counter[Place]) -> int:
    """Return how many findings there are where one is expected: a label may say less than a rule and a line."""
    if not finding.is_loose:
        return places[finding.file_path, finding.line_number, finding.rule_id]
    window = finding.window
    return sum(
        count
        for (path, line, rule_id), count in places.items()
        if (path.startswith(window.path) if window.is_folder else path == window.path) and window.holds(line, rule_id)
    )


def overriding(configuration: Configuration, wanted: set[str]) -> list[Entry]:
    """The rules of these ids that take the place of one in a later file of the chain or in the default."""
    defined: set[str] = set()
    found = []
    for index, file in reversed(list(enumerate(configuration.chain))):
        for address, rule in tables(parsed(file), "rules"):
            name = value_of(rule, "id")
            if name in wanted and (name in defined or configuration.chain[-1].extends_default):
                found.append(Entry(file.path, place(address), index, address))
            defined.add(name)
    return found


def _names_any(document: Any, entry: Entry, missed: Iterable[ExpectedFinding]) -> bool:
    """Whether an entry is the id of a rule that is missed, or has a word of a path that is."""
    said = document
    for step in entry.address:
        said = said[step]
    words = _WORD.findall(said) if isinstance(said, str) else []
    return any(said == finding.rule_id or any(word in finding.file_path for word in words) for finding in missed)


def _addresses(document: Table) -> Iterator[Address]:
    for address, allowlist in allowlists(document):
        if str(value_of(allowlist, "condition")).upper() in {"AND", "&&"}:
            yield address
            continue
        for criterion in CRITERIA:
            yield from ((*address, *below) for below, _ in items(allowlist, criterion))
    for address, extend in tables(document, "extend"):
        yield from ((*address, *below) for below, _ in items(extend, "disabledrules"))
    for address, rule in tables(document, "rules"):
        yield from ((*address, *below) for below, _ in items(rule, "filter"))
    for name in FILTERS:
        yield from (address for address, _ in items(document, name))


def _remove(document: Any, address: Address) -> None:
    """Remove what stands at an address, and the allowlist around it when nothing is left in it."""
    holders = [document]
    for step in address[:-1]:
        holders.append(holders[-1][step])
    del holders[-1][address[-1]]
    for depth in range(len(address) - 1, 0, -1):
        holder = holders[depth]
        if (
            isinstance(holder, dict)
            and _is_allowlist(address[:depth])
            and not any(value_of(holder, name) for name in CRITERIA)
        ):
            del holders[depth - 1][address[depth - 1]]


def _is_allowlist(address: Address) -> bool:
    names = [step.lower() for step in address if isinstance(step, str)]
    return names[-1] in ALLOWLISTS
