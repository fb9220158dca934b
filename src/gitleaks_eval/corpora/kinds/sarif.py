"""A SARIF report of any scanner: what is suppressed in it is a decoy, the rest is expected."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from gitleaks_eval.core.documents import read_json
from gitleaks_eval.core.errors import InputError
from gitleaks_eval.corpora.expected import OPTION
from gitleaks_eval.corpora.kind import CorpusKind
from gitleaks_eval.corpora.labels import FALSE, OPEN, TRUE, Label, beside, labelled_corpus
from gitleaks_eval.scenarios.places import ANY_RULE, Window
from gitleaks_eval.scenarios.scenario import Corpus, Expected

NAME = "sarif"
# Their rule ids are those of the scanners under test; others name categories of their own.
_OUR_SCANNERS = {"gitleaks", "betterleaks"}


def sarif(path: Path) -> tuple[Corpus, Expected]:
    """Read a report (SARIF 2.1.0): suppressions and `baselineState` say what a result is worth.

    Raises:
        InputError: when it is no SARIF, or a result has no place (with run and number).
    """
    document = read_json(path, f"{OPTION} {NAME}:")
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise InputError(f"{OPTION} {NAME}:{path}: no SARIF, which has `runs`")
    labels: dict[Window, Label] = {}
    for number, run in enumerate(runs):
        for label in _labels(run, f"{path.name}: run {number}"):
            other = labels.setdefault(label.window, label)
            if other.says != TRUE and label.says != OPEN:
                labels[label.window] = label
    return labelled_corpus(NAME, beside(path), labels.values(), about_history=True)


def _labels(run: Mapping[str, Any], place: str) -> Iterator[Label]:
    driver = _below(run, "tool", "driver")
    knows_rules = str(driver.get("name", "")).lower() in _OUR_SCANNERS
    results = run.get("results")
    for index, result in enumerate(results if isinstance(results, list) else []):
        where = f"{place}, result {index}"
        if not isinstance(result, dict):
            raise InputError(f"{OPTION} {NAME}: {where}: is no object")
        if result.get("baselineState") != "absent":
            yield Label(_window(result, where, knows_rules=knows_rules), _says(result), where)


def _says(result: Mapping[str, Any]) -> str:
    given = result.get("suppressions")
    states = (
        [one.get("status", "accepted") for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    )
    if "accepted" in states:
        return FALSE
    return OPEN if "underReview" in states else TRUE


def _window(result: Mapping[str, Any], place: str, *, knows_rules: bool) -> Window:
    locations = result.get("locations")
    first = locations[0] if isinstance(locations, list) and locations else {}
    physical = _below(first if isinstance(first, dict) else {}, "physicalLocation")
    uri = _below(physical, "artifactLocation").get("uri")
    if not isinstance(uri, str) or not uri:
        raise InputError(f"{OPTION} {NAME}: {place}: it has no artifactLocation with a uri")
    region = _below(physical, "region")
    line = region.get("startLine", 0)
    last = region.get("endLine", line)
    if type(line) is not int or type(last) is not int or not 0 <= line <= last:
        raise InputError(f"{OPTION} {NAME}: {place}: its region has no lines")
    rule = result.get("ruleId")
    rule_id = rule if knows_rules and isinstance(rule, str) else ANY_RULE
    # A secret of several lines is reported on its first.
    return Window(unquote(uri.removeprefix("file://")).lstrip("/"), line, line if knows_rules else last, rule_id)


def _below(document: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = document.get(name)
        document = found if isinstance(found, dict) else {}
    return document


KIND = CorpusKind(NAME, "FILE.sarif in the folder or repository that it is about", "what no result is about", sarif)
