"""Rules that a configuration replaces, and builds that fire less than the version that they state."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from corpus import report

from gitleaks_eval.core.schema import schema_problems
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.scanners.build import probe

pytestmark = pytest.mark.usefixtures("own_environment", "usual_kinds")

KEPT = {"aws-access-token", "generic-api-key", "github-pat", "private-key", "slack-bot-token", "stripe-access-token"}
EXTENDS = "[extend]\nuseDefault = true\n"
ONLY = "--gitleaks-only=rules,entries"
# A program around the real one that drops what is reported of some rules.
FILTER = """\
import json, subprocess, sys
if sys.argv[1:] == ["version"] and {version!r}:
    sys.exit(print({version!r}))
ended = subprocess.run([{real!r}, *sys.argv[1:]]).returncode
if "--report-path" in sys.argv:
    path = sys.argv[sys.argv.index("--report-path") + 1]
    found = json.load(open(path)) or []
    kept = [one for one in found if one["RuleID"] not in {dropped!r}]
    json.dump(kept, open(path, "w"))
    ended = ended if kept or ended != 42 else 0
sys.exit(ended)
"""


@pytest.fixture
def rules(gitleaks: Callable[[str], Path]) -> list[dict[str, Any]]:
    """The rules of 8.30.1, to change and to copy."""
    build = probe(gitleaks("8.30.1"), "a test")
    return [dict(rule) for rule in builtin_document(Path(build.path), build.sha256)["rules"]]


@pytest.fixture
def run(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> Callable[..., pytest.RunResult]:
    """Run with a configuration, and with another program than 8.30.1 if it is named."""

    def of(content: str | None, *options: str, program: Path | None = None) -> pytest.RunResult:
        if content is not None:
            (pytester.path / ".gitleaks.toml").write_text(content, encoding="utf-8")
        binary = program or gitleaks("8.30.1")
        return pytester.runpytest_subprocess("--gitleaks-eval", f"--gitleaks-binary={binary}", ONLY, *options)

    return of


@pytest.fixture
def dropping(pytester: pytest.Pytester, gitleaks: Callable[[str], Path]) -> Callable[..., Path]:
    """A build that holds the rules of 8.30.1 and does not report some of them."""

    def made(*dropped: str, version: str = "") -> Path:
        real = gitleaks("8.30.1")
        folder = pytester.mkdir("faulty")
        (folder / "filter.py").write_text(
            FILTER.format(real=str(real), dropped=dropped, version=version), encoding="utf-8"
        )
        build = probe(real, "a test")
        text = tomli_w.dumps(builtin_document(Path(build.path), build.sha256))
        program = folder / "gitleaks"
        start = f'#!/bin/sh\nexec {sys.executable} -ISB {folder / "filter.py"} "$@"\n'
        program.write_bytes(start.encode() + b"\0" + text.encode() + b"\0")
        program.chmod(0o755)
        return program

    return made


def written(rules: list[dict[str, Any]]) -> str:
    return tomli_w.dumps({"rules": rules})


def junk(rule: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": rule["id"],
        "description": "junk",
        "regex": "junk_([a-z]{3})([a-z]{3})([a-z]{3})",
        "keywords": ["junk_"],
    }


@pytest.mark.parametrize(
    ("replace", "replaced"),
    [
        (lambda rules: written([one if one["id"] in KEPT else junk(one) for one in rules]), 216),
        (
            lambda rules: written([{**one, "path": "^nowhere/"} for one in rules[::3]] + [*rules[1::3], *rules[2::3]]),
            74,
        ),
        (lambda rules: EXTENDS + written([junk(one) for one in rules[1::3]]), 74),
    ],
    ids=["a copy with junk", "a copy with paths", "junk beside it"],
)
def test_a_configuration_that_replaces_rules_with_ones_that_find_nothing_usual_fails_though_all_of_them_fire(
    run: Callable[..., pytest.RunResult],
    rules: list[dict[str, Any]],
    replace: Callable[[list[dict[str, Any]]], str],
    replaced: int,
) -> None:
    result = run(replace(rules), "-q")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAIL  *",
            f"tested: 222 of 222 rules, {222 - replaced} of 222 as the scanner's own*",
            "next: extend the scanner's own configuration *",
            f"FAILED  scanners_rules  * does not find what {replaced} of gitleaks 8.30.1's 222 own rules find: *",
            "FAILED  rule  ?*: replaced, does not find what gitleaks 8.30.1's own rule finds",
            "FAILED  * more rules and entries",
        ]
    )
    result.stdout.no_fnmatch_line("FAILED  rule  github-pat*")


def test_a_rule_that_is_tuned_is_named_on_the_first_screen_and_one_that_finds_as_much_is_not(
    run: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    tuned = (
        f"{EXTENDS}[[rules]]\nid = 'generic-api-key'\nentropy = 7.5\n"
        "[[rules]]\nid = 'gitlab-pat'\nregex = 'glpat-[0-9]{20}'\n[[rules]]\nid = 'jwt'\npath = '^x/'\n"
        "[[rules]]\nid = 'github-pat'\nregex = 'ghp_[0-9a-zA-Z]{30,40}'\nkeywords = ['github']\n"
    )
    result = run(tuned, "-q")
    # All rules fire, and documented formats of tokens are lost.
    assert result.ret == 1
    lost = "FAILED  entry  *:10 rules[[]2[]] jwt: no longer finds jwt-hs256, *"
    result.stdout.fnmatch_lines(["FAIL  *", "tested: * rules, 219 of 222 as the scanner's own*", lost])
    for name in ("generic-api-key", "gitlab-pat", "jwt"):
        said = f"{name}: replaced, does not find what gitleaks 8.30.1's own rule finds"
        result.stdout.fnmatch_lines([f"REPLACED  {said}"])
    result.stdout.no_fnmatch_line("REPLACED  github-pat*")
    document = report(pytester)
    assert schema_problems("report", document) == []
    assert document["coverage"]["scanners_rules"]["replaced"] == ["generic-api-key", "gitlab-pat", "jwt"]


def test_rules_under_other_ids_count_as_not_found_and_those_who_mean_it_accept_that_in_one_step(
    run: Callable[..., pytest.RunResult],
    rules: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Without the rule whose 1,400 stop words are as many entries.
    kept = [one for one in rules if one["id"] in KEPT - {"generic-api-key"}]
    content = written([{**one, "id": f"acme-{one['id']}"} for one in kept])
    result = run(content, "-q")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "tested: 5 of 5 rules, 0 of 222 as the scanner's own*",
            "FAILED  scanners_rules  * 222 are not in force, other rules report what * find; * `gitleaks-eval accept`",
        ]
    )
    monkeypatch.delenv("CI", raising=False)
    accepted = run(content, "--gitleaks-accept", "--gitleaks-yes")
    assert accepted.ret == 0
    result = run(content, "-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS  *", "tested: 5 of 5 rules, 0 of 222 as the scanner's own, accepted*"])


def test_a_copy_of_the_scanners_own_configuration_needs_no_second_set_of_samples(
    run: Callable[..., pytest.RunResult], rules: list[dict[str, Any]]
) -> None:
    result = run(written([{**one, "description": "ours"} for one in rules]), "-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["STRONG_PASS  *", "tested: 222 of 222 rules, *"])
    result.stdout.no_fnmatch_line("*as the scanner's own*")


def test_a_build_that_states_a_known_version_and_does_not_fire_its_rules_fails_and_they_are_named(
    run: Callable[..., pytest.RunResult], dropping: Callable[..., Path], rules: list[dict[str, Any]]
) -> None:
    dropped = [one["id"] for one in rules][::6]
    result = run(None, "-q", program=dropping(*dropped))
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "FAIL  *",
            "tested: 18? of 222 rules (3? never fire: *",
            "next: take another build: 3? rules of the version that it states never fire",
            f"FAILED  rule  {dropped[0]}: never fires, gitleaks 8.30.1 finds it",
        ]
    )


def test_a_build_of_an_unknown_version_that_fires_less_than_the_nearest_known_one_is_weak(
    run: Callable[..., pytest.RunResult], dropping: Callable[..., Path]
) -> None:
    result = run(None, "-q", program=dropping("aws-access-token", version="8.99.0"))
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "WEAK_PASS  *",
            "next: look at what never fires (aws-access-token); *",
            "WEAK  1 rule of gitleaks 8.30.1, the nearest known build, never fire*: aws-access-token",
        ]
    )
    result.stdout.no_fnmatch_line("*nothing to mend*")


def test_what_such_a_build_does_not_fire_is_accepted_for_that_version_alone(
    run: Callable[..., pytest.RunResult],
    dropping: Callable[..., Path],
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    program = dropping("aws-access-token", version="8.99.0")
    accepted = run(None, "--gitleaks-accept", "--gitleaks-yes", program=program)
    assert accepted.ret == 0
    written_there = (pytester.path / ".gitleaks-eval.yaml").read_text(encoding="utf-8")
    assert "entry: 'silent rules of gitleaks 8.99.0', hides: { places: 0, rules: 1" in written_there
    result = run(None, "-q", program=program)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASS  *"])
    result.stdout.no_fnmatch_line("*WEAK*")
    other = run(None, "-q", "--gitleaks-only=entries")
    other.stdout.no_fnmatch_line("*may be deleted*")
