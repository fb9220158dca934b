"""Fixtures that the project's own tests share.

In an editable install pytest reads this file in its users' runs, too: it touches nothing but our own tests.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

CACHE_HOME = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
TESTS = Path(__file__).parent / "tests"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what asks a real model, unless `-m live` names it: a skip would look like a test that ran."""
    if "live" in config.getoption("markexpr"):
        return
    left_out = [item for item in items if TESTS in item.path.parents and item.get_closest_marker("live")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def gitleaks() -> Callable[[str], Path]:
    """The binary of a version of Gitleaks, installed into the user's cache if needed."""
    from gitleaks_eval.scanners.install import installed_binary  # noqa: PLC0415 - not in users' runs

    return lambda version: installed_binary(version, print)[0]


@pytest.fixture
def pytester(pytester: pytest.Pytester) -> pytest.Pytester:
    """Runs under test without a plugin that takes as long to load as all the rest: there are a thousand of them."""
    pytester.plugins.append("no:hypothesispytest")
    return pytester


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer's machine changes what a run under test does.

    pytester moves HOME; the cache stays where it is, or each run would install its scanner anew.
    """
    for name in list(os.environ):
        if name.startswith(("GITLEAKS_", "BETTERLEAKS_", "GITHUB_", "PYTEST_ADDOPTS", "PYTEST_XDIST")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE_HOME))
