"""The survey of a candidate: every rule, every usual place, every entry of its configuration; made once a run."""

import contextlib
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.once import file_made_once, product_of, turn
from gitleaks_eval.core.progress import UNDER_WAY, under_way
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig, effective_config_of
from gitleaks_eval.coverage.configuration.layers import is_builtin
from gitleaks_eval.coverage.configuration.rules import Rule
from gitleaks_eval.coverage.families.formats import ask_formats, formats
from gitleaks_eval.coverage.places.flags import flag_entries, flag_results
from gitleaks_eval.coverage.places.for_rules import hidden_for_rules
from gitleaks_eval.coverage.places.hiding import Hidden, hidden_by, merged
from gitleaks_eval.coverage.places.map import PlacesMap
from gitleaks_eval.coverage.places.places import Planted, usual_places
from gitleaks_eval.coverage.places.survey import Asked, Naming, OwnRule, survey
from gitleaks_eval.coverage.result import (
    ACCEPTANCE,
    ENTRY,
    FORMAT,
    OWN_RULES,
    PLACE,
    RULE,
    TEST,
    TOGETHER,
    Coverage,
    Verdict,
    coverage_from_json,
    key,
)
from gitleaks_eval.coverage.rules.firing import FIRES, Firing, ask_rules
from gitleaks_eval.coverage.rules.forms_survey import ask_forms
from gitleaks_eval.coverage.rules.standing import is_asked
from gitleaks_eval.coverage.samples.samples import Bench, bench, samples_or_reason
from gitleaks_eval.coverage.samples.scanner import SampleScanner
from gitleaks_eval.coverage.samples.silencing import ask_entries
from gitleaks_eval.coverage.verdict.accepting import accepted_entries
from gitleaks_eval.coverage.verdict.hiding_entries import acceptance_name
from gitleaks_eval.coverage.verdict.verdict import coverage_of, entry_names
from gitleaks_eval.engine.session.sample_scanner import sample_scanner_of, scanning
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.settings.selection import ENTRIES, FORMATS, FORMS, PLACES, RULES
from gitleaks_eval.engine.survey.own_tests import check_rules, named_tests, own_verdicts
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.limits import timeout_of
from gitleaks_eval.scenarios.secrets import DEFAULT_SEED

_ANYWHERE = re.compile(r"[!#-&(-~]{8,200}")
# One alone for each entry, and one without each.
EXACT_SCANS = 1_000
# Which tests are of which kind of `--gitleaks-only`.
KINDS = {
    RULE: RULES,
    OWN_RULES: RULES,
    TEST: RULES,
    PLACE: PLACES,
    FORMAT: FORMATS,
    ENTRY: ENTRIES,
    TOGETHER: ENTRIES,
    ACCEPTANCE: ENTRIES,
}


@dataclass(frozen=True, slots=True)
class Case:
    """A test of the survey: of a candidate, its kind, and what it is about."""

    candidate: str
    kind: str
    name: str

    @property
    def id(self) -> str:
        """What pytest calls it: the candidate first, where there are several."""
        return printable("-".join(filter(None, (self.candidate, self.name))))

    @property
    def key(self) -> str:
        """What its verdict is known as."""
        return key(self.kind, self.name)


def survey_cases(session: Session, candidate: Candidate) -> list[Case]:
    """Return the tests of a candidate that this run asks for; nothing is scanned to know them.

    Where the scanner cannot be had, its own rules are not known, and there are none of them.
    """
    if candidate.configuration is None or not session.settings.surveys:
        return []
    build = session.build(candidate.name) or ScannerBuild("", candidate.scanner.scanner, "", "", "", "git", None)
    subject = effective_config_of(candidate.configuration, build, session.settings.seed)
    besides = session.beside[candidate.name]
    flags = flag_entries(candidate.args)
    entries = [*subject.entries, *flags]
    names = {
        OWN_RULES: [build.name] * is_asked(subject),
        RULE: [rule.id for rule in subject.effective.rules],
        PLACE: [
            place.title
            for place in usual_places()
            if not place.is_dropped and (FORMS in session.settings.surveys or not place.is_large)
        ],
        FORMAT: [one.id for one in formats()],
        ENTRY: list(entry_names(entries, candidate.configuration, session.settings.root).values()),
        TOGETHER: ["all"] * bool(entries),
        ACCEPTANCE: [
            acceptance_name(one, session.settings.root) for one in accepted_entries(subject, besides, flags).stale
        ],
        TEST: [name for name, _, _ in named_tests(besides, session.settings.root)],
    }
    asked = session.settings.surveys
    return [
        Case(candidate.name, kind, name) for kind, of_kind in names.items() if KINDS[kind] in asked for name in of_kind
    ]


