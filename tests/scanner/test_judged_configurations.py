"""Eight ways to scan, from best to worst: the heuristics rank them so, on the core and edge scenarios together."""

from itertools import pairwise
from typing import Any

import pytest
from ran import run

pytestmark = pytest.mark.usefixtures("own_environment")

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


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found = {}
    for name, (version, config) in CONFIGURATIONS.items():
        folder = tmp_path_factory.mktemp("judged")
        options = [f"--gitleaks-version={version}"]
        if config:
            (folder / "own.toml").write_text(config, encoding="utf-8")
            options.append("--gitleaks-config=own.toml")
        judged = ["--gitleaks-eval", "--gitleaks-judges", "--gitleaks-judge-mode=heuristic"]
        ran = run(folder, *judged, "--gitleaks-scenarios=core", "--gitleaks-scenarios=edge", *options)
        found[name] = ran.json()
    return found


def rank(document: dict[str, Any]) -> tuple[float, float]:
    return document["llm"]["score"], document["llm"]["raw_score"]


def test_the_capped_composite_ranks_them_and_the_raw_one_breaks_ties(reports: dict[str, Any]) -> None:
    ranks = {name: rank(document) for name, document in reports.items()}
    assert [(a, b) for a, b in pairwise(ranks) if not ranks[a] > ranks[b]] == [], str(ranks)


def test_a_build_that_misses_nothing_stands_above_all_that_miss_something(reports: dict[str, Any]) -> None:
    missed = {name: document["summary"]["findings"]["missed"] for name, document in reports.items()}
    assert [missed[name] for name in list(CONFIGURATIONS)[:3]] == [0, 0, 0]
    assert all(missed[name] for name in list(CONFIGURATIONS)[3:])


def test_no_combined_decision_stands_above_the_guarded_one(reports: dict[str, Any]) -> None:
    order = ["FAIL", "WEAK_PASS", "PASS", "STRONG_PASS"]
    for document in reports.values():
        guarded = document["summary"]["guarded_decision"]
        assert order.index(document["combined"]["decision"]) <= order.index(guarded)
