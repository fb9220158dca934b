"""Samples and witnesses shown to real scanners: which rules fire, and what each entry silences."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import Configuration, copy_configuration
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.effective_config import EffectiveConfig, effective_config_of
from gitleaks_eval.coverage.configuration.entries import Entry, entries_of
from gitleaks_eval.coverage.configuration.known import Known, fired_by
from gitleaks_eval.coverage.configuration.layers import Layer, Layers
from gitleaks_eval.coverage.rules.firing import (
    ASKED_ALONE_AT_MOST,
    RULES_AT_MOST,
    TOO_MANY,
    Firing,
    RuleResult,
    ask_rules,
)
from gitleaks_eval.coverage.samples.hidden_values import Found
from gitleaks_eval.coverage.samples.scanner import Findings, SampleScanner
from gitleaks_eval.coverage.samples.silencing import EntryResult, ask_entries, hiders_of
from gitleaks_eval.repositories.cache import BuiltRepository
from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scanners.build import ScannerBuild, probe
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scanners.scan import Scanner, unread

GITLEAKS_VERSIONS = ["8.16.0", "8.18.4", "8.26.0", "8.30.1"]
DEFAULTS = {"8.16.0": 147, "8.18.4": 173, "8.26.0": 211, "8.30.1": 222}
EXTENDS = "[extend]\nuseDefault = true\n"
TEAM = """
[extend]
useDefault = true
disabledRules = ["generic-api-key"]

[[rules]]
id = "acme"
regex = 'acme_[a-z0-9]{32}'
keywords = ["acme_"]

[[rules]]
id = "github-pat"
entropy = 4.9

[[rules]]
id = "gitlab-pat"
regex = 'glpat-[0-9]{20}'
[[rules.allowlists]]
stopwords = ["00000"]

[[allowlists]]
paths = ['(^|/)tests?/', 'node_modules/', '^testdata/keys/', '\\.(png|tfvars)$', '(a+)+x$']
[[allowlists]]
stopwords = ["example", "ghp_"]
[[allowlists]]
regexes = ['^AKIA', '(?i)dummy', '^zz9$']
[[allowlists]]
regexTarget = "line"
regexes = ['nosec', '^#']
[[allowlists]]
commits = ["0123456789012345678901234567890123456789"]
[[allowlists]]
condition = "AND"
paths = ['^fixtures/']
stopwords = ["fake"]
[[allowlists]]
targetRules = ["jwt", "github-pat"]
paths = ['^docs/']
"""


@dataclass(frozen=True)
class Asked:
    """A configuration with a scanner that can be asked about it."""

    subject: EffectiveConfig
    sample_scanner: SampleScanner
    seen: list[Mapping[str, Any]]

    def rules(self) -> dict[str, RuleResult]:
        return {result.rule_id: result for result in ask_rules(self.subject, self.sample_scanner).rules}

    def entries(self) -> dict[str, EntryResult]:
        return {result.entry.text: result for result in ask_entries(self.subject, self.sample_scanner)}


Ask = Callable[..., Asked]


@pytest.fixture
def ask(gitleaks: Callable[[str], Path], tmp_path: Path) -> Ask:
    """Ask a version of Gitleaks (or betterleaks) about a configuration, none for the scanner's own."""

    def asked(content: str | None = None, version: str = "8.30.1", *, better: bool = False, seed: str = "0") -> Asked:
        binary = installed_binary("1.4.0", print, SCANNERS["betterleaks"])[0] if better else gitleaks(version)
        build = probe(binary, "of a test")
        configuration = Configuration((), "of a test")
        if content is not None:
            (tmp_path / "mine.toml").write_text(content, encoding="utf-8")
            configuration = choose_configuration(("mine.toml", tmp_path, "of a test"), tmp_path, tmp_path)
        seen: list[Mapping[str, Any]] = []
        sample_scanner = SampleScanner(_scan(build, configuration, tmp_path, seen), tmp_path, seed)
        return Asked(effective_config_of(configuration, build, seed), sample_scanner, seen)

    return asked


