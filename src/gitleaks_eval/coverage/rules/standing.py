"""The judgement of the scanner's own rules: which are not found as its own, and which this build does not fire."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitleaks_eval.config.eval_file import Acceptance
from gitleaks_eval.config.tables import tables, value_of
from gitleaks_eval.core.text import few, numbered, shown_path
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import OVERRIDE, Entry
from gitleaks_eval.coverage.configuration.known import Known, fired_by, known_build
from gitleaks_eval.coverage.configuration.probes import Hides, hold_against, offered
from gitleaks_eval.coverage.rules.firing import NEVER_FIRES, REPORTED_AS, Firing
from gitleaks_eval.coverage.rules.replaced import PART, Displaced, Replaced, displaced, rules_text, silent_text
from gitleaks_eval.coverage.samples.repository import is_same

LISTED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """The scanner's own rules: `of` so many, those that are `lost` and not accepted, and those that the build `lacks`.

    `said` has what is said of each lost rule that is in force. `fails` are the reasons why the run fails, and `weak`
    why it is WEAK_PASS at best. `offers` are what can be accepted, `forgiven` the rules for which that was done.
    """

    of: int = 0
    lost: frozenset[str] = frozenset()
    forgiven: frozenset[str] = frozenset()
    said: Mapping[str, str] = None  # type: ignore[assignment]
    lacks: frozenset[str] = frozenset()
    known: Known | None = None
    replaced_too_many: str = ""
    lacks_rules: str = ""
    weak: tuple[str, ...] = ()
    offers: tuple[Mapping[str, Any], ...] = ()

    @property
    def sentence(self) -> str:
        """`, 6 of 222 as the scanner's own`; empty where all are."""
        gone = len(self.lost | self.forgiven)
        are_accepted = ", accepted" if not self.lost else ""
        return f", {self.of - gone} of {self.of} as the scanner's own{are_accepted}" if gone else ""

    @property
    def fails(self) -> str:
        """Why the test of all of them fails; empty where it does not."""
        return " and ".join(filter(None, (self.replaced_too_many, self.lacks_rules)))

    @property
    def row(self) -> dict[str, Any]:
        """What evaluation_report.json says; empty where all of the scanner's own rules are found as its own."""
        lists = {
            "replaced": sorted(self.lost & self.said.keys()),
            "not_in_force": sorted(self.lost - self.said.keys()),
            "accepted": sorted(self.forgiven),
            "lacks": sorted(self.lacks),
        }
        title = self.known.title if self.known else None
        return {"of": self.of, "held_against": title, **lists} if any(lists.values()) else {}

    @property
    def replaced(self) -> list[str]:
        """A line for each rule in force that is lost and not accepted."""
        return [text for rule_id, text in self.said.items() if rule_id in self.lost]

    def never_fires(self, rule_id: str) -> str:
        """Return what is said of a rule that this build does not fire."""
        assert self.known is not None  # noqa: S101 - else it lacks none
        return f"{rule_id}: never fires, {self.known.title} finds it"


def standing_of(
    subject: EffectiveConfig,
    firing: Firing,
    accepted: Collection[Entry],
    acceptances: Mapping[str, Acceptance],
    root: Path,
) -> Standing:
    """Judge what became of the scanner's own rules.

    Args:
        subject: the configuration under test, and who reads it.
        firing: which rules fire, and what became of those that are replaced.
        accepted: the entries that are accepted.
        acceptances: what is accepted beside entries, by its text.
        root: the folder that shown paths are relative to.
    """
    if subject.builtin_problem or firing.disbelieved:
        return Standing(said={})
    title = f"{subject.dialect.scanner} {subject.dialect.version}"
    overrides = {rule_id: entry for entry in subject.entries if entry.kind == OVERRIDE for rule_id in entry.rule_ids}
    lost = [one for one in firing.replaced if one.is_lost]
    mended = {one.rule_id for one in lost if overrides.get(one.rule_id) in accepted}
    # What an entry replaces is accepted with that entry, all others together.
    others = {one.rule_id for one in lost if one.rule_id not in overrides}
    acceptance = acceptances.get(rules_text(subject.dialect))
    forgiven = frozenset(mended | (others if acceptance and _holds(acceptance, others) else set()))
    counted = [one for one in lost if one.rule_id not in forgiven]
    known = known_build(subject.dialect)
    lacks = _lacks(subject, firing, known) if known else frozenset()
    # Of a build that states a known version nothing of this can be accepted.
    unknown = lacks if known and not known.is_stated else frozenset()
    silent = acceptances.get(silent_text(subject.dialect))
    is_accepted = silent is not None and _holds(silent, lacks)
    name = shown_path(subject.layers[0].file, root) if subject.layers[0].file else "builtin"
    return Standing(
        of=sum(not _is_part(table) for _, table in tables(subject.builtin, "rules")) - _off(firing),
        lost=frozenset(one.rule_id for one in counted),
        forgiven=forgiven,
        said={one.rule_id: _said(one, title) for one in lost if one.in_force},
        lacks=lacks,
        known=known,
        replaced_too_many=_too_many(subject, firing, accepted, counted, (name, title)),
        lacks_rules=_lacks_rules(subject, lacks, known),
        weak=tuple(_weak(unknown, known)) if known and not is_accepted else (),
        offers=tuple(_offers(subject, f"{name}:1", others, unknown, acceptances)),
    )


