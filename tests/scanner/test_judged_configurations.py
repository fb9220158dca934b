"""Eight ways to scan, from best to worst: the heuristics rank them so, on the core and edge scenarios but one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from builders import git

from gitleaks_eval.analysis.analyse import Provenance, analyse, texts_of
from gitleaks_eval.analysis.envelope import as_analysis
from gitleaks_eval.analysis.matching import MISSED
from gitleaks_eval.analysis.severity import load_policy
from gitleaks_eval.core.private_folder import private_folder
from gitleaks_eval.engine.session.begin import find_scanners, lay_out
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.session.targets import load_subjects
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.judges.dimensions.shipped import SHIPPED
from gitleaks_eval.judges.facts import scenario_facts
from gitleaks_eval.judges.judge import Case
from gitleaks_eval.judges.material import SYNTHETIC, Facts, Material
from gitleaks_eval.judges.panel.panel import Panel, judge_all
from gitleaks_eval.judges.settings import HEURISTIC, JudgeSettings
from gitleaks_eval.judges.verdict import Judgement
from gitleaks_eval.repositories.head import head_contents
from gitleaks_eval.scenarios.redaction import Values, masks_of
from gitleaks_eval.scenarios.scenario import Scenario

_EXTEND = "[extend]\nuseDefault = true\n"
_GENERIC = """[[rules]]
id = "any-secret"
description = "Whatever looks like a secret"
regex = '''(?i)((?:gh[pousr]_|sk_live_|xox[bp]-|AKIA)[0-9a-zA-Z-]{10,}|-----BEGIN[ A-Z]*PRIVATE KEY)'''
"""
_BROAD = """
[[rules]]
id = "any-assignment"
description = "Whatever is assigned"
regex = '''(?i)[a-z_]{3,}\\s*[=:]\\s*["']?([^\\s"']{4,})'''
"""
_KEYS_ONLY = """[extend]
useDefault = true
disabledRules = ["aws-access-token", "github-pat", "stripe-access-token", "generic-api-key", "slack-bot-token"]
"""
# In the order in which a security engineer would take them: what misses nothing before what misses something.
CONFIGURATIONS = {
    "built-in": ("8.30.1", None),
    "one rule renamed": ("8.16.0", None),
    "a broad rule of one's own": ("8.30.1", _EXTEND + _BROAD),
    "*.pem allowlisted": ("8.30.1", _EXTEND + "[[allowlists]]\npaths = ['''\\.pem$''']\n"),
    "generic-api-key off": ("8.30.1", _EXTEND + 'disabledRules = ["generic-api-key"]\n'),
    "betterleaks": ("betterleaks@1.4.0", None),
    "one generic rule alone": ("8.30.1", _GENERIC),
    "only private-key": ("8.30.1", _KEYS_ONLY),
}


@dataclass(frozen=True)
class Corpus:
    """All scenarios but a large one, where each is built, and one repository with the histories of all."""

    scenarios: tuple[Scenario, ...]
    built: Mapping[str, Path]
    together: Path
    scenario_of: Mapping[str, str]


@contextmanager
def session(**options: Any) -> Iterator[Session]:
    settings = Settings.of(scenarios=["core", "edge"], **options)
    with private_folder() as folder:
        found = find_scanners(settings, lambda _: None, folder)
        one = Session(settings, load_subjects(settings), lay_out(settings, found, folder, [""]))
        try:
            yield one
        finally:
            one.close()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    together = tmp_path_factory.mktemp("together")
    git(together, "init", "-q")
    with session(version="8.30.1") as one:
        # As long as all others together, and nothing in it is about rules.
        scenarios = tuple(scenario for scenario in one.scenarios if scenario.name != "large-files")
        built = {scenario.name: one.workbench().repository(scenario).path for scenario in scenarios}
    for name, path in built.items():
        git(together, "fetch", "-q", str(path), f"+refs/*:refs/heads/{name}/*")
    commits = {
        name: git(together, "rev-list", f"--glob=refs/heads/{name}").decode().split() for name in built
    }  # fmt: skip
    return Corpus(scenarios, built, together, {commit: name for name, found in commits.items() for commit in found})


def facts(corpus: Corpus, scenario: Scenario, findings: list[dict[str, object]]) -> Facts:
    """What is known of a scenario, as in a run: by the real pipeline from what was reported there."""
    provenance = Provenance(scenario.name, "main", "1" * 40, "8.30.1", "run", "2026-01-01T00:00:00+00:00", 20.0, 1)
    document = analyse(findings, head_contents(corpus.built[scenario.name]), load_policy(), provenance)
    truth = (one.file_path for one in scenario.expected.findings)
    shown = masks_of([*truth, *texts_of(findings)], (str(one["Secret"]) for one in findings))
    return scenario_facts(scenario.shown_as(shown), as_analysis(document, scenario.name))


def judged(corpus: Corpus, version: str, config: Path | None) -> tuple[Judgement, int]:
    """What the heuristics say of one scan of everything, and how many expected secrets it misses."""
    with session(version=version, **({"config": str(config)} if config else {})) as one:
        found = one.workbench().scanner.scan(corpus.together).findings
    by_scenario: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for finding in found:
        by_scenario[corpus.scenario_of[finding["Commit"]]].append(finding)
    every = tuple(facts(corpus, scenario, by_scenario[scenario.name]) for scenario in corpus.scenarios)
    panel = Panel(JudgeSettings(mode=HEURISTIC), "", Values(), lambda _: Material(SYNTHETIC, every, ""))
    verdicts = judge_all([Case(judge, SYNTHETIC) for judge in SHIPPED], panel, whole=True)
    return verdicts.by_mode[SYNTHETIC], sum(one.count(MISSED) for one in every)


@pytest.fixture(scope="module")
def judgements(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Judgement, int]]:
    folder, found = tmp_path_factory.mktemp("judged"), {}
    for number, (name, (version, config)) in enumerate(CONFIGURATIONS.items()):
        path = folder / f"{number}.toml"
        path.write_text(config or "", encoding="utf-8")
        found[name] = judged(corpus, version, path if config else None)
    return found


def rank(judgement: Judgement) -> tuple[float, float]:
    return judgement.score or 0, judgement.raw_score or 0


def test_the_capped_composite_ranks_them_and_the_raw_one_breaks_ties(
    judgements: dict[str, tuple[Judgement, int]],
) -> None:
    ranks = {name: rank(judgement) for name, (judgement, _) in judgements.items()}
    assert [(a, b) for a, b in pairwise(ranks) if not ranks[a] > ranks[b]] == [], str(ranks)
    assert len({capped for capped, _ in ranks.values()}) == len(ranks), str(ranks)


def test_a_build_that_misses_nothing_stands_above_all_that_miss_something(
    judgements: dict[str, tuple[Judgement, int]],
) -> None:
    missed = {name: number for name, (_, number) in judgements.items()}
    assert [missed[name] for name in list(CONFIGURATIONS)[:3]] == [0, 0, 0]
    assert all(missed[name] for name in list(CONFIGURATIONS)[3:])
