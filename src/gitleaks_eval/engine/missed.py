"""Why the secrets that a run misses are missed: the entries of the configuration that hide them."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from gitleaks_eval.analysis.matching import MISSED, Match, Matching
from gitleaks_eval.config.chain import Configuration
from gitleaks_eval.config.hiding import NOTHING_HIDES, hiding_entries, rule_ids
from gitleaks_eval.core.sharing import made_once
from gitleaks_eval.engine.scans import scan_with
from gitleaks_eval.engine.workbench import Workbench
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import ExpectedFinding, Scenario

# A gate must end: with many misses the first ones say enough. It is bounded by scans, and by no clock: the same run
# twice says the same.
SCENARIOS_AT_MOST = 10

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
        rows = []
        for scenario, findings in missing[:SCENARIOS_AT_MOST]:

            def scan(changed: Configuration, scenario: Scenario = scenario) -> list[Place]:
                return places(workbench, scenario, changed)

            masks = workbench.masks(scenario)
            # Looked up as they are, for that is how the configuration and the scanner know them.
            raw = [_place(finding, masks.undone) for finding in findings]
            for finding, hiding in hiding_entries(raw, configuration, scan).items():
                text = hiding.text(root)
                if text == NOTHING_HIDES:
                    text = _dropped(finding, configuration, baseline, root) or text
                shown = _place(finding, masks)
                said = text.replace(finding.rule_id, shown.rule_id)
                rows.append([scenario.name, shown.file_path, shown.line_number, shown.rule_id, said])
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


def _place(finding: ExpectedFinding, shown: Callable[[str], str]) -> ExpectedFinding:
    return ExpectedFinding(shown(finding.file_path), shown(finding.rule_id), finding.line_number)


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
