"""What a survey of rules, places and entries amounts to, as values: a verdict a test, numbers, and rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

RULE, PLACE, ENTRY, TOGETHER = "rule", "place", "entry", "entries"
# All of the scanner's own rules.
OWN_RULES = "scanners_rules"
# An acceptance of an entry that is not there, and a test of a rule that a user wrote.
ACCEPTANCE, TEST = "acceptance", "test"
# A documented format of tokens.
FORMAT = "format"
PASSES, FAILS, NOT_APPLICABLE = "passes", "fails", "not_applicable"
# Of a usual place.
Status = Literal["seen", "allowlisted", "accepted", "missing", "not_scanned", "not_asked"]
SEEN: Final = "seen"
ALLOWLISTED: Final = "allowlisted"
ACCEPTED: Final = "accepted"
# The scanner does not see it with its own configuration, and the known build that it is held against does.
MISSING: Final = "missing"
NOT_SCANNED: Final = "not_scanned"
NOT_ASKED: Final = "not_asked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a test ends (`passes`, `fails` or `not_applicable`), and why, as people read it."""

    outcome: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a verdict speaks for: `rules`, `places` and `entries` are the rows of evaluation_report.json.

    `switched_off` are the ids of the scanner's own rules that are not in force. `verdicts` are of tests, by kind and
    name (`rule:jwt`, `place:path:src/a.png`, `entry:my.toml:4`). `tested` is one sentence of numbers, and `hides` has
    a line for each entry that hides something and is not accepted, `hides_places` those of the first screen,
    `accepted` for one that is, `notices` for what may
    be deleted; `offers` say what an acceptance of each entry would, and `forgiven` are the rules that are silent for
    accepted entries alone. A run is not `whole` where something is hidden,
    accepted or not. `replaced` has a line for each rule that does not find what the scanner's own finds, `lacks` the
    rules that a known build fires and this one does not, and `scanners_rules` both as evaluation_report.json has them.
    `weak` has the reasons why the decision is WEAK_PASS at best, and `unreadable` why the rules of the scanner are not
    known. `forms` says by rule and form whether it fires, where that was asked. `formats` are the rows of documented
    formats, and `formats_said` is a sentence of their numbers.
    """

    seed: str
    rules: Sequence[Mapping[str, Any]]
    switched_off: Sequence[str]
    places: Sequence[Mapping[str, Any]]
    entries: Sequence[Mapping[str, Any]]
    verdicts: Mapping[str, Verdict]
    tested: str
    hides: Sequence[str]
    whole: bool
    forms: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    accepted: Sequence[str] = ()
    notices: Sequence[str] = ()
    offers: Sequence[Mapping[str, Any]] = ()
    forgiven: Sequence[str] = ()
    hides_places: Sequence[str] = ()
    replaced: Sequence[str] = ()
    lacks: Sequence[str] = ()
    scanners_rules: Mapping[str, Any] = field(default_factory=dict)
    weak: Sequence[str] = field(default_factory=list)
    unreadable: str = ""
    formats: Sequence[Mapping[str, Any]] = ()
    formats_said: str = ""

    def verdict(self, kind: str, name: str) -> Verdict:
        """The verdict of a test; of one that nothing is known of, that it fails."""
        return self.verdicts.get(key(kind, name), Verdict(FAILS, f"{kind} {name}: nothing is known of it"))

    def rows(self) -> dict[str, Any]:
        """`coverage` of evaluation_report.json."""
        names = ("seed", "rules", "switched_off", "places", "entries")
        forms = [
            {
                "rule_id": rule_id,
                "fires": [form for form, fires in of_rule.items() if fires],
                "silent": [form for form, fires in of_rule.items() if not fires],
            }
            for rule_id, of_rule in self.forms.items()
        ]
        beside = {"forms": forms, "scanners_rules": self.scanners_rules, "formats": self.formats}
        return {
            **{name: getattr(self, name) for name in names},
            **{name: value for name, value in beside.items() if value},
        }

    def as_json(self) -> dict[str, Any]:
        """This value, for another process; `coverage_from_json` is the inverse."""
        return asdict(self)


def coverage_from_json(document: Mapping[str, Any]) -> Coverage:
    """The value that another process has left."""
    verdicts = {name: Verdict(**verdict) for name, verdict in document["verdicts"].items()}
    return Coverage(**{**document, "verdicts": verdicts})


def key(kind: str, name: str) -> str:
    """What a test is known as."""
    return f"{kind}:{name}"
