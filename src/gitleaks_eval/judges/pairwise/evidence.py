"""What the pairwise judge sees of two candidates: what differs, by rule and cause, under the names of neither."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gitleaks_eval.analysis.matching import alias_of
from gitleaks_eval.judges.dimensions.sampling import NAMES, SAMPLE, shortened
from gitleaks_eval.scoring.comparison import Pair
from gitleaks_eval.scoring.differences import Difference
from gitleaks_eval.scoring.evaluated import STATUSES, Evaluated

FIRST, SECOND, BOTH = "first", "second", "both"
BASELINE, CANDIDATE = "baseline", "candidate"
_SCANNER = "[scanner]"
# Each kind of difference as it reads from the outside, and which of the two it is said of.
_SAID = {
    "lost": ("expected secret, found by one alone", BASELINE),
    "gained": ("expected secret, found by one alone", CANDIDATE),
    "new": ("unexpected finding, of one alone", CANDIDATE),
    "gone": ("unexpected finding, of one alone", BASELINE),
    "moved": ("expected secret, on another line", CANDIDATE),
    "relabelled": ("expected secret, under another rule", CANDIDATE),
    "restored": ("expected secret, not exact with one alone", BASELINE),
    "severity_changed": ("of another severity", BOTH),
}
_REAL = {
    "lost": ("finding of one alone", BASELINE),
    "new": ("finding of one alone", CANDIDATE),
    "moved": ("on another line", BOTH),
    "relabelled": ("under another rule", BOTH),
    "severity_changed": ("of another severity", BOTH),
    "reattributed": ("credited to another commit", BOTH),
}
_HASH = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b")
Hidden = Callable[[Difference], str | None]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two evaluated candidates, what differs between them, and what hides a finding that is lost."""

    pair: Pair
    baseline: Evaluated
    candidate: Evaluated
    hidden_by: Hidden

    def __repr__(self) -> str:
        """Return a short text, because pytest shows values in tracebacks."""
        return f"<Compared {self.pair.candidate} against {self.pair.baseline}>"


class _Row(NamedTuple):
    what: str
    of: str
    rule_id: str
    other_rule_id: str | None
    cause: str | None
    severity: str | None


def differs(pair: Pair) -> bool:
    """Return whether a judge has anything to look at."""
    found = (getattr(pair.differences, kind) for kind in _SAID)
    return any(found) or any(pair.moves.ids.values()) or bool(pair.real.groups())


def evidence_of(compared: Compared, *, exchanged: bool = False) -> dict[str, Any]:
    """Return what differs, as JSON values: `first` is the baseline, or the candidate where they are `exchanged`.

    Each list is bounded and says how long it is. Neither role, name, version nor hash of the two stands in it.
    """
    pair = compared.pair
    labels = {BASELINE: FIRST, CANDIDATE: SECOND, BOTH: BOTH}
    if exchanged:
        labels |= {BASELINE: SECOND, CANDIDATE: FIRST}
    ids, blind = pair.moves.ids, _blinding(compared, labels)
    rows = Counter(
        _row(kind, difference, compared.hidden_by) for kind in _SAID for difference in getattr(pair.differences, kind)
    )
    real = Counter[_Row]()
    for group in pair.real.groups():
        said, of = _REAL[group.kind]
        real[_Row(said, of, group.rule_id, group.candidate_rule_id, group.cause, None)] += group.count
    sides = {labels[BASELINE]: compared.baseline, labels[CANDIDATE]: compared.candidate}
    return {
        "labelled": {label: _totals(side) for label, side in sorted(sides.items())},
        "labelled_differences": _listed(_counted(rows, labels, blind), sum(rows.values())),
        "rules_that_fire_with_one_alone": {
            labels[BASELINE]: _names(ids["rules_lost"], blind),
            labels[CANDIDATE]: _names(ids["rules_gained"], blind),
        },
        "places_that_one_alone_sees": {
            labels[BASELINE]: _names(ids["places_lost"], blind),
            labels[CANDIDATE]: _names(ids["places_gained"], blind),
        },
        "entries_that_are_new_or_hide_more": {labels[CANDIDATE]: _names(pair.moves.widened, blind)},
        "real_repositories": _listed(_counted(real, labels, blind), sum(real.values())),
    }


def _row(kind: str, difference: Difference, hidden_by: Hidden) -> _Row:
    said, of = _SAID[kind]
    other = difference.baseline_rule_id if kind == "restored" else difference.candidate_rule_id
    cause = hidden_by(difference) if kind == "lost" else None
    return _Row(
        said, of, difference.rule_id, other if other != difference.rule_id else None, cause, difference.severity
    )


def _counted(
    rows: Mapping[_Row, int], labels: Mapping[str, str], blind: Callable[[str], str]
) -> Iterator[dict[str, Any]]:
    # In one order, whoever comes first: by what they say, the largest first.
    for row, count in sorted(rows.items(), key=lambda item: (item[0].what, -item[1], repr(item[0]))):
        renamed = bool(row.other_rule_id and alias_of(row.rule_id, row.other_rule_id))
        said = {name: text for name, text in row._asdict().items() if text and name not in {"what", "of"}}
        yield {
            "what": row.what,
            "of": labels[row.of],
            "count": count,
            **({"renamed": True} if renamed else {}),
            **{name: shortened(blind(text)) for name, text in said.items()},
        }


def _listed(rows: Iterable[dict[str, Any]], count: int) -> dict[str, Any]:
    return {"count": count, "rows": list(rows)[:SAMPLE]}


def _names(names: Sequence[str], blind: Callable[[str], str]) -> dict[str, Any]:
    return {"count": len(names), "some": [shortened(blind(name)) for name in sorted(names)[:NAMES]]}


def _totals(side: Evaluated) -> dict[str, int]:
    found: Counter[str] = Counter(dict.fromkeys(STATUSES, 0))
    for matching in side.matchings.values():
        listed = Counter(match.status for match in matching.matches)
        found.update(match.fate for match in matching.matches)
        # What a truth only counts.
        found.update(matching.counts() - listed)
    return dict(found)


def _blinding(compared: Compared, labels: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that puts `first` and `second` into a text, and nothing that tells who is meant."""
    said: dict[str, str] = {"gitleaks": _SCANNER, "betterleaks": _SCANNER}
    for side, role in ((compared.baseline, BASELINE), (compared.candidate, CANDIDATE)):
        said |= {str(side.scanner[name] or "").lower(): _SCANNER for name in ("name", "version", "sha256")}
        said |= {side.name.lower(): labels[role], role: labels[role]}
    names = "|".join(map(re.escape, sorted(filter(None, said), key=len, reverse=True)))
    pattern = re.compile(rf"(?<![a-z0-9])(?:{names})(?![a-z0-9])", re.IGNORECASE)
    return lambda text: _HASH.sub("[hash]", pattern.sub(lambda found: said.get(found[0].lower(), _SCANNER), text))
