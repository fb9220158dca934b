"""Which entry of a configuration hides a missed secret: with a scan that obeys like Gitleaks, and with Gitleaks."""

import re
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import ConfigFile, Configuration, copy_configuration, parsed
from gitleaks_eval.config.hiding import Hiding, entries, hiding_entries, rule_ids, without
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.repositories.cache import BuiltRepository, built_repository
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.scan import Scanner
from gitleaks_eval.scenarios.places import ANY_RULE, Place
from gitleaks_eval.scenarios.recipe import load_recipe
from gitleaks_eval.scenarios.scenario import ExpectedFinding, Scenario, load_scenarios

DEFAULT = "[extend]\nuseDefault = true\n"
TOKEN = ExpectedFinding("app/token.py", "github-pat", 3)
KEY = ExpectedFinding("deploy/key.pem", "private-key", 1)
ALL = (TOKEN, KEY)


def configured(*contents: str) -> Configuration:
    """A chain of files, named a.toml, b.toml and so on."""
    files = (
        ConfigFile(Path(f"/c/{name}.toml"), content.encode(), "usedefault = true" in content.lower())
        for name, content in zip("abc", contents, strict=False)
    )
    return Configuration(tuple(files), "--gitleaks-config")


@dataclass
class FakeScan:
    """Reports each finding that no path of an allowlist matches and whose rule is not disabled; counts its calls."""

    findings: tuple[ExpectedFinding, ...] = ALL
    calls: int = 0
    fails_at: int = 0

    def __call__(self, configuration: Configuration) -> Collection[Place]:
        self.calls += 1
        if self.calls == self.fails_at:
            raise EvaluationError("it did not end in time")
        return [
            (finding.file_path, finding.line_number, finding.rule_id)
            for finding in self.findings
            if not any(hides(parsed(file), finding) for file in configuration.chain)
        ]


def hides(document: dict[str, Any], finding: ExpectedFinding) -> bool:
    lists = [*document.get("allowlists", []), *([document["allowlist"]] if "allowlist" in document else [])]
    for rule in document.get("rules", []):
        lists += rule.get("allowlists", []) if rule["id"] == finding.rule_id else []
        if rule["id"] == finding.rule_id and rule.get("regex") == "never":
            return True
    criteria = [
        [any(re.search(path, finding.file_path) for path in one.get("paths", []))]
        + ([finding.rule_id in one["stopwords"]] if "stopwords" in one else [])
        for one in lists
    ]
    matched = [
        all(met) if one.get("condition") == "AND" else any(met) for one, met in zip(lists, criteria, strict=True)
    ]
    return any(matched) or finding.rule_id in document.get("extend", {}).get("disabledRules", [])


def texts(configuration: Configuration, scan: FakeScan, *missed: ExpectedFinding, limit: int = 100) -> list[str]:
    found = hiding_entries(missed, configuration, scan, limit)
    return [found[finding].text(Path("/c")) for finding in missed]


def test_an_entry_and_an_overriding_rule_that_hide_the_same_are_both_named() -> None:
    both = f"{DEFAULT}[[rules]]\nid = 'github-pat'\nregex = 'never'\n[allowlist]\npaths = ['^app/', '^deploy/']\n"
    [said] = texts(configured(both), FakeScan(), TOKEN)
    assert said == "hidden by a.toml [allowlist] paths[0] and by a.toml rules[0]"


# --- entries and their places


def test_each_entry_has_the_place_that_people_know_it_by() -> None:
    configuration = configured(
        """
        [extend]
        path = "b.toml"
        disabledRules = ["x", "y"]
        [allowlist]
        description = "tests"
        paths = ["a", "b"]
        commits = ["c"]
        [[rules]]
        id = "r"
        [rules.allowlist]
        regexes = ["z"]
        """,
        """
        [[allowlists]]
        stopwords = ["s", "t"]
        [[rules]]
        id = "q"
        [[rules]]
        id = "r"
        [[rules.allowlists]]
        paths = ["p"]
        [[rules.allowlists]]
        condition = "AND"
        paths = ["p"]
        regexes = ["q"]
        """,
    )
    assert [entry.title(Path("/c")) for entry in entries(configuration)] == [
        "a.toml [allowlist] commits[0]",
        "a.toml [allowlist] paths[0]",
        "a.toml [allowlist] paths[1]",
        "a.toml rules[0].allowlist.regexes[0]",
        "a.toml [extend] disabledRules[0]",
        "a.toml [extend] disabledRules[1]",
        "b.toml allowlists[0].stopwords[0]",
        "b.toml allowlists[0].stopwords[1]",
        "b.toml rules[1].allowlists[0].paths[0]",
        "b.toml rules[1].allowlists[1]",
    ]


