"""How each scanner reads odd TOML (keys that stand twice, values of other types), and that we read it so."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitleaks_eval.config.chain import ConfigFile, Configuration, parsed
from gitleaks_eval.config.hiding import entries
from gitleaks_eval.config.lint import lint
from gitleaks_eval.config.tables import items, tables, value_of
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.scanners import GITLEAKS, SCANNERS
from gitleaks_eval.scanners.configuration import choose_configuration
from gitleaks_eval.scanners.install import installed_binary

OLD, NEW, BETTER = ("8.16.0", "8.18.4"), ("8.26.0", "8.30.1"), ("1.4.0",)
ALL = (*OLD, *NEW, *BETTER)
DEFAULT = "[extend]\nuseDefault = true\n"
RULE = "[[rules]]\nid = 'own'\nregex = '(own)_[a-z]{8}'\n"
VALUE = "ghp_" + "x9K2mQ7vL4tR8nB3cW6yH" + "sD5sF0aE7gZ2pU8"
EVERYWHERE = {"github-pat": "abc"}


def configured(content: str) -> Configuration:
    return Configuration((ConfigFile(Path("a.toml"), content.encode(), "useDefault = true" in content),), "test")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for name in "abc":
        (folder / name).mkdir()
        text = f'# settings\nthe_token = "{VALUE}"\n# end\nsaid own_abcdefgh\n'
        (folder / name / "settings.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(
    tree: Path, gitleaks: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, str]]:
    """What a version finds with a configuration: the folders, by rule."""

    def ask(version: str, content: str) -> dict[str, str]:
        program = (
            installed_binary(version, print, SCANNERS["betterleaks"])[0] if version in BETTER else gitleaks(version)
        )
        folder = tmp_path_factory.mktemp("asked")
        (folder / "config.toml").write_text(content, encoding="utf-8")
        command = ["detect", "--no-git", "--source", "."] if version in OLD else ["dir", "."]
        given = ["--config", folder / "config.toml", "-f", "json", "-r", folder / "report.json", "--exit-code", "42"]
        line = [str(part) for part in (program, *command, *given)]
        done = subprocess.run(line, check=False, cwd=tree, env=git_environment(), capture_output=True)
        assert done.returncode in {0, 42}, done.stderr
        folders: dict[str, set[str]] = {}
        for finding in json.loads((folder / "report.json").read_bytes()) or []:
            folders.setdefault(finding["RuleID"], set()).add(finding["File"][0])
        return {rule: "".join(sorted(names)) for rule, names in folders.items()}

    return ask


# What is said, who reads it, and what is found then.
CASES = [
    ("[allowlist]\npaths = ['^a/']\n[AllowList]\npaths = ['^b/']\n", ALL, {"github-pat": "ac"}),
    ("[AllowList]\npaths = ['^b/']\n[allowlist]\npaths = ['^a/']\n", ALL, {"github-pat": "ac"}),
    ("[allowlist]\npaths = ['^a/']\nPaths = ['^b/']\n", ALL, {"github-pat": "ac"}),
    ("[allowlist]\npaths = '^a/,^b/'\n", ALL, {"github-pat": "c"}),
    ("[allowlist]\npaths = '^a/, ^b/'\n", ALL, {"github-pat": "bc"}),
    ("[allowlist]\nregexes = 'ghp_[a-zA-Z0-9]{30,40}'\n", ALL, EVERYWHERE),
    ("[allowlist]\nstopwords = [true, 77]\n", ALL, EVERYWHERE),
    ("[allowlist]\nstopwords = 2\n", ALL, {}),
    ("[allowlists]\npaths = ['^a/']\n", OLD, EVERYWHERE),
    ("[allowlists]\npaths = ['^a/']\n", (*NEW, *BETTER), {"github-pat": "bc"}),
]  # fmt: skip
EXTENDING = [
    ("disabledRules = 'generic-api-key,github-pat'\n", OLD, EVERYWHERE),
    ("disabledRules = 'generic-api-key,github-pat'\n", (*NEW, *BETTER), {}),
    ("disabledRules = 'generic-api-key, github-pat'\n", NEW, EVERYWHERE),
    ("disabledRules = ['a']\ndisabledrules = ['github-pat']\n", NEW, EVERYWHERE),
]
RULES = [
    ("[extend]\nuseDefault = 'F'\n" + RULE, ALL, {"own": "abc"}),
    ("[extend]\nuseDefault = '1'\n" + RULE, NEW, {**EVERYWHERE, "own": "abc"}),
    ("[extend]\nuseDefault = true\n[Extend]\ndisabledRules = ['x']\n" + RULE, ALL, {"own": "abc"}),
    (RULE + RULE.replace("rules", "Rules").replace("'own'", "77"), ALL, {"77": "abc"}),
    (RULE + "entropy = '9'\n", NEW, {}),
]


@pytest.mark.parametrize(
    ("content", "version", "expected"),
    [
        (content, version, expected)
        for content, versions, expected in [
            *((DEFAULT + said, versions, expected) for said, versions, expected in [*CASES, *EXTENDING]),
            *RULES,
        ]
        for version in versions
    ],
)
def test_a_scanner_reads_it_so(
    content: str, version: str, expected: dict[str, str], found: Callable[..., dict[str, str]]
) -> None:
    assert found(version, content) == expected


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("[allowlist]\npaths = ['^a/']\n[AllowList]\npaths = ['^b/']\n", ["^b/"]),
        ("[AllowList]\npaths = ['^b/']\n[allowlist]\npaths = ['^a/']\n", ["^b/"]),
        ("[allowlist]\npaths = ['^a/']\nPaths = ['^b/']\n", ["^b/"]),
        ("[allowlist]\npaths = '^a/,^b/'\n", ["^a/", "^b/"]),
        ("[allowlist]\npaths = '^a/, ^b/'\n", ["^a/", " ^b/"]),
        ("[allowlist]\nregexes = 'ghp_[a-zA-Z0-9]{30,40}'\n", ["ghp_[a-zA-Z0-9]{30", "40}"]),
        ("[allowlist]\nstopwords = [true, 77]\n", ["1", "77"]),
        ("[allowlist]\nstopwords = 2\n", ["2"]),
        ("[allowlists]\npaths = ['^a/']\n", ["^a/"]),
        ("[allowlist]\npaths = ''\n", []),
    ],
)
def test_we_read_the_entries_that_it_reads(said: str, texts: list[str]) -> None:
    configuration = configured(DEFAULT + said)
    document = parsed(configuration.chain[0])
    read = []
    for entry in entries(configuration):
        value: Any = document
        for step in entry.address:
            value = value[step]
        read.append(value)
    assert read == texts


def test_we_read_disabled_rules_and_rules_as_it_does() -> None:
    document = parsed(configured(DEFAULT + "disabledRules = 'generic-api-key,github-pat'\n").chain[0])
    [(_, extend)] = tables(document, "extend")
    assert [one for _, one in items(extend, "disabledrules")] == ["generic-api-key", "github-pat"]
    document = parsed(configured(RULE + RULE.replace("rules", "Rules").replace("'own'", "77")).chain[0])
    assert [value_of(rule, "id") for _, rule in tables(document, "rules")] == ["77"]


@pytest.mark.parametrize(
    "said", ["useDefault = 'F'", "useDefault = ''", "useDefault = 0", "useDefault = true\n[Extend]\npath = ''"]
)
def test_a_default_that_the_scanner_does_not_extend_is_not_taken_for_extended(said: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"[extend]\n{said}\n{RULE}", encoding="utf-8")
    chosen = choose_configuration(("a.toml", tmp_path, "test"), tmp_path, tmp_path)
    assert not chosen.chain[0].extends_default


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "[allowlist]\npaths = ['x']\n[AllowList]\npaths = ['y']\n",
            "[AllowList]: the same key as `allowlist` but for its case (lines 1 and 3)",
        ),
        ("[[rules]]\nid = 'a'\nregex = 'x'\nRegex = 'y'\n", "rules[0].Regex: the same key as `regex`"),
        (
            "[extend]\nuseDefault = true\nUseDefault = false\n" + RULE,
            "[extend] UseDefault: the same key as `useDefault`",
        ),
    ],
)
def test_a_key_that_stands_twice_is_named_by_the_lint(content: str, problem: str) -> None:
    found = [f"{one.place}: {one.message}" for one in lint(configured(content), "8.30.1", GITLEAKS.config_keys)]
    assert any(text.startswith(problem) for text in found), found
