"""Why the secrets that a run misses are missed: the entries of the configuration that hide them."""

import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.configuration import Configuration, copy_configuration
from gitleaks_eval.hiding import hiding_entries, rule_ids
from gitleaks_eval.matching import MISSED, Match
from gitleaks_eval.reports.run import Run
from gitleaks_eval.scenario import ExpectedFinding, Place, Scenario
from gitleaks_eval.workbench import Workbench

# A gate must end: with many misses the first ones say enough.
SCENARIOS_AT_MOST = 10
SECONDS_AT_MOST = 60

Hidden = dict[tuple[str, Place], str]


def hidden_findings(
    run: Run, workbench: Workbench, configuration: Configuration | None, baseline: Configuration | None, root: Path
) -> Hidden:
    """By scenario and (file, line, rule), what hides a missed finding, as people read it; found by scanning."""
    texts: Hidden = {}
    if configuration is None or not configuration.chain:
        return texts
    ends = time.monotonic() + SECONDS_AT_MOST
    missing = {name: found for name, subject in run.subjects.items() if (found := _missed(subject.matching.matches))}
    scenarios = {scenario.name: scenario for scenario in run.scenarios}
    for name in list(missing)[:SCENARIOS_AT_MOST]:
        if time.monotonic() > ends:
            break
        scenario = scenarios[name]

        def scan(changed: Configuration, scenario: Scenario = scenario) -> list[Place]:
            return places(workbench, scenario, changed)

        for finding, hiding in hiding_entries(missing[name], configuration, scan).items():
            text = hiding.text(root) or _dropped(finding, configuration, baseline, root)
            if text:
                texts[name, (finding.file_path, finding.line_number, finding.rule_id)] = text
    return texts


def places(workbench: Workbench, scenario: Scenario, configuration: Configuration) -> list[Place]:
    """File, line and rule of each finding in a scenario, with another configuration.

    Raises:
        EvaluationError: when the scan failed.
    """
    with tempfile.TemporaryDirectory(prefix="config-", dir=workbench.folder) as folder:
        scanner = replace(workbench.scanner, config=copy_configuration(configuration, Path(folder)))
        scan = scanner.scan(workbench.repository(scenario).path)
    return [(finding["File"], finding["StartLine"], finding["RuleID"]) for finding in scan.findings]


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
