"""The project's sessions: `nox` runs tests, lint and typecheck; the others are named."""

import nox

PYPROJECT = nox.project.load_toml("pyproject.toml")

nox.options.sessions = ["tests", "lint", "typecheck"]
nox.options.error_on_missing_interpreters = True


@nox.session
def tests(session: nox.Session) -> None:
    """Run the project's own tests."""
    session.install("-e", ".[dev]")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style with ruff."""
    session.install(*(name for name in PYPROJECT["project"]["optional-dependencies"]["dev"] if "ruff" in name))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")


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
    """Measure what speed is promised, as ratios: `nox -s bench -- [inert|cold|candidates|matching|many|large]`."""
    # As users have it: what only our tests need makes pytest itself slower.
    session.install(".")
    session.run("python", "benchmarks/bench.py", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Hold a seeded sample of mutants of the source against the tests: `nox -s mutants -- [NUMBER] [SEED]`."""
    session.install("-e", ".[dev]")
    session.run("python", "benchmarks/mutants.py", *session.posargs)
