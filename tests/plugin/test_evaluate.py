"""The way in without pytest: a notebook, another machine, a command of one's own."""

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from gitleaks_eval.core.errors import InputError
from gitleaks_eval.engine.run.run import evaluate
from gitleaks_eval.engine.settings.settings import Settings
from gitleaks_eval.reports.run.values import Run

pytestmark = pytest.mark.usefixtures("own_environment")

LOSING = "[extend]\nuseDefault = true\n[allowlist]\npaths = ['deploy/id_rsa']\n"


# Their messages have times.
TIMED = ("SP-", "SC-3")
Seen = tuple[str, str, object, object]


def seen_of(check_id: str, seen: Seen) -> Seen:
    return (seen[0], "", None, None) if check_id.startswith(TIMED) else seen


def outcomes_of(run: Run) -> dict[tuple[str, str | None], Seen]:
    return {
        (one.check_id, one.scenario): seen_of(
            one.check_id, (one.outcome, one.message, json.loads(one.expected), json.loads(one.actual))
        )
        for one in run.results
    }


@pytest.mark.parametrize("config", ["builtin", "losing.toml"])
def test_it_has_the_results_of_the_plugin_check_by_check(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path], config: str
) -> None:
    (pytester.path / "losing.toml").write_text(LOSING, encoding="utf-8")
    binary = str(gitleaks("8.30.1"))
    run = evaluate(Settings.of(pytester.path, binary=binary, config=config))
    pytester.runpytest_subprocess("--gitleaks-eval", f"--gitleaks-binary={binary}", f"--gitleaks-config={config}", "-q")
    report = json.loads((pytester.path / "gitleaks-eval-results/evaluation_report.json").read_bytes())
    plugin = {
        (one["check_id"], one["scenario"]): seen_of(
            one["check_id"], (one["outcome"], one["message"], one["expected"], one["actual"])
        )
        for one in report["results"]
    }
    assert outcomes_of(run) == plugin
    lost = [] if config == "builtin" else [("private-keys", ("deploy/id_rsa", 1, "private-key"))]
    assert list(run.hidden) == lost
    assert run.scorecard.findings.missed == len(lost)


def test_an_executor_says_where_the_work_is_done_and_changes_nothing(
    tmp_path: Path, gitleaks: Callable[[str], Path]
) -> None:
    settings = Settings.of(tmp_path, binary=str(gitleaks("8.30.1")))
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        elsewhere = evaluate(settings, executor=pool)
    here = evaluate(settings)
    assert outcomes_of(elsewhere) == outcomes_of(here)
    assert elsewhere.scorecard.guarded_decision == here.scorecard.guarded_decision == "STRONG_PASS"


def test_a_scanner_that_cannot_be_had_is_an_error_of_every_check(tmp_path: Path) -> None:
    stub = tmp_path / "gitleaks"
    stub.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    stub.chmod(0o700)
    run = evaluate(Settings.of(tmp_path, binary=str(stub)))
    assert {one.outcome for one in run.results} == {"error"}
    assert (run.incomplete, run.scorecard.guarded_decision) == (True, "FAIL")


def test_several_candidates_and_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several candidates"):
        evaluate(Settings.of(tmp_path, version=["8.18.4", "8.30.1"]))
    with pytest.raises(InputError, match=r"no option 'verison'; there are .*version"):
        Settings.of(tmp_path, verison="8.30.1")


def test_importing_it_loads_no_pytest() -> None:
    code = "import gitleaks_eval.engine.run.run, sys; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_is_wrong_with_a_configuration_lowers_its_decision_as_in_the_plugin(
    pytester: pytest.Pytester, gitleaks: Callable[[str], Path]
) -> None:
    config = pytester.path / "typo.toml"
    config.write_text(
        "[extend]\nuseDefault = true\n[[rules]]\nid = 'x'\nregex = 'xy1z'\nentropyy = 3\n", encoding="utf-8"
    )
    run = evaluate(Settings.of(pytester.path, binary=str(gitleaks("8.30.1")), config=config))
    assert [(one.check_id, one.outcome) for one in run.lint] == [("CL-1", "failed"), ("CL-2", "passed")]
    assert run.scorecard.guarded_decision == "WEAK_PASS"