def test_entries_are_found_without_regard_to_case_and_as_a_single_text_or_table() -> None:
    written = "[AllowList]\nPATHS = 'a'\n[[Rules]]\nID = 'r'\n[Rules.Allowlists]\nStopWords = ['s']\n"
    found = entries(configured(written + "[Extend]\nDisabledRules = ['x']\n"))
    assert [entry.place for entry in found] == [
        "[AllowList] PATHS",
        "Rules[0].Allowlists.StopWords[0]",
        "[Extend] DisabledRules[0]",
    ]


def test_filters_of_betterleaks_are_entries() -> None:
    written = "prefilter = 'true'\nfilter = 'true'\n[[rules]]\nid = 'r'\nfilter = 'true'\n"
    assert [entry.place for entry in entries(configured(written))] == ["rules[0].filter", "prefilter", "filter"]


def test_only_the_named_entries_are_removed() -> None:
    configuration = configured(f"{DEFAULT}[allowlist]\npaths = ['a', 'b', 'c']\nregexes = ['d']\n", "title = 'kept'\n")
    first, second = (entry for entry in entries(configuration) if entry.place.endswith(("paths[0]", "paths[2]")))
    changed = without(configuration, [first, second])
    assert parsed(changed.chain[0]) == {"extend": {"useDefault": True}, "allowlist": {"paths": ["b"], "regexes": ["d"]}}
    assert changed.chain[1] == configuration.chain[1]
    assert [file.path for file in changed.chain] == [file.path for file in configuration.chain]
    assert len(entries(configuration)) == 4


def test_an_allowlist_that_becomes_empty_is_removed_and_no_other() -> None:
    configuration = configured(
        "[allowlist]\ndescription = 'x'\npaths = ['a']\n[[rules]]\nid = 'r'\n"
        "[[rules.allowlists]]\nstopwords = ['s', 't']\n[[rules.allowlists]]\npaths = ['p']\n"
    )
    changed = without(configuration, entries(configuration))
    assert parsed(changed.chain[0]) == {"rules": [{"id": "r", "allowlists": []}]}
    kept = without(configuration, [entry for entry in entries(configuration) if "stopwords" not in entry.place])
    assert parsed(kept.chain[0])["rules"] == [{"id": "r", "allowlists": [{"stopwords": ["s", "t"]}]}]


def test_what_is_not_removed_survives_being_written_again() -> None:
    regex = r"""(?i)[\w.-]{0,50}?(?:"|'|\s|=|\x60|\n|\t|é|\\){1,5}$"""
    configuration = configured(f"[allowlist]\npaths = ['gone']\nregexes = ['''{regex}''']\n[[rules]]\nentropy = 3.5\n")
    changed = without(configuration, entries(configuration)[:1])
    assert parsed(changed.chain[0]) == {"allowlist": {"paths": [], "regexes": [regex]}, "rules": [{"entropy": 3.5}]}


def test_the_rules_of_the_files_themselves_are_known() -> None:
    written = "[[rules]]\nid = 'one'\n[[rules]]\nID = 'two'\n[[rules]]\nregex = 'x'\n"
    assert rule_ids(configured(written, "[[rules]]\nid = 'three'\n")) == {
        "one",
        "two",
        "three",
    }


# --- the search


def test_the_entry_that_hides_a_secret_is_named() -> None:
    configuration = configured(f"{DEFAULT}[allowlist]\npaths = ['docs/', '^app/', 'test']\n")
    assert texts(configuration, FakeScan(), TOKEN) == ["hidden by a.toml [allowlist] paths[1]"]


def test_entries_that_each_hide_it_are_all_named() -> None:
    configuration = configured(
        "[extend]\npath = 'b.toml'\n[allowlist]\npaths = ['docs/', 'token', '^app/']\n",
        f"{DEFAULT}disabledRules = ['jwt', 'github-pat']\n",
    )
    [text] = texts(configuration, FakeScan(), TOKEN)
    assert text.removeprefix("hidden by ").split(" and by ") == [
        "a.toml [allowlist] paths[1]",
        "a.toml [allowlist] paths[2]",
        "b.toml [extend] disabledRules[1]",
    ]


def test_each_missed_secret_has_its_own_entry() -> None:
    written = (
        f"{DEFAULT}disabledRules = ['private-key']\n[[allowlists]]\npaths = ['x']\n[[allowlists]]\npaths = ['app']\n"
    )
    assert texts(configured(written), FakeScan(), *ALL) == [
        "hidden by a.toml allowlists[1].paths[0]",
        "hidden by a.toml [extend] disabledRules[0]",
    ]


