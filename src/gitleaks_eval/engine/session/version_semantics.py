"""What one version obeys in a configuration and the other ignores, and which planted secrets are lost for it."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitleaks_eval.core.once import made_once, turn
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig
from gitleaks_eval.coverage.configuration.entries import Entry
from gitleaks_eval.coverage.configuration.layers import without, write_layers
from gitleaks_eval.coverage.configuration.rules import Dialect
from gitleaks_eval.coverage.rules.baseline import entries_titled, in_common, obeyed_since
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import Scenario
from gitleaks_eval.scoring.evaluated import Evaluated


@dataclass(frozen=True, slots=True)
class Obeyed:
    """The entries that a candidate's version starts to obey, in which configuration, and a line that says so."""

    subject: EffectiveConfig | None = None
    entries: Sequence[Entry] = ()
    said: str = ""


def obeyed_beside(candidate: EffectiveConfig, baseline: EffectiveConfig | Evaluated) -> Obeyed:
    """Return what the version of a candidate obeys and that of the baseline ignores, in what both configurations say.

    Of a saved baseline the configuration is not known: only the same one is compared.
    """
    if isinstance(baseline, Evaluated):
        if baseline.scanner.get("config_sha256") != candidate.configuration.sha256:
            return Obeyed()
        baseline = replace(candidate, dialect=Dialect(str(baseline.scanner["name"]), baseline.scanner["version"]))
    mine, theirs = candidate.dialect, baseline.dialect
    if (mine.scanner, mine.version) == (theirs.scanner, theirs.version):
        return Obeyed()
    starts = in_common(obeyed_since(candidate, theirs), baseline, mine)
    stops = in_common(obeyed_since(baseline, mine), candidate, theirs)
    name, other = mine.title_beside(theirs), theirs.title_beside(mine)
    said = [f"{name} starts to obey {entries_titled(starts)}, which {other} ignores"] * bool(starts)
    said += [f"{name} ignores {entries_titled(stops)}, which {other} obeys"] * bool(stops)
    return Obeyed(candidate, tuple(starts), "; ".join(said))


def lost_by_obeying(obeyed: Obeyed, workbench: Workbench, scenario: Scenario) -> frozenset[Place]:
    """Return the findings (file, line, rule) of a scenario that the candidate has where it ignores these entries, too.

    Raises:
        EvaluationError: when the scan fails.
    """
    subject = obeyed.subject
    if subject is None or not obeyed.entries:
        return frozenset()

    def make() -> Any:
        repository = workbench.repository(scenario)
        with tempfile.TemporaryDirectory(prefix="config-", dir=workbench.folder) as folder:
            layers = without(subject.layers, [entry.spot for entry in obeyed.entries])
            scanner = replace(workbench.scanner, config=write_layers(layers, Path(folder)))
            with turn(workbench.turns):
                scan = scanner.scan(repository.path)
        masks = workbench.masks(scenario)
        rows = {(masks(finding["File"]), finding["StartLine"], finding["RuleID"]) for finding in scan.findings}
        return sorted(rows)

    found = made_once(workbench.folder / "disobeying" / scenario.name, make)
    return frozenset((file, line, rule) for file, line, rule in found)
