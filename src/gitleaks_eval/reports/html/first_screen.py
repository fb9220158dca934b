"""The first screen of `report.html`: the verdict and why, what was under test, what was tested, what to do next."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from gitleaks_eval.checks.result import ERROR, FAILED
from gitleaks_eval.core.text import few, numbered
from gitleaks_eval.reports.html.groups import Document
from gitleaks_eval.reports.run.causes import cause_of
from gitleaks_eval.reports.run.coverage import NOTHING_TO_MEND

NAMED_AT_MOST = 3
SECRETS = "planted secrets found"
_FINDINGS = {
    "missed": "missed",
    "moved": "on another line",
    "relabelled": "under another rule",
    "accepted": "not found for accepted entries",
}
_OTHERS = {"unexpected": "that nothing was planted for", "unlabelled": "that no label speaks of"}
# Of an entry that may hide something, as far as is known, and that nobody has accepted.
_OPEN = frozenset({"live", "no_witness"})


@dataclass(frozen=True, slots=True)
class Tile:
    """A number of the first screen: what of it, how many of how many, a note, and how many entries hide with leave."""

    title: str
    count: int
    of: int
    note: str = ""
    accepted: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out but what was accepted."""
        return self.count + self.accepted == self.of


def under_test(document: Document) -> list[tuple[str, str]]:
    """Return what was under test, as terms with their text."""
    scanner = document.get("scanner") or {}
    named = [
        ("Scanner", " ".join(filter(None, (scanner.get("name"), scanner.get("version"))))),
        ("From", scanner.get("source")),
        ("SHA-256", scanner.get("sha256")),
        ("Configuration", scanner.get("config")),
        ("Its SHA-256", scanner.get("config_sha256")),
        ("Command", scanner.get("command")),
        ("Arguments", scanner.get("args")),
        ("Asked for", ", ".join(document.get("only") or ())),
        ("Seed", document.get("seed")),
        ("Evaluated by", f"{document.get('tool', 'gitleaks-eval')} {document.get('tool_version', '')}".strip()),
        ("At", document.get("generated_at")),
    ]
    return [(name, str(value)) for name, value in named if value]


def tiles(document: Document) -> list[Tile]:
    """Return what was tested, in numbers; none where nothing was evaluated."""
    if nothing_evaluated(document):
        return []
    findings = _findings(document)
    asked = findings.get("expected", 0) or not document.get("only")
    accepted = findings.get("accepted", 0)
    secrets = Tile(
        SECRETS, findings.get("detected", 0), findings.get("expected", 0), _notes({"accepted": accepted}), accepted
    )
    found = [secrets] if asked else []
    coverage = document.get("coverage")
    if coverage:
        rules = Counter(row["status"] for row in coverage["rules"])
        off = len(coverage["switched_off"])
        said = _notes({"accepted": rules["accepted"], "switched off": off, "could not be asked": rules["not_sampled"]})
        fire = rules["fires"] + rules["reported_as"]
        found.append(Tile("rules fire", fire, rules.total() + off, said, rules["accepted"]))
        places = Counter(row["status"] for row in coverage["places"])
        hidden = places["allowlisted"] + places["accepted"] + places["missing"]
        never = {"accepted": places["accepted"], "more are never scanned by the scanner": places["not_scanned"]}
        said = _notes({**never, "large ones are not asked": places["not_asked"]})
        found.append(Tile("places seen", places["seen"], places["seen"] + hidden, said, places["accepted"]))
    real = (document.get("real_world") or {}).get("repositories") or []
    if real:
        found.append(Tile("real repositories scanned", sum(not one.get("problem") for one in real), len(real)))
    return found


