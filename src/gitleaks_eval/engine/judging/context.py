"""What judges are told beside the analyses: kept in each full report, so that judges alone put the same questions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matching import Matching
from gitleaks_eval.config.tables import value_of
from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.survey.coverage import surveyed
from gitleaks_eval.engine.survey.missed import Hidden, hidden_findings
from gitleaks_eval.judges.dimensions.sampling import shortened
from gitleaks_eval.reports.output.report import REPORT
from gitleaks_eval.scenarios.scenario import Scenario

_SEEN = {"seen", "not_asked"}
SHOWN_AT_MOST = 50
TEXT_AT_MOST = 200


@dataclass(frozen=True, slots=True)
class Context:
    """The descriptions of rules by id, what hides what is missed, and what the survey says (see `Material`).

    `masked` has, by scenario and its place among the sorted paths of the truth, what the analyses show instead of it.
    """

    descriptions: Mapping[str, str] = field(default_factory=dict)
    hidden: Hidden = field(default_factory=dict)
    coverage: Mapping[str, Any] | None = None
    masked: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the `judge_context` of evaluation_report.json."""
        return {
            "descriptions": dict(self.descriptions),
            "hidden": [[name, *place, text] for (name, place), text in self.hidden.items()],
            "coverage": self.coverage,
            "masked": [[name, number, text] for (name, number), text in self.masked.items()],
        }

    def shown(self, scenario: Scenario) -> Scenario:
        """Return a scenario with its truth masked as the analyses of the report show it."""
        texts = enumerate(_paths(scenario))
        masked = {
            text: self.masked[scenario.name, number] for number, text in texts if (scenario.name, number) in self.masked
        }
        return scenario.shown_as(lambda text: masked.get(text, text)) if masked else scenario


def saved_context(folder: Path) -> Context:
    """Return what the report of the last full run in `folder` says for judges; nothing where it has nothing.

    Raises:
        InputError: when the report cannot be read.
    """
    # It follows its schema: it was looked at when the run began.
    said = read_json(folder / REPORT, "the report").get("judge_context")
    if said is None:
        return Context()
    hidden = {(name, (path, line, rule)): text for name, path, line, rule, text in said["hidden"]}
    masked = {(name, number): text for name, number, text in said["masked"]}
    return Context(said["descriptions"], hidden, said["coverage"], masked)


def context_of(session: Session, matched: Sequence[tuple[Scenario, Matching]]) -> Context:
    """Return what this run knows beside the analyses of its first candidate; nothing where analyses were there."""
    if session.settings.analyses is not None:
        return Context()
    rules = {match.rule_id for _, matching in matched for match in matching.matches}
    return Context(
        _descriptions(session, rules), _hidden(session, matched), _coverage(session), _masked(session, matched)
    )


def _paths(scenario: Scenario) -> list[str]:
    clean = scenario.corpus.clean.paths() if scenario.corpus else set()
    return sorted(scenario.truth.paths() | clean)


def _masked(session: Session, matched: Sequence[tuple[Scenario, Matching]]) -> Mapping[tuple[str, int], str]:
    bench, masked = session.workbench(), {}
    for scenario, _ in matched:
        with suppress(EvaluationError):
            shown = bench.masks(scenario)
            pairs = ((number, text, shown(text)) for number, text in enumerate(_paths(scenario)))
            masked.update({(scenario.name, number): seen for number, text, seen in pairs if seen != text})
    return masked


def _hidden(session: Session, matched: Sequence[tuple[Scenario, Matching]]) -> Hidden:
    """Return what hides what is missed, as the reports say it; nothing where that cannot be asked."""
    configuration = session.settings.candidates[0].configuration
    with suppress(EvaluationError):
        return hidden_findings(matched, session.workbench(), configuration, configuration, session.settings.root)
    return {}


def _descriptions(session: Session, named: set[str]) -> Mapping[str, str]:
    """Return what these rules are for, in the words of the configuration."""
    try:
        rules = session.subject(session.settings.candidates[0].name, session.settings.seed).effective.rules
    except EvaluationError:
        return {}
    texts = ((rule.id, value_of(rule.table, "description")) for rule in rules if rule.id in named)
    return {rule: str(shortened(text)) for rule, text in texts if isinstance(text, str)}


def _coverage(session: Session) -> Mapping[str, Any] | None:
    """Return what the survey of this run says of rules and places, where it asks for them."""
    candidate = session.settings.candidates[0]
    if candidate.configuration is None or not session.settings.surveys:
        return None
    try:
        coverage = surveyed(session, candidate)
    except EvaluationError:
        return None
    places = {
        family: Counter(place["status"] for place in coverage.places if place["family"] == family)
        for family in sorted({place["family"] for place in coverage.places})
    }
    unseen = [f"{place['family']}: {place['case']}" for place in coverage.places if place["status"] not in _SEEN]
    return {
        "rules": Counter(rule["status"] for rule in coverage.rules),
        "places": places,
        "places_not_seen": unseen[:SHOWN_AT_MOST],
        "entries_that_hide": [text[:TEXT_AT_MOST] for text in coverage.hides[:SHOWN_AT_MOST]],
    }