def check_own_tests(session: Session, candidate: Candidate) -> None:
    """Refuse tests of rules that neither a candidate's configuration nor its scanner has.

    Raises:
        InputError: for the first of them, with its line and column.
    """
    build, besides = session.build(candidate.name), session.beside[candidate.name]
    if candidate.configuration and build and any(beside.tests for beside in besides):
        check_rules(effective_config_of(candidate.configuration, build, session.settings.seed), besides)


def surveyed(session: Session, candidate: Candidate) -> Coverage:
    """Return what the survey of a candidate amounts to; made by the first process of the run that asks.

    Raises:
        EvaluationError: when a scan failed: then nothing is known.
    """
    place = _place(session, candidate.name)

    def make() -> bytes:
        with session.workbench(candidate.name).refusing():
            return json.dumps(_survey(session, candidate).as_json()).encode()

    return _read(file_made_once(place, make))


def start_survey(session: Session, candidate: Candidate) -> None:
    """Have the survey of a candidate made beside its scenarios, where this run has tests of it."""
    if candidate.configuration is not None and session.settings.surveys:
        session.workbench(candidate.name).start_beside(lambda: surveyed(session, candidate))


def verdict_of(session: Session, candidate: Candidate, case: Case) -> Verdict:
    """Return how a test of the survey ends.

    Raises:
        EvaluationError: as `surveyed`.
    """
    if case.kind != TEST:
        return surveyed(session, candidate).verdict(case.kind, case.name)
    workbench, configuration = session.workbench(candidate.name), candidate.configuration
    if configuration is None:
        raise EvaluationError("nothing is scanned, so no rule is tested")
    scanner = workbench.scanner
    subject = effective_config_of(configuration, scanner.build, session.settings.seed)
    folder = workbench.folder / "own-tests"
    folder.mkdir(exist_ok=True)
    sample_scanner = SampleScanner(scanning(scanner), folder, session.settings.seed)
    besides = session.beside[candidate.name]
    with turn(workbench.turns), workbench.refusing():
        verdicts = own_verdicts(subject, besides, sample_scanner, folder / "scanned", session.settings.root)
    return verdicts[case.key]


def survey_left(session: Session, candidate: str) -> Coverage | None:
    """Return what this run has of the survey of a candidate; None where none was made, or it failed."""
    path = product_of(_place(session, candidate))
    return _read(path) if path.exists() else None


@lru_cache(maxsize=8)
def _read(path: Path) -> Coverage:
    # Each test asks; the private folder of each run has a name of its own.
    return coverage_from_json(json.loads(path.read_bytes()))


def _place(session: Session, candidate: str) -> Path:
    return session.workbench(candidate).folder / "coverage"


