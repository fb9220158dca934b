"""What is offered to be accepted of a comparison."""

from types import SimpleNamespace
from typing import cast

import pytest

from gitleaks_eval.engine import approving, to_approve
from gitleaks_eval.engine.session import Session
from gitleaks_eval.scoring.real_differences import LOST, SUPPRESSED, Group, Real, RealComparison
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


@pytest.mark.parametrize(("cause", "findings"), [("hidden by x", None), (f"{SUPPRESSED}head", 3), (None, 3)])
def test_a_group_is_a_line_for_each_configuration_that_its_repositories_have_of_their_own(
    monkeypatch: pytest.MonkeyPatch, cause: str | None, findings: int | None
) -> None:
    """What no identity says anything of, suppressions and what is not known, is accepted up to its number."""
    monkeypatch.setattr(approving, "identity", lambda _session, name, own: f"{name} {own}".strip())
    session = SimpleNamespace(settings=SimpleNamespace(candidates=[SimpleNamespace(name="base")]))
    own = {"one": "x", "two": "y", "three": "x"}
    real = Real(tuple(RealComparison(name, "c", 0, (), own=("", sha256)) for name, sha256 in own.items()))
    group = Group(LOST, "rule", None, cause, tuple(own), 3, 3)
    lines = list(approving.group_items(cast("Session", session), "head", real, group, {"why": "seen"}))
    assert [(one["repositories"], one["baseline"], one["candidate"]) for one in lines] == [
        (["one", "three"], "base", "head x"),
        (["two"], "base", "head y"),
    ]
    assert [one.get("findings") for one in lines] == [findings] * 2