def test_an_allowlist_whose_criteria_must_all_hold_is_named_whole() -> None:
    written = "[[allowlists]]\ncondition = 'AND'\npaths = ['^app/']\nstopwords = ['github-pat']\n"
    assert texts(configured(DEFAULT + written), FakeScan(), TOKEN) == ["hidden by a.toml allowlists[0]"]


def test_nothing_is_claimed_of_a_secret_that_no_entry_brings_back() -> None:
    configuration = configured(f"{DEFAULT}[allowlist]\npaths = ['deploy']\n")
    assert texts(configuration, FakeScan(findings=(KEY,)), *ALL) == [
        "no entry of the configuration hides it",
        "hidden by a.toml [allowlist] paths[0]",
    ]


@pytest.mark.parametrize("line", [0, 3])
def test_of_a_label_that_names_no_rule_no_missing_rule_is_said_to_hide_it(line: int) -> None:
    own = "[[rules]]\nid = 'github-pat'\nregex = 'x'\n"
    any_rule = ExpectedFinding(TOKEN.file_path, ANY_RULE, line)
    assert texts(configured(own), FakeScan(()), any_rule) == ["no entry of the configuration hides it"]
    hidden = configured(f"{own}[allowlist]\npaths = ['app']\n")
    assert texts(hidden, FakeScan(), any_rule) == ["hidden by a.toml [allowlist] paths[0]"]


def test_a_rule_that_is_not_there_is_named_without_a_scan() -> None:
    scan = FakeScan()
    assert texts(configured("[[rules]]\nid = 'private-key'\nregex = 'x'\n"), scan, TOKEN) == [
        "hidden by a.toml [[rules]]: none has the id github-pat"
    ]
    assert scan.calls == 0


def test_a_rule_of_ones_own_in_the_place_of_the_default_one_is_named() -> None:
    written = "[[rules]]\nid = 'other'\nregex = 'x'\n[[rules]]\nid = 'github-pat'\nregex = 'never'\n"
    assert texts(configured(DEFAULT + written), FakeScan(), TOKEN) == ["hidden by a.toml rules[1]"]


def test_a_rule_of_ones_own_that_replaces_none_is_not_looked_at() -> None:
    scan = FakeScan(findings=())
    written = "[[rules]]\nid = 'github-pat'\nregex = 'never'\n"
    assert texts(configured(written), scan, TOKEN) == ["no entry of the configuration hides it"]
    assert scan.calls == 0


def test_of_two_findings_at_one_place_one_that_is_reported_already_does_not_count() -> None:
    written = f"{DEFAULT}[allowlist]\npaths = ['docs/']\n"
    assert texts(configured(written), FakeScan(findings=(TOKEN,)), TOKEN) == ["no entry of the configuration hides it"]


def test_with_the_scanners_own_configuration_there_is_nothing_to_look_for() -> None:
    scan = FakeScan()
    assert texts(Configuration((), "why"), scan, TOKEN) == ["missed with the scanner's own configuration"]
    assert scan.calls == 0


def test_hundreds_of_entries_need_a_few_scans() -> None:
    listed = [f"^no-such-folder-{index}/" for index in range(800)]
    listed[517] = "^app/"
    scan = FakeScan()
    configuration = configured(f"{DEFAULT}[allowlist]\npaths = {listed}\n")
    assert texts(configuration, scan, TOKEN) == ["hidden by a.toml [allowlist] paths[517]"]
    assert scan.calls <= 25


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("disabledRules = ['jwt', 'github-pat']\n", "[extend] disabledRules[1]"),
        ("[[allowlists]]\npaths = ['token.js', '(^|/)app/']\n", "allowlists[0].paths[1]"),
    ],
    ids=["rule", "path"],
)
def test_an_entry_that_names_the_rule_or_the_path_takes_as_few_scans_among_hundreds(more: str, named: str) -> None:
    scan = FakeScan()
    listed = [f"^no-such-folder-{index}/" for index in range(800)]
    configuration = configured(f"{DEFAULT}{more}[allowlist]\npaths = {listed}\n")
    assert texts(configuration, scan, TOKEN) == [f"hidden by a.toml {named}"]
    assert scan.calls <= 6


def test_an_entry_that_names_nothing_is_found_beside_one_that_does() -> None:
    configuration = configured(f"{DEFAULT}disabledRules = ['github-pat']\n[allowlist]\npaths = ['^no', 'x', '^..p/']\n")
    assert texts(configuration, FakeScan(), TOKEN) == [
        "hidden by a.toml [allowlist] paths[2] and by a.toml [extend] disabledRules[0]"
    ]


