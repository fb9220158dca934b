"""The survey of a candidate: every rule, every usual place, every entry of its configuration; made once a run."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.core.sharing import made_once, turn
from gitleaks_eval.core.speed import cores_beside_others
from gitleaks_eval.core.text import printable
from gitleaks_eval.coverage.accepting import accepted_entries
from gitleaks_eval.coverage.entries import entries_of
from gitleaks_eval.coverage.firing import FIRES, Firing, ask_rules
from gitleaks_eval.coverage.hiding_entries import acceptance_name
from gitleaks_eval.coverage.places import Planted, usual_places
from gitleaks_eval.coverage.places_hiding import hidden_by
from gitleaks_eval.coverage.places_survey import Asked, Naming, OwnRule, survey
from gitleaks_eval.coverage.result import (
    ACCEPTANCE,
    ENTRY,
    PLACE,
    RULE,
    TEST,
    TOGETHER,
    Coverage,
    Verdict,
    coverage_from_json,
    key,
)
from gitleaks_eval.coverage.rules import Rule
from gitleaks_eval.coverage.samples import Bench, bench, samples_or_reason
from gitleaks_eval.coverage.silencing import ask_entries
from gitleaks_eval.coverage.subject import Asker, Findings, Subject, subject_of
from gitleaks_eval.coverage.verdict import coverage_of, entry_names
from gitleaks_eval.engine.candidates import Candidate
from gitleaks_eval.engine.kinds import ENTRIES, PLACES, RULES
from gitleaks_eval.engine.own_tests import check_rules, named_tests, own_verdicts
from gitleaks_eval.engine.session import Session
from gitleaks_eval.engine.watching import UNDER_WAY, under_way
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.repositories.head import head_files
from gitleaks_eval.repositories.log import Readable, readable
from gitleaks_eval.repositories.staging import staged_diff
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scanners.scan import Scan, Scanner, unread

SEED = "0"
_ANYWHERE = re.compile(r"[!#-&(-~]{8,200}")
LARGEST_SAMPLE = 1 << 20
# One alone for each entry, and one without each.
EXACT_SCANS = 1_000
# Which tests are of which kind of `--gitleaks-only`.
KINDS = {RULE: RULES, TEST: RULES, PLACE: PLACES, ENTRY: ENTRIES, TOGETHER: ENTRIES, ACCEPTANCE: ENTRIES}


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
    """The tests of a candidate that this run asks for; nothing is scanned to know them.

    Where the scanner cannot be had, its own rules are not known, and there are none of them.
    """
    if candidate.configuration is None or not session.settings.surveys:
        return []
    build = session.build(candidate.name) or ScannerBuild("", candidate.scanner.scanner, "", "", "", "git", None)
    subject = subject_of(candidate.configuration, build, SEED)
    entries = entries_of(subject.layers, subject.builtin, subject.dialect)
    besides = session.beside[candidate.name]
    names = {
        RULE: [rule.id for rule in subject.effective.rules],
        PLACE: [place.title for place in usual_places() if not place.is_large and not place.is_dropped],
        ENTRY: list(entry_names(entries, candidate.configuration, session.settings.root).values()),
        TOGETHER: ["all"] * bool(entries),
        ACCEPTANCE: [acceptance_name(one, session.settings.root) for one in accepted_entries(subject, besides).stale],
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
        check_rules(subject_of(candidate.configuration, build, SEED), besides)


def surveyed(session: Session, candidate: Candidate) -> Coverage:
    """What the survey of a candidate amounts to; made by the first process of the run that asks.

    Raises:
        EvaluationError: when a scan failed: then nothing is known.
    """
    folder = _folder(session, candidate.name)
    path = made_once(folder, lambda: json.dumps(_survey(session, candidate).as_json()).encode())
    return _read(path)


def verdict_of(session: Session, candidate: Candidate, case: Case) -> Verdict:
    """How a test of the survey ends.

    Raises:
        EvaluationError: as `surveyed`.
    """
    if case.kind != TEST:
        return surveyed(session, candidate).verdict(case.kind, case.name)
    workbench, configuration = session.workbench(candidate.name), candidate.configuration
    if configuration is None:
        raise EvaluationError("nothing is scanned, so no rule is tested")
    scanner = workbench.scanner
    subject = subject_of(configuration, scanner.build, SEED)
    folder = workbench.folder / "own-tests"
    folder.mkdir(exist_ok=True)
    asker = Asker(_scanning(scanner), folder, SEED)
    besides = session.beside[candidate.name]
    with turn(session.turns(candidate.name), max(1, os.cpu_count() or 1)):
        verdicts = own_verdicts(subject, besides, asker, folder / "scanned", session.settings.root)
    return verdicts[case.key]


def survey_left(session: Session, candidate: str) -> Coverage | None:
    """What this run has of the survey of a candidate; None where none was made, or it failed."""
    path = _folder(session, candidate) / "product.json"
    return _read(path) if path.exists() else None


@lru_cache(maxsize=8)
def _read(path: Path) -> Coverage:
    # Each test asks; the private folder of each run has a name of its own.
    return coverage_from_json(json.loads(path.read_bytes()))


def _folder(session: Session, candidate: str) -> Path:
    return session.workbench(candidate).folder / "coverage"


def _survey(session: Session, candidate: Candidate) -> Coverage:
    workbench, configuration = session.workbench(candidate.name), candidate.configuration
    if configuration is None:
        raise EvaluationError("nothing is scanned, so nothing is known of rules and places")
    scanner = workbench.scanner
    subject = subject_of(configuration, scanner.build, SEED)
    folder = workbench.folder / "samples"
    folder.mkdir(exist_ok=True)
    asker = Asker(_scanning(scanner), folder, SEED)
    turns = session.turns(candidate.name)
    title = printable(f"rules, places and entries of {candidate.name or configuration.title(session.settings.root)}")
    with turn(turns, max(1, os.cpu_count() or 1)), under_way(turns.parent / UNDER_WAY, title):
        firing = ask_rules(subject, asker)
        places = survey(scanner, configuration, Asked(SEED, _own_rule(subject, firing)), _naming(session))
        entries = ask_entries(subject, asker)
    return coverage_of(
        subject,
        firing,
        places,
        entries,
        session.settings.root,
        besides=session.beside[candidate.name],
        strict=session.settings.strict,
    )


def _naming(session: Session) -> Naming:
    """What names the entries that hide places: of many entries it knows less in few scans."""
    return partial(hidden_by, scans_at_most=EXACT_SCANS) if session.exact else hidden_by


def _own_rule(subject: Subject, firing: Firing) -> OwnRule | None:
    """The first rule of the user's that fires and has values that can stand anywhere."""
    fires = {result.rule_id for result in firing.rules if result.own and result.status == FIRES}
    on = bench(subject.effective.rules, subject.effective.allowlists, SEED)
    able = (one for one in subject.effective.rules if one.id in fires and not one.path)
    rule = next((one for one in able if _ANYWHERE.fullmatch(_value(one, on))), None)
    return OwnRule(rule.table, lambda seed: Planted(_value(rule, replace(on, seed=seed)))) if rule else None