def _scan(
    build: ScannerBuild, configuration: Configuration, folder: Path, seen: list[Mapping[str, Any]]
) -> Callable[[BuiltRepository, Path | None], Findings]:
    (folder / "config").mkdir(exist_ok=True)
    scanner = Scanner(build, copy_configuration(configuration, folder / "config"), folder, 300, threading.Event())

    def scan(repository: BuiltRepository, config: Path | None) -> Findings:
        done = replace(scanner, config=config or scanner.config).scan(repository.path)
        # Betterleaks does not count what is allowed by its path.
        problem = unread(done, repository.readable) if build.name == "gitleaks" else None
        assert problem is None
        seen.extend(done.findings)
        return done.findings

    return scan


@pytest.mark.parametrize("version", GITLEAKS_VERSIONS)
@pytest.mark.parametrize("seed", ["0", "another"])
def test_every_rule_of_the_scanners_own_fires(ask: Ask, version: str, seed: str) -> None:
    asked = ask(version=version, seed=seed)
    rules = asked.rules()
    assert len(rules) == DEFAULTS[version]
    assert {name for name, result in rules.items() if result.status == "fires"} == fired_by(
        Known("gitleaks", version, is_stated=True)
    )
    # One scan as it is, perhaps one of more samples, and one with the rules as they are read from the program.
    assert asked.sample_scanner.scans <= 3


def test_the_rules_of_betterleaks_fire_or_are_part_of_others(ask: Ask) -> None:
    rules = ask(better=True).rules().values()
    statuses = Counter(result.status for result in rules)
    assert statuses["fires"] == len(rules) - statuses["not_sampled"]
    assert {result.rule_id for result in rules if result.status == "fires"} == fired_by(
        Known("betterleaks", "1.4.0", is_stated=True)
    )
    assert {result.reason for result in rules if result.status == "not_sampled"} == {
        "it is part of other rules and never reported by itself"
    }


def test_what_became_of_a_rule_is_said_with_its_reason(ask: Ask) -> None:
    asked = ask(
        EXTENDS
        + """disabledRules = ["jwt"]
[[allowlists]]
paths = ['(^|/)(src|samples|settings)/', '\\.ya?ml$']
stopwords = ["ghp_"]
regexes = ['^glpat-']
[[rules]]
id = "no-such-keyword"
regex = 'acme_[a-z0-9]{32}'
keywords = ["akme_"]
[[rules]]
id = "no-such-entropy"
regex = 'beta_[a-f0-9]{8}'
entropy = 4.5
[[rules]]
id = "too-plain"
regex = 'plain_(?:aaaa|bbbb){12}[a-z]'
entropy = 3
[[rules]]
id = "label"
regex = '\\b[0-9]{12}gg\\b'
keywords = ["gamma"]
[[rules]]
id = "paths-only"
path = '(?i)\\.kdbx$'
[[rules]]
id = "too-long"
regex = 'LONG'
[[rules]]
id = "own-allowlist"
regex = 'dalta_[a-z0-9]{20}'
[[rules.allowlists]]
regexes = ['^dalta']
[[rules]]
id = "shadowed-generic"
regex = 'ghs_[a-zA-Z0-9]{36}'
keywords = ["ghs_"]
""".replace("LONG", "z" + "b{990}" * 21)
    )
    firing: Firing = ask_rules(asked.subject, asked.sample_scanner)
    rules = {result.rule_id: result for result in firing.rules}
    said = {rule_id: (result.status, result.reason) for rule_id, result in rules.items() if result.own}
    assert said == {
        "no-such-keyword": ("never_fires", "keyword: no value of its regex can hold `akme_`"),
        "no-such-entropy": (
            "never_fires",
            "entropy: no value of its regex can be above 4.5 (at most 3.70)",
        ),
        "too-plain": ("not_sampled", "no value of its regex was made whose entropy is above 3"),
        "label": ("fires", ""),
        "paths-only": ("fires", ""),
        "too-long": (
            "not_sampled",
            "its regex: its shortest values are too long to be made (more than 20000 characters)",
        ),
        "own-allowlist": ("allowlisted", ""),
        "shadowed-generic": ("reported_as", "") if rules["shadowed-generic"].reported_as else ("fires", ""),
    }
    assert _hiders(rules["github-pat"]) == ["allowlists[0].stopwords[0]"]
    assert _hiders(rules["gitlab-pat"]) == ["allowlists[0].regexes[0]"]
    assert _hiders(rules["own-allowlist"]) == ["rules[6].allowlists[0].regexes[0]"]
    # Bound to a path that an entry is about; all others are judged at a path that none is about.
    assert _hiders(rules["kubernetes-secret-yaml"]) == ["allowlists[0].paths[1]"]
    assert rules["slack-bot-token"].status == "fires"
    assert [(off.rule_id, off.entry and off.entry.place) for off in firing.switched_off] == [
        ("jwt", "[extend] disabledRules")
    ]
    _nothing_is_told(asked, firing)


