"""What hides the secrets that a run misses: the same answer on a slow machine as on a fast one."""

import itertools
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitleaks_eval.analysis.matching import match_findings
from gitleaks_eval.config.chain import ConfigFile, Configuration
from gitleaks_eval.engine.scan.workbench import Workbench
from gitleaks_eval.engine.session.session import Session
from gitleaks_eval.engine.survey import missed
from gitleaks_eval.repositories.head import HeadFile
from gitleaks_eval.scenarios.places import Place
from gitleaks_eval.scenarios.redaction import Masks
from gitleaks_eval.scenarios.scenario import Expected, ExpectedFinding, Scenario

KEY = ExpectedFinding("deploy/key.pem", "private-key", 1)
PLACE: Place = (KEY.file_path, 1, KEY.rule_id)
EXPECTED = Expected(1, 0, 0, 0, 0, 0, findings=(KEY,))
CONTENT = b"[extend]\nuseDefault = true\n[allowlist]\npaths = ['deploy']\n"
HIDING = Configuration((ConfigFile(Path("/c/a.toml"), CONTENT, True),), "a test")


def scenario(name: str) -> Scenario:
    return Scenario(name, "", EXPECTED, Path("truth"), Path("recipe"))


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    made = SimpleNamespace(
        folder=tmp_path, masks=lambda _: Masks(), repository=lambda _: SimpleNamespace(path=tmp_path)
    )
    return cast(Workbench, made)


@pytest.fixture(autouse=True)
def hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at a clock is an hour later."""
    for name in ("monotonic", "perf_counter", "time"):
        monkeypatch.setattr(time, name, itertools.count(0, 3600).__next__)


def test_what_hides_is_searched_in_as_many_scenarios_however_long_a_scan_takes(
    workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scan(_workbench: Workbench, _scenario: Scenario, configuration: Configuration) -> list[Place]:
        return [] if any(b"deploy" in one.content for one in configuration.chain) else [PLACE]

    monkeypatch.setattr(missed, "places", scan)
    names = [f"s{number}" for number in range(missed.SCENARIOS_AT_MOST + 2)]
    matched = [(scenario(name), match_findings(EXPECTED, [])) for name in names]
    found = missed.hidden_findings(matched, workbench, HIDING, None, tmp_path)
    assert [name for name, _ in found] == names[: missed.SCENARIOS_AT_MOST]
    assert set(found.values()) == {"hidden by /c/a.toml [allowlist] paths[0]"}


def test_what_stops_a_rule_is_asked_of_as_many_misses_however_long_it_takes(
    workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = SimpleNamespace(stopped=[SimpleNamespace(rule_id=KEY.rule_id, words="it is stopped")])
    monkeypatch.setattr(missed, "explain", lambda *_: stopped)
    monkeypatch.setattr(missed, "sample_scanner_of", lambda *_: None)
    content = HeadFile(KEY.file_path.encode(), is_symlink=False, content=b"key")
    monkeypatch.setattr(missed, "head_files", lambda *_: [content])
    session = SimpleNamespace(
        settings=SimpleNamespace(seed="", root=tmp_path), subject=lambda *_: None, workbench=lambda _: workbench
    )
    names = [f"s{number}" for number in range(missed.STOPPED_AT_MOST + 2)]
    found: Mapping[Any, str] = missed.why_missed(
        cast(Session, session), "a", [(scenario(name), PLACE) for name in names]
    )
    assert [name for name, _ in found] == names[: missed.STOPPED_AT_MOST]
