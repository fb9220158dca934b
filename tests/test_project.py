"""What holds for the project itself: its history, and what was installed for real."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitleaks_eval.config.chain import BUILTIN_CONTENT

pytestmark = pytest.mark.usefixtures("own_environment")

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src/gitleaks_eval"


@pytest.mark.parametrize("version", ["8.18.4", "8.30.1"])
def test_no_scanner_finds_anything_in_the_projects_whole_history(
    gitleaks: Callable[[str], Path], tmp_path: Path, version: str
) -> None:
    # A clone has the history and nothing of the checkout: no suppress file beside it is obeyed.
    clone, config, found = tmp_path / "clone", tmp_path / "config.toml", tmp_path / "report.json"
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, clone], check=True)  # noqa: S607 - git is on PATH
    config.write_bytes(BUILTIN_CONTENT)
    command = [str(gitleaks(version)), "detect", "--source", str(clone), "--config", str(config), "-r", str(found)]
    ended = subprocess.run(
        [*command, "--exit-code", "42", "--no-banner"], check=False, cwd=tmp_path, capture_output=True
    )
    findings = [(one["File"], one["StartLine"], one["RuleID"]) for one in json.loads(found.read_text(encoding="utf-8"))]
    assert findings == []
    assert ended.returncode == 0
    assert b" commits scanned" in ended.stderr


@pytest.mark.parametrize("version", ["8.30.1"])
def test_no_scanner_finds_anything_in_the_working_tree(
    gitleaks: Callable[[str], Path], tmp_path: Path, version: str
) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S607 - as above
    tree, config = tmp_path / "tree", tmp_path / "config.toml"
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    config.write_bytes(BUILTIN_CONTENT)
    command = [str(gitleaks(version)), "dir", str(tree), "--config", str(config), "--exit-code", "42", "--verbose"]
    ended = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