def _notes(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {text}" for text, count in counts.items() if count)


def verdict(document: Document) -> str:
    """Return the word of the decision."""
    if decision := (document.get("summary") or {}).get("guarded_decision"):
        return str(decision)
    return "INCOMPLETE" if document.get("incomplete") else "NO DECISION"


def nothing_evaluated(document: Document) -> str:
    """Return why nothing at all was evaluated; empty where something was."""
    summary = document.get("summary") or {}
    real = (document.get("real_world") or {}).get("repositories") or ()
    evaluated = summary.get("total_checks", 0) > summary.get("errors", 0) or document.get("coverage")
    if evaluated or not document.get("incomplete") or any(not one.get("problem") for one in real):
        return ""
    rows = chain(document.get("results", ()), document.get("survey_failures", ()), document.get("config_lint", ()))
    causes = (cause_of(str(row["message"])) for row in rows if row["outcome"] == ERROR)
    return next(causes, "no check was run")


def why(document: Document) -> str:
    """Return the decision in one sentence: all that keeps it from being the best."""
    if nothing := nothing_evaluated(document):
        return f"Nothing was evaluated: {nothing}."
    said = [*map(str, document.get("reasons") or ()), *map(str, filter(None, [document.get("crashed")]))]
    said += [*_findings_said(document), *_surveyed_said(document)]
    others = list(map(str, document.get("other_failures") or ()))
    said += [f"{numbered(len(others), 'failed test')} beside the checks ({few(others, NAMED_AT_MOST)})"] * bool(others)
    said += [f"{row['check_id']} fails" for row in document.get("config_lint") or () if row["outcome"] == "failed"]
    if said:
        return f"{'; '.join(said)}."
    if not _findings(document).get("expected"):
        return "No secret was planted for what was asked."
    return "All that was planted is found, and nothing that was asked is hidden."


def next_action(document: Document) -> str:
    """Return what to do now."""
    first = next(iter(document.get("next") or ()), "")
    if first and first != NOTHING_TO_MEND:
        return f"{first[0].upper()}{first[1:]}."
    if document.get("next") is None and verdict(document) != "STRONG_PASS":
        return "Look at the largest cause below."
    if verdict(document) == "STRONG_PASS":
        return "Keep this run as a baseline (--gitleaks-save-baseline), and compare the next upgrade with it."
    return "Look at the details below: nothing decides here."


def _findings_said(document: Document) -> Iterator[str]:
    counts = _findings(document)
    for name, text in _FINDINGS.items():
        if counts.get(name):
            yield f"{counts[name]} of {numbered(counts['expected'], 'planted secret')} {text}"
    for name, text in _OTHERS.items():
        if counts.get(name):
            yield f"{numbered(counts[name], 'finding')} {text}"


def _surveyed_said(document: Document) -> Iterator[str]:
    for tile in tiles(document):
        if tile.count != tile.of and tile.title != SECRETS:
            accepted = " (the others are accepted)" if tile.is_whole else ""
            yield f"{tile.count} of {tile.of} {tile.title}{accepted}"
    failures = [row for row in document.get("survey_failures") or () if row["outcome"] == FAILED]
    wide, tests = ([str(row["name"]) for row in failures if row["check_id"] == kind] for kind in ("entry", "test"))
    rows = (document.get("coverage") or {}).get("entries") or ()
    left = [f"{row['file']}:{row['line']}" for row in rows if row["status"] in _OPEN]
    if left or wide:
        hide = "1 entry hides" if len(left) == 1 else f"{len(left)} entries hide"
        too_much = f", {len(wide)} of them too much" * bool(wide)
        named = few(list(dict.fromkeys(wide + left)), NAMED_AT_MOST)
        yield f"{hide} what nobody has accepted{too_much} ({named})"
    if any(row["check_id"] == "entries" for row in failures):
        yield "all entries together hide too much"
    if tests:
        yield f"{numbered(len(tests), 'test')} of your rules failed ({few(tests, NAMED_AT_MOST)})"


def _findings(document: Document) -> Document:
    found: Document = (document.get("summary") or {}).get("findings") or {}
    return found
