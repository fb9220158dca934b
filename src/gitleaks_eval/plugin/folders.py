"""The folders of our test modules, and which arguments name one of them, or a check of a user's own."""

import ast
from pathlib import Path

from gitleaks_eval.config.names import NAMES
from gitleaks_eval.core.resources import PACKAGE

CHECKS = PACKAGE / "checks"
JUDGES = PACKAGE / "judges"
LINT = PACKAGE / "lint"
FINDINGS = PACKAGE / "findings"
SURVEYS = PACKAGE / "surveys"
# Compared repositories are tests whatever is asked of findings.
REAL = FINDINGS / "test_real_repositories.py"
FOLDERS = (CHECKS, LINT, FINDINGS, SURVEYS, JUDGES)


def is_shipped(argument: str, *folders: Path) -> bool:
    """Return whether an argument (path, node id or dotted name) is one of our test modules, or their folder."""
    name = argument.partition("::")[0]
    path = Path(name).resolve()
    for folder in folders or FOLDERS:
        module = f"gitleaks_eval.{folder.name}"
        if name == module or name.startswith(f"{module}."):
            return True
        if path == folder.resolve() or folder.resolve() in path.parents:
            return True
    return False


def is_ours(nodeid: str) -> bool:
    """Return whether a collected test is one that we ship."""
    return any(f"{PACKAGE.name}/{folder.name}/test_" in nodeid for folder in FOLDERS)


def names_a_check(argument: str) -> bool:
    """Return whether an argument names a check: a shipped module, or a file that holds checks of a user's own."""
    if is_shipped(argument, CHECKS, LINT, FINDINGS, SURVEYS):
        return True
    path = Path(argument.partition("::")[0])
    if path.name in NAMES and path.is_file():
        return True
    if path.suffix != ".py" or not path.is_file():
        return False
    content = path.read_bytes()
    return b"gitleaks_eval" in content and _holds_a_check(content)


def _holds_a_check(content: bytes) -> bool:
    """Return whether it stands in the code, and not in a text."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # pytest will say what is wrong with it.
        return True
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    decorators = (decorator for function in functions for decorator in function.decorator_list)
    return any(isinstance(decorator, ast.Call) and "check" in ast.unparse(decorator.func) for decorator in decorators)
