"""The pytest plugin: options, and the decision whether there is anything to do.

Without the flag, and without a check named by path or node id, nothing beyond this module is imported.
"""

import re
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Literal

import pytest

from gitleaks_eval import marks

if TYPE_CHECKING:
    from gitleaks_eval.evaluation import Evaluation

FLAG = "--gitleaks-eval"
CHECKS = Path(__file__).parent / "checks"
SHIPPED = "gitleaks_eval.checks"
_DECORATOR = re.compile(rb"^\s*@[\w.]*check\w*\(", re.MULTILINE)
LEFT_ALONE: pytest.StashKey[int] = pytest.StashKey()

_CONFIG_HELP = (
    "the configuration under test; `builtin` names the scanner's own"
    " (default: GITLEAKS_CONFIG, else .gitleaks.toml in rootdir, else builtin)"
)
_OPTIONS: tuple[tuple[str, str, Literal["string", "float"], str], ...] = (
    ("binary", "PATH", "string", "the scanner under test"),
    ("version", "[SCANNER@]X.Y.Z", "string", "use this version (8.30.1, betterleaks@1.4.0), installing it if needed"),
    ("config", "FILE", "string", _CONFIG_HELP),
    ("analysis", "DIR", "string", "evaluate the analyses that are there (<scenario>.json) instead of scanning"),
    ("output", "DIR", "string", "where the reports go (default: gitleaks-eval-results under rootdir)"),
    ("scan_timeout", "SECONDS", "float", "a scan that takes longer is an error (default: 300)"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their ini twins."""
    group = parser.getgroup("gitleaks-eval", "gitleaks-eval: is this Gitleaks fit for use?")
    group.addoption(FLAG, action="store_true", help="run the evaluation: collects the shipped checks")
    for name, metavar, ini_type, text in _OPTIONS:
        option = f"--gitleaks-{name.replace('_', '-')}"
        group.addoption(option, metavar=metavar, dest=f"gitleaks_{name}", help=text)
        parser.addini(f"gitleaks_{name}", f"as {option}: {text}", type=ini_type, default=None)
    scenarios = (
        "core (the nine), edge, or a folder with ground_truth/<scenario>.json and"
        " synthetic_repos/<scenario>.yaml; repeatable (default: core)"
    )
    group.addoption(
        "--gitleaks-scenarios",
        metavar="core|edge|DIR",
        dest="gitleaks_scenarios",
        action="append",
        help=scenarios,
    )
    parser.addini("gitleaks_scenarios", f"as --gitleaks-scenarios: {scenarios}", type="args", default=[])
    parser.addini("gitleaks_severity_policy", "a severity policy of your own (JSON file)", type="string", default=None)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Let the flag collect the shipped checks, beside the files and folders that are named."""
    known = early_config.known_args_namespace
    if known.gitleaks_eval:
        from gitleaks_eval.collection import added_arguments  # noqa: PLC0415 - only when asked for

        args.extend(added_arguments(early_config, known.file_or_dir))


def pytest_configure(config: pytest.Config) -> None:
    """Take part if the flag or a named check asks for it."""
    config.addinivalue_line(
        "markers", f"{marks.CHECK_MARK}(id, name, category): a check of gitleaks-eval (set by its decorator)"
    )
    if config.getoption("help", default=False):
        return
    named = config.getoption("file_or_dir")
    if config.getoption("gitleaks_eval") or any(map(names_a_check, named)):
        from gitleaks_eval.evaluation import activate  # noqa: PLC0415 - only when asked for

        activate(config)


def is_shipped(argument: str) -> bool:
    """Whether an argument (path, node id or dotted name) is one of our modules, or their folder."""
    name = argument.partition("::")[0]
    if name == SHIPPED or name.startswith(f"{SHIPPED}."):
        return True
    path = Path(name).resolve()
    return path == CHECKS.resolve() or CHECKS.resolve() in path.parents


def names_a_check(argument: str) -> bool:
    """Whether an argument names a check: a shipped module, or a file that holds checks of a user's own."""
    if is_shipped(argument):
        return True
    path = Path(argument.partition("::")[0])
    if path.suffix != ".py" or not path.is_file():
        return False
    content = path.read_bytes()
    return b"gitleaks_eval" in content and _DECORATOR.search(content) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the shipped checks alone in a run that did not ask for them, also in our own checkout."""
    return True if collection_path == CHECKS and _evaluation(config) is None else None


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Leave a user's own checks alone in a run that did not ask for them."""
    if not isinstance(obj, FunctionType) or _evaluation(collector.config) is not None:
        return None
    marked = any(mark.name == marks.CHECK_MARK for mark in getattr(obj, "pytestmark", ()))
    if not marked and collector.get_closest_marker(marks.CHECK_MARK) is None:
        return None
    collector.config.stash[LEFT_ALONE] = collector.config.stash.get(LEFT_ALONE, 0) + 1
    return []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """Say why a run that has only checks, and did not ask for them, has no tests."""
    left = config.stash.get(LEFT_ALONE, 0)
    if left and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        terminalreporter.write_line(f"gitleaks-eval: {left} checks were left alone; add {FLAG} to run them")


def _evaluation(config: pytest.Config) -> "Evaluation | None":
    evaluation: Evaluation | None = config.pluginmanager.get_plugin("gitleaks_eval_evaluation")
    return evaluation
