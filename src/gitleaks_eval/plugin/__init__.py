"""The pytest plugin: options, and the decision whether there is anything to do.

Without the flag, and without a check named by path or node id, nothing beyond this module is imported.
"""

import re
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Literal

import pytest

from gitleaks_eval.checks.result import CHECK_MARK
from gitleaks_eval.core.resources import PACKAGE

if TYPE_CHECKING:
    from gitleaks_eval.plugin.items import Evaluation

FLAG = "--gitleaks-eval"
JUDGES_FLAG = "--gitleaks-judges"
OURS = "--gitleaks-"
CHECKS = PACKAGE / "checks"
JUDGES = PACKAGE / "judges"
LINT = PACKAGE / "lint"
FINDINGS = PACKAGE / "findings"
FOLDERS = (CHECKS, LINT, FINDINGS, JUDGES)
_DECORATOR = re.compile(rb"^\s*@[\w.]*check\w*\(", re.MULTILINE)
LEFT_ALONE: pytest.StashKey[int] = pytest.StashKey()

_IniType = Literal["string", "int", "float", "bool", "args"]
_CONFIG_HELP = (
    "the configuration under test; `builtin` names the scanner's own"
    " (default: GITLEAKS_CONFIG, else .gitleaks.toml in rootdir, else builtin)"
)
_OPTIONS: tuple[tuple[str, str, _IniType, str], ...] = (
    ("binary", "PATH", "string", "the scanner under test"),
    ("analysis", "DIR", "string", "evaluate the analyses that are there (<scenario>.json) instead of scanning"),
    ("output", "DIR", "string", "where the reports go (default: gitleaks-eval-results under rootdir)"),
    ("scan_timeout", "SECONDS", "float", "a scan that takes longer is an error (default: 300)"),
    ("judge_mode", "MODE", "string", "llm, heuristic (numbers alone) or replay (of a store) (default: llm)"),
    ("judge_model", "MODEL", "string", "the model that judges: a short name or a full id (default: opus-4.5)"),
    ("judge_store", "DIR", "string", "where replies are kept for replay (default: judge-store in the output folder)"),
    ("evaluation_mode", "MODE", "string", "what judges look at: auto, synthetic or real_world (default: auto)"),
    ("only", "KIND,...", "string", "evaluate only these: scenarios, corpora, repos (default: all)"),
    ("baseline", "FILE", "string", "compare with a saved baseline, or a saved evaluation_report.json"),
    ("save_baseline", "FILE", "string", "write this run as a baseline, small and without times, to keep"),
    ("fail_on", "VERDICT", "string", "what fails a comparison: review or regression (default: review)"),
)
_SCENARIOS_HELP = (
    "core (the nine), edge, or a folder with ground_truth/<scenario>.json and synthetic_repos/<scenario>.yaml;"
    " repeatable (default: core)"
)
_VERSION_HELP = "use this version (8.30.1, betterleaks@1.4.0), installing it if needed; repeat it to compare versions"
_REPEATABLE: tuple[tuple[str, str, _IniType, str], ...] = (
    ("version", "[SCANNER@]X.Y.Z", "string", _VERSION_HELP),
    ("config", "FILE", "string", f"{_CONFIG_HELP}; repeat it to compare configurations"),
    ("scenarios", "core|edge|DIR", "args", _SCENARIOS_HELP),
    ("corpus", "KIND:PATH", "args", "a labelled corpus (annotated, report) as a scenario; repeatable"),
    (
        "real_repo",
        "[NAME=]PATH|URL",
        "args",
        "a real repository to evaluate beside, or @FILE with one a line; repeatable",
    ),
)
_INI_ONLY: tuple[tuple[str, _IniType, bool | None, str], ...] = (
    ("severity_policy", "string", None, "a severity policy of your own (JSON file)"),
    ("judge_timeout", "float", None, "the total time for one verdict, in seconds (default: 120)"),
    ("judge_max_calls", "int", None, "how many questions a run may put to the model (default: 40)"),
    ("judge_low_confidence", "string", None, "a confidence below 0.7: flag, exclude or cap (default: flag)"),
    ("judge_pass_score", "float", None, "a judge's test passes at this score, 1 to 5 (default: 3)"),
    ("judge_prompts", "string", None, "a folder of own prompts, <dimension>.md"),
    ("judge_trace_id", "string", None, "the id that links the calls of a run (default: a new one)"),
    ("judge_observability", "bool", True, "write judges.jsonl, a line a call (default: true)"),
    ("judge_real_paths", "bool", False, "show judges the paths of real repositories (default: false)"),
)
WITH_VALUE = frozenset(f"{OURS}{name.replace('_', '-')}" for name, *_ in (*_OPTIONS, *_REPEATABLE))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their ini twins."""
    group = parser.getgroup("gitleaks-eval", "gitleaks-eval: is this Gitleaks fit for use?")
    group.addoption(FLAG, action="store_true", help="run the evaluation: collects the shipped checks")
    group.addoption(JUDGES_FLAG, action="store_true", help="run the LLM judges, alone or after the checks")
    group.addoption(
        "--gitleaks-compare", action="store_true", help="compare the candidates of pyproject.toml in rootdir"
    )
    group.addoption(
        "--gitleaks-findings",
        action="store_true",
        help="also a test for each expected finding, and for unexpected ones",
    )
    for name, metavar, ini_type, text in _OPTIONS:
        option = f"{OURS}{name.replace('_', '-')}"
        group.addoption(option, metavar=metavar, dest=f"gitleaks_{name}", help=text)
        parser.addini(f"gitleaks_{name}", f"as {option}: {text}", type=ini_type, default=None)
    for name, metavar, ini_type, text in _REPEATABLE:
        option = f"{OURS}{name.replace('_', '-')}"
        group.addoption(option, metavar=metavar, dest=f"gitleaks_{name}", action="append", help=text)
        parser.addini(f"gitleaks_{name}", f"as {option}: {text}", type=ini_type, default=None)
    for name, kind, default, text in _INI_ONLY:
        parser.addini(f"gitleaks_{name}", text, type=kind, default=default)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks that users may implement."""
    from gitleaks_eval.plugin import hookspecs  # noqa: PLC0415 - as pytest's own plugins do it

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Let the flag collect the shipped checks, beside the files and folders that are named."""
    known = early_config.known_args_namespace
    added: list[str] = []
    if known.gitleaks_eval or known.gitleaks_judges:
        from gitleaks_eval.plugin.arguments import added_arguments, begin_early  # noqa: PLC0415 - only when asked for

        added = added_arguments(early_config, known.file_or_dir)
        begin_early(early_config, added)
    if _has_options(early_config):
        from gitleaks_eval.plugin.command_line import refuse_misread  # noqa: PLC0415 - only when one of ours is there

        refuse_misread(early_config)
    args.extend(added)


def pytest_configure(config: pytest.Config) -> None:
    """Take part if the flag or a named check asks for it."""
    config.addinivalue_line(
        "markers", f"{CHECK_MARK}(id, name, category): a check of gitleaks-eval (set by its decorator)"
    )
    config.addinivalue_line("markers", "llm_judge: a judge of gitleaks-eval, one test a dimension")
    if config.getoption("help", default=False):
        return
    named = config.getoption("file_or_dir")
    checks = config.getoption("gitleaks_eval") or any(map(names_a_check, named))
    judges = config.getoption("gitleaks_judges") or any(is_shipped(argument, JUDGES) for argument in named)
    if checks or judges:
        from gitleaks_eval.plugin import items as evaluation  # noqa: PLC0415 - loaded only when asked for

        evaluation.activate(config, checks=checks, judges=judges)
    elif _has_options(config):
        from gitleaks_eval.plugin.command_line import refuse_without_flag  # noqa: PLC0415 - only when one of ours is there

        refuse_without_flag(config)


def _has_options(config: pytest.Config) -> bool:
    """Whether any option of ours has been given, on the command line or in addopts."""
    known = vars(config.known_args_namespace)
    return any(value not in (None, False) for name, value in known.items() if name.startswith("gitleaks_"))


def is_shipped(argument: str, *folders: Path) -> bool:
    """Whether an argument (path, node id or dotted name) is one of our test modules, or their folder."""
    name = argument.partition("::")[0]
    path = Path(name).resolve()
    for folder in folders or FOLDERS:
        module = f"gitleaks_eval.{folder.name}"
        if name == module or name.startswith(f"{module}."):
            return True
        if path == folder.resolve() or folder.resolve() in path.parents:
            return True
    return False


def names_a_check(argument: str) -> bool:
    """Whether an argument names a check: a shipped module, or a file that holds checks of a user's own."""
    if is_shipped(argument, CHECKS, LINT, FINDINGS):
        return True
    path = Path(argument.partition("::")[0])
    if path.suffix != ".py" or not path.is_file():
        return False
    content = path.read_bytes()
    return b"gitleaks_eval" in content and _DECORATOR.search(content) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the shipped checks alone in a run that did not ask for them, also in our own checkout."""
    evaluation = _evaluation(config)
    folder = collection_path if collection_path in FOLDERS else collection_path.parent
    if folder not in FOLDERS:
        return None
    return None if evaluation is not None and evaluation.collects(folder) else True


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Leave a user's own checks alone in a run that did not ask for them."""
    evaluation = _evaluation(collector.config)
    if not isinstance(obj, FunctionType) or (evaluation is not None and evaluation.checks):
        return None
    marked = any(mark.name == CHECK_MARK for mark in getattr(obj, "pytestmark", ()))
    if not marked and collector.get_closest_marker(CHECK_MARK) is None:
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