KEYS = r"""
[extend]
useDefault = true
[[rules]]
id = "named"
regex = '(acme_db_password)\s*=\s*"([^"]{12,40})"'
secretGroup = 1
[[rules]]
id = "first-group"
regex = '(?i)(dalta_key|dalta_token)=[a-z0-9]{32}'
[[rules]]
id = "value"
regex = '(?i)(sigma_key|sigma_token)=([a-z0-9]{32})'
secretGroup = 2
"""


def test_a_rule_of_the_users_that_reports_the_key_and_not_its_value_does_not_fire(ask: Ask) -> None:
    said = {name: (one.status, one.reason) for name, one in ask(KEYS).rules().items() if one.own}
    assert said == {
        "named": ("never_fires", "reports acme_db_password, not its value"),
        "first-group": ("never_fires", "reports dalta_key, not its value"),
        "value": ("fires", ""),
    }


def _hiders(result: RuleResult) -> list[str]:
    assert result.status == "allowlisted"
    return [entry.place for entry in result.hidden_by]


def _nothing_is_told(asked: Asked, results: object) -> None:
    """No value that was found stands in what is returned, nor in how it is printed."""
    told = repr(results)
    values = {str(finding["Secret"]) for finding in asked.seen if len(str(finding["Secret"])) > 11}
    assert values
    assert [value for value in values if value in told] == []


def test_a_rule_that_something_of_the_scanners_own_hides_says_so(ask: Ask) -> None:
    result = ask(EXTENDS + "[[rules]]\nid = 'aaa'\nregex = '(a{20})b'\n").rules()["aaa"]
    assert result.status == "allowlisted"
    assert [(entry.file, entry.kind) for entry in result.hidden_by] == [(None, "regex")]


@pytest.mark.parametrize("version", GITLEAKS_VERSIONS)
def test_a_chain_of_files_is_asked_as_the_scanner_reads_it(ask: Ask, tmp_path: Path, version: str) -> None:
    base = EXTENDS + "[allowlist]\npaths = ['^docs/']\n[[rules]]\nid = 'base'\nregex = 'base_([a-z]{9})'\n"
    (tmp_path / "base.toml").write_text(base, encoding="utf-8")
    first = "[extend]\npath = 'base.toml'\n[allowlist]\nregexes = ['^mine_', '^base_']\n"
    asked = ask(first + "[[rules]]\nid = 'mine'\nregex = 'mine_[a-z]{9}'\n", version)
    rules = asked.rules()
    assert len(rules) == DEFAULTS[version] + 2
    assert {rule_id for rule_id, result in rules.items() if result.status != "fires"} <= {"mine", "base"}
    assert _hiders(rules["mine"]) == ["[allowlist] regexes[0]"]
    entries = asked.entries()
    assert {text: result.status for text, result in entries.items() if text != "^base_"} == {
        "^docs/": "live",
        "^mine_": "live",
    }
    assert entries["^docs/"].entry.file == tmp_path / "base.toml"


