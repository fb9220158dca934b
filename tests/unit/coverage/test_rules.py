"""What is in force: the scanner's own rules, the user's files over them, and the entries that can hide something."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from gitleaks_eval import coverage
from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.core.errors import EvaluationError
from gitleaks_eval.coverage.configuration.builtin import builtin_document
from gitleaks_eval.coverage.configuration.entries import DISABLED, PATH, REGEX, STOPWORD, Entry, entries_of
from gitleaks_eval.coverage.configuration.layers import (
    Layers,
    layers_of,
    without,
    without_allowlists,
    write_layers,
)
from gitleaks_eval.coverage.configuration.lines import entry_lines
from gitleaks_eval.coverage.configuration.rules import Dialect, Effective, effective
from gitleaks_eval.coverage.verdict import accepting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NEWEST = Dialect("gitleaks", None)
BUILTIN = """
[allowlist]
paths = ['node_modules/']
stopwords = ['own-word']

[[rules]]
id = "alpha"
regex = 'alpha_[a-z]{8}'
entropy = 2
keywords = ["alpha_"]

[[rules]]
id = "beta"
regex = 'beta_[a-z]{8}'
keywords = ["beta_"]
[[rules.allowlists]]
regexes = ['beta_aaa']
"""
EXTENDS = "[extend]\nuseDefault = true\n"


def builtin() -> dict[str, Any]:
    return tomllib.loads(BUILTIN)


def configured(*contents: str) -> Configuration:
    """A chain of files, the last of which extends the default if it says so."""
    files = [
        ConfigFile(Path(f"file-{index}.toml"), content.encode(), extends_default="useDefault" in content)
        for index, content in enumerate(contents)
    ]
    return Configuration(tuple(files), "of a test")


def stacked(*contents: str) -> Layers:
    return layers_of(configured(*contents), builtin())


def in_force(*contents: str, dialect: Dialect = NEWEST) -> Effective:
    return effective(stacked(*contents), builtin(), dialect)


def listed(*contents: str, dialect: Dialect = NEWEST) -> list[Entry]:
    return entries_of(stacked(*contents), builtin(), dialect)


@pytest.mark.parametrize("path", sorted(Path(coverage.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_nothing_of_it_imports_pytest(path: Path) -> None:
    assert not re.search(r"^\s*(import|from) _?pytest", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_scanners_own_rules_are_read_from_its_program(tmp_path: Path) -> None:
    binary = tmp_path / "scanner"
    decoy = b"no table\n[[rules]] is here\0"
    binary.write_bytes(b"\x7fELF\0\0" + decoy + BUILTIN.encode() + b"\0\0more\0")
    assert builtin_document(binary, "of a test") == builtin()


@pytest.mark.parametrize(
    "other", [b"_%[1]s()\n{\n  x=1\n}\n", b"# zsh\n" * 400 + b"fi\n", b"fi\n" * 9000, b"\x01 \xff\n"]
)
def test_they_are_read_between_other_texts_too(tmp_path: Path, other: bytes) -> None:
    # Go 1.27 puts no NUL between them.
    binary = tmp_path / "scanner"
    for content in (other + BUILTIN.encode(), BUILTIN.encode() + other, other + BUILTIN.encode() + other):
        binary.write_bytes(b"\x7fELF\0\0" + content + b"\0more\0")
        assert builtin_document(binary, str(content)) == builtin()


@pytest.mark.parametrize(
    "other", [b"# a comment that may be theirs\n" * 600, b"#" * 200 + b"\n" + b"# theirs\n" * 1900]
)
def test_where_they_reach_beyond_what_is_looked_at_nobody_says_that_they_are_known(
    tmp_path: Path, other: bytes
) -> None:
    binary = tmp_path / "scanner"
    for content in (b"title = 'x'\n" + other + BUILTIN.encode(), BUILTIN.encode() + other + b"regex = 'x'\n"):
        binary.write_bytes(b"\x7fELF\0\0" + content + b"\0more\0")
        with pytest.raises(EvaluationError, match="no configuration as plain text"):
            builtin_document(binary, str(content))


@pytest.mark.parametrize("content", [b"", b"nothing", b"\0\n[[rules]]\nid = \0", b"\n[[rules]]\nid='x'" + b"y" * 100])
def test_a_program_without_rules_as_text_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    binary = tmp_path / "scanner"
    binary.write_bytes(content)
    with pytest.raises(EvaluationError, match="scanner: its own rules cannot be read"):
        builtin_document(binary, str(binary))
    with pytest.raises(EvaluationError, match="cannot be read"):
        builtin_document(tmp_path / "missing", "")


@pytest.mark.parametrize(
    ("kind", "now", "before", "may_match_more"),
    [
        (PATH, "^src/main/", "^src/", False),
        (PATH, "^src/", "^src/main/", True),
        (REGEX, "acme_[a-z]{4}", "acme_", False),
        (REGEX, "acme_", "acme_[a-z]{4}", True),
        # What cannot be asked, or of which no value can be made, may match anything.
        (REGEX, "acme_", "sha256:0123456789abcdef", True),
        (REGEX, "(a{1000}){1000}", "a", True),
        (REGEX, "acme_", "(", True),
        (STOPWORD, "Acme-Test", "acme", False),
        (STOPWORD, "acme", "acme-test", True),
        (DISABLED, "alpha", "alpha", True),
    ],
)
def test_an_edited_entry_may_match_more_unless_the_one_before_matches_all_that_is_made_of_it(
    kind: str, now: str, before: str, *, may_match_more: bool
) -> None:
    entry = Entry(kind, now, Path("my.toml"), "[allowlist] paths[0]", 0, ("allowlist", "paths", 0))
    assert accepting.may_match_more(entry, before) is may_match_more


def test_without_files_the_scanners_own_rules_are_in_force() -> None:
    found = effective(layers_of(Configuration((), ""), builtin()), builtin(), NEWEST)
    assert [(rule.id, rule.own, rule.entropy) for rule in found.rules] == [("alpha", False, 2), ("beta", False, 0)]
    assert found.switched_off == ()


def test_a_rule_is_merged_with_the_one_that_it_replaces_since_8_20_and_alone_before() -> None:
    mine = EXTENDS + '[[rules]]\nid = "alpha"\nentropy = 4.6\nkeywords = ["more"]\n'
    merged, *_ = in_force(mine).rules
    assert (merged.regex, merged.entropy, merged.keywords) == ("alpha_[a-z]{8}", 4.6, ("alpha_", "more"))
    assert not merged.own
    alone, *_ = in_force(mine, dialect=Dialect("gitleaks", "8.18.4")).rules
    assert (alone.regex, alone.entropy) == ("", 4.6)


def test_disabled_rules_are_off_since_8_23_1_and_what_says_so_is_named() -> None:
    mine = '[extend]\nuseDefault = true\ndisabledRules = ["alpha", "nothing"]\n'
    found = in_force(mine)
    assert [rule.id for rule in found.rules] == ["beta"]
    assert [(off.rule_id, off.layer, off.address) for off in found.switched_off] == [
        ("alpha", 0, ("extend", "disabledRules"))
    ]
    assert in_force(mine, dialect=Dialect("gitleaks", "8.23.0")).switched_off == ()


def test_a_rule_that_nothing_extends_is_off_and_a_copy_is_not_the_users() -> None:
    found = in_force('[[rules]]\nid = "alpha"\nregex = \'alpha_[a-z]{8}\'\nentropy = 2\nkeywords = ["alpha_"]\n')
    assert [(rule.id, rule.own) for rule in found.rules] == [("alpha", False)]
    assert [(off.rule_id, off.layer) for off in found.switched_off] == [("beta", None)]


def test_a_chain_is_put_together_from_its_end() -> None:
    first = '[extend]\npath = "file-1.toml"\ndisabledRules = ["gamma"]\n[[rules]]\nid = "delta"\nregex = "d"\n'
    second = EXTENDS + '[[rules]]\nid = "gamma"\nregex = "g"\n[[rules]]\nid = "beta"\nregex = "b"\n'
    rules = {rule.id: rule for rule in in_force(first, second).rules}
    assert sorted(rules) == ["alpha", "beta", "delta"]
    assert (rules["beta"].regex, rules["beta"].own, rules["delta"].own) == ("b", True, True)
    assert rules["delta"].file == Path("file-0.toml")


def test_keys_are_read_without_regard_to_case_and_nonsense_is_not_a_rule_that_breaks() -> None:
    mine = EXTENDS + '[[rules]]\nID = "gamma"\nRegex = 3\nKeywords = "one"\nEntropy = "high"\nsecretgroup = true\n'
    gamma = next(rule for rule in in_force(mine).rules if rule.id == "gamma")
    assert (gamma.regex, gamma.keywords, gamma.entropy, gamma.secret_group) == ("3", ("one",), 0, 1)


def test_betterleaks_says_the_entropy_as_an_expression() -> None:
    mine = "[[rules]]\nid = \"gamma\"\nregex = \"g\"\nfilter = '''\nentropy(finding[\"secret\"]) <= 3.5\n'''\n"
    [gamma] = in_force(mine, dialect=Dialect("betterleaks", "1.4.0")).rules
    assert gamma.entropy == 3.5


def test_every_kind_of_entry_is_listed_with_its_place_and_line() -> None:
    mine = """[extend]
