"""The line in which an entry stands, however the file is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.coverage.configuration.entries import entries_of
from gitleaks_eval.coverage.configuration.layers import layers_of
from gitleaks_eval.coverage.configuration.lines import entry_lines
from gitleaks_eval.coverage.configuration.rules import Dialect

FORMS = {
    "a comment that quotes it": "# '''^deploy/''' is what hides it\n[allowlist]\npaths = ['''^deploy/''']  # HERE\n",
    "a comment behind a value": "[extend]\nuseDefault = true # '^deploy/'\n[allowlist]\npaths = ['^deploy/']  # HERE\n",
    "a text over lines": 'title = """\npaths = [\'^deploy/\']\n"""\n[allowlist]\npaths = [\'^deploy/\']  # HERE\n',
    "quoted keys": "# '^deploy/'\n[\"allowlist\"]\n'paths' = ['^deploy/']  # HERE\n",
    "a key with an escape": "# '^deploy/'\n[\"allow\\u006cist\"]\npaths = ['^deploy/']  # HERE\n",
    "an inline table": "# '^deploy/'\nallowlist = { description = 'x', paths = ['^deploy/'] }  # HERE\n",
    "a list over lines": "# '^deploy/'\n[allowlist]\npaths = [\n  # '^deploy/',\n  '^deploy/',  # HERE\n]\n",
    "a dotted key": "# '^deploy/'\nallowlist.paths = ['^deploy/']  # HERE\n",
    "another case": "# '^deploy/'\n[AllowList]\nPaths = ['^deploy/']  # HERE\n",
    "a text of commas": "# '^deploy/'\n[allowlist]\npaths = '^deploy/,^x$'  # HERE\n",
    "another kind before it": "[[rules]]\nid = 'a'\nregex = '^deploy/'\n[allowlist]\npaths = ['^deploy/']  # HERE\n",
    "a condition": "# '^deploy/'\n[[allowlists]]\ncondition = 'AND'\npaths = ['^deploy/']  # HERE\nstopwords = ['x']\n",
    "a rule that replaces another": "# id = 'own'\n[[rules]]\nregex = 'id = \"own\"'\nid = 'own'  # HERE\n",
    "a switch": "# disabledRules = ['own']\n[extend]\nuseDefault = true\ndisabledRules = ['own']  # HERE\n",
}


def lines_of(content: str) -> list[int]:
    file = ConfigFile(Path("/my.toml"), content.encode(), extends_default=True)
    configuration = Configuration((file,), "")
    builtin = {"rules": [{"id": "own", "regex": "own"}]}
    entries = entries_of(layers_of(configuration, builtin), builtin, Dialect("gitleaks", None))
    return list(entry_lines(entries, configuration).values())


@pytest.mark.parametrize("ends", [str, lambda text: text.replace("\n", "\r\n")], ids=["lf", "crlf"])
@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_an_entry_stands_where_it_is_written_and_not_where_it_is_quoted(
    content: str, ends: Callable[[str], str]
) -> None:
    here = [number for number, line in enumerate(content.splitlines(), 1) if "# HERE" in line]
    assert set(lines_of(ends(content))) == set(here)


def test_the_same_pattern_twice_has_two_lines() -> None:
    assert lines_of("[[allowlists]]\npaths = ['^a/', '^b/']\n[[allowlists]]\npaths = [\n'^a/',\n'^b/']\n") == [
        2,
        2,
        5,
        6,
    ]
    assert lines_of(
        "# '^a/'\n[[allowlists]]\npaths = ['^a/']\ntargetRules = ['own']\n[allowlist]\nregexes = ['^a/']\n"
    ) == [6, 3]
