"""Why the secrets that a run misses are missed: the entries of the configuration that hide them."""

import json
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gitleaks_eval.analysis.matching import MISSED, Match, Matching
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.hiding import NOTHING_HIDES, hiding_entries, rule_ids
from gitleaks_eval.core.sharing import made_once
from gitleaks_eval.engine.scans import scan_with
from gitleaks_eval.engine.workbench import Workbench
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import ExpectedFinding, Scenario

# A gate must end: with many misses the first ones say enough.
SCENARIOS_AT_MOST = 10
SECONDS_AT_MOST = 60

Hidden = dict[tuple[str, Place], str]


def hidden_findings(
    matched: Iterable[tuple[Scenario, Matching]],
    workbench: Workbench,
    configuration: Configuration | None,
    baseline: Configuration | None,
    root: Path,
) -> Hidden:
    """By scenario and (file, line, rule), what hides a missed finding, as people read it.

    It is found by scanning, once a run.

    Raises:
        EvaluationError: when there is no scanner to ask.
    """
    missing = [(scenario, found) for scenario, matching in matched if (found := _missed(matching.matches))]
    if configuration is None or not configuration.chain or not missing:
        return {}

    def make() -> bytes:
        ends = time.monotonic() + SECONDS_AT_MOST
        rows = []
        for scenario, findings in missing[:SCENARIOS_AT_MOST]:
            if time.monotonic() > ends:
                break

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
        return json.dumps(rows).encode()

    found = json.loads(made_once(workbench.folder / "hidden", make).read_bytes())
    return {(name, (path, line, rule)): text for name, path, line, rule, text in found}


def places(workbench: Workbench, scenario: Scenario, configuration: Configuration) -> list[Place]:
    """File, line and rule of each finding in a scenario, with another configuration.

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
