"""What the suite amounts to, for readers of JUnit files."""

from collections.abc import Iterator, Mapping

import pytest

from gitleaks_eval.core.text import printable
from gitleaks_eval.reports.run.values import Run


def add_suite_properties(config: pytest.Config, runs: Mapping[str, Run]) -> None:
    """Add decision, scores, scanner and configuration of each candidate; nothing where no file is asked for."""
    # What the fixture `record_testsuite_property` calls; it has no name that is public.
    writers = [
        add
        for get_plugin in config.pluginmanager.get_plugins()
        if (add := getattr(get_plugin, "add_global_property", None))
    ]
    for add in writers:
        for name, run in runs.items():
            for key, value in _properties(run):
                add(".".join(filter(None, ("gitleaks_eval", printable(name), key))), printable(value))


def _properties(run: Run) -> Iterator[tuple[str, str]]:
    card, scanner = run.scorecard, run.scanner
    yield "decision", card.guarded_decision or "none: only a part of the checks was selected"
    yield "documented_decision", card.decision or "none: only a part of the checks was selected"
    yield "score", f"{card.score.normalized:.2f}"
    yield "applicable_rate", f"{card.score.applicable_rate:.4f}"
    for key in ("name", "version", "source", "sha256"):
        yield f"scanner_{key}", str(scanner[key] or "not known")
    yield "config", str(scanner["config"] or "not known")
    yield "config_sha256", str(scanner["config_sha256"] or "not known")
