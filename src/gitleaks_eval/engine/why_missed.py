"""Why a secret is missed that no entry of the configuration hides: its rule is asked again with its parts changed."""

import json
import time
from collections.abc import Mapping, Sequence

from gitleaks_eval.core.sharing import made_once
from gitleaks_eval.coverage.explained_text import Text
from gitleaks_eval.coverage.explaining import explain
from gitleaks_eval.engine.asking import asker_of
from gitleaks_eval.engine.session import Session
from gitleaks_eval.repositories.head import head_files
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.scenario import Scenario

# A gate must end: with many misses the first ones say enough.
MISSES_AT_MOST = 10
SECONDS_AT_MOST = 30
LARGEST = 1 << 20


def why_missed(
    session: Session, candidate: str, missed: Sequence[tuple[Scenario, Place]]
) -> Mapping[tuple[str, Place], str]:
    """By scenario and (file, line, rule), what stops the rule, in the words of `explain`; asked once a run.

    What stands in the history alone is left out.

    Raises:
        EvaluationError: when a scan fails.
    """
    if not missed:
        return {}

    def make() -> bytes:
        ends, rows = time.monotonic() + SECONDS_AT_MOST, []
        seed = session.settings.seed
        subject, asker = session.subject(candidate, seed), asker_of(session, candidate, seed)
        for scenario, place in missed[:MISSES_AT_MOST]:
            workbench = session.workbench(candidate)
            shown_path, line, rule_id = place
            # Asked by its real path, which the scanner knows.
            path = workbench.masks(scenario).undone(shown_path)
            repository = workbench.repository(scenario).path
            files = (one for one in head_files(repository, LARGEST) if one.path == path.encode())
            content = next((one.content for one in files), None)
            if content is None or time.monotonic() > ends:
                continue
            found = explain(subject, asker, Text(path, content, line), session.settings.root, {rule_id})
            said = [one.words for one in found.stopped if one.rule_id == rule_id]
            rows += [[scenario.name, *place, words.replace(path, shown_path)] for words in said]
        return json.dumps(rows).encode()

    folder = session.workbench(candidate).folder / "why-missed"
    rows = json.loads(made_once(folder, make).read_bytes())
    return {(name, (path, line, rule_id)): words for name, path, line, rule_id, words in rows}
