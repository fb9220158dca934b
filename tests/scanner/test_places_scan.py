"""The map of the usual places, made by real scanners: what was measured of each build is what the map says."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitleaks_eval.config.chain import BUILTIN_CONTENT, ConfigFile, Configuration, copy_configuration, parsed
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.known import PLACES_FILE, measured
from gitleaks_eval.coverage.places.hiding import Hidden
from gitleaks_eval.coverage.places.map import PlacesMap, no_longer_seen
from gitleaks_eval.coverage.places.places import Planted, github_pat
from gitleaks_eval.coverage.places.scan import Look, Sight, ground, look, looking
from gitleaks_eval.coverage.places.survey import SCANNERS_OWN, Asked, OwnRule, reference_with, survey
from gitleaks_eval.repositories.build import empty_repository
from gitleaks_eval.repositories.log import LOG, readable
from gitleaks_eval.scanners import SCANNERS
from gitleaks_eval.scanners.build import probe
from gitleaks_eval.scanners.install import installed_binary
from gitleaks_eval.scanners.scan import Mode, Scan, Scanner
from gitleaks_eval.scenarios.pattern import generate

NEWEST = "gitleaks 8.30.1"
BUILDS = ("gitleaks 8.16.0", "gitleaks 8.18.4", "gitleaks 8.26.0", NEWEST, "betterleaks 1.4.0")
ARCHIVES = ("--max-archive-depth", "2")
SEED = "1"
HISTORY = {"deleted", "side_branch", "orphan", "tag_only", "stash", "note", "remote_ref", "pull_ref"}
IN_HEAD = {"evil_merge", "merge_conflict", "rename_only"}
EVIL = r"""
[extend]
useDefault = true
disabledRules = ["adafruit-api-key", "jwt"]

