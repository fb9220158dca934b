"""What is wrong with a configuration under test: entries that do nothing, and entries that hide expected secrets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gitleaks_eval.config.hiding import NOTHING_HIDES
from gitleaks_eval.config.lint import lint
from gitleaks_eval.core.text import printable
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.settings.candidates import Candidate
from gitleaks_eval.engine.survey.missed import hidden_findings
from gitleaks_eval.engine.survey.without_entries import accepted_places
from gitleaks_eval.scanners.config_errors import ask_scanner

SHOWN_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a configuration: `key` is the same for the same fault in another file, `text` for people."""

    key: str
    text: str


def ignored_entries(candidate: Candidate, session: Session) -> list[Fault]:
    """What the scanner of a candidate ignores or refuses in its configuration.

    Raises:
        EvaluationError: when the scanner cannot be had or asked.
    """
    assert candidate.configuration is not None  # noqa: S101 - only candidates with a configuration are linted
    build = session.workbench(candidate.name).scanner.build
    static = lint(candidate.configuration, build.version, build.adapter.config_keys)
    problems = static + ask_scanner(build, candidate.configuration, session.folder)
    said = [": ".join(filter(None, (one.place, one.message))) for one in problems]
    return [Fault(what, f"{one.file.name} {what}") for one, what in zip(problems, said, strict=True)]


def hidden_secrets(candidate: Candidate, session: Session) -> list[Fault]:
    """What the configuration of a candidate hides of the secrets that the scenarios expect, and nobody accepted.

    Raises:
        EvaluationError: when a scenario cannot be evaluated: what is hidden there is not known.
    """
    workbench = session.workbench(candidate.name)
    for scenario in session.scenarios:
        workbench.analysis(scenario)
    found = hidden_findings(
        [(scenario, workbench.subjects[scenario.name].matching) for scenario in session.scenarios],
        workbench,
        candidate.configuration,
        session.settings.candidates[0].configuration,
        session.settings.root,
    )
    accepted = accepted_places(session, candidate, workbench.subjects) if found else {}
    found = {(name, place): text for (name, place), text in found.items() if place not in accepted.get(name, ())}
    told = {f"{name} {path}:{line} ({rule_id})": text for (name, (path, line, rule_id)), text in found.items()}
    return [Fault(secret, f"{secret}: {text}") for secret, text in told.items() if text != NOTHING_HIDES]


# What each test of the lint asks for, by its id.
FAULTS: Mapping[str, Callable[[Candidate, Session], list[Fault]]] = {"CL-1": ignored_entries, "CL-2": hidden_secrets}


def faults_message(faults: Sequence[Fault]) -> str:
    """What a test says that fails with these faults, a line each, for a terminal; empty without any."""
    more = [f"and {len(faults) - SHOWN_AT_MOST} more"] * (len(faults) > SHOWN_AT_MOST)
    return "\n  ".join([*(printable(fault.text) for fault in faults[:SHOWN_AT_MOST]), *more])
