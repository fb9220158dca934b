"""What is installed works outside of any project. Here that is the checkout; `nox -s smoke` installs the wheel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import IN_CORE

from gitleaks_eval.plugin.folders import CHECKS

pytestmark = pytest.mark.usefixtures("own_environment")


def run(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout.splitlines()


def hash_of(lines: list[str]) -> str:
    header = next(line for line in lines if "| config " in line)
    return header.split("| config ")[1].split(" | ")[0]


def test_what_is_installed_works_in_an_empty_folder_and_its_node_ids_run_when_pasted_back(tmp_path: Path) -> None:
    status, lines = run(tmp_path, "--gitleaks-eval", "-v")
    assert status == 0, "\n".join(lines)
    assert "STRONG_PASS  17 of 17 expected secrets found, 0 unexpected, canary found" in lines
    assert "documented score 5.00 STRONG_PASS" in lines
    nodes = [line.split(" ")[0] for line in lines if "::test_" in line]
    assert sum(f"{CHECKS}/" in node for node in nodes) == IN_CORE
    report = json.loads((tmp_path / "gitleaks-eval-results/evaluation_report.json").read_text(encoding="utf-8"))
    for node in (nodes[0], report["results"][-1]["nodeid"]):
        status, pasted = run(tmp_path, node)
        assert status == 0
        assert any(line.startswith("collected 1 item") for line in pasted)
        assert hash_of(pasted) == hash_of(lines)


def test_a_pasted_node_id_has_the_settings_of_the_full_run(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / "below").mkdir(parents=True)
    elsewhere.mkdir()
    (project / "strict.toml").write_text("[extend]\nuseDefault = true\n# ours\n", encoding="utf-8")
    node = f"{CHECKS}/test_rollup.py::test_RV_1_recursive_secrets[api-keys]"
    settings = {
        "pytest.ini": "[pytest]\ngitleaks_config = strict.toml\ngitleaks_version = 8.30.1\n",
        "pyproject.toml": "[tool.pytest]\naddopts = ['--gitleaks-eval', '--gitleaks-config=strict.toml']\n",
    }
    for name, content in settings.items():
        (project / name).write_text(content, encoding="utf-8")
        _, full = run(project, "--gitleaks-eval", "--co")
        for folder, arguments in ((project, [node]), (elsewhere, [node, f"--rootdir={project}"])):
            if name == "pyproject.toml" and folder == elsewhere:
                continue  # a relative path in addopts is relative to the invocation folder, as on the command line
            status, pasted = run(folder, *arguments)
            assert status == 0, "\n".join(pasted)
            assert hash_of(pasted) == hash_of(full)
            assert "strict.toml" in hash_of(full)
        (project / name).unlink()