def _survey(session: Session, candidate: Candidate) -> Coverage:
    workbench, configuration = session.workbench(candidate.name), candidate.configuration
    if configuration is None:
        raise EvaluationError("nothing is scanned, so nothing is known of rules and places")
    scanner, settings = workbench.scanner, session.settings
    subject = effective_config_of(configuration, scanner.build, settings.seed)
    asks_forms = FORMS in settings.surveys
    # Those of the scanner's own rules are asked for by many runs, those of a user's configuration by few.
    kept = not configuration.chain and workbench.kept_in is None and not asks_forms
    sample_scanner = sample_scanner_of(session, candidate.name, settings.seed, kept=kept)
    title = candidate.name or configuration.title(settings.root)
    asked = Asked(settings.seed, None, large=asks_forms, kept_in=workbench.kept_in)

    def places_seen(own: OwnRule | None, asked: Asked = asked) -> PlacesMap:
        with _taking_turn(workbench.turns, f"the usual places, with {title}"):
            return survey(scanner, configuration, replace(asked, own=own), _naming(session))

    def hidden_usually(own: OwnRule | None, now: PlacesMap) -> Hidden:
        if settings.seed == DEFAULT_SEED or not subject.entries:
            return now.hidden
        return places_seen(own, replace(asked, seed=DEFAULT_SEED, kept_in=None)).hidden

    has_default = not configuration.chain or configuration.chain[-1].extends_default
    with ThreadPoolExecutor(1, "gitleaks-eval-places") as beside:
        ahead = beside.submit(places_seen, None) if has_default else None
        with _taking_turn(workbench.turns, f"samples of rules, with {title}"):
            firing = ask_rules(subject, sample_scanner)
            # What is accepted was counted with the usual values: of others an entry may hide more by chance.
            usual = replace(subject, seed=DEFAULT_SEED)
            usual_scanner = sample_scanner_of(session, candidate.name, DEFAULT_SEED, kept=kept)
            entries = ask_entries(usual, usual_scanner)
            hidden_narrowly = hidden_for_rules(usual, usual_scanner)
            documented = ask_formats(usual, sample_scanner_of(session, candidate.name, DEFAULT_SEED, kept=True))
            forms = ask_forms(subject, sample_scanner, firing.shown) if asks_forms else {}
        own = None if ahead else _own_rule(subject, firing)
        places = ahead.result() if ahead else places_seen(own)
    hidden = merged(hidden_usually(own, places), hidden_narrowly)
    besides, strict = session.beside[candidate.name], settings.strict
    measured = [*entries, *flag_results(scanner.args, places.hidden)]
    flags = flag_entries(scanner.args)
    coverage = replace(
        coverage_of(
            subject,
            firing,
            places,
            measured,
            settings.root,
            besides=besides,
            strict=strict,
            hidden=hidden,
            flags=flags,
            formats=documented,
        ),
        forms=forms,
    )
    if said := timeout_of(scanner.args):
        tested = f"{coverage.tested}; {said} ends a scan early, and what it cuts off is not measured"
        weak = [*coverage.weak, f"{said}: what it cuts off is not measured"]
        coverage = replace(coverage, tested=tested, whole=False, weak=weak)
    return _with_unreadable(coverage, subject, firing) if RULES in settings.surveys else coverage


def _with_unreadable(coverage: Coverage, subject: EffectiveConfig, firing: Firing) -> Coverage:
    """Add why the rules of the scanner are not known, where they are not."""
    why = subject.builtin_problem or firing.disbelieved
    if not why:
        return coverage
    # Of rules that nobody knows none is silent.
    in_force = is_builtin(subject.layers, len(subject.layers) - 1)
    said = "more rules are in force that are not known" if in_force else "the rules of the scanner are not known"
    tested = f"{coverage.tested}; {said}: {why}"
    return replace(coverage, tested=tested, whole=False, weak=[*coverage.weak, why], unreadable=why)


@contextlib.contextmanager
def _taking_turn(turns: Path, title: str) -> Iterator[None]:
    with turn(turns), under_way(turns.parent / UNDER_WAY, f"scanning {printable(title)}"):
        yield


def _naming(session: Session) -> Naming:
    """Return what names the entries that hide places: of many entries it knows less in few scans."""
    return partial(hidden_by, scans_at_most=EXACT_SCANS, alone_at_most=EXACT_SCANS // 2) if session.exact else hidden_by


def _own_rule(subject: EffectiveConfig, firing: Firing) -> OwnRule | None:
    """Return the first rule of the user's that fires and has values that can stand anywhere."""
    fires = {result.rule_id for result in firing.rules if result.own and result.status == FIRES}
    on = bench(subject.effective.rules, subject.effective.allowlists, subject.seed)
    able = (one for one in subject.effective.rules if one.id in fires and not one.path)
    rule = next((one for one in able if _ANYWHERE.fullmatch(_value(one, on))), None)
    return OwnRule(rule.table, lambda seed: Planted(_value(rule, replace(on, seed=seed)))) if rule else None


def _value(rule: Rule, on: Bench) -> str:
    made = samples_or_reason(rule, on, ["own"])
    if isinstance(made, str):
        raise EvaluationError(f"the rule {printable(rule.id)} has no value to plant in the usual places: {made}")
    return made[0].value
