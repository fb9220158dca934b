"""What holds for the project itself: its history, its layers, its wheel."""

import ast
import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import IN_CORE

from gitleaks_eval.config.chain import BUILTIN_CONTENT

pytestmark = pytest.mark.usefixtures("own_environment")

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src/gitleaks_eval"
PURE = [
    *("analysis", "comparison", "configuration", "envelope", "escaping", "evidence", "git", "matching", "metrics"),
    *("candidates", "config_lint", "config_tables", "corpus", "gitleaks", "hidden", "hiding", "install", "leaks"),
    *("pattern", "real_repository", "recipe", "root", "settings", "suppressions", "user_cache"),
    *("repository", "scanner", "scenario", "schema", "scoring", "secret_kinds", "severity", "workbench"),
]


def imports(module: str) -> set[str]:
    tree = ast.parse((SOURCES / f"{module}.py").read_text(encoding="utf-8"))
    direct = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return direct | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


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


@pytest.mark.parametrize("module", PURE)
def test_pure_modules_do_not_import_pytest(module: str) -> None:
    assert not {name for name in imports(module) if name.split(".")[0] in {"pytest", "_pytest"}}


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.py")), ids=lambda path: path.stem)
def test_no_module_uses_pytests_private_ones(path: Path) -> None:
    assert not {name for name in imports(path.stem) if name.startswith("_pytest")}


def test_the_lower_layers_do_not_import_the_upper_ones() -> None:
    lower = {"scenario", "recipe", "pattern", "repository", "scanner", "analysis", "envelope", "matching", "scoring"}
    upper = {
        "plugin",
        "evaluation",
        "controller",
        "closing",
        "workbench",
        "settings",
        "collection",
        "recorder",
        "fixtures",
    }
    for module in lower:
        ours = {name.removeprefix("gitleaks_eval.") for name in imports(module)}
        assert not ours & upper, module


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has nothing but the wheel, outside of any project."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    environment = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run([python, *pip[1:], "install", wheel], check=True)
    return python


def run(python: Path, folder: Path, *arguments: str) -> tuple[int, list[str]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [python, "-m", "pytest", *arguments], cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    return done.returncode, done.stdout.splitlines()


def hash_of(lines: list[str]) -> str:
    header = next(line for line in lines if line.startswith("gitleaks-eval: "))
    return header.split("| config ")[1].split(" | ")[0]


def test_a_wheel_works_in_an_empty_folder_and_its_node_ids_run_when_pasted_back(
    installed: Path, tmp_path: Path
) -> None:
    status, lines = run(installed, tmp_path, "--gitleaks-eval", "-v")
    assert status == 0, "\n".join(lines)
    assert "STRONG_PASS  17 of 17 expected secrets found, 0 unexpected, canary found  (score 5.00)" in lines
    nodes = [line.split(" ")[0] for line in lines if "::test_" in line]
    assert len(nodes) == IN_CORE
    report = json.loads((tmp_path / "gitleaks-eval-results/evaluation_report.json").read_text(encoding="utf-8"))
    for node in (nodes[0], report["results"][-1]["nodeid"]):
        status, pasted = run(installed, tmp_path, node)
        assert status == 0
        assert any(line.startswith("collected 1 item") for line in pasted)
        assert hash_of(pasted) == hash_of(lines)


def test_a_pasted_node_id_has_the_settings_of_the_full_run(installed: Path, tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / "below").mkdir(parents=True)
    elsewhere.mkdir()
    (project / "strict.toml").write_text("[extend]\nuseDefault = true\n# ours\n", encoding="utf-8")
    node = f"{installed_checks(installed)}/test_rollup.py::test_RV_1_recursive_secrets[api-keys]"
    settings = {
        "pytest.ini": "[pytest]\ngitleaks_config = strict.toml\ngitleaks_version = 8.30.1\n",
        "pyproject.toml": "[tool.pytest]\naddopts = ['--gitleaks-eval', '--gitleaks-config=strict.toml']\n",
    }
    for name, content in settings.items():
        (project / name).write_text(content, encoding="utf-8")
        _, full = run(installed, project, "--gitleaks-eval", "--co")
        for folder, arguments in ((project, [node]), (elsewhere, [node, f"--rootdir={project}"])):
            if name == "pyproject.toml" and folder == elsewhere:
                continue  # a relative path in addopts is relative to the invocation folder, as on the command line
            status, pasted = run(installed, folder, *arguments)
            assert status == 0, "\n".join(pasted)
            assert hash_of(pasted) == hash_of(full)
            assert "strict.toml" in hash_of(full)
        (project / name).unlink()


def test_the_sdist_builds_the_same_wheel(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "install", "--target", tmp_path / "build", "build"], check=True
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "build")}
    out = tmp_path / "dist"
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", out, ROOT], check=True, env=environment, capture_output=True
    )
    (wheel,) = out.glob("*.whl")
    listing = subprocess.run([sys.executable, "-m", "zipfile", "-l", wheel], check=True, capture_output=True, text=True)
    for name in ("ground_truth/edge/merged-branch.json", "synthetic_repos/api-keys.yaml", "checks/test_rollup.py"):
        assert f"gitleaks_eval/{name}" in listing.stdout


def installed_checks(python: Path) -> str:
    code = "import gitleaks_eval.checks as checks; print(checks.__path__[0])"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