def test_the_limit_of_scans_is_kept_and_said() -> None:
    scan = FakeScan()
    configuration = configured(f"{DEFAULT}[allowlist]\npaths = {['app'] * 64}\n")
    [text] = texts(configuration, scan, TOKEN, limit=12)
    assert scan.calls == 12
    assert text.startswith("hidden by a.toml [allowlist] paths[0] and by ")
    assert text.endswith("; not known in full what hides it: the limit of scans for one scenario is reached")


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_a_scan_that_fails_claims_nothing(fails_at: int) -> None:
    configuration = configured(f"{DEFAULT}[allowlist]\npaths = ['docs', 'app']\n")
    [text] = texts(configuration, FakeScan(fails_at=fails_at), TOKEN)
    assert "not known in full what hides it: it did not end in time" in text
    # The entry that names a folder of the secret is asked first.
    assert ("paths[1]" in text) == (fails_at == 4)


# --- on the real scanner


@dataclass(frozen=True)
class RealScan:
    scanner: Path
    repository: BuiltRepository
    folder: Path

    def __call__(self, configuration: Configuration) -> Collection[Place]:
        copied = copy_configuration(configuration, self.folder)
        scan = Scanner(probe(self.scanner, "test"), copied, self.folder, 60, threading.Event())
        found = scan.scan(self.repository.path).findings
        return [(finding["File"], finding["StartLine"], finding["RuleID"]) for finding in found]


@pytest.fixture(scope="module")
def cloud() -> tuple[Scenario, BuiltRepository]:
    scenario = next(one for one in load_scenarios(["core"], Path()) if one.name == "cloud-mixed")
    return scenario, built_repository(load_recipe(scenario.recipe), "test")


def hidden(configuration: Configuration, scan: RealScan, scenario: Scenario) -> dict[str, Hiding]:
    reported = set(scan(configuration))
    missed = [
        one for one in scenario.expected.findings if (one.file_path, one.line_number, one.rule_id) not in reported
    ]
    return {finding.fingerprint: why for finding, why in hiding_entries(missed, configuration, scan).items()}


def chosen(folder: Path, **contents: str) -> Configuration:
    for name, content in contents.items():
        (folder / f"{name}.toml").write_text(content, encoding="utf-8")
    return choose_configuration((f"{next(iter(contents))}.toml", folder, "test"), folder, folder)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["8.16.0", "8.18.4", "8.26.0", "8.30.1"])
def test_a_path_that_allowlists_a_planted_secret_is_named(
    version: str, gitleaks: Callable[[str], Path], cloud: tuple[Scenario, BuiltRepository], tmp_path: Path
) -> None:
    scenario, repository = cloud
    configuration = chosen(tmp_path, a=f"{DEFAULT}[allowlist]\npaths = ['^docs/', '^config/gcp_key']\n")
    (tmp_path / "scans").mkdir()
    found = hidden(configuration, RealScan(gitleaks(version), repository, tmp_path / "scans"), scenario)
    texts = {name: why.text(tmp_path) for name, why in found.items() if name.startswith("config/gcp_key.json")}
    assert texts == {
        "config/gcp_key.json:generic-api-key:4": "hidden by a.toml [allowlist] paths[1]",
        "config/gcp_key.json:private-key:5": "hidden by a.toml [allowlist] paths[1]",
    }


@pytest.mark.slow
@pytest.mark.parametrize("version", ["8.26.0", "8.30.1"])
def test_entries_of_every_kind_are_named_in_the_file_they_stand_in(
    version: str, gitleaks: Callable[[str], Path], cloud: tuple[Scenario, BuiltRepository], tmp_path: Path
) -> None:
    scenario, repository = cloud
    configuration = chosen(
        tmp_path,
        a="[extend]\npath = 'b.toml'\n[[allowlists]]\nregexes = ['^never$', '^ghp_']\n"
        "[[rules]]\nid = 'private-key'\nregex = 'never'\nkeywords = ['never']\n",
        b=f"{DEFAULT}disabledRules = ['slack-bot-token']\n[[allowlists]]\nregexTarget = 'line'\n"
        "condition = 'AND'\npaths = ['credentials']\nregexes = ['aws_access_key_id']\n",
    )
    (tmp_path / "scans").mkdir()
    found = hidden(configuration, RealScan(gitleaks(version), repository, tmp_path / "scans"), scenario)
    assert {name: why.text(tmp_path) for name, why in found.items()} == {
        ".aws/credentials:aws-access-token:2": "hidden by b.toml allowlists[0]",
        ".aws/credentials:aws-access-token:6": "hidden by b.toml allowlists[0]",
        ".env.production:slack-bot-token:4": "hidden by b.toml [extend] disabledRules[0]",
        ".env.production:github-pat:7": "hidden by a.toml allowlists[0].regexes[1]",
        "config/gcp_key.json:private-key:5": "hidden by a.toml rules[0]",
    }
