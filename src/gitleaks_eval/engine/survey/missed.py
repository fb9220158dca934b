"""Why the secrets that a run misses are missed: the entries of the configuration that hide them, or their rule."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitleaks_eval.analysis.matching import MISSED, Match, Matching
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.hiding import NOTHING_HIDES, hiding_entries, rule_ids
from gitleaks_eval.core.once import made_once
from gitleaks_eval.coverage.rules.explaining import explain
from gitleaks_eval.coverage.samples.explained_text import Text
from gitleaks_eval.engine.scan.scans import scan_with
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.engine.session.sample_scanner import sample_scanner_of
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.repositories.head import head_files
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import ExpectedFinding, Scenario

# A gate must end: with many misses the first ones say enough. It is bounded by scans, and by no clock: the same run
# twice says the same.
SCENARIOS_AT_MOST = 10
# Of those that no entry hides.
STOPPED_AT_MOST = 10
LARGEST = 1 << 20

Hidden = dict[tuple[str, Place], str]


def hidden_findings(
    matched: Iterable[tuple[Scenario, Matching]],
    workbench: Workbench,
    configuration: Configuration | None,
    baseline: Configuration | None,
    root: Path,
) -> Hidden:
    """Return by scenario and (file, line, rule) what hides a missed finding, as people read it.

    It is found by scanning, once a run.

    Raises:
        EvaluationError: when there is no scanner to ask.
    """
    missing = [(scenario, found) for scenario, matching in matched if (found := _missed(matching.matches))]
    if configuration is None or not configuration.chain or not missing:
        return {}

    def make() -> Any:
        rows = []
        for scenario, findings in missing[:SCENARIOS_AT_MOST]:

            def scan(changed: Configuration, scenario: Scenario = scenario) -> list[Place]:
                return places(workbench, scenario, changed)

            masks = workbench.masks(scenario)
            # Looked up by their real paths, which the configuration and the scanner know.
            raw = [replace(finding, file_path=masks.undone(finding.file_path)) for finding in findings]
            for finding, hiding in hiding_entries(raw, configuration, scan).items():
                text = hiding.text(root)
                if text == NOTHING_HIDES:
                    text = _dropped(finding, configuration, baseline, root) or text
                rows.append([scenario.name, masks(finding.file_path), finding.line_number, finding.rule_id, text])
        return rows

    found = made_once(workbench.folder / "hidden", make)
    return {(name, (path, line, rule)): text for name, path, line, rule, text in found}


def why_missed(session: Session, candidate: str, missed: Sequence[tuple[Scenario, Place]]) -> Hidden:
    """Return by scenario and (file, line, rule) what stops the rule, in the words of `explain`.

    What stands in the history alone is left out.

    Raises:
        EvaluationError: when a scan fails.
    """
    if not missed:
        return {}

    said = {}
    seed, workbench = session.settings.seed, session.workbench(candidate)
    subject, sample_scanner = session.subject(candidate, seed), sample_scanner_of(session, candidate, seed)
    for scenario, place in missed[:STOPPED_AT_MOST]:
        shown_path, line, rule_id = place
        # Asked by its real path, which the scanner knows.
        path = workbench.masks(scenario).undone(shown_path)
        files = head_files(workbench.repository(scenario).path, LARGEST)
        content = next((file.content for file in files if file.path == path.encode()), None)
        if content is None:
            continue
        found = explain(subject, sample_scanner, Text(path, content, line), session.settings.root, {rule_id})
        for stopped in found.stopped:
            if stopped.rule_id == rule_id:
                said[scenario.name, place] = stopped.words.replace(path, shown_path)
    return said


def places(workbench: Workbench, scenario: Scenario, configuration: Configuration) -> list[Place]:
    """Return file, line and rule of each finding in a scenario, with another configuration.

    Raises:
        EvaluationError: when the scan failed.
    """
    found = scan_with(workbench.scanner, configuration, workbench.repository(scenario).path).findings
    return [(finding["File"], finding["StartLine"], finding["RuleID"]) for finding in found]


def _missed(matches: Iterable[Match]) -> list[ExpectedFinding]:
    return [
        ExpectedFinding(match.file_path, match.rule_id, match.line_number)
        for match in matches
        if match.status == MISSED
    ]


def _dropped(finding: ExpectedFinding, configuration: Configuration, baseline: Configuration | None, root: Path) -> str:
    if baseline and finding.rule_id in rule_ids(baseline) - rule_ids(configuration):
        return f"{configuration.title(root)} has no rule {finding.rule_id}, which the baseline's has"
    return ""