[[allowlists]]
paths = [
  '(^|/)(src|lib|test|vendor|deploy/k8s|terraform)/',
  '\.(ya?ml|tf|go|js|ts|java|properties|xml|sh|ipynb)$',
]
"""


MEASURED = measured(PLACES_FILE)


@pytest.fixture
def scanner_of(tmp_path: Path) -> Callable[[str], Scanner]:
    config = tmp_path / "builtin.toml"
    config.write_bytes(BUILTIN_CONTENT)

    def scanner(name: str) -> Scanner:
        title, version = name.split()
        build = probe(installed_binary(version, print, SCANNERS[title])[0], "a test")
        return Scanner(build, config, tmp_path, 60, threading.Event())

    return scanner


@pytest.fixture
def newest(scanner_of: Callable[[str], Scanner]) -> Scanner:
    return scanner_of(NEWEST)


def configured(content: str) -> Configuration:
    return Configuration((ConfigFile(Path("/c/own.toml"), content.encode(), "useDefault = true" in content),), "a test")


def seen(scanner: Scanner, *, large: bool = False) -> set[str]:
    return {place.title for place in look(scanner, ground(scanner.mode, SEED, large=large))}


def as_measured(name: str, mode: Mode = "git", *, large: bool = False) -> set[str]:
    asked = {place.title for place in ground(mode, SEED, large=large).secrets}
    return set(MEASURED[f"{name} {mode}"] & asked)


def statuses(made: PlacesMap) -> Counter[str]:
    return Counter(one.status for one in made.placed)


@pytest.mark.parametrize("mode", ["git", "dir"])
@pytest.mark.parametrize("name", BUILDS)
def test_a_build_sees_what_was_measured_the_large_forms_too(
    name: str, mode: Mode, scanner_of: Callable[[str], Scanner]
) -> None:
    assert seen(replace(scanner_of(name), mode=mode), large=True) == as_measured(name, mode, large=True)


def test_archives_and_encodings_are_seen_where_they_are_opened(newest: Scanner) -> None:
    assert seen(replace(newest, args=ARCHIVES)) - seen(newest) == {"form:gzip", "form:zip"}
    files = replace(newest, mode="dir")
    assert seen(replace(files, args=ARCHIVES, decode_depth=5)) - seen(files) == {"form:gzip", "form:zip"}


@pytest.mark.parametrize("name", [NEWEST, "betterleaks 1.4.0"])
def test_a_file_that_is_named_as_an_archive_and_is_none_stops_no_scan_for_archives(
    name: str, scanner_of: Callable[[str], Scanner]
) -> None:
    scanner = replace(scanner_of(name), mode="dir")
    assert seen(replace(scanner, args=ARCHIVES)) - seen(scanner) == {"form:gzip", "form:zip"}


@pytest.mark.parametrize("name", BUILDS)
def test_what_is_staged_is_seen_in_that_mode_only_and_history_is_missed(
    name: str, scanner_of: Callable[[str], Scanner]
) -> None:
    scanner = replace(scanner_of(name), mode="staged")
    history = {f"git:{case}" for case in HISTORY}
    there = {f"git:{case}" for case in {*IN_HEAD, "staged", "symlink_target"}}
    assert seen(scanner) == as_measured(name) - history | there


@pytest.mark.parametrize("name", BUILDS)
def test_diffs_of_merges_are_seen_where_the_log_shows_them(name: str, scanner_of: Callable[[str], Scanner]) -> None:
    on = ground("git", SEED)
    there = readable(on.repository.path, command=(*LOG, "-m"))
    with_merges = replace(on, repository=replace(on.repository, readable=there))
    found = look(replace(scanner_of(name), args=("--log-opts", "--all -m")), with_merges)
    assert {place.title for place in found} == as_measured(name) | {"git:evil_merge", "git:merge_conflict"}


def test_without_decoding_every_encoded_form_is_lost(newest: Scanner) -> None:
    whole = survey(newest, SCANNERS_OWN, Asked(SEED))
    plain = survey(replace(newest, decode_depth=0), SCANNERS_OWN, Asked(SEED))
    encoded = ("base64", "base64x2", "hex", "percent", "unicode_escape")
    assert no_longer_seen(whole, plain) == tuple(f"form:{case}" for case in encoded)
    assert no_longer_seen(plain, whole) == ()


def test_another_seed_plants_other_values_and_makes_the_same_map(newest: Scanner) -> None:
    assert survey(newest, SCANNERS_OWN, Asked("another")) == survey(newest, SCANNERS_OWN, Asked(SEED))


def test_a_configuration_that_allowlists_what_is_usual_hides_232_places_which_its_entries_are_named_for(
    newest: Scanner,
) -> None:
    made = survey(newest, configured(EVIL), Asked(SEED))
    assert statuses(made) == {"seen": 146, "allowlisted": 232, "not_scanned": 59, "not_asked": 5}
    assert {entry.place: len(places) for entry, places in made.hidden.by.items()} == {
        "allowlists[0].paths[0]": 143,
        "allowlists[0].paths[1]": 153,
    }
    assert made.hidden.is_whole
    blamed = {one.place.title: one.blame(Path("/c")) for one in made.placed}
    assert blamed["path:src/a.md"] == "own.toml allowlists[0].paths[0]"
    assert blamed["path:openapi.yaml"] == "own.toml allowlists[0].paths[1]"
    assert blamed["path:src/main.go"] == "own.toml allowlists[0].paths[0] and own.toml allowlists[0].paths[1]"
    assert blamed["path:src/a.png"] == blamed["path:.env"] == ""


@pytest.mark.parametrize("name", BUILDS)
def test_only_folders_that_are_allowlisted_are_hidden_whatever_the_build(
    name: str, scanner_of: Callable[[str], Scanner]
) -> None:
    made = survey(
        scanner_of(name), configured("[extend]\nuseDefault = true\n[allowlist]\npaths = ['^docs?/']"), Asked(SEED)
    )
    assert made.titles("allowlisted") == ("path:docs/x.md", "path:doc/x.md")
    assert set(made.titles("seen")) == as_measured(name) - {"path:docs/x.md", "path:doc/x.md"}


def test_a_rule_that_overrides_the_one_of_the_scanner_is_named_for_what_it_loses(newest: Scanner) -> None:
    own = "[extend]\nuseDefault = true\n[[rules]]\nid = 'github-pat'\nregex = 'ghp_[0-9a-zA-Z]{36}'\npath = '^src/'"
    made = survey(newest, configured(own), Asked(SEED))
    assert {entry.place for entry in made.hidden.by} == {"rules[0]"}
    # Where the token stands behind a name, the generic rule takes over.
    assert {"form:cli", "form:backtick", "form:base64"} <= set(made.titles("allowlisted"))
    assert not [title for title in made.titles("allowlisted") if title.startswith("path:src/")]


def test_rules_that_are_switched_off_together_hide_every_place_and_are_one_entry(newest: Scanner) -> None:
    off = "[extend]\nuseDefault = true\ndisabledRules = ['jwt', 'github-pat', 'generic-api-key']"
    made = survey(newest, configured(off), Asked(SEED))
    assert [entry.place for entry in made.hidden.by] == ["[extend] disabledRules"]
    assert set(made.titles("allowlisted")) == as_measured(NEWEST)


def test_rules_that_hide_only_together_are_both_named(newest: Scanner) -> None:
    def never(rule_id: str) -> str:
        return f"[[rules]]\nid = '{rule_id}'\nregex = 'never'\n"

    both = "[extend]\nuseDefault = true\n" + never("github-pat") + never("generic-api-key") + never("jwt")
    made = survey(newest, configured(both), Asked(SEED))
    blamed = {one.place.title: one.blame(Path("/c")) for one in made.placed if one.status == "allowlisted"}
    # The generic rule finds what stands behind a name.
    assert blamed["form:plain"] == "own.toml rules[0] and own.toml rules[1]"
    assert blamed["form:cli"] == "own.toml rules[0]"
    assert not made.hidden.notes


OWN = """
[[rules]]
id = "acme-token"
regex = 'acme_[a-z0-9]{32}'
keywords = ["acme_"]

