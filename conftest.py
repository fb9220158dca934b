"""Fixtures that the project's own tests share.

In an editable install pytest reads this file in its users' runs, too: it touches nothing but our own tests.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from forks import Forks

CACHE_HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
TESTS = Path(__file__).parent / "tests"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a model, a network or a browser, unless `-m` names it: a skip would look like a test."""
    unnamed = [marker for marker in ("live", "install", "browser") if marker not in config.getoption("markexpr")]
    ours = [item for item in items if TESTS in item.path.parents]
    left_out = [item for item in ours if any(map(item.get_closest_marker, unnamed))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def gitleaks() -> Callable[[str], Path]:
    """The binary of a version of Gitleaks, installed into the user's cache if needed."""
    from gitleaks_eval.scanners.install import installed_binary  # noqa: PLC0415 - not in users' runs

    return lambda version: installed_binary(version, print)[0]


@pytest.fixture(scope="session")
def forks() -> "Forks":
    """The process that the runs under test are forked from."""
    from forks import shared  # noqa: PLC0415 - not in users' runs

    return shared()


@pytest.fixture
def pytester(pytester: pytest.Pytester, forks: "Forks", monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Runs under test in a process that was forked, where that is the same to them: there are a thousand of them.

    They leave out two plugins that take as long to load as all the rest.
    """
    popen = pytester.popen

    def forked(command: Sequence[str], stdout: Any, stderr: Any, stdin: Any) -> Any:
        paths = filter(None, (str(Path.cwd()), os.environ.get("PYTHONPATH")))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        if stdin is pytester.CLOSE_STDIN and forks.can_run(command, environment):
            return forks.start(command, Path.cwd(), environment, stdout, stderr)
        return popen(command, stdout, stderr, stdin)

    monkeypatch.setattr(pytester, "popen", forked)
    pytester.plugins += ["no:hypothesispytest", "no:anyio"]
    return pytester


@pytest.fixture
def python_of_its_own(forks: "Forks", monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs under test that look at what was imported, and by whom, are forked from nothing."""
    monkeypatch.setattr(forks, "can_run", lambda *_: False)


@pytest.fixture
def usual_kinds(forks: "Forks", monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs under test evaluate what a user's do where nothing is said: rules, places and entries, too."""
    monkeypatch.setattr(forks, "narrowed", [])


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's machine changes what a run under test does.

    pytester moves HOME; the cache stays where it is, or each run would install its scanner anew.
    """
    for name in list(os.environ):
        if name.startswith(("GITLEAKS_", "BETTERLEAKS_", "GITHUB_", "PYTEST_ADDOPTS", "PYTEST_XDIST")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE_HOME))