def test_with_disabled_rules_that_a_version_does_not_read_they_fire(ask: Ask) -> None:
    asked = ask('[extend]\nuseDefault = true\ndisabledRules = ["jwt"]\n', "8.18.4")
    assert asked.rules()["jwt"].status == "fires"
    assert ask_rules(asked.subject, asked.sample_scanner).switched_off == ()


def test_few_silent_rules_are_asked_alone_and_the_others_say_so(ask: Ask) -> None:
    rules = [f"[[rules]]\nid = 'r{n}'\nregex = 'acme{n}_[a-z]{{9}}'\nkeywords = ['no.such']\n" for n in range(30)]
    asked = ask("".join(rules))
    assert {result.status for result in asked.rules().values()} == {"never_fires"}
    # One of them with the scanner's own rules, which are not in force here.
    assert asked.sample_scanner.scans <= ASKED_ALONE_AT_MOST + 4


def test_rules_that_are_not_as_they_were_read_are_not_believed(ask: Ask) -> None:
    asked = ask(EXTENDS + "[[rules]]\nid = 'own'\nregex = 'own_[a-z]{9}'\n")
    own = dict(asked.subject.layers[-1].document)
    own["rules"] = own["rules"][:-20]
    wrong = replace(asked.subject, layers=(*asked.subject.layers[:-1], Layer(None, own)))
    firing = ask_rules(wrong, asked.sample_scanner)
    rules = {result.rule_id: result for result in firing.rules}
    assert rules["own"].status == "fires"
    assert rules["github-pat"].status == "not_sampled"
    assert "find other things than it finds itself" in rules["github-pat"].reason == firing.disbelieved
    assert ask_rules(wrong, asked.sample_scanner, believed=True).disbelieved == ""


def test_where_the_scanners_own_rules_cannot_be_read_the_users_are_asked(ask: Ask, tmp_path: Path) -> None:
    asked = ask(EXTENDS + "[[rules]]\nid = 'own'\nregex = 'own_[a-z]{9}'\n")
    script = tmp_path / "wrapper"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    build = ScannerBuild(str(script), "gitleaks", "8.30.1", "", "", "git", 5)
    subject = effective_config_of(asked.subject.configuration, build)
    assert "holds no configuration as plain text" in subject.builtin_problem
    [own] = ask_rules(subject, asked.sample_scanner).rules
    assert (own.rule_id, own.status) == ("own", "fires")


@pytest.mark.parametrize(
    "rule",
    ["regex = '(?=x)y'", "regex = '(a{1000}){1000}'", "regex = 'a'\nsecretGroup = 3", "description = 'nothing'"],
)
def test_a_rule_that_the_scanner_refuses_is_an_error_in_its_words(ask: Ask, rule: str) -> None:
    with pytest.raises(EvaluationError, match="exit code"):
        ask(EXTENDS + f"[[rules]]\nid = 'own'\n{rule}\n").rules()


def test_a_scan_that_does_not_find_our_file_vouches_for_nothing(ask: Ask) -> None:
    asked = ask(EXTENDS + "[allowlist]\npaths = ['^docs/']\n")
    blind = SampleScanner(lambda *_: [], asked.sample_scanner.folder, "0")
    with pytest.raises(EvaluationError, match="did not find the file that vouches"):
        ask_rules(asked.subject, blind)
    with pytest.raises(EvaluationError, match="did not find the file that vouches"):
        ask_entries(asked.subject, blind)