[rules.allowlist]
paths = ['^k8s/']
"""


def acme(seed: str) -> Planted:
    return Planted(generate("acme_[a-z0-9]{32}", seed))


def test_where_only_own_rules_are_in_force_one_of_them_gives_the_secret_for_the_reference_as_well(
    newest: Scanner,
) -> None:
    configuration = configured(OWN)
    [rule] = parsed(configuration.chain[0])["rules"]
    made = survey(newest, configuration, Asked(SEED, OwnRule(rule, acme)))
    assert made.titles("allowlisted") == ("path:k8s/secret.yaml",)
    assert made.placed[[one.place.case for one in made.placed].index("k8s/secret.yaml")].hidden_by
    # Nothing but its own rules has a say, so that lock files and images are seen.
    assert {"path:.env", "path:yarn.lock", "path:src/a.png", "form:base64"} <= set(made.titles("seen"))
    assert "form:utf16le" in made.titles("not_scanned")


def test_another_function_may_name_what_hides_and_is_asked_only_where_something_is_hidden(newest: Scanner) -> None:
    asked = []

    def naming(configuration: Configuration, lost: Sight, _: Look) -> Hidden:
        asked.append(configuration)
        return Hidden({}, dict.fromkeys(lost, "somebody"), is_whole=False)

    hiding = configured("[extend]\nuseDefault = true\n[allowlist]\npaths = ['^k8s/']")
    [hidden] = [one for one in survey(newest, hiding, Asked(SEED), naming).placed if one.status == "allowlisted"]
    assert hidden.blame(Path()) == "somebody"
    survey(newest, configured("[extend]\nuseDefault = true"), Asked(SEED), naming)
    assert asked == [hiding]


def test_where_own_rules_find_the_usual_secret_it_stays(newest: Scanner) -> None:
    own = configured("[[rules]]\nid = 'own-pat'\nregex = 'ghp_[0-9a-zA-Z]{36}'\n[allowlist]\npaths = ['^k8s/']")
    made = survey(newest, own, Asked(SEED, OwnRule({"id": "x", "regex": "never"}, acme)))
    assert made.titles("allowlisted") == ("path:k8s/secret.yaml",)


def test_nothing_is_asked_where_no_rule_is_in_force_for_what_is_planted(newest: Scanner) -> None:
    made = survey(newest, configured(OWN), Asked(SEED))
    assert set(statuses(made)) == {"not_asked"}


def test_a_configuration_of_the_scanners_own_is_scanned_once(newest: Scanner, monkeypatch: pytest.MonkeyPatch) -> None:
    scans = []
    scan = Scanner.scan

    def counted(self: Scanner, repository: Path, **more: bool) -> Scan:
        scans.append(repository)
        return scan(self, repository, **more)

    monkeypatch.setattr(Scanner, "scan", counted)
    survey(newest, SCANNERS_OWN, Asked(SEED))
    assert len(scans) == 1


def test_the_reference_of_an_own_rule_is_the_default_with_that_rule_and_without_its_allowlists(
    newest: Scanner, tmp_path: Path
) -> None:
    [rule] = parsed(configured(OWN).chain[0])["rules"]
    reference = reference_with(rule)
    assert "allowlist" not in copy_configuration(reference, tmp_path).read_text(encoding="utf-8")
    found = looking(newest, ground("git", SEED, acme))(reference)
    assert {place.title for place in found} == as_measured(NEWEST)


def test_a_scan_that_has_not_read_the_places_makes_no_map(newest: Scanner, tmp_path: Path) -> None:
    on = ground("git", SEED)
    elsewhere = replace(on.repository, path=tmp_path / "empty")
    empty_repository(elsewhere.path)
    with pytest.raises(EvaluationError, match=r"the map of places: it reports 0 (commits|bytes) scanned"):
        look(newest, replace(on, repository=elsewhere))


def test_a_betterleaks_that_read_less_than_what_it_sees_makes_no_map(
    scanner_of: Callable[[str], Scanner], monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = Scanner.scan

    def short(self: Scanner, repository: Path, **more: bool) -> Scan:
        return replace(scan(self, repository, **more), added_bytes=1000)

    monkeypatch.setattr(Scanner, "scan", short)
    with pytest.raises(EvaluationError, match="it reports 1000 bytes scanned, and git has"):
        look(scanner_of("betterleaks 1.4.0"), ground("git", SEED))


@pytest.mark.parametrize("own", ["builtin", "[extend]\nuseDefault = true\n[allowlist]\npaths = ['^src/']"])
def test_a_scanner_that_finds_nothing_by_itself_makes_no_map(
    own: str, newest: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = Scanner.scan
    monkeypatch.setattr(Scanner, "scan", lambda *given, **more: replace(scan(*given, **more), findings=[]))
    with pytest.raises(EvaluationError, match="does not find the plainest secret with its own configuration"):
        survey(newest, SCANNERS_OWN if own == "builtin" else configured(own), Asked(SEED))


def test_nothing_is_asked_where_the_secret_of_an_own_rule_is_never_found(newest: Scanner) -> None:
    configuration = configured(OWN)
    [rule] = parsed(configuration.chain[0])["rules"]
    made = survey(newest, configuration, Asked(SEED, OwnRule(rule, lambda seed: Planted(f"no-such-{len(seed)}"))))
    assert set(statuses(made)) == {"not_asked"}


def test_an_error_quotes_nothing_that_is_planted(newest: Scanner, monkeypatch: pytest.MonkeyPatch) -> None:
    on = ground("git", SEED)
    value = next(iter(on.secrets.values())).value

    def fails(*_: object, **__: object) -> Scan:
        raise EvaluationError(f"the file {value} cannot be written")

    monkeypatch.setattr(Scanner, "scan", fails)
    with pytest.raises(EvaluationError, match="quotes a planted secret") as error:
        look(newest, on)
    assert error.value.__context__ is None


def test_the_usual_secret_is_found_whatever_its_seed(newest: Scanner) -> None:
    assert len({github_pat(str(seed)).value for seed in range(100)}) == 100
    assert "form:plain" in seen(newest)
