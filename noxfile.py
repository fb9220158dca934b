"""The project's sessions: `nox` runs tests, lint and typecheck; the others are named."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml("pyproject.toml")
# The classifiers say what is run here, and nothing else.
PYTHONS = nox.project.python_versions(PYPROJECT)
OLDEST_PYTEST = f"pytest=={PYPROJECT['tool']['pytest']['minversion']}"
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"

# How the plugin meets pytest.
OUTCOMES = "tests/plugin/test_outcomes.py"
# What depends on the version of Python, and on nothing that only developers install; within half a minute.
# What is computed alone (checks, scores, judges) is the same on each, and `unit` runs it on the oldest and the newest.
SMOKE = f"""\
tests/plugin/test_installed.py::test_what_is_installed_works_in_an_empty_folder_and_its_node_ids_run_when_pasted_back
{OUTCOMES} tests/unit/analysis/test_analyse.py tests/unit/analysis/test_envelope.py
tests/unit/config/test_chain.py tests/unit/core/test_documents.py tests/unit/core/test_private_folder.py
tests/unit/core/test_process.py tests/unit/core/test_text.py tests/unit/engine/test_candidates.py
tests/unit/repositories/test_build.py tests/unit/scenarios/test_pattern.py
tests/unit/scenarios/test_recipe.py tests/unit/scenarios/test_scenario.py tests/unit/scenarios/test_secrets.py
""".split()


def _there() -> list[str]:
    """Those of our Pythons that start on this machine, the oldest first."""
    if pyenv := shutil.which("pyenv"):
        # Its shims start only what is switched on; what comes first is still what `python3` means.
        switched_on, installed = (
            subprocess.run([pyenv, *asked], capture_output=True, text=True, check=True).stdout.split()
            for asked in (["version-name"], ["versions", "--bare"])
        )
        os.environ["PYENV_VERSION"] = ":".join([*switched_on, *installed])
    starts = [name for name in PYTHONS if _starts(f"python{name}")]
    return starts or [RUNNING]


def _starts(program: str) -> bool:
    # A shim may be there for what is not.
    return (
        bool(shutil.which(program))
        and subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0
    )


THERE = _there()
# Where a project breaks first: what an older one lacks, and what a newer one took away.
EDGES = list(dict.fromkeys((THERE[0], THERE[-1])))

nox.options.sessions = ["tests", "lint", "typecheck"]
nox.options.error_on_missing_interpreters = True


def _say_what_is_not_there(session: nox.Session) -> None:
    if missing := [name for name in PYTHONS if name not in THERE]:
        session.warn(f"not run, because they are not here: Python {', '.join(missing)}")


@nox.session(python=THERE)
def tests(session: nox.Session) -> None:
    """Run the project's own tests on each Python that is there."""
    _say_what_is_not_there(session)
    session.install("-e", ".[dev]")
    session.run("pytest", *session.posargs)


@nox.session(python=EDGES)
def unit(session: nox.Session) -> None:
    """Run unit tests, and the plugin's outcomes, on the oldest Python, with the oldest pytest, and on the newest."""
    _say_what_is_not_there(session)
    session.install("-e", ".[unit]", *([OLDEST_PYTEST] if session.python == EDGES[0] else []))
    session.run("pytest", "--version")
    # On the same examples: what differs is the Python.
    named = session.posargs or ["-m", "not slow", "tests/unit", OUTCOMES]
    session.run("pytest", "--hypothesis-profile=ci", *named)


# Where there is no other Python, the wheel is still something else than `tests` runs.
@nox.session(python=[name for name in THERE if name not in {*EDGES, RUNNING}] or THERE[-1:])
def smoke(session: nox.Session) -> None:
    """Run what takes half a minute, from a wheel, on the other Pythons."""
    _say_what_is_not_there(session)
    session.install(".", "pytest-xdist")
    session.run("pytest", "-k", "not parallel", "-m", "not slow", *(session.posargs or SMOKE))


@nox.session
def package(session: nox.Session) -> None:
    """Build what is published into dist/, and check what an index would say of it."""
    session.install("build", "twine", *PYPROJECT["build-system"]["requires"])
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build", "--no-isolation")
    session.run("twine", "check", "--strict", *map(str, sorted((ROOT / "dist").iterdir())))


@nox.session
def tests_install(session: nox.Session) -> None:
    """Build and install from the network, for real."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-m", "install", *session.posargs)


@nox.session
def screenshots(session: nox.Session) -> None:
    """Open report.html in the Chromium on PATH, and take the pictures of docs/."""
    session.install("-e", ".[dev,browser]")
    # Elsewhere playwright is not there, and what is called of it has no types.
    session.run("mypy", "tests/browser")
    session.run("pytest", "-m", "browser", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Make the site of docs/ in built-docs/; `nox -s docs -- -b linkcheck` asks the network for each link of others."""
    session.install(*PYPROJECT["project"]["optional-dependencies"]["docs"])
    session.run("sphinx-build", "-W", "--keep-going", *(session.posargs or ["-b", "html"]), "docs", "built-docs")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style with ruff."""
    session.install(*(name for name in PYPROJECT["project"]["optional-dependencies"]["dev"] if "ruff" in name))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")


@nox.session
def layers(session: nox.Session) -> None:
    """Show floors, the longest module and imports in functions, and hold them to their limits."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-rP", "-q", "tests/test_layers.py", *session.posargs)


@nox.session
def typecheck(session: nox.Session) -> None:
    """Check types with mypy, strictly, in sources and tests."""
    session.install("-e", ".[dev]")
    session.run("mypy", *session.posargs)


@nox.session
def evaluate(session: nox.Session) -> None:
    """Evaluate a Gitleaks: `nox -s evaluate -- --gitleaks-version=8.18.4`."""
    session.install("-e", ".")
    session.run("pytest", "--gitleaks-eval", *session.posargs)


@nox.session
def evaluate_llm(session: nox.Session) -> None:
    """Evaluate, then let LLM judges look: `nox -s evaluate_llm -- --gitleaks-judge-mode=heuristic`."""
    session.install("-e", ".[judges]")
    session.run("pytest", "--gitleaks-eval", "--gitleaks-judges", *session.posargs)


@nox.session
def calibrate_judges(session: nox.Session) -> None:
    """Hold judges against known faults: `nox -s calibrate_judges -- --mode heuristic`."""
    session.install("-e", ".[judges]")
    session.run("python", "-m", "gitleaks_eval.judges.calibrate", *session.posargs)


@nox.session
def build_repos(session: nox.Session) -> None:
    """Build the synthetic repositories to look at: `nox -s build_repos -- [FOLDER]`."""
    session.install("-e", ".")
    session.run("python", "-m", "gitleaks_eval.repositories", *(session.posargs or ["built-repositories"]))


@nox.session
def bench(session: nox.Session) -> None:
    """Measure what speed is promised: `nox -s bench -- [inert|version|cold|candidates|matching|many|large|…]`."""
    # As users have it: what only our tests need makes pytest itself slower.
    session.install(".")
    session.run("python", "benchmarks/bench.py", *session.posargs)


@nox.session
def golden(session: nox.Session) -> None:
    """Record what is printed and written, or compare two records: `nox -s golden -- record|compare FOLDER...`."""
    session.install("-e", ".")
    session.run("python", "benchmarks/golden.py", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Hold a seeded sample of mutants of the source against the tests: `nox -s mutants -- [NUMBER] [SEED]`."""
    session.install("-e", ".[dev]")
    session.run("python", "benchmarks/mutants.py", *session.posargs)
