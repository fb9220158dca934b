"""The masks of a subject, one set for all candidates of a run: what is compared must be masked alike on both sides.

They hide what any candidate reports of it, what a configuration hides of it, and what its truth knows to be planted.
The id of a rule that a configuration or a scanner has is public: masked, it could no longer be told from another one.
"""

import contextlib
import json
import threading
from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from gitleaks_eval.config.chain import Configuration, chain_of
from gitleaks_eval.config.hiding import entries, rule_ids, without
from gitleaks_eval.config.tables import tables, value_of
from gitleaks_eval.core.errors import EvaluationError, InputError
from gitleaks_eval.core.sharing import made_once, product_of
from gitleaks_eval.coverage.builtin import builtin_document
from gitleaks_eval.coverage.known import RULES_FILE, measured
from gitleaks_eval.engine.reported import Reported, Unit, reported
from gitleaks_eval.engine.scans import scan_with, scanner_of, scenario_repository
from gitleaks_eval.engine.shared import Bench, masks_place
from gitleaks_eval.scenarios.masking import Masks, as_shown_before, masks_of, without_words
from gitleaks_eval.scenarios.scenario import Scenario


def subject_masks(unit: Unit, stop: threading.Event | None = None) -> Masks:
    """The masks of the subject of a unit; made once per run, across processes, for which each candidate scans it.

    Setting `stop` ends the programs that it runs. A candidate that cannot scan it reports nothing that could show.

    Raises:
        EvaluationError: when they cannot be made.
    """
    path = made_once(masks_place(unit.bench, unit.subject.name), lambda: json.dumps(asdict(_made(unit, stop))).encode())
    return Masks(**json.loads(path.read_bytes()))


def masks_made(bench: Bench, name: str) -> Masks:
    """The masks of a subject that has been looked at already; none where it has not."""
    path = product_of(masks_place(bench, name))
    return Masks(**json.loads(path.read_bytes())) if path.exists() else Masks()


def _made(unit: Unit, stop: threading.Event | None) -> Masks:
    texts: set[str] = set()
    paths: set[str] = set()
    words: frozenset[str] = frozenset()
    values = {secret.value for secret in unit.recipe.secrets.values()} if unit.recipe else set()
    before = Masks()
    if isinstance(unit.subject, Scenario):
        before, texts = _of_truth(unit, unit.subject)
        if corpus := unit.subject.corpus:
            values |= corpus.values
            words = corpus.words
    for bench in unit.benches:
        with contextlib.suppress(EvaluationError):
            found = reported(unit, bench, stop)
            texts |= found.texts()
            paths |= found.paths()
            values |= found.secrets()
            values |= _hidden(unit, bench, found, stop)
    return masks_of(texts, values, without_words(paths, words, before), public_rule_ids(unit.benches))


def public_rule_ids(benches: Iterable[Bench]) -> frozenset[str]:
    """Return the ids of the rules that configurations and scanners have, which nobody has to keep to themselves."""
    of_benches = (_rule_ids(Path(bench.config), *_binary(bench)) for bench in benches)
    return frozenset[str]().union(*measured(RULES_FILE).values(), *of_benches)


def _binary(bench: Bench) -> tuple[Path, str]:
    return (Path(bench.scanner["path"]), bench.scanner["sha256"]) if bench.scanner else (Path(), "")


@lru_cache(maxsize=8)
def _rule_ids(config: Path, binary: Path, sha256: str) -> frozenset[str]:
    ids: set[str] = set()
    with contextlib.suppress(InputError):
        ids.update(rule_ids(Configuration(chain_of(config, "the copy", config.parent), "the copy")))
    with contextlib.suppress(EvaluationError):
        ids.update(str(value_of(rule, "id")) for _, rule in tables(builtin_document(binary, sha256), "rules"))
    return frozenset(ids)


def _of_truth(unit: Unit, scenario: Scenario) -> tuple[Masks, set[str]]:
    texts = scenario.truth.texts()
    before = as_shown_before(texts, unit.shown_before)
    if scenario.corpus:
        texts = texts.union(scenario.corpus.clean.texts())
        masks = scenario.corpus.masks
        before = Masks({**masks.shown, **before.shown}, {**before.numbers, **masks.numbers})
    return before, texts


def _hidden(unit: Unit, bench: Bench, found: Reported, stop: threading.Event | None) -> set[str]:
    """The secrets that come to light without the entries that only hide, where a corpus expects what is missed.

    The values of labelled secrets are not known, and a name may hold one.
    """
    scenario = unit.subject
    if not isinstance(scenario, Scenario) or scenario.corpus is None:
        return set()
    lines = {(finding["File"], finding["StartLine"]) for finding in found.findings}
    if all((one.file_path, one.line_number) in lines for one in scenario.truth.findings):
        return set()
    config = Path(bench.config)
    configuration = Configuration(chain_of(config, "the copy", config.parent), "the copy")
    hiding = entries(configuration)
    if not hiding:
        return set()
    repository = scenario_repository(bench, scenario, unit.recipe).path
    scan = scan_with(scanner_of(bench, stop), without(configuration, hiding), repository)
    return {finding["Secret"] for finding in scan.findings}