useDefault = true
disabledRules = ["beta"]
[[rules]]
id = "alpha"
entropy = 4
[[rules.allowlists]]
stopwords = ["mine"]
[[allowlists]]
paths = [
  '^src/',
  "^src\\\\.d/",
]
commits = ["1111111111111111111111111111111111111111"]
regexes = ['^x']
[[allowlists]]
condition = "AND"
paths = ['^docs/']
stopwords = ["sample"]
"""
    found = listed(mine)
    lines = entry_lines(found, configured(mine))
    assert sorted((entry.kind, entry.text, entry.place, lines[entry]) for entry in found) == [
        ("all", "^docs/ AND sample", "allowlists[1]", 18),
        ("commit", "1" * 40, "allowlists[0].commits[0]", 14),
        ("disabled", "disabledRules", "[extend] disabledRules", 3),
        ("override", "alpha", "rules[0]", 5),
        ("path", "^src/", "allowlists[0].paths[0]", 11),
        ("path", "^src\\.d/", "allowlists[0].paths[1]", 12),
        ("regex", "^x", "allowlists[0].regexes[0]", 15),
        ("stopword", "mine", "rules[0].allowlists[0].stopwords[0]", 8),
    ]
    assert {entry.kind: entry.rule_ids for entry in found if entry.rule_ids} == {
        "disabled": ("beta",),
        "override": ("alpha",),
        "stopword": ("alpha",),
    }


def test_what_equals_an_entry_of_the_scanners_own_is_not_the_users() -> None:
    assert listed(BUILTIN) == []
    changed = BUILTIN.replace("'node_modules/'", "'node_modules/', '^src/'").replace("beta_aaa", "beta_")
    assert [entry.text for entry in listed(changed)] == ["^src/", "beta_"]


def test_what_a_version_does_not_read_is_no_entry() -> None:
    mine = EXTENDS + 'disabledRules = ["beta"]\n[[allowlists]]\npaths = ["^src/"]\n'
    assert [entry.kind for entry in listed(mine)] == ["path", "disabled"]
    assert listed(mine, dialect=Dialect("gitleaks", "8.18.4")) == []


def test_entries_are_taken_out_and_nothing_else_is_changed() -> None:
    mine = EXTENDS + "[[allowlists]]\npaths = ['a', 'b', 'c']\n[[allowlists]]\nstopwords = ['d']\n"
    layers = stacked(mine)
    spots = [entry.spot for entry in listed(mine) if entry.text in {"a", "c", "d"}]
    changed = without(layers, spots)
    assert changed[0].document["allowlists"] == [{"paths": ["b"]}]
    assert layers[0].document["allowlists"][0]["paths"] == ["a", "b", "c"]
    assert changed[1] is layers[1]


def test_no_allowlist_is_left_of_anybody() -> None:
    layers = without_allowlists(stacked(EXTENDS + "[allowlist]\npaths = ['a']\n"))
    assert [key for layer in layers for key in layer.document if "allow" in key] == []
    assert [list(rule) for rule in layers[1].document["rules"]][1] == ["id", "regex", "keywords"]


def test_layers_are_written_so_that_each_extends_the_next(tmp_path: Path) -> None:
    layers = stacked('[extend]\npath = "x"\ndisabledRules = ["beta"]\n', EXTENDS + "[[rules]]\nid = 'c'\nregex = 'c'\n")
    first = tomllib.loads(write_layers(layers, tmp_path).read_text(encoding="utf-8"))
    second = tomllib.loads(Path(first["extend"]["path"]).read_text(encoding="utf-8"))
    assert first["extend"]["disabledRules"] == ["beta"]
    assert second["extend"] == {"useDefault": True}
    write_layers(without_allowlists(layers), tmp_path)
    second = tomllib.loads(Path(first["extend"]["path"]).read_text(encoding="utf-8"))
    third = tomllib.loads(Path(second["extend"]["path"]).read_text(encoding="utf-8"))
    assert [rule["id"] for rule in third["rules"]] == ["alpha", "beta"]


def test_toml_that_is_written_is_read_as_it_was() -> None:
    document = {
        "title": "quotes \" ' \\ \n \t \x7f \x00 é 😀",
        "extend": {"useDefault": True, "odd key.with dots": 1.5},
        "rules": [{"id": "a", "keywords": ["x"], "allowlists": [{"paths": [], "n": 1}], "table": {"k": False}}, {}],
        "empty": [],
    }
    assert tomllib.loads(tomli_w.dumps(document)) == document
