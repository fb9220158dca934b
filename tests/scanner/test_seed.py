"""Other values than by default: a scanner that knows the default ones by heart is found out."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from corpus import report, shipped_scenarios

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.core.resources import shipped_data
from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.engine.session.targets import load_subjects
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.canary import canary_secrets
from gitleaks_eval.scenarios.recipe import load_recipe

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

# Learns all that the real scanner reports, and later reports nothing else, whatever stands there.
PARROT = """\
import json, os, subprocess, sys
ended = subprocess.run([{real!r}, *sys.argv[1:]]).returncode
if ended not in (0, 1) and "--report-path" not in sys.argv:
    sys.exit(ended)
if "--report-path" in sys.argv:
    path = sys.argv[sys.argv.index("--report-path") + 1]
    found = json.load(open(path)) or []
    if os.path.exists({learned!r}):
        known = set(open({learned!r}).read().splitlines())
        kept = [one for one in found if repr(one["Secret"]) in known]
        json.dump(kept, open(path, "w"))
        if found and not kept:
            ended = 0
    else:
        with open({learning!r}, "a") as memory:
            memory.write("".join(repr(one["Secret"]) + "\\n" for one in found))
sys.exit(ended)
"""


@pytest.fixture
def parrot(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> Path:
    """A script that repeats by heart; it holds the rules of the real one, as a build does."""
    real = gitleaks("8.30.1")
    here = pytester.path / "parrot"
    here.mkdir()
    names = {"real": str(real), "learned": str(here / "learned"), "learning": str(here / "learning")}
    (here / "parrot.py").write_text(PARROT.format(**names), encoding="utf-8")
    build = probe(real, "a test")
    rules = tomli_w.dumps(builtin_document(Path(build.path), build.sha256))
    script = here / "gitleaks"
    start = f'#!/bin/sh\nexec {sys.executable} -ISB {here / "parrot.py"} "$@"\n'
    script.write_bytes(start.encode() + b"\0" + rules.encode() + b"\0")
    script.chmod(0o755)
    return script


def test_a_scanner_that_knows_the_default_values_by_heart_fails_with_random_ones(
    pytester: pytest.Pytester, parrot: Path
) -> None:
    options = ["--gitleaks-eval", f"--gitleaks-binary={parrot}", "--gitleaks-config=builtin"]
    options.append(shipped_scenarios(pytester.path / "two", "mixed-secrets", "no-secrets"))
    pytester.runpytest_subprocess(*options)
    (parrot.parent / "learning").rename(parrot.parent / "learned")
    by_heart = pytester.runpytest_subprocess(*options)
    # Its exit status is not looked at: two interpreters a scan may be too slow for SP-3.
    by_heart.stdout.fnmatch_lines(["STRONG_PASS  2 of 2 expected secrets found*", "tested: 222 of 222 rules, *"])
    result = pytester.runpytest_subprocess(*options, "--gitleaks-seed=random")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAIL  *", "seed [1-9]*: other values than by default; --gitleaks-seed=*"])
    # Not even the canary is known, so that nothing is believed.
    result.stdout.no_fnmatch_line("*canary found*")
    assert report(pytester)["coverage"] is None or report(pytester)["coverage"]["rules"][0]["status"] != "fires"


def test_of_a_scanner_whose_own_rules_are_not_known_nobody_says_that_all_fire(
    pytester: pytest.Pytester, parrot: Path
) -> None:
    parrot.write_bytes(parrot.read_bytes().partition(b"\0")[0])
    options = ["--gitleaks-eval", f"--gitleaks-binary={parrot}", "--gitleaks-config=builtin"]
    options.append("--gitleaks-only=scenarios,rules")
    said = [
        "WEAK_PASS  17 of 17 expected secrets found*",
        "tested: 0 of 0 rules*; more rules are in force that are not known: *: its own rules cannot be read: *",
    ]
    result = pytester.runpytest_subprocess(*options)
    assert result.ret == 1
    result.stdout.fnmatch_lines([*said, "next: *`--gitleaks-allow-unreadable-rules`*"])
    allowed = pytester.runpytest_subprocess(*options, "--gitleaks-allow-unreadable-rules")
    allowed.stdout.fnmatch_lines(said)
    allowed.stdout.no_fnmatch_line("FAILED  no test failed*")
    # As above, the parrot may be too slow for SP-3.
    assert allowed.ret == (1 if "FAILED " in allowed.stdout.str() else 0)


def test_any_seed_passes_with_the_real_scanner_and_is_told(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    options = ["--gitleaks-eval", f"--gitleaks-binary={gitleaks('8.30.1')}", "--gitleaks-seed=random"]
    result = pytester.runpytest_subprocess(*options, "-n2")
    assert result.ret == 0
    [told] = re.findall(r"\| seed (\d+)", result.stdout.str())
    result.stdout.fnmatch_lines(["STRONG_PASS  17 of 17 *", "tested: 222 of 222 rules, *", f"seed {told}: *"])
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert (document["seed"], document["coverage"]["seed"]) == (told, told)
    scorecard = (pytester.path / "gitleaks-eval-results/scorecard.md").read_text(encoding="utf-8")
    assert f"--gitleaks-seed={told}" in scorecard


def test_another_seed_plants_other_values_everywhere_and_the_default_ones_are_those_of_the_recipes(
    tmp_path: Path,
) -> None:
    def planted(**options: str) -> dict[str, set[str]]:
        subjects = load_subjects(Settings.of(tmp_path, config="builtin", version="8.30.1", **options))
        return {name: {one.value for one in recipe.secrets.values()} for name, recipe in subjects.recipes.items()}

    default, seven, eight = planted(), planted(seed="7"), planted(seed="8")
    folder = shipped_data("synthetic_repos")
    recipes = {name: load_recipe(folder / f"{name}.yaml").secrets.values() for name in default}
    assert default == planted(seed="0") == {name: {one.value for one in all_} for name, all_ in recipes.items()}
    for one, other in ((default, seven), (seven, eight)):
        assert [len(values) for values in one.values()] == [len(values) for values in other.values()]
        assert not set().union(*one.values()) & set().union(*other.values())
    canaries = [{one.value for one in canary_secrets([], seed)} for seed in ("0", "7", "8")]
    assert len(set().union(*canaries)) == sum(map(len, canaries))


@pytest.mark.parametrize("seed", ["-1", "seven", "1" * 19, "1.5", "٣"])
def test_a_seed_is_a_number_or_random(tmp_path: Path, seed: str) -> None:
    with pytest.raises(InputError, match=r"--gitleaks-seed '.*': is neither random nor a number of at most 18 digits"):
        Settings.of(tmp_path, config="builtin", seed=seed)


def test_a_baseline_of_another_seed_is_compared_rule_by_rule_and_place_by_place(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    options = ["--gitleaks-eval", f"--gitleaks-binary={gitleaks('8.30.1')}", "--gitleaks-config=builtin"]
    options.append(shipped_scenarios(pytester.path / "one", "api-keys"))

    def compared() -> Any:
        return json.loads((pytester.path / "gitleaks-eval-results/comparison.json").read_text(encoding="utf-8"))

    saved = pytester.runpytest_subprocess(*options, "--gitleaks-save-baseline=baseline.json")
    assert saved.ret == 0
    document = json.loads((pytester.path / "baseline.json").read_text(encoding="utf-8"))
    assert schema_problems("baseline", document) == []
    assert len(document["coverage"]["rules"]["fires"]) == 222
    again = pytester.runpytest_subprocess(*options, "--gitleaks-baseline=baseline.json", "--gitleaks-seed=7")
    again.stdout.fnmatch_lines(["SAFE  *nothing differs*"])
    (pytester.path / "off.toml").write_text(
        "[extend]\nuseDefault = true\ndisabledRules = ['jwt']\n[[allowlists]]\npaths = ['^k8s/']\n", encoding="utf-8"
    )
    options[2] = "--gitleaks-config=off.toml"
    result = pytester.runpytest_subprocess(*options, "--gitleaks-baseline=baseline.json", "--gitleaks-seed=7")
    assert result.ret == 1
    [pair] = compared()["pairs"]
    assert pair["rules_lost"] == ["jwt"]
    assert pair["places_lost"]
    assert "format:jwt-hs256" in pair["places_lost"]
    assert all(place.startswith(("path:k8s/", "format:")) for place in pair["places_lost"])
    # One that was saved before is read, and says nothing of rules and places.
    del document["coverage"]
    (pytester.path / "baseline.json").write_text(json.dumps(document), encoding="utf-8")
    pytester.runpytest_subprocess(*options, "--gitleaks-baseline=baseline.json")
    [pair] = compared()["pairs"]
    assert pair["rules_lost"] == []