@pytest.mark.parametrize("size", ["rules", "bytes"])
def test_a_huge_configuration_is_asked_as_far_as_there_is_time(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    long = "(?:zz|y" + "q" * 30_000 + ")?" if size == "bytes" else ""
    # A tenth of the real limit: so many rules take ten seconds.
    assert RULES_AT_MOST == 6_000
    monkeypatch.setattr("gitleaks_eval.coverage.rules.firing.RULES_AT_MOST", 600)
    many = 30 if size == "bytes" else 650
    rules = (f"[[rules]]\nid='r{n}'\nregex='own{n}_[a-z0-9]{{9}}{long}'\nkeywords=['own{n}_']\n" for n in range(many))
    statuses = Counter((result.status, result.reason) for result in ask("".join(rules)).rules().values())
    if size == "bytes":
        assert {status for status, _ in statuses} == {"not_sampled"}
        assert all("at most 10000 are read" in said for _, said in statuses)
    else:
        assert statuses["fires", ""] == 600
        assert statuses["not_sampled", TOO_MANY] == 50


def test_what_each_entry_silences_by_itself(ask: Ask) -> None:
    asked = ask(TEAM)
    entries = asked.entries()
    every = len(asked.subject.effective.rules) + 1
    assert {text: result.status for text, result in entries.items() if result.status != "live"} == {
        "node_modules/": "redundant",
        "^zz9$": "no_witness",
        "0123456789012345678901234567890123456789": "no_witness",
    }
    for text in ("(^|/)tests?/", "^testdata/keys/", "\\.(png|tfvars)$", "(a+)+x$"):
        assert (entries[text].silences, entries[text].of, entries[text].ordinary) == (every, every, ())
    for text in ("example", "(?i)dummy", "nosec", "^#", "^fixtures/ AND fake"):
        assert entries[text].silences == entries[text].of > 5
        assert entries[text].ordinary == ()
    assert entries["ghp_"].ordinary == ("github-pat",)
    assert "aws-access-token" in entries["^AKIA"].rules
    assert entries["^docs/"].rules == ("github-pat", "jwt")
    assert entries["00000"].rules == ("gitlab-pat",)
    assert entries["disabledRules"].rules == entries["disabledRules"].ordinary == ("generic-api-key",)
    assert entries["github-pat"].rules == ("github-pat",)
    assert entries["gitlab-pat"].rules == ("gitlab-pat",)
    assert entries["node_modules/"].covered_by
    assert entries["node_modules/"].covered_by.file is None
    # Three of them are of lines: none of the entries, and each of two that look at lines.
    assert asked.sample_scanner.scans <= 11
    _nothing_is_told(asked, entries)


def test_an_entry_that_is_about_usual_values_and_paths_silences_what_it_is_about(ask: Ask) -> None:
    entries = ask(EXTENDS + "[allowlist]\npaths = ['.*']\nregexes = ['^[A-Za-z0-9_-]+$']\n").entries()
    assert len(entries[".*"].ordinary) == 222
    assert len(entries["^[A-Za-z0-9_-]+$"].ordinary) > 100


def test_entries_that_hide_the_same_are_measured_one_by_one(ask: Ask) -> None:
    content = EXTENDS + "[allowlist]\npaths = ['^src/', 'src', 's', '^none/such$']\nstopwords = ['token', 'toke']\n"
    entries = ask(content).entries()
    assert {text: result.status for text, result in entries.items()} == dict.fromkeys(entries, "live")
    assert len(entries) == 6


def test_an_entry_that_the_scanners_own_configuration_covers_in_part_is_live(ask: Ask) -> None:
    # What betterleaks skips by itself is an expression, so that it cannot be foreseen.
    entries = ask(EXTENDS + "[allowlist]\npaths = ['\\.(png|tfvars)$', '\\.png$']\n", better=True).entries()
    assert {text: result.status for text, result in entries.items()} == {
        "\\.(png|tfvars)$": "live",
        "\\.png$": "redundant",
    }


def test_an_override_with_a_higher_entropy_silences_the_rule_that_it_replaces(ask: Ask) -> None:
    entries = ask(
        EXTENDS + "[[rules]]\nid = 'github-pat'\nentropy = 4.9\n[[rules]]\nid = 'jwt'\nentropy = 1\n"
    ).entries()
    assert (entries["github-pat"].silences, entries["github-pat"].of) == (1, 1)
    assert (entries["jwt"].status, entries["jwt"].silences) == ("live", 0)


@pytest.mark.parametrize("version", ["8.18.4", "8.26.0"])
def test_entries_are_measured_as_a_version_reads_them(ask: Ask, version: str) -> None:
    entries = ask(TEAM, version).entries()
    if version == "8.18.4":
        assert sorted(entries) == ["github-pat", "gitlab-pat"]
    else:
        # With targetRules beside [extend], 8.26.0 ignores it.
        assert (entries["^docs/"].status, entries["(^|/)tests?/"].status) == ("dead", "live")


def test_a_thousand_entries_take_few_scans(ask: Ask) -> None:
    paths = ", ".join(f"'^dir{number}/sub/'" for number in range(500))
    stopwords = ", ".join(f"'stop{number}x'" for number in range(500))
    asked = ask(EXTENDS + f"[[allowlists]]\npaths = [{paths}]\n[[allowlists]]\nstopwords = [{stopwords}]\n")
    entries = asked.entries()
    assert len(entries) == 1000
    assert Counter(result.status for result in entries.values()) == {"live": 1000}
    assert asked.sample_scanner.scans <= 22


def test_without_entries_nothing_is_scanned(ask: Ask) -> None:
    asked = ask(EXTENDS)
    assert asked.entries() == {}
    assert asked.sample_scanner.scans == 0


def test_what_hides_a_place_is_found_with_scans_of_the_places(ask: Ask) -> None:
    subject = ask(EXTENDS + "disabledRules = ['jwt']\n[allowlist]\npaths = ['^src/', '\\.png$']\n").subject

    def hidden_with(layers: Layers) -> Sequence[str]:
        kept = {entry.text for entry in entries_of(layers, subject.builtin, subject.dialect)}
        return [place for place, by in (("src/a.py", "^src/"), ("b.png", "\\.png$")) if by in kept]

    places = {path: Found(path, "value", "value", "value") for path in ("src/a.py", "b.png", "c.txt")}
    found: dict[str, list[Entry]] = hiders_of(subject, places, hidden_with)
    assert {place: [entry.text for entry in by] for place, by in found.items()} == {
        "src/a.py": ["^src/"],
        "b.png": ["\\.png$"],
        "c.txt": [],
    }


@pytest.mark.parametrize("entry", ["password", "const", "export", "Authorization", "//", r"^\s+"])
def test_an_entry_that_looks_at_lines_says_how_many_of_them_it_silences(ask: Ask, entry: str) -> None:
    asked = ask(f"{EXTENDS}[allowlist]\nregexTarget = 'line'\nregexes = ['''{entry}''']\n")
    [result] = ask_entries(asked.subject, asked.sample_scanner)
    assert len(result.lines) >= 8
    assert 0 < result.lines_gone <= sum(of for _, _, of in result.lines)


def test_of_many_entries_that_look_at_lines_the_last_is_measured_too(ask: Ask) -> None:
    regexes = ", ".join([*(f"'acme-note-{number}-x'" for number in range(60)), "'password'"])
    asked = ask(f"{EXTENDS}[allowlist]\nregexTarget = 'line'\nregexes = [{regexes}]\n")
    before = asked.sample_scanner.scans
    gone = {result.entry.text: result.lines_gone for result in ask_entries(asked.subject, asked.sample_scanner)}
    assert gone.pop("password") > 0
    assert set(gone.values()) == {0}
    assert asked.sample_scanner.scans - before < 60
