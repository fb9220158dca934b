"""What is offered to be accepted of a comparison."""

from types import SimpleNamespace
from typing import cast

import pytest

from gitleaks_eval.engine import to_approve
from gitleaks_eval.engine.session import Session
from gitleaks_eval.scoring.surveyed import Moves


@pytest.mark.parametrize(("version", "is_offered"), [("8.26.0", True), ("8.30.1", False)])
def test_what_another_build_loses_is_offered_and_what_the_same_build_loses_is_a_regression(
    monkeypatch: pytest.MonkeyPatch, version: str, *, is_offered: bool
) -> None:
    candidates = [SimpleNamespace(name=name) for name in ("base", "head")]
    builds = {
        "base": SimpleNamespace(name="gitleaks", version="8.30.1"),
        "head": SimpleNamespace(name="gitleaks", version=version),
    }
    session = SimpleNamespace(settings=SimpleNamespace(candidates=candidates, baseline=None), build=builds.get)
    known = {
        "surveyed": SimpleNamespace(rows=list, forgiven=()),
        "survey_read": (),
        "silent_for": (),
        "moves": Moves(rules_lost=("alpha",)),
        "upgrades_of": (),
        "upgrade_item": (),
        "compared_repositories": SimpleNamespace(problems=(), to_review=list),
    }
    for name, value in known.items():
        monkeypatch.setattr(to_approve, name, lambda *_, value=value: value)
    told = [text for _, text in to_approve.lines_to_approve(cast("Session", session), {})]
    assert [("head against base: " in text, "alpha" in text) for text in told] == [(True, True)] * is_offered