def _value(rule: Rule, on: Bench) -> str:
    made = samples_or_reason(rule, on, ["own"])
    if isinstance(made, str):
        raise EvaluationError(f"the rule {printable(rule.id)} has no value to plant in the usual places: {made}")
    return made[0].value


def _scanning(scanner: Scanner) -> Callable[[BuiltRepository, Path | None], Findings]:
    def scan(repository: BuiltRepository, config: Path | None) -> Findings:
        there = repository.readable
        if scanner.mode == "staged":
            there = readable(repository.path, command=staged_diff(repository.path))
        scanner_with = replace(scanner, config=config or scanner.config)
        done = scanner_with.scan(repository.path, cores=cores_beside_others(there.added_bytes))
        if problem := unread(done, _counted(done, there, repository)):
            raise EvaluationError(f"a scan of samples does not count: {problem}")
        return done.findings

    return scan


def _counted(scan: Scan, there: Readable, repository: BuiltRepository) -> Readable:
    """What a scan has to have counted: a scanner that tells no commits leaves out files that are allowed by path."""
    if scan.commits is not None or scan.files is not None:
        return there
    seen = {str(finding["File"]).replace("\\", "/") for finding in scan.findings}
    passed = sum(
        len(file.content)
        for file in head_files(repository.path, LARGEST_SAMPLE)
        if file.path.decode("utf-8", "replace") not in seen
    )
    return replace(
        there,
        added_bytes=max(1, there.added_bytes - passed),
        added_bytes_up_to_8_26=max(1, there.added_bytes_up_to_8_26 - passed),
    )