def _holds(acceptance: Acceptance, rules: Collection[str]) -> bool:
    return not hold_against(acceptance, Hides({}, rules, rules), ()).grown


def is_asked(subject: EffectiveConfig) -> bool:
    """Whether a test is about all of the scanner's own rules: where the configuration, or the build, changes them."""
    if subject.builtin_problem or not subject.builtin:
        return False
    known = known_build(subject.dialect)
    return displaced(subject) != Displaced() or bool(known and known.is_stated and _absent(subject, known))


def _off(firing: Firing) -> int:
    return sum(one.entry is not None for one in firing.switched_off)


def _is_part(table: Mapping[str, Any]) -> bool:
    return value_of(table, "skipreport") is True


def _said(replaced: Replaced, title: str) -> str:
    instead = f"; reported as {replaced.reported_as}" if replaced.reported_as else ""
    return f"{replaced.rule_id}: replaced, does not find what {title}'s own rule finds{instead}"


def _too_many(
    subject: EffectiveConfig,
    firing: Firing,
    accepted: Collection[Entry],
    counted: Sequence[Replaced],
    names: tuple[str, str],
) -> str:
    """Return why too many of the scanner's own rules are lost, with those that an entry switches off."""
    off = sum(one.entry is not None and one.entry not in accepted for one in firing.switched_off)
    whole = sum(1 for _ in tables(subject.builtin, "rules"))
    if not counted or (len(counted) + off) * PART <= whole:
        return ""
    absent = [one for one in counted if not one.in_force]
    parts = [f"{len(counted) - len(absent)} are replaced"] * (len(absent) < len(counted))
    parts += [f"{len(absent)} are not in force"] * bool(absent)
    parts += [f"{off} are switched off"] * bool(off)
    elsewhere = sum(one.reported_as is not None for one in absent)
    parts += [f"other rules report what {elsewhere} of these find"] * bool(elsewhere)
    name, title = names
    return (
        f"{name} does not find what {len(counted)} of {title}'s {whole} own rules find: {', '.join(parts)}; "
        "extend its own configuration, or accept this with `gitleaks-eval accept`"
    )


def _lacks(subject: EffectiveConfig, firing: Firing, known: Known) -> frozenset[str]:
    """Return the rules that the known build fires and this one does not, though no entry is to blame."""
    fired, absent = fired_by(known), _absent(subject, known)
    # Where there are entries, they may be why another rule reports it.
    silent = {NEVER_FIRES} if subject.entries else {NEVER_FIRES, REPORTED_AS}
    replaced = {one.rule_id: one for one in firing.replaced}
    unfired = {
        rule.rule_id
        for rule in firing.rules
        if not rule.own and rule.status in silent and rule.rule_id not in replaced and rule.rule_id in fired
    }
    return frozenset(absent | unfired | {one for one in replaced if not replaced[one].samples and one in fired})


def _absent(subject: EffectiveConfig, known: Known) -> set[str]:
    """Return the rules of the known build that this one does not even have."""
    there = {str(value_of(table, "id")) for _, table in tables(subject.builtin, "rules")}
    return {one for one in fired_by(known) - there if not any(is_same(one, other) for other in there)}


def _lacks_rules(subject: EffectiveConfig, lacks: Collection[str], known: Known | None) -> str:
    """Return what is said of rules that the build does not have, and of those that no test of a rule in force tells."""
    if known is None or not known.is_stated:
        return ""
    in_force = {rule.id for rule in subject.effective.rules}
    silent = sorted(set(lacks) - in_force)
    return (
        f"{known.title} finds {numbered(len(silent), 'rule')} that this build does not: {_few(silent)}"
        if silent
        else ""
    )


def _weak(lacks: Collection[str], known: Known) -> Iterator[str]:
    if lacks:
        rules = "1 rule" if len(lacks) == 1 else f"{len(lacks)} rules"
        yield f"{rules} of {known.title}, the nearest known build, never fire with this one: {_few(sorted(lacks))}"


def _few(names: Sequence[str]) -> str:
    return few(names, LISTED_AT_MOST)


def _offers(
    subject: EffectiveConfig,
    name: str,
    others: Collection[str],
    lacks: Collection[str],
    acceptances: Mapping[str, Acceptance],
) -> Iterator[Mapping[str, Any]]:
    listed = (
        (rules_text(subject.dialect), others, "does not find what {} of its own rules find"),
        (silent_text(subject.dialect), lacks, "{} of the rules of the nearest known build never fire"),
    )
    for text, rules, said in listed:
        if rules:
            before = acceptances.get(text)
            grown = hold_against(before, Hides({}, rules, rules), ()).grown if before else ()
            more = f", {grown[0].accepted} are accepted" if grown else ""
            yield {
                "entry": text,
                "layer": 0,
                "name": name,
                "said": f"{text}: {said.format(len(rules))}{more}",
                **offered(Hides({}, rules, rules), subject.dialect, before),
            }
