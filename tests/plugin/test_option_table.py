"""One entry of one table is an option: pytest's option, its ini twin, the command's, and a row of docs/options.md."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitleaks_eval.core.resources import PACKAGE
from gitleaks_eval.engine.settings.options import BY_NAME, OPTIONS, Option, as_markdown, grouped

ROOT = Path(__file__).parents[2]
ENTRY = '    Option("moon_phase", "PHASE", "evaluate only in this phase of the moon", "any"),\n'


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package whose table has one more entry."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "gitleaks_eval", ignore=shutil.ignore_patterns("__pycache__"))
    table = folder / "gitleaks_eval/engine/settings/options.py"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("OPTIONS = (\n", f"OPTIONS = (\n{ENTRY}"), encoding="utf-8")
    return folder


def printed(copy: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.parametrize("one", OPTIONS, ids=lambda one: one.name)
def test_each_option_is_one_of_pytests_with_an_ini_twin_if_it_takes_a_value(
    pytester: pytest.Pytester, one: Option
) -> None:
    config = pytester.parseconfig()
    if one.ini_only:
        assert one.setting not in config.option
    else:
        assert config.getoption(one.setting) == (False if one.is_flag else None)
    if one.is_flag:
        with pytest.raises(ValueError, match="unknown configuration value"):
            config.getini(one.setting)
    else:
        assert config.getini(one.setting) == one.ini_default


def test_the_docs_have_the_table() -> None:
    assert "\n".join([*as_markdown(), ""]) == (ROOT / "docs/options.md").read_text(encoding="utf-8"), (
        "run: python -m gitleaks_eval.engine.settings.options > docs/options.md"
    )


def test_each_option_stands_in_one_group_of_a_help_whose_example_is_of_that_group() -> None:
    groups = {group.title: options for group, options in grouped(OPTIONS)}
    assert sorted(one.name for options in groups.values() for one in options) == sorted(one.name for one in OPTIONS)
    for group, options in grouped(OPTIONS):
        assert {name for name, _ in group.example} <= {one.name for one in options}
        assert all(bool(value) != BY_NAME[name].is_flag for name, value in group.example)
    assert [title for title in groups if "judges" not in title] == [
        "what is under test", "what it is asked for", "comparisons", "acceptances", "the run and its reports",
    ]  # fmt: skip


def test_another_option_is_one_more_entry(copy: Path) -> None:
    help_of_pytest = printed(copy, "-m", "pytest", "--help")
    assert "--gitleaks-moon-phase=PHASE" in help_of_pytest
    assert "as --gitleaks-moon-phase: evaluate only in this phase of the moon" in help_of_pytest
    row = "| `--gitleaks-moon-phase=PHASE` | evaluate only in this phase of the moon | any |"
    assert row in printed(copy, "-m", "gitleaks_eval.engine.settings.options")
    assert "--moon-phase PHASE" in printed(copy, "-m", "gitleaks_eval", "run", "--help")
