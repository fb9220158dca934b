"""What a scanner warns of in the expressions of a configuration when it comes to evaluate them."""

import re
import tempfile
from collections.abc import Collection, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from gitleaks_eval.config.chain import Configuration, parsed
from gitleaks_eval.config.lint import Problem
from gitleaks_eval.config.tables import FILTERS, Address, items, place, tables
from gitleaks_eval.core.process import run_limited
from gitleaks_eval.repositories.cache import build_into
from gitleaks_eval.repositories.git import git_environment
from gitleaks_eval.scanners.build import ScannerBuild
from gitleaks_eval.scenarios.recipe import Commit, Part, Recipe

ASK_SECONDS = 30
_WORD = "expression_probe"
_RULE = {"regex": rf"{_WORD}_[0-9]+", "keywords": [_WORD]}
_NAME = "gitleaks-eval-expression-"
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_COMPLAINT = re.compile(r"^.{0,40}?\b(?:WRN|ERR|FTL) (?!leaks found|Disabled rule doesn't exist)(.+)$", re.MULTILINE)
_FIELDS = re.compile(r" (?:path|rule[-_]id|commit)=\S+")
_MISSING = re.compile(r"no such key: ([\w.-]+)")
# The scanner quotes a whole expression, line by line.
_EXCERPT = re.compile(r"(?:\\n|\s)+\|.*")
# What stands in a configuration by value may be a secret itself.
_LIKE_A_SECRET = re.compile(r"[A-Za-z0-9+/_=-]{12,}")
_KEPT, _WORDS_AT_MOST = 4, 300


class _Expression(NamedTuple):
    file: Path
    address: Address
    name: str
    text: str


def ask_expressions(build: ScannerBuild, configuration: Configuration, scratch: Path) -> list[Problem]:
    """Have the scanner evaluate each expression on a finding, and return what it warns of.

    A build may compile an expression only when a finding comes to it, and go on without it.

    Raises:
        EvaluationError: when the scanner cannot be run or does not end.
    """
    found = [expression for expression in _expressions(configuration) if build.adapter.config_keys.variables]
    filters = {f"{_NAME}{index}": one for index, one in enumerate(found) if one.name == "filter"}
    asked: list[tuple[dict[str, Any], dict[str, _Expression]]] = [
        ({"prefilter": one.text, "rules": [{"id": _NAME, **_RULE}]}, {"": one}) for one in found if one.name != "filter"
    ]
    if filters:
        rules = [{"id": rule_id, **_RULE, "filter": one.text} for rule_id, one in filters.items()]
        asked.append(({"rules": rules}, filters))
    problems = []
    for document, about in asked:
        for said in complaints(_log(build, document, scratch)):
            one = next((one for rule_id, one in about.items() if re.search(rf"{rule_id}(?!\d)", said)), None)
            missing = _MISSING.search(said)
            known = " ".join(build.adapter.config_keys.variables.values()).split()
            # What other repositories have may be missing in ours.
            if one and not (missing and missing[1] in known):
                problems.append(Problem(one.file, place(one.address), warned(said)))
    return list(dict.fromkeys(problems))


def complaints(log: str) -> list[str]:
    """Return what the scanner warns of in its log, each once, without what is said of a configuration elsewhere."""
    return list(dict.fromkeys(_COMPLAINT.findall(_ANSI.sub("", log))))


def warned(said: str, rule_id: str | None = None) -> str:
    """Return the words of a scanner that warns, without what they quote of a configuration by value."""
    words = redacted(_EXCERPT.sub("", _FIELDS.sub("", said)), [rule_id] if rule_id else [])
    return f"the scanner warns: {words}"


def redacted(said: str, kept: Collection[str] = ()) -> str:
    """Return words without what looks like a secret and is no word; what is `kept` is shown as it is."""

    def shown(match: re.Match[str]) -> str:
        return match[0] if match[0] in kept or match[0].isalpha() else f"{match[0][:_KEPT]}…"

    text = _LIKE_A_SECRET.sub(shown, said)
    return text if len(text) <= _WORDS_AT_MOST else f"{text[:_WORDS_AT_MOST]}…"


def _expressions(configuration: Configuration) -> Iterator[_Expression]:
    for file in configuration.chain:
        document = parsed(file)
        for above, holder in [((), document), *tables(document, "rules")]:
            for name in FILTERS:
                for below, text in items(holder, name):
                    if isinstance(text, str) and text.strip() and not (above and name != "filter"):
                        yield _Expression(file.path, (*above, *below), name, text)


def _log(build: ScannerBuild, document: dict[str, Any], scratch: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="lint-", dir=scratch) as name:
        folder = Path(name)
        (folder / "config.toml").write_bytes(tomli_w.dumps(document).encode())
        content = (Part(text=f"the_token = {_WORD}_1234567890\n"),)
        commit = Commit(
            message="Ask about expressions",
            author="Expressions <expressions@example.com>",
            date=datetime(2026, 1, 1, tzinfo=timezone.utc),
            write={b"settings.txt": content},
        )
        repository = build_into(folder / "built", Recipe({}, (commit,)), "the lint of expressions")
        done = run_limited(
            [
                build.program,
                "git",
                str(repository.path),
                "--config",
                "config.toml",
                "--log-level",
                "warn",
                "--no-banner",
            ],
            folder,
            {**git_environment(), "TMPDIR": str(folder), "XDG_CONFIG_HOME": str(folder)},
            ASK_SECONDS,
        )
    return done.stderr + done.stdout
